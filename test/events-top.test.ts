// Top values and discovered fields of segments whose columns differ, and of the newest events beside them: as the predicate
// says, whether the engine counts or summaries do.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parseQuery, type Target } from "../grammar/query/index.ts";
import { openEventsStore } from "../logservice/events/open.ts";
import type { EventsStore, NewEvent, Range } from "../logservice/events/store.ts";
import { openOracle } from "./support/events/oracle.ts";
import { randomOf } from "./support/random.ts";

t.setTimeout(120_000);

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
  times(600, 0, () => ({ user: name(), ok: random.chance(0.3), few: random.pick(["a", "b"]) })),
  times(600, 600, () => ({ user: name(), few: random.pick(["b", "c", 3]), rare: { x: 1 } })),
  times(600, 1200, () => ({ user: random.chance(0.2) ? [name(), name(), 1, ["a"]] : name(), ok: true })),
  times(200, 1800, () => ({ user: random.below(5), ok: "no", few: null })),
  times(50, 2000, () => ({ other: { deep: name() }, many: { [`k${random.below(9)}`]: 1 } })),
  times(300, 2050, () => ({ user: name(), ok: false, few: "newest" })),
];

const fields: readonly Target[] = [
  ...["user", "ok", "few", "missing"].map((key): Target => ({ at: "fields", path: [key] })),
  { at: "fields", path: ["other", "deep"] },
  { at: "fields", path: ["user", 0] },
  { at: "entry", name: "level" },
  { at: "entry", name: "message" },
];

const rangeOf = (query: string, startMs: number, stopMs: number): Range => {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(query);
  return { project: "app", startMs, stopMs, query: query === "" ? undefined : parsed.value };
};

t.test("top values and discovered fields are the predicate's", async (t) => {
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
        texts: await each(async (field) => (await one.stringFieldStats(range, field, 10, never)).values),
        all: (await one.stringFieldStats(range, fields[0]!, 1000, never)).values,
        truths: await each(async (field) => (await one.booleanFieldStats(range, field, never)).values),
        discovered: (await one.discoveredFields(range, never)).fields,
      });
      t.strictSame(await ask(store), await ask(oracle), `${query || "everything"} from ${startMs}`);
    }
  }
});

async function each<Value>(of: (field: Target) => Promise<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for (const field of fields) found.push(await of(field));
  return found;
}
