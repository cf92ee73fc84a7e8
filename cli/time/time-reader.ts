import { readTime } from "../../grammar/query/index.ts";

/**
 * `readTime` for texts that are mostly in UTC and in order: within a minute only the last digits are read. NaN for a text
 * that is not a time.
 */
export function timeReader(): (text: string) => number {
  let minute = "";
  let minuteMs = 0;
  return (text) => {
    if (minute !== "" && text.startsWith(minute)) {
      const ms = withinMinute(text);
      if (ms >= 0) return minuteMs + ms;
    }
    const timeMs = readTime(text);
    if (timeMs === undefined) return Number.NaN;
    if (timeMs > FIRST_ROUNDED_MS && UTC.test(text)) {
      minute = text.slice(0, MINUTE_LENGTH);
      minuteMs = readTime(`${minute}00Z`)!;
    }
    return timeMs;
  };
}

const MINUTE_LENGTH = "2025-06-30T12:00:".length;
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{3})?Z$/;

/** From this time on a float64 is too coarse for the two ways of reading to differ within a millisecond. */
const FIRST_ROUNDED_MS = 100_000_000_000;

/** Milliseconds of `07Z` or `07.123Z`; -1 for any other ending. */
function withinMinute(text: string): number {
  const tens = text.charCodeAt(MINUTE_LENGTH) - 0x30;
  const ones = text.charCodeAt(MINUTE_LENGTH + 1) - 0x30;
  if (!(tens >= 0 && tens <= 5 && ones >= 0 && ones <= 9)) return -1;
  const seconds = (tens * 10 + ones) * 1000;
  if (text.length === 20) return text.charCodeAt(19) === Z ? seconds : -1;
  if (text.length !== 24 || text.charCodeAt(23) !== Z || text.charCodeAt(19) !== DOT) return -1;
  let ms = 0;
  for (let at = 20; at < 23; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    ms = ms * 10 + digit;
  }
  return seconds + ms;
}

const Z = 0x5a;
const DOT = 0x2e;
