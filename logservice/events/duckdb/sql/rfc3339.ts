/** A date or timestamp of DuckDB: days, or units of a second, since 1970. */
export type Time = { readonly isFinite: boolean } & (
  | { readonly days: number }
  | { readonly seconds: bigint }
  | { readonly millis: bigint }
  | { readonly micros: bigint }
  | { readonly nanos: bigint }
);

/**
 * RFC 3339 text of a timestamp in UTC, without trailing zeros of the fraction, or of a date: `2026-11-22T08:49:21.908Z`,
 * `2026-11-22`. Infinities are `infinity` and `-infinity`. Outside of the years 0 to 9999, which RFC 3339 has no form for, it
 * is the text that DuckDB shows.
 */
export function rfc3339(time: Time): string {
  const [value, perSecond] = scaleOf(time);
  if (!time.isFinite) return value > 0n ? "infinity" : "-infinity";
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - fraction) / perSecond);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return String(time);
  const text = new Date(seconds * 1000).toISOString();
  if ("days" in time) return text.slice(0, "2026-11-22".length);
  const digits =
    fraction === 0n
      ? ""
      : `.${String(perSecond + fraction)
          .slice(1)
          .replace(/0+$/, "")}`;
  return `${text.slice(0, "2026-11-22T08:49:21".length)}${digits}Z`;
}

const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/** The number of units since 1970, and the units per second. */
function scaleOf(time: Time): [value: bigint, perSecond: bigint] {
  if ("days" in time) return [BigInt(time.days) * 86_400n, 1n];
  if ("seconds" in time) return [time.seconds, 1n];
  if ("millis" in time) return [time.millis, 1000n];
  if ("micros" in time) return [time.micros, 1_000_000n];
  return [time.nanos, 1_000_000_000n];
}
