// Numbers and durations as people read them: functions that need no browser.

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
