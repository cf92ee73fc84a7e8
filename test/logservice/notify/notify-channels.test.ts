// The messages that each kind of target is sent: payloads by the receivers' schemas, mails as a parser reads them.

import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import t from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import { alertMail } from "../../../logservice/notify/channels/email.ts";
import { pagerDutyPost } from "../../../logservice/notify/channels/pagerduty.ts";
import { slackPost } from "../../../logservice/notify/channels/slack.ts";
import { smsPost, smsText } from "../../../logservice/notify/channels/sms.ts";
import { webhookPost } from "../../../logservice/notify/channels/webhook.ts";
import { cutToOnePart } from "../../../logservice/notify/gsm-text.ts";
import type { Post } from "../../../logservice/notify/post.ts";
import { retryAfterMs } from "../../../logservice/notify/retry-after.ts";
import { type DeliveryOutcome, type SendOptions, sendTo, targetRecipients } from "../../../logservice/notify/send.ts";
import { SmsBudget, TestLimits } from "../../../logservice/notify/send-limits.ts";
import { sendTest } from "../../../logservice/notify/send-test.ts";
import { missingSettings } from "../../../logservice/notify/settings.ts";
import { readSmsSettings, SmsSettingsError } from "../../../logservice/notify/sms-settings.ts";
import type { NotificationTarget } from "../../../logservice/notify/target.ts";
import { rotateWebhookSecret, validSecrets } from "../../../logservice/notify/webhook-secrets.ts";
import { digestHeadline, headline, summaryText } from "../../../logservice/notify/wording.ts";
import type { AlertMessage } from "../../../logservice/records/alert-message.ts";
import { root } from "../../support/cli.ts";
import { clockAt } from "../../support/clock-at.ts";
import { startMailServer } from "../../support/notify/mail-server.ts";
import { alertMessage, alertMessages, type MessageChange } from "../../support/notify/message.ts";
import { startReceiver } from "../../support/notify/receiver.ts";
import { PAGERDUTY_EVENT, PAGERDUTY_MAX_BYTES, SLACK_MESSAGE, TWILIO_FORM } from "../../support/notify/schemas.ts";
import { openWorld, SETTINGS } from "../../support/notify/world.ts";
import { holds } from "../../support/property.ts";
import { TestClock } from "../../support/test-clock.ts";

const ORIGIN = "https://logs.example.com";
const ROUTING_KEY = "0123456789abcdef0123456789abcdef";
const KINDS = ["triggered", "resolved", "failed", "repeated", "test"] as const;
const signal = new AbortController().signal;

const HOSTILE = `<!channel> </td><script>alert(1)</script> https://evil.example/pay?a=1&b=2 pay@evil.example \u202egnp.exe\u0000\n${"x".repeat(5_000)}`;

/** A message about the disk. */
const ON_DISK: MessageChange = {
  ...{ what: "free disk", unit: "%", value: 7.41, events: [], hasMoreEvents: false, path: "/t/acme/usage" },
  alert: { name: "disk", query: "", operator: "<", threshold: 10, interval: 1 },
};

/** A message in which everything that logs or people may choose is hostile. */
function hostileMessage(kind: AlertMessage["kind"] = "triggered"): AlertMessage {
  return alertMessage({
    kind,
    team: { id: "acme", name: HOSTILE },
    project: { id: "shop", name: HOSTILE },
    group: [{ name: HOSTILE, value: HOSTILE }],
    what: HOSTILE,
    unit: HOSTILE,
    reason: HOSTILE,
    alert: { name: HOSTILE, description: "\u0000see <b>\u202e", query: HOSTILE },
    events: Array.from({ length: 100 }, (_, i) => ({
      id: `evt_${i}`,
      timestamp: HOSTILE,
      level: HOSTILE,
      message: HOSTILE,
      fields: { [HOSTILE]: HOSTILE },
    })),
  });
}

t.test("an event in a message is one line, and its other fields after it where there is room", (t) => {
  const target = { stage: "production", id: "b9d3", ip: "203.0.113.7", method: "GET", path: "/fail", query: "" };
  const J = '{"request_method":"POST","request_uri":"/pay","status":"502","server":"web1"}';
  const rows: readonly (readonly [message: string, fields: object, line: string, rest: string])[] = [
    ["response", { ...target, status: 500, duration: 18, size: 6 }, "GET /fail 500 18ms 6 B", "stage=production"],
    [J, JSON.parse(J), "POST /pay 502", "server=web1"],
    ["failed\nTraceback (most recent call last):\n  f()\nE: x", {}, "failed: E: x +3 lines", ""],
    [
      "sent",
      { err: { message: "no card", stack: "Error: no card\n    at a", code: 7 } },
      "sent: no card +1 line",
      'err={"code":7}',
    ],
    ["as it was said", { path: "/a" }, "as it was said", "path=/a"],
  ];
  for (const [message, fields, line, rest] of rows) {
    const event = {
      id: "1",
      timestamp: "2026-11-23T14:04:58.120Z",
      level: "error" as const,
      message,
      fields: { ...fields },
    };
    const alert = alertMessage({ events: [event], hasMoreEvents: false });
    const mail = alertMail(alert, ORIGIN);
    t.match(mail.text, `\n14:04:58 error  ${line}${rest && `\n    ${rest}`}\n`, line);
    t.match(mail.html, `>${line}</code>`, `${line}, as a page`);
    t.match(
      slackPost({ url: "https://x.example", channel: "" }, [alert], ORIGIN).body,
      `error  ${line}"`,
      `${line}, in a chat`,
    );
    const pager = JSON.parse(pagerDutyPost({ url: "https://x.example", routingKey: ROUTING_KEY }, alert, ORIGIN).body);
    t.same(
      pager.payload.custom_details.events,
      [{ timestamp: event.timestamp, level: event.level, message: line }],
      `${line}, for a pager`,
    );
  }
  t.end();
});

t.test("headlines", (t) => {
  const rows: readonly (readonly [MessageChange, string])[] = [
    [{}, "[triggered] 42 events in 5 min: checkout"],
    [{ value: 1 }, "[triggered] 1 event in 5 min: checkout"],
    [{ value: 1234567 }, "[triggered] 1,234,567 events in 5 min: checkout"],
    [{ what: "failures", value: 0, alert: { interval: 60 } }, "[triggered] 0 failures in 1 h: checkout"],
    [
      { what: "p99(duration)", unit: "ms", value: 812.5, alert: { interval: 90 } },
      "[triggered] p99(duration) 812.5 ms in 1 h 30 min: checkout",
    ],
    [
      { what: "max(status)", value: 1 / 3, alert: { interval: 1440 } },
      "[triggered] max(status) 0.333 in 1 day: checkout",
    ],
    [
      {
        group: [
          { name: "host", value: "web1" },
          { name: "status", value: 502 },
          { name: "user", value: null },
        ],
      },
      "[triggered] 42 events in 5 min: checkout (host=web1, status=502, user=null)",
    ],
    [{ kind: "repeated" }, "[still triggered] 42 events in 5 min: checkout"],
    [{ kind: "resolved", value: 3 }, "[resolved] 3 events in 5 min: checkout"],
    [{ kind: "resolved", reason: "closed by a change" }, "[resolved] closed by a change: checkout"],
    [{ kind: "failed", value: null, reason: "too many groups" }, "[failed] cannot be evaluated: checkout"],
    [{ kind: "test" }, "[TEST] 42 events in 5 min: checkout"],
    [ON_DISK, "[triggered] free disk 7.41 %: disk"],
    [{ ...ON_DISK, kind: "resolved", value: 31 }, "[resolved] free disk 31 %: disk"],
  ];
  for (const [change, expected] of rows) t.equal(headline(alertMessage(change)), expected);
  const many = [...alertMessages(12), ...alertMessages(3, { kind: "resolved" })];
  t.equal(digestHeadline(many), "[digest] 12 triggered, 3 resolved: checkout 0, checkout 1, checkout 2 and 9 more");
  t.end();
});

t.test("summaries", (t) => {
  const rows: readonly (readonly [MessageChange, string])[] = [
    [{}, "42 events in 5 min; the alert triggers on more than 10"],
    [{ value: 0, alert: { operator: "<", threshold: 1 } }, "0 events in 5 min; the alert triggers on fewer than 1"],
    [
      { what: "p99(duration)", unit: "ms", value: 1, alert: { operator: "<", threshold: 500 } },
      "p99(duration) 1 ms in 5 min; the alert triggers on less than 500 ms",
    ],
    [
      { kind: "repeated" },
      "42 events in 5 min; still triggered since 23 Nov 2026, 14:05 UTC; the alert triggers on more than 10",
    ],
    [
      { reason: "its events came late" },
      "42 events in 5 min; the alert triggers on more than 10; its events came late",
    ],
    [{ kind: "resolved", value: 3 }, "Resolved, with 3 events in 5 min; triggered on 23 Nov 2026, 14:05 UTC"],
    [
      { kind: "resolved", value: 3, reason: "closed by a change" },
      "Resolved: closed by a change; triggered on 23 Nov 2026, 14:05 UTC",
    ],
    [
      { kind: "failed", value: null, reason: "more than 100 groups" },
      "The query could not be evaluated, so the alert cannot be triggered or resolved: more than 100 groups",
    ],
    [{ kind: "test" }, "This is a test. Nothing has happened"],
    [ON_DISK, "free disk 7.41 %; the alert triggers on less than 10 %"],
    [{ ...ON_DISK, kind: "resolved", value: 31 }, "Resolved, with free disk 31 %; triggered on 23 Nov 2026, 14:05 UTC"],
    [
      { ...ON_DISK, kind: "failed", value: null, reason: "no answer" },
      "The disk could not be measured, so the alert cannot be triggered or resolved: no answer",
    ],
  ];
  const where = ". Project Shop, 23 Nov 2026, 14:00 to 14:05 UTC.";
  for (const [change, expected] of rows) t.equal(summaryText(alertMessage(change)), expected + where);
  const window = { start: "2026-11-23T00:00:00Z", stop: "2026-11-24T00:00:00Z" };
  t.match(summaryText(alertMessage({ window })), / 23 Nov 2026, 00:00 to 24 Nov 2026, 00:00 UTC\.$/);
  t.end();
});

t.test("mails", async (t) => {
  const server = await startMailServer(t);
  const options = optionsWith({ settings: { ...SETTINGS, mailer: server.mailer } });
  const target: NotificationTarget = { type: "email", recipients: ["ann@example.com"] };
  const send = async (messages: readonly AlertMessage[], origin: string | null = ORIGIN) => {
    const from = { ...options, origin: () => origin ?? undefined };
    t.same(await sendTo(from, target, { recipient: "ann@example.com", messages }, signal), { kind: "delivered" });
    return server.mails.at(-1)!.mail;
  };

  await t.test("a trigger", async (t) => {
    const mail = await send([alertMessage()]);
    t.equal(mail.subject, "[triggered] 42 events in 5 min: checkout");
    t.equal(mail.messageId, "<dlv_2b3c4d5f6g7h8j9k2b3c@example.com>", "the same in each attempt");
    t.match(mail.html, `href="${ORIGIN}/t/acme/p/shop/events?query=level+%3D+error&amp;start=`);
    t.equal(
      mail.text,
      `42 events in 5 min; the alert triggers on more than 10. Project Shop, 23 Nov 2026, 14:00 to 14:05 UTC.

See the events:
${ORIGIN}/t/acme/p/shop/events?query=level+%3D+error&start=2026-11-23T14%3A00%3A00Z&stop=2026-11-23T14%3A05%3A00Z

Alert: checkout
Project: Shop (Acme)
Value: 42 events
Condition: more than 10 events in 5 min
Query: level = error and path = "/checkout"
Time: 23 Nov 2026, 14:00 to 14:05 UTC
Severity: error

The newest events:

14:04:58 error  payment was refused: upstream answered 502
    path=/checkout status=502 user={"id":7}
14:03:11 error  timeout after 30000 ms
    path=/checkout
`,
    );
  });

  await t.test("without a public address", async (t) => {
    const query = 'service.name:"a.example" and https://x.example';
    const mail = await send([alertMessage({ alert: { query } })], null);
    t.notMatch(mail.html, "href");
    t.match(mail.text, "To see the events, search for the query below in that time.");
    t.match(mail.text, `Query: ${query}\n`, "as it can be copied");
  });

  await t.test("about the disk", async (t) => {
    const mail = await send([alertMessage(ON_DISK)]);
    const page = `${ORIGIN}/t/acme/usage`;
    t.equal(
      mail.text,
      `free disk 7.41 %; the alert triggers on less than 10 %. Project Shop, 23 Nov 2026, 14:00 to 14:05 UTC.

See how full the disk is:
${page}

Alert: disk
Project: Shop (Acme)
Value: free disk 7.41 %
Condition: free disk less than 10 %
Time: 23 Nov 2026, 14:00 to 14:05 UTC
Severity: error
`,
    );
    t.notMatch((await send([alertMessage(ON_DISK)], null)).text, /query|events/i);
  });

  await t.test("a description with a link to what to do", async (t) => {
    const description = "https://wiki.example.com/runbook\nask the team of payments";
    const mail = await send([alertMessage({ alert: { description } })]);
    t.match(mail.text, `Description: ${description}\n`, "it works, and its lines are lines");
    t.match(mail.html, "https://wiki.example.com/runbook\nask the team");
  });

  await t.test("a digest", async (t) => {
    const mail = await send(alertMessages(70));
    t.match(mail.subject, "[digest] 70 triggered: checkout 0");
    t.match(mail.text, "\n\n[triggered] 42 events in 5 min: checkout 59\n");
    t.match(mail.text, "\n\nAnd 10 more.\n");
    t.equal((mail.html as string).match(/href=/g)?.length, 60);
    t.ok((mail.html as string).length < 102_000, "Gmail shows all of it");
    const again = await send(alertMessages(70));
    t.equal(again.messageId, mail.messageId, "the same digest has the same id");
  });

  for (const kind of KINDS) {
    await t.test(`hostile texts: ${kind}`, async (t) => {
      const mail = await send([hostileMessage(kind)]);
      const page = mail.html as string;
      t.ok(page.length < 102_000, `${page.length}: Gmail shows all of it`);
      t.notMatch(page, /<script/i);
      t.same(
        [...page.matchAll(/\b(?:href|src)="([^"]*)"/g)].filter(([, url]) => !url!.startsWith(`${ORIGIN}/t/acme`)),
        [],
      );
      // The parts that clients make links of: a scheme with slashes, or a dot or an @ between letters.
      for (const text of [mail.subject!, mail.text!.replaceAll(ORIGIN, ""), page.replaceAll(ORIGIN, "")]) {
        t.notMatch(text, /https?:\/\/evil|evil\.example|pay@/);
        t.notMatch(text, /[\u0000\u202e]/);
      }
      t.notMatch(mail.headerLines.map(({ line }) => line).join("\n"), /^evil/m);
    });
  }

  await t.test("what the server refuses", async (t) => {
    const failed: string[] = [];
    const noting = { ...options, failed: (_: string, error: unknown) => failed.push(String(error)) };
    const outcome = (recipient: string) => sendTo(noting, target, { recipient, messages: [alertMessage()] }, signal);
    server.answer("gone@example.com", 550);
    server.answer("busy@example.com", 451);
    t.same(await outcome("gone@example.com"), {
      kind: "refused",
      reason: "the mail server refused the mail or its recipient",
    });
    t.same(await outcome("busy@example.com"), {
      kind: "retry",
      reason: "the mail could not be handed to the mail server; the log of the service says why",
    });
    t.match(failed, [/secret-reason/, /secret-reason/], "what the server said is for the operators");
    t.match(await outcome("no address"), { kind: "refused" });
  });

  t.match(await sendTo(optionsWith({}), target, { recipient: "a@example.com", messages: [alertMessage()] }, signal), {
    kind: "retry",
    reason: "the service sends no mails: its operator has to start it with --smtp",
  });
});

/** Posts of all kinds of messages, hostile ones among them, and of a digest where there is one. */
function eachMessage(): (readonly [name: string, messages: readonly AlertMessage[]])[] {
  return [
    ...KINDS.map((kind) => [kind, [alertMessage({ kind })]] as const),
    ["failed without a value", [alertMessage({ kind: "failed", value: null, events: [], reason: "too many groups" })]],
    ...KINDS.map((kind) => [`hostile ${kind}`, [hostileMessage(kind)]] as const),
    ["digest", alertMessages(70)],
    ["hostile digest", Array.from({ length: 70 }, () => hostileMessage())],
  ];
}

const ajv = new Ajv({ allErrors: true, strict: false });

function accepts(t: Pick<Assert, "ok">, schema: object, value: unknown): void {
  t.ok(ajv.validate(schema, value), ajv.errorsText());
}

type Assert = typeof t;

t.test("the schemas refuse what the receivers do", (t) => {
  t.notOk(ajv.validate(PAGERDUTY_EVENT, { routing_key: ROUTING_KEY, event_action: "trigger", dedup_key: "a" }));
  t.notOk(ajv.validate(PAGERDUTY_EVENT, { routing_key: ROUTING_KEY, event_action: "resolve" }));
  t.notOk(ajv.validate(SLACK_MESSAGE, { text: "<!channel>", attachments: [{ fallback: "a" }] }));
  t.notOk(ajv.validate(TWILIO_FORM, { To: "0151 23", From: "+15550100", Body: "a" }));
  t.end();
});

t.test("Slack", (t) => {
  for (const [name, messages] of eachMessage()) {
    for (const channel of ["", "#alerts"]) {
      const { body } = slackPost({ url: "https://hooks.slack.com/services/x", channel }, messages, ORIGIN);
      accepts(t, SLACK_MESSAGE, JSON.parse(body));
      t.equal(JSON.parse(body).channel ?? "", channel, name);
      t.ok(body.length < 100_000, `${name}: ${body.length}`);
    }
  }
  const { body } = slackPost(
    { url: "https://hooks.slack.com/services/x", channel: "" },
    [alertMessage(ON_DISK)],
    ORIGIN,
  );
  accepts(t, SLACK_MESSAGE, JSON.parse(body));
  t.same(
    JSON.parse(body).attachments[0].fields.map(({ title }: { title: string }) => title),
    ["Value", "Condition", "Severity"],
    "a field without a value is refused",
  );
  t.end();
});

t.test("PagerDuty", (t) => {
  for (const [name, [message]] of eachMessage()) {
    const { url, body } = pagerDutyPost(
      { url: "https://events.pagerduty.com", routingKey: ROUTING_KEY },
      message!,
      ORIGIN,
    );
    t.equal(url, "https://events.pagerduty.com/v2/enqueue");
    accepts(t, PAGERDUTY_EVENT, JSON.parse(body));
    t.ok(Buffer.byteLength(body) < PAGERDUTY_MAX_BYTES, name);
  }
  const event = (change: MessageChange) =>
    JSON.parse(
      pagerDutyPost({ url: "https://pd.example", routingKey: ROUTING_KEY }, alertMessage(change), undefined).body,
    );
  const dedup_key = "4k5m6n7p8q9r2s3t4v5w:ep_6w7x8y9z2b3c4d5f6g7h";
  t.match(event({}), { event_action: "trigger", dedup_key });
  t.match(event({ kind: "repeated" }), { event_action: "trigger", dedup_key });
  t.same(event({ kind: "resolved" }), { routing_key: ROUTING_KEY, event_action: "resolve", dedup_key });
  t.match(event({ kind: "test" }), { event_action: "trigger", dedup_key: "4k5m6n7p8q9r2s3t4v5w:test" });
  const severities = { info: "info", notice: "warning", error: "error", critical: "critical" } as const;
  for (const [severity, expected] of Object.entries(severities)) {
    t.equal(event({ alert: { severity: severity as "info" } }).payload.severity, expected);
  }
  t.equal(event({ group: [{ name: "host", value: "web1" }] }).payload.group, "host=web1");
  t.notOk("query" in event(ON_DISK).payload.custom_details, "the disk has no query");
  t.end();
});

t.test("text messages", async (t) => {
  const settings = readSmsSettings("twilio://AC0123:to%2Fken@api.twilio.com?from=%2B15550100");
  for (const [name, messages] of eachMessage()) {
    const { body } = smsPost(settings, "+1 (555) 010-9999", smsText(messages, ORIGIN));
    const form = Object.fromEntries(new URLSearchParams(body));
    accepts(t, TWILIO_FORM, form);
    t.ok(gsmLength(form.Body!) <= 160, `${name}: ${form.Body}`);
    t.notMatch(form.Body, /evil\.example|https:\/\/evil/, name);
  }
  t.same(smsPost(settings, "+1 (555) 010-9999", "a & b"), {
    url: "https://api.twilio.com/2010-04-01/Accounts/AC0123/Messages.json",
    headers: {
      Authorization: `Basic ${Buffer.from("AC0123:to/ken").toString("base64")}`,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: "To=%2B15550109999&From=%2B15550100&Body=a+%26+b",
  });
  t.equal(smsText([alertMessage()], undefined), "[triggered] 42 events in 5 min: checkout");
  t.equal(
    smsText([alertMessage({ path: "/t/a" })], ORIGIN),
    "[triggered] 42 events in 5 min: checkout https://logs.example.com/t/a",
  );
  t.equal(smsText([alertMessage()], ORIGIN), "[triggered] 42 events in 5 min: checkout", "no half of a link");

  const provider = await startReceiver(t);
  const other = readSmsSettings(
    JSON.stringify({
      url: provider.url,
      from: "Logs",
      json: { to: ["{to}"], body: { text: "{text}", from: "{from}" }, flash: false },
      headers: { "X-Api-Key": "k" },
    }),
  );
  const target: NotificationTarget = { type: "sms", recipients: ["+15550109999"] };
  const send = (sms = other) => {
    const delivery = { recipient: "+15550109999", messages: [alertMessage({ alert: { name: "{to} {from}" } })] };
    return sendTo(optionsWith({ settings: { ...SETTINGS, allowsPrivate: false, sms } }), target, delivery, signal);
  };
  t.same(await send(), { kind: "delivered" }, "what the operator has set may be on the own network");
  t.match(provider.requests, [{ headers: { "x-api-key": "k", "content-type": "application/json" } }]);
  const text = "[triggered] 42 events in 5 min: (to) (from)";
  const [sent] = provider.bodies();
  t.same(sent, { to: ["+15550109999"], body: { text: sent.body.text, from: "Logs" }, flash: false });
  t.equal(sent.body.text, text.replaceAll("(", "{").replaceAll(")", "}"), "what is put in is not filled again");
  for (const [status, kind] of [
    [400, "refused"],
    [401, "retry"],
    [500, "retry"],
  ] as const) {
    provider.behave({ status });
    t.match(await send(), { kind }, `${status}`);
  }
});

/** Characters of GSM 03.38, counted by another table than the source's. */
const GSM = /^[\n\r @£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ!"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/;

function gsmLength(text: string): number {
  return [...text].reduce((length, character) => length + (/[\^{}\\[~\]|€]/.test(character) ? 2 : 1), 0);
}

const isOnePart = (text: string) => (GSM.test(text) ? gsmLength(text) <= 160 : text.length <= 70);

t.test("one part of a text message", (t) => {
  const rows = [
    ["Käse für 5 €", "Käse für 5 €"],
    ["“quoted” – it’s…", '"quoted" - it\'s...'],
    ["naïve, ça 🚀", "naive, ca ?"],
    ["naïve Łódź", "naïve Łódź"],
    ["日本 🚀", "日本 🚀"],
    ["日".repeat(70), "日".repeat(70)],
    ["日".repeat(71), `${"日".repeat(69)}…`],
    [`日${"🚀".repeat(40)}`, `日${"🚀".repeat(34)}…`],
    ["`x`", "'x'"],
    ["x".repeat(160), "x".repeat(160)],
    ["x".repeat(161), `${"x".repeat(157)}...`],
    ["€".repeat(80), "€".repeat(80)],
    ["€".repeat(81), `${"€".repeat(78)}...`],
    [`${"x".repeat(156)} yyyy`, `${"x".repeat(156)}...`],
  ] as const;
  for (const [text, expected] of rows) t.equal(cutToOnePart(text), expected, text);
  holds(
    t,
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => isOnePart(cutToOnePart(text))),
    { numRuns: 300, seed: 1 },
  );
  t.end();
});

t.test("settings of text messages", (t) => {
  const json = (settings: object) =>
    JSON.stringify({ url: "https://sms.example", json: { to: "{to}", t: "{text}" }, ...settings });
  const rows: readonly (readonly [string, RegExp])[] = [
    ["", /neither a twilio:\/\/ URL nor a JSON object/],
    ["https://sms.example", /neither a twilio:\/\/ URL nor a JSON object/],
    ["twilio://AC1@api.twilio.com?from=1", /lacks its account, its token, its host or the parameter from/],
    ["twilio://AC1:s3cret@api.twilio.com", /lacks its account/],
    ["twilio://A%2FC:s3cret@api.twilio.com?from=1", /not an account SID/],
    ['{"s3cret', /are not JSON/],
    [json({ token: "s3cret" }), /unknown member "token"/],
    [json({ url: "ftp://sms.example" }), /url must be a URL that begins with https/],
    [
      json({ url: "http://sms.example" }),
      /url must be a URL that begins with https:\/\/, but for a provider on this machine/,
    ],
    [json({ url: "https://a:s3cret@sms.example" }), /url must be without a login/],
    [json({ form: { To: "{to}", Text: "{text}" } }), /form and json must be given as one of the two/],
    [json({ json: { to: "{to}" } }), /json must be a template that has \{text\}/],
    [json({ json: ["{to}{text}"] }), /json must be an object/],
    [json({ json: undefined, form: { To: "{to}", Text: ["{text}"] } }), /form must be an object of texts/],
    [json({ headers: { "X-A": "s3cret\r\nX-B: 1" } }), /headers must be an object of texts/],
    [json({ headers: { "X A": "1" } }), /headers must be/],
    [json({ from: 1 }), /from, user and password must be texts/],
  ];
  for (const [text, expected] of rows) {
    try {
      readSmsSettings(text);
      t.fail(`accepted: ${text}`);
    } catch (error) {
      if (!(error instanceof SmsSettingsError)) throw error;
      t.match(error.message, expected);
      t.notMatch(error.message + error.hint, "s3cret");
    }
  }
  t.match(readSmsSettings(json({ user: "u", password: "p" })), { login: { user: "u", password: "p" } });
  t.match(readSmsSettings("twilio://AC1:t@api.twilio.com?from=MG01").body.template, { MessagingServiceSid: "{from}" });
  t.same(missingSettings({ mailer: undefined, sms: undefined }), ["email: no --smtp", "sms: no --sms"]);
  t.same(missingSettings({ mailer: undefined, sms: readSmsSettings(json({})) }), ["email: no --smtp"]);
  t.end();
});

t.test("webhooks", async (t) => {
  const world = await openWorld(t);
  const receiver = await startReceiver(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  const { records } = world;
  let nowMs = Date.parse("2026-11-23T14:05:20Z");
  const options = optionsWith({ clock: clockAt(() => nowMs) });
  const send = async (messages: readonly AlertMessage[]) => {
    const target: NotificationTarget = {
      type: "webhook",
      url: receiver.url,
      secrets: await validSecrets(records, id, nowMs),
    };
    t.same(await sendTo(options, target, { recipient: "", messages }, signal), { kind: "delivered" });
    return receiver.requests.at(-1)!;
  };
  const rotate = () =>
    records.db.transaction().execute((db) => rotateWebhookSecret({ db, seal: records.seal }, id, nowMs));
  const signs = ({ headers, body }: (typeof receiver.requests)[number], secret: string) => {
    const [, t1 = "", list = ""] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(String(headers["x-signature"])) ?? [];
    return (
      list.includes(createHmac("sha256", secret).update(`${t1}.${body}`).digest("hex")) && Number(t1) * 1000 === nowMs
    );
  };

  const unsigned = await send([alertMessage()]);
  t.equal(unsigned.headers["x-signature"], undefined);
  t.equal(unsigned.headers["x-delivery-id"], "dlv_2b3c4d5f6g7h8j9k2b3c");

  const first = await rotate();
  t.match(first, /^whsec_[\w-]{43}$/);
  const stored = await records.db.selectFrom("notifications").select("webhook_secrets").executeTakeFirstOrThrow();
  t.notMatch(stored.webhook_secrets, first, "sealed");
  t.ok(signs(await send([alertMessage()]), first));
  const second = await rotate();
  t.not(second, first);
  const both = await send([alertMessage()]);
  t.ok(signs(both, first) && signs(both, second), "both sign");
  nowMs += 24 * 60 * 60_000 - 1_000;
  t.ok(signs(await send([alertMessage()]), first), "for a day");
  nowMs += 1_000;
  const later = await send([alertMessage()]);
  t.notOk(signs(later, first));
  t.ok(signs(later, second), "the newest one without end");
  const many: string[] = [];
  for (let i = 0; i < 6; i++) many.push(await rotate());
  const last = await send([alertMessage()]);
  t.same(
    many.map((secret) => signs(last, secret)),
    [false, true, true, true, true, true],
    "at most five",
  );

  const digest = await send(alertMessages(3, { kind: "resolved" }));
  const body = JSON.parse(digest.body);
  t.match(body, {
    type: "alert.digest",
    messages: [{ type: "alert.resolved", alert: { name: "checkout 0" } }, {}, {}],
  });
  t.equal(digest.headers["x-delivery-id"], body.id);
  t.match(JSON.parse((await send([hostileMessage()])).body), {
    group: [{ value: HOSTILE }],
    url: `${ORIGIN}${alertMessage().path}`,
  });
});

t.test("what targets answer", async (t) => {
  const receiver = await startReceiver(t);
  const target: NotificationTarget = { type: "webhook", url: receiver.url, secrets: [] };
  const nowMs = Date.parse("2026-11-23T14:05:20Z");
  const options = optionsWith({ clock: clockAt(() => nowMs), network: { timeoutMs: 300 } });
  const send = () => sendTo(options, target, { recipient: "", messages: [alertMessage()] }, signal);
  const secret = { body: "s3cret" };
  const rows: readonly (readonly [Parameters<typeof receiver.behave>[0], DeliveryOutcome])[] = [
    [{ status: 200 }, { kind: "delivered" }],
    [{ status: 204 }, { kind: "delivered" }],
    ["endless", { kind: "delivered" }],
    [
      { status: 302, headers: { Location: "http://169.254.169.254/" } },
      {
        kind: "refused",
        reason: "the target answered with a redirect (302), which is not followed: use the URL that it leads to",
      },
    ],
    [
      { status: 400, ...secret },
      { kind: "refused", reason: "the target answered with status 400", isContent: true },
    ],
    [
      { status: 404, ...secret },
      { kind: "refused", reason: "the target answered with status 404" },
    ],
    [
      { status: 410, ...secret },
      { kind: "refused", reason: "the target answered with status 410" },
    ],
    [
      { status: 408, ...secret },
      { kind: "retry", reason: "the target answered with status 408", afterMs: undefined },
    ],
    [
      { status: 429, headers: { "Retry-After": "17" } },
      { kind: "retry", reason: "the target answered with status 429", afterMs: 17_000 },
    ],
    [
      { status: 503, headers: { "Retry-After": "Mon, 23 Nov 2026 14:06:20 GMT" } },
      { kind: "retry", reason: "the target answered with status 503", afterMs: 60_000 },
    ],
    [
      { status: 500, ...secret },
      { kind: "retry", reason: "the target answered with status 500", afterMs: undefined },
    ],
    ["hang", { kind: "retry", reason: "the target gave no answer within 0.3 s" }],
    ["close", { kind: "retry", reason: "the target closed the connection before it answered" }],
    ["garbage", { kind: "retry", reason: "the target gave an answer that is not HTTP" }],
  ];
  for (const [behavior, expected] of rows) {
    receiver.behave(behavior);
    t.same(await send(), expected, JSON.stringify(behavior));
  }
  const guarded = optionsWith({ settings: { ...SETTINGS, allowsPrivate: false } });
  const refused = await sendTo(guarded, target, { recipient: "", messages: [alertMessage()] }, signal);
  t.same(refused, { kind: "refused", reason: "the target's URL does not begin with https://: use one that does" });
});

t.test("Retry-After", (t) => {
  const nowMs = Date.parse("2026-11-23T14:05:20Z");
  const rows = [
    ["", undefined],
    ["0", 0],
    ["120", 120_000],
    ["-1", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["2026", 2_026_000],
    ["Mon, 23 Nov 2026 14:05:30 GMT", 10_000],
    ["Mon, 23 Nov 2026 14:05:10 GMT", 0],
    ["2026-11-23", undefined],
    ["x GMT", undefined],
  ] as const;
  for (const [text, expected] of rows) t.equal(retryAfterMs(text, nowMs), expected, text);
  t.end();
});

t.test("a test of a notification", async (t) => {
  const world = await openWorld(t);
  const receiver = await startReceiver(t);
  const server = await startMailServer(t);
  const options = { ...optionsWith({ settings: { ...SETTINGS, mailer: server.mailer } }), records: world.records };
  const message = alertMessage({ kind: "test" });
  const webhook = await world.read(await world.notification({ type: "webhook", webhook_url: receiver.url }));
  t.same(await sendTest(options, webhook, message, signal), { kind: "delivered" });
  t.match(receiver.bodies(), [{ type: "alert.test" }]);
  receiver.behave({ status: 500 });
  t.match(await sendTest(options, webhook, message, signal), {
    kind: "retry",
    reason: "the target answered with status 500",
  });
  t.equal(receiver.requests.length, 2, "nothing is retried");

  const emails = ["ann@example.com", "bob@example.com"];
  const email = await world.read(await world.notification({ type: "email", email_addresses: emails }));
  t.same(await sendTest(options, email, message, signal), { kind: "delivered" });
  t.same(server.mails.map(({ to }) => to).sort(), emails);
  t.match(server.mails[0]!.mail.subject, "[TEST] ");
  server.answer("bob@example.com", 550);
  t.match(await sendTest(options, email, message, signal), { kind: "refused" }, "of any recipient");

  t.match(await sendTest(options, { ...webhook, webhook_url: "" }, message, signal), {
    kind: "refused",
    reason: "the notification's webhook_url is missing or cannot be decrypted: set it again",
  });
  t.same(await world.deliveries(), [], "nothing is noted");

  const limits = new TestLimits(new TestClock());
  const sms = { type: "sms" as const, sms_numbers: ["+15550100"] };
  const hook = { type: "webhook" as const, sms_numbers: [] };
  const many = { type: "sms" as const, sms_numbers: Array.from({ length: 11 }, (_, i) => `+1555010${i}`) };
  t.throws(() => limits.take("acme", many), /^a test sends at most 10 text messages/);
  for (let i = 0; i < 10; i++) limits.take("acme", sms);
  t.throws(() => limits.take("acme", sms), /^too many tests of notifications/);
  for (let i = 0; i < 20; i++) limits.take("acme", hook);
  t.throws(() => limits.take("acme", hook), /^too many tests of notifications/);
  limits.take("other", sms);
  const few = { type: "sms" as const, sms_numbers: Array.from({ length: 6 }, (_, i) => `+1555010${i}`) };
  limits.take("third", few);
  t.throws(() => limits.take("third", few), /^too many tests of notifications/, "all of its messages, or none");
});

t.test("text messages are bounded by person and in all, however many teams there are", (t) => {
  const sms = { type: "sms" as const, sms_numbers: ["+15550100"] };
  const passed = (takes: () => void) => {
    for (let count = 0; ; count++) {
      try {
        takes();
      } catch {
        return count;
      }
    }
  };
  const rows: [what: string, people: (n: number) => string[], expected: number][] = [
    ["a person with many teams", () => ["ann"], 10],
    ["several people of one owner", (n) => [`p${n}`, "ann"], 10],
    ["many people", (n) => [`p${n}`], 60],
    ["nobody, as tokens of the machine have none", () => [], 60],
  ];
  for (const [what, people, expected] of rows) {
    const limits = new TestLimits(new TestClock());
    let n = 0;
    t.equal(
      passed(() => limits.take(`team${++n}`, sms, people(n))),
      expected,
      what,
    );
  }
  const hooks = new TestLimits(new TestClock());
  let n = 0;
  t.equal(
    passed(() => hooks.take(`team${++n}`, { type: "webhook", sms_numbers: [] }, ["ann"])),
    30,
    "other tests of a person",
  );
  const alerts: [what: string, owner: (n: number) => string, expected: number][] = [
    ["an owner of many teams", () => "ann", 60],
    ["many owners", (n) => `p${n}`, 600],
    ["no owners", () => "", 600],
  ];
  for (const [what, owner, expected] of alerts) {
    const clock = new TestClock();
    const budget = new SmsBudget(clock);
    let n = 0;
    const take = () => {
      if (budget.take(`team${++n}`, owner(n)) > 0) throw new Error("too many");
    };
    t.equal(passed(take), expected, `messages of alerts: ${what}`);
  }
  t.end();
});

t.test("the payloads in the README", (t) => {
  const path = join(root, "logservice/notify/README.md");
  const message = alertMessage({ group: [{ name: "host", value: "web1" }], hasMoreEvents: false });
  const postText = (post: Post) => JSON.stringify(JSON.parse(post.body), undefined, 2);
  const mail = alertMail(message, ORIGIN);
  const payloads: Readonly<Record<string, string>> = {
    webhook: postText(
      webhookPost({ url: "https://x.example", secrets: [] }, { id: message.id, messages: [message] }, ORIGIN, 0),
    ),
    slack: postText(slackPost({ url: "https://x.example", channel: "#alerts" }, [message], ORIGIN)),
    pagerduty: postText(
      pagerDutyPost({ url: "https://events.pagerduty.com", routingKey: ROUTING_KEY }, message, ORIGIN),
    ),
    sms: smsText([message], ORIGIN),
    email: `Subject: ${mail.subject}\n\n${mail.text.trimEnd()}`,
  };
  let readme = readFileSync(path, "utf8");
  for (const [name, payload] of Object.entries(payloads)) {
    const block = new RegExp(`(<!-- payload: ${name} -->\\n\`\`\`\\w+\\n)([^]*?)(\`\`\`\\n)`);
    if (process.env.TOOL_TEST_RECORD === "1")
      readme = readme.replace(block, (_, begin, __, end) => `${begin}${payload}\n${end}`);
    else t.equal(block.exec(readme)?.[2], `${payload}\n`, `${name}; TOOL_TEST_RECORD=1 rewrites it`);
  }
  if (process.env.TOOL_TEST_RECORD === "1") writeFileSync(path, readme);
  t.end();
});

t.test("recipients are told one by one", (t) => {
  t.same(targetRecipients({ type: "sms", recipients: ["1", "2"] }), ["1", "2"]);
  t.same(targetRecipients({ type: "pagerduty", routingKey: "x" }), [""]);
  t.end();
});

function optionsWith(options: Partial<SendOptions>): SendOptions {
  return { settings: SETTINGS, origin: () => ORIGIN, clock: systemClock, failed: () => {}, ...options };
}
