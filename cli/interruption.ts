import { type Context, EXIT } from "./context.ts";
import type { StopSignal } from "./io.ts";

/** An interruption that can be asked about: the first signal aborts, a second one ends the process at once. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** While a hook runs its shell hears signals, and ends by itself. */
  pause(): void;
  resume(): void;
  release(): void;
}

export function interruption(context: Context): Interruption {
  const { io } = context;
  const stop = new AbortController();
  let isPaused = false;
  const release = io.onSignal((name: StopSignal) => {
    if (stop.signal.aborted && !isPaused) io.exitNow(EXIT.interrupted);
    // The terminal has echoed ^C.
    if (name === "SIGINT" && io.stderr.isTerminal && !stop.signal.aborted) void context.say("");
    stop.abort();
  });
  return {
    signal: stop.signal,
    release,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
  };
}
