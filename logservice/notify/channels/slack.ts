import { shownText } from "../../html/shown-text.ts";
import type { AlertMessage } from "../../records/alert-message.ts";
import { harmlessMessage } from "../harmless-message.ts";
import type { Post } from "../post.ts";
import { sampleLine } from "../sample-line.ts";
import {
  conditionText,
  digestHeadline,
  eventsUrl,
  groupText,
  headline,
  subjectOf,
  summaryText,
  valueText,
  windowText,
} from "../wording.ts";

export interface SlackTarget {
  readonly url: string;
  /** The channel if it is not the webhook's own, or "". */
  readonly channel: string;
}

/** The request that posts one or several messages to an incoming webhook of Slack, or of what understands the same. */
export function slackPost(
  target: SlackTarget,
  alertMessages: readonly AlertMessage[],
  origin: string | undefined,
): Post {
  const messages = alertMessages.map((message) => harmlessMessage(message, shownText));
  const [first] = messages as [AlertMessage];
  const isOne = messages.length === 1;
  const payload = {
    ...(target.channel !== "" && { channel: target.channel }),
    // The text that a notification on a phone shows.
    text: escaped(isOne ? headline(first) : digestHeadline(messages)),
    // Texts of logs are shown as they are: they make no links that are fetched, and call nobody by name.
    mrkdwn: false,
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    attachments: isOne ? [attachmentOf(first, origin)] : digestAttachments(messages, origin),
  };
  return {
    url: target.url,
    headers: { "Content-Type": "application/json; charset=utf-8" },
    body: JSON.stringify(payload),
  };
}

/** Attachments of a digest: with more than 20, messages are hard to read, as Slack's documentation says. */
const MAX_ATTACHMENTS = 20;
/** Sample events in one message. */
const MAX_EVENTS = 5;
const MAX_MESSAGE = 200;

function attachmentOf(message: AlertMessage, origin: string | undefined) {
  const { alert, group, value } = message;
  const fields = [
    value !== null && field("Value", valueText(message), true),
    field("Condition", conditionText(message), true),
    group.length > 0 && field("Group", groupText(group), true),
    field("Severity", alert.severity, true),
    alert.query !== "" && field("Query", alert.query, false),
    message.events.length > 0 &&
      field(message.hasMoreEvents ? "The newest events" : "The events", samples(message), false),
  ];
  return {
    ...headOf(message, origin),
    text: escaped([summaryText(message), alert.description].filter(Boolean).join("\n")),
    fields: fields.filter((one) => one !== false),
    footer: escaped(`${message.project.name} (${message.team.name})`),
  };
}

function digestAttachments(messages: readonly AlertMessage[], origin: string | undefined) {
  const entries = messages.length > MAX_ATTACHMENTS ? messages.slice(0, MAX_ATTACHMENTS - 1) : messages;
  const more = messages.length - entries.length;
  return [
    ...entries.map((message) => ({
      ...headOf(message, origin),
      title: escaped(headline(message)),
      text: escaped(`${message.project.name}, ${windowText(message)}`),
    })),
    ...(more > 0 ? [{ fallback: `and ${more} more`, text: `and ${more} more`, mrkdwn_in: [] }] : []),
  ];
}

function headOf(message: AlertMessage, origin: string | undefined) {
  const url = eventsUrl(message, origin);
  return {
    fallback: escaped(headline(message)),
    color: colorOf(message),
    title: escaped(subjectOf(message)),
    ...(url !== undefined && { title_link: url }),
    ts: Math.floor(Date.parse(message.window.stop) / 1000),
    mrkdwn_in: [],
  };
}

function field(title: string, value: string, short: boolean) {
  return { title, value: escaped(value), short };
}

function samples({ events }: AlertMessage): string {
  const lines = events.slice(0, MAX_EVENTS).map((event) => {
    const line = shownText(sampleLine(event).line, MAX_MESSAGE);
    return `${shownText(event.timestamp, 40)} ${shownText(event.level, 20)}  ${line}`;
  });
  return lines.join("\n");
}

/** Slack's own escapes; nothing else is markup where it is off (https://docs.slack.dev/messaging/formatting-message-text). */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function colorOf({ kind, alert }: AlertMessage): string {
  if (kind === "resolved") return "#2eb67d";
  if (kind === "test") return "#868686";
  return { info: "#2855d9", notice: "#ecb22e", error: "#e0573e", critical: "#a40e26" }[alert.severity];
}
