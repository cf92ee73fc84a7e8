import type { Clock } from "../../../grammar/units/clock.ts";

export interface DeadlineOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the work early, with its reason as the error. */
  readonly signal: AbortSignal | undefined;
  /** The error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Runs work that ends with a deadline, even if the work does not heed its signal. `AbortSignal.any` over
 * `AbortSignal.timeout` would be shorter, but Node 20 may collect such signals before they fire.
 */
export async function withDeadline<T>(
  deadline: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs, clock, signal: outer, late } = deadline;
  outer?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const follow = () => controller.abort(outer?.reason);
  const timer = clock.after(timeoutMs, () => controller.abort(late()));
  outer?.addEventListener("abort", follow, { once: true });
  try {
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return await Promise.race([work(signal), ended]);
  } catch (error) {
    // The work may have wrapped the reason.
    throw signal.aborted ? signal.reason : error;
  } finally {
    timer.stop();
    outer?.removeEventListener("abort", follow);
  }
}
