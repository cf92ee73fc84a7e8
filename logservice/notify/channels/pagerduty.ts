import { shownText } from "../../html/shown-text.ts";
import type { AlertMessage } from "../../records/alert-message.ts";
import { isFreeDisk } from "../condition.ts";
import { harmlessMessage } from "../harmless-message.ts";
import type { Post } from "../post.ts";
import { sampleLine } from "../sample-line.ts";
import { conditionText, eventsUrl, groupText, headline, valueText } from "../wording.ts";

export interface PagerDutyTarget {
  /** Where PagerDuty is, without a path. */
  readonly url: string;
  /** The key of the service's integration. */
  readonly routingKey: string;
}

/**
 * The event of PagerDuty about a message: Events API v2, https://developer.pagerduty.com/api-reference/send-an-event. There
 * is no digest: an incident that several alerts share could not be resolved by one of them.
 */
export function pagerDutyPost(target: PagerDutyTarget, message: AlertMessage, origin: string | undefined): Post {
  const url = eventsUrl(message, origin);
  const head = { routing_key: target.routingKey, dedup_key: dedupKey(message) };
  const event =
    message.kind === "resolved"
      ? { ...head, event_action: "resolve" }
      : {
          ...head,
          event_action: "trigger",
          client: "tool",
          ...(url !== undefined && {
            client_url: url,
            links: [{ href: url, text: isFreeDisk(message) ? "The disk" : "The events" }],
          }),
          payload: payloadOf(harmlessMessage(message, shownText)),
        };
  return {
    url: new URL("/v2/enqueue", target.url).href,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(event),
  };
}

/** Joins a trigger and its resolution. All tests of an alert are one incident, which a person resolves. */
function dedupKey({ alert, team, project, episodeId, kind }: AlertMessage): string {
  if (kind !== "test") return `${alert.id}:${episodeId}`;
  // An alert that is not added yet has no id.
  return `${alert.id || `${team.id}:${project.id}`}:test`;
}

/** PagerDuty's limit of a summary, in characters. */
const MAX_SUMMARY = 1024;
/** Sample events: an event of PagerDuty has at most 512 KB. */
const MAX_EVENTS = 10;
const MAX_MESSAGE = 1_000;

const SEVERITIES = {
  info: "info",
  notice: "warning",
  error: "error",
  critical: "critical",
} as const satisfies Record<AlertMessage["alert"]["severity"], string>;

function payloadOf(message: AlertMessage) {
  const { alert, project, team, group, kind, window } = message;
  return {
    summary: shownText(headline(message), MAX_SUMMARY),
    source: `${team.name}/${project.name}`,
    severity: kind === "test" ? "info" : SEVERITIES[alert.severity],
    timestamp: window.stop,
    component: project.id,
    ...(group.length > 0 && { group: groupText(group) }),
    class: alert.name,
    custom_details: {
      ...(alert.query !== "" && { query: alert.query }),
      triggers_at: conditionText(message),
      value: valueText(message),
      start: window.start,
      stop: window.stop,
      ...(alert.description !== "" && { description: alert.description }),
      ...(message.reason !== "" && { reason: message.reason }),
      events: message.events.slice(0, MAX_EVENTS).map((event) => ({
        timestamp: event.timestamp,
        level: event.level,
        message: shownText(sampleLine(event).line, MAX_MESSAGE),
      })),
    },
  };
}
