import { parseTimestamp } from "../../grammar/query/timestamp.ts";

/** Nanoseconds since 1970 are 64 bits wide: 1677 to 2262, of which these are the whole years. */
const FIRST_MS = Date.UTC(1678, 0, 1);
const LAST_MS = Date.UTC(2262, 0, 1) - 1;

export const FIRST_STORABLE = new Date(FIRST_MS).toISOString();
export const LAST_STORABLE = new Date(LAST_MS).toISOString();

/** Whether a text is an RFC 3339 time of the years 1678 to 2261. */
export function isStorableTimestamp(text: string): boolean {
  const ms = parseTimestamp(text);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS;
}

export interface Instant {
  /** As the predicate reads it: see parseTimestamp. */
  readonly ms: number;
  /** Since 1970, as decimal digits. */
  readonly nanoseconds: string;
  /** Written as Date writes it, so that the nanoseconds say all. */
  readonly isCanonical: boolean;
}

/** Reads a timestamp that `cutTimestamp` gave; undefined where it is not storable. */
export function readInstant(text: string): Instant | undefined {
  const instant = inKnownMinute(text);
  if (instant !== undefined) return instant;
  const ms = parseTimestamp(text);
  if (ms === undefined || ms < FIRST_MS || ms > LAST_MS) return undefined;
  if (text[10] === "T" && text.endsWith("Z")) learnMinute(text.slice(0, MINUTE_LENGTH));
  return { ms, nanoseconds: nanosecondsOf(text), isCanonical: isCanonical(text) };
}

/** Milliseconds of minutes by their text, `2024-05-01T11:00`: the events of a batch share few, and all else is digits. */
const minutes = new Map<string, number>();
const MINUTE_LENGTH = 16;
const MAX_MINUTES = 1000;
/** From here on float64 rounds milliseconds with a fraction of three digits to whole ones, however they are added up. */
const FIRST_KNOWN_MS = Date.UTC(1980, 0, 1);

function learnMinute(minute: string): void {
  const ms = parseTimestamp(`${minute}:00Z`)!;
  // The last storable minute ends before its end.
  if (ms < FIRST_KNOWN_MS || ms + 60_000 > LAST_MS) return;
  if (minutes.size >= MAX_MINUTES) minutes.clear();
  minutes.set(minute, ms);
}

/** Times like 2024-05-01T11:00:00Z and 2024-05-01T11:00:00.123456789Z of a minute that was read before. */
function inKnownMinute(text: string): Instant | undefined {
  const { length } = text;
  if (length < 20 || length > 30 || length === 21) return undefined;
  if (text.charCodeAt(16) !== 0x3a || text.charCodeAt(length - 1) !== 0x5a) return undefined;
  const [tens, ones] = [text.charCodeAt(17) - 0x30, text.charCodeAt(18) - 0x30];
  if (!(tens >= 0 && tens <= 5 && ones >= 0 && ones <= 9)) return undefined;
  let fraction = 0;
  if (length > 20) {
    if (text.charCodeAt(19) !== 0x2e) return undefined;
    for (let at = 20; at < length - 1; at++) {
      const digit = text.charCodeAt(at) - 0x30;
      if (!(digit >= 0 && digit <= 9)) return undefined;
      fraction = fraction * 10 + digit;
    }
  }
  const minuteMs = minutes.get(text.slice(0, MINUTE_LENGTH));
  if (minuteMs === undefined) return undefined;
  const wholeMs = minuteMs + (tens * 10 + ones) * 1000;
  if (length === 24) return { ms: wholeMs + fraction, nanoseconds: `${wholeMs + fraction}000000`, isCanonical: true };
  const digits = text.slice(20, -1);
  return {
    ms: wholeMs + Number(`0.${digits || "0"}`) * 1000,
    nanoseconds: `${wholeMs / 1000}${digits.padEnd(9, "0")}`,
    isCanonical: false,
  };
}

/** A storable timestamp without digits beyond nanoseconds, which nothing here could tell apart. */
export function cutTimestamp(text: string): string {
  return text.length <= LONGEST_EXACT ? text : text.replace(/(\.\d{9})\d+/, "$1");
}

/** No text of this length has digits beyond nanoseconds: 2024-05-01T11:00:00.123456789Z. */
export const LONGEST_EXACT = 30;

/** Nanoseconds since 1970 of a storable timestamp, as decimal digits: most need no BigInt. */
export function nanosecondsOf(text: string): string {
  const ms = Date.parse(text);
  // The form that ECMAScript guarantees to read and to write back the same: 24 characters, milliseconds, Z.
  if (text.length === 24 && text[23] === "Z" && ms > 0) return `${ms}000000`;
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? "";
  // Without its fraction the text has whole seconds, which float64 holds exactly.
  const seconds = parseTimestamp(text.replace(/\.\d+/, ""))! / 1000;
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0")));
}

/**
 * Returns the result of parseTimestamp for a timestamp at these nanoseconds: the closest float64 of milliseconds, the
 * same way.
 */
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

/** The minute since 1970 of a nanosecond. */
export function minuteOf(nanoseconds: bigint): number {
  const minute = nanoseconds / MINUTE;
  return Number(nanoseconds < 0n && minute * MINUTE !== nanoseconds ? minute - 1n : minute);
}

const MINUTE = 60_000_000_000n;
