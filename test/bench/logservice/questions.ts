// The queries of the measures: what is asked of the service and of each rival, and what of the answers must be the same.

import { histogramSteps } from "../../../logservice/events/histogram-steps.ts";
import type { Operations } from "../../../schema/rpc.generated.ts";
import { BEGIN_MS, FIELD_PATHS, PROJECT, timeOf } from "./bodies.ts";
import type { RivalName } from "./rivals.ts";

type Rows = readonly (readonly unknown[])[];

export interface Question {
  readonly what: string;
  /** Milliseconds at ten million events, p50. */
  readonly goalMs: number | undefined;
  readonly ours: Ask;
  /** The same in SQL; without it no rival has a way to ask it. */
  readonly sql?: (rival: RivalName) => string;
  /** The part of a rival's rows that the answers are compared by. */
  readonly rows?: (rows: Rows) => unknown;
  /** The required answer if no rival gives one. */
  readonly expected?: unknown;
}

/** One request, and what of its answer is compared. */
export interface Ask {
  readonly operation: keyof Operations;
  readonly input: Readonly<Record<string, unknown>>;
  readonly answer: (output: never) => unknown;
}

/** The questions about the first `total` events. */
export function questionsOf(total: number): readonly Question[] {
  const lastMs = timeOf(total - 1);
  const hourMs = lastMs - 3_600_000;
  const range = (query = "", startMs = BEGIN_MS) => ({
    project_id: PROJECT,
    start: new Date(startMs).toISOString(),
    stop: new Date(lastMs).toISOString(),
    ...(query !== "" && { query }),
  });
  const newest = (query: string, startMs?: number): Ask => ({
    operation: "search",
    input: { ...range(query, startMs), limit: 100 },
    answer: ({ events }: Operations["search"]["output"]) => events.map(({ timestamp }) => Date.parse(timestamp!)),
  });
  const count = (query: string): Ask => ({
    operation: "get_count",
    input: range(query),
    answer: ({ count }: Operations["get_count"]["output"]) => count,
  });
  const top = (field: string, query = ""): Ask => ({
    operation: "get_string_field_stats",
    input: { ...range(query), field, limit: 10 },
    answer: ({ values }: Operations["get_string_field_stats"]["output"]) => values.map(({ count }) => count),
  });
  const numbers = (query = ""): Ask => ({
    operation: "get_numeric_field_stats",
    input: { ...range(query), field: "duration" },
    answer: ({ min, avg, max }: Operations["get_numeric_field_stats"]["output"]) => [min, rounded(avg), max],
  });
  const stages = (query: string): Ask => ({
    operation: "aggregate",
    input: { ...range(), query },
    answer: ({ rows }: Operations["aggregate"]["output"]) => groupsOf(rows),
  });
  const levels = (startMs?: number): Ask => ({
    operation: "get_level_timeseries",
    input: { ...range("", startMs), max_points: 60 },
    answer: ({ points }: Operations["get_level_timeseries"]["output"]) => counts(points.map(({ count }) => count)),
  });
  const levelsSql =
    (stepMs: number, where = "true") =>
    (rival: RivalName) =>
      `select ${bucket(rival, stepMs)}, level, count(*) from events where ${where} group by 1, 2`;
  const discovered = (startMs?: number): Ask => ({
    operation: "get_discovered_fields",
    input: range("", startMs),
    answer: ({ fields }: Operations["get_discovered_fields"]["output"]) => fields.length,
  });
  const newestSql = (where: string | ((rival: RivalName) => string)) => (rival: RivalName) =>
    `select t, level, message, fields from events where ${typeof where === "string" ? where : where(rival)} order by t desc limit 100`;
  /** FTS5 looks for words in a row, which here is the same. */
  const contains = (text: string) => (rival: RivalName) =>
    rival === "table"
      ? `contains(message, '${text}')`
      : `id in (select rowid from texts where texts match '"${text}"')`;
  const number = (path: string, rival: RivalName) =>
    rival === "table" ? `(fields->>'$.${path}')::double` : `(fields->>'$.${path}')`;
  /** The nearest rank, in a way that both rivals have. */
  const p99Sql = (field: string, rival: RivalName) =>
    `select f, d from (select f, d, row_number() over (partition by f order by d) as place, count(*) over (partition by f) as n
      from (select fields->>'$.${field}' as f, ${number("duration", rival)} as d from events)) where place = (99 * n + 99) ${rival === "table" ? "//" : "/"} 100`;
  const bucket = (rival: RivalName, stepMs: number) => (rival === "table" ? `t // ${stepMs}` : `t / ${stepMs}`);
  const { stepMs } = histogramSteps(BEGIN_MS, lastMs, 60);

  return [
    {
      what: "newest 100 of the last hour",
      goalMs: 25,
      ours: newest("", hourMs),
      sql: newestSql(`t >= ${hourMs}`),
      rows: firsts,
    },
    { what: "newest 100 errors", goalMs: 25, ours: newest("error"), sql: newestSql("level = 'error'"), rows: firsts },
    {
      what: 'newest 100, `message contains "took long"`',
      goalMs: 25,
      ours: newest('message contains "took long"'),
      sql: newestSql(contains("took long")),
      rows: firsts,
    },
    {
      what: "newest 100 of `user.email = x`",
      goalMs: 50,
      ours: newest("user.email = user000077@example.com"),
      sql: newestSql("(fields->>'$.user.email') = 'user000077@example.com'"),
      rows: firsts,
    },
    {
      what: "count of `status >= 500`",
      goalMs: 60,
      ours: count("status >= 500"),
      sql: (rival) => `select count(*) from events where ${number("status", rival)} >= 500`,
      rows: onlyNumber,
    },
    {
      what: "count of nothing (`status = 999.5`)",
      goalMs: 20,
      ours: count("status = 999.5"),
      sql: (rival) => `select count(*) from events where ${number("status", rival)} = 999.5`,
      rows: onlyNumber,
    },
    {
      what: "contains with no match at all",
      goalMs: 500,
      ours: newest('message contains "no such text"'),
      sql: newestSql(contains("no such text")),
      rows: firsts,
    },
    {
      what: "60-bucket histogram by level, unfiltered",
      goalMs: 20,
      ours: levels(),
      sql: levelsSql(stepMs),
      rows: levelCounts,
    },
    {
      what: "the same of the last hour, which begins within a segment",
      goalMs: 20,
      ours: levels(hourMs),
      sql: levelsSql(histogramSteps(hourMs, lastMs, 60).stepMs, `t >= ${hourMs}`),
      rows: levelCounts,
    },
    {
      what: "60-bucket histogram of errors",
      goalMs: 100,
      ours: {
        operation: "get_timeseries",
        input: { ...range("error"), max_points: 60 },
        answer: ({ points }: Operations["get_timeseries"]["output"]) => counts(points.map(({ count }) => count)),
      },
      sql: (rival) => `select ${bucket(rival, stepMs)}, count(*) from events where level = 'error' group by 1`,
      rows: (rows) => counts(rows.map((row) => Number(row[1]))),
    },
    {
      what: "top 10 of 20 values, of errors",
      goalMs: 60,
      ours: top("host", "error"),
      sql: () =>
        "select fields->>'$.host', count(*) from events where level = 'error' group by 1 order by 2 desc limit 10",
      rows: (rows) => rows.map((row) => Number(row[1])),
    },
    {
      what: "top 10 of 500,000 values",
      goalMs: 1000,
      ours: top("user.email"),
      sql: () => "select fields->>'$.user.email', count(*) from events group by 1 order by 2 desc limit 10",
      rows: (rows) => rows.map((row) => Number(row[1])),
    },
    {
      what: "statistics of a number, unfiltered",
      goalMs: 20,
      ours: numbers(),
      sql: (rival) => `select min(d), avg(d), max(d) from (select ${number("duration", rival)} as d from events)`,
      rows: statistics,
    },
    {
      what: "statistics of a number, `status >= 400`",
      goalMs: 250,
      ours: numbers("status >= 400"),
      sql: (rival) =>
        `select min(d), avg(d), max(d) from (select ${number("duration", rival)} as d from events where ${number("status", rival)} >= 400)`,
      rows: statistics,
    },
    {
      what: "`| count by status`",
      goalMs: 100,
      ours: stages("| count by status"),
      sql: (rival) => `select ${number("status", rival)}, count(*) from events group by 1`,
      rows: groupsOf,
    },
    {
      what: "`| stats p99(duration) by service`",
      goalMs: 400,
      ours: stages("| stats p99(duration) by service"),
      sql: (rival) => p99Sql("service", rival),
      rows: groupsOf,
    },
    {
      what: "`| stats p99(duration) by path`, ten thousand paths",
      goalMs: undefined,
      ours: stages("| stats p99(duration) by path"),
      sql: (rival) => p99Sql("path", rival),
      rows: groupsOf,
    },
    {
      what: "`status >= 500 | count by path`",
      goalMs: undefined,
      ours: stages("status >= 500 | count by path"),
      sql: (rival) =>
        `select fields->>'$.path', count(*) from events where ${number("status", rival)} >= 500 group by 1`,
      rows: groupsOf,
    },
    {
      what: "`| top 10 user.id`, 100,000 users",
      goalMs: undefined,
      ours: stages("| top 10 user.id | fields count"),
      sql: (rival) => `select count(*) from events group by ${number("user.id", rival)} order by 1 desc limit 10`,
      rows: groupsOf,
    },
    {
      what: "`| timeseries count(), avg(duration) by level`",
      goalMs: undefined,
      ours: stages("| timeseries count(), avg(duration) by level | where count > 0 | fields count"),
      expected: undefined,
    },
    {
      what: "discovered fields",
      goalMs: 20,
      ours: discovered(),
      expected: FIELD_PATHS,
    },
    {
      what: "discovered fields of the last hour, which begins within a segment",
      goalMs: 20,
      ours: discovered(hourMs),
      expected: FIELD_PATHS,
    },
    {
      what: "raw SQL, count by level, in a process of its own",
      goalMs: undefined,
      ours: {
        operation: "query",
        input: { project_id: PROJECT, query: "select level, count(*) as n from events group by all" },
        answer: ({ results }: Operations["query"]["output"]) => counts(results.map(({ n }) => Number(n))),
      },
      sql: () => "select level, count(*) from events group by 1",
      rows: (rows) => counts(rows.map((row) => Number(row[1]))),
    },
  ];
}

/** Returns the questions that a page of the log asks when it is opened: these are read beside ingest. */
export function pageOf(questions: readonly Question[]): readonly Ask[] {
  const wanted = [
    "newest 100 of the last hour",
    "newest 100 errors",
    "count of `status >= 500`",
    "60-bucket histogram by level, unfiltered",
    "top 10 of 20 values, of errors",
    "discovered fields",
  ];
  return wanted.map((what) => questions.find((question) => question.what === what)!.ours);
}

const firsts = (rows: Rows) => rows.map((row) => Number(row[0]));
const onlyNumber = (rows: Rows) => Number(rows[0]![0]);
const levelCounts = (rows: Rows) => counts(rows.map((row) => Number(row[2])));
const statistics = (rows: Rows) => [Number(rows[0]![0]), rounded(Number(rows[0]![1])), Number(rows[0]![2])];
/** Empty steps are in our answers only, and the order is each one's own. */
const counts = (all: readonly number[]) => all.filter((count) => count > 0).sort((a, b) => a - b);
/** Groups of the same value may be in any order. */
const groupsOf = (rows: Rows) => rows.map((row) => row.map(String).join(" ")).sort();
/** Sums in another order differ in the last digits. */
const rounded = (value: number | null) => (value === null ? null : Number(value.toPrecision(9)));
