import type { Alert, AlertInput } from "../../../schema/rpc.generated.ts";

export type AlertSeverity = AlertInput["severity"];
export type Operator = AlertInput["operator"];

/** An alert as it is typed: numbers are texts, so that none is lost while it is not one yet. */
export interface AlertDraft {
  readonly name: string;
  readonly description: string;
  readonly query: string;
  readonly severity: AlertSeverity;
  readonly operator: Operator;
  readonly threshold: string;
  readonly interval: string;
  readonly for: string;
  readonly recover: string;
  readonly repeat: string;
  readonly limit: string;
  /** The id of a notification; "" if none is chosen. */
  readonly notification: string;
  readonly muted: boolean;
}

export const NEW_ALERT: AlertDraft = {
  ...{ name: "", description: "", query: "", severity: "error", operator: ">", threshold: "10", interval: "5" },
  ...{ for: "1", recover: "1", repeat: "0", limit: "10", notification: "", muted: false },
};

export const SEVERITIES: readonly AlertSeverity[] = ["info", "notice", "error", "critical"];
export const OPERATORS: readonly Operator[] = [">", ">=", "<", "<="];

export type NumberName = "threshold" | "interval" | "for" | "recover" | "repeat" | "limit";

/** The whole numbers that the service takes. */
export const BOUNDS: Readonly<Record<NumberName, { readonly least: number; readonly most: number }>> = {
  threshold: { least: 0, most: Number.MAX_SAFE_INTEGER },
  interval: { least: 1, most: 1440 },
  for: { least: 1, most: 60 },
  recover: { least: 1, most: 60 },
  repeat: { least: 0, most: 10_080 },
  limit: { least: 1, most: 100 },
};
const NUMBERS = Object.keys(BOUNDS) as readonly NumberName[];
const TEXTS = ["name", "description", "query", "notification"] as const;

/** Reads the query of an address of a new alert. What is not valid there, or is not there, is as in NEW_ALERT. */
export function draftIn(search: string): AlertDraft {
  const parameters = new URLSearchParams(search);
  const texts = Object.fromEntries(TEXTS.map((name) => [name, parameters.get(name) ?? NEW_ALERT[name]]));
  const numbers = Object.fromEntries(
    NUMBERS.map((name) => [
      name,
      numberIn(parameters.get(name), name) === undefined ? NEW_ALERT[name] : parameters.get(name)!,
    ]),
  );
  const severity = parameters.get("severity") as AlertSeverity;
  const operator = parameters.get("operator") as Operator;
  return {
    ...NEW_ALERT,
    ...texts,
    ...numbers,
    severity: SEVERITIES.includes(severity) ? severity : NEW_ALERT.severity,
    operator: OPERATORS.includes(operator) ? operator : NEW_ALERT.operator,
    muted: parameters.get("muted") === "1",
  };
}

/** The query of the address that begins a new alert as a draft, with the question mark; "" for NEW_ALERT. */
export function searchOfDraft(draft: AlertDraft): string {
  const parameters = new URLSearchParams();
  for (const name of [...TEXTS, "severity", "operator", ...NUMBERS] as const)
    if (draft[name] !== NEW_ALERT[name]) parameters.set(name, draft[name]);
  if (draft.muted) parameters.set("muted", "1");
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** A stored alert, to be changed. */
export function draftOfAlert(alert: Alert): AlertDraft {
  const { name, description = "", query, severity, operator, notification_id: notification, muted = false } = alert;
  const numbers = Object.fromEntries(NUMBERS.map((key) => [key, String(alert[key] ?? NEW_ALERT[key])]));
  return { ...NEW_ALERT, ...numbers, name, description, query, severity, operator, notification, muted };
}

/** The alert that is sent to the service. A text that is no number becomes the default: `problemIn` reports it. */
export function alertOf(draft: AlertDraft, project_id: string): AlertInput {
  const { description, query, severity, operator, notification, muted } = draft;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberIn(draft[name], name)]));
  const about = { project_id, name: draft.name.trim(), description: description.trim(), query: query.trim() };
  return { ...about, severity, operator, notification_id: notification, muted, ...numbers };
}

/**
 * The first problem of a draft that can be seen without the service, with the path that the service gives it; undefined
 * if there is none.
 */
export function problemIn(draft: AlertDraft): string | undefined {
  if (draft.query.trim() === "") return "alert.query: write what to look for, or | count for all events";
  const wrong = conditionProblem(draft);
  if (wrong !== undefined) return wrong;
  if (draft.name.trim() === "") return "alert.name: give it a name: messages begin with it";
  if (draft.notification === "") return "alert.notification_id: choose who is notified, or create a notification";
  return undefined;
}

/** The first problem of the numbers of a draft. */
export function conditionProblem(draft: AlertDraft): string | undefined {
  const name = NUMBERS.find((one) => numberIn(draft[one], one) === undefined);
  if (name === undefined) return undefined;
  const { least, most } = BOUNDS[name];
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  return `alert.${name}: write a whole number, ${range}`;
}

/** The number that a text is, if the service takes it. */
export function numberIn(text: string | null, name: NumberName): number | undefined {
  if (text === null || !/^\d{1,15}$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value >= BOUNDS[name].least && value <= BOUNDS[name].most ? value : undefined;
}
