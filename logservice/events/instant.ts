import { parseTimestamp } from "../../grammar/query/timestamp.ts";

/** Nanoseconds since 1970 are 64 bits wide: 1677 to 2262, of which these are the whole years. */
const FIRST_MS = Date.UTC(1678, 0, 1);
const LAST_MS = Date.UTC(2262, 0, 1) - 1;

/** Whether a text is an RFC 3339 time of the years 1678 to 2261. */
export function isStorableTimestamp(text: string): boolean {
  const ms = parseTimestamp(text);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS;
}

/** A storable timestamp without digits beyond nanoseconds, which nothing here could tell apart. */
export function cutTimestamp(text: string): string {
  return text.length <= LONGEST_EXACT ? text : text.replace(/(\.\d{9})\d+/, "$1");
}

// 2024-05-01T11:00:00.123456789+00:00 is no longer; most are shorter by far and skip the expression.
const LONGEST_EXACT = 30;

/** Nanoseconds since 1970 of a storable timestamp, as decimal digits: most need no BigInt. */
export function nanosecondsOf(text: string): string {
  const ms = Date.parse(text);
  // What ECMAScript guarantees to read and to write back the same: 24 characters, milliseconds, Z.
  if (text.length === 24 && text[23] === "Z" && ms > 0) return `${ms}000000`;
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? "";
  // Without its fraction the text has whole seconds, which float64 holds exactly.
  const seconds = parseTimestamp(text.replace(/\.\d+/, ""))! / 1000;
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0")));
}

/** What parseTimestamp gives for a timestamp at these nanoseconds: the closest float64 of milliseconds, the same way. */
export function millisecondsOf(nanoseconds: bigint): number {
  const rest = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = Number((nanoseconds - rest) / 1_000_000_000n);
  return seconds * 1000 + Number(`0.${String(rest).padStart(9, "0")}`) * 1000;
}

/**
 * The first nanosecond whose milliseconds are at least `ms` (or above it): float64 rounds times of today to 244 ns, so the
 * bound is searched for rather than computed.
 */
export function firstNanosecond(ms: number, side: "at-least" | "above"): bigint {
  if (!(ms > FIRST_MS)) return ms === FIRST_MS && side === "above" ? BigInt(FIRST_MS) * 1_000_000n + 1n : BEFORE_ALL;
  if (ms > LAST_MS + 1) return AFTER_ALL;
  const holds = (at: bigint) => (side === "above" ? millisecondsOf(at) > ms : millisecondsOf(at) >= ms);
  const near = BigInt(Math.floor(ms)) * 1_000_000n;
  let [low, high] = [near - 1_000_000n, near + 2_000_000n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const BEFORE_ALL = BigInt(FIRST_MS) * 1_000_000n;
const AFTER_ALL = BigInt(LAST_MS + 1) * 1_000_000n;

/** Whether a timestamp is written as Date writes it, so that its nanoseconds say all. */
export function isCanonical(text: string): boolean {
  if (text.length !== 24 || text[23] !== "Z") return false;
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS && new Date(ms).toISOString() === text;
}

export const canonicalTimestamp = (nanoseconds: bigint) => new Date(Number(nanoseconds / 1_000_000n)).toISOString();

/** The minute since 1970 that a nanosecond lies in. */
export function minuteOf(nanoseconds: bigint): number {
  const minute = nanoseconds / MINUTE;
  return Number(nanoseconds < 0n && minute * MINUTE !== nanoseconds ? minute - 1n : minute);
}

const MINUTE = 60_000_000_000n;
