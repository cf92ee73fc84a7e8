/** After the first attempt; after each further one it is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 60 * 60_000;
/** Part of a pause that is drawn, so that what failed together is not tried again together. */
const JITTER = 0.2;

/** From when a delivery was added until it is given up. */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** The pause after a number of attempts that failed, in milliseconds. `random` gives a number from 0 to 1. */
export function pauseMs(attempts: number, random: () => number = Math.random): number {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 30));
  return Math.max(FIRST_PAUSE_MS, pause * (1 - random() * JITTER));
}

/** Whether a time has come. One that is further ahead than any pause was noted before the clock was set back. */
export function isDue(atMs: number, nowMs: number): boolean {
  return atMs <= nowMs || atMs > nowMs + GIVE_UP_MS + LONGEST_PAUSE_MS;
}
