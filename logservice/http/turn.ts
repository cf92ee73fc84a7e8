import type { Clock } from "../../grammar/units/clock.ts";

/**
 * Adds a callback to a queue and resolves when it is called, by a caller that has removed it from the queue. After `holdMs`
 * removes the callback itself and rejects with `refusal()`; on an abort, at once with the signal's reason.
 */
export function waitForTurn(
  queue: (() => void)[],
  { signal, holdMs, clock, refusal }: { signal: AbortSignal; holdMs: number; clock: Clock; refusal: () => Error },
): Promise<void> {
  signal.throwIfAborted();
  return new Promise<void>((resolve, reject) => {
    const giveUp = (error: Error) => {
      queue.splice(queue.indexOf(start), 1);
      end();
      reject(error);
    };
    const onAbort = () => giveUp(signal.reason);
    const timer = clock.after(holdMs, () => giveUp(refusal()));
    const end = () => {
      timer.stop();
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
