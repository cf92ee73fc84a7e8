import type { Alert } from "../../../schema/rpc.generated.ts";
import { condition, durationText, type Measured } from "../../notify/condition.ts";
import { number } from "../kit/numbers.ts";
import { type AlertDraft, conditionProblem, type NumberName, numberIn } from "./draft.ts";

/** The measure of an alert as long as nothing else is known. */
export const EVENTS: Measured = { what: "events", unit: "" };

export { FREE_DISK } from "../../notify/condition.ts";

/** The condition of an alert: `more than 10 events in 5 min, 3 times in a row`. */
export function conditionWords(
  of: Parameters<typeof condition>[0] & { readonly for?: number | undefined },
  measured: Measured,
): string {
  const times = of.for ?? 1;
  return `${condition(of, measured)}${times > 1 ? `, ${times} times in a row` : ""}`;
}

/** The same words with each number and its unit on one line: `5 min`. */
export const unbroken = (words: string) => words.replace(/(\d) (?=(?:ms|s|min|h|days?|events?)\b)/g, "$1\u00a0");

/** A value that was measured: `12 events`, `362 ms`. */
export function valueWords(value: number, { what, unit }: Measured): string {
  if (unit !== "") return `${number(value)} ${unit}`;
  return what === "events" ? `${number(value)} ${value === 1 ? "event" : "events"}` : number(value);
}

/** Says of an alert that it is evaluated less often than its interval: undefined if it is not. */
export function paceWords({ interval = 5, evaluated_every: every = interval }: Partial<Alert>): string | undefined {
  if (every <= interval) return undefined;
  const seldom = `Evaluated every ${durationText(every)} instead of every ${durationText(interval)}`;
  return `${seldom}, because its query takes too long: narrow it.`;
}

/** The behaviour of a draft, in sentences; undefined while its numbers are not valid. */
export function draftSummary(draft: AlertDraft, measured: Measured, isGrouped: boolean): string | undefined {
  if (conditionProblem(draft) !== undefined) return undefined;
  const of = (name: NumberName) => numberIn(draft[name], name)!;
  const interval = of("interval");
  const compared = { operator: draft.operator, threshold: of("threshold"), interval, for: of("for") };
  const isImpossible = draft.operator === "<" && compared.threshold === 0 && measured.what === "events";
  const isAlways = draft.operator === ">=" && compared.threshold === 0 && measured.what === "events";
  const isAbsence =
    (draft.operator === "<" && compared.threshold === 1) || (draft.operator === "<=" && compared.threshold === 0);
  const condition =
    isAbsence && measured.what === "events"
      ? `when no event matches for ${durationText(interval)}${compared.for > 1 ? `, ${compared.for} times in a row` : ""}`
      : `on ${conditionWords(compared, measured)}`;
  const recover = of("recover");
  const repeat = of("repeat");
  return [
    isImpossible
      ? "Never triggers: there cannot be fewer than 0 events."
      : isAlways
        ? "Always triggered: there are always 0 events or more."
        : `Triggers ${condition}${isGrouped ? ", for each group separately" : ""}.`,
    recover > 1
      ? `Resolves after ${recover} intervals in a row that do not meet the condition (${durationText(recover * interval)}).`
      : "Resolves after the first interval that does not meet the condition.",
    draft.muted
      ? "Nobody is notified while it is muted."
      : repeat === 0
        ? "Notifies once when it triggers and once when it resolves."
        : `Notifies when it triggers, every ${durationText(repeat)} until it resolves, and when it resolves.`,
  ].join(" ");
}
