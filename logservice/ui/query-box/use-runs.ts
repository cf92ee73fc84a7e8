import { useEffect, useRef } from "preact/hooks";
import { problemsBeforeRun } from "../language/checked.ts";
import { kindOfQuery } from "../language/query.ts";
import type { Mistakes } from "./use-mistakes.ts";
import type { QueryText } from "./use-query-text.ts";
import type { Suggestions } from "./use-suggestions.ts";

/** A pause of this length runs a query that is valid. */
const PAUSE_MS = 900;

export interface QueryRuns {
  /** Runs a query if it is valid. `isPause` if the person only stopped typing. */
  run(what: string, isPause?: boolean): void;
  /** Runs the text of the box after a pause, which begins now. */
  runAfterPause(): void;
  /** Ends the pause without a run. */
  stop(): void;
}

export function useRuns(
  { latest }: QueryText,
  suggestions: Suggestions,
  mistakes: Mistakes,
  onRun: (query: string, isPause: boolean) => void,
): QueryRuns {
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(pause.current), []);
  const run = (what: string, isPause = false): void => {
    clearTimeout(pause.current);
    if (!isPause) suggestions.hide();
    mistakes.tell();
    if (kindOfQuery(what) === "wrong") return;
    void problemsBeforeRun(what).then((problems) => {
      // A text that was typed meanwhile is run by its own pause.
      if (latest.current !== what) return;
      if (problems.length === 0) onRun(what, isPause);
      else mistakes.show(problems);
    });
  };
  return {
    run,
    runAfterPause() {
      clearTimeout(pause.current);
      pause.current = setTimeout(() => {
        // Who goes through the list is about to take something of it.
        if (!suggestions.isChoosing.current) run(latest.current, true);
      }, PAUSE_MS);
    },
    stop: () => clearTimeout(pause.current),
  };
}
