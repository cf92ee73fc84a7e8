import { useEffect, useState } from "preact/hooks";
import { longDuration } from "../kit/format.ts";
import type { QueryResult } from "./explorer-state.ts";

/** Nothing is said of a query that takes less. */
const UNSEEN_MS = 300;
/** A query that takes longer is said to run. */
const SLOW_MS = 1_000;

export interface RunningProps {
  readonly result: QueryResult;
  onCancel(): void;
}

/** Says that a query runs: a line after a moment, and after a second what is read and how to give it up. */
export function Running({ result, onCancel }: RunningProps) {
  const [passedMs, setPassed] = useState(0);
  const isRunning = result.isRunning.value;
  useEffect(() => {
    setPassed(0);
    if (!isRunning) return;
    const look = () => setPassed(performance.now() - result.sentMs);
    const soon = setTimeout(look, UNSEEN_MS);
    const timer = setInterval(look, SLOW_MS);
    return () => {
      clearTimeout(soon);
      clearInterval(timer);
    };
  }, [result, isRunning]);
  if (!isRunning || passedMs < UNSEEN_MS) return null;
  const span = longDuration(result.times.stopMs - result.times.startMs);
  return (
    <>
      <div class="progress" role="progressbar" aria-label="The query runs" />
      {passedMs >= SLOW_MS && (
        <div class="running-place">
          <p class="running" role="status">
            <span class="grow">
              Searching {span} of events … {Math.round(passedMs / 1000)} s. A shorter range is faster.
            </span>
            <button type="button" class="button small" onClick={onCancel}>
              Cancel
            </button>
          </p>
        </div>
      )}
    </>
  );
}
