// Members who are removed, or whose role changes: what ends, when, and what they cannot do on the way; and who may not
// remove or raise whom.
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { NOBODY } from "../../../logservice/access/grant.ts";
import { OpenExchanges } from "../../../logservice/access/open-exchanges.ts";
import { inviteOfLink } from "../../../logservice/account/invites.ts";
import { copyDataDirectory } from "../../../logservice/admin.ts";
import type { Role } from "../../../logservice/records/tables.ts";
import { ask, bearer, type Credential, ciToken, type OpenTail, openTail, session } from "../../support/credentials.ts";
import { holdNext } from "../../support/held-records.ts";
import { makeWorld, type Name } from "../../support/operation-bodies.ts";
import { openTestRecords, requiresFile } from "../../support/records.ts";
import { SCOPES, startTestService, type TestService } from "../../support/service.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const FIRST = "owner";
const OTHER = "other";
/** Takes longer than the test. */
const SLOW_SQL = "select count(*) from range(1000000) a, range(1000000) b";

/** A service whose teams both have a project `api`, and its owners. */
async function start(t: Test, engine: "oracle" | "duckdb" = "oracle") {
  const clock = new TestClock(Date.now());
  const service = await startTestService(t, { engine, clock });
  const owner = bearer(await service.person("olga@example.com", "owner"));
  const other = bearer(await service.person("otto@example.com", "owner", OTHER));
  const project = { project: { id: "api", name: "api" } };
  for (const credential of [owner, other])
    t.equal((await ask(service, "add_project", project, credential)).status, 200);
  return { service, clock, owner, other };
}

/** Both credentials of a person in a team. */
async function credentialsOf(service: TestService, email: string, role: Role, team?: string) {
  const command = bearer(await service.person(email, role, team));
  return { command, cookie: await session(service, email) };
}

async function tailOf(t: Test, service: TestService, credential: Credential): Promise<OpenTail> {
  const tail = await openTail(service, "api", credential);
  t.teardown(() => tail.close());
  t.equal(tail.status, 200, tail.text());
  return tail;
}

/** A request of which half the body was sent; resolves with the answer when it comes. */
function halfRequest(t: Test, { running }: TestService, credential: Credential): Promise<string> {
  const socket = connect(running.port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  const headers = { ...credential, host: `127.0.0.1:${running.port}`, "content-type": "application/json" };
  const lines = Object.entries({ ...headers, "content-length": "99" }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /add_events HTTP/1.1\r\n${lines.join("")}\r\n{`);
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("error", reject);
    socket.on("data", (part) => {
      text += part;
      if (text.endsWith("}")) resolve(text);
    });
  });
}

/** How often the service looks for what other processes have changed. */
const WATCH_MS = 500;

/** Waits for the end and checks that it came in time: the clock is turned only so far that a change by another process is seen. */
async function ends(t: Test, clock: TestClock, what: string, ended: Promise<unknown>): Promise<void> {
  await ended;
  const tookMs = clock.monotonicMs();
  t.ok(tookMs <= WATCH_MS, `${what} ended after ${tookMs} ms`);
}

const endOf = (tail: OpenTail) => until("the end of the tail", () => tail.isEnded());

/** Resolves when so many bytes of requests under way have come: one of each half, and the bodies of what is being answered. */
async function received(service: TestService, bytes: number): Promise<void> {
  const metrics = async () => (await service.send({ method: "GET", path: "/metrics" })).text;
  await until("the requests", async () => (await metrics()).includes(`logservice_body_bytes_in_flight ${bytes}\n`));
}

const isOver = async (service: TestService, credential: Credential) =>
  (await ask(service, "get_alerts", { project_id: "api" }, credential)).status;

/** Any time: nothing of these tests is in the records. */
const NOW = Date.parse("2026-11-29T12:00:00Z");

t.test("a request that begins while those of removed tokens are looked for goes on", async (t) => {
  const { records } = await startTestService(t);
  const exchanges = new OpenExchanges();
  const looking = exchanges.endRemoved(records.db, NOW);
  const ended: string[] = [];
  const exchange = exchanges.open("hash of a token", ({ message }) => ended.push(message));
  await looking;
  t.same(ended, []);
  await exchanges.endRemoved(records.db, NOW);
  t.same(ended, [], "its own lookup says what is wrong with its token");
  await exchanges.grant(exchange, async () => NOBODY);
  await exchanges.endRemoved(records.db, NOW);
  t.same(ended, ["this token or session has ended"], "the next look finds what was granted");
});

t.test("a lookup is made again after a change, not for each look that would come anyway", async (t) => {
  const { records } = await startTestService(t);
  const exchanges = new OpenExchanges();
  const lookUps = async (isChange: boolean) => {
    const exchange = exchanges.open("hash of a token", () => {});
    let count = 0;
    await exchanges.grant(exchange, async () => {
      // The third one has none during it.
      if (++count < 3) await exchanges.endRemoved(records.db, NOW, isChange);
      return NOBODY;
    });
    return count;
  };
  t.equal(await lookUps(true), 3);
  t.equal(await lookUps(false), 1);
});

type Remove = (
  at: { readonly service: TestService; readonly clock: TestClock },
  owner: Credential,
  email: string,
) => Promise<void>;

const WAYS: Readonly<Record<string, Remove>> = {
  "by remove_member": async ({ service }, owner, email) => {
    await ask(service, "remove_member", { email }, owner);
  },
  "by another process": async ({ service, clock }, _, email) => {
    const records = await openTestRecords(service.directory);
    const user = records.db.selectFrom("users").select("id").where("email", "=", email);
    await records.db.deleteFrom("memberships").where("team_id", "=", FIRST).where("user_id", "in", user).execute();
    await records.close();
    await clock.advance(WATCH_MS);
  },
};

for (const [way, remove] of Object.entries(WAYS)) {
  t.test(`a removed member's tails, queries and waiting requests end (${way})`, async (t) => {
    const { service, clock, owner } = await start(t, "duckdb");
    const { command, cookie } = await credentialsOf(service, "ann@example.com", "member");
    const bob = await credentialsOf(service, "bob@example.com", "member");
    const tails = [await tailOf(t, service, command), await tailOf(t, service, cookie)];
    const others = await tailOf(t, service, bob.cookie);
    const query = { project_id: "api", query: SLOW_SQL };
    const queries = [command, cookie].map((one) => ask(service, "query", query, one));
    const halves = [command, cookie].map((one) => halfRequest(t, service, one));
    let isAnswered = false;
    for (const one of [...queries, ...halves]) void (one as Promise<unknown>).then(() => (isAnswered = true));
    await received(service, 2 * JSON.stringify(query).length + 2);
    t.notOk(isAnswered, "all wait");
    await remove({ service, clock }, owner, "ann@example.com");
    for (const one of queries)
      await ends(
        t,
        clock,
        "the query",
        one.then(({ status }) => t.equal(status, 401)),
      );
    for (const one of halves)
      await ends(
        t,
        clock,
        "half a request",
        one.then((text) => t.match(text, /^HTTP\/1\.1 401 /)),
      );
    for (const tail of tails) {
      await ends(t, clock, "the tail", endOf(tail));
      t.match(tail.text(), /\nevent: error\ndata: \{"type":"unauthorized","message":"/);
      if (way === "by remove_member") t.match(tail.text(), '"message":"you were removed from this team"');
    }
    for (const one of [command, cookie]) t.notSame(await isOver(service, one), 200);
    t.notOk(others.isEnded(), "that of another member goes on");
    t.equal(await isOver(service, bob.cookie), 200);
    t.same(service.logged, []);
  });

  t.test(`a person of two teams who is removed from one keeps the other (${way})`, async (t) => {
    const { service, clock, owner } = await start(t);
    await service.person("ann@example.com", "admin");
    const kept = bearer(await service.person("ann@example.com", "member", OTHER));
    const cookie = await session(service, "ann@example.com");
    const first = { ...cookie, "x-team": FIRST };
    const other = { ...cookie, "x-team": OTHER };
    const tail = await tailOf(t, service, first);
    // Browsers send no headers of ours with a stream of events.
    const inAddress = await openTail(service, `api&team=${OTHER}`, cookie);
    t.teardown(() => inAddress.close());
    t.equal(inAddress.status, 200, inAddress.text());
    const others = [await tailOf(t, service, other), await tailOf(t, service, kept), inAddress];
    await remove({ service, clock }, owner, "ann@example.com");
    await ends(t, clock, "the tail", endOf(tail));
    for (const one of others) t.notOk(one.isEnded(), "that of the other team goes on");
    t.equal(await isOver(service, first), 403);
    for (const one of [other, kept, cookie]) t.equal(await isOver(service, one), 200);
    const { account } = (await ask(service, "get_account", {}, cookie)).json;
    t.same([account.team_id, account.role], [OTHER, "member"]);
  });
}

t.test("sign_out ends what is open by that session or token alone", async (t) => {
  const { service, clock } = await start(t);
  const { command, cookie } = await credentialsOf(service, "ann@example.com", "member");
  const second = await session(service, "ann@example.com");
  for (const [one, left] of [
    [cookie, [command, second]],
    [command, [second]],
  ] as const) {
    const tail = await tailOf(t, service, one);
    const others = await Promise.all(left.map((other) => tailOf(t, service, other)));
    const half = halfRequest(t, service, one);
    await received(service, 1);
    const { status, headers } = await ask(service, "sign_out", {}, one);
    t.equal(status, 204);
    // A browser that keeps the cookie would be told that the session has ended by something else.
    t.equal(/^[^=]+=; .*Max-Age=0/.test(headers["set-cookie"]?.[0] ?? ""), one === cookie);
    await ends(t, clock, "the tail", endOf(tail));
    t.match(await half, /^HTTP\/1\.1 401 [\s\S]*you signed out/);
    t.equal(await isOver(service, one), 401);
    for (const other of others) t.notOk(other.isEnded());
    for (const other of left) t.equal(await isOver(service, other), 200);
  }
});

t.test("remove_ci_token and remove_team end what is open", async (t) => {
  const { service, owner } = await start(t);
  const ci = await ciToken(service, FIRST);
  const upload = halfRequest(t, service, bearer(ci.secret));
  const { command, cookie } = await credentialsOf(service, "ann@example.com", "owner", "small");
  const program = bearer((await ciToken(service, "small")).secret);
  const uploads = [command, cookie, program].map((one) => halfRequest(t, service, one));
  await received(service, 4);
  t.equal((await ask(service, "remove_ci_token", { token_id: ci.id }, owner)).status, 204);
  t.match(await upload, /^HTTP\/1\.1 401 [\s\S]*this token was removed/);
  t.equal((await ask(service, "remove_team", { team_id: "small" }, command)).status, 204);
  for (const one of uploads) t.match(await one, /^HTTP\/1\.1 401 [\s\S]*this team was removed/);
  // The person is in no team any more, and could otherwise add one.
  for (const one of [command, program, cookie]) t.equal((await ask(service, "get_account", {}, one)).status, 401);
});

t.test("a new role holds from the next request", async (t) => {
  const { service, owner } = await start(t);
  const { command, cookie } = await credentialsOf(service, "ann@example.com", "member");
  for (const [role, status] of [
    ["admin", 200],
    ["member", 403],
    ["owner", 200],
    ["member", 403],
  ] as const) {
    t.equal((await ask(service, "update_member", { email: "ann@example.com", role }, owner)).status, 200);
    for (const one of [command, cookie]) t.equal((await ask(service, "get_ci_tokens", {}, one)).status, status, role);
  }
});

t.test("a removal while the credential is looked up", async (t) => {
  const { service, owner } = await start(t);
  for (const kind of ["command", "cookie"] as const) {
    for (const name of ["get_alerts", "tail"] as const) {
      const email = `${kind}.${name}@example.com`;
      const credential = (await credentialsOf(service, email, "member"))[kind];
      const held = holdNext(service, "users");
      const pending =
        name === "tail" ? openTail(service, "api", credential) : ask(service, name, { project_id: "api" }, credential);
      await held.reached;
      const removal = await ask(service, "remove_member", { email }, owner);
      t.equal(removal.status, 200, removal.text);
      held.release();
      t.equal((await pending).status, 401, `${kind}: ${name}`);
    }
  }
});

t.test("a removal by another process while the credential is looked up", async (t) => {
  const { service, clock, owner } = await start(t);
  const { cookie } = await credentialsOf(service, "ann@example.com", "member");
  const held = holdNext(service, "users");
  const pending = openTail(service, "api", cookie);
  await held.reached;
  await WAYS["by another process"]!({ service, clock }, owner, "ann@example.com");
  held.release();
  await ends(t, clock, "the tail", endOf(await pending));
});

t.test("a removal after the credential was looked up, before a tail begins", async (t) => {
  const { service, clock, owner } = await start(t);
  const { command } = await credentialsOf(service, "ann@example.com", "member");
  const token = await service.token(["events:read"]);
  const rows = [
    [command, "projects", "remove_member", { email: "ann@example.com" }],
    [bearer(token), "tokens", "remove_token", { token_id: token }],
  ] as const;
  for (const [credential, what, name, body] of rows) {
    const held = holdNext(service, what);
    const pending = openTail(service, "api", credential);
    await held.reached;
    t.ok((await ask(service, name, body, owner)).status < 300);
    held.release();
    const tail = await pending;
    t.teardown(() => tail.close());
    await ends(t, clock, `the tail (${name})`, endOf(tail));
    t.match(tail.text(), /"type":"unauthorized"/);
  }
});

t.test("a change that has not begun when its person is removed or gets another role", async (t) => {
  const { service, owner } = await start(t);
  const world = await makeWorld(service);
  const email = "eve@example.com";
  await service.person("friend@example.com", "member");
  const changes: readonly [name: Name, body: unknown][] = [
    ["add_member", { email: "new@example.com", role: "admin" }],
    ["update_member", { email: "friend@example.com", role: "admin" }],
    ["remove_member", { email: "olga@example.com" }],
    ["add_token", { token: { scopes: [...SCOPES] } }],
    ["add_ci_token", { name: "mine" }],
    ["add_project", { project: { name: "Mine" } }],
    ["remove_project", { project_id: world.project }],
    ["remove_alert", { project_id: world.project, alert_id: world.alert }],
  ];
  const ends: readonly [name: Name, body: unknown, status: number][] = [
    ["remove_member", { email }, 401],
    ["update_member", { email, role: "member" }, 403],
  ];
  const all = async () => {
    const { db } = service.records;
    const tables = ["projects", "alerts", "tokens", "invites", "memberships"] as const;
    const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
    return rows.map((one) => one.map((row) => ({ ...row, last_used_at: undefined })));
  };
  for (const [end, endBody, status] of ends) {
    for (const [name, body] of changes) {
      for (const kind of ["command", "cookie"] as const) {
        const credential = (await credentialsOf(service, email, "owner"))[kind];
        const held = holdNext(service, name === "remove_project" ? "projects" : "a change");
        const pending = ask(service, name, body, credential);
        await held.reached;
        t.ok((await ask(service, end, endBody, owner)).status < 300);
        const before = await all();
        held.release();
        const what = `${name}, ${kind}, after ${end}`;
        t.equal((await pending).status, status, what);
        t.same(await all(), before, what);
      }
    }
  }
  const count = { project_id: world.project, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  t.equal((await service.call("get_count", count)).json.count, 1, "and the events are there");
});

t.test("owners who remove each other at once", async (t) => {
  const service = await startTestService(t);
  for (let i = 0; i < 10; i++) {
    const team = `team-${i}`;
    const people = [`a${i}@example.com`, `b${i}@example.com`] as const;
    const [a, b] = [await service.person(people[0], "owner", team), await service.person(people[1], "owner", team)];
    const [first, second] =
      i % 2 === 0 ? (["remove_member", "remove_member"] as const) : (["update_member", "remove_member"] as const);
    const answers = await Promise.all([
      service.call(first, { email: people[1], role: "member" }, a),
      service.call(second, { email: people[0] }, b),
    ]);
    const owners = await service.records.db
      .selectFrom("memberships")
      .select("user_id")
      .where("team_id", "=", team)
      .where("role", "=", "owner")
      .execute();
    t.equal(owners.length, 1, answers.map(({ text }) => text).join(" "));
    t.equal(answers.filter(({ status }) => status < 300).length, 1);
  }
});

t.test("who may give, change and take which role", async (t) => {
  const rows: readonly [who: string, name: Name, body: unknown, status: number][] = [
    ["olga", "remove_member", { email: "olga@example.com" }, 409],
    ["olga", "update_member", { email: "olga@example.com", role: "admin" }, 409],
    ["olga", "update_member", { email: "olga@example.com", role: "member" }, 409],
    ["olga", "update_member", { email: "olga@example.com", role: "owner" }, 200],
    ["adam", "add_member", { email: "new@example.com", role: "owner" }, 403],
    ["adam", "add_member", { email: "new@example.com", role: "admin" }, 200],
    ["adam", "update_member", { email: "mia@example.com", role: "owner" }, 403],
    ["adam", "update_member", { email: "adam@example.com", role: "owner" }, 403],
    ["adam", "update_member", { email: "olga@example.com", role: "member" }, 403],
    ["adam", "update_member", { email: "olga@example.com", role: "owner" }, 403],
    ["adam", "remove_member", { email: "olga@example.com" }, 403],
    ["adam", "add_member_link", { email: "olga@example.com" }, 403],
    ["adam", "add_member_link", { email: "mia@example.com" }, 200],
    ["olga", "add_member", { email: "heir@example.com", role: "owner" }, 200],
    // A new invite ends the earlier one.
    ["adam", "add_member", { email: "heir@example.com", role: "member" }, 403],
    ["adam", "remove_member", { email: "heir@example.com" }, 403],
    ["olga", "add_member", { email: "heir@example.com", role: "member" }, 200],
    ["mia", "remove_member", { email: "adam@example.com" }, 403],
    ["mia", "remove_member", { email: "olga@example.com" }, 403],
    ["mia", "remove_member", { email: "heir@example.com" }, 403],
    ["mia", "remove_member", { email: "nobody@example.com" }, 403],
    ["mia", "update_member", { email: "mia@example.com", role: "admin" }, 403],
    ["olga", "add_token", { token: { scopes: ["team:write"] } }, 400],
    ["olga", "add_token", { token: { scopes: ["events:read", "team:owner"] } }, 400],
    ["olga", "add_token", { token: { scopes: ["billing:write"] } }, 400],
    ["olga", "add_token", { token: { scopes: ["person"] } }, 400],
    ["mia", "remove_member", { email: "MIA@example.com" }, 200],
    ["mia", "get_account", {}, 401],
    ["adam", "update_member", { email: "adam@example.com", role: "member" }, 200],
    ["adam", "update_member", { email: "adam@example.com", role: "admin" }, 403],
    ["olga", "update_member", { email: "adam@example.com", role: "owner" }, 200],
    ["adam", "remove_member", { email: "olga@example.com" }, 200],
    ["adam", "remove_member", { email: "adam@example.com" }, 409],
  ];
  const service = await startTestService(t);
  const people: Record<string, Credential> = {};
  for (const [name, role] of [
    ["olga", "owner"],
    ["adam", "admin"],
    ["mia", "member"],
  ] as const)
    people[name] = bearer(await service.person(`${name}@example.com`, role));
  for (const [who, name, body, status] of rows) {
    const answer = await ask(service, name, body, people[who]!);
    t.equal(answer.status, status, `${who} ${name} ${JSON.stringify(body)}: ${answer.text}`);
  }
});

t.test("a link that somebody else holds ends when its person becomes more, or is removed", async (t) => {
  const { service, owner, other } = await start(t);
  const email = "mia@example.com";
  const mia = bearer(await service.person(email, "member"));
  const admin = bearer(await service.person("adam@example.com", "admin"));
  const statusOf = async (link: string) => (await service.send({ method: "GET", path: new URL(link).pathname })).status;
  const inOther = async () => {
    const { link } = (await ask(service, "add_member", { email }, other)).json;
    return ask(service, "accept_invite", { invite: link.split("/").at(-1) }, mia);
  };
  const rows: readonly [what: string, change: () => Promise<{ readonly status: number; readonly text: string }>][] = [
    ["made an owner", () => ask(service, "update_member", { email, role: "owner" }, owner)],
    ["in another team", inOther],
    ["removed", () => ask(service, "remove_member", { email }, owner)],
  ];
  for (const [what, change] of rows) {
    await service.person(email, "member");
    await service.records.db
      .deleteFrom("memberships")
      .where("team_id", "=", OTHER)
      .where("role", "=", "member")
      .execute();
    const made = await ask(service, "add_member_link", { email }, admin);
    t.equal(made.status, 200, made.text);
    t.equal(await statusOf(made.json.link), 200, what);
    const changed = await change();
    t.ok(changed.status < 300, changed.text);
    t.equal(await statusOf(made.json.link), 404, what);
  }
});

t.test("a sign-in that was confirmed before a removal lets nobody in after it", async (t) => {
  const { service, owner } = await start(t);
  for (const isMember of [true, false]) {
    const email = "max@example.com";
    await service.person(email, "member");
    const begun = (await service.send({ path: "/start_sign_in", body: JSON.stringify({ email }) })).json;
    await service.records.db
      .updateTable("sign_ins")
      .set({ status: "confirmed" })
      .where("code", "=", begun.code)
      .execute();
    if (!isMember) t.equal((await ask(service, "remove_member", { email }, owner)).status, 200);
    const { secret } = begun;
    const polled = (await service.send({ path: "/poll_sign_in", body: JSON.stringify({ secret }) })).json;
    t.equal(polled.status, isMember ? "confirmed" : "ended");
  }
});

t.test("an invite that is no longer a stranger's lets nobody in by its link alone", async (t) => {
  const { service, owner } = await start(t);
  const email = "sue@example.com";
  const made = (await ask(service, "add_member", { email }, owner)).json;
  const lookUpInvite = () => inviteOfLink(service.records, made.link.split("/").at(-1), new Date().toISOString());
  t.equal((await lookUpInvite()).isEnough, true);
  await service.person(email, "member", OTHER);
  t.equal((await lookUpInvite()).isEnough, false);
});

t.test("the role of an invite that is made again", async (t) => {
  const { service, owner } = await start(t);
  const adam = bearer(await service.person("adam@example.com", "admin"));
  const rows: [email: string, role: Role | undefined, by: Credential, status: number, expected?: Role][] = [
    ["bob@example.com", undefined, owner, 200, "member"],
    ["bob@example.com", "admin", owner, 200, "admin"],
    ["Bob@example.com", undefined, adam, 200, "admin"],
    ["bob@example.com", "member", adam, 200, "member"],
    ["bob@example.com", "owner", owner, 200, "owner"],
    ["bob@example.com", undefined, adam, 403],
    ["bob@example.com", undefined, owner, 200, "owner"],
  ];
  for (const [email, role, by, status, expected] of rows) {
    const made = await ask(service, "add_member", { email, role }, by);
    t.equal(made.status, status, `${email} as ${role}`);
    t.equal(made.json.role, expected, `${email} as ${role}`);
    if (expected === undefined) continue;
    const { members } = (await ask(service, "get_members", {}, owner)).json;
    const invited = members.filter(({ state }: { state: string }) => state === "invited");
    t.match(invited, [{ role: expected }], `${email} as ${role}`);
  }
  for (const [operation, more] of [
    ["update_member", { role: "admin" }],
    ["add_member_link", {}],
  ] as const) {
    const answer = await ask(service, operation, { email: "bob@example.com", ...more }, owner);
    t.same([answer.status, answer.json.message], [404, "bob@example.com was invited, and has not accepted yet"]);
  }
});

t.test("invites of somebody who may not invite any more", async (t) => {
  const { service, owner } = await start(t);
  const invitesLeft = async () => {
    const { members } = (await ask(service, "get_members", {}, owner)).json;
    const invited = members.filter(({ state }: { state: string }) => state === "invited");
    return invited.map(({ email }: { email: string }) => email);
  };
  const invite = (email: string, role: Role, by: Credential) => ask(service, "add_member", { email, role }, by);
  const olaf = bearer(await service.person("olaf@example.com", "owner"));
  await invite("x-owner@example.com", "owner", olaf);
  await invite("x-admin@example.com", "admin", olaf);
  await invite("x-member@example.com", "member", olaf);
  await invite("y-owner@example.com", "owner", owner);
  const change = (role: Role) => ask(service, "update_member", { email: "olaf@example.com", role }, owner);
  t.equal((await change("admin")).status, 200);
  t.same(await invitesLeft(), ["x-admin@example.com", "x-member@example.com", "y-owner@example.com"], "an admin");
  t.equal((await change("member")).status, 200);
  t.same(await invitesLeft(), ["y-owner@example.com"], "a member");
  t.equal((await change("admin")).status, 200);
  await invite("z-member@example.com", "member", olaf);
  t.equal((await ask(service, "remove_member", { email: "olaf@example.com" }, owner)).status, 200);
  t.same(await invitesLeft(), ["y-owner@example.com"], "nobody");
});

t.test("what came of a link that somebody else may have kept ends when its person becomes more", async (t) => {
  const { service, owner, other } = await start(t);
  const email = "vic@example.com";
  /** Signs in by a link, as whoever made it could. */
  const openedBy = async (link: string, path: string): Promise<Credential> => {
    const url = new URL(link);
    const page = await service.send({ method: "GET", path: url.pathname });
    const form = /name="form" value="([^"]+)"/.exec(page.text)![1]!;
    const cookie = String(page.headers["set-cookie"]).split(";")[0]!;
    const origin = `http://127.0.0.1:${service.running.port}`;
    const entered = await service.send({
      path: `${url.pathname}${path}`,
      headers: { origin, cookie, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ form }).toString(),
    });
    t.equal(entered.status, 303, entered.text);
    const [session] = /tool_session[^=]*=[^;]+/.exec(String(entered.headers["set-cookie"]))!;
    return { cookie: session, origin };
  };
  const roleOf = async (credential: Credential) =>
    (await ask(service, "get_account", {}, credential)).json.account?.role ?? "";

  const { link } = (await ask(service, "add_member", { email }, other)).json;
  const kept = await openedBy(link, "/sign-in");
  t.equal(await roleOf(kept), "member", "of the team that handed the link over");
  const command = bearer(await service.person("ann@example.com", "member"));
  const invite = (await ask(service, "add_member", { email, role: "admin" }, owner)).json.link.split("/").at(-1);
  const own = await session(service, email);
  t.equal((await ask(service, "accept_invite", { invite }, own)).status, 200);
  t.equal((await ask(service, "get_account", {}, kept)).status, 401, "in another team");
  t.equal((await ask(service, "get_teams", {}, own)).status, 200, "what the person asked with goes on");

  const made = (await ask(service, "add_member_link", { email: "ann@example.com" }, owner)).json.link;
  const ann = await openedBy(made, "");
  t.equal(await roleOf(ann), "member");
  t.equal((await ask(service, "update_member", { email: "ann@example.com", role: "admin" }, owner)).status, 200);
  t.equal((await ask(service, "get_account", {}, ann)).status, 401, "an admin now");
  t.equal(await roleOf(command), "admin", "what was proven goes on");
});

t.test("tokens that a member made, also with a token, are found", async (t) => {
  const { service, owner } = await start(t);
  const admin = bearer(await service.person("zed@example.com", "admin"));
  const scopes = ["tokens:write", "projects:write", "events:read"];
  const add = async (by: Credential, scopes: readonly string[]) => {
    const { status, text, json } = await ask(service, "add_token", { token: { description: "x", scopes } }, by);
    t.equal(status, 200, text);
    return bearer(json.id);
  };
  const first = await add(admin, scopes);
  const second = await add(first, scopes);
  const reader = await add(second, ["events:read"]);
  const works = async (one: Credential) => (await ask(service, "get_account", {}, one)).status === 200;

  const demoted = await ask(service, "update_member", { email: "zed@example.com", role: "member" }, owner);
  t.equal(demoted.json.tokens.length, 2, "those that may do more than a member");
  const removed = await ask(service, "remove_member", { email: "zed@example.com" }, owner);
  t.equal(removed.json.tokens.length, 1);
  for (const one of [first, second]) t.notOk(await works(one), "those that make others end");
  t.ok(await works(reader), "others still work");
  await service.person("zed@example.com", "member");
  const ended = await ask(service, "remove_member", { email: "zed@example.com", tokens: true }, owner);
  t.same(ended.json.tokens, []);
  for (const one of [first, second, reader]) t.notOk(await works(one));
});

t.test("who made a token is said, and one of a removed person makes no others", async (t) => {
  const { service, owner } = await start(t);
  const admin = bearer(await service.person("zed@example.com", "admin"));
  const add = (by: Credential, scopes: readonly string[]) =>
    ask(service, "add_token", { token: { description: "x", scopes } }, by);
  const maker = bearer((await add(admin, ["tokens:read", "tokens:write"])).json.id);
  await add(maker, ["tokens:read"]);
  // Those of the same millisecond come in any order.
  const makers = async (by: Credential) => {
    const { tokens } = (await ask(service, "get_tokens", {}, by)).json as { tokens: { created_by: string }[] };
    return tokens.map((one) => one.created_by).sort();
  };
  t.same(await makers(owner), ["", "zed@example.com", "zed@example.com"], "the first one is of the machine");
  // As a removal of before left it.
  await service.records.db.deleteFrom("memberships").where("role", "=", "admin").execute();
  const refused = await add(maker, ["tokens:read"]);
  t.match([refused.status, refused.json.type], [403, "forbidden"]);
  t.match(refused.json.message, /^whoever made this token is not in the team any more/);
  t.same(await makers(maker), ["", "zed@example.com", "zed@example.com"], "it may do all else");
  t.equal((await add(bearer(service.owner), ["tokens:read"])).status, 200, "those of the machine have nobody to leave");
});

t.test("a token ends when it was told to, and what it makes with it", async (t) => {
  let nowMs = Date.parse("2026-11-24T10:00:00Z");
  const service = await startTestService(t, { nowMs: () => nowMs });
  const add = (more: object, by = service.owner) =>
    service.call("add_token", { token: { scopes: ["tokens:read", "tokens:write"], ...more } }, by);
  const end = "2026-12-24T10:00:00.000Z";
  const token = (await add({ expires_at: "2026-12-24T11:00:00+01:00" })).json.id;
  const ends = async () =>
    (await service.call("get_tokens")).json.tokens.map((one: { expires_at: string | null }) => one.expires_at);
  t.same(
    (await ends()).filter((one: string | null) => one !== null),
    [end],
  );
  const rows: [more: object, status: number, message?: RegExp][] = [
    [{ expires_at: "2026-11-24T10:00:00Z" }, 400, /^token\.expires_at: must be later than now$/],
    [{ expires_at: "soon" }, 400, /^token\.expires_at: must be a time like/],
    [{ expires_at: null }, 200],
    [{ expires_at: "0001-01-01T00:00:00Z" }, 200],
    [{ expires_at: "" }, 200],
  ];
  for (const [more, status, message] of rows) {
    const answer = await add(more);
    t.equal(answer.status, status, JSON.stringify(more));
    if (message !== undefined) t.match(answer.json.message, message);
  }
  const outlives = `token.expires_at: must be at most ${end}, when the token ends that this one is made with`;
  t.equal((await add({}, token)).json.message, outlives);
  t.equal((await add({ expires_at: "2026-12-24T10:00:01Z" }, token)).json.message, outlives);
  t.equal((await add({ expires_at: end }, token)).status, 200);
  nowMs = Date.parse(end) - 1;
  t.equal((await service.call("get_tokens", {}, token)).status, 200);
  nowMs++;
  const { status, json } = await service.call("get_tokens", {}, token);
  t.match([status, json.message], [401, "this token has expired: its time was set when it was made; make another one"]);
  const other = `${token.slice(0, -1)}${token.endsWith("x") ? "y" : "x"}`;
  t.match((await service.call("get_tokens", {}, other)).json.message, /is not known/);
});

// A backup has no records that are elsewhere.
const ofFile = { skip: requiresFile() };

t.test("a restored backup signs nobody in who may have been removed since", ofFile, async (t) => {
  const { service } = await start(t);
  const folder = t.testdir();
  // The store of this service keeps its events in memory.
  mkdirSync(join(service.directory, "events"));
  const program = bearer(service.owner);
  const { command, cookie } = await credentialsOf(service, "bob@example.com", "admin");
  await copyDataDirectory({
    kind: "data directory",
    from: service.directory,
    to: join(folder, "copy"),
    progress: () => {},
  });
  await copyDataDirectory({ kind: "backup", from: join(folder, "copy"), to: join(folder, "back"), progress: () => {} });
  const restored = await startTestService(t, { directory: join(folder, "back") });
  const moved = cookie.cookie!.replace(String(service.running.port), String(restored.running.port));
  const own = { cookie: moved, origin: restored.running.url };
  for (const one of [command, own]) t.equal((await ask(restored, "get_account", {}, one)).status, 401);
  t.equal((await ask(restored, "get_members", {}, program)).status, 403, "a program's token goes on");
});
