import type { Clock } from "../../grammar/units/clock.ts";

export interface Attempts {
  isWorthAnother(error: Error): boolean;
  /** Doubles with each attempt, up to `MAX_WAIT_MS`. */
  readonly firstWaitMs: number;
  /** Limit of all waits together. */
  readonly limitMs: number;
  /** Called before each wait. It may do what the next attempt needs. */
  readonly onWait?: () => Promise<void> | void;
}

/** With longer waits a person would wait for something that has already happened. */
const MAX_WAIT_MS = 3_000;

/** Calls until it succeeds. Throws an unexpected error, or the last one when the time is over. */
export async function retrying<T>(
  call: () => Promise<T>,
  {
    isWorthAnother,
    firstWaitMs,
    limitMs,
    onWait,
    signal,
    clock,
  }: Attempts & { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<T> {
  let waitMs = firstWaitMs;
  let waitedMs = 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error) || !isWorthAnother(error) || waitedMs >= limitMs) throw error;
      // Random, so that two deploys that wait for each other do not collide again and again.
      const thisWaitMs = Math.min(waitMs, MAX_WAIT_MS) * (0.75 + Math.random() / 2);
      await onWait?.();
      await clock.sleep(thisWaitMs, signal);
      waitedMs += thisWaitMs;
      waitMs *= 2;
    }
  }
}

/** Asks until there is an answer. Undefined when the time is over. */
export async function polling<T>(
  ask: () => Promise<T | undefined>,
  { firstWaitMs, limitMs, signal, clock }: { firstWaitMs: number; limitMs: number; signal: AbortSignal; clock: Clock },
): Promise<T | undefined> {
  let waitMs = firstWaitMs;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += waitMs, waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS)) {
    await clock.sleep(waitMs, signal);
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  return undefined;
}
