import { setImmediate } from "node:timers/promises";
import { TooManyGroups } from "../../grammar/query/index.ts";
import { type PipeLines, type PipeResult, type PipesSetup, type PipeTask, pipeScanner } from "./pipe-scan.ts";
import type { OnRead } from "./read-files.ts";
import { SEGMENT_BYTES } from "./segment-scan.ts";
import { WorkerPool, workerCount } from "./worker-pool.ts";

export interface ParallelPipes {
  readonly setup: PipesSetup;
  /** Gets all that is found; its stages are such that `isMergeable`. */
  readonly lines: PipeLines;
  readonly signal: AbortSignal;
  readonly onRead: OnRead;
  /** For tests: small segments, so that every line crosses a boundary. */
  readonly segmentBytes?: number;
  readonly workerCount?: number;
}

/** So that a worker never waits for its next segment while this thread scans one or merges. */
const SEGMENTS_PER_WORKER = 4;

/**
 * Adds the lines of a file, with several threads: each takes the next segment, and this one does so too. Workers
 * hand over what they have collected when it becomes large, and at the end; it is merged here, so that the memory for groups
 * is bounded as with one thread. After the signal, what was read until then is merged.
 */
export async function parallelPipes(parallel: ParallelPipes): Promise<void> {
  const { setup, lines, signal, onRead, segmentBytes = SEGMENT_BYTES } = parallel;
  const { size, place } = setup;
  const pool = new WorkerPool<PipeTask, PipeResult>(Math.max(1, parallel.workerCount ?? workerCount() - 1), {
    pipes: setup,
  });
  const scanHere = pipeScanner(setup, lines);
  let next = 0;
  let failure: unknown;
  const takeNext = () => {
    const start = next;
    next = Math.min(size, start + segmentBytes);
    return { id: 0, start, end: next, isLast: false };
  };
  const merge = ({ packed, tooMany }: PipeResult) => {
    if (tooMany !== undefined) throw new TooManyGroups(tooMany.count, tooMany.what);
    if (packed !== undefined) lines.merge(packed);
  };
  const pending = new Set<Promise<void>>();
  const start = (task: PipeTask) => {
    const done = pool.run(task).then((result) => {
      merge(result);
      onRead(task.end - task.start);
      pending.delete(done);
    });
    pending.add(done);
    done.catch((error: unknown) => {
      failure ??= error;
    });
  };
  try {
    while (next < size && !signal.aborted && failure === undefined) {
      while (next < size && pending.size < pool.size * SEGMENTS_PER_WORKER) start(takeNext());
      if (next === size) break;
      const own = takeNext();
      scanHere(own.start, own.end);
      onRead(own.end - own.start);
      await setImmediate();
    }
    // The first failure ends the other workers, too.
    if (failure !== undefined) throw failure;
    await Promise.all(pending);
    for (const result of await pool.runOnEach({ id: 0, start: 0, end: 0, isLast: true })) merge(result);
    lines.nextPlace = place + size;
  } finally {
    await pool.close();
  }
}
