// When an alarm changes its state, by the rules of CloudWatch's user guide ("Alarm evaluation", "Configuring how
// CloudWatch alarms treat missing data").

export type AlarmState = "OK" | "ALARM" | "INSUFFICIENT_DATA";

export interface AlarmRule {
  readonly comparison: string;
  readonly threshold: number;
  /** "N": how many data points are looked at. */
  readonly evaluationPeriods: number;
  /** "M": how many of them have to breach. */
  readonly datapointsToAlarm: number;
  readonly missing: "missing" | "ignore" | "breaching" | "notBreaching";
}

/** A period; one without figures has no value. */
export interface DataPoint {
  readonly at: number;
  readonly value: number | undefined;
}

export interface Verdict {
  readonly state: AlarmState;
  readonly reason: string;
}

/**
 * "CloudWatch attempts to retrieve a higher number of data points than specified as Evaluation Periods." In the examples of
 * the guide it is this many more.
 */
const MORE_PERIODS = 2;

/** How many periods are retrieved for an evaluation. */
export const retrievedPeriods = ({ evaluationPeriods }: AlarmRule) => evaluationPeriods + MORE_PERIODS;

const COMPARISONS: Readonly<
  Record<string, { readonly words: string; readonly isBreached: (value: number, threshold: number) => boolean }>
> = {
  GreaterThanThreshold: { words: "greater than", isBreached: (value, threshold) => value > threshold },
  GreaterThanOrEqualToThreshold: {
    words: "greater than or equal to",
    isBreached: (value, threshold) => value >= threshold,
  },
  LessThanThreshold: { words: "less than", isBreached: (value, threshold) => value < threshold },
  LessThanOrEqualToThreshold: { words: "less than or equal to", isBreached: (value, threshold) => value <= threshold },
};

/** The state after an evaluation of the retrieved periods, the oldest first; undefined if it stays as it is. */
export function evaluateAlarm(rule: AlarmRule, points: readonly DataPoint[]): Verdict | undefined {
  const { threshold, evaluationPeriods: most, datapointsToAlarm: needed, missing } = rule;
  const comparison = COMPARISONS[rule.comparison];
  if (comparison === undefined) return undefined;
  const isBreaching = ({ value }: DataPoint) => value !== undefined && comparison.isBreached(value, threshold);
  // Data points that are further back count as long as they are real.
  const real = points.filter(({ value }) => value !== undefined).slice(-most);
  const filled = most - real.length;
  const breaching = real.filter(isBreaching);
  const alarm = (): Verdict => ({
    state: "ALARM",
    reason: crossed(rule, { real, decisive: breaching, filled, not: false }),
  });
  const ok = (): Verdict => {
    const decisive = real.filter((point) => !isBreaching(point));
    return { state: "OK", reason: crossed(rule, { real, decisive, filled, not: true }) };
  };
  if (breaching.length >= needed) return alarm();
  if (missing === "breaching") return breaching.length + filled >= needed ? alarm() : ok();
  // The one that does not breach says that all is well, whatever is missing.
  if (missing === "notBreaching" || filled === 0 || breaching.length < real.length) return ok();
  if (missing === "ignore") return undefined;
  // "When the oldest breaching data point is at least as old as Datapoints to Alarm, and all more recent ones are breaching
  // or missing", it is an alarm before there are enough of them.
  const oldest = points.findIndex(isBreaching);
  if (oldest !== -1 && points.length - oldest >= needed) return alarm();
  const subject = filled === 1 ? "1 datapoint was" : `${filled} datapoints were`;
  return { state: "INSUFFICIENT_DATA", reason: `Insufficient Data: ${subject} unknown.` };
}

interface Crossing {
  readonly real: readonly DataPoint[];
  /** The data points that made the state what it is. */
  readonly decisive: readonly DataPoint[];
  readonly filled: number;
  readonly not: boolean;
}

/** In the service's words. */
function crossed(rule: AlarmRule, { real, decisive, filled, not }: Crossing): string {
  const { evaluationPeriods: most, datapointsToAlarm: needed } = rule;
  if (decisive.length === 0) {
    const as = rule.missing === "breaching" ? "Breaching" : "NonBreaching";
    const were = filled === 1 ? "1 missing datapoint was" : `${filled} missing datapoints were`;
    return `Threshold Crossed: no datapoints were received for ${counted(filled, "period")} and ${were} treated as [${as}].`;
  }
  const newest = decisive.toReversed().map(({ at, value }) => `${decimal(value!)} (${stamp(at)})`);
  const verb = decisive.length === 1 ? "was" : "were";
  const words = `${verb} ${not ? "not " : ""}${COMPARISONS[rule.comparison]!.words} the threshold (${decimal(rule.threshold)})`;
  const minimum = not ? most - needed + 1 : needed;
  const change = not ? "ALARM -> OK" : "OK -> ALARM";
  return `Threshold Crossed: ${decisive.length} out of the last ${real.length} datapoints [${newest.join(", ")}] ${words} (minimum ${counted(minimum, "datapoint")} for ${change} transition).`;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** 1 as 1.0. */
const decimal = (value: number) => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/** Day, month and year, then the time: "23/11/26 15:04:00". */
function stamp(at: number): string {
  const [date = "", time = ""] = new Date(at).toISOString().split("T");
  return `${date.slice(2).split("-").reverse().join("/")} ${time.slice(0, 8)}`;
}
