// Two teams on one service, each with a project `api`: what one does, it does to its own alone.

import t from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import { MAX_REFUSALS, Refusals } from "../../../logservice/access/refusals.ts";
import { newToken } from "../../../logservice/access/token.ts";
import { addToken } from "../../../logservice/access/tokens.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import type { Records } from "../../../logservice/records/open.ts";
import type { Tables } from "../../../logservice/records/tables.ts";
import type { Scope } from "../../../schema/rpc.generated.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";
import { ask, bearer, type Credential, ciToken, ingest, openTail, session } from "../../support/credentials.ts";
import { BODIES, makeWorld, type Name, type World } from "../../support/operation-bodies.ts";
import { SCOPES, startTestService, type TestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const OURS = "owner";
const THEIRS = "theirs";

/** All that a team has, with ways to ask for it. */
interface Side {
  readonly team: string;
  readonly mark: string;
  readonly world: World;
  /** A project of an id that only this team has. */
  readonly only: string;
  readonly tokenId: string;
  readonly ciTokenId: string;
  readonly member: string;
  readonly invited: string;
  readonly inviteLink: string;
  readonly askers: Readonly<Record<"token" | "ci" | "command" | "session", Credential>>;
}

async function makeSide(service: TestService, team: string, mark: string): Promise<Side> {
  const owner = `owner@${mark}.example.com`;
  const command = await service.person(owner, "owner", team);
  const now = new Date().toISOString();
  const api = await addToken(service.records.db, { team, scopes: SCOPES, description: mark }, now);
  const ci = await ciToken(service, team);
  const world = await makeWorld(service, { token: command, id: "api", mark });
  const { project: only } = await makeWorld(service, { token: command, id: `only-${mark}`, mark });
  const [member, invited] = [`member@${mark}.example.com`, `invited@${mark}.example.com`];
  await service.person(member, "member", team);
  const inviteLink = (await service.call("add_member", { email: invited }, command)).json.link.split("/").at(-1);
  const askers = {
    token: bearer(api.secret),
    ci: bearer(ci.secret),
    command: bearer(command),
    session: await session(service, owner),
  };
  return { team, mark, world, only, tokenId: api.id, ciTokenId: ci.id, member, invited, inviteLink, askers };
}

async function twoTeams(service: TestService): Promise<readonly [ours: Side, theirs: Side]> {
  return [await makeSide(service, OURS, "pear"), await makeSide(service, THEIRS, "plum")];
}

const OF_TEAMS = ["projects", "alerts", "notifications", "searches", "tokens", "memberships", "invites"] as const;

/** All records of a team, but for when its tokens were used. */
async function recordsOf({ db }: Records, team: string): Promise<unknown> {
  const all: Partial<Record<keyof Tables, unknown>> = {};
  for (const table of OF_TEAMS) {
    const rows = await db.selectFrom(table).selectAll().where("team_id", "=", team).execute();
    all[table] = rows.map((row) => ({ ...row, last_used_at: undefined }));
  }
  return { ...all, team: await db.selectFrom("teams").selectAll().where("id", "=", team).execute() };
}

/** A request for something of the other team by its id: the body, and the status of the answer to it. */
type Foreign = (own: Side, other: Side) => readonly [body: unknown, status: number];

/** A body with the id of a record of the other team in one's own project of the same id. */
const inOwnProject =
  (name: Name, status: number): Foreign =>
  (_, other) => [BODIES[name](other.world), status];

/** A body about a project that only the other team has. */
const inTheirProject =
  (name: Name, status = 404): Foreign =>
  (own, other) => [BODIES[name]({ ...own.world, project: other.only }), status];

const foreignCall = (body: (other: Side) => unknown, status: number): Foreign => {
  return (_, other) => [body(other), status];
};

/**
 * Every operation with the ids of the other team. 200 is for lists that must show nothing of it. None of them speaks of
 * anything of another team if the operation takes no id of a team's record.
 */
const FOREIGN: { readonly [N in Name]: readonly Foreign[] | "takes no id" } = {
  get_projects: "takes no id",
  add_project: "takes no id",
  update_project: [inTheirProject("update_project")],
  remove_project: [inTheirProject("remove_project")],
  get_project_stats: [inTheirProject("get_project_stats")],
  get_usage: [inTheirProject("get_usage"), () => [{}, 200]],
  add_events: [inTheirProject("add_events")],
  search: [inTheirProject("search")],
  get_count: [inTheirProject("get_count")],
  get_timeseries: [inTheirProject("get_timeseries")],
  get_level_timeseries: [inTheirProject("get_level_timeseries")],
  aggregate: [inTheirProject("aggregate")],
  add_export: [inTheirProject("add_export")],
  query: [inTheirProject("query")],
  get_discovered_fields: [inTheirProject("get_discovered_fields")],
  get_string_field_stats: [inTheirProject("get_string_field_stats")],
  get_boolean_field_stats: [inTheirProject("get_boolean_field_stats")],
  get_numeric_field_stats: [inTheirProject("get_numeric_field_stats")],
  get_alerts: [inTheirProject("get_alerts"), inOwnProject("get_alerts", 200)],
  get_alert: [inTheirProject("get_alert"), inOwnProject("get_alert", 404)],
  // The notification is theirs: as if it were not there.
  add_alert: [inTheirProject("add_alert"), inOwnProject("add_alert", 400)],
  update_alert: [
    inTheirProject("update_alert"),
    inOwnProject("update_alert", 404),
    (own, other) => {
      return [{ alert: { id: own.world.alert, project_id: "api", notification_id: other.world.notification } }, 400];
    },
  ],
  remove_alert: [inTheirProject("remove_alert"), inOwnProject("remove_alert", 404)],
  test_alert: [inTheirProject("test_alert"), inOwnProject("test_alert", 400)],
  // A replay tells nobody, so it does not look at the notification.
  preview_alert: [inTheirProject("preview_alert"), inOwnProject("preview_alert", 200)],
  get_alert_episodes: [inTheirProject("get_alert_episodes"), inOwnProject("get_alert_episodes", 200)],
  get_notifications: [inTheirProject("get_notifications"), inOwnProject("get_notifications", 200)],
  get_notification: [inTheirProject("get_notification"), inOwnProject("get_notification", 404)],
  add_notification: [inTheirProject("add_notification")],
  check_notification: [inTheirProject("check_notification"), inOwnProject("check_notification", 404)],
  update_notification: [inTheirProject("update_notification"), inOwnProject("update_notification", 404)],
  remove_notification: [inTheirProject("remove_notification"), inOwnProject("remove_notification", 404)],
  get_deliveries: [inTheirProject("get_deliveries"), inOwnProject("get_deliveries", 200)],
  retry_delivery: [inTheirProject("retry_delivery"), inOwnProject("retry_delivery", 404)],
  rotate_webhook_secret: [inTheirProject("rotate_webhook_secret"), inOwnProject("rotate_webhook_secret", 404)],
  confirm_notification: [inTheirProject("confirm_notification"), inOwnProject("confirm_notification", 404)],
  get_searches: [inTheirProject("get_searches"), inOwnProject("get_searches", 200)],
  add_search: [inTheirProject("add_search")],
  update_search: [inTheirProject("update_search"), inOwnProject("update_search", 404)],
  remove_search: [inTheirProject("remove_search"), inOwnProject("remove_search", 404)],
  get_tokens: "takes no id",
  add_token: "takes no id",
  remove_token: [
    foreignCall(({ tokenId }) => ({ token_id: tokenId }), 404),
    foreignCall(({ ciTokenId }) => ({ token_id: ciTokenId }), 404),
    // One's own, but of the other kind.
    ({ ciTokenId }) => [{ token_id: ciTokenId }, 404],
    foreignCall(({ askers }) => ({ token_id: askers.token.authorization!.slice("Bearer ".length) }), 404),
  ],
  get_audit: [inTheirProject("get_audit", 200), inOwnProject("get_audit", 200)],
  get_instance_config: "takes no id",
  start_sign_in: "takes no id",
  poll_sign_in: "takes no id",
  confirm_sign_in: "takes no id",
  sign_out: "takes no id",
  get_account: "takes no id",
  get_teams: "takes no id",
  add_team: [foreignCall(({ team }) => ({ id: team, name: "Mine now" }), 409)],
  update_team: [foreignCall(({ team }) => ({ team_id: team, name: "Renamed" }), 404)],
  remove_team: [foreignCall(({ team }) => ({ team_id: team }), 404)],
  get_subscription: "takes no id",
  add_subscription: "takes no id",
  change_card: "takes no id",
  remove_subscription: "takes no id",
  get_members: "takes no id",
  add_member: "takes no id",
  add_member_link: [foreignCall(({ member }) => ({ email: member }), 404)],
  // Bound to the address.
  accept_invite: [foreignCall(({ inviteLink }) => ({ invite: inviteLink }), 403)],
  update_member: [foreignCall(({ member }) => ({ email: member, role: "member" }), 404)],
  remove_member: [
    foreignCall(({ member }) => ({ email: member, tokens: true }), 404),
    foreignCall(({ invited }) => ({ email: invited }), 404),
  ],
  get_ci_tokens: "takes no id",
  add_ci_token: "takes no id",
  remove_ci_token: [
    foreignCall(({ ciTokenId }) => ({ token_id: ciTokenId }), 404),
    foreignCall(({ tokenId }) => ({ token_id: tokenId }), 404),
    ({ tokenId }) => [{ token_id: tokenId }, 404],
  ],
};

/** Whether an operation is for this asker at all; test/logservice/service-matrix.test.ts has the refusals. */
function isFor(name: Name, asker: string): boolean {
  const { scope } = rpcSchema.operations[name]!;
  if (asker === "ci") return scope === "projects:read" || scope === "events:write";
  return asker !== "token" || SCOPES.includes(scope as Scope);
}

t.test("ids of the other team", async (t) => {
  const service = await startTestService(t);
  const sides = await twoTeams(service);
  for (const [own, other] of [sides, [...sides].reverse()] as [Side, Side][]) {
    const before = await recordsOf(service.records, other.team);
    for (const [name, foreign] of Object.entries(FOREIGN) as [Name, readonly Foreign[]][]) {
      if (!Array.isArray(foreign)) continue;
      for (const [title, credential] of Object.entries(own.askers)) {
        if (!isFor(name, title)) continue;
        for (const one of foreign) {
          const [body, status] = one(own, other);
          const answer = await ask(service, name, body, credential);
          const what = `${own.mark}, ${title}: ${name} ${JSON.stringify(body)}: ${answer.text}`;
          t.equal(answer.status, status, what);
          if (status === 200) t.notMatch(answer.text, other.mark, what);
        }
      }
    }
    t.same(await recordsOf(service.records, other.team), before, "nothing of the other team has changed");
  }
});

t.test("lists show one's own", async (t) => {
  const service = await startTestService(t);
  const sides = await twoTeams(service);
  const lists: readonly [name: Name, ids: (side: Side) => readonly string[]][] = [
    ["get_projects", ({ only }) => ["api", only]],
    ["get_tokens", ({ tokenId }) => [tokenId]],
    ["get_ci_tokens", ({ ciTokenId }) => [ciTokenId]],
    ["get_alerts", ({ world }) => [world.alert]],
    ["get_notifications", ({ world }) => [world.notification]],
    ["get_searches", ({ world }) => [world.search]],
  ];
  for (const [own, other] of [sides, [...sides].reverse()] as [Side, Side][]) {
    for (const credential of [own.askers.command, own.askers.session]) {
      for (const [name, ids] of lists) {
        const { json, text } = await ask(service, name, { project_id: "api" }, credential);
        const [list] = Object.values(json) as { id: string; description: string }[][];
        // The token of the test itself is of the first team.
        const visibleRows = list!.filter(
          ({ id }) => ids(own).includes(id) || own.team !== OURS || name !== "get_tokens",
        );
        t.same(visibleRows.map(({ id }) => id).sort(), [...ids(own)].sort(), name);
        t.notMatch(text, other.mark, name);
      }
      const { members } = (await ask(service, "get_members", {}, credential)).json;
      t.same(
        members.map(({ email }: { email: string }) => email),
        [own.invited, own.member, `owner@${own.mark}.example.com`],
      );
      const audit = (await ask(service, "get_audit", {}, credential)).text;
      t.match(audit, own.world.alert);
      for (const word of [other.mark, other.world.alert]) t.notMatch(audit, word);
      const account = (await ask(service, "get_account", {}, credential)).json.account;
      t.match(account, { team_id: own.team, role: "owner", teams: [{ id: own.team }] });
      t.equal(account.teams.length, 1);
      t.equal((await ask(service, "get_instance_config", {}, credential)).json.config.team_id, own.team);
    }
  }
});

const RANGE = { project_id: "api", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`events of the project that both have (${engine})`, async (t) => {
    const service = await startTestService(t, { engine });
    const sides = await twoTeams(service);
    const asks: readonly (readonly [name: Name, body: object])[] = [
      ["search", {}],
      ["aggregate", { query: "error | count by path" }],
      ["get_discovered_fields", {}],
      ["get_string_field_stats", { field: "path" }],
      ["get_string_field_stats", { field: "message" }],
      ["get_project_stats", {}],
      ["get_usage", {}],
      // The oracle has no SQL.
      ...(engine === "duckdb" ? [["query", { query: "SELECT message, fields FROM events" }] as const] : []),
    ];
    // One has an event more, so that counts differ.
    const more = {
      project_id: "api",
      events: [{ level: "error", message: "plum too", fields: { status: 7, ok: true } }],
    };
    t.equal((await ask(service, "add_events", more, sides[1].askers.ci)).status, 204);
    const rows = [
      { side: sides[0], count: 1, min: 500, ok: ["false"] },
      { side: sides[1], count: 2, min: 7, ok: ["false", "true"] },
    ];
    for (const [at, { side, count, min, ok }] of rows.entries()) {
      const other = rows[1 - at]!.side;
      for (const [title, credential] of Object.entries(side.askers)) {
        if (title === "ci") continue;
        const answer = async (name: Name, body: object = {}) => {
          const got = await ask(service, name, { ...RANGE, ...body }, credential);
          t.equal(got.status, 200, `${name}: ${got.text}`);
          t.notMatch(got.text, other.mark, `${title}: ${name}`);
          return got.json;
        };
        for (const [name, body] of asks) await answer(name, body);
        t.equal((await answer("search")).events.length, count);
        t.equal((await answer("get_count")).count, count);
        t.equal((await answer("get_numeric_field_stats", { field: "status" })).min, min);
        const { values } = await answer("get_boolean_field_stats", { field: "ok" });
        t.same(values.map(({ value }: { value: unknown }) => String(value)).sort(), ok);
        const total = (points: { count: number }[]) => points.reduce((sum, one) => sum + one.count, 0);
        t.equal(total((await answer("get_timeseries", { max_points: 5 })).points), count);
        t.equal(total((await answer("get_level_timeseries", { max_points: 5 })).points), count);
        t.equal((await answer("get_project_stats")).events_total, count);
        if (engine === "duckdb")
          t.same((await answer("query", { query: "SELECT count(*)::int AS n FROM events" })).results, [{ n: count }]);
      }
    }
    const [ours, theirs] = sides;
    const projects = Object.keys(await countsOf(service, sides));
    t.same(projects, [ours.team, theirs.team]);

    // The same ids and the same Idempotency-Key with another body.
    for (const side of sides) {
      const body = { project_id: "api", events: [{ id: "same", level: "info", message: `${side.mark} same` }] };
      const headers = { ...side.askers.token, "idempotency-key": "same" };
      t.equal((await ask(service, "add_events", body, headers)).status, 204, "no conflict");
      const matches = (await ask(service, "search", { ...RANGE, query: "message ~ /same/" }, side.askers.token)).json
        .events;
      t.same(
        matches.map(({ message }: { message: string }) => message),
        [`${side.mark} same`],
      );
    }

    // A cursor of one in a question of the other.
    for (let i = 0; i < 3; i++) {
      for (const { mark, askers } of sides) await ingest(service, "api", `${mark} line`, askers.ci);
    }
    const page = (side: Side, cursor?: string) =>
      ask(service, "search", { ...RANGE, limit: 2, ...(cursor !== undefined && { cursor }) }, side.askers.token);
    const { cursor } = (await page(theirs)).json;
    t.type(cursor, "string");
    t.notMatch((await page(ours, cursor)).text, theirs.mark);
    const audit = (side: Side, cursor?: string) =>
      ask(service, "get_audit", { limit: 2, ...(cursor !== undefined && { cursor }) }, side.askers.command);
    const next = (await audit(theirs)).json.cursor;
    t.type(next, "string");
    const ourPage = await audit(ours, next);
    t.equal(ourPage.status, 200);
    for (const word of [theirs.mark, theirs.world.alert]) t.notMatch(ourPage.text, word);

    // A tail.
    const tails = [
      await openTail(service, "api", ours.askers.session),
      await openTail(service, "api", theirs.askers.token),
    ];
    t.teardown(() => {
      for (const tail of tails) tail.close();
    });
    for (const { mark, askers } of sides) await ingest(service, "api", `${mark} now`, askers.ci);
    for (const [at, { mark }] of sides.entries()) {
      await until("the event", () => tails[at]!.text().includes(`${mark} now`));
      t.notMatch(tails[at]!.text(), sides[1 - at]!.mark);
    }
    const foreignTail = await openTail(service, theirs.only, ours.askers.token);
    t.equal(foreignTail.status, 404);
    t.equal((await ingest(service, theirs.only, "a line", ours.askers.token)).status, 404);

    // Retention, then removal.
    const before = await countsOf(service, sides);
    const old = { id: "old", timestamp: new Date(Date.now() - 5 * 86_400_000).toISOString(), message: "old" };
    for (const side of sides)
      await ask(service, "add_events", { project_id: "api", events: [{ ...old, level: "info" }] }, side.askers.token);
    const keepDay = { project: { id: "api", retention: 1 } };
    t.equal((await ask(service, "update_project", keepDay, theirs.askers.command)).status, 204);
    // The oracle keeps everything.
    const kept = engine === "duckdb" ? 0 : 1;
    t.same(await countsOf(service, sides), { [OURS]: before[OURS]! + 1, [THEIRS]: before[THEIRS]! + kept });
    t.equal((await ask(service, "remove_project", { project_id: "api" }, theirs.askers.command)).status, 204);
    t.equal((await ask(service, "get_count", RANGE, theirs.askers.command)).status, 404);
    t.equal((await ask(service, "get_count", RANGE, ours.askers.token)).json.count, before[OURS]! + 1);
    t.notOk(tails[0]!.isEnded(), "our tail goes on");
    const again = { project: { id: "api", name: "Again" } };
    t.equal((await ask(service, "add_project", again, theirs.askers.command)).status, 200);
    t.equal((await ask(service, "get_count", RANGE, theirs.askers.command)).json.count, 0, "a new one begins empty");
    t.same(service.logged, []);
  });
}

async function countsOf(service: TestService, sides: readonly Side[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { team, askers } of sides)
    counts[team] = (await ask(service, "get_count", RANGE, askers.token)).json.count;
  return counts;
}

interface Entry {
  readonly actor: string;
  readonly operation: string;
  readonly result: string;
}

t.test("refusals are in the audit of the right team alone", async (t) => {
  const service = await startTestService(t);
  const [ours, theirs] = await twoTeams(service);
  const refusals = async ({ askers }: Side) => {
    const { entries } = (await ask(service, "get_audit", { limit: 1_000 }, askers.command)).json;
    return (entries as Entry[])
      .filter(({ result }) => result !== "done")
      .map(({ actor, operation, result }) => `${actor} ${operation} ${result}`)
      .reverse();
  };
  await service.person("two@example.com", "member");
  await service.person("two@example.com", "member", THEIRS);
  const two = await session(service, "two@example.com");
  const asks: readonly [name: Name, credential: Credential, seenBy: Side, entry: string][] = [
    ["get_tokens", ours.askers.ci, ours, `${ours.ciTokenId} get_tokens forbidden`],
    ["get_tokens", theirs.askers.ci, theirs, `${theirs.ciTokenId} get_tokens forbidden`],
    ["get_members", theirs.askers.token, theirs, `${theirs.tokenId} get_members forbidden`],
    ["add_ci_token", { ...two, "x-team": OURS }, ours, "two@example.com add_ci_token forbidden"],
    ["add_ci_token", { ...two, "x-team": THEIRS }, theirs, "two@example.com add_ci_token forbidden"],
    // A token is of its own team, whatever the request names.
    ["get_alerts", { ...theirs.askers.token, "x-team": OURS }, theirs, `${theirs.tokenId} get_alerts forbidden`],
    ["search", bearer(newToken()), ours, " search unauthorized"],
    ["get_count", {}, ours, " get_count unauthorized"],
  ];
  const expected = { [OURS]: [] as string[], [THEIRS]: [] as string[] };
  for (const [name, credential, seenBy, entry] of asks) {
    const { status, text } = await ask(service, name, {}, credential);
    t.ok(status === 401 || status === 403, `${entry}: ${text}`);
    expected[seenBy.team as typeof OURS]!.push(entry);
  }
  t.same(await refusals(ours), expected[OURS]);
  t.same(await refusals(theirs), expected[THEIRS]);
});

t.test("many refusals of one team do not hide those of another", async (t) => {
  const service = await startTestService(t);
  const refusals = new Refusals(service.records.db, systemClock, (error) => t.fail(String(error)));
  const note = (team_id: string, actor: string) =>
    refusals.note({ team_id, actor, address: "127.0.0.1", operation: "search" }, "forbidden");
  for (let i = 0; i <= MAX_REFUSALS; i++) await note("a", `tok_${i}`);
  await note("b", "tok_b");
  await note("", "");
  const rows = await service.records.db.selectFrom("audit").select("team_id").execute();
  const countOf = (team: string) => rows.filter(({ team_id }) => team_id === team).length;
  t.same(["a", "b", ""].map(countOf), [MAX_REFUSALS, 1, 1]);
});

t.test("limits do not count across teams", async (t) => {
  const service = await startTestService(t, {
    limits: { tailsPerToken: 1, requestsPerSecond: 1, requestBurst: 8, holdMs: 1 },
  });
  const now = new Date().toISOString();
  const askers: Credential[] = [];
  for (const team of [OURS, THEIRS]) {
    await service.person(`owner@${team}.example.com`, "owner", team);
    const { secret } = await addToken(service.records.db, { team, scopes: SCOPES }, now);
    askers.push(bearer(secret));
    t.equal((await ask(service, "add_project", { project: { id: "api", name: "api" } }, askers.at(-1)!)).status, 200);
  }
  const tails = [];
  for (const [at, expected] of [
    [0, 200],
    [0, 429],
    [1, 200],
  ] as const) {
    const tail = await openTail(service, "api", askers[at]!);
    tails.push(tail);
    t.equal(tail.status, expected);
  }
  for (const tail of tails) tail.close();
  const count = (at: number) => ask(service, "get_count", RANGE, askers[at]!);
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await count(0)).status);
  t.ok(statuses.includes(429), `${statuses}`);
  t.equal((await count(1)).status, 200);
});

t.test("queries that run do not count across teams", async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let running = 0;
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    async count(request) {
      running++;
      await released;
      return events.count(request);
    },
  });
  const limits = { queriesPerToken: 1, queriesWaitingPerToken: 0 };
  const service = await startTestService(t, { limits, around });
  const askers: Credential[] = [];
  for (const team of [OURS, THEIRS]) {
    askers.push(bearer(await service.person(`owner@${team}.example.com`, "owner", team)));
    await ask(service, "add_project", { project: { id: "api", name: "api" } }, askers.at(-1)!);
  }
  const count = (at: number) => ask(service, "get_count", RANGE, askers[at]!);
  const ours = count(0);
  await until("our query", () => running === 1);
  t.equal((await count(0)).status, 429);
  const theirs = count(1);
  await until("their query", () => running === 2);
  release();
  t.same([(await ours).status, (await theirs).status], [200, 200]);
});

t.test("the id of a removed team does not show what it did", async (t) => {
  const service = await startTestService(t);
  const owner = bearer(await service.person("ann@example.com", "owner", "gone"));
  await ask(service, "add_ci_token", { name: "a secret plan" }, owner);
  t.equal((await ask(service, "remove_team", { team_id: "gone" }, owner)).status, 204);
  await service.person("eve@example.com", "member");
  const eve = await session(service, "eve@example.com");
  const added = await ask(service, "add_team", { id: "gone", name: "Mine now" }, eve);
  t.equal(added.status, 409, added.text);
  const named = await ask(service, "add_team", { name: "Gone" }, eve);
  t.equal(named.json.id, "gone-2", "one made of the name is another one");
});
