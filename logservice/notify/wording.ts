import { utcTime } from "../html/utc-time.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { condition, isCount, isFreeDisk, limit, periodText, quantityText } from "./condition.ts";
import { jsonValueText } from "./harmless-message.ts";

// The words of all channels. Messages are made harmless before, each for its channel.

/** Returns a message in one line: `[triggered] 42 events in 5 min: checkout`. */
export function headline(message: AlertMessage): string {
  return `[${LABELS[message.kind]}] ${happened(message)}: ${subjectOf(message)}`;
}

/** Returns several messages in one line: `[digest] 12 triggered, 3 resolved: checkout, sign-in and 4 more`. */
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

/** The kinds of messages in a word or two. */
export const LABELS = {
  triggered: "triggered",
  repeated: "still triggered",
  failed: "failed",
  resolved: "resolved",
  test: "TEST",
} as const satisfies Record<AlertMessage["kind"], string>;

/** The value and its window, or why there is none: `42 events in 5 min`, `closed by a change`. */
function happened(message: AlertMessage): string {
  const { kind, value, reason } = message;
  if (kind === "failed" || value === null) return "cannot be evaluated";
  if (kind === "resolved" && reason !== "") return reason;
  return measured(message);
}

/** The value as people say it: `42 events`, `p99(duration) 812.5 ms`. */
export function valueText(message: AlertMessage): string {
  const { value, what, unit } = message;
  if (value === null) return "no value";
  if (isCount(message)) return `${quantityText(value)} ${value === 1 ? what.replace(/^events$/, "event") : what}`;
  return `${what} ${quantityText(value)}${unit === "" ? "" : ` ${unit}`}`;
}

/** The alert's name, with the group if there is one: `checkout (host=web1)`. */
export function subjectOf({ alert, group }: AlertMessage): string {
  return group.length === 0 ? alert.name : `${alert.name} (${groupText(group)})`;
}

/** The values of a group: `host=web1, status=500`. */
export function groupText(group: AlertMessage["group"]): string {
  return group.map(({ name, value }) => `${name}=${jsonValueText(value)}`).join(", ");
}

/** When the alert is triggered: `more than 10 events in 5 min`. */
export const conditionText = ({ alert, ...measured }: AlertMessage) => condition(alert, measured);

/** `more than 10`, `less than 500 ms`. */
const limitText = ({ alert, ...measured }: AlertMessage) => limit(alert, measured);

/** The slot: `23 Nov 2026, 14:00 to 14:05 UTC`. */
export function windowText({ window }: AlertMessage): string {
  const [start, stop] = [new Date(window.start), new Date(window.stop)];
  const [from, to] = [utcTime(start), utcTime(stop)];
  const day = (text: string) => text.slice(0, text.indexOf(","));
  return day(from) === day(to)
    ? `${from.replace(/ UTC$/, "")} to ${to.slice(to.indexOf(",") + 2)}`
    : `${from.replace(/ UTC$/, "")} to ${to}`;
}

/** Returns a message in a sentence or two, for a preview. */
export function summaryText(message: AlertMessage): string {
  return `${SUMMARIES[message.kind](message)}. Project ${message.project.name}, ${windowText(message)}.`;
}

const SUMMARIES: Record<AlertMessage["kind"], (message: AlertMessage) => string> = {
  triggered: (message) =>
    `${measured(message)}; the alert triggers on ${limitText(message)}${message.reason === "" ? "" : `; ${message.reason}`}`,
  repeated: (message) =>
    `${measured(message)}; still triggered since ${triggeredText(message)}; the alert triggers on ${limitText(message)}`,
  failed: (message) =>
    `${isFreeDisk(message) ? "The disk could not be measured" : "The query could not be evaluated"}, so the alert cannot be triggered or resolved${because(message)}`,
  resolved: (message) =>
    message.reason === ""
      ? `Resolved, with ${measured(message)}; triggered on ${triggeredText(message)}`
      : `Resolved${because(message)}; triggered on ${triggeredText(message)}`,
  test: () => "This is a test. Nothing has happened",
};

const measured = (message: AlertMessage) => `${valueText(message)}${periodText(message, message.alert.interval)}`;
const because = ({ reason }: AlertMessage) => (reason === "" ? "" : `: ${reason}`);
const triggeredText = ({ triggeredAt }: AlertMessage) => utcTime(new Date(triggeredAt));

/** The address of the page with exactly these events, or undefined if the service has no public address. */
export function eventsUrl({ path }: AlertMessage, origin: string | undefined): string | undefined {
  return origin === undefined ? undefined : new URL(path, origin).href;
}
