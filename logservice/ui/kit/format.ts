import { zone } from "../data/preferences.ts";
import { longDuration } from "./numbers.ts";

export {
  bytes,
  count,
  duration,
  eventCountText,
  lengthText,
  longDuration,
  missingText,
  number,
  perText,
} from "./numbers.ts";

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

/** `22 Nov 2026, 14:32 UTC`: a whole minute in the zone that is preferred. */
export function minuteText(timeMs: number): string {
  const { day, year, minute } = timeParts(timeMs);
  return `${day} ${year}, ${minute} ${zoneName()}`;
}

/** The name of the preferred zone. */
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
  return ms < 5_000 ? "just now" : `${lasting(timeMs, nowMs)} ago`;
}

/** `3 min`: how long it is since a time, in its largest unit. */
export function lasting(timeMs: number, nowMs: number): string {
  return longDuration(Math.max(1_000, nowMs - timeMs)).match(/^\d+ \w+/)![0];
}
