// Statements that cost time or memory: each ends within its limits, or with a right answer, and the next one is answered.
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { StoreError } from "../../../logservice/events/store.ts";
import { slow } from "../../support/slow.ts";
import { CANNOT_SEE_PROCESSES, sqlProcesses } from "../../support/sql/sql-processes.ts";

const directory = mkdtempSync(join(tmpdir(), "sql-cost-"));
const sqlLimits = { timeMs: 1000, memoryBytes: 400e6, rows: 1000, bytes: 1_000_000 };
/** How often the watch over a statement's process came, in the statement's own context. */
const watched = new AsyncLocalStorage<{ everyMs: number; looks: number }>();
const clock: Clock = {
  ...systemClock,
  every(everyMs, act, options) {
    const watch = watched.getStore();
    const look = () => {
      if (watch !== undefined) Object.assign(watch, { everyMs, looks: watch.looks + 1 });
      act();
    };
    return systemClock.every(everyMs, look, options);
  },
};
const store = await openEventsStore({ directory, reserveBytes: 0, sqlLimits, clock });
t.teardown(() => rm(directory, { recursive: true }));
const never = new AbortController().signal;
const EVENT = {
  ...{ id: "one", timestamp: "2026-11-22T08:49:21.908Z", level: "info" as const, message: "first" },
  fields: { n: 1 },
};
await store.append("app", [EVENT]);

const list = (count: number, item: string, separator: string) => Array(count).fill(item).join(separator);

/** With the answer if it may come: on a fast machine, or in less memory. Without one the statement has to be ended. */
const costly: readonly (readonly [title: string, sql: string, answer?: unknown])[] = [
  ["a cross join", "select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 8"],
  ["six cross joins", `select count(*) from ${list(6, "range(1000)", ", ")} where random() < 0`],
  ["a self join", "select count(*) from range(3000000) a join range(3000000) b on a.range % 10 = b.range % 10"],
  [
    "an endless recursion",
    "with recursive r(n) as (select 1::hugeint union all select n + 1 from r) select count(*) from r",
  ],
  [
    "a growing recursion",
    "with recursive r(s) as (select 'x' union all select s || s from r) select max(len(s)) from r",
  ],
  [
    "a doubling recursion",
    "with recursive r(n) as (select 1 union all (from r union all from r)) select count(*) from r",
  ],
  ["a text of a gigabyte", "select len(repeat('x', 1000000000))", [1e9]],
  ["a text of four gigabytes", "select len(repeat('xxxxxxxxxx', 430000000))"],
  ["many long texts", "select sum(len(repeat('x', 1000000 + i::integer))) from range(1000000) t(i)"],
  ["a long text as a result", "select repeat('x', 300000000)"],
  ["rpad", "select len(rpad('x', 2147483647, 'y'))", [2147483647]],
  ["lpad of many", "select sum(len(lpad(i::varchar, 10000000, 'y'))) from range(10000) t(i)"],
  ["printf", "select len(printf('%2000000000d', 1))", [2e9]],
  ["format", "select len(format('{:>2000000000}', 1))", [2e9]],
  ["a list of a thousand million", "select list_aggregate(range(1000000000), 'sum')"],
  ["a list of 2^31", "select len(range(2147483648))"],
  ["a list that is sorted", "select list_sort(range(200000000))[1]"],
  ["lists within lists", "select len(list_transform(range(100000), lambda x: range(100000)))"],
  ["list_reduce", "select list_reduce(range(1000), lambda x, y: x * 2 + y) from range(100000000)"],
  ["string_agg", "select len(string_agg(repeat('x', 1000), ',')) from range(10000000)"],
  ["list of rows", "select len(list(i)) from range(1000000000) t(i)"],
  ["distinct texts", "select count(distinct repeat(i::varchar, 100)) from range(100000000) t(i)"],
  ["a group for each row", "select count(*) from (select i, count(*) from range(1000000000) t(i) group by i)"],
  ["a sort", "select max(n) from (select row_number() over (order by hash(i)) as n from range(300000000) t(i))"],
  [
    "a window",
    "select max(s) from (select sum(i) over (order by i rows between 100000 preceding and 100000 following) as s from range(50000000) t(i))",
  ],
  ["generate_series", "select sum(generate_series) from generate_series(1, 10000000000000)"],
  ["unnest", "select sum(x) from (select unnest(range(1000000)) as x from range(1000000))"],
  ["a regular expression", "select regexp_matches(repeat('a', 100000), '^(a|a|aa)*b$')", [false]],
  ["counted repetitions", "select regexp_matches(repeat('a', 1000), '((a{0,10}){0,10}){0,10}b')", [false]],
  ["a replacement that grows", "select len(regexp_replace(repeat('a', 100000), 'a', repeat('b', 100000), 'g'))"],
  ["levenshtein", "select levenshtein(repeat('a', 100000), repeat('b', 100000))", [100000]],
  ["parentheses", `select ${list(20_000, "(", "")}1${list(20_000, ")", "")}`, [1]],
  ["subqueries", `select ${list(2000, "(select ", "")}1${list(2000, ")", "")}`, [1]],
  ["fewer subqueries", `select ${list(990, "(select ", "")}1${list(990, ")", "")}`, [1]],
  ["structs within structs", `select len(${list(450, "{'a': ", "")}'x'${list(450, "}", "")}::varchar)`, [3151]],
  ["thousands of ORs", `select count(*) from events where ${list(20_000, "id = 'x'", " or ")}`, [0]],
  ["a sum of thousands", `select ${list(20_000, "1", "+")}`, [20_000]],
  ["a giant IN list", `select count(*) from events where id in (${list(100_000, "'x'", ",")})`, [0]],
  ["a CASE of thousands", `select case ${list(5000, "when random() > 2 then 1", " ")} end`, [null]],
  ["columns by thousands", `select ${list(20_000, "1", ",")} from range(100000)`],
  [
    "definitions that double",
    `with a0 as (select 1 as x), ${Array.from({ length: 40 }, (_, i) => `a${i + 1} as (select * from a${i} union all select * from a${i})`).join(", ")} select count(*) from a40`,
  ],
  ["a factorial", "select factorial(33) * factorial(33)"],
  ["a power", "select pow(10, 400)", ["Infinity"]],
  ["a chain of unions", list(4000, "select 1", " union "), [1]],
  ["a chain of joins", `select count(*) from ${list(4000, "events", ", ")}`],
  ["queries in FROM", `${list(4000, "from (", "")}from events${list(4000, ")", "")}`],
  [
    "a chain of definitions",
    `with ${Array.from({ length: 3000 }, (_, i) => `a${i} as (from ${i === 0 ? "events" : `a${i - 1}`})`).join(", ")} select count(*) from a2999`,
    [1],
  ],
  ["calls within calls", `select ${list(900, "abs(", "")}1${list(900, ")", "")}`, [1]],
  ["lists within lists, written", `select len(${list(900, "[", "")}1${list(900, "]", "")})`, [1]],
  ["JSON of a giant text", "select json_valid('[' || repeat('[', 50000000) || ']')", [false]],
  [
    "a deep JSON",
    "select json_serialize_sql('select ' || repeat('(', 100000) || '1' || repeat(')', 100000)) is not null",
    [true],
  ],
  ["JSON of many rows", "select len(json_group_array(repeat('x', 1000))::varchar) from range(10000000)"],
  ["too many rows", "select * from range(1000000000)"],
  ["too wide rows", "select range(1000000) from range(1000)"],
];

t.test("each ends within its limits", slow(), async (t) => {
  // Most of them take all of the time that they may have.
  const limits = { ...sqlLimits, timeMs: 500 };
  const costlyStore = await openEventsStore({
    directory: join(directory, "costly"),
    reserveBytes: 0,
    sqlLimits: limits,
    clock,
  });
  t.teardown(() => costlyStore.close());
  await costlyStore.append("app", [EVENT]);
  let most = 0;
  const watch = setInterval(() => {
    if (!CANNOT_SEE_PROCESSES) for (const { bytes } of sqlProcesses()) most = Math.max(most, bytes);
  }, 10);
  const waiting = [...costly];
  const outcomes: string[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [title, sql, answer] = next;
      const watch = { everyMs: Number.NaN, looks: 0 };
      const outcome = await watched.run(watch, () =>
        costlyStore.sql({ project: "app", text: sql, signal: never }).then(
          ({ resultsJson }) => JSON.parse(resultsJson).map((row: object) => Object.values(row)[0]),
          (error: unknown) => error,
        ),
      );
      outcomes.push(
        `${title}: ${watch.looks} looks, ${outcome instanceof Error ? `${(outcome as StoreError).type} ${outcome.message.slice(0, 150)}` : JSON.stringify(outcome)}`,
      );
      if (outcome instanceof StoreError) t.match(outcome.type, /^(bad_request|timeout)$/, title);
      else t.strictSame(outcome, answer ?? "to be ended", title);
      // Where the machine is busy there are fewer, and never more than in its time.
      t.notOk(watch.looks > limits.timeMs / watch.everyMs, `${title} was looked at ${watch.looks} times`);
    }
  };
  await Promise.all([worker(), worker()]);
  clearInterval(watch);
  for (const outcome of outcomes) t.comment(outcome.replaceAll("\n", " "));
  t.comment(`at most ${Math.round(most / 1e6)} MB`);
  t.ok(most < limits.memoryBytes * 2, `${most} bytes`);
});

t.test("too much memory is the statement's fault, not a timeout", async (t) => {
  const limits = { ...sqlLimits, timeMs: 60_000, memoryBytes: 250e6 };
  const other = await openEventsStore({ directory: join(directory, "other"), reserveBytes: 0, sqlLimits: limits });
  t.teardown(() => other.close());
  const rows: readonly (readonly [sql: string, message: string | RegExp])[] = [
    // Counted by the engine, but on a busy machine it may be seen from outside first.
    [
      "select len(list(i)) from range(1000000000) t(i)",
      /^query: (takes more memory than it may have|took more than 250 MB of memory)/,
    ],
    // Seen from outside only.
    ["select list_aggregate(range(1000000000), 'sum')", "query: took more than 250 MB of memory; narrow it"],
  ];
  for (const [sql, message] of rows) {
    await t.rejects(other.sql({ project: "app", text: sql, signal: never }), { type: "bad_request", message }, sql);
  }
});

t.test("the store goes on, and leaves no process behind", async (t) => {
  const { resultsJson } = await store.sql({ project: "app", text: "select count(*) as n from events", signal: never });
  t.equal(resultsJson, '[{"n":1}]');
  t.equal((await store.count({ project: "app", startMs: 0, stopMs: 4e12, query: undefined, signal: never })).count, 1);
  await store.close();
  if (CANNOT_SEE_PROCESSES) return;
  t.strictSame(sqlProcesses(), []);
});
