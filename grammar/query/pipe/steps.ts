// Steps of time. Each of the ladder divides the next one, so that counts of short steps add up to those of longer ones.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** In milliseconds. */
export const LADDER_MS: readonly number[] = [
  ...[1, 5, 15, 30].map((count) => count * SECOND),
  ...[1, 5, 15, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  DAY,
  WEEK,
];

/** 1 January 1970 was a Thursday: weeks begin on Mondays. */
const originOf = (stepMs: number) => (stepMs % WEEK === 0 ? 4 * DAY : 0);

/** The beginning of the step that a time is in. */
export function stepStart(timeMs: number, stepMs: number): number {
  const origin = originOf(stepMs);
  return Math.floor((timeMs - origin) / stepMs) * stepMs + origin;
}

/** How many steps a closed range touches. */
export const stepCount = (firstMs: number, lastMs: number, stepMs: number) =>
  (stepStart(lastMs, stepMs) - stepStart(firstMs, stepMs)) / stepMs + 1;

/** The shortest step of the ladder of which the closed range takes at most `most`; the longest if none does. */
export function stepFor(firstMs: number, lastMs: number, most: number): number {
  return LADDER_MS.find((stepMs) => stepCount(firstMs, lastMs, stepMs) <= most) ?? WEEK;
}

/**
 * The length of a period in seconds, for rates. To the microsecond: a period that ends before a time ends at the last
 * instant before it that float64 has, and is as long as if it ended at that time.
 */
export const periodSeconds = (fromMs: number, toMs: number) => Math.max(0, Math.round((toMs - fromMs) * 1000)) / 1e6;

/** The last instant before a time that a float64 of milliseconds can hold: both ends of a period are part of it. */
export function lastInstantBefore(timeMs: number): number {
  if (timeMs === 0) return -Number.MIN_VALUE;
  const float = new Float64Array([timeMs]);
  const bits = new BigInt64Array(float.buffer);
  bits[0]! += timeMs > 0 ? -1n : 1n;
  return float[0]!;
}

/** The word for the steps that there are too many of: no step is longer than a week. */
export const stepsOf = (stepMs: number) => (stepMs === WEEK ? "weeks" : "steps");

/** Whether a written step divides a day, as the beginnings of steps are to be the same on all days. */
export const isStep = (ms: number) => ms === WEEK || (Number.isInteger(ms) && ms > 0 && ms <= DAY && DAY % ms === 0);
