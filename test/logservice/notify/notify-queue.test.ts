// Deliveries from the records to real receivers on loopback, with a clock of the test's own.

import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { pauseMs } from "../../../logservice/notify/backoff.ts";
import { DeliveryQueue, type DeliveryQueueOptions } from "../../../logservice/notify/delivery-queue.ts";
import { MessagePace } from "../../../logservice/notify/pace.ts";
import type { NotifySettings } from "../../../logservice/notify/settings.ts";
import { readSmsSettings } from "../../../logservice/notify/sms-settings.ts";
import { retryDelivery } from "../../../logservice/records/deliveries.ts";
import { removeNotification } from "../../../logservice/records/notifications.ts";
import { openSeal } from "../../../logservice/records/seal.ts";
import { clockAt } from "../../support/clock-at.ts";
import { startMailServer } from "../../support/notify/mail-server.ts";
import { type Receiver, startReceiver } from "../../support/notify/receiver.ts";
import { openWorld, PROJECT, SETTINGS, type World } from "../../support/notify/world.ts";
import { randomOf } from "../../support/random.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { unchanging } from "../../support/unchanging.ts";
import { until } from "../../support/until.ts";

const START_MS = Date.parse("2026-11-23T14:00:00Z");
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

interface Test {
  teardown(handler: () => unknown): void;
}

/** A queue over a world of its own, whose clock only the test sets. */
async function startQueue(t: Test, options: Partial<DeliveryQueueOptions> & { settings?: NotifySettings } = {}) {
  const world = await openWorld(t);
  const clock = { nowMs: START_MS };
  const failed: string[] = [];
  const queue = new DeliveryQueue({
    records: world.records,
    settings: SETTINGS,
    origin: () => "https://logs.example.com",
    clock: clockAt(() => clock.nowMs),
    failed: (message, error) => failed.push(`${message}: ${error}`),
    ...options,
  });
  t.teardown(() => queue.close());
  return {
    world,
    queue,
    failed,
    /** Adds a delivery at the time of the clock. */
    tell: (...[notification, kind, change]: Parameters<World["tell"]>) =>
      world.tell(notification, kind, { atMs: clock.nowMs, ...change }),
    /** Sets the clock ahead, and waits until all that is due then was tried. */
    async pass(ms: number) {
      clock.nowMs += ms;
      await settled(queue, world);
    },
    set: (nowMs: number) => {
      clock.nowMs = nowMs;
    },
    statuses: async () => (await world.deliveries()).map(({ status }) => status),
  };
}

/** Waits until the queue has nothing more to do at this time: until its records do not change for a while. */
async function settled(queue: DeliveryQueue, world: World): Promise<void> {
  queue.kick();
  await unchanging("rest", () => world.deliveries());
}

/** The messages that a receiver of webhooks got, as lines: kind and alert. */
const linesOf = (receiver: Receiver) =>
  receiver.bodies().map(({ type, alert }) => `${type.slice(6)} ${alert?.id ?? ""}`.trim());

t.test("told once, and noted", async (t) => {
  const receiver = await startReceiver(t);
  const { world, queue, tell, pass } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  const delivery = await tell(id, "triggered");
  await pass(0);
  t.match(await world.deliveries(), [
    { id: delivery, status: "delivered", attempts: 1, failure: "", finished_at: new Date(START_MS).toISOString() },
  ]);
  t.match(receiver.requests, [{ headers: { "x-delivery-id": delivery } }]);
  t.match(receiver.bodies(), [{ id: delivery, type: "alert.triggered" }]);
  await pass(HOUR_MS);
  t.equal(receiver.requests.length, 1);
  t.same(queue.metrics(), { deliveries_waiting: 0, deliveries_webhook_delivered_total: 1 });
});

t.test("a resolution waits for its trigger; other alerts and targets go on", async (t) => {
  const receiver = await startReceiver(t);
  const other = await startReceiver(t);
  const hanging = await startReceiver(t, "hang");
  const { queue, world, tell, pass, statuses } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  receiver.behave(({ body }) => ({ status: JSON.parse(body).alert.id === "a" ? 500 : 200 }));
  // Targets that hang are no reason for others to wait.
  await tell(await world.notification({ type: "webhook", webhook_url: hanging.url }), "triggered", { alertId: "h" });
  await tell(id, "triggered", { alertId: "a" });
  await tell(id, "resolved", { alertId: "a" });
  await tell(id, "triggered", { alertId: "b" });
  await tell(id, "resolved", { alertId: "b" });
  await tell(await world.notification({ type: "webhook", webhook_url: other.url }), "resolved", { alertId: "a" });
  await pass(0);
  t.same(linesOf(receiver), ["triggered a", "triggered b", "resolved b"]);
  t.same(linesOf(other), ["resolved a"]);
  t.match((await world.deliveries())[1], {
    attempts: 1,
    failure: "the target answered with status 500",
    status: "waiting",
  });
  await pass(7 * SECOND_MS);
  t.equal(receiver.requests.length, 3, "not before ten seconds");
  receiver.behave({ status: 200 });
  await pass(3 * SECOND_MS);
  t.same(linesOf(receiver).slice(3), ["triggered a", "resolved a"]);
  const [first, , , again] = receiver.requests;
  t.equal(again!.headers["x-delivery-id"], first!.headers["x-delivery-id"], "the same delivery");
  t.same((await statuses()).slice(1), Array(5).fill("delivered"));
  t.match(queue.metrics(), { deliveries_webhook_retried_total: 1, deliveries_webhook_delivered_total: 5 });
});

t.test("pauses", (t) => {
  const least = (attempts: number) => pauseMs(attempts, () => 1) / SECOND_MS;
  const most = (attempts: number) => pauseMs(attempts, () => 0) / SECOND_MS;
  t.same([1, 2, 3, 4, 8, 9, 10, 1000].map(most), [10, 20, 40, 80, 1280, 2560, 3600, 3600]);
  t.same([1, 2, 3, 4, 8, 9, 10, 1000].map(least), [10, 16, 32, 64, 1024, 2048, 2880, 2880]);
  t.end();
});

t.test("given up after a day", slow(), async (t) => {
  const receiver = await startReceiver(t, { status: 500, body: "s3cret" });
  const chat = await startReceiver(t, { status: 500 });
  const { world, tell, pass } = await startQueue(t);
  const webhook = await world.notification({ type: "webhook", webhook_url: receiver.url });
  const slack = await world.notification({ type: "slack", slack_webhook_url: chat.url });
  for (const [notification, alertId] of [
    [webhook, "w"],
    [slack, "s"],
  ] as const) {
    await tell(notification, "triggered", { alertId });
    await tell(notification, "resolved", { alertId });
  }
  await pass(0);
  for (let hours = 0; hours < 24; hours += 4) {
    t.match((await world.deliveries())[0], { status: "waiting" });
    await pass(4 * HOUR_MS);
  }
  const reason = "given up after 24 hours: the target answered with status 500";
  t.match(await world.deliveries(), [
    { status: "failed", failure: reason, attempts: 7 },
    { status: "failed", failure: reason, attempts: 1 },
    { status: "failed", failure: reason, attempts: 7 },
    { status: "failed", failure: "not sent, because the trigger message was never delivered", attempts: 0 },
  ]);
  t.equal(linesOf(receiver).at(-1), "resolved w", "a program may have taken the trigger");

  chat.behave({ status: 200 });
  const now = new Date(START_MS + 24 * HOUR_MS).toISOString();
  const ids = (await world.deliveries()).map(({ id }) => id);
  t.ok(await retryDelivery(world.records.db, PROJECT, ids[2]!, now));
  t.notOk(await retryDelivery(world.records.db, { ...PROJECT, id: "other" }, ids[3]!, now));
  await pass(0);
  t.match((await world.deliveries())[2], { status: "delivered", attempts: 1, failure: "" });
  t.notOk(await retryDelivery(world.records.db, PROJECT, ids[2]!, now), "it was delivered");
});

t.test("a target that refuses", async (t) => {
  const receiver = await startReceiver(t, { status: 404 });
  const { world, tell, pass, statuses } = await startQueue(t);
  const id = await world.notification({ type: "slack", slack_webhook_url: receiver.url });
  await tell(id, "triggered");
  await tell(id, "resolved");
  // A reminder is the beginning for whoever knows nothing of it.
  await tell(id, "triggered", { alertId: "b" });
  await pass(0);
  t.match(await world.deliveries(), [
    { status: "failed", failure: "the target answered with status 404", attempts: 1 },
    { status: "failed", failure: /^not sent/, attempts: 0 },
    { status: "failed" },
  ]);
  receiver.behave({ status: 200 });
  await tell(id, "repeated", { alertId: "b" });
  await tell(id, "resolved", { alertId: "b" });
  await pass(0);
  t.same((await statuses()).slice(3), ["delivered", "delivered"]);
});

t.test("Retry-After holds up the target", async (t) => {
  const receiver = await startReceiver(t, { status: 429, headers: { "Retry-After": "300" } });
  const { world, tell, pass, statuses } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  await tell(id, "triggered", { alertId: "a" });
  await tell(id, "triggered", { alertId: "b" });
  await pass(0);
  t.same(linesOf(receiver), ["triggered a"]);
  receiver.behave({ status: 200 });
  await pass(299 * SECOND_MS);
  t.equal(receiver.requests.length, 1);
  await pass(SECOND_MS);
  t.same(await statuses(), ["delivered", "delivered"]);
  t.same(linesOf(receiver), ["triggered a", "triggered a", "triggered b"]);
});

t.test("digests", async (t) => {
  const receiver = await startReceiver(t);
  const pager = await startReceiver(t, { status: 202 });
  const { world, tell, pass, statuses } = await startQueue(t, {
    settings: { ...SETTINGS, pagerdutyUrl: new URL(pager.url).origin },
  });
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  const many = async (count: number, from: number) => {
    for (let i = 0; i < count; i++) await tell(id, "triggered", { alertId: `${from + i}` });
  };
  await many(9, 0);
  await pass(0);
  t.equal(receiver.requests.length, 9, "up to ten by themselves");
  await many(3, 9);
  await pass(SECOND_MS);
  t.match(receiver.bodies().slice(9), [{ type: "alert.digest", messages: { length: 3 } }]);
  await many(30, 12);
  await pass(SECOND_MS);
  t.equal(receiver.requests.length, 10, "nothing more within the minute");
  receiver.behave({ status: 503 });
  await pass(58 * SECOND_MS);
  const ids = (bodies: readonly { messages: readonly { alert: { id: string } }[] }[]) =>
    bodies.map(({ messages }) => messages.map(({ alert }) => alert.id).join(" "));
  const list = Array.from({ length: 30 }, (_, i) => `${12 + i}`).join(" ");
  t.same(ids(receiver.bodies().slice(10)), [list]);
  receiver.behave({ status: 200 });
  await pass(60 * SECOND_MS);
  t.same(ids(receiver.bodies().slice(11)), [list], "tried again together");
  t.equal(receiver.bodies()[11].id, receiver.bodies()[10].id, "with the same id");
  t.same(new Set(await statuses()), new Set(["delivered"]));

  const [beforeSplit, statusesBefore] = [receiver.requests.length, (await statuses()).length];
  receiver.behave(({ body }) => ({ status: body.includes('"alert.digest"') || body.includes('"bad"') ? 413 : 200 }));
  await many(14, 50);
  await tell(id, "triggered", { alertId: "bad" });
  await pass(60 * SECOND_MS);
  await pass(60 * SECOND_MS);
  t.ok(receiver.requests.length >= beforeSplit + 15, "each by itself where the digest is refused");
  const split = (await statuses()).slice(statusesBefore);
  t.same([split.length, split.filter((status) => status === "failed").length], [15, 1], "one takes no other with it");
  receiver.behave({ status: 200 });

  const pagerDuty = await world.notification({ type: "pagerduty", pagerduty_service_key: "k".repeat(32) });
  for (let i = 0; i < 12; i++) await tell(pagerDuty, "triggered", { alertId: `p${i}` });
  await pass(0);
  t.equal(pager.requests.length, 12, "incidents are one by one");
});

t.test("the pace of a target", (t) => {
  const pace = new MessagePace();
  const rows = [
    [0, 10, "each"],
    [0, 11, "digest"],
  ] as const;
  for (const [nowMs, waiting, kind] of rows) t.equal(pace.step(waiting, nowMs).kind, kind);
  pace.sent(8, 0);
  t.same(pace.step(2, 1_000), { kind: "each" });
  t.same(pace.step(3, 1_000), { kind: "wait", untilMs: 60_000 }, "there was a digest");
  t.same(pace.step(3, 60_000), { kind: "each" });
  t.same(pace.step(3, -1), { kind: "each" }, "the clock was set back");
  t.equal(pace.isOver(59_999), false);
  t.equal(pace.isOver(60_000), true);
  t.end();
});

t.test("several recipients", async (t) => {
  const server = await startMailServer(t);
  const { world, tell, pass } = await startQueue(t, { settings: { ...SETTINGS, mailer: server.mailer } });
  const email_addresses = ["ann@example.com", "bob@example.com", "eve@example.com"];
  const id = await world.notification({ type: "email", email_addresses });
  const mailsTo = (name: string) =>
    server.mails.filter(({ to }) => to.startsWith(name)).map(({ mail }) => /\[(\w+)/.exec(mail.subject!)![1]);
  server.answer("bob@example.com", 451);
  server.answer("eve@example.com", 550);
  const delivery = await tell(id, "triggered");
  await pass(0);
  t.same([mailsTo("ann"), mailsTo("bob"), mailsTo("eve")], [["triggered"], [], []]);
  t.match((await world.deliveries())[0]!.failure, "bob@example.com");

  await tell(id, "resolved");
  await pass(SECOND_MS);
  t.same(mailsTo("ann"), ["triggered", "resolved"], "whoever has the trigger is told");
  t.same(mailsTo("bob"), []);
  await pass(10 * SECOND_MS);
  t.equal(mailsTo("ann").length, 2, "nobody is told twice");

  server.answer("bob@example.com");
  await pass(20 * SECOND_MS);
  t.same(mailsTo("bob"), ["triggered", "resolved"], "in order");
  t.match(await world.deliveries(), [
    { status: "failed", failure: "refused for eve@example.com" },
    { status: "failed", failure: "eve@example.com: the mail server refused the mail or its recipient" },
  ]);

  server.answer("eve@example.com");
  t.ok(await retryDelivery(world.records.db, PROJECT, delivery, new Date(START_MS).toISOString()));
  await pass(0);
  t.same(
    [mailsTo("ann").length, mailsTo("bob").length, mailsTo("eve")],
    [2, 2, ["triggered", "resolved"]],
    "only who lacks them",
  );
  t.match((await world.deliveries())[0], { status: "delivered" });
});

t.test("text messages of a team are bounded", async (t) => {
  const provider = await startReceiver(t);
  const form = JSON.stringify({ url: provider.url, form: { To: "{to}", Text: "{text}" } });
  const { world, tell, pass } = await startQueue(t, { settings: { ...SETTINGS, sms: readSmsSettings(form) } });
  const sms_numbers = Array.from({ length: 40 }, (_, i) => `+1555010${1000 + i}`);
  const id = await world.notification({ type: "sms", sms_numbers });
  await tell(id, "triggered", { alertId: "a" });
  await tell(id, "triggered", { alertId: "b" });
  await pass(0);
  t.equal(provider.requests.length, 60);
  t.match((await world.deliveries())[1], {
    status: "waiting",
    failure: /: the team has sent too many text messages within an hour$/,
  });
});

t.test("notifications that reach nobody", async (t) => {
  const receiver = await startReceiver(t);
  const { world, queue, tell, pass } = await startQueue(t);
  const gone = await world.notification({ type: "webhook", webhook_url: receiver.url });
  await tell(gone, "triggered", { alertId: "gone" });
  await tell(gone, "resolved", { alertId: "gone" });
  await removeNotification(world.records.db, gone);
  await tell(await world.notification({ type: "email", email_addresses: ["a@example.com"] }), "triggered", {
    alertId: "email",
  });
  await pass(0);
  t.match(await world.deliveries(), [
    { status: "failed", failure: "the notification was removed" },
    { status: "failed", failure: "the notification was removed" },
    { status: "waiting", failure: "the service sends no mails: its operator has to start it with --smtp" },
  ]);

  const sealed = await world.notification({ type: "webhook", webhook_url: receiver.url });
  const lost = { ...world.records, seal: openSeal(randomBytes(32)) };
  await queue.close();
  await tell(sealed, "triggered", { alertId: "sealed" });
  const options = { settings: SETTINGS, origin: () => undefined, clock: clockAt(() => START_MS), failed: () => {} };
  const other = new DeliveryQueue({ ...options, records: lost });
  t.teardown(() => other.close());
  await settled(other, world);
  t.match((await world.deliveries())[3], {
    status: "failed",
    failure: "the notification's webhook_url is missing or cannot be decrypted: set it again",
  });
  t.equal(receiver.requests.length, 0);
});

t.test("clocks", async (t) => {
  const receiver = await startReceiver(t, { status: 500 });
  const { world, tell, pass, set, statuses } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  await tell(id, "triggered");
  set(START_MS + 300 * 24 * HOUR_MS);
  receiver.behave({ status: 200 });
  await pass(0);
  t.same(await statuses(), ["delivered"], "set ahead: there is a first attempt");
  receiver.behave({ status: 500 });
  await tell(id, "triggered", { alertId: "b" });
  await pass(0);
  set(START_MS);
  receiver.behave({ status: 200 });
  await pass(0);
  t.same(await statuses(), ["delivered", "delivered"], "set back: nothing waits for months");
});

t.test("what has ended is removed after 30 days", async (t) => {
  const receiver = await startReceiver(t);
  const { world, queue, tell, pass, set } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  await tell(id, "triggered");
  await pass(0);
  await queue.close();
  for (const [days, left] of [
    [30, 1],
    [30.01, 0],
  ] as const) {
    set(START_MS + days * 24 * HOUR_MS);
    const nowMs = () => START_MS + days * 24 * HOUR_MS;
    const next = new DeliveryQueue({
      records: world.records,
      settings: SETTINGS,
      origin: () => undefined,
      clock: clockAt(nowMs),
      failed: () => {},
    });
    await settled(next, world);
    await next.close();
    t.equal((await world.deliveries()).length, left, `${days} days`);
  }
});

t.test("records that cannot be read for a moment", async (t) => {
  const receiver = await startReceiver(t);
  const { world, queue, failed, tell } = await startQueue(t);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  await world.records.db.schema.alterTable("deliveries").renameTo("elsewhere").execute();
  queue.kick();
  await until("a failure", () => failed.length > 0);
  t.match(failed, [/^deliveries could not be looked for; trying again: .*(?:no such table|does not exist)/]);
  await world.records.db.schema.alterTable("elsewhere").renameTo("deliveries").execute();
  await tell(id, "triggered");
  queue.kick();
  await until("the delivery", () => receiver.requests.length === 1);
});

t.test("closed at random: at least once and in order", slow(), async (t) => {
  const receiver = await startReceiver(t);
  const world = await openWorld(t);
  const random = randomOf(7);
  const id = await world.notification({ type: "webhook", webhook_url: receiver.url });
  let nowMs = START_MS;
  const sent: string[] = [];
  for (let round = 0; round < 12; round++) {
    const clock = new TestClock(nowMs);
    const options = { settings: SETTINGS, origin: () => undefined, clock, failed: () => {} };
    const queue = new DeliveryQueue({ ...options, records: world.records });
    for (let i = 0; i < 4; i++) {
      const kind = round % 2 === 0 ? "triggered" : "resolved";
      sent.push(await world.tell(id, kind, { alertId: `a${i}`, episodeId: `ep_${i}_${round >> 1}`, atMs: nowMs }));
    }
    queue.kick();
    // It looks for them after a moment; what it does then takes some turns of the event loop, each with a part of it.
    await clock.advance(90 + random.below(60));
    for (let turns = random.below(100); turns > 0; turns--) await setImmediate();
    await queue.close();
    nowMs += 61 * SECOND_MS;
  }
  const last = new DeliveryQueue({
    records: world.records,
    settings: SETTINGS,
    origin: () => undefined,
    clock: clockAt(() => nowMs),
    failed: () => {},
  });
  await settled(last, world);
  nowMs += 61 * SECOND_MS;
  await settled(last, world);
  await last.close();
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire.
  const messages: any[] = receiver.bodies().flatMap((body) => body.messages ?? [body]);
  t.same(new Set(messages.map((message) => message.id)), new Set(sent), "each is told");
  const isFirst = (message: { id: string }, i: number) => messages.findIndex(({ id }) => id === message.id) === i;
  for (let i = 0; i < 4; i++) {
    const types = messages.filter(isFirst).filter(({ alert }) => alert.id === `a${i}`);
    t.same(
      types.map(({ type }) => type),
      Array.from({ length: 12 }, (_, round) => (round % 2 === 0 ? "alert.triggered" : "alert.resolved")),
      "in order",
    );
  }
  t.same(new Set((await world.deliveries()).map(({ status }) => status)), new Set(["delivered"]));
});
