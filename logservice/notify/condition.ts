// The words of an alert's condition, for messages and for the pages of the web UI.
import type { AlertInput } from "../../schema/rpc.generated.ts";

/** The name of the value that is compared with the threshold, for people: `events`, or a column, and its unit or "". */
export interface Measured {
  readonly what: string;
  readonly unit: string;
}

/** The measure of an alert on the disk. It is taken at a moment, so nothing is said of an interval. */
export const FREE_DISK: Measured = { what: "free disk", unit: "%" };

/** The reason of what is told late, and of an episode until something else closes it. */
export const CAME_LATE = "its events came late";

/** Whether it is the disk that is measured. */
export const isFreeDisk = ({ what, unit }: Measured) => what === FREE_DISK.what && unit === FREE_DISK.unit;

/** The interval that a measure is of: ` in 5 min`; "" for the disk. */
export const periodText = (measured: Measured, minutes: number) =>
  isFreeDisk(measured) ? "" : ` in ${durationText(minutes)}`;

/** A threshold and the minutes that it is for. */
export interface AlertCondition {
  readonly operator: AlertInput["operator"];
  readonly threshold: number;
  readonly interval: number;
}

/** When an alert is triggered: `more than 10 events in 5 min`, `p99(duration) less than 500 ms in 1 h`, `free disk less than 10 %`. */
export function condition(of: AlertCondition, measured: Measured): string {
  const { what } = measured;
  const counted = what === "events" && of.threshold === 1 ? "event" : what;
  const limited = isCount(measured) ? `${limit(of, measured)} ${counted}` : `${what} ${limit(of, measured)}`;
  return `${limited}${periodText(measured, of.interval)}`;
}

/** `more than 10`, `less than 500 ms`. */
export function limit({ operator, threshold }: Omit<AlertCondition, "interval">, measured: Measured): string {
  const { unit } = measured;
  const comparison = operator === "<" && isCount(measured) ? "fewer than" : COMPARISONS[operator];
  return `${comparison} ${quantityText(threshold)}${unit === "" ? "" : ` ${unit}`}`;
}

const COMPARISONS = {
  ">": "more than",
  ">=": "at least",
  "<": "less than",
  "<=": "at most",
} as const satisfies Record<AlertCondition["operator"], string>;

/** Whether something is counted: a column that is a word of its own, as in 42 failures. Others are measured. */
export function isCount({ what, unit }: Measured): boolean {
  return unit === "" && /^\p{L}[\p{L} ]*$/u.test(what);
}

/** Minutes as people say them: `5 min`, `2 h`, `1 h 30 min`, `1 day`. */
export function durationText(minutes: number): string {
  if (minutes === 1440) return "1 day";
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && `${hours} h`, rest > 0 && `${rest} min`].filter(Boolean).join(" ") || "0 min";
}

export function quantityText(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}
