import type { Event } from "../../events/store.ts";
import { type Html, html } from "../../html/html.ts";
import { mailDocument } from "../../html/mail-document.ts";
import { shownText } from "../../html/shown-text.ts";
import type { MailMessage } from "../../mail/mailer.ts";
import type { AlertMessage } from "../../records/alert-message.ts";
import { isFreeDisk } from "../condition.ts";
import { defangedText } from "../defanged-text.ts";
import { harmlessMessage, jsonValueText } from "../harmless-message.ts";
import { sampleLine } from "../sample-line.ts";
import {
  conditionText,
  digestHeadline,
  eventsUrl,
  groupText,
  headline,
  LABELS,
  subjectOf,
  summaryText,
  valueText,
  windowText,
} from "../wording.ts";

/** The mail about one message, without its recipient. `origin` is the public address of the service, if it has one. */
export function alertMail(raw: AlertMessage, origin: string | undefined): Omit<MailMessage, "to"> {
  const url = eventsUrl(raw, origin);
  const message = harmlessMessage(raw, defangedText);
  // Without a link, the query is copied from here.
  const query = url === undefined ? shownText(raw.alert.query, MAX_QUERY) : message.alert.query;
  const title = headline(message);
  const events = message.events.slice(0, MAX_EVENTS);
  const hasMore = message.hasMoreEvents || message.events.length > MAX_EVENTS;
  const parts = {
    title,
    summary: summaryText(message),
    facts: factsOf(message, query),
    url,
    events,
    hasMore,
  };
  return { id: message.id, subject: title, text: textOf(message, parts), html: pageOf(message, parts) };
}

/** The mail about several messages. The id is that of the digest. */
export function digestMail(
  id: string,
  messages: readonly AlertMessage[],
  origin: string | undefined,
): Omit<MailMessage, "to"> {
  const harmless = messages.map((message) => harmlessMessage(message, defangedText));
  const title = digestHeadline(harmless);
  const entries = harmless.slice(0, MAX_LINES);
  const more = messages.length > MAX_LINES ? `And ${messages.length - MAX_LINES} more.` : "";
  const intro = "So much happened within a minute that it is told in one mail.";
  const lines = entries.map((message) => ({
    message,
    title: withoutLabel(headline(message)),
    where: `Project ${message.project.name}, ${windowText(message)}`,
    url: eventsUrl(message, origin),
  }));
  const text = [
    intro,
    ...lines.map(({ message, title, where, url }) =>
      [`[${LABELS[message.kind]}] ${title}`, where, url].filter((line) => line !== undefined).join("\n"),
    ),
    more,
  ];
  const rows = lines.map(
    ({ message, title, where, url }) => html`<div style="padding:12px 0;${RULE}">${label(message)}
<div style="margin-top:6px;font-weight:600">${url === undefined ? title : html`<a href="${url}" style="color:inherit">${title}</a>`}</div>
<div style="${SMALL}">${where}</div></div>
`,
  );
  const body = html`<h1 style="${HEADING}">${withoutLabel(title)}</h1>
<p style="margin:0 0 16px">${intro}</p>
${rows}${more !== "" && html`<p style="margin:16px 0">${more}</p>`}`;
  return {
    id,
    subject: title,
    text: `${text.filter((part) => part !== "").join("\n\n")}\n`,
    html: mailDocument({ title, preview: intro, maxWidthPx: 600, content: body }),
  };
}

/** Sample events in a mail: Gmail hides what is after the first 102 KB. */
const MAX_EVENTS = 30;
/** Alerts in a digest, for the same reason. */
const MAX_LINES = 60;
/** Characters of a query that is copied. */
const MAX_QUERY = 2_000;
/** Characters of an event's line and of its other fields. */
const MAX_MESSAGE = 400;
const MAX_FIELDS = 200;
/** Characters of a level, and of a time that is not in our form. */
const MAX_LEVEL = 40;

interface Parts {
  readonly title: string;
  readonly summary: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly url: string | undefined;
  readonly events: readonly Event[];
  readonly hasMore: boolean;
}

function factsOf(message: AlertMessage, query: string): Parts["facts"] {
  const { alert, team, project, group, kind, value } = message;
  const facts: [string, string][] = [
    ["Alert", alert.name],
    ["Description", alert.description],
    ["Project", `${project.name} (${team.name})`],
    ["Value", value === null ? "" : valueText(message)],
    ["Group", groupText(group)],
    ["Condition", conditionText(message)],
    ["Query", query],
    ["Time", windowText(message)],
    ["Severity", alert.severity],
    ["Reason", kind === "failed" || kind === "resolved" ? message.reason : ""],
  ];
  return facts.filter(([, text]) => text !== "");
}

function textOf(message: AlertMessage, { summary, facts, url, events, hasMore }: Parts): string {
  const sampled = events.map((event) => {
    const { line, fields } = textsOf(event);
    return `${timeText(event)} ${defangedText(event.level, MAX_LEVEL)}  ${line}${fields && `\n    ${fields}`}`;
  });
  const parts = [
    summary,
    url === undefined
      ? !isFreeDisk(message) && `To see the events, search for the query below in that time.`
      : `${linkText(message)}:\n${url}`,
    facts.map(([name, text]) => `${name}: ${text}`).join("\n"),
    sampled.length > 0 && `${samplesTitle(hasMore)}:\n\n${sampled.join("\n")}`,
  ];
  return `${parts.filter((part) => part !== false).join("\n\n")}\n`;
}

/**
 * The HTML has inline styles alone, as clients drop the rest, and nothing remote. It sets no colours besides those of the
 * label and the button, which are readable on light and dark: the client chooses the others.
 */
function pageOf(message: AlertMessage, { title, summary, facts, url, events, hasMore }: Parts): string {
  const body = html`${label(message)}
<h1 style="${HEADING}">${subjectOf(message)}</h1>
<p style="margin:0 0 16px">${summary}</p>
${
  url !== undefined &&
  html`<p style="margin:20px 0"><a href="${url}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#2855d9;color:#ffffff;font-weight:600;text-decoration:none">${linkText(message)}</a></p>
`
}<table role="presentation" cellpadding="0" cellspacing="0" style="width:100%;border-collapse:collapse;font-size:14px">
${facts.map(
  ([
    name,
    text,
  ]) => html`<tr><td style="padding:6px 12px 6px 0;${RULE}vertical-align:top;white-space:nowrap;${DIM}">${name}</td><td style="padding:6px 0;${RULE}width:100%;overflow-wrap:anywhere;white-space:pre-line">${name === "Query" ? html`<code style="${CODE}">${text}</code>` : text}</td></tr>
`,
)}</table>
${events.length > 0 && eventsTable(events, hasMore)}`;
  return mailDocument({ title, preview: summary, maxWidthPx: 600, content: body });
}

function eventsTable(events: readonly Event[], hasMore: boolean): Html {
  const rows = events.map((event) => {
    const { line, fields } = textsOf(event);
    return html`<tr><td style="padding:8px 0;${RULE}overflow-wrap:anywhere"><div style="${SMALL}">${timeText(event)} <b style="font-weight:600">${defangedText(event.level, MAX_LEVEL)}</b></div><code style="${CODE}">${line}</code>${fields !== "" && html`<div style="${SMALL}"><code style="${CODE}">${fields}</code></div>`}</td></tr>
`;
  });
  return html`<h2 style="margin:24px 0 8px;font-size:16px;line-height:1.3">${samplesTitle(hasMore)}</h2>
<table cellpadding="0" cellspacing="0" style="width:100%;border-collapse:collapse;table-layout:fixed;font-size:14px">
${rows}</table>
`;
}

/** A headline without what it begins with in brackets. */
const withoutLabel = (title: string) => title.replace(/^\[.*?\] /, "");

function label({ kind, alert }: AlertMessage): Html {
  return html`<span style="display:inline-block;padding:2px 10px;border-radius:999px;background:${labelColor(kind, alert.severity)};color:#ffffff;font-size:13px;font-weight:600">${LABELS[kind]}</span>`;
}

/** White text is readable on each of them: a contrast of at least 4.5. */
function labelColor(kind: AlertMessage["kind"], severity: AlertMessage["alert"]["severity"]): string {
  if (kind === "resolved") return "#1a7f37";
  if (kind === "test") return "#57606a";
  return { info: "#2855d9", notice: "#8a5a00", error: "#c0341d", critical: "#a40e26" }[severity];
}

const HEADING = "margin:10px 0 8px;font-size:20px;line-height:1.3";
const RULE = "border-top:1px solid rgba(128,128,128,.3);";
const DIM = "opacity:.75;";
const SMALL = `font-size:13px;${DIM}`;
const CODE = "font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere";

function linkText(message: AlertMessage): string {
  if (isFreeDisk(message)) return "See how full the disk is";
  return message.events.length > 0 ? "See the events" : "Open the search";
}

function samplesTitle(hasMore: boolean): string {
  return hasMore ? "The newest events" : "The events";
}

/** The time of day of an event, in UTC as the window is; what is no time of our form is shown as it is. */
function timeText({ timestamp }: Event): string {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? defangedText(timestamp, MAX_LEVEL) : new Date(ms).toISOString().slice(11, 19);
}

/** An event in one line, and the first of its other fields in another. */
function textsOf(event: Event): { readonly line: string; readonly fields: string } {
  const { line, fields } = sampleLine(event);
  const texts = Object.entries(fields)
    .slice(0, MAX_FIELDS / 2)
    .map(([name, value]) => `${name}=${jsonValueText(value)}`);
  return { line: defangedText(line, MAX_MESSAGE), fields: defangedText(texts.join(" "), MAX_FIELDS) };
}
