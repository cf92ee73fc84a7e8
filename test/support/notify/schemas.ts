// The payloads that the receivers accept, by their published documentation, as JSON Schemas.

/** https://developer.pagerduty.com/api-reference/368ae3d938c9e-send-an-event-to-pager-duty (Events API v2). */
export const PAGERDUTY_EVENT = {
  type: "object",
  required: ["routing_key", "event_action"],
  additionalProperties: false,
  properties: {
    routing_key: { type: "string", minLength: 32, maxLength: 32 },
    event_action: { enum: ["trigger", "acknowledge", "resolve"] },
    dedup_key: { type: "string", maxLength: 255 },
    client: { type: "string" },
    client_url: { type: "string" },
    links: {
      type: "array",
      items: {
        type: "object",
        required: ["href"],
        additionalProperties: false,
        properties: { href: { type: "string" }, text: { type: "string" } },
      },
    },
    images: { type: "array" },
    payload: {
      type: "object",
      required: ["summary", "source", "severity"],
      additionalProperties: false,
      properties: {
        summary: { type: "string", minLength: 1, maxLength: 1024 },
        source: { type: "string", minLength: 1 },
        severity: { enum: ["critical", "error", "warning", "info"] },
        timestamp: {
          type: "string",
          pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:?\\d\\d)$",
        },
        component: { type: "string" },
        group: { type: "string" },
        class: { type: "string" },
        custom_details: { type: "object" },
      },
    },
  },
  if: { properties: { event_action: { const: "trigger" } } },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
  then: { required: ["payload"] },
  else: { required: ["dedup_key"] },
};

/** An event of PagerDuty is at most this long, in bytes. */
export const PAGERDUTY_MAX_BYTES = 512 * 1024;

/**
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and
 * https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments: at most 100 attachments, of which more
 * than 20 are advised against, and 40,000 characters of text.
 */
export const SLACK_MESSAGE = {
  type: "object",
  required: ["text"],
  additionalProperties: false,
  properties: {
    channel: { type: "string", minLength: 1 },
    text: { $ref: "#/definitions/escaped", minLength: 1, maxLength: 4000 },
    mrkdwn: { const: false },
    link_names: { const: false },
    unfurl_links: { const: false },
    unfurl_media: { const: false },
    attachments: { type: "array", minItems: 1, maxItems: 20, items: { $ref: "#/definitions/attachment" } },
  },
  definitions: {
    /** `<` and `>` are control characters, `&` begins one of three entities. */
    escaped: { type: "string", pattern: "^(?:[^<>&]|&(?:amp|lt|gt);)*$" },
    attachment: {
      type: "object",
      required: ["fallback"],
      additionalProperties: false,
      properties: {
        fallback: { $ref: "#/definitions/escaped", minLength: 1 },
        color: { type: "string", pattern: "^(good|warning|danger|#[0-9a-f]{6})$" },
        title: { $ref: "#/definitions/escaped" },
        title_link: { type: "string", pattern: "^https?://" },
        text: { $ref: "#/definitions/escaped", maxLength: 8000 },
        footer: { $ref: "#/definitions/escaped", maxLength: 300 },
        ts: { type: "integer" },
        mrkdwn_in: { type: "array", maxItems: 0 },
        fields: {
          type: "array",
          items: {
            type: "object",
            required: ["title", "value", "short"],
            additionalProperties: false,
            properties: {
              title: { type: "string", minLength: 1 },
              value: { $ref: "#/definitions/escaped", minLength: 1, maxLength: 4000 },
              short: { type: "boolean" },
            },
          },
        },
      },
    },
  },
};

/** https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource */
export const TWILIO_FORM = {
  type: "object",
  required: ["To", "Body"],
  additionalProperties: false,
  properties: {
    To: { type: "string", pattern: "^\\+[1-9]\\d{1,14}$" },
    From: { type: "string", pattern: "^(\\+[1-9]\\d{1,14}|[A-Za-z0-9 ]{1,11})$" },
    MessagingServiceSid: { type: "string", pattern: "^MG[0-9a-fA-F]{32}$" },
    Body: { type: "string", minLength: 1, maxLength: 1600 },
  },
  oneOf: [{ required: ["From"] }, { required: ["MessagingServiceSid"] }],
};
