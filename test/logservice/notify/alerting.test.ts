// Alerts from an event to whoever is told, through the service: an HTTP receiver and a real SMTP server, a clock that is set.
import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { pageAt } from "../../../logservice/address/page.ts";
import { rangeTexts, viewOf } from "../../../logservice/address/view.ts";
import { PAGERDUTY_URL } from "../../../logservice/notify/settings.ts";
import { type Received, startReceiver } from "../../support/notify/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { startMailServer } from "../../support/sign-in/mail-server.ts";
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
    // The third is not over.
    intervals: 2,
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
