// Top values, discovered fields and histograms of segments whose columns differ, and of the newest events beside them: as
// the predicate says, whether the engine counts or summaries do.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { LEVELS, type Level, parseQuery, severity, type Target } from "../../../grammar/query/index.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventRange, EventsStore, NewEvent } from "../../../logservice/events/store.ts";
import {
  addToSummary,
  allFields,
  emptySummary,
  eventsOfLevels,
  fieldsOfLevels,
  mergeSummaries,
  printSummary,
  readSummary,
  type Summary,
} from "../../../logservice/events/summary/summary.ts";
import { openOracle } from "../../support/events/oracle.ts";
import { randomOf } from "../../support/random.ts";
import { slow } from "../../support/slow.ts";

const BEGIN_MS = Date.parse("2024-05-01T10:00:00Z");
const never = new AbortController().signal;
const random = randomOf(11);

const event = (i: number, fields: Record<string, unknown>): NewEvent => ({
  timestamp: new Date(BEGIN_MS + i * 1000).toISOString(),
  level: random.pick(["info", "info", "error"]),
  message: `number ${i}`,
  fields,
});

// More than summaries count one by one, with ties, and with what is told apart by UTF-8 and not by UTF-16.
const names = [...Array.from({ length: 400 }, (_, i) => `user ${i}`), "\uff00", "\u{1f600}", "", "nul\u0000", 'q"\\'];
const name = () => random.pick(random.chance(0.3) ? names.slice(0, 6).concat(names.slice(-5)) : names);

const times = (count: number, from: number, make: () => Record<string, unknown>) =>
  Array.from({ length: count }, (_, i) => event(from + i, make()));

/** Each is a segment, but for the last one, which stays in memory. */
const batches: readonly (readonly NewEvent[])[] = [
  times(600, 0, () => ({ user: name(), ok: random.chance(0.3), few: random.pick(["a", "b"]), n: random.below(100) })),
  times(600, 600, () => ({ user: name(), few: random.pick(["b", "c", 3]), rare: { x: 1 }, n: -1 })),
  times(600, 1200, () => ({ user: random.chance(0.2) ? [name(), name(), 1, ["a"]] : name(), ok: true })),
  times(200, 1800, () => ({ user: random.below(5), ok: "no", few: null })),
  times(50, 2000, () => ({ other: { deep: name() }, many: { [`k${random.below(9)}`]: 1 } })),
  times(300, 2050, () => ({ user: name(), ok: false, few: "newest" })),
];

const fields: readonly Target[] = [
  ...["user", "ok", "few", "n", "missing"].map((key): Target => ({ at: "fields", path: [key] })),
  { at: "fields", path: ["other", "deep"] },
  { at: "fields", path: ["user", 0] },
  { at: "entry", name: "level" },
  { at: "entry", name: "message" },
];

const rangeOf = (query: string, startMs: number, stopMs: number): EventRange => {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(query);
  return { project: "app", startMs, stopMs, query: query === "" ? undefined : parsed.value };
};

const HOUR = { startMs: BEGIN_MS, stopMs: BEGIN_MS + 3_599_999 };

t.test("top values, discovered fields and histograms are the predicate's", slow(), async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "events-top-"));
  const store = await openEventsStore({ directory, reserveBytes: 0 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const oracle = openOracle(Date.now);
  for (const [i, batch] of batches.entries()) {
    await store.append("app", batch);
    await oracle.append("app", batch);
    if (i < batches.length - 1) await store.flush();
  }
  t.ok((store.metrics().segments ?? 0) > 1, "several segments");
  for (const query of [
    "",
    "error",
    "not info",
    "critical",
    "not critical",
    "few = z or n > 99",
    "message contains 7",
    "error or few = b",
    "user != 2 and message ~ /\\d[02468]$/",
  ]) {
    for (const [startMs, stopMs] of [
      [0, 4e12],
      [BEGIN_MS + 300_000, BEGIN_MS + 2_100_000],
    ] as const) {
      const range = rangeOf(query, startMs, stopMs);
      const ask = async (one: EventsStore) => ({
        texts: await each(
          async (field) => (await one.stringFieldStats({ ...range, field, limit: 10, signal: never })).values,
        ),
        all: (await one.stringFieldStats({ ...range, field: fields[0]!, limit: 1000, signal: never })).values,
        truths: await each(async (field) => (await one.booleanFieldStats({ ...range, field, signal: never })).values),
        numbers: await each(async (field) =>
          numbersOf(await one.numericFieldStats({ ...range, field, signal: never })),
        ),
        count: (await one.count({ ...range, signal: never })).count,
        points: (await one.levelTimeseries({ ...range, ...HOUR, maxPoints: 60, signal: never })).points,
        discovered: (await one.discoveredFields({ ...range, signal: never })).fields,
      });
      t.strictSame(await ask(store), await ask(oracle), `${query || "everything"} from ${startMs}`);
    }
  }
});

t.test("what summaries say is not looked up", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "events-top-"));
  const store = await openEventsStore({ directory, reserveBytes: 0 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  await store.append(
    "app",
    times(3000, 0, () => ({
      user: name(),
      ok: random.chance(0.3),
      few: random.pick(["a", "b"]),
      n: random.below(100),
    })),
  );
  await store.flush();
  const read = async (query: string, ask: (range: EventRange) => Promise<{ stats: { bytesProcessed: number } }>) =>
    (await ask(rangeOf(query, 0, 4e12))).stats.bytesProcessed > 0;
  const field = (name: string): Target => ({ at: "fields", path: [name] });
  for (const query of ["", "error", "not error", "critical"]) {
    t.notOk(await read(query, (range) => store.count({ ...range, signal: never })), `${query}: count`);
    t.notOk(
      await read(query, (range) => store.levelTimeseries({ ...range, maxPoints: 60, signal: never })),
      `${query}: histogram`,
    );
    t.notOk(
      await read(query, (range) => store.stringFieldStats({ ...range, field: field("few"), limit: 10, signal: never })),
      `${query}: texts`,
    );
    t.notOk(
      await read(query, (range) => store.booleanFieldStats({ ...range, field: field("ok"), signal: never })),
      `${query}: truths`,
    );
    t.notOk(
      await read(query, (range) => store.numericFieldStats({ ...range, field: field("n"), signal: never })),
      `${query}: numbers`,
    );
    t.notOk(await read(query, (range) => store.discoveredFields({ ...range, signal: never })), `${query}: fields`);
    const isMany = query !== "critical";
    t.equal(
      await read(query, (range) =>
        store.stringFieldStats({ ...range, field: field("user"), limit: 10, signal: never }),
      ),
      isMany,
      "many texts",
    );
  }
  for (const query of ["n > 99", "n >= 99.5", "n < 0", "n <= -1", "n = 100", "n = -1", "few = z", "missing = 1"]) {
    t.notOk(await read(query, (range) => store.count({ ...range, signal: never })), query);
    t.notOk(
      await read(query, (range) => store.search({ ...range, limit: 10, order: "descending", signal: never })),
      query,
    );
  }
  for (const query of [
    "n >= 99",
    "n > 98",
    "n <= 0",
    "n < 1",
    "n = 50",
    "few = a",
    "few = A*",
    "n != 100",
    "n = 0 or n > 99",
  ]) {
    t.ok(await read(query, (range) => store.count({ ...range, signal: never })), query);
  }
});

t.test("a summary of before levels were told apart is read as it was", async (t) => {
  const { values, numbers, ...field } = allFields(summaryOf(["info", "error"])).get('["few"]')!;
  const old = { events: 2, isCut: false, minutes: [[0, [0, 1, 0, 0, 1, 0, 0, 0]]] };
  const read = readSummary(JSON.stringify({ ...old, fields: [{ ...field, numbers, values: [...values!] }] }));
  t.strictSame([...allFields(read)], [...allFields(summaryOf(["info", "error"]))]);
  const all = LEVELS.map(() => true);
  const errors = LEVELS.map((level) => level === "error");
  t.equal(fieldsOfLevels(read, all)?.length, 1);
  t.equal(fieldsOfLevels(read, errors), undefined, "not known");
  t.equal(eventsOfLevels(read, errors), 1);
  const merged = readSummary(printSummary(mergeSummaries([read, summaryOf(["error"])])));
  t.equal(allFields(merged).get('["few"]')?.values?.get("error"), 2);
  t.equal(fieldsOfLevels(merged, errors), undefined);
});

/** Summary of events that hold their level as a field, in the first minute. */
function summaryOf(levels: readonly Level[]): Summary {
  const summary = emptySummary();
  for (const level of levels) addToSummary(summary, 0, severity(level), { few: level });
  return summary;
}

const numbersOf = ({ min, avg, max }: { min: number | null; avg: number | null; max: number | null }) => [
  min,
  avg,
  max,
];

async function each<Value>(of: (field: Target) => Promise<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for (const field of fields) found.push(await of(field));
  return found;
}
