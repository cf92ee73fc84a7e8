/**
 * Adds a callback to a queue and resolves when it is called; the caller takes it out. Leaves the queue and rejects with
 * `refusal()` after `holdMs`, or at once with the signal's reason.
 */
export function turn(
  queue: (() => void)[],
  { signal, holdMs, refusal }: { signal: AbortSignal; holdMs: number; refusal: () => Error },
): Promise<void> {
  signal.throwIfAborted();
  return new Promise<void>((resolve, reject) => {
    const giveUp = (error: Error) => {
      queue.splice(queue.indexOf(start), 1);
      end();
      reject(error);
    };
    const onAbort = () => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(refusal()), holdMs);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const start = () => {
      end();
      resolve();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    queue.push(start);
  });
}
