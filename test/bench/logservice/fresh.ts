// Questions over events that are in no segment yet, beside the same over the same events once they are settled: from one
// sender, and from several whose batches cover the same time. The store is in this process; no rivals. Processor time is
// measured: by the clock, other work on the machine would decide the ratios.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePipeline } from "../../../grammar/query/index.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { BATCH_EVENTS, type BenchEvent, Bodies, eventsOf, timeOf } from "./bodies.ts";

const EVENTS = Number(process.env.EVENTS ?? 90_000);
const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SENDERS = (process.env.SENDERS ?? "1,4,16").split(",").map(Number);
const PROJECT = "app";

type Store = Awaited<ReturnType<typeof openEventsStore>>;

const QUESTIONS: readonly string[] = [
  "",
  "level >= error",
  "user.id = 7",
  "| count by service",
  "| count by path",
  "| stats avg(duration), max(duration) by service",
  "| stats count(), sum(size), min(duration), max(duration) by method, service",
  "| stats sum(duration) by status",
  "| timeseries count(), avg(duration) by service",
  "status >= 500 | count by path",
  "duration > 3000 | stats count(), avg(duration) by service",
  "| stats p99(duration) by service",
  "| stats p50(duration), p95(duration) by method, service",
  "| stats distinct(user.id) by service",
];

const signal = new AbortController().signal;

function ask(store: Store, text: string): Promise<unknown> {
  const parsed = parsePipeline(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problems[0]?.message}`);
  const { query, pipes } = parsed.value;
  const range = { project: PROJECT, startMs: timeOf(0), stopMs: timeOf(EVENTS), signal };
  const question = { ...range, query: query.expr === undefined ? undefined : query };
  return pipes.length === 0
    ? store.search({ ...question, limit: 100, order: "descending" })
    : store.aggregate({ ...question, pipes, limit: 1000 });
}

/** The batches in the order in which they come: those of `senders` that follow each other are of the same time. */
function* batchesOf(senders: number): Generator<readonly BenchEvent[]> {
  const bodies = new Bodies();
  for (let number = 0; number * BATCH_EVENTS < EVENTS; number += senders) {
    const count = Math.min(senders, EVENTS / BATCH_EVENTS - number);
    const all = Array.from({ length: count }, (_, at) => eventsOf(bodies.body(number + at))).flat();
    for (let sender = 0; sender < count; sender++) yield all.filter((_, at) => at % count === sender);
  }
}

/** The processor time of a question at one store, again and again. */
class Times {
  readonly #store: Store;
  firstMs = Number.NaN;
  readonly #rest: number[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  async add(text: string): Promise<void> {
    const before = process.cpuUsage();
    await ask(this.#store, text);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    if (Number.isNaN(this.firstMs)) this.firstMs = ms;
    else this.#rest.push(ms);
  }

  /** The least, the median and the most after the first. */
  get spread(): readonly [number, number, number] {
    const sorted = this.#rest.toSorted((a, b) => a - b);
    return [sorted[0]!, sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
  }
}

const shown = (ms: number) => ms.toFixed(ms < 10 ? 1 : 0);

const about = (times: Times) => {
  const [least, median, most] = times.spread;
  return `${shown(times.firstMs)}, ${shown(median)} (${shown(least)} to ${shown(most)})`;
};

async function open() {
  const directory = mkdtempSync(join(tmpdir(), "bench-fresh-"));
  const store = await openEventsStore({ directory, reserveBytes: 0, flushEvents: 1e9, flushBytes: 1e12 });
  return { store, directory };
}

console.log(
  `${EVENTS} events, ${ROUNDS} rounds after the first; ms of processor time, all threads: first, p50 (spread)`,
);
console.log("| question | senders | fresh | settled | fresh / settled |\n|---|---|---|---|---|");
for (const senders of SENDERS) {
  const [fresh, settled] = [await open(), await open()];
  try {
    for (const events of batchesOf(senders))
      for (const { store } of [fresh, settled]) await store.append(PROJECT, events);
    await settled.store.flush();
    await settled.store.compact();
    for (const text of QUESTIONS) {
      const both = [new Times(fresh.store), new Times(settled.store)] as const;
      // In turns: other work on the machine slows both.
      for (let round = 0; round <= ROUNDS; round++) for (const times of both) await times.add(text);
      const [own, other] = both;
      const ratio = (own.spread[1] / other.spread[1]).toFixed(2);
      const name = text === "" ? "newest 100" : `\`${text.replaceAll("|", "\\|")}\``;
      console.log(`| ${name} | ${senders} | ${about(own)} | ${about(other)} | ${ratio} |`);
    }
  } finally {
    for (const { store, directory } of [fresh, settled]) {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
