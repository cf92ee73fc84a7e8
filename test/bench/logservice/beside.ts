// Reads beside ingest: what a page of the log asks, again and again, while events come in and the flusher works.
import { askUntil, type Spread } from "./asking.ts";
import { BATCH_EVENTS } from "./bodies.ts";
import { drained } from "./ingest.ts";
import { startLoad } from "./load.ts";
import type { Ask } from "./questions.ts";
import type { BenchService } from "./service.ts";

export interface Beside {
  /** The rate that was aimed at; undefined: as fast as possible. */
  readonly eventsPerSecond: number | undefined;
  readonly acknowledgedRate: number;
  readonly reads: Spread;
}

export interface ReadsBeside {
  readonly idle: Spread;
  readonly beside: readonly Beside[];
}

/** A slow and steady stream, and all that goes in. */
const RATES = [20_000, undefined];

/** Each rate for `seconds`. New events are later than those that are there, so that the reads' answers stay the same. */
export async function readsBeside(
  service: BenchService,
  page: readonly Ask[],
  options: { readonly events: number; readonly seconds: number; readonly connections: number },
  say: (text: string) => void,
): Promise<ReadsBeside> {
  const { connections, seconds } = options;
  const untilMs = () => {
    const endMs = performance.now() + seconds * 1000;
    return () => performance.now() > endMs;
  };
  // The files that the first reads open stay open.
  await askUntil(service, page, untilMs());
  const idle = await askUntil(service, page, untilMs());
  const beside: Beside[] = [];
  let firstBatch = options.events / BATCH_EVENTS;
  for (const eventsPerSecond of RATES) {
    say(
      `reads beside ingest at ${eventsPerSecond === undefined ? "full speed" : `${eventsPerSecond} events a second`}`,
    );
    const { url, token } = service;
    const load = await startLoad({
      url,
      token,
      firstBatch,
      connections,
      ...(eventsPerSecond !== undefined && { eventsPerSecond }),
    });
    let isFailed = false;
    load.done.catch(() => {
      isFailed = true;
    });
    const isOver = untilMs();
    const reads = await askUntil(service, page, () => isFailed || isOver());
    load.stop();
    const { events, rate } = await load.done;
    firstBatch += events / BATCH_EVENTS;
    beside.push({ eventsPerSecond, acknowledgedRate: rate, reads });
    await drained(service);
  }
  return { idle, beside };
}
