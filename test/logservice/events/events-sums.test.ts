// Sums of fractions: each is the exact one, rounded once, by whatever it is answered and whatever else is asked.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import t from "tap";
import {
  accumulator,
  addToSum,
  type ExactSum,
  mergeSums,
  parsePipeline,
  valueOfSum,
} from "../../../grammar/query/index.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import {
  addToSummary,
  allFields,
  emptySummary,
  mergeSummaries,
  printSummary,
  readSummary,
  type Summary,
} from "../../../logservice/events/summary/summary.ts";
import { openOracle } from "../../support/events/oracle.ts";
import { randomOf } from "../../support/random.ts";

const BEGIN_MS = Date.parse("2024-05-01T10:00:00Z");
const nowMs = () => BEGIN_MS + 3_600_000;
const never = new AbortController().signal;

/** A number in units of the least one, 2 to the power of -1074. */
function units(value: number): bigint {
  let [exponent, whole] = [0, value];
  for (; !Number.isInteger(whole); exponent++) whole *= 2;
  return BigInt(whole) * 2n ** BigInt(1074 - exponent);
}

/** The exact sum, rounded to a number. */
function exactSum(values: readonly number[]): number {
  const total = values.reduce((sum, value) => sum + units(value), 0n);
  const size = total < 0n ? -total : total;
  const shift = Math.max(0, size.toString(2).length - 64);
  // The bits that are cut off decide between two numbers only if all others are equal.
  const top = (size >> BigInt(shift)) | (size % (1n << BigInt(shift)) === 0n ? 0n : 1n);
  return (total < 0n ? -1 : 1) * Number(top) * 2 ** (shift - 537) * 2 ** -537;
}

const random = randomOf(5);
const some = (count: number, one: () => number) => Array.from({ length: count }, one);
const draw = () => (random.below(1e9) + 0.5) / 1e9;

const ROWS: readonly (readonly [what: string, values: readonly number[]])[] = [
  ["tenths", some(1_000, () => (1 + random.below(50)) / 10)],
  ["times in milliseconds", some(1_000, () => draw() * 300)],
  ["whole numbers and fractions", some(1_000, () => (draw() < 0.5 ? random.below(1_000) : draw()))],
  ["of any size and sign", some(1_000, () => (draw() - 0.5) * 10 ** (random.below(40) - 20))],
  ["large ones that cancel out", [1e12, 0.1, 1, 0.3, -1e12, 1e9, 0.7, -1e9]],
  ["beyond the safe whole numbers", [2 ** 53, 1, 1, 1, 0.5, 2 ** 60, 3]],
];

const sumOf = (summary: Summary) => valueOfSum(allFields(summary).get('["x"]')!.numbers);

t.test("sums that are joined, in any parts", (t) => {
  for (const [what, values] of ROWS) {
    const expected = exactSum(values);
    const functions = [0, 1, 2].map(() => accumulator({ name: "sum", percent: 0 }, true));
    const totals = [0, 1, 2].map((): ExactSum => ({ sum: 0, lost: 0 }));
    for (const [at, value] of values.entries()) {
      functions[at % 3]!.add(value, at);
      addToSum(totals[at % 3]!, value);
    }
    for (const at of [1, 2]) {
      functions[0]!.merge(functions[at]!);
      mergeSums(totals[0]!, totals[at]!);
    }
    t.equal(functions[0]!.result(1), expected, `${what}: by the function`);
    t.equal(valueOfSum(totals[0]!), expected, what);
    const summaries = [0, 1, 2].map((part) => {
      const summary = emptySummary();
      for (const [at, x] of values.entries()) if (at % 3 === part) addToSummary(summary, 0, 3, { x });
      return readSummary(printSummary(summary));
    });
    t.equal(sumOf(mergeSummaries(summaries)), expected, `${what}: by summaries`);
  }
  t.end();
});

async function opened(t: { teardown(end: () => Promise<void>): void }) {
  const directory = await mkdtemp(join(tmpdir(), "events-sums-"));
  let store = await openEventsStore({ directory, nowMs, reserveBytes: 0 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const reopen = async (meanwhile: () => Promise<void>) => {
    await store.close();
    await meanwhile();
    store = await openEventsStore({ directory, nowMs, reserveBytes: 0 });
  };
  return { directory, store: () => store, reopen };
}

const eventsOf = (values: readonly number[], from = 0) =>
  values.map((x, at) => ({
    id: `e${from + at}`,
    timestamp: new Date(BEGIN_MS + (from + at) * 100).toISOString(),
    level: "info",
    message: "m",
    // A list is looked at by itself, not by SQL.
    fields: { g: "a", i: at, x: at % 97 === 96 ? [x] : x },
  }));

/** Each is answered in another way: by summaries, by columns in memory or SQL, by SQL that has all values, by events. */
const QUERIES = [
  "| stats sum(x)",
  "| stats sum(x) by level",
  "| stats sum(x) by g",
  "| stats sum(x), p50(x)",
  "| stats sum(x), distinct(i) by g",
  "i >= 0 | stats sum(x)",
  "| where i >= 0 | stats sum(x), max(x) by g",
  "| limit 100000 | stats sum(x)",
];

async function sums(store: Pick<ReturnType<typeof openOracle>, "aggregate">, project: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const text of QUERIES) {
    const parsed = parsePipeline(text);
    if (!parsed.ok) throw new Error(text);
    const { query, pipes } = parsed.value;
    const range = { startMs: BEGIN_MS - 60_000, stopMs: BEGIN_MS + 3_600_000 };
    const selecting = query.expr === undefined ? undefined : query;
    const { columns, rows } = await store.aggregate({
      ...{ project, ...range, query: selecting, pipes, limit: 10, signal: never },
    });
    all.push(rows[0]![columns.findIndex(({ name }) => name === "sum(x)")]);
  }
  return all;
}

/** The average that the panel of a field shows. */
async function average(store: Pick<ReturnType<typeof openOracle>, "numericFieldStats">, project: string) {
  const range = { startMs: BEGIN_MS - 60_000, stopMs: BEGIN_MS + 3_600_000, query: undefined };
  const field = { at: "fields", path: ["x"] } as const;
  return (await store.numericFieldStats({ project, ...range, field, signal: never })).avg;
}

t.test("sums by the store", async (t) => {
  const { store } = await opened(t);
  const oracle = openOracle(nowMs);
  for (const [n, [what, values]] of ROWS.entries()) {
    const project = `p${n}`;
    const expected = exactSum(values);
    const third = Math.ceil(values.length / 3);
    const parts = [0, 1, 2].map((part) => values.slice(part * third, (part + 1) * third));
    for (const [part, some] of parts.entries()) {
      await store().append(project, eventsOf(some, part * third));
      await oracle.append(project, eventsOf(some, part * third));
      const seen = parts.slice(0, part + 1).flat();
      t.same(
        await sums(store(), project),
        QUERIES.map(() => exactSum(seen)),
        `${what}: ${part} segments and memory`,
      );
      t.equal(await average(store(), project), exactSum(seen) / seen.length, `${what}: ${part} segments, the average`);
      await store().flush();
    }
    t.same(
      await sums(store(), project),
      QUERIES.map(() => expected),
      `${what}: in segments`,
    );
    t.same(
      await sums(oracle, project),
      QUERIES.map(() => expected),
      `${what}: over an array`,
    );
  }
});

t.test("summaries of before sums were exact", async (t) => {
  const rows: readonly (readonly [what: string, values: readonly number[], isKnown: boolean])[] = [
    ["tenths", ROWS[0]![1], false],
    ["whole numbers", some(100, () => random.below(1_000)), true],
  ];
  for (const [what, values, isKnown] of rows) {
    const { directory, store, reopen } = await opened(t);
    // A list would be read from the file anyway.
    await store().append(
      "p",
      eventsOf(values).map((event, at) => ({ ...event, fields: { ...event.fields, x: values[at]! } })),
    );
    await store().flush();
    await reopen(async () => {
      const files = await readdir(directory, { recursive: true });
      for (const file of files.filter((name) => name.endsWith(".parquet.json"))) {
        const text = await readFile(join(directory, file), "utf8");
        const [head, ...rest] = text.split("\n");
        const sum = values.reduce((total, value) => total + value, 0);
        const body = rest.join("\n").replace(/"sum":[^,}]+,"lost":[^,}]+/g, `"sum":${sum}`);
        t.notMatch(body, /lost/, "as before");
        await writeFile(
          join(directory, file),
          `${JSON.stringify({ ...JSON.parse(head!), sum: crc32(body) })}\n${body}`,
        );
      }
    });
    t.same(
      await sums(store(), "p"),
      QUERIES.map(() => exactSum(values)),
      what,
    );
    const parsed = parsePipeline("| stats sum(x), count()");
    if (!parsed.ok) throw new Error("not valid");
    const range = { startMs: BEGIN_MS - 60_000, stopMs: BEGIN_MS + 3_600_000 };
    const { stats } = await store().aggregate({
      ...{ project: "p", ...range, query: undefined, pipes: parsed.value.pipes, limit: 10, signal: never },
    });
    t.equal(stats.answeredFromSummaries, isKnown, `${what}: the file is read if its summary does not tell`);
  }
});
