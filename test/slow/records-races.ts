// Every operation from two services at once that have the same records on PostgreSQL: the answers are those of one after the
// other, in either order. Where two requests read the same and then change it, one of them is run again.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { openSession } from "../../logservice/account/sign-in.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { userOf } from "../../logservice/records/people.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { BODIES, makeWorld, type Name, type World } from "../support/operation-bodies.ts";
import { requiresPostgres } from "../support/postgres.ts";
import { startTestService, type TestService } from "../support/service.ts";

process.env.TOOL_TEST_RECORDS = "postgres";

/** The two services, and a token of an owner that both take. */
interface Pair {
  readonly services: readonly [TestService, TestService];
  readonly owner: string;
  /** A number that no row had before. */
  next(): number;
}

/** The requests of both: an operation, a body each, and the token if it is not the owner's. */
interface Race {
  readonly name: Name;
  readonly bodies: readonly [unknown, unknown];
  readonly tokens?: readonly [string, string];
}

type Prepare = (pair: Pair, world: World) => Promise<Race> | Race;

/** The same body twice, as operations take it. */
const both =
  <N extends Name>(name: N, body: (world: World, number: number) => Operations[N]["input"]): Prepare =>
  ({ next }, world) => {
    const one = body(world, next());
    return { name, bodies: [one, one] };
  };

const token = { description: "of a test", scopes: ["events:read"] } as const;

async function newMember({ services, next }: Pair, role: "member" | "owner"): Promise<string> {
  const email = `member${next()}@example.com`;
  await services[0].person(email, role);
  return email;
}

/** A team of two owners. */
async function twoOwners({ services, next }: Pair) {
  const team = `owned-${next()}`;
  const emails = [`a${next()}@example.com`, `b${next()}@example.com`] as const;
  const tokens = [
    await services[0].person(emails[0], "owner", team),
    await services[0].person(emails[1], "owner", team),
  ] as const;
  return { emails, tokens };
}

/** Rows beyond a row for each operation with the body that it takes. */
const ROWS: Readonly<Record<string, Prepare>> = {
  // Each address only so often.
  start_sign_in: both("start_sign_in", (_, number) => ({ email: `own${number}@example.com`, team_id: "owner" })),
  "a project of the same id": both("add_project", (_, number) => ({ project: { id: `same_${number}`, name: "Same" } })),
  "a project of the same name": both("add_project", (_, number) => ({ project: { name: `Same ${number}` } })),
  "a team of the same id": both("add_team", (_, number) => ({ id: `same-${number}`, name: "Same" })),
  "a team of the same name": both("add_team", (_, number) => ({ id: "", name: `Same ${number}` })),
  "an invite of the same address": both("add_member", (_, number) => ({
    email: `invited${number}@example.com`,
    role: "member",
  })),
  "the removal of an alert": both("remove_alert", ({ project, alert }) => ({ project_id: project, alert_id: alert })),
  "the removal of a search": both("remove_search", ({ project, search }) => ({
    project_id: project,
    search_id: search,
  })),
  "the removal of a notification that an alert uses": both("remove_notification", ({ project, notification }) => ({
    ...{ project_id: project, notification_id: notification },
  })),
  "the removal of a token": async ({ services, owner }) => {
    const { json } = await services[0].call("add_token", { token }, owner);
    const body = { token_id: json.id };
    return { name: "remove_token", bodies: [body, body] };
  },
  "the removal of a token of CI": async ({ services, owner }) => {
    const { json } = await services[0].call("add_ci_token", { name: "build" }, owner);
    const body = { token_id: json.id };
    return { name: "remove_ci_token", bodies: [body, body] };
  },
  "the removal of a member": async (pair) => {
    const body = { email: await newMember(pair, "member") };
    return { name: "remove_member", bodies: [body, body] };
  },
  "another role for a member": async (pair) => {
    const email = await newMember(pair, "member");
    return {
      name: "update_member",
      bodies: [
        { email, role: "admin" },
        { email, role: "member" },
      ],
    };
  },
  "the last two owners of a team, who leave": async (pair) => {
    const { emails, tokens } = await twoOwners(pair);
    return { name: "remove_member", bodies: [{ email: emails[0] }, { email: emails[1] }], tokens };
  },
  "the last two owners of a team, who become members": async (pair) => {
    const { emails, tokens } = await twoOwners(pair);
    const [first, second] = emails.map((email) => ({ email, role: "member" }));
    return { name: "update_member", bodies: [first, second], tokens };
  },
  "the last token that a team may have": async ({ services, next }) => {
    const own = await services[0].person(`full${next()}@example.com`, "owner", `full-${next()}`);
    for (let at = 1; at < MOST_TOKENS; at++) await services[0].call("add_token", { token }, own);
    return { name: "add_token", bodies: [{ token }, { token }], tokens: [own, own] };
  },
  "a search that two apps claim": both("add_search", ({ project }) => ({
    search: { project_id: project, name: "claimed", query: "error", managed_by: "shop" },
  })),
  "a search that is changed and removed": (_, { project, search }) => ({
    name: "update_search",
    bodies: [
      { search: { id: search, project_id: project, name: "one" } },
      { search: { id: search, project_id: project, name: "other" } },
    ],
  }),
  "an alert that is changed twice": (_, { project, alert }) => ({
    name: "update_alert",
    bodies: [
      { alert: { id: alert, project_id: project, threshold: 1 } },
      { alert: { id: alert, project_id: project, threshold: 2 } },
    ],
  }),
};

/** More than the rows add to the team of all others. */
const MOST_TOKENS = 30;

/** A project that is being removed by both is removed by both: the second finds nothing left to remove. */
const ALSO: Readonly<Record<string, readonly number[]>> = { remove_project: [204, 204] };

t.test("two services over the same records", { skip: requiresPostgres() }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "records-races-"));
  // Nobody fetches what the exports would send, so that they keep their places.
  const exports = { exportsPerPerson: 100, exportsPerTeam: 100, exportsAtOnce: 100 };
  const options = { directory, limits: { tokensPerTeam: MOST_TOKENS, requestsPerSecond: 1e6, ...exports } };
  const services = [await startTestService(t, options), await startTestService(t, options)] as const;
  const owner = await services[0].person("ann@example.com", "owner");
  let number = 0;
  const pair: Pair = { services, owner, next: () => ++number };
  const teamOf = async (secret: string) => (await services[0].call("get_account", {}, secret)).json.account?.team_id;
  t.equal(await teamOf(owner), FIRST_TEAM);
  const world = () => makeWorld(services[0], { token: owner, id: `world_${pair.next()}`, mark: `w${pair.next()}` });
  // A team has only so many projects.
  const { project } = await world();
  const bodies = (Object.keys(BODIES) as Name[]).map((name) => [name, both(name, BODIES[name] as never)]);
  const rows: Readonly<Record<string, Prepare>> = { ...Object.fromEntries(bodies), ...ROWS };
  for (const [label, prepare] of Object.entries(rows)) {
    const send = async ({ name, bodies, tokens }: Race, at: 0 | 1) => {
      const secret =
        tokens?.[at] ?? (name === "sign_out" ? await services[0].person("sam@example.com", "member") : owner);
      return (await services[at].call(name, bodies[at], secret)).status;
    };
    const race = await prepare(pair, await world());
    const wanted = [await send(race, 0), await send(race, 1)].sort();
    for (let round = 0; round < 3; round++) {
      const again = await prepare(pair, await world());
      const statuses = (await Promise.all([send(again, 0), send(again, 1)])).sort();
      const isFine = [wanted, ALSO[label]].some((one) => String(one) === String(statuses));
      t.ok(isFine, `${label}: ${statuses.join(" and ")}, wanted ${wanted.join(" and ")}`);
    }
  }
  const order = { project_id: project, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z", format: "ndjson" };
  const { ticket } = (await services[0].call("add_export", order, owner)).json;
  const request = { path: `/export?ticket=${ticket}`, headers: { authorization: `Bearer ${owner}` }, method: "GET" };
  const downloads = await Promise.all([
    services[0].send(request),
    services[1].send(request),
    services[1].send(request),
  ]);
  t.same(downloads.map(({ status }) => status).sort(), [200, 404, 404], "a ticket is good once, at either service");
  const attempts = [];
  for (let at = 0; at < 7; at++)
    attempts.push((await services[at % 2]!.call("start_sign_in", { email: "often@example.com" })).status);
  t.same(attempts, [200, 200, 200, 200, 200, 200, 429], "attempts at both count together");
  const same = { token: { description: "once", scopes: ["events:read"] } };
  const browser = await services[0].person("browser@example.com", "owner").then(async () => {
    const user = await userOf(services[0].records.db, "browser@example.com");
    const of = { device: "a test", address: "127.0.0.1", nowMs: systemClock.nowMs() };
    return openSession(services[0].records.db, user!, of);
  });
  const repeated = await Promise.all(
    [0, 1, 1, 0].map((at) => {
      const { running } = services[at]!;
      const cookie = `tool_session_${running.port}=${browser}`;
      const headers = { "idempotency-key": "once", "content-type": "application/json", cookie, origin: running.url };
      return services[at]!.send({ path: "/add_token", headers, body: JSON.stringify(same) });
    }),
  );
  // One that waits for the other service for five seconds is told to look.
  const answers = new Set(
    repeated.filter(({ status }) => status !== 503).map(({ status, text }) => `${status} ${text}`),
  );
  t.match([...answers], [/^200 /], "a request of a browser that comes to both runs once");
  t.equal(answers.size, 1, "and is answered alike");
  const { tokens } = (await services[0].call("get_tokens", {}, owner)).json as Operations["get_tokens"]["output"];
  t.equal(tokens.filter(({ description }) => description === "once").length, 1);
  for (const { logged } of services) t.same(logged, [], "nothing failed");
});
