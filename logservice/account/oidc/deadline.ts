export interface Deadline {
  readonly timeoutMs: number;
  /** Ends the work early, with its reason as the error. */
  readonly signal: AbortSignal | undefined;
  /** The error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Runs work that ends with a deadline, even if the work does not heed its signal. `AbortSignal.any` over
 * `AbortSignal.timeout` would be shorter, but Node 20 may collect such signals before they fire.
 */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signal: outer, late } = deadline;
  outer?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const follow = () => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(late()), timeoutMs);
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
    clearTimeout(timer);
    outer?.removeEventListener("abort", follow);
  }
}
