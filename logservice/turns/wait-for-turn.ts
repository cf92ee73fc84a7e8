import type { Clock } from "../../grammar/units/clock.ts";

/** One that waits in a queue. Whoever calls it has removed it from the queue. */
export interface Waiter {
  start(): void;
  refuse(error: Error): void;
}

/** How long one may wait: after `holdMs` it is refused with `refusal()`. */
export interface Hold {
  readonly holdMs: number;
  readonly clock: Clock;
  refusal(): Error;
}

/**
 * Adds a waiter to a queue; resolves when it is started and rejects when it is refused. When its time is over, and with the
 * signal's reason on an abort, it removes itself and rejects.
 */
export function waitForTurn(
  queue: { add(waiter: Waiter): void; delete(waiter: Waiter): void },
  signal: AbortSignal,
  hold?: Hold,
): Promise<void> {
  signal.throwIfAborted();
  return new Promise<void>((resolve, reject) => {
    const end = () => {
      timer?.stop();
      signal.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = {
      start() {
        end();
        resolve();
      },
      refuse(error) {
        end();
        reject(error);
      },
    };
    const giveUp = (error: Error) => {
      queue.delete(waiter);
      waiter.refuse(error);
    };
    const onAbort = () => giveUp(signal.reason);
    const timer = hold?.clock.after(hold.holdMs, () => giveUp(hold.refusal()));
    signal.addEventListener("abort", onAbort, { once: true });
    queue.add(waiter);
  });
}
