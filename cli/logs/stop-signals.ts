import { EXIT } from "../context.ts";
import type { Io } from "../io.ts";

/** The ways to end the reading of a log early. */
export interface StopSignals {
  /** Aborted by an interruption, and if nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** Whether a signal of the operating system came. */
  readonly isInterrupted: boolean;
  /** Gives the signals back to the process. */
  release(): void;
}

/** Hears the signals of the process, the end of its output and that of its parent. */
export function stopSignals(io: Io): StopSignals {
  const stop = new AbortController();
  let isInterrupted = false;
  const release = io.onSignal(() => {
    // A second signal means that the process is stuck: it ends at once.
    if (isInterrupted) io.exitNow(EXIT.interrupted);
    isInterrupted = true;
    stop.abort();
  });
  io.stdout.closed.addEventListener("abort", () => stop.abort(), { once: true });
  // If an editor crashes and no entry comes, no write would fail and show it.
  io.onParentGone(() => stop.abort());
  return {
    signal: stop.signal,
    get isInterrupted() {
      return isInterrupted;
    },
    release,
  };
}
