import type { TextState } from "../output/log-text.ts";
import { FoundLines, type Shown } from "./found-lines.ts";
import { lineScan, type Wanted } from "./line-scan.ts";
import { SegmentReader } from "./segment.ts";

export interface SegmentsSetup {
  /** A file descriptor: threads share them. */
  readonly file: number;
  readonly size: number;
  readonly wanted: Wanted;
  readonly shown: Shown;
}

export interface SegmentTask {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly limit: number;
  /** What the lines before leave to the first of these, or what that is guessed to be. */
  readonly textState: TextState;
}

export interface SegmentResult {
  readonly id: number;
  readonly output: Uint8Array;
  readonly count: number;
  readonly textState: TextState;
  readonly tooLongAt: number | undefined;
}

/** Scans segments of a file one after the other: in a thread, or where the threads are managed. */
export function segmentScanner({ file, size, wanted, shown }: SegmentsSetup): (task: SegmentTask) => SegmentResult {
  const scan = lineScan(wanted);
  const segments = new SegmentReader(file, size);
  return ({ id, start, end, limit, textState }) => {
    const lines = new FoundLines(shown);
    lines.textState = textState;
    lines.limit = limit;
    const { block, tooLongAt } = segments.read(start, end);
    if (block !== undefined) scan(block, lines.found);
    const taken = lines.take();
    const output: Uint8Array = typeof taken === "string" ? Buffer.from(taken) : taken;
    return { id, output, count: lines.count, textState: lines.textState, tooLongAt };
  };
}
