import { utcTime } from "../account/utc-time.ts";
import type { AlertMessage } from "../alerts/message.ts";
import { plainText } from "./harmless-message.ts";

// The words of all channels. Messages are made harmless before, each for its channel.

/** What a message says in one line: `[triggered] 42 events in 5 min: checkout`. */
export function headline(message: AlertMessage): string {
  return `[${LABELS[message.kind]}] ${happened(message)}: ${subjectOf(message)}`;
}

/** What several messages say in one line: `[digest] 12 triggered, 3 resolved: checkout, sign-in and 4 more`. */
export function digestHeadline(messages: readonly AlertMessage[]): string {
  const names = [...new Set(messages.map(({ alert }) => alert.name))];
  const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : "";
  return `[digest] ${counts(messages)}: ${names.slice(0, NAMES).join(", ")}${more}`;
}

/** Names of alerts in the line of a digest. */
const NAMES = 3;

/** How many messages there are of each kind: `12 triggered, 3 resolved`. */
function counts(messages: readonly AlertMessage[]): string {
  const kinds = (Object.keys(LABELS) as AlertMessage["kind"][]).map((kind) => {
    const count = messages.filter((message) => message.kind === kind).length;
    return count === 0 ? "" : `${count} ${LABELS[kind]}`;
  });
  return kinds.filter((text) => text !== "").join(", ");
}

/** What happened, in a word or two. */
export const LABELS = {
  triggered: "triggered",
  repeated: "still triggered",
  failed: "failed",
  resolved: "resolved",
  test: "TEST",
} as const satisfies Record<AlertMessage["kind"], string>;

/** The value and its window, or why there is none: `42 events in 5 min`, `closed by a change`. */
function happened(message: AlertMessage): string {
  const { kind, value, reason, alert } = message;
  if (kind === "failed" || value === null) return "cannot be evaluated";
  if (kind === "resolved" && reason !== "") return reason;
  return `${valueText(message)} in ${durationText(alert.interval)}`;
}

/** The value as people say it: `42 events`, `p99(duration) 812.5 ms`. */
export function valueText({ value, what, unit }: AlertMessage): string {
  if (value === null) return "no value";
  const number = numberText(value);
  const name = what;
  // A column that is a word of its own counts something: 42 failures. Others are measured.
  if (unit === "" && /^\p{L}[\p{L} ]*$/u.test(name))
    return `${number} ${value === 1 ? name.replace(/^events$/, "event") : name}`;
  return `${name} ${number}${unit === "" ? "" : ` ${unit}`}`;
}

/** The alert's name, with the group if there is one: `checkout (host=web1)`. */
export function subjectOf({ alert, group }: AlertMessage): string {
  return group.length === 0 ? alert.name : `${alert.name} (${groupText(group)})`;
}

/** The values of a group: `host=web1, status=500`. */
export function groupText(group: AlertMessage["group"]): string {
  return group.map(({ name, value }) => `${name}=${plainText(value)}`).join(", ");
}

/** When the alert is triggered: `more than 10 events in 5 min`. */
export function conditionText({ alert, what, unit }: AlertMessage): string {
  const limit = `${COMPARISONS[alert.operator]} ${numberText(alert.threshold)}${unit === "" ? "" : ` ${unit}`}`;
  return unit === "" && what === "events"
    ? `${limit} events in ${durationText(alert.interval)}`
    : `${what} ${limit} in ${durationText(alert.interval)}`;
}

const COMPARISONS = {
  ">": "more than",
  ">=": "at least",
  "<": "fewer than",
  "<=": "at most",
} as const satisfies Record<AlertMessage["alert"]["operator"], string>;

/** The slot: `23 Nov 2026, 14:00 to 14:05 UTC`. */
export function windowText({ window }: AlertMessage): string {
  const [start, stop] = [new Date(window.start), new Date(window.stop)];
  const [from, to] = [utcTime(start), utcTime(stop)];
  const day = (text: string) => text.slice(0, text.indexOf(","));
  return day(from) === day(to)
    ? `${from.replace(/ UTC$/, "")} to ${to.slice(to.indexOf(",") + 2)}`
    : `${from.replace(/ UTC$/, "")} to ${to}`;
}

/** Minutes as people say them: `5 min`, `2 h`, `1 h 30 min`, `1 day`. */
export function durationText(minutes: number): string {
  if (minutes === 1440) return "1 day";
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && `${hours} h`, rest > 0 && `${rest} min`].filter(Boolean).join(" ") || "0 min";
}

function numberText(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

/** One line that says what is told, for a preview: `42 events in 5 min. Triggered by more than 10 events in 5 min, in Shop.` */
export function summaryText(message: AlertMessage): string {
  const project = message.project.name;
  const told = SUMMARIES[message.kind](message);
  const why = message.reason === "" || message.kind === "test" ? "" : `: ${message.reason}`;
  return `${told}${why}. Project ${project}, ${windowText(message)}.`;
}

const SUMMARIES: Record<AlertMessage["kind"], (message: AlertMessage) => string> = {
  triggered: (message) => `${valueText(message)}; it triggers at ${conditionText(message)}`,
  repeated: (message) =>
    `Still triggered, with ${valueText(message)}, since ${utcTime(new Date(message.triggeredAt))}; it triggers at ${conditionText(message)}`,
  failed: () => "The query could not be evaluated, so nobody is told what it would find",
  resolved: (message) => `Resolved after it was triggered on ${utcTime(new Date(message.triggeredAt))}`,
  test: () => "This is a test. Nothing has happened",
};

/** The address of the page with exactly these events, or undefined if the service has no public address. */
export function linkOf({ path }: AlertMessage, origin: string | undefined): string | undefined {
  return origin === undefined ? undefined : new URL(path, origin).href;
}
