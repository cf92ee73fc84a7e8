// Ingest over HTTP with the flusher beside it, then the store at rest.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { EVENTS_FOLDER } from "../../../logservice/admin/data-directory.ts";
import { BATCH_EVENTS } from "./bodies.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { type Memory, processorSeconds } from "./processes.ts";
import type { BenchService } from "./service.ts";

export interface Ingested extends LoadResult {
  /** From the last acknowledgement until no more than one journal file waits to be made into a segment. */
  readonly drainSeconds: number;
  /** Processor time an event until then, microseconds. */
  readonly serviceMicrosPerEvent: number;
  readonly flusherMicrosPerEvent: number;
  readonly memoryMost: Memory;
  readonly memoryAfter: Memory;
}

const LOOK_MS = 200;
/** The flusher has nothing to do: it begins again with the next full file. */
const ONE_FILE_EVENTS = 100_000;
const STUCK_MS = 120_000;

export async function ingest(
  service: BenchService,
  { events, connections }: { readonly events: number; readonly connections: number },
  say: (text: string) => void,
): Promise<Ingested> {
  const before = processorSeconds(service.pid);
  const { url, token } = service;
  const load = await startLoad(
    { url, token, firstBatch: 0, endBatch: events / BATCH_EVENTS, connections },
    (done, seconds) => say(`${done.toLocaleString("en")} events acknowledged, ${Math.round(done / seconds)} a second`),
  );
  const result = await load.done;
  const began = performance.now();
  await drained(service);
  const drainSeconds = (performance.now() - began) / 1000;
  const after = processorSeconds(service.pid);
  const memoryAfter = service.memory.look();
  return {
    ...result,
    drainSeconds,
    serviceMicrosPerEvent: ((after.own - before.own) * 1e6) / events,
    flusherMicrosPerEvent: ((after.children - before.children) * 1e6) / events,
    memoryMost: service.memory.most,
    memoryAfter,
  };
}

/** Resolves when the flusher has caught up. Rejects where it does not move any more. */
export async function drained(service: BenchService): Promise<void> {
  let last = Number.POSITIVE_INFINITY;
  let movedMs = performance.now();
  for (;;) {
    const { newest_events: waiting = 0 } = await service.metrics();
    if (waiting <= ONE_FILE_EVENTS) return;
    if (waiting !== last) movedMs = performance.now();
    if (performance.now() - movedMs > STUCK_MS) throw new Error(`${waiting} events wait for the flusher, which rests`);
    last = waiting;
    await sleep(LOOK_MS);
  }
}

/** Brings a data directory that no service runs on to rest; returns the bytes in its events folder then. */
export async function settled(folder: string, stopping: AbortSignal): Promise<number> {
  const events = join(folder, "data", EVENTS_FOLDER);
  const child = fork(fileURLToPath(new URL("settle-process.js", import.meta.url)), [events], { signal: stopping });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the store could not be brought to rest (exit status ${code})`);
  return bytesBelow(events);
}

/** Bytes of the files in a folder, at all depths. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
