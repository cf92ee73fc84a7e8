// Numbers and durations as people read them: functions that need no browser.

// Not by Intl: in a new page the first Intl.NumberFormat takes as long as all else before the first painting.

/** 18211 as `18,211`. */
export const count = (value: number) => grouped(Math.round(value));

/** 1 as `1 event`, 18211 as `18,211 events`. */
export const eventCountText = (value: number) => `${count(value)} ${value === 1 ? "event" : "events"}`;

/** A number of an event or a table: at most six digits that matter. */
export const number = (value: number) => (Number.isInteger(value) ? count(value) : rounded(value, 6));

/** With so many digits that matter at most. */
const rounded = (value: number, digits: number) => grouped(Number(value.toPrecision(digits)));

/** A number in decimal, with commas between thousands. */
function grouped(value: number): string {
  const [whole, fraction] = plain(value).split(".") as [string, string?];
  const commas = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? commas : `${commas}.${fraction}`;
}

/** Very large and very small numbers are written with an exponent otherwise. */
function plain(value: number): string {
  const text = String(value).replace("Infinity", "∞");
  const [, sign, first, rest = "", exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${first}${rest}`;
  return `${sign}${first}${rest.padEnd(power, "0")}`;
}

/**
 * The sentence about bytes that an answer lacks. Files may be gone, or nothing may prove that all are there: so nobody knows
 * that they are lost.
 */
export const missingText = (missing: number, where = "") =>
  `About ${bytes(missing)} of events ${where}`.trimEnd() + " may be missing.";

/** 4_100_000 as `4.1 MB`. */
export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let rest = value;
  for (; rest >= 999.5 && at < units.length - 1; at++) rest /= 1000;
  return `${rounded(rest, 3)} ${units[at]}`;
}

/** 1_280 ms as `1.28 s`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${rounded(ms, 3)} ms`;
  if (ms < 99_500) return `${rounded(ms / 1000, 3)} s`;
  return longDuration(ms);
}

/** 60_000 ms as `per minute`, 300_000 ms as `per 5 min`. */
export function perText(ms: number): string {
  const text = ms < 1_000 ? duration(ms) : longDuration(ms);
  return `per ${UNIT_NAMES.get(text) ?? text}`;
}

const UNIT_NAMES: ReadonlyMap<string, string> = new Map([
  ["1 d", "day"],
  ["1 h", "hour"],
  ["1 min", "minute"],
  ["1 s", "second"],
]);

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

/** The length of a time range. Days and hours alone are written out: `2 days`, but `1 d 2 h`. */
export function lengthText(ms: number): string {
  const text = longDuration(ms);
  if (/^\d+ d$/.test(text)) return text === "1 d" ? "1 day" : `${text}ays`;
  if (/^\d+ h$/.test(text)) return text === "1 h" ? "1 hour" : `${text}ours`;
  return text;
}
