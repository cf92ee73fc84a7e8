import {
  type PackedState,
  type Pipeline,
  type PipesResult,
  PipesRun,
  readsOfPipeline,
  TooManyGroups,
} from "../../grammar/query/index.ts";
import type { PackedByteGroups } from "./byte-groups.ts";
import { fastGroups } from "./fast-groups.ts";
import type { Block } from "./line-blocks.ts";
import { type Found, lineScan, type Wanted } from "./line-scan.ts";
import { SegmentReader } from "./segment-scan.ts";

/** What is asked of the entries of a file. Plain data, as it is passed to other threads. */
export interface PipesAsked {
  readonly wanted: Wanted;
  readonly pipeline: Pipeline;
  /** The period that was asked for. */
  readonly range: { readonly fromMs: number | undefined; readonly toMs: number | undefined };
  /** For tests: memory for groups and values. */
  readonly budgetBytes?: number | undefined;
}

/** What threads hand over to each other. */
export interface PackedLines {
  readonly run: PackedState;
  readonly fast: PackedByteGroups | undefined;
}

const LF = 0x0a;

/** What is collected outside of the run, and of its memory, is at most so much. */
const MOST_FAST_BYTES = 64 * 1024 * 1024;

/** The selected entries of lines, collected by the stages that come first. */
export class PipeLines {
  /** Aggregates are never done. */
  readonly isDone = false;
  readonly #asked: PipesAsked;
  readonly #scan: ReturnType<typeof lineScan>;
  readonly #fast: ReturnType<typeof fastGroups>;
  #run: PipesRun;

  constructor(asked: PipesAsked) {
    this.#asked = asked;
    this.#scan = lineScan(asked.wanted, { reads: readsOfPipeline(asked.pipeline) });
    this.#fast = fastGroups(asked.wanted, asked.pipeline);
    this.#run = newRun(asked);
  }

  /** What the stages give of all that was collected. */
  result(): PipesResult {
    const rows = this.#run.isEmpty ? this.#fast?.rows() : undefined;
    if (rows !== undefined) return this.#run.result(rows);
    if (this.#fast?.isEmpty === false) this.#run.merge(this.#fast.takePacked());
    return this.#run.result();
  }

  /** The place of the next line in the input; each comes after the one before, if nothing else is said. */
  get nextPlace(): number {
    return this.#run.nextPlace;
  }

  set nextPlace(place: number) {
    this.#run.nextPlace = place;
  }

  /** About how many bytes were collected. */
  get bytes(): number {
    return this.#run.takenBytes + (this.#fast?.bytes ?? 0);
  }

  /** Adds a block of lines. `place` is that of the first byte of its buffer, if blocks do not come in their order. */
  add(block: Block, place?: number): void {
    const fast = this.#fast;
    const found: Found = (_, start, _end, line) => {
      if (place !== undefined) this.#run.nextPlace = place + start;
      this.#run.push(line?.entry ?? this.#scan.partialEntry());
      return true;
    };
    if (fast === undefined) {
      this.#scan(block, found);
      return;
    }
    const { bytes, start, end } = block;
    for (let at = start; at <= end; ) {
      let lineEnd = fast.take(bytes, at);
      if (lineEnd < 0) {
        lineEnd = bytes.indexOf(LF, at);
        this.#scan({ bytes, start: at, end: lineEnd }, found);
      }
      at = lineEnd + 1;
    }
    if (fast.bytes > MOST_FAST_BYTES) this.#run.merge(fast.takePacked());
  }

  /** What was collected, and forgets it. */
  take(): PackedLines {
    const packed = { run: this.#run.pack(), fast: this.#fast?.takeGroups() };
    this.#run = newRun(this.#asked);
    return packed;
  }

  merge({ run, fast }: PackedLines): void {
    this.#run.merge(run);
    if (fast !== undefined) this.#fast!.merge(fast);
    if (this.#fast !== undefined && this.#fast.bytes > MOST_FAST_BYTES) this.#run.merge(this.#fast.takePacked());
  }
}

export const newRun = ({ wanted, pipeline, range, budgetBytes }: PipesAsked) =>
  new PipesRun(pipeline, { nowMs: wanted.nowMs, range, ...(budgetBytes !== undefined && { budgetBytes }) });

/** A file of which threads read segments. */
export interface PipesSetup extends PipesAsked {
  /** A file descriptor, which threads share. */
  readonly file: number;
  readonly size: number;
  /** The place of the first byte of the file in all of the input. */
  readonly place: number;
}

/** Adds the lines of segments of a file: in a worker thread, or in the main thread. */
export function pipeScanner({ file, size, place }: PipesSetup, lines: PipeLines): (start: number, end: number) => void {
  const segments = new SegmentReader(file, size);
  return (start, end) => {
    const { block, tooLongAt, offset } = segments.read(start, end);
    if (block !== undefined) lines.add(block, place + offset);
    if (tooLongAt !== undefined)
      for (const part of segments.inParts(tooLongAt, end)) lines.add(part.block, place + part.offset);
  };
}

export interface PipeTask {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** Set if no segment follows, so that everything is to be handed over. */
  readonly isLast: boolean;
}

export interface PipeResult {
  readonly id: number;
  /** What was collected from this segment and those before; undefined if it is kept for later. */
  readonly packed: PackedLines | undefined;
  /** Set if there are more groups, or steps of time, than may be. */
  readonly tooMany: Pick<TooManyGroups, "count" | "what"> | undefined;
}

/**
 * What a worker keeps before it hands it over. Groups of several segments are mostly the same, and are merged once; but all
 * that workers keep comes on top of the memory for groups of the main thread.
 */
const KEPT_BYTES = 16 * 1024 * 1024;

/** The tasks of a worker thread. */
export function pipeTasks(setup: PipesSetup): (task: PipeTask) => PipeResult {
  const lines = new PipeLines(setup);
  const scan = pipeScanner(setup, lines);
  return ({ id, start, end, isLast }) => {
    try {
      if (start < end) scan(start, end);
    } catch (error) {
      if (!(error instanceof TooManyGroups)) throw error;
      return { id, packed: undefined, tooMany: { count: error.count, what: error.what } };
    }
    const packed = isLast || lines.bytes > KEPT_BYTES ? lines.take() : undefined;
    return { id, packed, tooMany: undefined };
  };
}
