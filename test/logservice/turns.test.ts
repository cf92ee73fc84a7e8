// Whose turn it is: teams, and within them tokens or projects, at everything that queries share.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { addToken } from "../../logservice/access/tokens.ts";
import { ConnectionPool } from "../../logservice/events/duckdb/connection-pool.ts";
import { openDuckDb } from "../../logservice/events/duckdb/duckdb.ts";
import { type EngineLane, KillableEngines } from "../../logservice/events/duckdb/engine/killable-engines.ts";
import { SqlSlots } from "../../logservice/http/sql-slots.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { SERVICE, Turns, type TurnTaker } from "../../logservice/turns/turns.ts";
import { SCOPES, startTestService } from "../support/service.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

type Test = Pick<typeof t, "teardown">;

const never = new AbortController().signal;

t.test("whose turn is next", (t) => {
  // Takers as team and member, numbered in the order in which they come; `done` ends the turn that began first.
  const rows: [what: string, waiting: string, steps: string, expected: string][] = [
    ["one turn for a team while another waits", "a1 a1 a2 b1", "take take take", "a1.0 b1.3 -"],
    ["teams in turn", "a1 a1 a1 b1 b1 c1", "take done take done take done take done take", "a1.0 b1.3 c1.5 a1.1 b1.4"],
    ["members of a team in turn", "a1 a1 a2 a3", "take done take done take done take", "a1.0 a2.2 a3.3 a1.1"],
    ["one turn of a member", "a1 a1 a1", "take take", "a1.0 -"],
    ["a member of another team with the same name", "a1 b1", "take take", "a1.0 b1.1"],
    ["all turns for a team that is alone", "a1 a1 a2", "take take take", "a1.0 a2.2 -"],
    ["a team that comes later gets the next one", "a1 a2 a1 a2", "take take b1 done take", "a1.0 a2.1 b1.4"],
    ["one team with many members", "a1 a2 a3 a4 b1 b1", "take take done take done take", "a1.0 b1.4 a2.1 b1.5"],
    ["none", "", "take", "-"],
  ];
  for (const [what, waiting, steps, expected] of rows) {
    const turns = new Turns<TurnTaker & { name: string }>({ atOnce: 2, perMember: 1 });
    let number = 0;
    const add = (key: string) => turns.add({ team: key[0]!, member: key.slice(1), name: `${key}.${number++}` });
    for (const key of waiting.split(" ").filter(Boolean)) add(key);
    const running: TurnTaker[] = [];
    const seen: string[] = [];
    for (const step of steps.split(" ")) {
      if (step === "done") turns.done(running.shift()!);
      else if (step !== "take") add(step);
      else {
        const one = turns.take();
        seen.push(one?.name ?? "-");
        if (one !== undefined) running.push(one);
      }
    }
    t.equal(seen.join(" "), expected, what);
  }
  t.end();
});

/** Something that takes turns: `begin` resolves with the end of a turn when it has begun. */
interface Shared {
  readonly atOnce: number;
  begin(asker: TurnTaker, signal: AbortSignal): Promise<() => Promise<void> | void>;
}

/** A turn that lasts until it is ended. */
function lasting(run: (isOver: Promise<void>, begun: () => void) => Promise<unknown>): ReturnType<Shared["begin"]> {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return new Promise((resolve, reject) => {
    const done = run(over, () =>
      resolve(async () => {
        end();
        await done;
      }),
    );
    done.catch(reject);
  });
}

const statements = (sqlAtOnce: number, isOnlyTeam: boolean) => async (): Promise<Shared> => {
  const slots = new SqlSlots({ sqlAtOnce, holdMs: 1_000 }, new TestClock());
  const begin: Shared["begin"] = (asker, signal) =>
    lasting((isOver, begun) =>
      slots.run({ ...asker, isOnlyTeam }, signal, () => {
        begun();
        return isOver;
      }),
    );
  return { atOnce: sqlAtOnce, begin };
};

async function connections(t: Test): Promise<Shared> {
  const pool = await ConnectionPool.open(() => openDuckDb(":memory:", { threads: "1" }), systemClock);
  t.teardown(() => pool.close());
  const begin: Shared["begin"] = (asker, signal) =>
    lasting((isOver, begun) =>
      pool.runnerOf(asker).run("select 1", [], signal, () => {
        begun();
        return isOver;
      }),
    );
  return { atOnce: 3, begin };
}

const processes =
  (lane: EngineLane, atOnce: number) =>
  async (t: Test): Promise<Shared> => {
    const directory = await mkdtemp(join(tmpdir(), "turns-"));
    const engines = new KillableEngines(directory, systemClock);
    t.teardown(async () => {
      await engines.close();
      await rm(directory, { recursive: true, force: true });
    });
    const begin: Shared["begin"] = async (asker, signal) => {
      const engine = await engines.take(lane, signal, asker);
      return () => engines.giveBack(engine, lane, asker);
    };
    return { atOnce, begin };
  };

const SHARED: readonly (readonly [what: string, open: (t: Test) => Promise<Shared>])[] = [
  ["a statement of SQL", statements(1, false)],
  ["statements of SQL", statements(2, true)],
  ["connections", connections],
  ["processes for alerts", processes("alerts", 2)],
  ["processes for tails", processes("tails", 2)],
];

for (const [what, open] of SHARED) {
  t.test(`${what}: a team with twelve tokens has one turn to another team's one`, async (t) => {
    const { atOnce, begin } = await open(t);
    const ends: (() => Promise<void> | void)[] = [];
    const began: string[] = [];
    const ask = async (team: string, member: string, signal = never) => {
      const end = await begin({ team, member }, signal);
      began.push(`${team}${member}`);
      ends.push(end);
    };
    for (let n = 0; n < atOnce; n++) void ask("crowd", `${n}`);
    await until("all turns", () => began.length === atOnce);
    for (let n = 0; n < 24; n++) void ask("crowd", `${n % 12}`);
    const left = new AbortController();
    const leaving = ask("crowd", "leaving", left.signal);
    for (const member of ["x", "x", "y"]) void ask("small", member);
    left.abort(new Error("gone"));
    await t.rejects(leaving, /gone/, "who leaves is not waited for");
    const turns: string[] = [];
    for (let n = 0; n < 8; n++) {
      await ends.shift()!();
      await until("the next turn", () => began.length === atOnce + n + 1);
      turns.push(began.at(-1)!);
    }
    const places = turns.flatMap((one, at) => (one.startsWith("small") ? [at] : []));
    t.ok(places[0]! <= 1, `the small team's first at the latest after one turn: ${turns.join(" ")}`);
    t.same(
      places.map((at) => turns[at]),
      ["smallx", "smally", "smallx"],
      "its tokens in turn",
    );
    t.equal(new Set(turns.filter((one) => one.startsWith("crowd"))).size, 8 - 3, "as many tokens as turns");
    while (began.length < atOnce + 24 + 3) {
      const count = began.length;
      await ends.shift()!();
      await until("the next turn", () => began.length > count);
    }
    for (const end of ends) await end();
  });
}

t.test("the last process for slow queries is kept for another team, once there is one", async (t) => {
  const rows: [what: string, before: string, takers: string, begin: string][] = [
    ["one team", "a", "a a a a", "a a a"],
    ["another team that asks other things", "a b", "a a a a b", "a a b"],
    ["and no third one then", "a b", "a a b a c", "a a b"],
    ["the service itself is none", "a -", "a a a", "a a a"],
    ["other teams only", "a b", "b b c", "b b c"],
  ];
  for (const [what, before, takers, expected] of rows) {
    const directory = await mkdtemp(join(tmpdir(), "turns-"));
    const engines = new KillableEngines(directory, systemClock);
    const asker = (team: string) => ({ team: team === "-" ? SERVICE.team : team, member: "x" });
    for (const team of before.split(" ")) engines.see(asker(team));
    const began: string[] = [];
    const all = takers.split(" ").map(async (team) => {
      const engine = await engines.take("people", never, asker(team));
      began.push(team);
      return engine;
    });
    for (const one of all) one.catch(() => {});
    await until("those that begin", () => began.length === expected.split(" ").length);
    // A turn that is free begins at once: another lane's begins after all that may.
    engines.giveBack(await engines.take("tails", never, asker("a")), "tails", asker("a"));
    t.equal(began.join(" "), expected, what);
    await engines.close();
    await rm(directory, { recursive: true, force: true });
  }
});

t.test("every question to the events says which team and token asks", async (t) => {
  const seen: unknown[] = [];
  const names = ["search", "count", "timeseries", "levelTimeseries", "aggregate", "discoveredFields"] as const;
  const service = await startTestService(t, {
    around: (events) =>
      new Proxy(events, {
        get(target, name: keyof typeof events) {
          const value = target[name] as (...args: unknown[]) => unknown;
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (name === "tail") seen.push([name, args[3]]);
            else if (names.includes(name as "search") || name.endsWith("FieldStats"))
              seen.push([name, (args[0] as { asker?: unknown }).asker]);
            return value.apply(target, args);
          };
        },
      }),
  });
  const { id, secret } = await addToken(
    service.records.db,
    { team: FIRST_TEAM, scopes: SCOPES, description: "" },
    new Date().toISOString(),
  );
  await service.call("add_project", { project: { id: "app", name: "app" } }, secret);
  const range = { project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" };
  const alert = {
    project_id: "app",
    name: "x",
    severity: "info",
    notification_id: "x",
    query: "x",
    operator: ">",
    threshold: 1,
    interval: 60,
  };
  const rows: readonly (readonly [operation: string, input: object, names: readonly string[]])[] = [
    ["search", range, ["search"]],
    ["get_count", range, ["count"]],
    ["get_timeseries", { ...range, max_points: 10 }, ["timeseries"]],
    ["get_level_timeseries", { ...range, max_points: 10 }, ["levelTimeseries"]],
    ["aggregate", { ...range, query: "| count by path" }, ["aggregate"]],
    ["get_discovered_fields", range, ["discoveredFields"]],
    ["get_string_field_stats", { ...range, field: "path" }, ["stringFieldStats"]],
    ["get_boolean_field_stats", { ...range, field: "ok" }, ["booleanFieldStats"]],
    ["get_numeric_field_stats", { ...range, field: "status" }, ["numericFieldStats"]],
    ["preview_alert", { ...range, alert }, ["timeseries"]],
    ["preview_alert", { ...range, alert: { ...alert, query: "| count by path", interval: 1440 } }, ["aggregate"]],
    ["add_export", { ...range, format: "csv" }, ["discoveredFields"]],
    ["add_export", { ...range, format: "csv", query: "| count by path" }, ["aggregate"]],
  ];
  let ticket = "";
  for (const [operation, input, names] of rows) {
    seen.length = 0;
    const { status, text, json } = await service.call(operation, input, secret);
    t.equal(status, 200, text);
    t.same(
      seen,
      names.map((name) => [name, { team: FIRST_TEAM, member: id }]),
      operation,
    );
    ticket ||= json.ticket ?? "";
  }
  seen.length = 0;
  const headers = { authorization: `Bearer ${secret}` };
  t.equal((await service.send({ method: "GET", path: `/export?ticket=${ticket}`, headers })).status, 200);
  t.same(seen, [["search", { team: FIRST_TEAM, member: id }]], "a page of an export");
  seen.length = 0;
  const leaving = new AbortController();
  const tail = await fetch(`${service.running.url}/tail?project_id=app`, { headers, signal: leaving.signal });
  t.equal(tail.status, 200);
  leaving.abort();
  t.same(seen, [["tail", { team: FIRST_TEAM, member: id }]], "a tail");
});
