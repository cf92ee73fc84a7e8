import type { Alert, AlertInput } from "../../../schema/rpc.generated.ts";

export type AlertSeverity = AlertInput["severity"];
export type Operator = AlertInput["operator"];

/** An alert as it is typed: numbers are texts, so that none is lost while it is not one yet. */
export interface AlertDraft {
  readonly name: string;
  readonly description: string;
  readonly kind: "events" | "disk";
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
  ...{ name: "", description: "", kind: "events", query: "" },
  ...{ severity: "error", operator: ">", threshold: "10", interval: "5" },
  ...{ for: "1", recover: "1", repeat: "0", limit: "10", notification: "", muted: false },
};

/** Changes of a draft that is to watch the disk. */
export const ON_DISK = {
  ...{ kind: "disk", query: "", operator: "<", threshold: "10", interval: "1" },
} as const satisfies Partial<AlertDraft>;
/** And when it is to watch events again. */
export const ON_EVENTS = {
  ...{ kind: "events", operator: NEW_ALERT.operator, threshold: NEW_ALERT.threshold, interval: NEW_ALERT.interval },
} as const satisfies Partial<AlertDraft>;

export const SEVERITIES: readonly AlertSeverity[] = ["info", "notice", "error", "critical"];
export const OPERATORS: readonly Operator[] = [">", ">=", "<", "<="];
const DISK_OPERATORS: readonly Operator[] = ["<", "<="];

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

/** The whole numbers that the service takes in a draft: the threshold of the disk is a percentage. */
export const boundsOf = ({ kind }: Pick<AlertDraft, "kind">, name: NumberName) =>
  kind === "disk" && name === "threshold" ? { least: 1, most: 99 } : BOUNDS[name];

/** A new alert of this kind. */
const newAlert = (kind: AlertDraft["kind"]): AlertDraft => (kind === "disk" ? { ...NEW_ALERT, ...ON_DISK } : NEW_ALERT);

/** The comparisons of an alert of this kind: of the disk, too little is what matters. */
export const operatorsOf = ({ kind }: Pick<AlertDraft, "kind">) => (kind === "disk" ? DISK_OPERATORS : OPERATORS);

/** Reads the query of an address of a new alert. What is not valid there, or is not there, is as in a new alert. */
export function draftIn(search: string): AlertDraft {
  const parameters = new URLSearchParams(search);
  const initial = newAlert(parameters.get("kind") === "disk" ? "disk" : "events");
  const texts = Object.fromEntries(TEXTS.map((name) => [name, parameters.get(name) ?? initial[name]]));
  const numbers = Object.fromEntries(
    NUMBERS.map((name) => {
      const text = parameters.get(name);
      return [name, numberIn(text, name, boundsOf(initial, name)) === undefined ? initial[name] : text!];
    }),
  );
  const severity = parameters.get("severity") as AlertSeverity;
  const operator = parameters.get("operator") as Operator;
  return {
    ...initial,
    ...texts,
    ...numbers,
    severity: SEVERITIES.includes(severity) ? severity : initial.severity,
    operator: operatorsOf(initial).includes(operator) ? operator : initial.operator,
    muted: parameters.get("muted") === "1",
  };
}

/** The query of the address that begins a new alert as a draft, with the question mark; "" for NEW_ALERT. */
export function searchOfDraft(draft: AlertDraft): string {
  const parameters = new URLSearchParams();
  const initial = newAlert(draft.kind);
  if (draft.kind !== NEW_ALERT.kind) parameters.set("kind", draft.kind);
  for (const name of [...TEXTS, "severity", "operator", ...NUMBERS] as const)
    if (draft[name] !== initial[name]) parameters.set(name, draft[name]);
  if (draft.muted) parameters.set("muted", "1");
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** A stored alert, to be changed. */
export function draftOfAlert(alert: Alert): AlertDraft {
  const { name, description = "", kind, query, severity, operator } = alert;
  const { notification_id: notification, muted = false } = alert;
  const numbers = Object.fromEntries(NUMBERS.map((key) => [key, String(alert[key] ?? NEW_ALERT[key])]));
  return { ...NEW_ALERT, ...numbers, name, description, kind, query, severity, operator, notification, muted };
}

/** The alert that is sent to the service. A text that is no number becomes the default: `problemIn` reports it. */
export function alertOf(draft: AlertDraft, project_id: string): AlertInput {
  const { description, kind, query, severity, operator, notification, muted } = draft;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberIn(draft[name], name)]));
  const about = { project_id, name: draft.name.trim(), description: description.trim(), kind };
  return { ...about, query: query.trim(), severity, operator, notification_id: notification, muted, ...numbers };
}

/**
 * The first problem of a draft that can be seen without the service, with the path that the service gives it; undefined
 * if there is none.
 */
export function problemIn(draft: AlertDraft): string | undefined {
  if (draft.kind === "events" && draft.query.trim() === "")
    return "alert.query: write what to look for, or | count for all events";
  const wrong = conditionProblem(draft);
  if (wrong !== undefined) return wrong;
  if (draft.name.trim() === "") return "alert.name: give it a name: messages begin with it";
  if (draft.notification === "") return "alert.notification_id: choose who is notified, or create a notification";
  return undefined;
}

/** The first problem of the numbers of a draft. */
export function conditionProblem(draft: AlertDraft): string | undefined {
  const name = NUMBERS.find((one) => numberIn(draft[one], one, boundsOf(draft, one)) === undefined);
  if (name === undefined) return undefined;
  const { least, most } = boundsOf(draft, name);
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  return `alert.${name}: write a whole number, ${range}`;
}

/** The number that a text is, if the service takes it. */
export function numberIn(text: string | null, name: NumberName, { least, most } = BOUNDS[name]): number | undefined {
  if (text === null || !/^\d{1,15}$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value >= least && value <= most ? value : undefined;
}
