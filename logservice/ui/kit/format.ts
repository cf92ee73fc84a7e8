import { zone } from "../data/preferences.ts";

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6 });

/** 18211 as `18,211`. */
export const count = (value: number) => WHOLE.format(value);

/** A number of an event or a table: at most six digits that matter. */
export const number = (value: number) => (Number.isInteger(value) ? WHOLE.format(value) : DIGITS.format(value));

/** 4_100_000 as `4.1 MB`. */
export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let rest = value;
  for (; rest >= 999.5 && at < units.length - 1; at++) rest /= 1000;
  return `${SHORT.format(rest)} ${units[at]}`;
}

/** 1_280 ms as `1.28 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${SHORT.format(ms)} ms`;
  if (ms < 999.5) return `${SHORT.format(ms)} ms`;
  if (ms < 99_500) return `${SHORT.format(ms / 1000)} s`;
  return longDuration(ms);
}

/** 93_600_000 ms as `1 d 2 h`: the two largest units. */
export function longDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** The parts of a time in the zone that is preferred. `timeMs` counts from 1970. */
export function timeParts(timeMs: number) {
  const at = new Date(timeMs);
  const isUtc = zone.value === "utc";
  const two = (value: number) => String(value).padStart(2, "0");
  const year = isUtc ? at.getUTCFullYear() : at.getFullYear();
  const month = isUtc ? at.getUTCMonth() : at.getMonth();
  const day = isUtc ? at.getUTCDate() : at.getDate();
  const clock = isUtc
    ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
    : [at.getHours(), at.getMinutes(), at.getSeconds()];
  const ms = String(isUtc ? at.getUTCMilliseconds() : at.getMilliseconds()).padStart(3, "0");
  return {
    date: `${String(year).padStart(4, "0")}-${two(month + 1)}-${two(day)}`,
    day: `${day} ${MONTHS[month]}`,
    minute: `${two(clock[0]!)}:${two(clock[1]!)}`,
    second: clock.map(two).join(":"),
    ms,
    year,
  };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `22 Nov 2026, 14:32:07` in the zone that is preferred; with `.402` if `isExact`. */
export function timeText(timeMs: number, { isExact = false } = {}): string {
  if (Number.isNaN(timeMs)) return "never";
  const { day, year, second, ms } = timeParts(timeMs);
  return `${day} ${year}, ${second}${isExact ? `.${ms}` : ""}`;
}

/** What the zone that is preferred is called. */
export function zoneName(): string {
  if (zone.value === "utc") return "UTC";
  const minutes = -new Date().getTimezoneOffset();
  const sign = minutes < 0 ? "-" : "+";
  const size = Math.abs(minutes);
  return `UTC${sign}${Math.floor(size / 60)}${size % 60 === 0 ? "" : `:${String(size % 60).padStart(2, "0")}`}`;
}

/** `3 min ago`; exact times are for titles. */
export function ago(timeMs: number, nowMs: number): string {
  const ms = nowMs - timeMs;
  if (ms < 5_000) return "just now";
  const [largest] = longDuration(ms).match(/^\d+ \w+/)!;
  return `${largest} ago`;
}
