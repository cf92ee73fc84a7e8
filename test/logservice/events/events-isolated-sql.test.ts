// SQL from a client: what it sees, and what it must not reach.
import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { type NewEvent, StoreError } from "../../../logservice/events/store.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { unchanging } from "../../support/unchanging.ts";
import { until } from "../../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "isolated-sql-"));
const secret = join(directory, "secret.csv");
writeFileSync(secret, "secret\nvalue\n");
process.env.TOOL_TEST_SECRET = "of the environment";
const sqlLimits = { timeMs: 5000, memoryBytes: 900e6, rows: 1000, bytes: 1_000_000 };
const store = await openEventsStore({ directory: join(directory, "data"), reserveBytes: 0, sqlLimits });
t.teardown(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});
const never = new AbortController().signal;

const eventOf = (i: number): NewEvent => ({
  id: `id-${i}`,
  timestamp: `2024-05-01T10:00:${String(i).padStart(2, "0")}.500Z`,
  level: i % 2 === 0 ? "error" : "info",
  message: `number ${i}`,
  fields: { i, user: { email: `u${i}@x.y` } },
});
const events = Array.from({ length: 20 }, (_, i) => eventOf(i));
await store.append("app", events.slice(0, 10));
await store.append("other", [{ ...eventOf(1), message: "of another project" }]);
await store.flush();
await store.append("app", events.slice(10));
await store.append("other", [{ ...eventOf(2), message: "of another project" }]);

const results = async (sql: string) =>
  JSON.parse((await store.sql({ project: "app", text: sql, signal: never })).resultsJson);

const allowed: readonly (readonly [sql: string, rows: unknown])[] = [
  ["select count(*)::integer as n from events", [{ n: 20 }]],
  ["FROM events SELECT message WHERE id = 'id-3';", [{ message: "number 3" }]],
  [
    "select id, timestamp, level, severity, message, fields from events order by id limit 1",
    [
      {
        id: "id-0",
        timestamp: "2024-05-01T10:00:00.5Z",
        level: "error",
        severity: 4,
        message: "number 0",
        fields: { i: 0, user: { email: "u0@x.y" } },
      },
    ],
  ],
  [
    "with a as (select (fields->>'$.i')::int as i from events), b as (select max(i) as i from a) select i from b",
    [{ i: 19 }],
  ],
  [
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select sum(n)::int as s from r",
    [{ s: 6 }],
  ],
  [
    "select level, count(*)::int as n from events group by all order by level",
    [
      { level: "error", n: 10 },
      { level: "info", n: 10 },
    ],
  ],
  [
    "select date_trunc('minute', timestamp)::varchar as m, count(*)::int as n from events group by 1",
    [{ m: "2024-05-01 10:00:00", n: 20 }],
  ],
  [
    "select * from range(2) t(i), (values (1)) v(x)",
    [
      { i: 0, x: 1 },
      { i: 1, x: 1 },
    ],
  ],
  ["select e.id from events e join events f on e.id = f.id where f.message = 'number 11'", [{ id: "id-11" }]],
  ["select count(*)::int as n from events where message like '%another%'", [{ n: 0 }]],
  ["select 'select * from ''/etc/passwd''' as text", [{ text: "select * from '/etc/passwd'" }]],
  ["select key, value from events, json_each(fields) where events.id = 'id-1' and key = 'i'", [{ key: "i", value: 1 }]],
];

const refused: readonly string[] = [
  // More than one statement, none, or no SELECT.
  "",
  "-- nothing",
  "select 1; select 2",
  "select 1; drop view events",
  "insert into events values (1)",
  "delete from events",
  "create table x (a int)",
  "create or replace view events as select 1",
  "drop view events",
  "attach '/tmp/x.db'",
  `copy (select 1) to '${directory}/out.csv'`,
  `copy events to '${directory}/out.parquet' (use_tmp_file false)`,
  `export database '${directory}/export'`,
  "install httpfs",
  "load httpfs",
  "set enable_external_access = true",
  "set threads = 1",
  "reset lock_configuration",
  "pragma version",
  "pragma database_list",
  "call pragma_version()",
  "explain select 1",
  "explain analyze select * from events",
  "prepare p as select 1",
  "begin transaction",
  "vacuum",
  "checkpoint",
  "use memory",
  "show tables",
  "show all tables",
  "describe events",
  "summarize events",
  "select * from (describe select 1)",
  "select * from (summarize events)",
  "with a as (show tables) select * from a",
  "pivot events on level using count(*)",
  // Files, by function and by name.
  `select * from read_csv('${secret}')`,
  `select * from read_text('${secret}')`,
  `select * from read_blob('${secret}')`,
  `select * from '${secret}'`,
  `from "${secret}"`,
  `select * from (select * from '${secret}')`,
  `select (select secret from '${secret}')`,
  `select 1 where exists (from '${secret}')`,
  `with a as (from '${secret}') select * from a`,
  `select * from events, lateral (select * from '${secret}')`,
  `select * from events where id in (select secret from read_csv_auto('${secret}'))`,
  `select * from events union all select secret, null, null, null, null, null from '${secret}'`,
  `select list(x) from (from read_json_auto('${secret}')) t(x)`,
  "select * from read_parquet('**/*.parquet')",
  "select * from parquet_metadata('*.parquet')",
  "select * from parquet_file_metadata('*')",
  "select * from glob('/*')",
  "select * from glob('/etc/*')",
  "select * from sniff_csv('/etc/passwd')",
  "select * from read_duckdb('/tmp/x.db')",
  "select * from read_ndjson_objects('*.ndjson')",
  "select * from read_parquet('https://example.com/x.parquet')",
  "select * from sqlite_scan('/tmp/x', 'y')",
  // The engine's own.
  "select * from newest",
  "select * from lines",
  "select * from main.events",
  "select * from temp.main.newest",
  "select * from duckdb_views",
  "select * from duckdb_tables",
  "with a as (select * from pg_settings), pg_settings as (select 1) select * from a",
  "with a as (select * from duckdb_views), duckdb_views as (select 1) select * from a",
  "select pg_get_viewdef(i) from range(10000) t(i)",
  "select json_serialize_plan('from events')",
  "select * from information_schema.tables",
  "select * from duckdb_settings()",
  "select * from duckdb_views()",
  "select * from duckdb_secrets()",
  "select * from duckdb_functions()",
  "select * from sqlite_master",
  "select * from pg_catalog.pg_tables",
  "select * from pragma_database_size()",
  "select * from query('select 1')",
  "select * from query_table('events')",
  "from enable_logging()",
  "select enable_logging('x')",
  "select * from enable_profiling()",
  "from force_checkpoint()",
  "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
  "select * from sql_auto_complete('sel')",
  "select current_setting('temp_directory')",
  "select getenv('TOOL_TEST_SECRET')",
  "select getvariable('x')",
  "select write_log('x')",
  "select sleep_ms(100)",
  "select id from events where current_setting('threads') = '1'",
  "select max(current_query()) from events",
  "select list_transform([1], lambda x: current_setting('threads'))",
  // A name of its own hides nothing: it is known only below the place that defines it.
  `select * from (with "/etc/passwd" as (select 1) select 1), '/etc/passwd'`,
  // Wrong by itself.
  "select",
  "select nothing from events",
  "select * from event",
  "select ?",
  "select $1",
  "select error('x')",
  "select 1/",
  "select * from events order by nothing",
  "select cast(message as integer) from events",
  // Too much.
  "select * from range(2000)",
  "select repeat('x', 2000000)",
];

t.test("a process that is killed while it waits or starts is replaced", async (t) => {
  const started = startedChildren(t);
  await results("select 1 as i");
  for (const when of ["when it is ready", "as it starts"]) {
    const spare = await until("the spare", () => started.find(({ child }) => isAlive(child)));
    if (when === "when it is ready") {
      await until("its first word", () => spare.isReady);
      spare.child.kill("SIGKILL");
      await until("its end", () => !isAlive(spare.child));
    } else spare.child.kill("SIGKILL");
    t.strictSame(await results("select 2 as i"), [{ i: 2 }], `killed ${when}`);
    t.equal(spare.child.signalCode, "SIGKILL");
  }
});

/** The processes that this one starts from now on. */
function startedChildren(t: Test) {
  const started: { readonly child: ChildProcess; isReady: boolean }[] = [];
  const add = (message: unknown) => {
    const one = { child: (message as { process: ChildProcess }).process, isReady: false };
    one.child.once("message", () => {
      one.isReady = true;
    });
    started.push(one);
  };
  subscribe("child_process", add);
  t.teardown(() => unsubscribe("child_process", add));
  return started;
}

const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

t.test("an answer counts although the end of its process is seen first", slow(), async (t) => {
  // The ends of all processes are read at once, after everything else that came by then: one that answers and ends while
  // this process is busy with other input is seen to end before it is seen to answer.
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const input = spawn("sh", ["-c", "while :; do echo; sleep 0.01; done"], { stdio: ["ignore", "pipe", "ignore"] });
  input.stdout.on("data", () => Atomics.wait(cell, 0, 0, 60));
  t.teardown(() => input.kill());
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => results(`select ${i} as i`)));
    t.strictSame(
      answers,
      answers.map((_, i) => [{ i }]),
    );
  }
});

t.test("what is allowed gives its rows", async (t) => {
  for (const [sql, rows] of allowed) t.strictSame(await results(sql), rows, sql);
});

t.test("what is refused is the caller's mistake, says why, and changes nothing", async (t) => {
  // The list of journals is written again a while after what was stored.
  const before = await unchanging("files at rest", () => shape(directory));
  for (const sql of refused) {
    const error = await store.sql({ project: "app", text: sql, signal: never }).then(
      ({ resultsJson }) => `gave ${resultsJson}`,
      (error: unknown) => error,
    );
    const isRight = error instanceof StoreError && error.type === "bad_request" && error.message.length > 12;
    if (!isRight) t.fail(`${sql}: ${String(error)}`);
    else
      t.notMatch(
        error.message,
        /value|\.parquet|isolated-sql-/.test(sql) ? /of the environment/ : /isolated-sql-/,
        sql,
      );
  }
  t.strictSame(shape(directory), before, "no file is other than before");
  t.strictSame(await results("select count(*) as n from events"), [{ n: 20 }]);
});

t.test("what takes too long or too much is ended", slow(), async (t) => {
  const errorOf = (sql: string) =>
    store.sql({ project: "app", text: sql, signal: never }).then(
      () => undefined,
      (error: unknown) => error as StoreError,
    );
  const slow = await errorOf("select count(*) from range(1000000) a, range(1000000) b");
  t.equal(slow?.type, "timeout", String(slow?.message));
  // The engine's own limit, or the watch over the process: either way the service lives.
  const large = await errorOf(
    "select count(distinct x) from (select repeat(i::varchar, 100) as x from range(100000000) t(i))",
  );
  t.ok(large?.type === "timeout" || large?.type === "bad_request", `${large?.type} ${large?.message}`);
  t.equal((await store.count({ project: "app", startMs: 0, stopMs: 4e12, query: undefined, signal: never })).count, 20);
});

const ENDLESS = "select count(*) from range(1000000) a, range(1000000) b";

t.test("an aborted statement rejects with the reason", async (t) => {
  const { store, clock } = await openedByClock(t);
  const controller = new AbortController();
  const pending = store.sql({ project: "app", text: ENDLESS, signal: controller.signal });
  const reason = new Error("enough");
  const rejected = t.rejects(pending, reason);
  await until("the statement that runs", () => clock.timers.includes(sqlLimits.timeMs));
  controller.abort(reason);
  await rejected;
  t.notOk(clock.timers.includes(sqlLimits.timeMs), "its time no longer runs");
});

t.test("a statement is ended when its time is over", async (t) => {
  const { store, clock } = await openedByClock(t);
  let isEnded = false;
  const rejected = t
    .rejects(store.sql({ project: "app", text: ENDLESS, signal: never }), {
      type: "timeout",
      message: "query: took more than 5 s; narrow it by time or fields",
    })
    .then(() => {
      isEnded = true;
    });
  await until("the statement that runs", () => clock.timers.includes(sqlLimits.timeMs));
  await clock.advance(sqlLimits.timeMs - 1);
  t.notOk(isEnded, "not before");
  await clock.advance(1);
  await rejected;
});

async function openedByClock(t: Test) {
  const clock = new TestClock();
  const data = mkdtempSync(join(tmpdir(), "isolated-sql-clock-"));
  const store = await openEventsStore({ directory: data, reserveBytes: 0, sqlLimits, clock });
  t.teardown(async () => {
    await store.close();
    await rm(data, { recursive: true });
  });
  return { store, clock };
}

/** All files below a folder, with their bytes, but for the journal. */
function shape(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => `${path} ${readFileSync(path).toString("base64").slice(0, 4000)}`);
}
