// Kills a store at random under load, again and again, and looks each time at what it kept.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { root } from "../cli.ts";
import { randomOf } from "../random.ts";

const BATCH = 20;
const JOURNAL_EVENTS = 500;

export interface CrashLoop {
  readonly acknowledged: number;
  readonly kept: number;
  readonly segments: number;
  readonly tornBytes: number;
  /** Files in quarantine folders, and losses: a crash damages nothing. */
  readonly setAside: readonly string[];
  /** Batches that were acknowledged and are gone, that are there in part, or more than once. */
  readonly wrong: readonly string[];
}

export async function crashLoop(directory: string, rounds: number, seed: number): Promise<CrashLoop> {
  const random = randomOf(seed);
  const acknowledged = new Set<number>();
  const wrong: string[] = [];
  const setAside: string[] = [];
  let [next, tornBytes, kept, segments] = [0, 0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const began = next;
    // From just opened, in the middle of mending, to many journal files later.
    const lines = await killedAfter(directory, began, random.pick([0, 5, 30, 100, 200, 400]) + random.below(50));
    for (const number of lines) acknowledged.add(number);
    // Four clients were each at one that is not known.
    next = Math.max(began, ...lines.map((number) => number + 1)) + 4;
    const store = await openEventsStore({ directory, reserveBytes: 0, flushEvents: JOURNAL_EVENTS });
    try {
      // A machine that is slow makes no segments in a round: here they are made in any case.
      if (round % 4 === 3) await store.flush();
      const counts = await batchCounts(store);
      tornBytes += store.metrics().journal_torn_bytes_total ?? 0;
      segments = store.metrics().segments ?? 0;
      kept = counts.size;
      setAside.push(...store.losses().map(({ file, reason }) => `round ${round}: ${file} ${reason}`));
      for (const number of acknowledged) if (!counts.has(number)) wrong.push(`round ${round}: batch ${number} is lost`);
      for (const [number, count] of counts) {
        if (count !== BATCH) wrong.push(`round ${round}: ${count} of ${BATCH} events of batch ${number}`);
      }
    } finally {
      await store.close();
    }
    const files = readdirSync(directory, { recursive: true }) as string[];
    setAside.push(
      ...files.filter((path) => /quarantine\/|\.damaged$/.test(path)).map((path) => `round ${round}: ${path}`),
    );
    if (wrong.length + setAside.length > 0) break;
  }
  return { acknowledged: acknowledged.size, kept, segments, tornBytes, setAside, wrong };
}

/** How many different events there are of each batch, and all of them where one is there twice. */
export async function batchCounts(store: EventsStore): Promise<Map<number, number>> {
  const indexes = new Map<number, Set<number>>();
  const counts = new Map<number, number>();
  const range = { project: "app", startMs: 0, stopMs: 4e12, query: undefined };
  let cursor: string | undefined;
  do {
    const page = await store.search({
      ...range,
      limit: 10_000,
      order: "ascending",
      cursor,
      signal: new AbortController().signal,
    });
    for (const { fields } of page.events) {
      const { number, i } = fields as { number: number; i: number };
      const seen = indexes.get(number) ?? new Set();
      indexes.set(number, seen.add(i));
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return new Map([...counts].map(([number, count]) => [number, Math.max(count, indexes.get(number)!.size)]));
}

/** Starts the store, kills it `ms` milliseconds after it was open, and returns the numbers that it acknowledged. */
async function killedAfter(directory: string, first: number, ms: number): Promise<number[]> {
  const program = join(root, "dist/test/support/events/store-process.js");
  const child = spawn(process.execPath, [program, directory, String(first), String(BATCH), String(JOURNAL_EVENTS)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    // Some rounds end before it is open.
    if (out === "") setTimeout(() => child.kill("SIGKILL"), ms);
    out += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  if (!out.startsWith("open\n")) throw new Error(`the store did not open: ${out}`);
  // A line that was cut off was not acknowledged to anybody.
  return out.slice(0, out.lastIndexOf("\n")).split("\n").slice(1).map(Number);
}
