import type { Entry } from "../../grammar/entry.ts";
import { isMergeable, type PipesResult, type PipesRun, readsOfPipeline } from "../../grammar/query/index.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { readEntryLine } from "./entry-line.ts";
import { type Block, CAUGHT_UP } from "./line-blocks.ts";
import { lineScan, type OnLine } from "./line-scan.ts";
import { parallelPipes } from "./parallel-pipes.ts";
import { newRun, PipeLines, type PipesRequest } from "./pipe-scan.ts";
import type { ScanProgress } from "./progress.ts";
import { InputError, openFile, type PlainFile, readHead, readOpenFile } from "./read-files.ts";
import type { EntrySource } from "./source.ts";
import type { Survey } from "./survey.ts";
import { MIN_PARALLEL_BYTES, workerCount } from "./worker-pool.ts";

export interface Aggregation extends PipesRequest {
  readonly progress: ScanProgress;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Told of what is read. */
  readonly survey?: Survey | undefined;
  /**
   * Called once a second with what there is so far, for a source that is followed; with what is new since, if the stages are
   * `isStreaming` and `isTaken`.
   */
  readonly refresh?: ((result: PipesResult) => Promise<void>) | undefined;
  readonly isTaken?: boolean;
  /** Called for an input that cannot be read, or not to its end. The others are read all the same. */
  readonly onError: (error: { readonly message: string; readonly hint?: string | undefined }) => Promise<void>;
}

const REFRESH_MS = 1000;

/** An entry with its line, which is what is printed of entries. */
export interface KeptEntry extends Entry {
  /** With its LF. */
  readonly line: Buffer;
}

/**
 * Reads a source to its end (or until nothing can change the result, or the signal) and gives what the stages of the query
 * make of the entries that it selects. What neither the query nor its stages ask about is not read. Undefined if nothing
 * could be read at all.
 */
export async function aggregateEntries(
  source: EntrySource,
  aggregation: Aggregation,
): Promise<PipesResult | undefined> {
  const { pipeline, progress, signal, clock, survey, refresh, onError } = aggregation;
  const merged = isMergeable(pipeline) ? new PipeLines(aggregation) : undefined;
  const lines = merged ?? new LinesInOrder(aggregation);
  try {
    const answered = await source.aggregate?.(aggregation);
    if (answered !== undefined) return answered;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    progress.erase();
    await onError(error);
    return undefined;
  }
  let isChanged = false;
  let isRead = false;
  let isFailed = false;
  let nextRefreshMs = clock.monotonicMs();
  const refreshed = async () => {
    if (refresh === undefined || !isChanged || clock.monotonicMs() < nextRefreshMs) return;
    isChanged = false;
    await refresh(aggregation.isTaken === true && lines instanceof LinesInOrder ? lines.take() : lines.result());
    nextRefreshMs = clock.monotonicMs() + REFRESH_MS;
  };
  // Groups that do not fit into memory may show while nothing comes that could end the reading.
  let failure: unknown;
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const refreshLate = () =>
    refreshed().catch((error: unknown) => {
      failure ??= error;
      failed.abort();
    });
  const timer = refresh && clock.every(REFRESH_MS, () => void refreshLate());

  const scanBlocks = async (blocks: AsyncIterable<Block>) => {
    for await (const block of blocks) {
      isRead = true;
      if (block !== CAUGHT_UP) {
        survey?.add(block);
        lines.add(block);
        isChanged = true;
      }
      await refreshed();
      if (ended.aborted || lines.isDone) return;
    }
  };

  const onRead = (byteCount: number) => progress.add(byteCount);
  const scanFile = async (file: PlainFile) => {
    const opened = await openFile(file, signal);
    const { handle, size } = opened;
    try {
      if (merged === undefined || size === undefined || size < MIN_PARALLEL_BYTES || workerCount() < 2) {
        await scanBlocks(readOpenFile(file, opened, onRead));
        return;
      }
      const head = await readHead(file, opened);
      if (head.end >= 0) survey?.add(head);
      survey?.leaveRest();
      const { wanted, range } = aggregation;
      const setup = { wanted, pipeline, range, file: handle.fd, size, place: merged.nextPlace };
      await parallelPipes({ setup, lines: merged, signal, onRead });
    } finally {
      await handle.close();
    }
  };

  try {
    for await (const input of source.inputs(ended, onRead)) {
      try {
        if ("path" in input) await scanFile(input);
        else await scanBlocks(input);
        isRead = true;
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        isFailed = true;
        progress.erase();
        await onError(error);
      }
      if (lines.isDone || ended.aborted) break;
    }
  } finally {
    timer?.stop();
  }
  if (failure !== undefined) throw failure;
  progress.erase();
  return isFailed && !isRead ? undefined : lines.result();
}

/** The selected entries of lines, for stages to which each entry comes after those before. */
class LinesInOrder {
  readonly #run: PipesRun;
  readonly #scan: ReturnType<typeof lineScan>;
  readonly #onLine: OnLine;

  constructor(request: PipesRequest) {
    const run = newRun(request);
    const reads = readsOfPipeline(request.pipeline);
    const scan = lineScan(request.wanted, { reads });
    this.#run = run;
    this.#scan = scan;
    this.#onLine = (bytes, start, end, line) => {
      if (reads !== undefined) run.push(line?.entry ?? scan.partialEntry());
      else {
        const whole = line?.entry ?? readEntryLine(bytes.toString("utf8", start, end)).entry;
        // A copy, as the block's buffer is reused.
        run.push({ ...whole, line: Buffer.from(bytes.subarray(start, end + 1)) } as KeptEntry);
      }
      return !run.isDone;
    };
  }

  add(block: Block): void {
    this.#scan(block, this.#onLine);
  }

  get isDone(): boolean {
    return this.#run.isDone;
  }

  result(): PipesResult {
    return this.#run.result();
  }

  take(): PipesResult {
    return this.#run.take();
  }
}
