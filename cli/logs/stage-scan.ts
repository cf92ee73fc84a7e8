import { type Packed, type Pipeline, readsOfPipeline, StagesRun, TooManyGroups } from "../../grammar/query/index.ts";
import type { Block } from "./line-blocks.ts";
import { type Found, lineScan, type Wanted } from "./line-scan.ts";
import { SegmentReader } from "./segment-scan.ts";

/** What is asked of the entries of a file. Plain data, as it is passed to other threads. */
export interface StagesAsked {
  readonly wanted: Wanted;
  readonly pipeline: Pipeline;
  /** The period that was asked for. */
  readonly range: { readonly fromMs: number | undefined; readonly toMs: number | undefined };
  /** For tests: memory for groups and values. */
  readonly budgetBytes?: number | undefined;
}

export const newRun = ({ wanted, pipeline, range, budgetBytes }: StagesAsked) =>
  new StagesRun(pipeline, { nowMs: wanted.nowMs, range, ...(budgetBytes !== undefined && { budgetBytes }) });

/** Adds the selected entries of a block, whose buffer begins at `offset` of the file, to the run. */
export type SegmentLines = (block: Block, offset: number, run: StagesRun) => void;

function segmentLines({ wanted, pipeline }: StagesAsked, place: number): SegmentLines {
  const scan = lineScan(wanted, { reads: readsOfPipeline(pipeline) });
  return (block, offset, run) => {
    const found: Found = (_, start, _end, line) => {
      run.nextPlace = place + offset + start;
      run.push(line?.entry ?? scan.partialEntry());
      return true;
    };
    scan(block, found);
  };
}

/** A file of which threads read segments. */
export interface StagesSetup extends StagesAsked {
  /** A file descriptor, which threads share. */
  readonly file: number;
  readonly size: number;
  /** The place of the first byte of the file in all of the input. */
  readonly place: number;
}

/** Adds the entries of segments of a file to a run: in a worker thread, or in the main thread. */
export function stageScanner(setup: StagesSetup): (start: number, end: number, run: StagesRun) => void {
  const scan = segmentLines(setup, setup.place);
  const segments = new SegmentReader(setup.file, setup.size);
  return (start, end, run) => {
    const { block, tooLongAt, offset } = segments.read(start, end);
    if (block !== undefined) scan(block, offset, run);
    if (tooLongAt !== undefined)
      for (const part of segments.inParts(tooLongAt, end)) scan(part.block, part.offset, run);
  };
}

export interface StageTask {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** Set if no segment follows, so that everything is to be handed over. */
  readonly isLast: boolean;
}

export interface StageResult {
  readonly id: number;
  /** What was collected from this segment and those before; undefined if it is kept for later. */
  readonly packed: Packed | undefined;
  /** Set if there are more groups, or steps of time, than may be. */
  readonly tooMany: Pick<TooManyGroups, "count" | "what"> | undefined;
}

/**
 * What a worker keeps before it hands it over. Groups of several segments are mostly the same, and are merged once; but all
 * that workers keep comes on top of the memory for groups of the main thread.
 */
const KEPT_BYTES = 16 * 1024 * 1024;

/** The tasks of a worker thread. */
export function stageTasks(setup: StagesSetup): (task: StageTask) => StageResult {
  const scan = stageScanner(setup);
  let run = newRun(setup);
  return ({ id, start, end, isLast }) => {
    try {
      if (start < end) scan(start, end, run);
    } catch (error) {
      if (!(error instanceof TooManyGroups)) throw error;
      return { id, packed: undefined, tooMany: { count: error.count, what: error.what } };
    }
    if (!isLast && run.takenBytes < KEPT_BYTES) return { id, packed: undefined, tooMany: undefined };
    const packed = run.pack();
    run = newRun(setup);
    return { id, packed, tooMany: undefined };
  };
}
