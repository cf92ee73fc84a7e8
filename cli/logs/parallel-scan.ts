import { setImmediate } from "node:timers/promises";
import type { TextState } from "../output/log-text.ts";
import type { LineOptions } from "./found-lines.ts";
import type { Wanted } from "./line-scan.ts";
import {
  SEGMENT_BYTES,
  type SegmentResult,
  type SegmentsSetup,
  type SegmentTask,
  segmentScanner,
} from "./segment-scan.ts";
import { WorkerPool, workerCount } from "./worker-pool.ts";

/** Segments per worker that are in progress or wait for their turn. The waiting thread may add as many of its own. */
const SEGMENTS_PER_WORKER = 4;

export interface ParallelScan {
  /** An open file descriptor. */
  readonly file: number;
  readonly size: number;
  readonly wanted: Wanted;
  readonly lineOptions: LineOptions;
  /** The state of the output before this file. */
  readonly textState: TextState;
  /** The maximum number of lines. */
  readonly limit: number;
  /** For tests: small segments, so that every line crosses a boundary. */
  readonly segmentBytes?: number;
  readonly workerCount?: number;
}

/** The next part of the output, in the order of the input. */
export interface ScannedPart {
  readonly output: Uint8Array;
  readonly count: number;
  readonly textState: TextState;
  /** Input bytes since the previous part. */
  readonly byteCount: number;
  /** Start of a line that is too long for segments: the rest of the file has to be read sequentially from there. */
  readonly resumeAt: number | undefined;
}

/**
 * Scans a file with several threads. Each takes the next segment, and the results are yielded in order. The number of
 * segments in progress is limited, so that memory stays small if the reader of the output is slow. Text depends on the lines
 * before it (columns, dates): a segment is formatted as if that state had not changed, and again if it has.
 */
export async function* parallelScan(scan: ParallelScan): AsyncGenerator<ScannedPart> {
  const { file, size, wanted, lineOptions, segmentBytes = SEGMENT_BYTES } = scan;
  const setup: SegmentsSetup = { file, size, wanted, lineOptions };
  const pool = new WorkerPool<SegmentTask, SegmentResult>(Math.max(1, scan.workerCount ?? workerCount() - 1), setup);
  const scanHere = segmentScanner(setup);
  const isText = lineOptions.format === "text" && !lineOptions.countOnly;
  let { textState, limit } = scan;
  let next = 0;
  const pending: Pending[] = [];
  const start = (at: number, end: number): Pending => {
    const task = { id: 0, start: at, end, limit, textState };
    const started: Pending = { task, result: pool.run(task), isDone: false };
    const done = () => {
      started.isDone = true;
    };
    started.result.then(done, done);
    return started;
  };
  const takeNext = () => {
    const at = next;
    next = Math.min(size, at + segmentBytes);
    return [at, next] as const;
  };

  try {
    for (let isFirst = true; ; isFirst = false) {
      // The first lines of text set the columns: segments that start before they are known would be formatted twice.
      const window = isText && isFirst ? 1 : pool.size * SEGMENTS_PER_WORKER;
      while (pending.length < window && next < size) pending.push(start(...takeNext()));
      const first = pending.shift();
      if (first === undefined) return;
      const { task } = first;
      // Instead of waiting this thread scans too, which helps most while the others start.
      while (!first.isDone && !(isText && isFirst) && next < size && pending.length < 2 * window) {
        const [at, end] = takeNext();
        const own = { id: 0, start: at, end, limit, textState };
        pending.push({ task: own, result: Promise.resolve(scanHere(own)), isDone: true });
        await setImmediate();
      }
      let result = await first.result;
      const isOutdated = isText && result.count > 0 && !isSameState(task.textState, textState);
      if (isOutdated || result.count > limit) result = scanHere({ ...task, limit, textState });
      if (result.count > 0) textState = result.textState;
      limit -= result.count;
      const { output, count, tooLongAt } = result;
      yield { output, count, textState, byteCount: task.end - task.start, resumeAt: tooLongAt };
      if (limit <= 0 || tooLongAt !== undefined) return;
    }
  } finally {
    // Their results are no longer needed.
    for (const { result } of pending) result.catch(() => {});
    await pool.close();
  }
}

const isSameState = (a: TextState, b: TextState) =>
  a.day === b.day && a.levelWidth === b.levelWidth && a.stageWidth === b.stageWidth;

interface Pending {
  readonly task: SegmentTask;
  readonly result: Promise<SegmentResult>;
  isDone: boolean;
}
