// `npm run bench:logservice`: ingest and the queries of a log service beside SQLite with FTS5 and a plain DuckDB table, in one
// run. EVENTS (1,000,000) of about 400 bytes; ROUNDS (9) of each query. The rival is no dependency:
// npm install --no-save libsql.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { parseQuery, type Target } from "../../../grammar/query/index.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { Range } from "../../../logservice/events/store.ts";
import { BEGIN_MS, eventsOf, SPACING_MS } from "./generate.ts";
import { openPlainTable } from "./plain-table.ts";
import { openSqlite } from "./sqlite.ts";

const total = Number(process.env.EVENTS ?? 1_000_000);
const rounds = Number(process.env.ROUNDS ?? 9);
const BATCH = 1000;
const never = new AbortController().signal;
const endMs = BEGIN_MS + total * SPACING_MS;

const loads = () =>
  loadavg()
    .map((load) => load.toFixed(1))
    .join(" ");
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, Linux ${release()}, load ${loads()}`,
);
console.log(`${total} events, batches of ${BATCH}, ${rounds} rounds a query\n`);

const directory = mkdtempSync(join(process.env.BENCH_DIRECTORY ?? tmpdir(), "bench-events-"));
const store = await openEventsStore({ directory: join(directory, "store") });
const table = await openPlainTable(join(directory, "table.duckdb"));
const sqlite = await openSqlite(join(directory, "events.sqlite"));

// Ingest. The events are made before the clock runs, a hundred thousand at a time.
let [ingestMs, tableMs, sqliteMs, bytes, residentPeak] = [0, 0, 0, 0, 0];
for (let from = 0; from < total; from += 100_000) {
  const events = eventsOf(from, Math.min(total, from + 100_000));
  for (const { message, fields } of events.slice(0, 1000))
    bytes += Buffer.byteLength(JSON.stringify({ message, fields }));
  const batches = Array.from({ length: Math.ceil(events.length / BATCH) }, (_, i) =>
    events.slice(i * BATCH, (i + 1) * BATCH),
  );
  const began = performance.now();
  // Eight clients, each waiting for its acknowledgement; one that is refused tries again.
  const client = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      for (;;) {
        try {
          await store.append("app", batch);
          break;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
      residentPeak = Math.max(residentPeak, resident());
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  ingestMs += performance.now() - began;
  tableMs += await table.append(events);
  sqliteMs += sqlite.append(events);
}
const flushed = performance.now();
await store.flush();
await store.compact();
const flushMs = performance.now() - flushed;
const rate = (ms: number) => `${Math.round(total / (ms / 1000)).toLocaleString("en")} events/s`;
console.log(`an event as JSON: about ${Math.round(bytes / (Math.ceil(total / 100_000) * 1000)) + 60} bytes`);
console.log(
  `ingest, acknowledged durable, in process: ${rate(ingestMs)} (then ${(flushMs / 1000).toFixed(1)} s until all is in segments)`,
);
console.log(
  `  plain DuckDB table, appender: ${rate(tableMs)}; SQLite with FTS5, a transaction a batch: ${rate(sqliteMs)}`,
);
console.log(
  `on disk, bytes an event: ${perEvent(join(directory, "store"))}; DuckDB table ${perEvent(join(directory, "table.duckdb"))}; SQLite ${perEvent(join(directory, "events.sqlite"))}`,
);
console.log(
  `resident memory, service and flusher: at most ${Math.round(residentPeak / 1e6)} MB (rivals and generator in the same process)\n`,
);

const range = (query: string, startMs = 0, stopMs = 4e12): Range => {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(query);
  return { project: "app", startMs, stopMs, query: query === "" ? undefined : parsed.value };
};
const newest = (query: string, startMs?: number) => () =>
  store.search(range(query, startMs), { limit: 100, order: "descending" }, never).then(({ events }) => events.length);
const field = (...path: string[]): Target => ({ at: "fields", path });
const hour = endMs - 3_600_000;

interface Measure {
  readonly what: string;
  readonly goal: string;
  readonly ours: () => Promise<unknown>;
  /** The same question; undefined where the rival has no way to ask it. */
  readonly table?: string;
  readonly sqlite?: string;
}
const all = "t, level, message, fields";
const json = (path: string) => `json_extract(fields, '$.${path}')`;
const measures: readonly Measure[] = [
  {
    what: "newest 100 of the last hour",
    goal: "25",
    ours: newest("", hour),
    table: `select ${all} from events where t >= ${hour} order by t desc limit 100`,
    sqlite: `select ${all} from events where t >= ${hour} order by t desc limit 100`,
  },
  {
    what: "newest 100 errors",
    goal: "25",
    ours: newest("error"),
    table: `select ${all} from events where level = 'error' order by t desc limit 100`,
    sqlite: `select ${all} from events where level = 'error' order by t desc limit 100`,
  },
  {
    what: 'newest 100, message contains "took long"',
    goal: "25",
    ours: newest('message contains "took long"'),
    table: `select ${all} from events where contains(message, 'took long') order by t desc limit 100`,
    sqlite: `select ${all} from events where id in (select rowid from texts where texts match '"took long"') order by t desc limit 100`,
  },
  {
    what: "newest 100 of user.email = x",
    goal: "50",
    ours: newest("user.email = user77@example.com"),
    table: `select ${all} from events where (fields->>'$.user.email') = 'user77@example.com' order by t desc limit 100`,
    sqlite: `select ${all} from events where fields->>'$.user.email' = 'user77@example.com' order by t desc limit 100`,
  },
  {
    what: "count of status >= 500",
    goal: "60",
    ours: () => store.count(range("status >= 500"), never).then(({ count }) => count),
    table: `select count(*)::int from events where ${json("status")}::double >= 500`,
    sqlite: "select count(*) from events where fields->>'$.status' >= 500",
  },
  {
    what: "count of nothing (status = 999)",
    goal: "20",
    ours: () => store.count(range("status = 999.5"), never).then(({ count }) => count),
    table: `select count(*)::int from events where ${json("status")}::double = 999.5`,
    sqlite: "select count(*) from events where fields->>'$.status' = 999.5",
  },
  {
    what: "contains with no match at all",
    goal: "500",
    ours: newest('message contains "no such text"'),
    table: `select ${all} from events where contains(message, 'no such text') order by t desc limit 100`,
    sqlite: `select ${all} from events where id in (select rowid from texts where texts match '"no such text"') order by t desc limit 100`,
  },
  {
    what: "60-bucket histogram, unfiltered",
    goal: "20",
    ours: () => store.levelTimeseries(range("", BEGIN_MS, endMs), 60, never).then(({ points }) => points.length),
    table: "select t // 3600000 as b, level, count(*) from events group by all",
    sqlite: "select cast(t / 3600000 as integer) as b, level, count(*) from events group by 1, 2",
  },
  {
    what: "60-bucket histogram of errors",
    goal: "100",
    ours: () => store.timeseries(range("error", BEGIN_MS, endMs), 60, never).then(({ points }) => points.length),
    table: "select t // 3600000 as b, count(*) from events where level = 'error' group by all",
    sqlite: "select cast(t / 3600000 as integer) as b, count(*) from events where level = 'error' group by 1",
  },
  {
    what: "top 10 of few values (host, errors)",
    goal: "60",
    ours: () => store.stringFieldStats(range("error"), field("host"), 10, never).then(({ values }) => values.length),
    table:
      "select fields->>'$.host' as v, count(*) from events where level = 'error' group by all order by 2 desc limit 10",
    sqlite:
      "select fields->>'$.host' as v, count(*) from events where level = 'error' group by 1 order by 2 desc limit 10",
  },
  {
    what: "top 10 of 500,000 values (user.email)",
    goal: "1000",
    ours: () =>
      store.stringFieldStats(range(""), field("user", "email"), 10, never).then(({ values }) => values.length),
    table: "select fields->>'$.user.email' as v, count(*) from events group by all order by 2 desc limit 10",
    sqlite: "select fields->>'$.user.email' as v, count(*) from events group by 1 order by 2 desc limit 10",
  },
  {
    what: "statistics of duration, unfiltered",
    goal: "20",
    ours: () => store.numericFieldStats(range(""), field("duration"), never).then(({ avg }) => avg),
    table: `select min(d), avg(d), max(d) from (select ${json("duration")}::double as d from events)`,
    sqlite: "select min(d), avg(d), max(d) from (select fields->>'$.duration' as d from events)",
  },
  {
    what: "statistics of duration, status >= 400",
    goal: "250",
    ours: () => store.numericFieldStats(range("status >= 400"), field("duration"), never).then(({ avg }) => avg),
    table: `select min(d), avg(d), max(d) from (select ${json("duration")}::double as d from events where ${json("status")}::double >= 400)`,
    sqlite:
      "select min(d), avg(d), max(d) from (select fields->>'$.duration' as d from events where fields->>'$.status' >= 400)",
  },
  {
    what: "discovered fields",
    goal: "20",
    ours: () => store.discoveredFields(range(""), never).then(({ fields }) => fields.length),
  },
  {
    what: "raw SQL: count by level",
    goal: "-",
    ours: () =>
      store
        .sql("app", "select level, count(*) as n from events group by all", never)
        .then(({ results }) => results.length),
    table: "select level, count(*) from events group by all",
    sqlite: "select level, count(*) from events group by 1",
  },
];

console.log("| what, ms p50 (min to max) | goal at 10 M | ours | DuckDB table | SQLite FTS5 |\n|---|---|---|---|---|");
for (const { what, goal, ours, table: asTable, sqlite: asSqlite } of measures) {
  const rivals = [
    ours,
    asTable === undefined ? undefined : () => table.all(asTable),
    asSqlite === undefined ? undefined : async () => sqlite.all(asSqlite),
  ];
  const times: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    // The rivals' scans of a second or more are not waited for as often.
    for (const [i, ask] of rivals.entries()) {
      if (ask === undefined || (i > 0 && round >= 3 && median(times[i]!) > 1000)) continue;
      const began = performance.now();
      await ask();
      times[i]!.push(performance.now() - began);
    }
  }
  console.log(`| ${what} | ${goal} | ${times.map(spread).join(" | ")} |`);
}
console.log(`\nload at the end: ${loads()}`);

await store.close();
table.close();
sqlite.close();
rmSync(directory, { recursive: true });

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function spread(times: readonly number[]): string {
  if (times.length === 0) return "-";
  const shown = (ms: number) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));
  return `${shown(median(times))} (${shown(Math.min(...times))} to ${shown(Math.max(...times))})`;
}

/** Resident bytes of this process and its children, as Linux tells them. */
function resident(): number {
  const own = process.memoryUsage.rss();
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return children.reduce((sum, pid) => {
    try {
      return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, own);
}

function perEvent(path: string): number {
  const size = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
    : ["", "-wal", ".wal"].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0);
  return Math.round(size / total);
}
