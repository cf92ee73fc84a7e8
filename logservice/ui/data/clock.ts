/** How far the clock of the service is ahead of that of this browser, in milliseconds. */
let aheadMs = 0;

/** The service says whole seconds, and an answer takes a while: a smaller difference is none. */
const LEAST_MS = 5_000;

/** The time by the clock of the service, by which events are stored: that of a browser may be hours off. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}

/** Takes the time from the header Date of an answer. */
export function noteServiceTime(date: string | null, nowMs: number = Date.now()): void {
  const timeMs = Date.parse(date ?? "");
  if (Number.isNaN(timeMs)) return;
  const ahead = timeMs + 500 - nowMs;
  aheadMs = Math.abs(ahead) < LEAST_MS ? 0 : ahead;
}
