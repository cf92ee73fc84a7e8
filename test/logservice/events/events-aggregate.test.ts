// The results of the stages of queries on stored events: random pipelines over odd events, in memory, in segments and
// half in each, and on ClickHouse where chdb is installed, against the same stages over an array.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type Column, parsePipeline } from "../../../grammar/query/index.ts";
import { FUNCTIONS, PIPE_WORDS } from "../../../grammar/query/reference.ts";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { encodeBatch } from "../../../logservice/events/journal/batch-lines.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import { MemtableEvents } from "../../../logservice/events/memtable.ts";
import { ColumnBudget, type ColumnRequest } from "../../../logservice/events/memtable-columns.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { type AggregateQuery, type EventsStore, type NewEvent, StoreError } from "../../../logservice/events/store.ts";
import { openClickHouse, withoutClickHouse } from "../../support/clickhouse/open.ts";
import { oddEvents } from "../../support/events/generate.ts";
import { openOracle } from "../../support/events/oracle.ts";
import { differenceOf, randomPipeline } from "../../support/events/random-pipeline.ts";
import { randomOf } from "../../support/random.ts";
import { slow } from "../../support/slow.ts";

const BEGIN_MS = Date.parse("2024-05-01T10:00:00Z");
const NOW_MS = Date.parse("2024-05-01T14:00:00Z");
const nowMs = () => NOW_MS;
const never = new AbortController().signal;
const COUNT = Number(process.env.FUZZ_COUNT ?? 120);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

async function openDuck(t: { teardown(end: () => Promise<void>): void }) {
  const directory = await mkdtemp(join(tmpdir(), "events-"));
  const store = await openEventsStore({ directory, nowMs, reserveBytes: 0 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  return store;
}

const queryOf = (text: string, range: Partial<AggregateQuery> = {}): AggregateQuery => {
  const parsed = parsePipeline(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problems[0]?.message}`);
  const { query, pipes } = parsed.value;
  return {
    project: "app",
    startMs: BEGIN_MS - 3_600_000,
    stopMs: BEGIN_MS + 3 * 3_600_000,
    query: query.expr === undefined ? undefined : query,
    pipes: pipes,
    limit: 10_000,
    signal: never,
    ...range,
  };
};

/** Events with ids of their own, as those that a store makes differ; some by a clock elsewhere. */
const events = oddEvents(3_000, 7, BEGIN_MS, 2_000).map(
  (event, at): NewEvent => ({
    ...event,
    id: `e${(at * 7919) % 3000}`,
    ...(at % 11 === 0 && event.timestamp.endsWith("Z") && { timestamp: elsewhere(event.timestamp, at) }),
  }),
);

/** The same time, or some nanoseconds later, with an offset. */
function elsewhere(timestamp: string, at: number): string {
  const [hours, zone] = at % 2 === 0 ? [5.5, "+05:30"] : [-9, "-09:00"];
  const local = new Date(Date.parse(timestamp) + hours * 3_600_000).toISOString();
  return local.replace("Z", `${["", "000002", "9"][at % 3]}${zone}`);
}

async function filled(
  store: Pick<EventsStore, "append"> & { flush?(): Promise<void> },
  flushAt: readonly number[],
): Promise<void> {
  for (let at = 0; at < events.length; at += 250) {
    await store.append("app", events.slice(at, at + 250));
    if (flushAt.includes(at)) await store.flush?.();
  }
}

const RANGES: readonly Partial<AggregateQuery>[] = [
  {},
  { startMs: BEGIN_MS + 1_000_000, stopMs: BEGIN_MS + 4_000_000 },
  { startMs: BEGIN_MS + 60_000, stopMs: BEGIN_MS + 20 * 60_000 - 1 },
];

t.test("each stage and each function is drawn", (t) => {
  const random = randomOf(SEED);
  const texts = Array.from({ length: 500 }, () => randomPipeline(random)).join("\n");
  for (const word of PIPE_WORDS) t.match(texts, new RegExp(`\\| ${word}\\b`));
  for (const name of Object.keys(FUNCTIONS))
    t.match(texts, new RegExp(`\\b${name === "pNN" ? "p[\\d.]+" : name}\\(`), name);
  t.end();
});

for (const [name, flushAt, options] of [
  ["newest in memory", [], slow()],
  ["all in segments", [500, 1250, 2750], slow()],
  ["some of each", [1000, 2000], {}],
] as const) {
  t.test(`random pipelines: ${name}`, options, async (t) => compareRandom(t, await openDuck(t), flushAt));
}

t.test("random pipelines: ClickHouse", withoutClickHouse ? { skip: withoutClickHouse } : slow(), async (t) =>
  compareRandom(t, await openClickHouse(t, nowMs), []),
);

type Tap = typeof t;

async function compareRandom(
  t: Pick<Tap, "equal" | "ok" | "fail">,
  store: Pick<EventsStore, "append" | "aggregate">,
  flushAt: readonly number[],
): Promise<void> {
  const oracle = openOracle(nowMs);
  await filled(oracle, []);
  await filled(store, flushAt);
  const random = randomOf(SEED);
  let rows = 0;
  for (let n = 0; n < COUNT; n++) {
    const text = randomPipeline(random);
    if (!parsePipeline(text).ok) continue;
    const question = queryOf(text, random.pick(RANGES));
    const [expected, actual] = await Promise.all(
      [oracle, store].map((one) => one.aggregate(question).catch((error: StoreError) => error)),
    );
    if (expected instanceof Error || actual instanceof Error) {
      t.equal(actual instanceof StoreError && actual.type, "bad_request", `${text}: ${actual}`);
      continue;
    }
    rows += expected!.rows.length;
    const difference = differenceOf(expected!, actual!);
    if (difference !== undefined) t.fail(`${text}\n${difference}`);
  }
  t.ok(rows > COUNT, `${rows} rows`);
}

t.test("a question over events in memory parses only those that came since the fields were asked", async (t) => {
  const rows: [text: string, again: string][] = [
    ["| count by service", "| count by service"],
    ["| stats avg(duration), max(duration) by service", "| stats sum(duration), count(duration) by service"],
    ["| stats sum(duration), min(duration) by tags, service", "| stats max(duration) by service, tags"],
    ["| timeseries 1m count(), avg(duration) by service", "level >= error | timeseries 30s sum(duration) by service"],
    ["level >= warning | count by service, duration", "level >= warning | count by duration"],
    ["| count by request.user", "level != debug | count by request.user"],
  ];
  const TAGS = [undefined, ["a", "b"], ["b", ["c", 1]], "a", [], null, { a: 1 }];
  const DURATIONS = [0.1, 0.2, -0, 1e300, "slow", [1, "x", [2.5]], undefined, null, true, { ms: 1 }];
  const some = (first: number, count: number) =>
    Array.from({ length: count }, (_, at): NewEvent => {
      const n = first + at;
      // Some are nanoseconds before a step, where milliseconds are rounded up to it.
      const rest = n % 5 === 0 ? ".999999999Z" : n % 5 === 1 ? ".000000001Z" : "Z";
      const fields = {
        service: `s${n % 4}`,
        tags: TAGS[n % TAGS.length],
        duration: DURATIONS[n % DURATIONS.length],
        request: { user: n % 3 === 0 ? n : String(n) },
      };
      const timestamp = new Date(BEGIN_MS + n * 1000).toISOString().replace(".000Z", rest);
      return { id: `e${n}`, timestamp, level: ["info", "error", "warn", "debug"][n % 4]!, message: `m${n}`, fields };
    });
  const [oracle, store] = [openOracle(nowMs), await openDuck(t)];
  for (const [row, [text, again]] of rows.entries()) {
    const project = `app-${row}`;
    const append = async (events: readonly NewEvent[]) => {
      for (const one of [oracle, store]) await one.append(project, events);
    };
    const parsed = async (text: string) => {
      const before = store.metrics().newest_lines_parsed_total!;
      for (const one of RANGES.slice(0, 2)) {
        const range = { ...one, project };
        const [expected, actual] = [
          await oracle.aggregate(queryOf(text, range)),
          await store.aggregate(queryOf(text, range)),
        ];
        t.equal(differenceOf(expected, actual), undefined, text);
      }
      return store.metrics().newest_lines_parsed_total! - before;
    };
    await append(some(0, 1200));
    await append(some(1200, 300));
    t.equal(await parsed(text), 1500, `${text}: all, once`);
    t.equal(await parsed(text), 0, `${text}: again`);
    t.equal(await parsed(again), 0, `${again}: of the same fields`);
    await append(some(1500, 17));
    t.equal(await parsed(again), 17, `${again}: those that came since`);
    const other = `| count by service, other${row}`;
    t.equal(await parsed(other), 1517, "of another field");
    await append(some(1517, 13));
    t.equal(await parsed(text), 13, `${text}: those that came since`);
    t.equal(await parsed(other), 0, "parsed for that question, too");
    t.ok(store.metrics().newest_column_bytes! > 0);
    await store.flush();
    t.equal(store.metrics().newest_column_bytes, 0, `${text}: nothing is kept of events in segments`);
    t.equal(await parsed(text), 0, `${text}: in a segment`);
    await append(some(1530, 40));
    t.equal(await parsed(other), 40, "the next events");
    t.equal(await parsed(text), 0, `${text}: parsed for that question, too`);
  }
});

t.test("a filter of fields reads columns from the second time on, and no event afterwards", async (t) => {
  const rows: [text: string, mostFirst: number, again: string][] = [
    // The lines that may be selected are found by their bytes: only these are parsed.
    ["status >= 500 | count by path", 300, "status < 300 | count by path"],
    ["status = 503 and level = error | count by path", 300, "path = /p1 or status = 500 | count by path"],
    ["status in (500, 503) | stats sum(size) by path", 400, "status >= 500 | stats max(size), count(size) by path"],
    // Bytes say nothing about such a query: all lines are parsed.
    ["not status = 200 | count by path", 1000, "not status in (200, 404) | count by path"],
    ["not exists user | count by path", 1000, 'user = "" or not user | count by path'],
    ["user != null | count by path", 1000, "user = null | count by path"],
  ];
  const STATUS = [200, 201, 301, 404, 500, 200, "200", [200, 404], 503, undefined];
  const USER = [null, undefined, "", "a", 0, -0, false, { name: "a" }, [null], [["a"]], []];
  const some = (first: number, count: number) =>
    Array.from({ length: count }, (_, at): NewEvent => {
      const n = first + at;
      const fields = { status: STATUS[n % STATUS.length], path: `/p${n % 7}`, size: n, user: USER[n % USER.length] };
      const timestamp = new Date(BEGIN_MS + n * 1000).toISOString();
      return { id: `e${n}`, timestamp, level: n % 10 === 8 ? "err" : "info", message: `m${n}`, fields };
    });
  for (const [text, mostFirst, again] of rows) {
    const [oracle, store] = [openOracle(nowMs), await openDuck(t)];
    const append = async (events: readonly NewEvent[]) => {
      for (const one of [oracle, store]) await one.append("app", events);
    };
    const parsed = async (text: string) => {
      const before = store.metrics().newest_lines_parsed_total!;
      const [expected, actual] = [await oracle.aggregate(queryOf(text)), await store.aggregate(queryOf(text))];
      t.equal(differenceOf(expected, actual), undefined, text);
      return store.metrics().newest_lines_parsed_total! - before;
    };
    await append(some(0, 1000));
    const first = await parsed(text);
    t.ok(first > 0 && first <= mostFirst, `${text}: ${first} lines`);
    t.equal(await parsed(text), 1000 - first, `${text}: the others`);
    t.equal(await parsed(text), 0, `${text}: again`);
    t.equal(await parsed(again), 0, `${again}: of the same fields`);
    await append(some(1000, 23));
    t.equal(await parsed(text), 23, `${text}: those that came since`);
  }
});

t.test("groups of events that are all in memory ask no SQL, and of others one row a group is bound", async (t) => {
  const PATHS = 700;
  const rows: [text: string, mostBound: number][] = [
    ["| count by path", 20 * PATHS],
    ["| top 5 path", 20 * PATHS],
    ["| count by path | sort path desc | limit 3", 20 * PATHS],
    ["| count by path, list | where count > 2 | sort count | limit 30", 100 * PATHS],
    ["| stats p50(duration), p99.9(duration), p0(duration), p100(duration) by service", 8 * 2200],
    ["| stats p90(mixed) as p, count(mixed) as n, sum(duration) as s by service | sort p desc", 16 * 2200],
    ["| stats distinct(path) as a, distinct(mixed) as b, distinct(level) by service", 30 * PATHS],
    ["| stats distinct(list), p33.3(list)", 8 * 2200],
    ["| timeseries 5m p75(duration), distinct(service) by service", 16 * 2200],
    ["level >= error | stats p95(duration) by mixed", 8 * 2200],
    ["| stats p95(nothing), distinct(nothing)", 100],
    ["nothing = 1 | stats p95(duration), count(), distinct(path), sum(duration)", 100],
  ];
  const MIXED = [1, "1", true, null, undefined, 2.5, "a", [3, "b", [4]], { a: 1 }, -0, 0];
  const some = (first: number, count: number) =>
    Array.from({ length: count }, (_, at): NewEvent => {
      const n = first + at;
      const fields = {
        service: `s${n % 3}`,
        path: `/p${(n * n) % PATHS}`,
        duration: ((n * 7919) % 1000) / 8,
        mixed: MIXED[n % MIXED.length],
        list: n % 4 === 0 ? [n % 3, "x"] : n % 5,
      };
      const timestamp = new Date(BEGIN_MS + n * 1000).toISOString();
      return { id: `e${n}`, timestamp, level: n % 10 === 8 ? "err" : "info", message: `m${n}`, fields };
    });
  const [oracle, store] = [openOracle(nowMs), await openDuck(t)];
  const append = async (events: readonly NewEvent[]) => {
    for (const one of [oracle, store]) await one.append("app", events);
  };
  const { runnerOf } = ConnectionPool.prototype;
  let [statements, bound] = [0, 0];
  ConnectionPool.prototype.runnerOf = function (asker) {
    const runner = runnerOf.call(this, asker);
    return {
      run(text, values, ...rest) {
        statements++;
        for (const value of values) bound += String(value).length;
        return runner.run(text, values, ...rest);
      },
    };
  };
  t.teardown(() => {
    ConnectionPool.prototype.runnerOf = runnerOf;
  });
  const ask = async (text: string) => {
    [statements, bound] = [0, 0];
    for (const range of [{}, { limit: 7 }]) {
      const [expected, actual] = [
        await oracle.aggregate(queryOf(text, range)),
        await store.aggregate(queryOf(text, range)),
      ];
      t.equal(differenceOf(expected, actual), undefined, text);
    }
  };
  await append(some(0, 2200));
  for (const [text] of rows) {
    await ask(text);
    t.equal(statements, 0, `${text}: no statement`);
  }
  await store.flush();
  await append(some(2200, 2200));
  for (const [text, mostBound] of rows) {
    await ask(text);
    t.ok(bound / 2 <= mostBound, `${text}: ${bound / 2} characters were bound`);
  }
  await store.flush();
  for (const [text] of rows) await ask(text);
});

t.test("columns of memtables keep to their share of memory", async (t) => {
  const budget = new ColumnBudget(60_000);
  const request = (text: string, use: ColumnRequest["use"] = "values") => {
    const [pipe] = queryOf(`| count by ${text}`).pipes;
    return { column: (pipe as { by: readonly Column[] }).by[0]!, use };
  };
  const batch = (first: number, count: number) => {
    const encoded = Array.from({ length: count }, (_, n) =>
      encodeEvent({
        timestamp: new Date(BEGIN_MS + n).toISOString(),
        level: "info",
        message: `a message of some length, ${first + n}`,
        fields: { few: n % 3, other: n % 2, duration: n, list: [n], note: n % 10 === 0 ? "text" : n },
      }),
    );
    return encodeBatch("app", first, encoded);
  };
  const [one, two] = [new MemtableEvents(budget), new MemtableEvents(budget)];
  for (const events of [one, two]) events.add(batch(1, 1000));
  const sizes = async (events: MemtableEvents, ...requests: ReturnType<typeof request>[]) =>
    (await events.columns.read(requests, events.length, never))?.map(({ size }) => size);
  t.same(await sizes(one, request("few"), request("other"), request("few")), [1000, 1000, 1000]);
  const bytesOfTwo = budget.bytes;
  t.same(await sizes(one, request("few"), request("duration", "numbers")), [1000, 1000]);
  t.ok(budget.bytes > bytesOfTwo && budget.bytes <= budget.mostBytes);
  t.equal(await sizes(one, request("message")), undefined, "more than all of the share");
  const parsed = budget.linesParsed;
  t.equal(await sizes(one, request("message")), undefined, "is not tried again");
  t.equal(budget.linesParsed, parsed);
  t.ok(budget.bytes <= budget.mostBytes);
  t.same(await sizes(two, request("few"), request("note", "numbers")), [1000, 1000], "others make room");
  t.ok(budget.bytes <= budget.mostBytes);
  one.columns.drop();
  two.columns.drop();
  t.equal(budget.bytes, 0, "nothing is left");
  t.equal(await sizes(two, request("few")), undefined, "a memtable that is gone keeps none");
  t.equal(budget.bytes, 0);
});
