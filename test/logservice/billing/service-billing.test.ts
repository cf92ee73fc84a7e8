// Subscriptions, with a stand-in of Stripe whose time is that of the test.
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Stripe } from "stripe";
import t, { type Test } from "tap";
import { type CommandName, describeTable, isProCommand } from "../../../cli/table.ts";
import { openBilling } from "../../../logservice/billing/billing.ts";
import { receiveEvent } from "../../../logservice/billing/receive-event.ts";
import { isProOperation } from "../../../logservice/billing/require-pro.ts";
import { signatureProblem } from "../../../logservice/billing/signature.ts";
import { openStripe } from "../../../logservice/billing/stripe.ts";
import { subscriptions } from "../../../logservice/rpc/subscriptions.ts";
import type { Operations } from "../../../schema/rpc.generated.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";
import { rawStatementKey, verifyStatement } from "../../../schema/statement.ts";
import { ciToken } from "../../support/credentials.ts";
import { type Answer, startTestService, type TestService } from "../../support/service.ts";
import {
  MONTH_MS,
  PRICE,
  STRIPE_KEY,
  type StripeEvent,
  type StripeStandIn,
  signatureOf,
  startStripe,
  WEBHOOK_SECRET,
} from "../../support/stripe/stand-in.ts";

const DAY_MS = 24 * 3_600_000;
const TEAM = "acme";

interface Shop {
  readonly service: TestService;
  readonly stripe: StripeStandIn;
  /** A token of an owner of the team. */
  readonly owner: string;
  nowMs(): number;
  /** Lets time pass, here and at Stripe. */
  pass(ms: number): void;
  rpc(name: string, token?: string): Promise<Answer>;
  /** The status and the edition of the team. */
  standing(): Promise<string>;
  /** Sends a webhook, as it is unless told otherwise. */
  deliver(event: StripeEvent, sent?: Sent): Promise<Answer>;
  /** Sends all events that were not sent yet. */
  deliverAll(): Promise<void>;
  /** Subscribes at the page that add_subscription names. */
  subscribe(): Promise<void>;
}

interface Sent {
  readonly body?: string | Buffer;
  readonly signature?: string;
}

async function openShop(t: Test, beginMs = Date.UTC(2026, 0, 1)): Promise<Shop> {
  let ms = beginMs;
  const nowMs = () => ms;
  const stripe = await startStripe(t, nowMs);
  const provider = openStripe({ key: STRIPE_KEY, price: PRICE, url: stripe.url });
  const service = await startTestService(t, {
    nowMs,
    account: { billing: { stripe: { provider, webhookSecret: WEBHOOK_SECRET } } },
  });
  const owner = await service.person("ann@example.com", "owner", TEAM);
  let sent = 0;
  const rpc = (name: string, token = owner) => service.call(name, {}, token);
  const deliver = (
    event: StripeEvent,
    { body = JSON.stringify(event), signature = signatureOf(body, ms) }: Sent = {},
  ) =>
    service.send({
      path: "/billing/webhook",
      headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": signature },
      body,
    });
  const deliverAll = async () => {
    for (; sent < stripe.events.length; sent++) t.equal((await deliver(stripe.events[sent]!)).status, 200);
  };
  return {
    ...{ service, stripe, owner, nowMs, rpc, deliver, deliverAll },
    pass(more) {
      ms += more;
      stripe.turn();
    },
    async standing() {
      const { json } = await rpc("get_subscription");
      return `${json.status} ${json.edition}`;
    },
    async subscribe() {
      stripe.pay((await rpc("add_subscription")).json.url);
      await deliverAll();
    },
  };
}

t.test("a service that needs no subscription", async (t) => {
  const service = await startTestService(t);
  const owner = await service.person("ann@example.com", "owner", TEAM);
  t.same((await service.call("get_subscription", {}, owner)).json, {
    ...{ team_id: TEAM, provider: "none", status: "none", edition: "pro" },
  });
  for (const name of ["add_subscription", "change_card", "remove_subscription"]) {
    const message = "this service needs no subscription: everybody has Pro";
    t.same((await service.call(name, {}, owner)).json, { type: "conflict", message });
  }
  const webhook = await service.send({ path: "/billing/webhook", body: "{}" });
  t.same([webhook.status, webhook.json.message], [404, "this service takes no payments"]);
});

t.test("what needs Pro", async (t) => {
  const { service, owner, subscribe, pass, deliverAll, rpc } = await openShop(t);
  const { call } = service;
  const invite = (email: string, token = owner) => call("add_member", { email }, token);
  const remedy = "tool team subscribe gets it, as does Subscribe on the page Members";
  const refused = async (answer: Promise<Answer>, what: string) => {
    const { status, json } = await answer;
    t.same([status, json], [403, { type: "forbidden", message: `${what}: ${remedy}` }]);
  };
  const noInvite = "inviting others needs Pro, which the team acme does not have";
  const noTeam = "another team needs Pro, which none of your teams has";
  await refused(invite("ben@example.com"), noInvite);
  await refused(call("add_team", { name: "Night" }, owner), noTeam);
  t.match((await call("get_members", {}, owner)).json.members, [{ email: "ann@example.com" }], "nobody was invited");
  const member = await service.person("eve@example.com", "member", TEAM);
  t.match((await invite("ben@example.com", member)).json.message, /team:write/, "the role is told first");
  t.match((await call("add_member", { email: "?" }, owner)).status, 400, "and a slip");

  await subscribe();
  t.equal((await invite("ben@example.com")).status, 200);
  t.equal((await call("add_team", { name: "Night" }, owner)).status, 200);
  t.equal((await rpc("remove_subscription")).status, 200);
  t.equal((await invite("cam@example.com")).status, 200, "to the end of the period that is paid");
  pass(MONTH_MS);
  await deliverAll();
  await refused(invite("cam@example.com"), noInvite);
  await refused(call("add_team", { name: "Late" }, owner), noTeam);
  for (const email of ["ben@example.com", "eve@example.com"])
    t.equal((await call("remove_member", { email }, owner)).status, 200, "what takes from the team needs none");
});

t.test("a service without subscriptions refuses nobody", async (t) => {
  const service = await startTestService(t);
  const owner = await service.person("ann@example.com", "owner", TEAM);
  t.equal((await service.call("add_member", { email: "ben@example.com" }, owner)).status, 200);
  t.equal((await service.call("add_team", { name: "Night" }, owner)).status, 200);
});

t.test("the operations that need Pro are those of the commands that do", async (t) => {
  const calls: Readonly<Record<string, keyof Operations>> = {
    "team add": "add_team",
    "team members add": "add_member",
  };
  const names = Object.keys(rpcSchema.operations) as (keyof Operations)[];
  t.same(names.filter(isProOperation).sort(), Object.values(calls).sort());
  const marked = describeTable().filter(({ name }) => isProCommand(name as CommandName));
  t.same(
    marked.map(({ name }) => name).filter((name) => name.startsWith("team ")),
    Object.keys(calls),
  );
});

t.test("a team subscribes, changes its card and ends the subscription", async (t) => {
  const { service, stripe, rpc, standing, deliverAll, subscribe, pass, nowMs, owner } = await openShop(t);
  t.equal(await standing(), "none free");
  t.match((await rpc("change_card")).json, { type: "conflict", message: /begin one \(tool team subscribe\)/ });
  t.equal((await rpc("remove_subscription")).status, 409);

  const { url } = (await rpc("add_subscription")).json;
  const [session] = stripe.sessions;
  const page = `${service.running.url}/t/${TEAM}/members`;
  t.match(session, { client_reference_id: TEAM, price: PRICE, url });
  t.match(stripe.requests.at(-1)!.form, { mode: "subscription", success_url: page, cancel_url: page });
  t.equal(await standing(), "none free", "not before it is paid");
  stripe.pay(url);
  await deliverAll();
  t.equal(await standing(), "active pro");
  t.same(Object.keys((await rpc("get_subscription")).json), ["team_id", "provider", "status", "edition"]);

  const again = await rpc("add_subscription");
  t.same([again.status, again.json.message], [409, "the team has a subscription, which is active"]);
  t.match((await rpc("change_card")).json.url, /\/payment_method_update\/cus_/);
  t.match(stripe.requests.at(-1)!.form, { return_url: page });

  const ends_at = new Date(nowMs() + MONTH_MS).toISOString();
  const ended = { team_id: TEAM, provider: "stripe", status: "active", edition: "pro", ends_at };
  t.same((await rpc("remove_subscription")).json, ended);
  t.same((await rpc("remove_subscription")).json, ended, "again");
  for (const name of ["add_subscription", "change_card"])
    t.match((await rpc(name)).json.url, /\/all\/cus_/, "the page on which it is taken up again");
  pass(MONTH_MS - 1000);
  await deliverAll();
  t.equal(await standing(), "active pro", "to the end of the period");
  pass(1000);
  await deliverAll();
  t.equal(await standing(), "canceled free");
  t.equal((await rpc("get_subscription")).json.ends_at, undefined);

  await subscribe();
  t.equal(await standing(), "active pro", "and subscribes again");
  t.equal(stripe.customers.size, 1, "as the same customer");
  const { entries } = (await service.call("get_audit", {}, owner)).json;
  // Most of them have the same time.
  const lines = entries.map((one: Record<string, string>) => `${one.actor} ${one.operation} ${one.detail}`.trim());
  t.same(lines.sort(), [
    "ann@example.com add_subscription",
    "ann@example.com add_subscription",
    "ann@example.com add_subscription",
    "ann@example.com change_card",
    "ann@example.com change_card",
    "ann@example.com remove_subscription",
    "stripe set_subscription active",
    "stripe set_subscription active",
    `stripe set_subscription active, ends ${ends_at}`,
    "stripe set_subscription canceled",
  ]);
  t.same(service.logged, []);
});

t.test("each status of a subscription", async (t) => {
  const { stripe, standing, deliver, subscribe } = await openShop(t);
  await subscribe();
  const [subscription] = stripe.subscriptions.values();
  const rows: Record<string, string> = {
    trialing: "trialing pro",
    past_due: "past_due pro",
    incomplete: "incomplete free",
    unpaid: "unpaid free",
    paused: "paused free",
    "one that Stripe added since": "paused free",
    incomplete_expired: "canceled free",
    active: "active pro",
    canceled: "canceled free",
  };
  for (const [status, expected] of Object.entries(rows)) {
    await deliver(stripe.setStatus(subscription!, status));
    t.equal(await standing(), expected, status);
  }
});

t.test("a payment that fails", async (t) => {
  const { stripe, rpc, standing, deliverAll, subscribe, pass } = await openShop(t);
  await subscribe();
  const [customer] = stripe.customers.keys();
  stripe.setCard(customer!, false);
  pass(MONTH_MS);
  await deliverAll();
  t.equal(await standing(), "past_due pro");
  pass(6 * DAY_MS);
  t.equal(await standing(), "past_due pro", "6 days");
  t.match((await rpc("add_subscription")).json.message, /which is past_due: its card may need to be changed/);
  pass(DAY_MS - 1);
  t.equal(await standing(), "past_due pro", "a millisecond before 7 days");
  pass(1);
  t.equal(await standing(), "past_due free", "7 days");
  pass(DAY_MS);
  t.equal(await standing(), "past_due free", "8 days");
  pass(MONTH_MS - 8 * DAY_MS);
  await deliverAll();
  t.equal(await standing(), "past_due free", "the invoice of the next month gives no new week");
  t.match((await rpc("change_card")).json.url, /payment_method_update/);
  stripe.setCard(customer!, true);
  await deliverAll();
  t.equal(await standing(), "active pro", "after the card was changed");
  stripe.setCard(customer!, false);
  pass(MONTH_MS);
  await deliverAll();
  t.equal(await standing(), "past_due pro", "another failure has a week of its own");
});

t.test("the week of a payment that fails begins when it failed, not when that is told", async (t) => {
  const { stripe, standing, deliverAll, subscribe, pass } = await openShop(t);
  await subscribe();
  stripe.setCard([...stripe.customers.keys()][0]!, false);
  pass(MONTH_MS);
  pass(6 * DAY_MS + DAY_MS / 2);
  await deliverAll();
  t.equal(await standing(), "past_due pro");
  pass(DAY_MS / 2);
  t.equal(await standing(), "past_due free");
});

t.test("webhooks that are not believed change nothing", async (t) => {
  const { service, stripe, rpc, standing, deliver, nowMs } = await openShop(t);
  const { url } = (await rpc("add_subscription")).json;
  stripe.pay(url);
  const event = stripe.lastEvent;
  const body = JSON.stringify(event);
  const good = signatureOf(body, nowMs());
  const minutes = (count: number) => signatureOf(body, nowMs() + count * 60_000);
  const rows: readonly [name: string, sent: Sent, message: RegExp][] = [
    ["no signature", { signature: "" }, /is missing/],
    ["another form", { signature: "v1=00" }, /is missing/],
    ["a scheme of tests", { signature: good.replace("v1=", "v0=") }, /is missing/],
    ["no time", { signature: good.replace(/t=\d+,/, "") }, /is missing/],
    ["a header without end", { signature: `${good}${",v1=00".repeat(1000)}` }, /is missing/],
    ["another secret", { signature: signatureOf(body, nowMs(), "whsec_other") }, /does not match/],
    ["another time", { signature: good.replace(/t=\d/, "t=9") }, /does not match/],
    [
      "a body that was changed",
      { body: body.replace("acme", "evil").replace("cus_", "cus_x"), signature: good },
      /does not match/,
    ],
    ["a body with a blank more", { body: `${body} `, signature: good }, /does not match/],
    ["6 minutes late", { signature: minutes(-6) }, /more than 5 minutes/],
    ["6 minutes early", { signature: minutes(6) }, /more than 5 minutes/],
    ["no event", { body: "[]" }, /not an event/],
    ["no JSON", { body: "{" }, /not an event/],
    ["null", { body: "null" }, /not an event/],
    ["an id that would steer a terminal", { body: body.replace("evt_", "\\u001b[2J") }, /not an event/],
    ["an id with a line end", { body: body.replace("evt_", "\\nwarn: ") }, /not an event/],
  ];
  const requests = stripe.requests.length;
  for (const [name, sent, message] of rows) {
    const { status, json } = await deliver(event, sent);
    t.equal(status, 400, name);
    t.match(json.message, message, name);
  }
  const huge = await deliver(event, { body: JSON.stringify({ ...event, more: "x".repeat(600_000) }) });
  t.equal(huge.status, 413);
  t.equal((await service.send({ method: "GET", path: "/billing/webhook" })).status, 405);
  t.equal(stripe.requests.length, requests, "and Stripe is asked for nothing");
  t.equal(await standing(), "none free");
  t.equal(service.logged.length, 1, "said once an hour");
  t.match(service.logged[0], /^a webhook was refused: Stripe-Signature: is missing/);

  for (const signature of [minutes(-4), minutes(4), `${good},v1=${"0".repeat(64)}`, `t=${good.slice(2)}`])
    t.equal((await deliver(event, { signature })).status, 200, signature);
  t.equal(await standing(), "active pro");
});

t.test("signatures of Stripe's own library", (t) => {
  const nowMs = Date.UTC(2026, 0, 1);
  const payload = '{"id": "evt_1", "name": "Zoë"}';
  const timestamp = nowMs / 1000;
  const header = new Stripe(STRIPE_KEY).webhooks.generateTestHeaderString({
    payload,
    secret: WEBHOOK_SECRET,
    timestamp,
  });
  t.equal(signatureProblem(header, Buffer.from(payload), { secret: WEBHOOK_SECRET, nowMs }), undefined);
  t.equal(signatureProblem(header, Buffer.from(payload), { secret: "whsec_other", nowMs }), "forged");
  const edges = [-300_001, -300_000, 300_000, 300_001].map((ms) =>
    signatureProblem(header, Buffer.from(payload), { secret: WEBHOOK_SECRET, nowMs: nowMs + ms }),
  );
  t.same(edges, ["late", undefined, undefined, "late"]);
  t.end();
});

t.test("webhooks come twice, at once, late and in any order", async (t) => {
  const { service, stripe, rpc, standing, deliver, pass } = await openShop(t);
  stripe.pay((await rpc("add_subscription")).json.url);
  const [subscription] = stripe.subscriptions.values();
  const created = stripe.lastEvent;
  await deliver(created);
  const reads = () => stripe.requests.filter(({ method }) => method === "GET").length;
  const read = reads();
  t.equal((await deliver(created)).status, 200);
  t.equal(reads(), read, "the second time nothing is done");

  const paused = stripe.setStatus(subscription!, "paused");
  const active = stripe.setStatus(subscription!, "active");
  const unpaid = stripe.setStatus(subscription!, "unpaid");
  for (const event of [unpaid, active, paused]) {
    t.equal((await deliver(event)).status, 200);
    t.equal(await standing(), "unpaid free", "what Stripe has now counts");
  }

  // The first of two reads is answered last: what it found is not kept over what the second one found.
  const last = stripe.setStatus(subscription!, "active");
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reading = 0;
  stripe.before = async () => {
    if (++reading === 1) await held;
  };
  const next = stripe.setStatus(subscription!, "past_due");
  const both = [deliver(last), deliver(next), deliver(next), deliver(last)];
  stripe.setStatus(subscription!, "canceled");
  release();
  t.same(
    (await Promise.all(both)).map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.equal(reading, 2, "each event once");
  t.equal(await standing(), "canceled free");

  pass(40 * DAY_MS);
  const late = { ...created, id: "evt_later" };
  await deliver(late);
  const { db } = service.records;
  const kept = await db.selectFrom("billing_events").select("id").execute();
  t.same(kept, [{ id: "evt_later" }], "events that do not come again are forgotten");
  t.same(service.logged, []);
});

t.test("a webhook is sent again until Stripe can be read", async (t) => {
  const { service, stripe, rpc, standing, deliver } = await openShop(t);
  stripe.pay((await rpc("add_subscription")).json.url);
  const event = stripe.lastEvent;
  stripe.failures = [500, 429];
  for (const tries of ["the first", "the second"]) {
    const { status, json } = await deliver(event);
    t.equal(status, 500, tries);
    t.equal(json.message, "the service failed; see its log");
  }
  t.equal(await standing(), "none free");
  t.equal((await deliver(event)).status, 200);
  t.equal(await standing(), "active pro");
  t.equal(service.logged.length, 2);
  t.match(service.logged[0], /Stripe did not read the subscription: an error of the stand-in \(status 500/);
});

t.test("a webhook that is lost is made up for within a day", async (t) => {
  const { service, stripe, rpc, standing, subscribe, pass } = await openShop(t);
  await subscribe();
  const [subscription] = stripe.subscriptions.values();
  stripe.setStatus(subscription!, "unpaid");
  pass(DAY_MS - 1);
  t.equal(await standing(), "active pro");
  const requests = stripe.requests.length;
  pass(1);
  stripe.failures = [500];
  t.equal(await standing(), "active pro", "Stripe does not answer");
  t.equal(await standing(), "active pro", "and is left alone for a while");
  t.equal(stripe.requests.length, requests + 1);
  pass(10 * 60_000);
  const [one, other] = await Promise.all([standing(), standing()]);
  t.same([one, other], ["unpaid free", "unpaid free"]);
  t.equal(stripe.requests.length, requests + 2, "asked once");
  t.match(service.logged, [/^a subscription could not be read again/]);
  t.equal((await rpc("get_subscription")).status, 200);
});

t.test("a team has one customer, one page to pay on and one subscription", async (t) => {
  const { service, stripe, rpc, deliverAll, standing, owner } = await openShop(t);
  const second = await service.person("bob@example.com", "owner", TEAM);
  stripe.losesAnswer = true;
  t.equal((await rpc("add_subscription")).status, 503);
  t.same([stripe.customers.size, stripe.sessions.length], [1, 0], "it was made, though nobody knows");
  const pagesOfAll = await Promise.all([owner, second, owner, second].map((token) => rpc("add_subscription", token)));
  t.equal(new Set(pagesOfAll.map(({ json }) => json.url)).size, 1);
  t.same([stripe.customers.size, stripe.sessions.length], [1, 1]);
  const { url } = pagesOfAll[0]!.json;

  // Another price of the operator, or another address of the service: the page of before is closed.
  const provider = openStripe({ key: STRIPE_KEY, price: "price_other", url: stripe.url });
  const [customer] = stripe.customers.keys();
  const checkout = { team: TEAM, customer: customer!, returnUrl: "https://logs.example.com/t/acme/members" };
  const pages = await Promise.all([provider.checkout(checkout), provider.checkout(checkout)]);
  t.equal(new Set(pages).size, 1, "two processes at once");
  t.same(
    stripe.sessions.map(({ status }) => status),
    ["expired", "open"],
  );
  t.not(pages[0], url);

  stripe.pay(pages[0]!);
  stripe.subscribe(customer!, "active");
  t.equal((await rpc("add_subscription")).status, 409, "paid, though no webhook said so yet");
  await deliverAll();
  t.equal(await standing(), "active pro");
  t.match(service.logged.at(-1), /^the team acme pays for 2 subscriptions at Stripe \(sub_\w+, sub_\w+\)/);
});

t.test("the customer is deleted at Stripe", async (t) => {
  const { service, stripe, rpc, standing, deliver, subscribe } = await openShop(t);
  await subscribe();
  const [first] = stripe.customers.keys();
  const event = stripe.deleteCustomer(first!);
  t.equal((await deliver(event)).status, 200);
  t.equal(await standing(), "canceled free");
  t.equal((await rpc("change_card")).status, 409);
  await subscribe();
  t.equal(await standing(), "active pro");
  t.equal(stripe.customers.size, 2);

  // Without a webhook, the next request finds out.
  const second = [...stripe.customers.keys()][1]!;
  stripe.deleteCustomer(second);
  t.equal((await rpc("remove_subscription")).status, 409);
  t.equal(await standing(), "canceled free");
  stripe.customers.clear();
  t.equal((await rpc("add_subscription")).status, 200);
  t.ok(
    service.logged.every((line) => /customer that no team has/.test(line)),
    service.logged.join("\n"),
  );
});

t.test("a customer of nobody, and of a team that was removed", async (t) => {
  const { service, stripe, rpc, deliver, deliverAll, subscribe } = await openShop(t);
  const stranger = stripe.subscribe("cus_stranger");
  t.equal((await deliver(stripe.lastEvent)).status, 200);
  t.equal((await deliver({ ...stripe.lastEvent, id: "evt_none", data: { object: { id: "prod_1" } } })).status, 200);
  const listed = { customer: ["cus_1"] };
  t.equal((await deliver({ ...stripe.lastEvent, id: "evt_list", data: { object: listed } })).status, 200);
  t.match(service.logged.splice(0), [
    /customer that no team has \(cus_stranger, event evt_/,
    /^Stripe tells of a subscription and names no customer \(event evt_none\)$/,
    /^Stripe tells of a subscription and names no customer \(event evt_list\)$/,
  ]);
  stripe.subscriptions.delete(stranger.id);
  stripe.events.splice(0);

  await subscribe();
  const owner = await service.person("ann@example.com", "owner", TEAM);
  const removal = () => service.call("remove_team", { team_id: TEAM }, owner);
  const refused = await removal();
  t.same(
    [refused.status, refused.json.message],
    [409, "the team has a subscription: end it first (tool team unsubscribe)"],
  );
  await rpc("remove_subscription");
  t.equal((await removal()).status, 204, "one that ends goes on to be paid for by nobody");
  await deliverAll();
  t.same(service.logged, []);

  // Somebody pays on a page that was open when the team was removed.
  const [customer] = stripe.customers.keys();
  const late = stripe.subscribe(customer!);
  stripe.failures = [500];
  t.equal((await deliver(stripe.lastEvent)).status, 500);
  t.equal((await deliver(stripe.lastEvent)).status, 200);
  t.equal(late.status, "canceled");
  t.match(service.logged, [
    /Stripe did not read/,
    /^the team acme was removed, so its subscription sub_\w+ was ended at Stripe/,
  ]);
});

t.test("Stripe does not answer, or refuses", async (t) => {
  const { service, stripe, rpc, subscribe } = await openShop(t);
  stripe.failures = [500];
  const away = await rpc("add_subscription");
  t.same([away.status, away.json.type], [503, "unavailable"]);
  t.equal(away.json.message, "Stripe does not answer, so it did not make a customer: try again in a minute");
  stripe.failures = [400];
  const refused = await rpc("add_subscription");
  t.equal(
    refused.json.message,
    "Stripe refused to make a customer: ask those who run this service, whose log says why",
  );
  await subscribe();
  t.equal(stripe.customers.size, 1);
  stripe.failures = [500];
  t.equal((await rpc("remove_subscription")).status, 503);
  t.equal([...stripe.subscriptions.values()][0]!.cancel_at_period_end, false);
  t.notMatch(JSON.stringify([away, refused, service.logged]), STRIPE_KEY);
});

t.test("answers that never end, are too long or are none of Stripe's", async (t) => {
  const stripe = await startStripe(t, Date.now);
  const settings = { key: STRIPE_KEY, price: PRICE, url: stripe.url };
  const patient = openStripe({ ...settings, timeoutMs: 30_000 });
  const hasty = openStripe({ ...settings, timeoutMs: 200 });
  const away = /^Stripe does not answer, so it did not open the page of the card: try again in a minute$/;
  const strange = /^Stripe's answer is not understood, so it did not open the page of the card: ask those who run this/;
  const json = (text: string) => (response: ServerResponse) => void response.end(text);
  const options = { returnUrl: "https://logs.example.com", isForCard: true };
  const endless: Readonly<Record<string, (response: ServerResponse) => void>> = {
    none: () => {},
    "a beginning": (response) => void response.write('{"url": "htt'),
    blanks: (response) => drip(response, " "),
  };
  for (const [name, instead] of Object.entries(endless)) {
    stripe.instead = instead;
    await t.rejects(hasty.portal("cus_1", options), { type: "unavailable", message: away }, name);
  }
  const rows: readonly [name: string, instead: (response: ServerResponse) => void, message: RegExp, cause: RegExp][] = [
    ["more than any has", (response) => drip(response, "x".repeat(1024 * 1024)), away, /./],
    ["a cut", (response) => void response.destroy(), away, /connection/i],
    ["no JSON", json("<html>"), away, /Invalid JSON/],
    ["nothing", json(""), away, /Invalid JSON/],
    ["null", json("null"), strange, /null/],
    ["no page", json("{}"), strange, /the answer names no page/],
    ["a page that is none", json('{"url": 5}'), strange, /the answer names no page/],
    [
      "a redirect",
      (response) => void response.writeHead(302, { location: "/v1/elsewhere" }).end('{"url": "https://evil.example"}'),
      away,
      /connection/i,
    ],
    [
      "words for the terminal",
      (response) => void response.writeHead(400).end('{"error": {"message": "\\u001b[2Jno\\rway"}}'),
      /^Stripe refused to open the page of the card/,
      /: ␛\[2Jno␍way \(status 400\)$/,
    ],
  ];
  for (const [name, instead, message, cause] of rows) {
    stripe.instead = instead;
    const failure = { type: "unavailable", message, cause: { name: "ProviderFailure", message: cause } };
    await t.rejects(patient.portal("cus_1", options), failure, name);
  }
  stripe.instead = (response) =>
    void response.writeHead(402).end('{"error": {"type": "card_error", "message": "Your card was declined."}}');
  await t.rejects(patient.portal("cus_1", options), {
    type: "conflict",
    message: "Stripe refused to open the page of the card, and says of the card: Your card was declined.",
  });
  stripe.instead = json('{"object": "customer"}');
  await t.rejects(patient.addCustomer(TEAM, "key"), { cause: { message: /the answer names no customer/ } });
});

/** Writes the same again and again, until nobody reads it any more. */
function drip(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 20);
  response.once("close", () => clearInterval(timer));
}

t.test("nothing is begun for whoever has left by their turn", async (t) => {
  const { service, stripe, deliver, subscribe, nowMs } = await openShop(t);
  await subscribe();
  const provider = openStripe({ key: STRIPE_KEY, price: PRICE, url: stripe.url });
  const billing = openBilling({ stripe: { provider, webhookSecret: WEBHOOK_SECRET } }, { error() {}, warn() {} });
  const parts = { records: service.records, billing, nowMs, account: { address: { isKnown: false, origin: "" } } };
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const before = billing.turns.run(TEAM, () => held);
  const left = new AbortController();
  const { signal } = left;
  const [customer = ""] = stripe.customers.keys();
  const event = { id: "evt_left", type: "customer.subscription.updated", customer };
  const call = { signal, grant: { team: TEAM } };
  const both = [
    t.rejects(receiveEvent(parts, provider, event, { address: "", signal }), { message: "left" }),
    t.rejects(subscriptions.change_card(parts as never, {}, call as never), { message: "left" }),
  ];
  const requests = stripe.requests.length;
  left.abort(new Error("left"));
  release();
  await Promise.all([before, ...both]);
  t.equal(stripe.requests.length, requests);
  const again = { ...stripe.lastEvent, id: event.id };
  t.equal((await deliver(again)).status, 200);
  t.equal(stripe.requests.length, requests + 1, "the webhook counts when it is sent again");
});

t.test("whoever is no owner any more begins and ends nothing", async (t) => {
  const { service, stripe, rpc, subscribe } = await openShop(t);
  await subscribe();
  const bob = await service.person("bob@example.com", "owner", TEAM);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = () => {};
  const isAsked = new Promise<void>((resolve) => {
    begun = resolve;
  });
  stripe.before = () => {
    begun();
    return held;
  };
  const first = rpc("change_card");
  await isAsked;
  const second = rpc("remove_subscription", bob);
  // By then it has been granted, and waits for its turn.
  for (let round = 0; round < 3; round++) t.equal((await rpc("get_account", bob)).status, 200);
  await service.person("bob@example.com", "member", TEAM);
  release();
  t.equal((await first).status, 200);
  t.equal((await second).status, 403);
  t.equal([...stripe.subscriptions.values()][0]!.cancel_at_period_end, false);
  for (const name of ["add_subscription", "change_card", "remove_subscription"])
    t.equal((await rpc(name, bob)).status, 403, name);
});

t.test("statements of both providers, for every credential", async (t) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = rawStatementKey(createPublicKey(privateKey));
  let ms = Date.UTC(2026, 0, 1);
  const nowMs = () => ms;
  const stripe = await startStripe(t, nowMs);
  const provider = openStripe({ key: STRIPE_KEY, price: PRICE, url: stripe.url });
  for (const billing of [undefined, { provider, webhookSecret: WEBHOOK_SECRET }]) {
    const account = { publicUrl: "https://logs.example.com", billing: { stripe: billing, statementKey: privateKey } };
    const service = await startTestService(t, { nowMs, account });
    const owner = await service.person("ann@example.com", "owner", TEAM);
    const tokens = [owner, (await ciToken(service, TEAM)).secret];
    for (const token of tokens) {
      const { statement, edition } = (await service.call("get_subscription", {}, token)).json;
      t.equal(edition, billing === undefined ? "pro" : "free");
      const reader = { key, team: TEAM, service: "https://logs.example.com" };
      const read = verifyStatement(statement, { ...reader, nowMs: ms });
      t.match(read, { ok: true, value: { team: TEAM, edition, reason: "none" } });
      t.match(verifyStatement(statement, { ...reader, nowMs: ms + 7 * DAY_MS }), { ok: false });
    }
    ms += 1000;
  }
});
