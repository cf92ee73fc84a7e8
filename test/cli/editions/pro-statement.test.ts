// Whether a Pro feature of a release with an account service may be used: its statements, kept, asked for, and out of reach.

import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import { isEarlyExit } from "../../../cli/early-exit.ts";
import { requirePro, requireProKeys } from "../../../cli/pro.ts";
import { makeStatement } from "../../../schema/statement.ts";
import {
  failing,
  type SignedIn,
  STATEMENT_KEY,
  type StandIn,
  signedInAt,
  startStandIn,
  testRun,
} from "../../support/release-account.ts";
import { TestClock } from "../../support/test-clock.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;

interface Machine extends SignedIn {
  readonly clock: TestClock;
  readonly service: StandIn;
  /** The words of a Pro command before it does anything: none, or with its exit code why it does not run. */
  pro(env?: Readonly<Record<string, string>>): Promise<string>;
  kept(): Record<string, string>;
}

async function machine(t: Test): Promise<Machine> {
  const clock = new TestClock();
  const service = await startStandIn(t, clock);
  const signedIn = signedInAt(t, service.account.url);
  return {
    ...signedIn,
    clock,
    service,
    async pro(env = {}) {
      const run = testRun({ env: { ...signedIn.env, ...env }, clock });
      try {
        await requirePro(run.context, "tool rollback", { edition: "pro", account: service.account });
        return run.stderr();
      } catch (error) {
        if (!isEarlyExit(error)) throw error;
        return `${run.stderr()}${error.exitCode}: ${error.message}\n  ${error.hint}`;
      }
    },
    kept: () => JSON.parse(readFileSync(signedIn.statements, "utf8")),
  };
}

t.test("a good statement is kept a day, for its owner alone", async (t) => {
  const { clock, service, statements, pro, kept } = await machine(t);
  t.equal(await pro(), "");
  t.equal(await pro(), "");
  t.same(service.calls, ["get_subscription"], "asked once");
  t.equal(statSync(statements).mode & 0o777, 0o600);
  t.same(Object.keys(kept()), [`acme@${service.account.url.replace("http://", "")}`]);
  clock.jump(DAY - 1);
  t.equal(await pro(), "");
  t.equal(service.calls.length, 1);
  clock.jump(1);
  t.equal(await pro(), "");
  t.equal(service.calls.length, 2, "asked anew after a day");
  t.equal(await pro(), "");
  t.equal(service.calls.length, 2, "and the new one is kept");
});

t.test("a no stops, and is asked for anew each time", async (t) => {
  const { service, pro } = await machine(t);
  const rows: [status: "none" | "canceled" | "past_due", why: string][] = [
    ["none", "has no subscription"],
    ["canceled", "has a subscription that is canceled"],
    ["past_due", "has a subscription that is past due"],
  ];
  for (const [status, why] of rows) {
    service.answers.get_subscription = () => service.subscription({ status, edition: "free" });
    const said = `1: tool rollback is a Pro feature: the team acme ${why} at ${service.account.url}\n  tool team subscribe gets Pro for it`;
    t.equal(await pro(), said, status);
  }
  service.answers.get_subscription = () => failing(503);
  t.match(await pro(), /^1: .*past due at/, "the last one counts while the service is away");
  service.answers.get_subscription = () => service.subscription({});
  t.equal(await pro(), "", "who has paid is not refused for a day");
});

t.test("without the service", async (t) => {
  const { clock, service, statements, pro, kept } = await machine(t);
  const { url } = service.account;
  t.equal(await pro(), "");
  const old = kept();
  service.answers.get_subscription = () => failing(503, { type: "unavailable", message: "closed" });
  clock.jump(23 * HOUR);
  t.equal(await pro(), "", "nobody is asked within a day");
  clock.jump(5 * DAY + HOUR);
  t.equal(await pro(), `warning: ${url}: closed; the answer of 2026-01-15 is good until 2026-01-22\n`, "6 days later");
  service.stop();
  t.match(await pro(), /^warning: http:\S+ does not answer: .*; the answer of 2026-01-15 is good until 2026-01-22\n$/);
  clock.jump(DAY - 1);
  t.match(await pro(), /^warning: /, "at the end of the seventh day");
  clock.jump(1);
  t.match(await pro(), /^1: tool rollback is a Pro feature: http:\S+ does not answer: .*\n {2}\S/, "then no more");
  t.same(kept(), {}, "it is forgotten");
  clock.jump(-6 * DAY);
  t.match(await pro(), /^1: /, "and does not come back with an old clock");
  // Put back by hand: 6 days before it was made.
  writeFileSync(statements, JSON.stringify(old));
  clock.jump(-7 * DAY);
  t.match(await pro(), /^1: /, "nor is it good before it was made");
});

t.test("statements that are not believed, from the service and from the file", async (t) => {
  const other = generateKeyPairSync("ed25519").privateKey;
  const { clock, service, pro, statements, kept } = await machine(t);
  const claims = { team: "acme", service: service.account.url, edition: "pro", reason: "active" } as const;
  const now = clock.nowMs();
  const good = makeStatement(claims, STATEMENT_KEY, now);
  const [header, , signature] = good.split(".");
  const forged = Buffer.from(JSON.stringify({ ...claims, statement: 1 })).toString("base64url");
  const rows: [about: string, statement: string, why: string][] = [
    ["forged", `${header}.${forged}.${signature}`, "has a signature that does not match"],
    ["another key", makeStatement(claims, other, now), "is signed with another key"],
    ["another team", makeStatement({ ...claims, team: "shop" }, STATEMENT_KEY, now), 'is about the team "shop"'],
    [
      "another service",
      makeStatement({ ...claims, service: "https://x.example" }, STATEMENT_KEY, now),
      'is from the service "https://x.example"',
    ],
    ["8 days old", makeStatement(claims, STATEMENT_KEY, now - 8 * DAY), "expired at 2026-01-14T12:00:00.000Z"],
    ["nonsense", "yes", "is not a JWS in compact form"],
    ["none", "", "is not a JWS in compact form"],
  ];
  const { url } = service.account;
  for (const [about, statement, why] of rows) {
    service.answers.get_subscription = () => service.subscription({ statement });
    t.equal(
      await pro(),
      `1: tool rollback is a Pro feature: what ${url} states about Pro is not valid: it ${why}\n  check the clock of this machine, and that nothing changes answers on the way; then run this again`,
      about,
    );
    t.notOk(existsSync(statements), `${about} is not kept`);
  }
  const away = () => failing(502);
  const key = `acme@${new URL(url).host}`;
  for (const [about, statement] of rows) {
    service.answers.get_subscription = away;
    writeFileSync(statements, JSON.stringify({ [key]: statement }));
    t.match(await pro(), /^1: /, `${about}, in the file`);
    t.same(kept(), {}, `${about} is forgotten`);
  }
  writeFileSync(statements, JSON.stringify({ [key]: good }));
  t.equal(await pro(), "", "a good one is believed wherever it comes from");
  service.answers.get_subscription = () => ({ ...service.subscription({}), statement: undefined });
  clock.jump(DAY);
  t.equal(
    await pro(),
    `1: tool rollback is a Pro feature: ${url} does not sign who has Pro\n  whoever runs it starts it with --statement-key`,
  );
});

t.test("a file that cannot be used is as none", async (t) => {
  const { service, pro, statements } = await machine(t);
  for (const text of ["", "{", "[]", "null", '{"acme": 1}', `{"a": "${"x".repeat(300_000)}"}`]) {
    writeFileSync(statements, text);
    service.calls.length = 0;
    t.equal(await pro(), "", text.slice(0, 20));
    t.equal(service.calls.length, 1, text.slice(0, 20));
  }
  const folder = await machine(t);
  mkdirSync(folder.statements);
  t.equal(await folder.pro(), "", "a folder in its place");
  t.equal(await folder.pro(), "");
  t.equal(folder.service.calls.length, 2, "it is asked for each time");
  if (process.getuid?.() === 0) return;
  const readOnly = await machine(t);
  chmodSync(`${readOnly.folder}/tool`, 0o500);
  t.equal(await readOnly.pro(), "", "a folder that cannot be written");
  chmodSync(`${readOnly.folder}/tool`, 0o700);
});

t.test("who is asked about", async (t) => {
  const { folder, service, pro } = await machine(t);
  const { url } = service.account;
  const keep = (config: object) => writeFileSync(`${folder}/tool/config.json`, JSON.stringify(config), { mode: 0o600 });
  const entry = { email: "ann@example.com", token: "lgs_secret" };
  const acme = { ...entry, team: "acme", url };
  const own = { ...entry, team: "own", url: "https://logs.example.com" };
  keep({});
  const signIn = `\n  tool team login --email you@example.com --url ${url}`;
  t.equal(await pro(), `1: tool rollback is a Pro feature: nobody is signed in at ${url}${signIn}`);
  keep({ team: "own", teams: { own } });
  const asAnn = `\n  tool team login --email ann@example.com --url ${url}`;
  t.equal(await pro(), `1: tool rollback is a Pro feature: nobody is signed in at ${url}${asAnn}`);
  keep({ team: "own", teams: { own, acme } });
  t.equal(await pro(), "", "the current team is one of another service");
  keep({ team: "own", teams: { own, acme, shop: { ...acme, team: "shop" } } });
  t.equal(
    await pro(),
    `1: tool rollback is a Pro feature: you are in several teams at ${url}, and none of them is the current one\n  choose one of acme, shop: tool team switch acme`,
  );
  keep({ team: "shop", teams: { own, acme, shop: { ...acme, team: "shop" } } });
  t.match(await pro(), /is not valid: it is about the team "acme"/, "the current one is asked about, not the kept one");
  keep({ team: "acme", teams: { acme } });
  service.answers.get_subscription = () => failing(401, { type: "unauthenticated", message: "no" });
  const { statements } = signedInAt(t, url);
  t.notOk(existsSync(statements));
  writeFileSync(`${folder}/tool/statements.json`, "{}");
  t.match(
    await pro(),
    /^1: .*does not know this token any more.*\n {2}tool team login --email ann@example\.com --team acme/,
  );
  service.answers.get_subscription = undefined;
  t.match(await pro(), /\n {2}that service knows nothing of subscriptions: whoever runs it has to update it$/);
});

t.test("in CI", async (t) => {
  const { folder, service, pro, statements } = await machine(t);
  const { url } = service.account;
  const entry = { team: "acme", email: "ann@example.com", url, token: "lgs_ci" };
  const ci = (config: object) => ({ TOOL_CONFIG: Buffer.from(JSON.stringify(config)).toString("base64") });
  const env = ci({ team: "acme", teams: { acme: entry } });
  writeFileSync(`${folder}/tool/config.json`, "damaged");
  t.equal(await pro(env), "");
  t.notOk(existsSync(statements), "nothing is kept on a machine of CI");
  service.answers.get_subscription = () => service.subscription({ status: "canceled", edition: "free" });
  t.match(await pro(env), /^1: .*canceled.*\n {2}tool team subscribe gets Pro for it$/, "a signed no stops");
  service.answers.get_subscription = () => service.subscription({ statement: "forged" });
  t.match(await pro(env), /^1: .*is not valid/, "so does a forged yes");
  service.answers.get_subscription = () => failing(401, { type: "unauthenticated", message: "no" });
  t.match(
    await pro(env),
    /^1: .*\n {2}set TOOL_CONFIG to what tool team ci prints, or unset it/,
    "and a token that ended",
  );
  service.answers.get_subscription = () => failing(503, { type: "unavailable", message: "closed" });
  const going = "going on without knowing whether acme has Pro\n";
  t.equal(await pro(env), `warning: ${url}: closed; ${going}`);
  service.answers.get_subscription = () => failing(403, "<h1>Sign in to this network</h1>");
  t.match(await pro(env), going, "something else answers in its place");
  service.stop();
  const said = await pro(env);
  t.match(said, /^warning: http:\S+ does not answer: /);
  t.match(said, going);
  const elsewhere = ci({ team: "acme", teams: { acme: { ...entry, url: "https://logs.example.com" } } });
  t.equal(
    await pro(elsewhere),
    `1: tool rollback is a Pro feature: TOOL_CONFIG has no token of ${url}\n  set TOOL_CONFIG to what tool team ci prints, or unset it`,
  );
  t.match(
    await pro({ TOOL_CONFIG: "?" }),
    /^1: tool rollback is a Pro feature: TOOL_CONFIG is neither JSON nor base64/,
  );
});

t.test("settings of tool.json are asked about once, and named if the answer is no", async (t) => {
  const { clock, env, service } = await machine(t);
  const text = `{\n  "name": "app",\n  "function": { "layers": ["arn"] },\n  "alerts": [{}]\n}`;
  const release = { edition: "pro", account: service.account } as const;
  const check = async (of: string) => {
    const run = testRun({ env, clock });
    const shown: string[] = [];
    const show = async (problems: readonly { readonly message: string }[]) => {
      shown.push(...problems.map(({ message }) => message));
    };
    try {
      await requireProKeys(run.context, of, show, release);
      return { shown, said: run.stderr() };
    } catch (error) {
      if (!isEarlyExit(error)) throw error;
      return { shown, said: `${error.exitCode}: ${error.message}\n  ${error.hint}` };
    }
  };
  t.same(await check('{ "name": "app", "alerts": [], "function": { "warm": false } }'), { shown: [], said: "" });
  t.same(service.calls, [], "nothing switched on asks nobody");
  t.same(await check(text), { shown: [], said: "" });
  t.same(await check(text), { shown: [], said: "" });
  t.same(service.calls, ["get_subscription"]);
  service.answers.get_subscription = () => service.subscription({ status: "unpaid", edition: "free" });
  clock.jump(DAY);
  t.same(await check(text), {
    shown: ['"function.layers" is a Pro feature', '"alerts" is a Pro feature'],
    said: `1: tool.json has settings of Pro (function.layers (line 3), alerts (line 4)): the team acme has a subscription that is unpaid at ${service.account.url}\n  tool team subscribe gets Pro for it`,
  });
});

t.test("a build without an account asks nobody", async (t) => {
  const run = testRun({ env: { XDG_CONFIG_HOME: "/nonexistent" }, clock: new TestClock() });
  await requirePro(run.context, "tool rollback", { edition: "pro", account: undefined });
  t.equal(run.stderr(), "");
});
