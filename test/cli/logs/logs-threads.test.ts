// Stages over files on several threads: the same rows as on one, memory within its bounds, ends in between.
import { closeSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t, { type Test } from "tap";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { LineBlocks, MAX_LINE_BYTES } from "../../../cli/logs/line-blocks.ts";
import { parallelPipes } from "../../../cli/logs/parallel-pipes.ts";
import { PipeLines } from "../../../cli/logs/pipe-scan.ts";
import { MIN_PARALLEL_BYTES } from "../../../cli/logs/worker-pool.ts";
import {
  compilePredicate,
  isMergeable,
  type Pipeline,
  type PipesResult,
  PipesRun,
} from "../../../grammar/query/index.ts";
import { isAggregate } from "../../../grammar/query/pipe/pipe-facts.ts";
import { PIPE_WORDS } from "../../../grammar/query/pipe-words.ts";
import { generate } from "../../bench/query/generate.ts";
import { shell, spawnTool, tool } from "../../support/cli.ts";
import { parsed } from "../../support/pipe-oracle.ts";
import { descriptorsOf } from "../../support/processes.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");

interface RunOptions {
  readonly pipeline: Pipeline;
  readonly segmentBytes?: number;
  readonly budgetBytes?: number;
  readonly signal?: AbortSignal;
  readonly onRead?: () => void;
}

/** The stages over a file by one worker thread and this one. */
async function onThreads(path: string, { pipeline, segmentBytes = 2_000, budgetBytes, ...rest }: RunOptions) {
  const file = openSync(path, "r");
  const { signal = new AbortController().signal, onRead = () => {} } = rest;
  const { size } = fstatSync(file);
  const wanted = { query: pipeline.query, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
  const request = { wanted, pipeline, range: { fromMs: undefined, toMs: undefined }, budgetBytes };
  const lines = new PipeLines(request);
  try {
    const setup = { ...request, file, size, place: 0 };
    await parallelPipes({ setup, lines, signal, onRead, segmentBytes, workerCount: 1 });
    return lines.result();
  } finally {
    closeSync(file);
  }
}

function inMemory(text: string, pipeline: Pipeline): PipesResult {
  const selects = compilePredicate(pipeline.query, { nowMs: NOW_MS });
  const run = new PipesRun(pipeline, { nowMs: NOW_MS });
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const { entry } = readEntryLine(line);
    if (selects(entry)) run.push(entry);
  }
  return run.result();
}

const isNear = (a: unknown, b: unknown) =>
  typeof a === "number" && typeof b === "number" && !(Number.isInteger(a) && Number.isInteger(b))
    ? Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a))
    : JSON.stringify(a) === JSON.stringify(b);

function isSameTable(a: PipesResult, b: PipesResult): boolean {
  if (a.kind !== "table" || b.kind !== "table") return false;
  return (
    JSON.stringify([a.columns, a.stepMs, [...a.notes.leftOut], a.notes.withoutTime, [...a.notes.estimates]]) ===
      JSON.stringify([b.columns, b.stepMs, [...b.notes.leftOut], b.notes.withoutTime, [...b.notes.estimates]]) &&
    a.rows.length === b.rows.length &&
    a.rows.every((row, at) => row.every((cell, place) => isNear(cell, b.rows[at]![place])))
  );
}

const VALUES = [
  ...[0, -0, -1, 1.5, 0.1, 200, 1e3, 9007199254740991, "a", "b", "5", "", "\u00e9", 'x"y', "\ud800"],
  ...[true, false, null, [1, "a"], [1, 1, [2]], [], { x: 1, y: 2 }, { y: 2, x: 1 }],
] as const;
const drawnValue = fc.constantFrom<unknown>(...VALUES, 0, 1, 2, 3, "a");
const drawnLine = fc
  .record({
    timestamp: fc.nat(900_000).map((ms) => new Date(NOW_MS + ms * 97).toISOString()),
    level: fc.constantFrom("info", "WARN", "warning", "error"),
    message: fc.constantFrom("x", "y", "\u{1f600}"),
    fields: fc.record({ a: drawnValue, b: drawnValue, c: fc.record({ d: drawnValue }) }, { requiredKeys: [] }),
  })
  .map((entry) => JSON.stringify(entry));
const drawnLog = fc
  .array(fc.oneof({ weight: 9, arbitrary: drawnLine }, fc.constantFrom("not JSON", '{"a":1,"a":2}', '{"\\u0061":3}')), {
    minLength: 1,
    maxLength: 60,
  })
  .map((lines) => lines.join("\n"));

const FIELDS = ["a", "b", "c.d", "level", "message"] as const;
const byOf = fc
  .uniqueArray(fc.constantFrom(...FIELDS), { maxLength: 2 })
  .map((names) => (names.length === 0 ? "" : ` by ${names.join(", ")}`));
const CALLS = ["sum", "avg", "min", "max", "p0", "p50", "p99.9", "count", "distinct", "first", "last"] as const;
const callsOf = fc
  .uniqueArray(fc.oneof(fc.constantFrom("count()", "rate()"), fc.constantFrom(...CALLS).chain(callOf)), {
    minLength: 1,
    maxLength: 4,
  })
  .map((calls) => calls.join(", "));
function callOf(name: (typeof CALLS)[number]) {
  const isOfNumbers = !["count", "distinct", "first", "last"].includes(name);
  return fc.constantFrom(...(isOfNumbers ? FIELDS.slice(0, 3) : FIELDS)).map((field) => `${name}(${field})`);
}
const drawnPipeline = fc
  .tuple(
    fc.constantFrom("", "a >= 0", "error", "not b = 5"),
    fc.constantFrom("", "| where a < 1000 ", "| where exists b | where not error "),
    fc.oneof(
      byOf.map((by) => `count${by}`),
      fc.constantFrom(...FIELDS).map((field) => `top 3 ${field}`),
      fc.tuple(callsOf, byOf).map(([calls, by]) => `stats ${calls}${by}`),
      fc
        .tuple(fc.constantFrom("", " 1h", " 6h"), callsOf, byOf)
        .map(([step, calls, by]) => `timeseries${step} ${calls}${by}`),
    ),
    fc.constantFrom("", " | limit 3"),
  )
  .map(([query, where, pipe, rest]) => `${query} ${where}| ${pipe}${rest}`);

function pathIn(t: Test): string {
  return join(t.testdir(), "log.ndjson");
}

t.test("each stage that threads share is drawn", (t) => {
  const texts = fc.sample(drawnPipeline, { seed: 1, numRuns: 200 }).join("\n");
  for (const kind of PIPE_WORDS.filter((kind) => isAggregate({ kind })))
    t.match(texts, new RegExp(`\\| ${kind}\\b`), kind);
  t.end();
});

t.test("random pipelines on threads give the rows of one thread", async (t) => {
  const path = pathIn(t);
  await fc.assert(
    fc.asyncProperty(drawnPipeline, drawnLog, fc.constantFrom(40, 333, 2_000), async (source, text, segmentBytes) => {
      writeFileSync(path, text);
      const pipeline = parsed(source);
      return isSameTable(await onThreads(path, { pipeline, segmentBytes }), inMemory(text, pipeline));
    }),
    // Each starts a thread.
    { numRuns: Number(process.env.FUZZ_COUNT ?? 40), seed: Number(process.env.FUZZ_SEED ?? 1) },
  );
});

/** Lines of few shapes, flat and nested, with now and then something unusual in them. */
const drawnUsualLine = fc
  .tuple(
    fc.constantFrom(
      (v: string, w: string) =>
        `{"timestamp":"2026-05-01T12:00:00.000Z","level":"info","message":"m","fields":{"a":${v},"b":${w}}}`,
      (v: string, w: string) => `{"level":"warn","message":"m","fields":{"b":${w},"c":{"d":${v}},"a":${w}}}`,
      (v: string, w: string) => `{"a":${v},"service":"x","b":${w}}`,
      (v: string, w: string) => `{"severity":"error","msg":"m","b":${w},"c":{"d":${v},"e":[${w}]}}`,
      (v: string) => `{ "a" : ${v} , "c":${v}}`,
      (v: string, w: string) => `{"a":${v},"fields":{"a":${w}}}`,
      (v: string, w: string) => `{"fields":${v},"b":${w}}`,
      (v: string, w: string) => `{"a":${v},"a":${w}}`,
      (v: string) => `{"level":"ERR","message":"m","fields":{"c":{},"a":${v}}}`,
      (v: string) => `{"level":"info","message":"m","fields":{"a":"y","b":${v}}`,
      (v: string) => `{"level":"info","message":"m","fields":{"x":"\\n\\u00e9","b":${v}}}`,
    ),
    fc.constantFrom(
      ...[
        "1",
        "2",
        "200",
        "1.5",
        "1.50",
        "0.1",
        "0.30000000000000004",
        "-0",
        "-1",
        "1e2",
        "100",
        "12345678901234567890",
      ],
      ...['"a"', '"b"', '"1"', '""', '"\\u0061"', '"\u00e9"', '"info"', "true", "false", "null", "[1,2]", "[]"],
      ...["{}", '{"d":1}', '{"d":{"e":1}}', "01", "tru", '"x', '"\t"'],
    ),
    fc.constantFrom("1", "2", '"a"', '"b"', "null", "true", "3.25"),
  )
  .map(([line, v, w]) => line(v, w));

t.test("lines of known shapes are counted as all others", (t) => {
  const numRuns = Number(process.env.FUZZ_COUNT ?? 3000);
  const drawn = fc.array(drawnUsualLine, { minLength: 1, maxLength: 40 }).map((lines) => lines.join("\n"));
  const pipe = fc.tuple(
    fc.constantFrom("count", "stats count(), sum(c.d), p50(b)", "stats max(a), min(a), avg(a), p99(c.d)"),
    fc.uniqueArray(fc.constantFrom("a", "b", "c.d", "level", "fields.b", "c"), { maxLength: 2 }),
  );
  fc.assert(
    fc.property(drawn, pipe, (text, [aggregates, by]) => {
      const pipeline = parsed(`| ${aggregates}${by.length === 0 ? "" : ` by ${by.join(", ")}`}`);
      const wanted = { query: pipeline.query, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
      const lines = new PipeLines({ wanted, pipeline, range: { fromMs: undefined, toMs: undefined } });
      // Small, so that the buffer is reused while shapes are learned.
      const blocks = new LineBlocks(200);
      for (const block of blocks.push(Buffer.from(`${text}\n`))) lines.add(block);
      return isSameTable(lines.result(), inMemory(text, pipeline));
    }),
    { numRuns, seed: Number(process.env.FUZZ_SEED ?? 1) },
  );
  t.end();
});

t.test("numbers beyond the range of float64 are the texts of their digits, as in the log service", (t) => {
  const large = `-${"9".repeat(400)}`;
  const text = [
    '{"x":1e400,"y":[1,-2E+0400]}',
    '{"x":7,"y":{"z":1e999}}',
    `{"message":"1e400","fields":{"x":${large}}}`,
    '{"x":1e308,"y":1e-400}',
    '{"x":"1e400","\\u0079":1e400}',
  ].join("\n");
  const rows: readonly (readonly [query: string, rows: readonly unknown[][]])[] = [
    [
      "| count by x",
      [
        ["1e400", 2],
        [7, 1],
        [1e308, 1],
        [large, 1],
      ],
    ],
    ["| stats max(x), sum(x), count(x)", [[1e308, 1e308, 5]]],
    [
      "| count by y",
      [
        ["1e400", 1],
        [null, 1],
        [0, 1],
        [1, 1],
        ["-2E+0400", 1],
        [{ z: "1e999" }, 1],
      ],
    ],
    ["x > 5 | count", [[2]]],
    ["x = 1e400 | count", [[2]]],
    ["y.z contains e99 | count", [[1]]],
  ];
  for (const [query, expected] of rows) {
    const pipeline = parsed(query);
    const wanted = { query: pipeline.query, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
    const lines = new PipeLines({ wanted, pipeline, range: { fromMs: undefined, toMs: undefined } });
    for (const block of new LineBlocks().push(Buffer.from(`${text}\n`))) lines.add(block);
    const [result, plain] = [lines.result(), inMemory(text, pipeline)];
    const sorted = (result: PipesResult) =>
      result.kind === "table" ? result.rows.map((row) => JSON.stringify(row)).sort() : [];
    t.strictSame(sorted(result), expected.map((row) => JSON.stringify(row)).sort(), query);
    t.strictSame(sorted(plain), sorted(result), `${query}, line by line`);
  }
  t.end();
});

t.test("which stages are merged", (t) => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["| count", true],
    ["error | count by path | limit 3", true],
    ["| where a > 1 | where b | stats p99(a) by b", true],
    ["| timeseries 1m | sort count", true],
    ["| top a", true],
    ["| limit 10 | count by path", false],
    ["| sort a | count", false],
    ["| unique a | count", false],
    ["| fields a", false],
    ["| where a > 1", false],
  ];
  for (const [query, expected] of rows) t.equal(isMergeable(parsed(query)), expected, query);
  t.end();
});

t.test("estimates of many values are merged", async (t) => {
  const path = pathIn(t);
  const text = Array.from({ length: 150_000 }, (_, i) => `{"n":${(i * 7919) % 150_001},"id":"u${i}"}`).join("\n");
  writeFileSync(path, text);
  const pipeline = parsed("| stats p50(n), p99(n), distinct(id), sum(n), count()");
  const result = await onThreads(path, { pipeline, segmentBytes: 200_000 });
  t.ok(isSameTable(result, inMemory(text, pipeline)), JSON.stringify(result));
});

t.test("steps that threads have at different lengths are joined", async (t) => {
  const path = pathIn(t);
  // The first half is of a minute, the second of weeks.
  const times = Array.from({ length: 400 }, (_, i) => NOW_MS + (i < 200 ? i * 300 : i * 7_200_000));
  const text = times
    .map((ms) => `{"timestamp":"${new Date(ms).toISOString()}","level":"info","message":"m"}`)
    .join("\n");
  writeFileSync(path, text);
  for (const query of ["| timeseries", "| timeseries count(), first(timestamp), last(timestamp)", "| timeseries 1d"]) {
    const pipeline = parsed(query);
    t.ok(isSameTable(await onThreads(path, { pipeline }), inMemory(text, pipeline)), query);
  }
});

t.test("a line too long for segments is read once, in parts", async (t) => {
  const path = pathIn(t);
  const lines = Array.from({ length: 50 }, (_, i) => `{"a":${i}}`);
  const long = "x".repeat(MAX_LINE_BYTES + 3_000_000);
  writeFileSync(path, [...lines, long, ...lines].join("\n"));
  const result = await onThreads(path, { pipeline: parsed("| count by a"), segmentBytes: 300_000 });
  if (result.kind !== "table") throw new Error("no table");
  t.equal(result.rows.length, 51);
  t.ok(
    result.rows.every(([a, count]) => (a === null ? (count as number) >= 1 : count === 2)),
    JSON.stringify(result.rows.slice(0, 3)),
  );
});

t.test("more groups than memory is given for, over all threads", async (t) => {
  const path = pathIn(t);
  const count = 60_000;
  writeFileSync(path, Array.from({ length: count }, (_, i) => `{"id":"user ${i}"}\n`).join(""));
  const pipeline = parsed("| count by id");
  // Half of them would fit for each thread.
  const tooFew = onThreads(path, { pipeline, segmentBytes: 50_000, budgetBytes: 0.7 * count * 310 });
  await t.rejects(tooFew, /^more than 4\d,\d{3} groups, which is more than fits into memory$/);
  const result = await onThreads(path, { pipeline, segmentBytes: 50_000, budgetBytes: count * 330 });
  t.equal(result.kind === "table" && result.rows.length, count, "what fits once is not counted twice");
});

t.test("after the signal, rows are of what was read until then", async (t) => {
  const path = pathIn(t);
  writeFileSync(path, '{"a":1}\n'.repeat(100_000));
  const stop = new AbortController();
  let segments = 0;
  const result = await onThreads(path, {
    pipeline: parsed("| count"),
    signal: stop.signal,
    onRead: () => {
      if (++segments === 5) stop.abort();
    },
  });
  const count = result.kind === "table" ? (result.rows[0]![0] as number) : 0;
  t.ok(count >= 5 * 250 && count < 50_000, `${count}`);
});

t.test("the command on a large file: rows, order of files, an interruption", slow(), async (t) => {
  const cwd = t.testdir();
  const blocks: Buffer[] = [];
  generate(MIN_PARALLEL_BYTES, (block) => blocks.push(block));
  writeFileSync(join(cwd, "large.ndjson"), Buffer.concat(blocks));
  writeFileSync(join(cwd, "before.ndjson"), '{"level":"info","message":"first of all","fields":{"status":200}}\n');
  writeFileSync(join(cwd, "later.ndjson"), '{"level":"info","message":"last of all","fields":{"status":200}}\n');
  const files = ["before", "large", "later"].flatMap((name) => ["--file", `${name}.ndjson`]);
  const query = "status = 200 | stats count(), p99(duration), first(message), last(message) by method";
  const large = await tool(["logs", ...files, query], { cwd });
  const piped = await shell(`cat before.ndjson large.ndjson later.ndjson | tool logs --file - '${query}'`, { cwd });
  t.equal(large.stdout, piped.stdout, "as on one thread");
  t.match(large.stdout, /"first of all".*"last of all"/);
  const limited = await tool(["logs", ...files, "| limit 5 | count by message"], { cwd });
  const few = await shell("cat before.ndjson large.ndjson | tool logs --file - '| limit 5 | count by message'", {
    cwd,
  });
  t.equal(limited.stdout, few.stdout, "what cannot be merged");

  writeFileSync(join(cwd, "larger.ndjson"), Buffer.concat(Array.from({ length: 12 }, () => blocks).flat()));
  const running = spawnTool(["logs", "--file", "larger.ndjson", "| count"], { cwd });
  // Before, it does not hear signals yet.
  await until("it reads", () => descriptorsOf(running.child.pid!).some((path) => path.endsWith("larger.ndjson")));
  running.child.kill("SIGINT");
  await until("its end", () => running.child.exitCode !== null || running.child.signalCode !== null);
  t.equal(running.child.exitCode, 130);
  t.match(running.stdout(), /^\{"count":\d+\}\n$/);
  t.match(running.stderr(), "partial: interrupted, so that these are of what was read until then");
});
