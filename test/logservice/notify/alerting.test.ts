// Alerts from an event to whoever is told, through the service: an HTTP receiver and a real SMTP server, a clock that is set.
import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { pageAt } from "../../../logservice/address/page.ts";
import { rangeTexts, viewOf } from "../../../logservice/address/view.ts";
import { PAGERDUTY_URL } from "../../../logservice/notify/settings.ts";
import { readSmsSettings } from "../../../logservice/notify/sms-settings.ts";
import { type Received, startReceiver } from "../../support/notify/receiver.ts";
import { worldOf } from "../../support/notify/world.ts";
import { startTestService } from "../../support/service.ts";
import { startMailServer } from "../../support/sign-in/mail-server.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const MINUTE_MS = 60_000;
const BEGAN_MS = Date.parse("2026-11-24T10:00:00Z");
/** Late events are waited for, and alerts are spread over half a minute after that. */
const SETTLED_MS = 50_000;

async function start(t: Test) {
  let nowMs = BEGAN_MS;
  const mail = await startMailServer(t);
  const receiver = await startReceiver(t);
  const settings = { mailer: mail.mailer(), sms: undefined, pagerdutyUrl: PAGERDUTY_URL, allowsPrivate: true };
  const service = await startTestService(t, {
    ...{ nowMs: () => nowMs, isAlerting: true, notify: settings, engine: "duckdb" },
    account: { publicUrl: "https://logs.example.com" },
  });
  const add = async (name: string, body: object): Promise<string> => {
    const { status, text, json } = await service.call(name, body);
    t.equal(status, 200, text);
    return json.id;
  };
  await add("add_project", { project: { id: "shop", name: "Shop" } });
  const hook = { project_id: "shop", type: "webhook", name: "hook", webhook_url: `${receiver.url}/hook` };
  const mails = { project_id: "shop", type: "email", name: "ops", email_addresses: ["ops@example.com"] };
  const [webhook, email] = [
    await add("add_notification", { notification: hook }),
    await add("add_notification", { notification: mails }),
  ];
  return {
    ...{ service, mail, receiver, add, webhook, email },
    at: () => nowMs,
    /** Sets the clock to a minute, and a little later, when what was before it is evaluated. */
    toMinute: (minute: number) => {
      nowMs = BEGAN_MS + minute * MINUTE_MS + SETTLED_MS;
    },
    alert: (more: object) => ({
      ...{ project_id: "shop", name: "errors", query: "level = error", severity: "error" },
      ...{ operator: ">", threshold: 1, interval: 1, notification_id: webhook },
      ...more,
    }),
    events: async (minute: number, level: string, count: number, fields: object = {}) => {
      const timestamp = new Date(BEGAN_MS + minute * MINUTE_MS + 1_000).toISOString();
      const events = Array.from({ length: count }, (_, i) => ({ timestamp, level, message: `failed ${i}`, fields }));
      t.equal((await service.call("add_events", { project_id: "shop", events })).status, 204);
    },
  };
}

const bodiesOf = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body));

t.test("an alert is triggered, told, and resolved", async (t) => {
  const { service, receiver, mail, add, alert, events, toMinute, email, webhook } = await start(t);
  const { secret } = (await service.call("rotate_webhook_secret", { project_id: "shop", notification_id: webhook }))
    .json;
  const id = await add("add_alert", { alert: alert({}) });
  const mailed = await add("add_alert", { alert: alert({ name: "by mail", notification_id: email }) });
  const state = async () => (await service.call("get_alert", { project_id: "shop", alert_id: id })).json.alert;
  t.match(await state(), {
    state: "ok",
    triggered: false,
    for: 1,
    recover: 1,
    repeat: 0,
    evaluated_at: null,
    failure: "",
  });

  await events(1, "error", 3, { path: "/pay" });
  toMinute(2);
  await until("the call", () => receiver.requests.length === 1);
  const [first] = receiver.requests;
  const [body] = bodiesOf(receiver.requests);
  t.match(body, {
    ...{ type: "alert.triggered", value: 3, count: 3, alert: { id, name: "errors", threshold: 1 } },
    ...{ project: { id: "shop", name: "Shop" }, triggered_at: "2026-11-24T10:02:00.000Z" },
    window: { start: "2026-11-24T10:01:00.000Z", stop: "2026-11-24T10:02:00.000Z" },
  });
  t.equal(body.events.length, 3);
  const { origin, pathname, search } = new URL(body.url);
  t.equal(origin, "https://logs.example.com");
  t.same(pageAt(pathname), { kind: "project", team: "owner", project: "shop", section: "events" });
  const [startMs, stopMs] = [Date.parse(body.window.start), Date.parse(body.window.stop) - 1];
  t.match(viewOf(search), { query: "level = error", range: { startMs, stopMs } }, "as the web UI reads it");
  const searchRange = rangeTexts({ startMs, stopMs });
  const result = await service.call("search", { project_id: "shop", query: viewOf(search).query, ...searchRange });
  t.same(result.json.events, body.events, "exactly these events");
  const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(first!.headers["x-signature"]))!;
  t.equal(signature, createHmac("sha256", secret).update(`${seconds}.${first!.body}`).digest("hex"));
  t.match(await state(), { state: "triggered", triggered: true });
  const { subject, text } = await mail.mailTo("ops@example.com");
  t.match(subject, /^\[triggered\] 3 errors? .*by mail|^\[triggered\] 3 .*by mail/);
  t.match(text, "failed 0");
  t.ok(text.includes(`\n${body.url}\n`), "the mail has the same link");

  toMinute(3);
  await until("the resolution", () => receiver.requests.length === 2);
  const resolved = bodiesOf(receiver.requests)[1];
  t.match(resolved, { type: "alert.resolved", episode_id: body.episode_id, value: 0 });
  const span = { startMs, stopMs: Date.parse(resolved.window.stop) - 1 };
  t.match(viewOf(new URL(resolved.url).search).range, span, "the link of the end shows the events of all intervals");
  t.match((await mail.mailTo("ops@example.com", 2)).subject, /^\[resolved\]/);
  t.match(await state(), { state: "ok", triggered: false });

  const { episodes } = (await service.call("get_alert_episodes", { project_id: "shop" })).json;
  t.same(episodes.map(({ alert_id }: { alert_id: string }) => alert_id).sort(), [id, mailed].sort());
  t.match(episodes[0], { resolved_at: "2026-11-24T10:03:00.000Z", value: 3, kind: "triggered", muted: false });
  const page = (await service.call("get_deliveries", { project_id: "shop", alert_id: id, limit: 1 })).json;
  t.match(page, { deliveries: [{ kind: "resolved", status: "delivered", attempts: 1 }] });
  const next = await service.call("get_deliveries", {
    project_id: "shop",
    alert_id: id,
    limit: 1,
    cursor: page.cursor,
  });
  t.match(next.json, { deliveries: [{ kind: "triggered", status: "delivered", alert_name: "errors" }] });
  t.notOk(next.json.cursor);
  const metrics = (await service.send({ method: "GET", path: "/metrics", headers: {} })).text;
  t.match(metrics, /deliveries_webhook_delivered_total 2/);
  t.match(metrics, /alerts_told_total 4/);
});

t.test("a target that refuses, and what is told when it is tried again", async (t) => {
  const { service, receiver, add, alert, events, toMinute } = await start(t);
  receiver.behave({ status: 404 });
  await add("add_alert", { alert: alert({}) });
  await events(1, "error", 3);
  toMinute(2);
  const deliveries = async () => (await service.call("get_deliveries", { project_id: "shop" })).json.deliveries;
  await until("the end", async () => (await deliveries())[0]?.status === "failed");
  const [delivery] = await deliveries();
  t.match(delivery, { attempts: 1, failure: /404/, kind: "triggered" });
  receiver.behave({ status: 204 });
  const retried = await service.call("retry_delivery", { project_id: "shop", delivery_id: delivery.id });
  t.equal(retried.status, 204, retried.text);
  await until("the call", () => receiver.requests.length === 2);
  await until("the note", async () => (await deliveries())[0].status === "delivered");
  t.equal((await service.call("retry_delivery", { project_id: "shop", delivery_id: delivery.id })).status, 404);
});

t.test("a trigger that is tried again after its end is told is followed by that end", async (t) => {
  const { service, receiver, add, alert, events, toMinute } = await start(t);
  receiver.behave(({ body }) => ({ status: JSON.parse(body).type === "alert.triggered" ? 404 : 204 }));
  await add("add_alert", { alert: alert({}) });
  await events(1, "error", 3);
  toMinute(2);
  await until("the call", () => receiver.requests.length === 1);
  toMinute(3);
  await until("the end", () => receiver.requests.length === 2);
  receiver.behave({ status: 204 });
  const deliveries = async () => (await service.call("get_deliveries", { project_id: "shop" })).json.deliveries;
  await until("the note", async () => (await deliveries())[0].status === "delivered");
  const [, delivery] = await deliveries();
  t.match(delivery, { kind: "triggered", status: "failed" });
  t.equal((await service.call("retry_delivery", { project_id: "shop", delivery_id: delivery.id })).status, 204);
  await until("both again", () => receiver.requests.length === 4);
  t.same(
    bodiesOf(receiver.requests).map(({ type }) => type),
    ["alert.triggered", "alert.resolved", "alert.triggered", "alert.resolved"],
  );
});

t.test("a target that asked for a long pause is tried when somebody mends it", async (t) => {
  const { service, receiver, add, alert, events, toMinute, webhook } = await start(t);
  receiver.behave({ status: 429, headers: { "retry-after": "999999999" } });
  await add("add_alert", { alert: alert({}) });
  await events(1, "error", 3);
  toMinute(2);
  await until("the call", () => receiver.requests.length === 1);
  const deliveries = async () => (await service.call("get_deliveries", { project_id: "shop" })).json.deliveries;
  await until("the note", async () => (await deliveries())[0].attempts === 1);
  receiver.behave({ status: 204 });
  const url = `${receiver.url}/other`;
  const changed = { id: webhook, project_id: "shop", webhook_url: url };
  t.equal((await service.call("update_notification", { notification: changed })).status, 204);
  await until("the call", () => receiver.requests.length === 2);
  t.match(receiver.requests[1]!.path, /\/other$/);
});

t.test("a change that resets closes what was told; test_alert sends; preview_alert replays", async (t) => {
  const { service, receiver, add, alert, events, toMinute } = await start(t);
  const id = await add("add_alert", { alert: alert({ query: "level = error | count by path" }) });
  await events(1, "error", 3, { path: "/pay" });
  await events(1, "error", 1, { path: "/cart" });
  toMinute(2);
  await until("the call", () => receiver.requests.length === 1);
  t.match(bodiesOf(receiver.requests)[0], { group: [{ name: "path", value: "/pay" }], value: 3 });
  const changed = await service.call("update_alert", { alert: { id, project_id: "shop", threshold: 5 } });
  t.equal(changed.status, 204, changed.text);
  await until("the close", () => receiver.requests.length === 2);
  t.match(bodiesOf(receiver.requests)[1], { type: "alert.resolved", reason: "closed by a change of the alert" });
  const { deliveries } = (await service.call("get_deliveries", { project_id: "shop" })).json;
  const group = [{ name: "path", value: "/pay" }];
  t.match(deliveries, [{ group }, { group }], "each delivery says for which group");

  const tested = await service.call("test_alert", { alert: alert({}) });
  t.equal(tested.status, 204, tested.text);
  t.match(bodiesOf(receiver.requests)[2], { type: "alert.test", alert: { name: "errors" } });
  receiver.behave({ status: 500, body: "SECRET OF THE TARGET" });
  const failed = await service.call("test_alert", { alert: alert({}) });
  t.match(failed.json, { type: "notification_failed" });
  t.equal(failed.status, 502);
  t.notOk(failed.text.includes("SECRET"));

  const range = { start: "2026-11-24T10:00:00Z", stop: "2026-11-24T10:03:00Z" };
  const preview = await service.call("preview_alert", { alert: alert({}), ...range });
  t.same(preview.json, {
    episodes: [{ group: [], value: 4, triggered_at: "2026-11-24T10:02:00.000Z", resolved_at: null }],
    // The third is not over, which is no failure.
    ...{ intervals: 2, unevaluated: 0 },
    missing_bytes: 0,
  });
  const groups = await service.call("preview_alert", {
    alert: alert({ query: "| count by path", threshold: 0 }),
    ...range,
  });
  t.same(
    groups.json.episodes.map(({ group, value }: { group: unknown; value: number }) => [group, value]).sort(),
    [
      [[{ name: "path", value: "/cart" }], 1],
      [[{ name: "path", value: "/pay" }], 3],
    ],
    "each group has its own",
  );
  for (let path = 0; path < 101; path++) await events(0, "debug", 1, { path });
  const tooMany = await service.call("preview_alert", { alert: alert({ query: "| count by path" }), ...range });
  t.match(tooMany.json, { intervals: 1, unevaluated: 1, missing_bytes: 0 }, "more than 100 groups in the first");
  for (const query of ["level = error | timeseries 1m", "| fields path", "| stats count(), p99(duration)"]) {
    const refused = await service.call("add_alert", { alert: alert({ query }) });
    t.equal(refused.status, 400, `${query}: ${refused.text}`);
    t.match(refused.json.message, /^alert\.query: must /);
  }
});

t.test("where everybody may sign up, mails go to members alone", async (t) => {
  const service = await startTestService(t, { account: { signUp: { kind: "open" } } });
  const token = await service.person("ann@example.com", "owner");
  await service.call("add_project", { project: { id: "shop", name: "Shop" } }, token);
  const notify = (email: string) => {
    const notification = { project_id: "shop", type: "email", name: "ops", email_addresses: [email] };
    return service.call("add_notification", { notification }, token);
  };
  const refused = await notify("victim@example.com");
  t.equal(refused.status, 400);
  t.match(refused.json.message, /"victim@example\.com" is not a member of the team, .*: invite that address first/);
  const { id } = (await notify("Ann@Example.com")).json;
  t.ok(id);
  const changed = { id, project_id: "shop", email_addresses: ["ann@example.com", "victim@example.com"] };
  t.equal((await service.call("update_notification", { notification: changed }, token)).status, 400);
});

/** A service with a provider of text messages, where everybody may sign up unless told otherwise. */
async function startTexting(t: Test, { signUp = "open" as "open" | "closed", isAlerting = false } = {}) {
  const provider = await startReceiver(t);
  const clock = new TestClock(BEGAN_MS);
  const form = JSON.stringify({ url: provider.url, form: { To: "{to}", Text: "{text}" } });
  const settings = { mailer: undefined, sms: readSmsSettings(form), pagerdutyUrl: PAGERDUTY_URL, allowsPrivate: true };
  const service = await startTestService(t, {
    ...{ clock, isAlerting, notify: settings },
    account: { publicUrl: "https://logs.example.com", signUp: { kind: signUp } },
  });
  const { call } = service;
  const place = { project_id: "shop" };
  t.equal((await call("add_project", { project: { id: "shop", name: "Shop" } })).status, 200);
  const add = (numbers: readonly string[]) =>
    call("add_notification", { notification: { ...place, type: "sms", name: "on call", sms_numbers: numbers } });
  const texts = () =>
    provider.requests.map(({ body }) => {
      const sent = new URLSearchParams(body);
      return { to: sent.get("To")!, text: sent.get("Text")! };
    });
  const codeTo = (to: string) => /^\d{6}/.exec(texts().findLast((sent) => sent.to === to)!.text)![0];
  const about = (notification_id: string, sms_number: string) => ({ ...place, notification_id, sms_number });
  return {
    ...{ service, clock, provider, add, texts, codeTo, place },
    confirm: (id: string, number: string, code: string) => call("confirm_notification", { ...about(id, number), code }),
    resend: (id: string, number: string) => call("confirm_notification", { ...about(id, number), resend: true }),
    read: async (id: string) => (await call("get_notification", { ...place, notification_id: id })).json.notification,
    unconfirmed: async (id: string): Promise<string[]> => {
      const { unconfirmed_numbers } = (await call("get_notification", { ...place, notification_id: id })).json
        .notification;
      return unconfirmed_numbers.map(({ sms_number }: { sms_number: string }) => sms_number);
    },
    test: (id: string) =>
      call("test_alert", {
        alert: {
          ...{ ...place, name: "errors", query: "error", severity: "error", operator: ">", threshold: 1 },
          notification_id: id,
        },
      }),
  };
}

const otherCode = (code: string) => (code === "000000" ? "111111" : "000000");

t.test("where everybody may sign up, a number gets nothing before it is confirmed", async (t) => {
  const { service, clock, add, texts, codeTo, confirm, unconfirmed, test, place } = await startTexting(t, {
    isAlerting: true,
  });
  const { id } = (await add(["+1 555 0100", "+1 555 0101"])).json;
  const sent = texts();
  t.same(sent.map(({ to }) => to).sort(), ["+15550100", "+15550101"]);
  const [first] = sent;
  t.match(
    first!.text,
    /^\d{6} is the code to confirm this number for alerts of logs\.example\.com\. It ends in 10 minutes\. If you did not ask for it, ignore it\.$/,
  );
  t.same(await unconfirmed(id), ["+1 555 0100", "+1 555 0101"]);
  t.match((await test(id)).json, {
    type: "notification_failed",
    message: "no number of the notification is confirmed: type the code that was sent to it",
  });
  const { tell, deliveries } = worldOf(service.records);
  const nextDelivery = async () => {
    await tell(id, "triggered", { alertId: `a${texts().length}`, atMs: clock.nowMs() });
    await service.call("update_notification", { notification: { ...place, id, name: "on call" } });
    await until("the end of the delivery", async () => {
      await clock.advance(1_000);
      return (await deliveries()).every(({ status }) => status !== "waiting");
    });
    return (await deliveries()).at(-1)!;
  };
  t.match(await nextDelivery(), {
    status: "failed",
    failure: "no number of the notification is confirmed: type the code that was sent to it",
  });
  t.equal(texts().length, 2, "neither a test nor an alert");

  t.equal((await confirm(id, "+1 555 0100", ` ${codeTo("+15550100").replace(/^.../, "$& ")}`)).status, 204);
  t.same(await unconfirmed(id), ["+1 555 0101"]);
  t.equal((await confirm(id, "+1 555 0100", "000000")).status, 204, "sent again");
  t.equal((await test(id)).status, 204);
  t.match(await nextDelivery(), { status: "delivered" });
  t.same(
    texts()
      .slice(2)
      .map(({ to }) => to),
    ["+15550100", "+15550100"],
    "the confirmed number alone",
  );
  t.match((await confirm(id, "+1 555 0199", "123456")).json, {
    type: "invalid",
    message: 'sms_number: "+1 555 0199" is not a number of this notification',
  });
  t.match((await confirm(id, "+1 555 0101", "")).json, { message: /^code: is required/ });
});

t.test("a number that is changed is confirmed again, also one that comes back", async (t) => {
  const { service, add, codeTo, confirm, unconfirmed, place, texts } = await startTexting(t);
  const { id } = (await add(["+15550100"])).json;
  await confirm(id, "+15550100", codeTo("+15550100"));
  const change = (numbers: readonly string[]) =>
    service.call("update_notification", { notification: { ...place, id, sms_numbers: numbers } });
  t.equal((await change(["+15550100", "+15550101"])).status, 204);
  t.same(await unconfirmed(id), ["+15550101"], "the one that stays is confirmed");
  t.equal((await change(["+15550101"])).status, 204);
  t.equal((await change(["+15550100"])).status, 204);
  t.same(await unconfirmed(id), ["+15550100"]);
  t.same(
    texts().map(({ to }) => to),
    ["+15550100", "+15550101", "+15550100"],
  );
});

t.test("codes end, and few are sent", async (t) => {
  const { service, clock, add, codeTo, confirm, resend, unconfirmed, provider, texts, read } = await startTexting(t);
  const number = "+15550100";
  const { id } = (await add([number])).json;
  const first = codeTo(number);
  for (const left of ["4 tries are", "3 tries are", "2 tries are", "1 try is"])
    t.equal((await confirm(id, number, otherCode(first))).json.message, `code: is another one; ${left} left`);
  t.match((await confirm(id, number, otherCode(first))).json, {
    type: "conflict",
    message: "that was the last try with a wrong code: ask for another one by resend",
  });
  const ended = {
    type: "conflict",
    message: `the code of ${number} has ended, or none was sent: ask for another one by resend`,
  };
  t.match((await confirm(id, number, first)).json, ended, "five wrong ones");
  const audit = (await service.call("get_audit")).json.entries as { result: string }[];
  const refusal = { operation: "confirm_notification", target_id: id, result: "unauthorized", detail: "5 wrong codes" };
  const refusals = audit.filter(({ result }) => result === "unauthorized");
  t.match(refusals, [refusal]);
  t.equal(refusals.length, 1, "one line for all");
  t.equal((await resend(id, number)).status, 204);
  await clock.advance(10 * MINUTE_MS);
  t.match((await confirm(id, number, codeTo(number))).json, ended, "ten minutes");
  t.equal((await resend(id, number)).status, 204);
  const old = codeTo(number);
  t.equal((await resend(id, number)).status, 204);
  if (codeTo(number) !== old) t.match((await confirm(id, number, old)).json, { type: "invalid" }, "the one of before");
  t.equal((await resend(id, number)).status, 204);
  t.match((await resend(id, number)).json, { type: "rate_limited", message: /^too many codes for numbers/ });
  // The number is the same for whoever writes it in another way, in another team or none.
  t.match((await add(["+1 (555) 0100"])).json, { type: "rate_limited" });
  t.equal(texts().length, 5);
  t.match((await add(Array.from({ length: 11 }, (_, i) => `+1666010${i}`))).json, {
    message: /^each number is sent a code, and at most 10 can be at once/,
  });

  await clock.advance(10 * MINUTE_MS);
  provider.behave({ status: 500 });
  t.match((await resend(id, number)).json, {
    type: "notification_failed",
    message: "the provider of text messages answered with status 500",
  });
  t.match((await read(id)).unconfirmed_numbers, [
    { sms_number: number, expires_at: null, failure: "the provider of text messages answered with status 500" },
  ]);
  provider.behave({ status: 200 });
  await clock.advance(10 * MINUTE_MS);
  t.equal((await resend(id, number)).status, 204);
  t.equal((await confirm(id, number, codeTo(number))).status, 204);
  t.same(await unconfirmed(id), []);
  t.match((await resend(id, number)).json, { type: "conflict", message: `${number} is confirmed already` });
  const rows = await service.records.db.selectFrom("notifications").select("number_states").execute();
  t.notMatch(JSON.stringify(rows), codeTo(number), "no code is readable in the records");
});

t.test("where sign-up is closed, numbers need no code", async (t) => {
  const { add, texts, test, unconfirmed, confirm } = await startTexting(t, { signUp: "closed" });
  const { id } = (await add(["+15550100"])).json;
  t.same([texts(), await unconfirmed(id)], [[], []]);
  t.equal((await test(id)).status, 204);
  t.match((await confirm(id, "+15550100", "123456")).json, {
    type: "conflict",
    message: /^numbers need no confirmation/,
  });
});

t.test("alerts on the disk are for owners of the team that the installation began with", async (t) => {
  const { service, receiver, alert, toMinute } = await start(t);
  // The first team was made by the clock of the machine.
  const { db } = service.records;
  await db.updateTable("teams").set({ created_at: "2026-01-01T00:00:00.000Z" }).where("id", "=", "owner").execute();
  const owner = await service.person("ann@example.com", "owner");
  const admin = await service.person("bob@example.com", "admin");
  const stranger = await service.person("eve@example.com", "owner", "others");
  await service.call("add_project", { project: { id: "shop", name: "Theirs" } }, stranger);
  const disk = alert({ name: "disk", kind: "disk", query: undefined, operator: "<", threshold: 99 });
  const url = receiver.url;
  const theirs = await service.call(
    "add_notification",
    { notification: { project_id: "shop", type: "webhook", name: "hook", webhook_url: `${url}/theirs` } },
    stranger,
  );
  const theirDisk = { ...disk, notification_id: theirs.json.id };
  const mayHave = async (credential?: string) =>
    (await service.call("get_instance_config", {}, credential)).json.config.disk_alerts;
  t.same(
    [await mayHave(owner), await mayHave(admin), await mayHave(stranger), await mayHave()],
    [true, false, false, false],
  );

  const refused: readonly (readonly [string, object, string | undefined])[] = [
    ["an admin", disk, admin],
    ["an owner of another team", theirDisk, stranger],
    ["a program", disk, undefined],
  ];
  for (const [name, body, credential] of refused) {
    const answer = await service.call("add_alert", { alert: body }, credential);
    t.equal(answer.status, 403, name);
    t.match(answer.json.message, /^alerts of kind disk are for owners of the team/);
    t.equal((await service.call("test_alert", { alert: body }, credential)).status, 403, name);
  }
  const wrong: readonly (readonly [object, string])[] = [
    [{ query: "error" }, "alert.query: must be absent: an alert of kind disk measures the disk alone"],
    [{ operator: ">" }, "alert.operator: must be < or <=: an alert of kind disk triggers when too little is free"],
    [{ threshold: 100 }, "alert.threshold: must be at most 99: it is a percentage of the disk"],
    [{ kind: "memory" }, "alert.kind: must be one of: events, disk"],
    [{ kind: "events" }, "alert.query: is required"],
  ];
  for (const [part, message] of wrong) {
    t.same((await service.call("add_alert", { alert: { ...disk, ...part } }, owner)).json, {
      type: "invalid",
      message,
    });
  }
  const range = { start: "2026-11-24T08:00:00Z", stop: "2026-11-24T10:00:00Z" };
  t.match((await service.call("preview_alert", { alert: disk, ...range }, owner)).json, {
    message: "alert.kind: must be events: how full the disk was is not known",
  });

  t.equal((await service.call("test_alert", { alert: disk }, owner)).status, 204);
  t.match(bodiesOf(receiver.requests)[0], { type: "alert.test", what: "free disk", unit: "%" });
  const { json } = await service.call("add_alert", { alert: disk }, owner);
  const id = json.id;
  t.match((await service.call("get_alerts", { project_id: "shop" }, admin)).json.alerts, [
    { id, kind: "disk", query: "", threshold: 99 },
  ]);
  const change = (part: object, credential?: string) =>
    service.call("update_alert", { alert: { project_id: "shop", id, ...part } }, credential);
  t.equal((await change({ muted: true }, admin)).status, 403);
  t.match((await change({ kind: "events", query: "error" }, owner)).json, { message: /^alert.kind: never changes/ });
  t.equal((await change({ name: "little room" }, owner)).status, 204);
  t.equal((await service.call("remove_alert", { project_id: "shop", alert_id: id }, admin)).status, 403);

  toMinute(3);
  await until("the call", () => receiver.requests.length === 2);
  const [, body] = bodiesOf(receiver.requests);
  t.match(body, { type: "alert.triggered", what: "free disk", events: [], alert: { id, name: "little room" } });
  t.match(body.url, /^https:\/\/logs\.example\.com\/t\/owner\/usage$/);
  t.ok(body.value > 0 && body.value < 99, String(body.value));
  t.equal((await service.call("remove_alert", { project_id: "shop", alert_id: id }, owner)).status, 204);
});

t.test("a notification that could tell nobody is refused when it is made", async (t) => {
  const nothing = { mailer: undefined, sms: undefined, pagerdutyUrl: PAGERDUTY_URL, allowsPrivate: false };
  const service = await startTestService(t, { notify: nothing });
  await service.call("add_project", { project: { id: "shop", name: "Shop" } });
  const add = (part: object) =>
    service.call("add_notification", { notification: { project_id: "shop", name: "ops", ...part } });
  const rows: readonly (readonly [object, string])[] = [
    [
      { type: "webhook", webhook_url: "http://127.0.0.1:8080/hook" },
      "notification.webhook_url: the target is an address of a private network: use a public one, or let the operator of the service start it with --allow-private-targets",
    ],
    [
      { type: "slack", slack_webhook_url: "http://chat.example.com/hook" },
      "notification.slack_webhook_url: the target's URL does not begin with https://: use one that does",
    ],
    [
      { type: "email", email_addresses: ["a@example.com"] },
      "notification.type: this service sends no mails: have its operator start it with --smtp, or use another type",
    ],
    [
      { type: "sms", sms_numbers: ["+15550100"] },
      "notification.type: this service sends no text messages: have its operator start it with --sms, or use another type",
    ],
  ];
  for (const [part, message] of rows) {
    const { status, json } = await add(part);
    t.same([status, json], [400, { type: "invalid", message }]);
  }
  t.same((await service.call("get_notifications", { project_id: "shop" })).json.notifications, []);
  const { id } = (await add({ type: "webhook", webhook_url: "https://hooks.example.com/a" })).json;
  const update = (part: object) =>
    service.call("update_notification", { notification: { project_id: "shop", id, ...part } });
  t.equal((await update({ webhook_url: "https://10.0.0.1/a" })).status, 400);

  // Stored while it could be told: what else is changed is no reason to refuse it.
  const { db } = service.records;
  const email = { type: "email", email_addresses: '["a@example.com"]' };
  await db.updateTable("notifications").set(email).where("id", "=", id).execute();
  t.equal((await update({ name: "people" })).status, 204);
  t.equal((await update({ email_addresses: ["b@example.com"] })).status, 400);
});

t.test("a new alert says when it is evaluated first", async (t) => {
  const { service, alert, toMinute } = await start(t);
  const firstOf = async (id: string) =>
    (await service.call("get_alert", { project_id: "shop", alert_id: id })).json.alert.first_evaluated_at;
  const added: string[] = [];
  for (const [interval, end] of [
    [1, "10:01"],
    [5, "10:05"],
    [60, "11:00"],
  ] as const) {
    const { id, first_evaluated_at: first } = (await service.call("add_alert", { alert: alert({ interval }) })).json;
    added.push(id);
    t.equal(await firstOf(id), first);
    t.match(first, new RegExp(`T${end}:(?:1[5-9]|[23][0-9]|4[0-4])\\.`), "15 to 45 s after its first interval");
  }
  // Whoever changes what is compared begins anew, in the next whole interval.
  toMinute(2);
  await until("the first evaluation", async () => (await firstOf(added[0]!)) === null);
  await service.call("update_alert", { alert: { project_id: "shop", id: added[0]!, threshold: 7 } });
  t.match(await firstOf(added[0]!), /T10:04:(?:1[5-9]|[23][0-9]|4[0-4])\./);
});
