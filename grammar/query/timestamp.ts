/**
 * Milliseconds since 1970 of an RFC 3339 date-time (section 5.6; a blank may stand for the `T`), with its fraction of a
 * millisecond. Undefined for any other text.
 */
export function parseTimestamp(text: string): number | undefined {
  const time = wholeSeconds(text);
  return time && time.ms + Number(`0.${time.fraction || "0"}`) * 1000;
}

/** Milliseconds since 1970 of the second of an RFC 3339 date-time, and the digits of its fraction. */
function wholeSeconds(text: string): { readonly ms: number; readonly fraction: string } | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  // A leap second is legal and counts as the first of the next minute, as it does in Unix time.
  if (hour > 23 || minute > 59 || second > 60 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;

  const midnight = new Date(0);
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  midnight.setUTCFullYear(year, month - 1, day);
  const offsetMinutes = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  const seconds = (hour * 60 + minute - offsetMinutes) * 60 + second;
  return { ms: midnight.getTime() + seconds * 1000, fraction };
}

/**
 * Milliseconds since 1970 of a time that a person writes, in a query or as `--since`: RFC 3339, or a date, which begins at
 * midnight UTC. Undefined for any other text, also for one without a zone: which one was meant is not certain.
 */
export function parseMoment(text: string): number | undefined {
  return parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
}

/** The time with what it lacks: seconds, and a zone, for which UTC is taken. Undefined if that makes no time. */
export function completedMoment(text: string): string | undefined {
  return [":00Z", "Z"].map((tail) => text + tail).find((whole) => parseTimestamp(whole) !== undefined);
}

/**
 * Milliseconds since 1970 from the time of an entry, as a program wrote it: RFC 3339; the same without seconds or zone,
 * which is UTC; with a comma before the fraction, or offsets such as +0200. Undefined for any other text. All that reads
 * the time of an entry reads it so: queries, periods, the order of logs and their text.
 */
export function readTime(text: string): number | undefined {
  return parseTimestamp(text) ?? readLooseTime(text);
}

function readLooseTime(text: string): number | undefined {
  const strict = strictForm(text);
  return strict === undefined ? undefined : parseTimestamp(strict);
}

/** A time that is whole milliseconds since 1970 and nanoseconds of the next one: float64 has only 244 ns left today. */
export interface PreciseTime {
  readonly ms: number;
  /** From 0 to 999,999. */
  readonly ns: number;
}

/** The time of an entry, read as `readTime` reads it, without digits beyond nanoseconds. Undefined for any other text. */
export function readPreciseTime(text: string): PreciseTime | undefined {
  const time = wholeSeconds(text) ?? wholeSeconds(strictForm(text) ?? "");
  if (time === undefined) return undefined;
  const { ms, fraction } = time;
  return fraction === ""
    ? { ms, ns: 0 }
    : { ms: ms + Number(fraction.slice(0, 3).padEnd(3, "0")), ns: Number(fraction.slice(3, 9).padEnd(6, "0")) };
}

/** A time that a program wrote in RFC 3339. */
function strictForm(text: string): string | undefined {
  const match = LOOSE.exec(text);
  if (match === null) return undefined;
  const [, date, minute = "00:00", second = "00", fraction = "0", zone = "Z"] = match;
  const offset = /^[zZ]$/.test(zone) ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  return `${date}T${minute}:${second}.${fraction}${offset}`;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const LOOSE = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
