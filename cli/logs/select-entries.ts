import type { OutputStream } from "../io.ts";
import { FoundLines, type LineOptions } from "./found-lines.ts";
import { type Block, CAUGHT_UP } from "./line-blocks.ts";
import { lineScan, type Wanted } from "./line-scan.ts";
import { NewestLines } from "./newest-lines.ts";
import { parallelScan } from "./parallel-scan.ts";
import type { ScanProgress } from "./progress.ts";
import { InputError, type OnRead, openFile, type PlainFile, readHead, readOpenFile } from "./read-files.ts";
import type { EntrySource } from "./source.ts";
import type { Survey } from "./survey.ts";
import { MIN_PARALLEL_BYTES, workerCount } from "./worker-pool.ts";

export interface EntrySelection {
  readonly wanted: Wanted;
  readonly lineOptions: LineOptions;
  /** Infinite for all. */
  readonly limit: number;
  /** How many of the existing entries are shown before a source is followed; undefined for all. */
  readonly pastLimit?: number | undefined;
  readonly output: OutputStream;
  readonly progress: ScanProgress;
  readonly signal: AbortSignal;
  /** Gets the blocks that were read as long as nothing was found, or as long as it needs more. */
  readonly survey?: Survey | undefined;
  /** Called for an input that cannot be read, or not to its end. The others are read all the same. */
  readonly onError: (error: InputError) => Promise<void>;
}

/** Smaller writes cost more system calls; larger ones gain nothing and make the reader of a pipe wait. */
const BATCH_BYTES = 64 * 1024;

/**
 * Reads a source to its end (or the limit, or the signal) and writes the selected entries. The memory used does not depend
 * on the length of the input. Returns the number of entries.
 */
export async function selectEntries(source: EntrySource, selection: EntrySelection): Promise<number> {
  const { wanted, lineOptions, limit, pastLimit, output, progress, signal, survey, onError } = selection;
  const lines = new FoundLines(lineOptions);
  const newest = source.limitsToNewest && limit !== Number.POSITIVE_INFINITY ? new NewestLines(limit) : undefined;
  let past =
    pastLimit === undefined || !source.saysWhenCaughtUp ? undefined : new NewestLines(Math.min(pastLimit, limit));
  const scan = lineScan(wanted);
  let count = 0;
  lines.limit = newest === undefined ? limit : Number.POSITIVE_INFINITY;

  const write = async (chunk: Uint8Array | string) => {
    if (chunk.length === 0) return;
    if (output.isTerminal) progress.erase();
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let at = 0; at < bytes.length && !signal.aborted; at += BATCH_BYTES) {
      await output.write(bytes.subarray(at, at + BATCH_BYTES));
    }
  };
  const isDone = () => signal.aborted || (newest === undefined && count + lines.count >= limit);

  const showPast = () => {
    for (const [bytes, line] of past?.lines() ?? []) lines.onLine(bytes, 0, bytes.length - 1, line);
    past = undefined;
  };

  const scanBlocks = async (blocks: AsyncIterable<Block>) => {
    for await (const block of blocks) {
      if (block === CAUGHT_UP) showPast();
      else scan(block, (past ?? newest ?? lines).onLine);
      if (survey !== undefined && block !== CAUGHT_UP) {
        const isFound = count + lines.count > 0 || !(newest?.isEmpty ?? true);
        if (!isFound || survey.watches) survey.add(block);
      }
      // The block's buffer is reused.
      lines.settle();
      if (lines.size >= BATCH_BYTES || source.live) await write(lines.take());
      if (isDone()) {
        survey?.leaveRest();
        return;
      }
    }
  };

  const scanFile = async (file: PlainFile, onRead: OnRead) => {
    const opened = await openFile(file, signal);
    const { handle, size } = opened;
    try {
      if (size === undefined || size < MIN_PARALLEL_BYTES || workerCount() < 2 || newest !== undefined) {
        await scanBlocks(readOpenFile(file, opened, onRead));
        return;
      }
      const head = await readHead(file, opened);
      // Threads return only what they found, so the survey sees the start of the file.
      if (head.end >= 0) survey?.add(head);
      survey?.leaveRest();
      await write(lines.take());
      const remaining = limit - count - lines.count;
      const parts = parallelScan({
        file: handle.fd,
        size,
        wanted,
        lineOptions,
        textState: lines.textState,
        limit: remaining,
      });
      for await (const part of parts) {
        onRead(part.byteCount);
        count += part.count;
        lines.textState = part.textState;
        await write(part.output);
        if (signal.aborted) return;
        if (part.resumeAt !== undefined) {
          lines.limit = limit - count;
          await scanBlocks(readOpenFile(file, opened, onRead, part.resumeAt));
        }
      }
      lines.limit = limit - count;
    } finally {
      await handle.close();
    }
  };

  const onRead = (byteCount: number) => progress.add(byteCount);
  for await (const input of source.inputs(signal, onRead)) {
    try {
      if ("path" in input) await scanFile(input, onRead);
      else await scanBlocks(input);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      showPast();
      await write(lines.take());
      progress.erase();
      await onError(error);
    }
    if (isDone()) break;
  }
  showPast();
  for (const [bytes, line] of newest?.lines() ?? []) lines.onLine(bytes, 0, bytes.length - 1, line);
  await write(lines.take());
  progress.erase();
  return count + lines.count;
}
