// The results of the stages of queries on stored events: random pipelines over odd events, in memory, in segments and
// half in each, against the same stages over an array.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parsePipeline } from "../../../grammar/query/index.ts";
import { FUNCTIONS, PIPE_WORDS } from "../../../grammar/query/reference.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { type AggregateQuery, type EventsStore, type NewEvent, StoreError } from "../../../logservice/events/store.ts";
import { oddEvents } from "../../support/events/generate.ts";
import { openOracle } from "../../support/events/oracle.ts";
import { differenceOf, randomPipeline } from "../../support/events/random-pipeline.ts";
import { randomOf } from "../../support/random.ts";

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

async function filled(store: EventsStore & { flush?(): Promise<void> }, flushAt: readonly number[]): Promise<void> {
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

for (const [name, flushAt] of [
  ["newest in memory", []],
  ["all in segments", [500, 1250, 2750]],
  ["some of each", [1000, 2000]],
] as const) {
  t.test(`random pipelines: ${name}`, async (t) => {
    const [oracle, store] = [openOracle(nowMs), await openDuck(t)];
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
  });
}
