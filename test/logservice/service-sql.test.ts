// SQL over HTTP: rows as they come out of the process, and how many processes there are.

import t from "tap";
import { SqlSlots } from "../../logservice/http/sql-slots.ts";
import { LIMITS } from "../../logservice/limits.ts";
import { startTestService } from "../support/service.ts";
import { slow } from "../support/slow.ts";
import { CANNOT_SEE_PROCESSES, sqlProcesses } from "../support/sql/sql-processes.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

const never = new AbortController().signal;

t.test("rows go over the wire as they were printed", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  const project = (await service.call("add_project", { project: { name: "app" } })).json.id as string;
  const added = await service.send({
    path: "/add_events",
    headers: { authorization: `Bearer ${service.owner}`, "content-type": "application/json" },
    body: `{"project_id":"${project}","events":[{"timestamp":"2026-11-22T08:49:21.908Z","level":"info","message":"x","fields":{"__proto__":{"a":1},"long":12345678901234567890}}]}`,
  });
  t.equal(added.status, 204, added.text);
  const rows: readonly (readonly [sql: string, results: string])[] = [
    ["select count(*) as n, timestamp from events group by all", '[{"n":1,"timestamp":"2026-11-22T08:49:21.908Z"}]'],
    ["select fields from events", '[{"fields":{"__proto__":{"a":1},"long":"12345678901234567890"}}]'],
    ["select '{\"long\":12345678901234567890}'::json as j", '[{"j":{"long":12345678901234567890}}]'],
    ['select 1 as "__proto__"', '[{"__proto__":1}]'],
    ["select 1 as x where false", "[]"],
  ];
  for (const [query, results] of rows) {
    const { status, text, headers } = await service.call("query", { project_id: project, query });
    t.equal(status, 200, query);
    t.equal(headers["content-length"], String(Buffer.byteLength(text)));
    t.ok(text.startsWith(`{"results":${results},"stats":{"cache_hit":false,`), text);
  }
});

/** Slots whose statements end when they are told to; `started` is the order in which they began. */
function slots(limits: { readonly sqlAtOnce: number; readonly holdMs: number }, isOnlyTeam = true) {
  const clock = new TestClock();
  const all = new SqlSlots(limits, clock);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    clock,
    started,
    ask: (name: string, signal: AbortSignal = never) =>
      all.run({ team: isOnlyTeam ? "only" : name[0]!, member: name[0]!, isOnlyTeam }, signal, async () => {
        started.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }),
    end: async (name: string) => {
      await settled();
      ends.get(name)!();
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test("those that wait are served token after token", async (t) => {
  const { ask, end, started } = slots({ sqlAtOnce: 2, holdMs: 10_000 });
  const pending = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => ask(name));
  for (const name of ["a1", "a2", "a3", "b1", "c1", "a4", "b2"]) await end(name);
  t.strictSame(started, ["a1", "a2", "a3", "b1", "c1", "a4", "b2"]);
  t.strictSame((await Promise.all(pending)).sort(), ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
  void ask("d1");
  void ask("d2");
  await settled();
  t.strictSame(started.slice(-2), ["d1", "d2"], "all slots are free again");
});

t.test("a team has half of the slots where there are others", async (t) => {
  const rows: [atOnce: number, asks: string, ends: string, started: string][] = [
    [4, "a1 a2 a3 a4 b1 b2 c1", "a1 b1 a2", "a1 a2 b1 b2 c1 a3 a4"],
    [4, "a1 a2 a3", "a1", "a1 a2 a3"],
    [3, "a1 a2 b1 c1 c2", "a1", "a1 b1 c1 a2"],
    // One that runs is the least that a team needs, and leaves nothing to others.
    [1, "a1 b1 a2", "a1 b1", "a1 b1 a2"],
  ];
  for (const [sqlAtOnce, asks, ends, expected] of rows) {
    const { ask, end, started } = slots({ sqlAtOnce, holdMs: 10_000 }, false);
    for (const name of asks.split(" ")) void ask(name);
    for (const name of ends.split(" ")) await end(name);
    t.equal(started.join(" "), expected, `${asks} at ${sqlAtOnce}`);
  }
  const { ask, clock } = slots({ sqlAtOnce: 4, holdMs: 200 }, false);
  for (const name of ["a1", "a2", "b1"]) void ask(name);
  const refused = t.rejects(ask("a3"), {
    type: "rate_limited",
    message: "2 SQL statements of this team are running already: try again later",
    retryAfterMs: 200,
  });
  await settled();
  await clock.advance(200);
  await refused;
});

t.test("who waits too long is told to come back; who leaves makes room", async (t) => {
  const { ask, clock, end, started } = slots({ sqlAtOnce: 1, holdMs: 200 });
  const first = ask("a1");
  const refused = t.rejects(ask("b1"), {
    type: "rate_limited",
    message: "1 SQL statements are running already, for all tokens: try again later",
    retryAfterMs: 200,
  });
  await clock.advance(199);
  t.same(clock.timers, [1], "after the time that it waits");
  await clock.advance(1);
  await refused;

  const left = new AbortController();
  const leaving = ask("b2", left.signal);
  const staying = ask("c1");
  left.abort(new Error("the client left"));
  await t.rejects(leaving, /the client left/);
  await t.rejects(ask("d1", AbortSignal.abort(new Error("gone before"))), /gone before/);
  await end("a1");
  await end("c1");
  t.strictSame([await first, await staying], ["a1", "c1"]);
  t.strictSame(started, ["a1", "c1"]);
  void ask("e1");
  await settled();
  t.strictSame(started.slice(-1), ["e1"]);
});

t.test("a failed statement gives its slot back", async (t) => {
  const all = new SqlSlots({ sqlAtOnce: 1, holdMs: 100 }, new TestClock());
  const one = { team: "a", member: "a", isOnlyTeam: false };
  await t.rejects(
    all.run(one, never, () => Promise.reject(new Error("failed"))),
    /failed/,
  );
  t.equal(await all.run(one, never, async () => 1), 1);
});

t.test(
  "eight tokens with two statements each have four processes, and a spare",
  { skip: CANNOT_SEE_PROCESSES, ...slow() },
  async (t) => {
    const service = await startTestService(t, { engine: "duckdb", limits: { holdMs: 60_000 } });
    const project = (await service.call("add_project", { project: { name: "app" } })).json.id as string;
    const tokens = await Promise.all(Array.from({ length: 8 }, () => service.token(["events:read"])));
    let most = 0;
    let isOver = false;
    const query = "select count(*) as n from range(3000000)";
    const pending = Promise.all(
      tokens.flatMap((token) => [1, 2].map(() => service.call("query", { project_id: project, query }, token))),
    ).finally(() => {
      isOver = true;
    });
    await until("all answers", () => {
      most = Math.max(most, sqlProcesses().length);
      return isOver;
    });
    const answers = await pending;
    t.strictSame([...new Set(answers.map(({ text }) => text.split(',"stats"')[0]))], ['{"results":[{"n":3000000}]']);
    t.ok(most >= 4 && most <= 5, `${most} processes at once`);
  },
);

t.test("a place in the queue is free when its client leaves, and a refusal says when to come back", async (t) => {
  const clock = new TestClock();
  const service = await startTestService(t, { engine: "duckdb", limits: { holdMs: 1000, sqlAtOnce: 1 }, clock });
  const project = (await service.call("add_project", { project: { name: "app" } })).json.id as string;
  const other = await service.token(["events:read"]);
  const slow = {
    project_id: project,
    query: "select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 8",
  };
  const leaving = new AbortController();
  const running = fetch(`${service.running.url}/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.owner}`, "content-type": "application/json" },
    body: JSON.stringify(slow),
    signal: leaving.signal,
  });
  // The time of a query begins just before it takes its slot, and that of one that waits when it begins to wait.
  await until("the slow one", () => clock.timers.includes(LIMITS.queryMs));
  const quick = { project_id: project, query: "select 1 as x" };
  const pending = service.call("query", quick, other);
  await until("it waits", () => clock.timers.includes(1000));
  await clock.advance(1000);
  const refused = await pending;
  t.equal(refused.headers["retry-after"], "1");
  t.strictSame(refused.json, {
    type: "rate_limited",
    message: "1 SQL statements are running already, for all tokens: try again later",
  });
  t.equal((await service.call("get_projects")).status, 200, "only SQL waits");
  const waiting = service.call("query", quick, other);
  await until("another waits", () => clock.timers.includes(1000));
  leaving.abort();
  await t.rejects(running);
  t.equal((await waiting).status, 200, "served when the slow one's client has left");
});
