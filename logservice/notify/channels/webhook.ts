import { createHmac } from "node:crypto";
import type { AlertMessage } from "../../records/alert-message.ts";
import type { Post } from "../post.ts";
import { eventsUrl, groupText } from "../wording.ts";

export interface WebhookTarget {
  readonly url: string;
  /** Those that sign; without any, nothing is signed. */
  readonly secrets: readonly string[];
}

/** The content of one request. The id is that of the delivery or of the digest: receivers drop what they have had. */
export interface MessageBatch {
  readonly id: string;
  readonly messages: readonly AlertMessage[];
}

/** The request that posts one or several messages. The id is the same in each attempt. */
export function webhookPost(
  { url, secrets }: WebhookTarget,
  { id, messages }: MessageBatch,
  origin: string | undefined,
  nowMs: number,
): Post {
  const [first] = messages as [AlertMessage];
  const payload =
    messages.length === 1
      ? { ...webhookPayload(first, origin), id }
      : {
          id,
          type: "alert.digest",
          messages: digestPayloads(messages, origin),
        };
  const body = JSON.stringify(payload);
  return {
    url,
    headers: {
      "Content-Type": "application/json",
      "X-Delivery-Id": id,
      ...(secrets.length > 0 && { "X-Signature": signatureOf(body, secrets, Math.floor(nowMs / 1000)) }),
    },
    body,
  };
}

/** Sample events of each message in a digest. */
const DIGEST_EVENTS = 3;
/** Characters of a digest: many receivers refuse a body of a megabyte. */
const MAX_DIGEST = 256 * 1024;
const MAX_TEXT = 200;

/** The messages of a digest, shorter if all of them are too much. */
function digestPayloads(messages: readonly AlertMessage[], origin: string | undefined): unknown[] {
  const full = messages.map((message) => webhookPayload(message, origin, DIGEST_EVENTS));
  if (JSON.stringify(full).length <= MAX_DIGEST) return full;
  const short = messages.map((message) => webhookPayload(message, origin, 0));
  if (JSON.stringify(short).length <= MAX_DIGEST) return short;
  const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
  return short.map(({ alert, group, group_text, reason, ...rest }) => {
    const texts = { query: cut(alert.query), description: cut(alert.description) };
    const groups = group.map(({ name, value }) => ({ name, value: typeof value === "string" ? cut(value) : value }));
    // The link holds the whole query, and would be as long.
    return {
      ...rest,
      alert: { ...alert, ...texts },
      group: groups,
      group_text: cut(group_text),
      reason: cut(reason),
      url: null,
    };
  });
}

/** The payload of one message, for programs. New members may be added. */
function webhookPayload(message: AlertMessage, origin: string | undefined, maxEvents = Number.POSITIVE_INFINITY) {
  const { id, kind, alert, team, project, group, value, what, unit, window } = message;
  return {
    id,
    type: `alert.${kind}`,
    episode_id: message.episodeId,
    team,
    project,
    alert,
    group,
    group_text: groupText(group),
    value,
    what,
    unit,
    // Events are counted unless the query makes a column.
    ...(what === "events" && { count: value }),
    window,
    triggered_at: message.triggeredAt,
    reason: message.reason,
    events: message.events.slice(0, maxEvents),
    has_more_events: message.hasMoreEvents || message.events.length > maxEvents,
    url: eventsUrl(message, origin) ?? null,
  };
}

/** `t=<seconds since 1970>,v1=<hex>`, with a v1 of each secret: HMAC-SHA256 of the time, a dot and the body. */
function signatureOf(body: string, secrets: readonly string[], seconds: number): string {
  const signatures = secrets.map((secret) => {
    return `v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
  });
  return [`t=${seconds}`, ...signatures].join(",");
}
