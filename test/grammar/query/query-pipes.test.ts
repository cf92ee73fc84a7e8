// Queries with stages: what each stage gives, what is said of wrong ones, and random pipelines against the plainest
// evaluation over an array.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import type { Entry } from "../../../grammar/entry.ts";
import { applyEdits, editsTogether } from "../../../grammar/problem.ts";
import {
  compilePredicate,
  PipesRun,
  parsePipeline,
  parseQuery,
  printPipeline,
  readsOfPipeline,
} from "../../../grammar/query/index.ts";
import { FUNCTIONS, PIPE_WORDS } from "../../../grammar/query/reference.ts";
import { root } from "../../support/cli.ts";
import { random, textsNear } from "../../support/parser-fuzz.ts";
import { byOracle, parsed } from "../../support/pipe-oracle.ts";
import { recorderOf } from "../../support/vectors.ts";
import vectors from "../../vectors/query-pipes.json" with { type: "json" };

const record = recorderOf("query-pipes.json", vectors);

const NOW = Date.parse("2026-05-01T12:00:00Z");

/** The entries of the rows in query-pipes.json, ten seconds apart. */
const entries: Entry[] = vectors.entries.map(({ level = "info", message = "m", ...fields }, at) => ({
  timestamp: new Date(NOW + at * 10_000).toISOString(),
  level,
  message,
  fields,
}));

function run(source: string, of: readonly Entry[] = entries, range = {}) {
  const pipeline = parsed(source);
  const pipes = new PipesRun(pipeline, { nowMs: NOW, range });
  const selects = compilePredicate(pipeline.query, { nowMs: NOW });
  for (const entry of of) if (selects(entry)) pipes.push(entry);
  // Asking changes nothing.
  pipes.result();
  return pipes.result();
}

function rowsOf(source: string, of?: readonly Entry[], range?: object) {
  const result = run(source, of, range);
  return result.kind === "table"
    ? { columns: result.columns.map(({ name }) => name), rows: result.rows }
    : { entries: result.entries.map(({ message }) => message) };
}

t.test("rows: what the stages give, and the canonical text", (t) => {
  for (const row of vectors.valid) {
    const parsed = parsePipeline(row.query);
    if (parsed.ok) {
      const text = printPipeline(parsed.value);
      const nothing = { entries: undefined, columns: undefined, rows: undefined };
      record(row, { canonical: text === row.query ? undefined : text, ...nothing, ...rowsOf(row.query) });
    }
    const { query, canonical = query, ...expected } = row;
    if (!parsed.ok) {
      t.fail(`${query}: ${JSON.stringify(parsed.problems)}`);
      continue;
    }
    t.equal(printPipeline(parsed.value), canonical, query);
    const again = parsePipeline(canonical);
    t.equal(again.ok && printPipeline(again.value), canonical, `${canonical} reads back`);
    t.strictSame(rowsOf(query), expected, query);
  }
  t.end();
});

t.test("rows: what is wrong, where, and the query that the fix leads to", (t) => {
  for (const row of vectors.invalid) {
    const { query } = row;
    const parsed = parsePipeline(query);
    const [problem] = parsed.ok ? [] : parsed.problems;
    if (problem !== undefined) {
      record(row, {
        code: problem.code.replace(/^query\//, ""),
        at: query.slice(problem.span.start, problem.span.end),
        fixed: problem.fix && applyEdits(query, problem.fix.edits),
      });
    }
    const { code, at, fixed } = row;
    if (problem === undefined) {
      t.fail(`${query} is accepted`);
      continue;
    }
    t.equal(problem.code, `query/${code}`, query);
    t.equal(query.slice(problem.span.start, problem.span.end), at, query);
    t.ok(problem.hint, query);
    const result = problem.fix === undefined ? undefined : applyEdits(query, problem.fix.edits);
    t.equal(result, fixed, query);
    if (
      fixed !== undefined &&
      problem.fix?.isSuggestion !== true &&
      parsed.ok === false &&
      parsed.problems.length === 1
    )
      t.ok(parsePipeline(fixed).ok, `${fixed} is right`);
  }
  t.end();
});

t.test("at most five problems of stages are told", (t) => {
  for (const source of ["| count by count ".repeat(64), "| limi 5 ".repeat(20)]) {
    const parsed = parsePipeline(source);
    t.equal(parsed.ok ? 0 : parsed.problems.length, 5, source);
  }
  t.end();
});

/** Every fix applied, again and again, until the text is a pipeline; undefined where one is missing. */
function allFixed(query: string): string | undefined {
  let source = query;
  for (let round = 0; round < 8; round++) {
    const parsed = parsePipeline(source);
    if (parsed.ok) return source;
    const edits = editsTogether(parsed.problems);
    if (edits.length === 0) return undefined;
    source = applyEdits(source, edits);
  }
  return undefined;
}

t.test("texts of other languages: the same in ours, and what is left out", (t) => {
  for (const row of vectors.foreign as ForeignRow[]) {
    record(row, { fixed: allFixed(row.query) });
    const { query, language, fixed, left = [] } = row;
    t.equal(allFixed(query), fixed, query);
    t.ok(parsePipeline(fixed).ok, `${fixed} is right`);
    const parsed = parsePipeline(query);
    const [problem] = parsed.ok ? [] : parsed.problems;
    if (language === undefined) t.not(problem?.code, "query/foreign-query", query);
    else t.equal(problem?.message, `this is ${language}`, query);
    const [, named] = /; left out: (.*)$/.exec(problem?.hint ?? "") ?? [];
    t.strictSame(named?.split(", ") ?? [], left, `${query}, left out`);
  }
  t.end();
});

t.test("texts near those of other languages: what a fix of the whole leads to is right", (t) => {
  const near = textsNear(
    vectors.foreign.map(({ query }) => query),
    random(Number(process.env.FUZZ_SEED ?? 3)),
  );
  let fixed = 0;
  for (let done = 0; done < Number(process.env.FUZZ_COUNT ?? 1500); done++) {
    const query = near.next().value;
    const parsed = parsePipeline(query);
    const [problem] = parsed.ok ? [] : parsed.problems;
    if (problem?.code !== "query/foreign-query" || problem.fix === undefined) continue;
    // A part of the text may be of another language, too.
    if (query.slice(problem.span.end).trim() !== "") continue;
    const written = applyEdits(query, problem.fix.edits);
    fixed++;
    if (!parsePipeline(written).ok) t.fail(`${query}: ${written}`);
  }
  t.ok(fixed > 100, `${fixed} have a fix`);
  t.end();
});

interface ForeignRow {
  readonly query: string;
  /** Without it, its slips are told one by one. */
  readonly language?: string;
  readonly fixed: string;
  readonly left?: readonly string[];
}

t.test("stages without their bar are refused with it, and terms that look like them are terms", (t) => {
  for (const row of vectors.withoutBar) {
    const parsed = parsePipeline(row.query);
    if (!parsed.ok) {
      record(row, { code: parsed.problems[0]!.code.replace(/^query\//, ""), fixed: allFixed(row.query) });
    }
    const { query, code, fixed } = row;
    t.equal(parsed.ok ? "" : parsed.problems[0]!.code, `query/${code}`, query);
    t.equal(allFixed(query), fixed, query);
  }
  for (const query of vectors.terms) {
    const parsed = parsePipeline(query);
    t.ok(parsed.ok && parsed.value.pipes.length === 0, query);
  }
  t.end();
});

t.test("a query without stages is what it was", (t) => {
  for (const source of [
    "",
    "status >= 500",
    "level = error or path = /x",
    'message = "a|b"',
    "path ~ /a|b/",
    "by = 1 top",
    "count = 5",
  ]) {
    const [query, pipeline] = [parseQuery(source), parsePipeline(source)];
    t.strictSame(pipeline.ok && pipeline.value.query, query.ok && query.value, source);
    t.strictSame(pipeline.ok && pipeline.value.pipes, [], source);
  }
  for (const source of ["status >", "a | | b", "(a | count)", "a || | count"])
    t.notOk(parsePipeline(source).ok, source);
  t.end();
});

t.test("what is read of an entry is enough", (t) => {
  for (const { query } of vectors.valid) {
    const pipeline = parsed(query);
    const reads = readsOfPipeline(pipeline);
    if (reads === undefined) continue;
    const partly = entries.map(({ fields, ...own }) => ({
      timestamp: reads.entry.has("timestamp") ? own.timestamp : "",
      level: reads.entry.has("level") ? own.level : "info",
      message: reads.entry.has("message") ? own.message : "",
      fields: Object.fromEntries(Object.entries(fields).filter(([key]) => reads.fields.has(key))),
    }));
    t.strictSame(rowsOf(query, partly), rowsOf(query), query);
  }
  t.end();
});

const VALUES = [
  0,
  -1,
  1.5,
  200,
  1e3,
  "a",
  "b",
  "5",
  "",
  true,
  false,
  null,
  [1, "a"],
  [1, 1, [2]],
  [],
  { x: 1 },
] as const;
const FIELDS = ["a", "b", "c.d", "level", "timestamp", "message"] as const;

const drawnEntry = fc.record({
  timestamp: fc.constantFrom(
    "2026-05-01T12:00:00Z",
    "2026-05-01T12:00:00.000Z",
    "2026-05-01T12:00:00.5Z",
    "2026-05-01T12:00:00.000000001Z",
    "2026-05-01T12:00:00.0000000019Z",
    "2026-05-01T14:00:00.000000002+02:00",
    "2026-05-01T11:59:59.999999999Z",
    "2026-05-01 09:30:00-02:30",
    "1969-12-31T23:59:59.999999999Z",
    "soon",
    "",
  ),
  level: fc.constantFrom("info", "WARN", "warning", "error", "odd"),
  message: fc.constantFrom("x", "y", "\u{1f600}", "\uff5e"),
  fields: fc.record(
    {
      a: fc.constantFrom(...VALUES),
      b: fc.constantFrom(...VALUES),
      c: fc.oneof(fc.constantFrom(...VALUES), fc.record({ d: fc.constantFrom(...VALUES) })),
    },
    { requiredKeys: [] },
  ),
}) as fc.Arbitrary<Entry>;

const field = fc.constantFrom(...FIELDS);
const fieldsOf = (max: number) =>
  fc.uniqueArray(field, { minLength: 1, maxLength: max }).map((names) => names.join(", "));
const byOf = fc.option(fieldsOf(2), { nil: undefined }).map((names) => (names === undefined ? "" : ` by ${names}`));
const numeric = fc.constantFrom("a", "b", "c.d");
const aggregate = fc.oneof(
  fc.constant("count()"),
  fc
    .tuple(fc.constantFrom("sum", "avg", "min", "max", "p50", "p99.9", "p0", "p100", "p33"), numeric)
    .map(([name, of]) => `${name}(${of})`),
  fc.tuple(fc.constantFrom("count", "distinct", "first", "last"), field).map(([name, of]) => `${name}(${of})`),
);
const aggregates = fc.uniqueArray(aggregate, { minLength: 1, maxLength: 3 });

/** Stages that follow each other sensibly: of events, then one that groups, then of its columns. */
const drawnPipeline = fc
  .tuple(
    fc.constantFrom("", "a > 0", "error", "not b = 5"),
    fc.array(
      fc.constantFrom(
        "where a >= 0",
        "where exists b",
        "sort a desc, b",
        "sort level",
        "sort level desc, a",
        "sort timestamp",
        "sort timestamp desc, level",
        "limit 7",
      ),
      {
        maxLength: 2,
      },
    ),
    fc.oneof(
      byOf.map((by) => ({ text: `count${by}`, columns: ["count"] })),
      field.map((name) => ({ text: `top 3 ${name}`, columns: ["count", name] })),
      fc
        .tuple(aggregates, byOf)
        .map(([calls, by]) => ({ text: `stats ${calls.join(", ")}${by}`, columns: [...calls] })),
      fieldsOf(3).map((names) => ({ text: `fields ${names}`, columns: names.split(", ") })),
      fieldsOf(2).map((names) => ({ text: `unique ${names}`, columns: names.split(", ") })),
    ),
    fc.array(fc.tuple(fc.constantFrom("where", "sort", "limit", "stats", "fields"), fc.nat(9)), { maxLength: 3 }),
  )
  .map(([query, first, { text, columns }, rest]) => {
    const pipes = [...first, text];
    let names = columns;
    for (const [kind, number] of rest) {
      const name = names[number % names.length]!;
      const bound = /timestamp/.test(name) && number > 4 ? '> "2026-05-01T12:00:00Z"' : `>= ${number}`;
      if (kind === "where") pipes.push(`where ${name} ${bound}`);
      if (kind === "sort") pipes.push(`sort ${name}${number % 2 === 0 ? " desc" : ""}`);
      if (kind === "limit") pipes.push(`limit ${number + 1}`);
      if (kind === "fields") {
        pipes.push(`fields ${name}`);
        names = [name];
      }
      // A function of a function has no name: it needs as.
      if (kind === "stats" && !/^(?:level|message|timestamp)$|\(/.test(name)) {
        pipes.push(`stats count(${name}) as n, max(${name}) as most`);
        names = ["n", "most"];
      }
    }
    return `${query} | ${pipes.join(" | ")}`.trim();
  });

const FUNCTION_NAMES = Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[];
const callOf = (name: string) => new RegExp(`\\b${name === "pNN" ? "p[\\d.]+" : name}\\(`);

t.test("each function has rows", (t) => {
  for (const file of ["vectors/query-pipes.json", "vectors/query-explain.json"]) {
    const text = readFileSync(join(root, "test", file), "utf8");
    for (const name of FUNCTION_NAMES) t.match(text, callOf(name), `${name} in ${file}`);
  }
  const stages = readFileSync(join(root, "cli/logs/STAGES.md"), "utf8");
  for (const name of FUNCTION_NAMES)
    t.match(stages, new RegExp(`^\\| .*\`${name}\\(`, "m"), `${name} in the table of STAGES.md`);
  t.end();
});

t.test("each stage and each function is drawn", (t) => {
  const texts = fc.sample(drawnPipeline, { seed: 1, numRuns: 500 }).join("\n");
  // The steps of time have rows of their own.
  for (const word of PIPE_WORDS.filter((word) => word !== "timeseries")) t.match(texts, new RegExp(`\\| ${word}\\b`));
  // A rate is of a period, which these have not.
  for (const name of FUNCTION_NAMES.filter((name) => name !== "rate")) t.match(texts, callOf(name), name);
  t.end();
});

t.test("random pipelines give what the plainest evaluation gives", (t) => {
  let accepted = 0;
  const numRuns = Number(process.env.FUZZ_COUNT ?? 1500);
  fc.assert(
    fc.property(drawnPipeline, fc.array(drawnEntry, { maxLength: 40 }), (source, of) => {
      const result = parsePipeline(source);
      // A predicate of rows may name a column that predicates know otherwise, and a name may come twice.
      if (!result.ok)
        return result.problems.every(({ code }) => /bare|number|duplicate|call-in|no-numbers|not-a/.test(code));
      accepted++;
      const expected = byOracle(result.value, of, NOW);
      const actual = run(source, of);
      if (actual.kind === "entries")
        return expected.names === undefined && actual.entries.every((entry, at) => entry === expected.rows[at]![0]);
      const isNear = (a: unknown, b: unknown) =>
        typeof a === "number" && typeof b === "number"
          ? Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a))
          : JSON.stringify(a) === JSON.stringify(b);
      return (
        JSON.stringify(actual.columns.map(({ name }) => name)) === JSON.stringify(expected.names) &&
        actual.rows.length === expected.rows.length &&
        actual.rows.every((row, at) => row.every((cell, place) => isNear(cell, expected.rows[at]![place])))
      );
    }),
    { numRuns, seed: Number(process.env.FUZZ_SEED ?? 1) },
  );
  t.ok(accepted > numRuns / 2, `${accepted} of ${numRuns} are pipelines`);
  t.end();
});

/** Entries whose message is their place, with these times or levels. */
const placed = (entries: readonly { readonly timestamp?: string; readonly level?: string }[]): Entry[] =>
  entries.map(({ timestamp = "", level = "info" }, at) => ({ timestamp, level, message: `${at}`, fields: { at } }));

const TIMED = placed(
  [
    "2026-05-01T12:00:00Z",
    "2026-05-01T12:00:00.5Z",
    "2026-05-01T12:00:00.25Z",
    // An hour and a half earlier than it looks.
    "2026-05-01T13:00:00.1+01:30",
    "2026-05-01T12:00:00.250000001Z",
    "2026-05-01T12:00:00.249999999Z",
    "soon",
    "",
    "2026-05-01 14:00:00,0+02:00",
    "20 minutes ago",
  ].map((timestamp) => ({ timestamp })),
);
const LEVELLED = placed(
  ["error", "info", "Warning", "odd", "fatal", "debug", "crit", "ALERT", "a lot", "notice"].map((level) => ({ level })),
);

t.test("sort puts times in the order of time, and levels in that of severity", (t) => {
  const rows: readonly (readonly [query: string, entries: readonly Entry[], places: string])[] = [
    ["| sort timestamp", TIMED, "7 9 6 3 0 8 5 2 4 1"],
    ["| sort timestamp desc", TIMED, "1 4 2 5 0 8 3 6 9 7"],
    ["| sort timestamp desc | limit 2", TIMED, "1 4"],
    ["| sort level", LEVELLED, "8 3 5 1 9 2 0 6 7 4"],
    ["| sort level desc | limit 3", LEVELLED, "4 7 6"],
    ["| sort level, timestamp desc", [...TIMED.slice(0, 3), ...placed([{ level: "err" }])], "1 2 0 0"],
    ["| fields timestamp, message | sort timestamp | fields message", TIMED, "7 9 6 3 0 8 5 2 4 1"],
    ["| stats last(timestamp) as seen by message | sort seen desc | fields message", TIMED, "1 4 2 5 0 8 3 6 9 7"],
    ["| stats first(level) by message | sort first(level) | fields message", LEVELLED, "8 3 5 1 9 2 0 6 7 4"],
    ["| unique level, message | sort level desc | fields message", LEVELLED, "4 7 6 0 2 9 1 5 3 8"],
    // Other columns are what they look like.
    ["| stats count() as timestamp by at | sort timestamp, at | fields at", placed([{}, {}]), "0 1"],
  ];
  for (const [query, of, places] of rows) {
    const result = run(query, of);
    const given = result.kind === "table" ? result.rows.flat() : result.entries.map(({ message }) => message);
    t.equal(given.join(" "), places, query);
  }
  t.end();
});

t.test("columns of times are compared with times, and columns of levels with levels", (t) => {
  const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();
  const of = placed([
    { timestamp: ago(0.5), level: "err" },
    { timestamp: ago(30), level: "info" },
    { timestamp: `${ago(2).slice(0, 19)}+02:00`, level: "Warning" },
    { timestamp: "soon", level: "odd" },
    {},
  ]);
  const rows: readonly (readonly [where: string, places: string])[] = [
    ["seen > 1d", "0 2"],
    ["seen > 2h", "0"],
    ["seen <= 1d", "1"],
    ["not seen > 1d", "1 3 4"],
    [`seen >= "${ago(1)}"`, "0"],
    [`seen < "2026-05-01"`, "1"],
    [`seen < "2026-05-01T10:00:00+02:00" or seen > 1h`, "0 1"],
    ["timestamp > 2h", "0"],
    ["l >= warn", "0 2"],
    ["l = warning", "2"],
    ["l != ERROR", "1 2 3 4"],
    ["level > info", "0 2"],
    ["l = warn*", "2"],
  ];
  const stats =
    "| stats last(timestamp) as seen, last(timestamp) as timestamp, first(level) as l, first(level) as level";
  for (const [where, places] of rows) {
    const { rows = [] } = rowsOf(`${stats} by message | where ${where} | sort message | fields message`, of);
    t.equal(rows.flat().join(" "), places, where);
  }
  t.strictSame(rowsOf(`| timeseries 1h | where time >= "${ago(1)}" and count > 0 | fields count`, of).rows, [[1]]);
  t.strictSame(
    rowsOf("| stats count() as timestamp | where timestamp > 4", of).rows,
    [[5]],
    "a number, by its function",
  );
  t.end();
});

t.test("groups and values that are objects have their members in the order of their names", (t) => {
  const of = [{ o: { b: 1, a: { d: [{ z: 1, y: 2 }], c: 2 } } }, { o: { a: { c: 2, d: [{ y: 2, z: 1 }] }, b: 1 } }].map(
    (fields): Entry => ({ timestamp: "", level: "info", message: "m", fields }),
  );
  const text = '{"a":{"c":2,"d":[{"y":2,"z":1}]},"b":1}';
  for (const [query, rows] of [
    ["| count by o", `[[${text},2]]`],
    ["| top 1 o", `[[${text},2]]`],
    ["| unique o", `[[${text}]]`],
    ["| stats first(o), last(o.a.d)", `[[${text},[{"y":2,"z":1}]]]`],
  ] as const)
    t.equal(JSON.stringify(rowsOf(query, of).rows), rows, query);
  t.end();
});

t.test("an entry without a time has none: count(timestamp), first(timestamp), count by timestamp", (t) => {
  const of = placed([{}, { timestamp: "2026-05-01T12:00:00Z" }, {}]);
  t.strictSame(rowsOf("| stats count(timestamp), count(), first(timestamp)", of).rows, [
    [1, 3, "2026-05-01T12:00:00Z"],
  ]);
  t.strictSame(rowsOf("| count by timestamp", of).rows, [
    [null, 2],
    ["2026-05-01T12:00:00Z", 1],
  ]);
  t.end();
});

t.test("steps of time: aligned, filled, and as wide as the range needs", (t) => {
  const at = (time: string, fields = {}): Entry => ({ timestamp: time, level: "info", message: "m", fields });
  const of = [at("2026-05-01T12:00:07Z"), at("2026-05-01T12:00:41Z"), at("2026-05-01T12:00:43Z")];
  t.strictSame(rowsOf("| timeseries 15s", of).rows, [
    ["2026-05-01T12:00:00.000Z", 1],
    ["2026-05-01T12:00:15.000Z", 0],
    ["2026-05-01T12:00:30.000Z", 2],
  ]);
  const range = { fromMs: Date.parse("2026-05-01T11:59:50Z"), toMs: Date.parse("2026-05-01T12:01:00Z") };
  t.equal(rowsOf("| timeseries 15s", of, range).rows!.length, 6, "the range that was asked for");
  const day = Array.from({ length: 24 * 60 }, (_, minute) => at(new Date(NOW + minute * 60_000).toISOString()));
  const wide = run("| timeseries", day);
  t.equal(wide.kind === "table" && wide.stepMs, 30 * 60_000);
  t.equal(wide.kind === "table" && wide.rows.reduce((sum, [, count]) => sum + (count as number), 0), day.length);
  // In any order, steps that were too narrow are joined exactly.
  const mixed = [...day].sort((a, b) => a.timestamp.slice(-7).localeCompare(b.timestamp.slice(-7)));
  t.strictSame(
    rowsOf("| timeseries count(), first(message)", mixed),
    rowsOf("| timeseries count(), first(message)", day),
  );
  t.strictSame(rowsOf("| timeseries 7d", of).rows, [["2026-04-27T00:00:00.000Z", 3]], "weeks begin on Mondays");
  const without = run("| timeseries 15s", [...of, at("soon")]);
  t.equal(without.kind === "table" && without.notes.withoutTime, 1);
  t.strictSame(rowsOf("| timeseries", []).rows, []);
  t.end();
});

t.test("any text is answered soon", (t) => {
  const pieces = [
    "|",
    "| count ",
    "| where (",
    "| where not ",
    "count by x ",
    "a || where a ",
    "top a ",
    "| stats p99(",
    "| stats count(), ",
    "| fields a, ",
    '| "',
  ];
  for (const piece of pieces) {
    const source = piece.repeat(16_384).slice(0, 16_384);
    const begin = process.cpuUsage();
    const parsed = parsePipeline(source);
    const { user, system } = process.cpuUsage(begin);
    t.ok(parsed.ok || parsed.problems.length > 0, piece);
    // Linear ones take some milliseconds; a quadratic one would take minutes.
    t.ok((user + system) / 1000 < 20_000, `${piece}: ${Math.round((user + system) / 1000)} ms`);
  }
  t.end();
});

t.test("many values: exact up to 100,000, then within their bounds", (t) => {
  const of = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      timestamp: "2026-05-01T12:00:00Z",
      level: "info",
      message: "m",
      fields: { n: ((i * 7919) % count) + 1, id: `u${i}` },
    }));
  const exact = run("| stats p99(n), distinct(id)", of(100_000));
  t.strictSame(exact.kind === "table" && exact.rows, [[99_000, 100_000]]);
  t.equal(exact.kind === "table" && exact.notes.estimates.size, 0);
  const many = run("| stats p50(n), p99.9(n), distinct(id)", of(250_000));
  if (many.kind !== "table") throw new Error("no table");
  const [p50, p999, distinct] = many.rows[0] as [number, number, number];
  t.ok(Math.abs(p50 / 125_000 - 1) <= 0.005, `${p50}`);
  t.ok(Math.abs(p999 / 249_750 - 1) <= 0.005, `${p999}`);
  t.ok(Math.abs(distinct / 250_000 - 1) <= 0.03, `${distinct}`);
  t.strictSame([...many.notes.estimates], ["p50(n)", "p99.9(n)", "distinct(id)"]);
  t.end();
});

t.test("more groups than memory is given for are refused", (t) => {
  const pipeline = parsed("| count by id");
  const pipes = new PipesRun(pipeline, { nowMs: NOW, budgetBytes: 1e6 });
  t.throws(() => {
    for (let i = 0; i < 100_000; i++)
      pipes.push({ timestamp: "", level: "info", message: "m", fields: { id: `user ${i}` } });
  }, /^more than [\d,]+ groups, which is more than fits into memory$/);
  t.end();
});

t.test("more rows than memory is given for are refused, and sort says what it holds", (t) => {
  const rows = "more than 5,000 rows";
  for (const [query, message, hint] of [
    [
      "| sort n",
      /^sort holds all that it sorts, and more than 5,000 rows do not fit into memory$/,
      /limit right after/,
    ],
    ["| fields n | sort n desc | where n > 1", /^sort holds all .* more than 5,000 rows/, /such as \| limit 100,/],
    ["| fields n", new RegExp(`^${rows}, which is more than fits into memory$`), /such as \| limit 1000,/],
    ["| where n >= 0", new RegExp(`^${rows}, `), /such as \| limit 1000,/],
    ["| unique n", /^more than 2,\d+ groups, /, /fewer values/],
  ] as const) {
    const pipes = new PipesRun(parsed(query), { nowMs: NOW, budgetBytes: 1_000_000 });
    const push = () => {
      for (let n = 0; n < 10_000; n++) pipes.push({ timestamp: "", level: "info", message: "", fields: { n } });
      pipes.result();
    };
    t.throws(push, { message, hint }, query);
  }
  t.end();
});

t.test("a limit after sort keeps no more than it needs", (t) => {
  const pipeline = parsed("| sort n desc, k | limit 10 | fields n, k");
  const pipes = new PipesRun(pipeline, { nowMs: NOW, budgetBytes: 1_000_000 });
  const expected: [number, number][] = [];
  for (let at = 0; at < 100_000; at++) {
    const n = (at * 7919) % 5000;
    pipes.push({ timestamp: "", level: "info", message: "", fields: { n, k: at } });
    if (n > 4998) expected.push([n, at]);
  }
  const result = pipes.result();
  t.strictSame(result.kind === "table" && result.rows, expected.slice(0, 10));
  t.equal(expected.length > 10, true);
  t.end();
});

t.test("sums of whole numbers are exact, and of others compensated", (t) => {
  const of = (values: number[]) => values.map((n) => ({ timestamp: "", level: "info", message: "m", fields: { n } }));
  t.strictSame(rowsOf("| stats sum(n)", of([9007199254740991, -1, 1])).rows, [[9007199254740991]]);
  t.strictSame(rowsOf("| stats sum(n), avg(n)", of(Array.from({ length: 10 }, () => 0.1))).rows, [[1, 0.1]]);
  t.strictSame(rowsOf("| stats sum(n)", of([1e308, 1e308])).rows, [[null]], "JSON has no infinity");
  t.strictSame(rowsOf("| stats sum(n), min(n)", of([])).rows, [[null, null]]);
  t.end();
});
