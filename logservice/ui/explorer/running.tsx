import { useEffect, useState } from "preact/hooks";
import type { Found } from "./explorer-state.ts";

/** A query that takes longer is said to run. */
const SLOW_MS = 1_000;

/** Says that a query is slow, what it reads, and how to give it up. */
export function Running({ found, onCancel }: { readonly found: Found; onCancel(): void }) {
  const [isSlow, setSlow] = useState(false);
  const isRunning = found.isRunning.value;
  useEffect(() => {
    setSlow(false);
    if (!isRunning) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [found, isRunning]);
  if (!isSlow || !isRunning) return null;
  const days = (found.times.stopMs - found.times.startMs) / 86_400_000;
  return (
    <p class="running" role="status">
      <span class="grow">
        Reading the events of {days >= 2 ? `${Math.round(days)} days` : "the range"} …
        {days >= 2 && " A shorter range is faster."}
      </span>
      <button type="button" class="button small" onClick={onCancel}>
        Cancel
      </button>
    </p>
  );
}
