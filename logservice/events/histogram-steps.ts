const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Steps that people read without thinking, in milliseconds. Beyond a week: whole weeks, as many as it takes. */
export const STEPS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 3, 5, 10, 15, 20, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((count) => count * HOUR),
  DAY,
  2 * DAY,
  7 * DAY,
];

export interface Steps {
  readonly stepMs: number;
  /** The beginnings of the steps, multiples of `stepMs` since 1970. The first may be before the range. */
  readonly starts: readonly number[];
}

/** The narrowest steps that cover the closed range in at most `maxPoints` steps (at least one). Empty if the range is. */
export function histogramSteps(startMs: number, stopMs: number, maxPoints: number): Steps {
  if (!(startMs <= stopMs)) return { stepMs: STEPS_MS[0]!, starts: [] };
  const most = Math.max(1, Math.floor(maxPoints));
  const countOf = (stepMs: number) => Math.floor(stopMs / stepMs) - Math.floor(startMs / stepMs) + 1;
  let stepMs = STEPS_MS.find((step) => countOf(step) <= most);
  const week = 7 * DAY;
  // Doubling finds one in few steps; a range over the beginning of a step needs two steps whatever their length.
  for (let weeks = 2; stepMs === undefined; weeks *= 2) {
    if (countOf(weeks * week) <= most || weeks > MOST_WEEKS) stepMs = weeks * week;
  }
  const first = Math.floor(startMs / stepMs);
  const count = Math.min(countOf(stepMs), most);
  return { stepMs, starts: Array.from({ length: count }, (_, i) => (first + i) * stepMs) };
}

/** The first time that every reader of RFC 3339 takes. */
export const FIRST_TIME = "0001-01-01T00:00:00.000Z";
export const FIRST_TIME_MS = Date.parse(FIRST_TIME);

/** The beginning of a step as a text. A step of centuries may begin before the years that have a text. */
export const stepTime = (startMs: number) => new Date(Math.max(startMs, FIRST_TIME_MS)).toISOString();

// More than all storable time has.
const MOST_WEEKS = 100_000;
