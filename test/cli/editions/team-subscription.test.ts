// `tool team subscribe`, `unsubscribe` and `card change`, with a service that answers what a payment provider says.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import type { Format } from "../../../cli/argv.ts";
import { isEarlyExit } from "../../../cli/early-exit.ts";
import type { Release } from "../../../cli/edition.ts";
import { requirePro } from "../../../cli/pro.ts";
import { changeCard, subscribe, unsubscribe } from "../../../cli/team/subscription.ts";
import {
  failing,
  type SignedIn,
  type StandIn,
  signedInAt,
  startStandIn,
  testRun,
} from "../../support/release-account.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const PAGE = "https://pay.example.com/c/1";

interface Machine extends SignedIn {
  readonly clock: TestClock;
  readonly service: StandIn;
  run(command: Command, options?: Options): Promise<string>;
  begin(command: Command, options?: Options): Begun;
}

interface Options {
  readonly format?: Format;
  readonly answers?: readonly string[];
  readonly release?: Release;
  readonly yes?: boolean;
}

type Begun = { readonly ended: Promise<string>; stderr(): string; stdout(): string; interrupt(): void };
type Command = "subscribe" | "unsubscribe" | "card change";

async function machine(t: Test): Promise<Machine> {
  const clock = new TestClock();
  const service = await startStandIn(t, clock);
  const signedIn = signedInAt(t, service.account.url);
  const begin = (command: Command, { format, answers, release, yes = false }: Options = {}): Begun => {
    const more = { ...(format && { format }), ...(answers && { answers }) };
    const { context, interrupt, stderr, stdout } = testRun({ env: signedIn.env, clock, ...more });
    const commands = {
      subscribe: () => subscribe(context, {}, release),
      unsubscribe: () => unsubscribe(context, { yes }, release),
      "card change": () => changeCard(context, {}, release),
    };
    const ended = commands[command]().then(
      (code) => `${stdout()}${stderr()}${code}`,
      (error: unknown) => {
        if (!isEarlyExit(error)) throw error;
        return `${stdout()}${stderr()}${error.exitCode}: ${error.message}\n  ${error.hint}`;
      },
    );
    return { ended, interrupt, stderr, stdout };
  };
  return { ...signedIn, clock, service, begin, run: (command, options) => begin(command, options).ended };
}

/** Lets the command ask once more, and waits until it has its answer. */
async function poll({ clock, service }: Machine): Promise<void> {
  const before = service.calls.length;
  await until("the wait for the next question", () => clock.timers.length > 0);
  await clock.advance(10_000);
  await until("the next question", () => service.calls.length > before);
}

t.test("a service that needs no subscription says so", async (t) => {
  const { service, run } = await machine(t);
  service.answers.get_subscription = () => service.subscription({ provider: "none", status: "none" });
  for (const command of ["subscribe", "unsubscribe", "card change"] as const) {
    t.equal(await run(command), `${service.account.url} needs no subscription: everybody has Pro\n0`, command);
  }
  const document = { team: "acme", provider: "none", status: "none", edition: "pro", endsAt: null, page: null };
  t.equal(await run("subscribe", { format: "json" }), `${JSON.stringify(document, null, 2)}\n0`);
  t.notOk(service.calls.includes("add_subscription"));
});

t.test("subscribe opens the page and waits until it is paid", async (t) => {
  const of = await machine(t);
  const { service, statements, begin, clock, env } = of;
  const { account } = service;
  service.answers.get_subscription = () => service.subscription({ status: "none", edition: "free" });
  service.answers.add_subscription = () => ({ url: PAGE });
  const release = { edition: "free", account } as const;
  const begun = begin("subscribe", { release });
  await until("the page", () => begun.stdout() !== "");
  t.equal(begun.stdout(), `${PAGE}\n`);
  t.equal(begun.stderr(), "Pay on this page:\n");
  await poll(of);
  service.answers.get_subscription = () => service.subscription({ status: "incomplete", edition: "free" });
  await poll(of);
  service.answers.get_subscription = () => failing(503, { type: "unavailable", message: "closed" });
  await poll(of);
  service.answers.get_subscription = () => service.subscription({ status: "active" });
  await poll(of);
  t.match(
    await begun.ended,
    /closed; trying again\n(?:.*\n)*acme has Pro now\n {2}tool upgrade installs the Pro edition\n0$/,
  );
  t.ok(existsSync(statements), "what it stated is kept");
  const before = service.calls.length;
  await requirePro(testRun({ env, clock }).context, "tool rollback", { edition: "pro", account });
  t.equal(service.calls.length, before, "and asked for no more that day");
});

t.test("subscribe, in other states", async (t) => {
  const of = await machine(t);
  const { service, run, begin } = of;
  service.answers.add_subscription = () => ({ url: PAGE });
  const ends_at = "2026-02-15T12:00:00.000Z";
  const rows: [subscription: object, said: string][] = [
    [{ status: "active" }, "acme has Pro: its subscription is active\n0"],
    [{ status: "trialing" }, "acme has Pro: its subscription is trialing\n0"],
    [
      { status: "active", ends_at },
      "acme has Pro: its subscription is active\nit ends on 2026-02-15; tool team card change opens the page on which it goes on\n0",
    ],
    [
      { status: "past_due" },
      "acme has Pro: its subscription is past due\nthe last payment failed: tool team card change opens the page for another card\n0",
    ],
    [
      { status: "past_due", edition: "free" },
      "acme has no Pro any more: its subscription is past due\nthe last payment failed: tool team card change opens the page for another card\n0",
    ],
  ];
  for (const [subscription, said] of rows) {
    service.answers.get_subscription = () => service.subscription(subscription);
    t.equal(await run("subscribe"), said, JSON.stringify(subscription));
  }
  t.notOk(service.calls.includes("add_subscription"), "nobody pays twice");

  service.answers.get_subscription = () => service.subscription({ status: "canceled", edition: "free" });
  const document = { team: "acme", provider: "stripe", status: "canceled", edition: "free", endsAt: null, page: PAGE };
  t.equal(
    await run("subscribe", { format: "json" }),
    `${JSON.stringify(document, null, 2)}\n0`,
    "a program gets the page",
  );

  const begun = begin("subscribe");
  await until("the wait", () => of.clock.timers.length > 0 && begun.stdout() !== "");
  begun.interrupt();
  t.match(
    await begun.ended,
    /\ninterrupted: what is paid on the page counts all the same; tool team subscribe shows whether it is\n130$/,
  );

  const patient = begin("subscribe");
  await until("the page", () => patient.stdout() !== "");
  let hasEnded = false;
  void patient.ended.then(() => {
    hasEnded = true;
  });
  for (let polls = 0; !hasEnded && polls < 1000; polls++) {
    await until("the wait", () => hasEnded || of.clock.timers.length > 0);
    if (!hasEnded) await of.clock.advance(300_000);
  }
  t.match(
    await patient.ended,
    /1: nothing was paid within an hour\n {2}if you have paid, .*: tool team subscribe shows/,
  );
});

t.test("pages that a browser should not open, and services that refuse", async (t) => {
  const { service, run } = await machine(t);
  const { url } = service.account;
  service.answers.get_subscription = () => service.subscription({ status: "none", edition: "free" });
  for (const page of [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "--help",
    "http://pay.example.com",
    "https://a:b@pay.example.com",
    "",
    5,
  ]) {
    service.answers.add_subscription = () => ({ url: page });
    const said = `1: the service at ${url} gave an answer that this version does not understand`;
    t.equal((await run("subscribe")).split("\n")[0], said, String(page));
  }
  service.answers.add_subscription = () => failing(403, { type: "forbidden", message: "owners only" });
  t.equal(
    await run("subscribe"),
    "1: owners only\n  ask somebody with a higher role in the team: tool team members ls lists them",
  );
  service.answers.add_subscription = () => failing(409, { type: "conflict", message: "acme has a subscription" });
  t.equal(
    await run("subscribe"),
    "1: acme has a subscription\n  tool team card change opens the page of the subscription that is there",
  );
  const rows: [status: number, type: string, message: string, said: RegExp][] = [
    [
      503,
      "unavailable",
      "Stripe does not answer, so it did not make a customer: try again in a minute",
      /^1: \S+: Stripe does not answer, .*\n {2}run this again in a moment$/,
    ],
    [
      503,
      "unavailable",
      "Stripe refused to make a customer: ask those who run this service, whose log says why",
      /whose log says why\n {2}run this again when they have mended it; nothing was paid$/,
    ],
    [
      503,
      "unavailable",
      "Stripe's answer is not understood, so it did not make a customer: ask those who run this service",
      /\n {2}run this again when they have mended it; nothing was paid$/,
    ],
    [
      409,
      "conflict",
      "Stripe refused to end the subscription, and says of the card: Your card was declined.",
      /^1: Stripe refused .*declined\.\n {2}tool team card change opens the page for another card$/,
    ],
    [
      403,
      "forbidden",
      "this token lacks the scope billing:write",
      /^1: .* billing:write\n {2}sign in as a member of the team: tool team login --email \S+.* --url http/,
    ],
    [
      403,
      "forbidden",
      "this is for people only: sign in (tool team login)",
      /\n {2}sign in as a member of the team: tool team login --email /,
    ],
  ];
  for (const [status, type, message, said] of rows) {
    service.answers.add_subscription = () => failing(status, { type, message });
    t.match(await run("subscribe"), said, message);
  }
  service.answers.get_subscription = undefined;
  t.equal(
    await run("unsubscribe"),
    "1: this service knows nothing of subscriptions\n  whoever runs it has to update it",
  );
});

t.test("unsubscribe ends it after what is paid", async (t) => {
  const { service, run } = await machine(t);
  const ends_at = "2026-02-15T12:00:00.000Z";
  let subscription: object = { status: "active" };
  service.answers.get_subscription = () => service.subscription(subscription);
  service.answers.remove_subscription = () => service.subscription({ status: "active", ends_at });
  const removed = () => service.calls.filter((name) => name === "remove_subscription").length;
  t.equal(
    await run("unsubscribe"),
    "2: this would end the subscription of acme after the period that is paid, and there is no terminal to confirm it\n  write --yes to agree",
  );
  const question = "End the subscription of acme after the period that is paid? (y/n): ";
  t.equal(await run("unsubscribe", { answers: ["n"] }), `${question}nothing was changed\n1`);
  t.equal(await run("unsubscribe", { answers: [] }), `${question}130`);
  t.equal(removed(), 0);
  const said = "the subscription of acme ends on 2026-02-15; until then acme has Pro\n";
  t.equal(await run("unsubscribe", { answers: ["yes"] }), `${said}${question}0`);
  t.equal(await run("unsubscribe", { yes: true }), `${said}0`);
  t.equal(removed(), 2);
  const document = { team: "acme", provider: "stripe", status: "active", edition: "pro", endsAt: ends_at, page: null };
  t.equal(await run("unsubscribe", { yes: true, format: "json" }), `${JSON.stringify(document, null, 2)}\n0`);
  subscription = { status: "active", ends_at };
  t.equal(await run("unsubscribe"), `${said}0`, "it ends already: nothing is asked");
  t.equal(removed(), 3);
  for (const status of ["none", "canceled"]) {
    subscription = { status, edition: "free" };
    t.equal(await run("unsubscribe", { yes: true }), "1: acme has no subscription\n  tool team subscribe begins one");
    t.equal(await run("card change"), "1: acme has no subscription\n  tool team subscribe begins one");
  }
});

t.test("card change opens the page, and waits if a payment has failed", async (t) => {
  const of = await machine(t);
  const { service, run, begin } = of;
  service.answers.change_card = () => ({ url: PAGE });
  t.equal(await run("card change"), `${PAGE}\nChange the card on this page:\n0`);
  service.answers.get_subscription = () => service.subscription({ status: "past_due" });
  const begun = begin("card change");
  await until("the page", () => begun.stdout() !== "");
  await poll(of);
  service.answers.get_subscription = () => service.subscription({ status: "active" });
  await poll(of);
  t.match(await begun.ended, /\nacme has paid: its subscription is active\n0$/);
});

t.test("a release acts for the team that it asks about", async (t) => {
  const { folder, service, run } = await machine(t);
  const { account } = service;
  const path = `${folder}/tool/config.json`;
  const { teams } = JSON.parse(readFileSync(path, "utf8"));
  const own = { team: "own", email: "ann@example.com", url: "https://logs.example.com", token: "lgs_own" };
  writeFileSync(path, JSON.stringify({ team: "own", teams: { ...teams, own } }));
  t.equal(
    await run("subscribe", { release: { edition: "pro", account } }),
    "acme has Pro: its subscription is active\n0",
  );
});
