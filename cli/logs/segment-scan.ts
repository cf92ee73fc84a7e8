import { readSync } from "node:fs";
import type { TextState } from "../output/log-text.ts";
import { FoundLines, type LineOptions } from "./found-lines.ts";
import { type Block, LineBlocks, MAX_LINE_BYTES } from "./line-blocks.ts";
import { lineScan, type Wanted } from "./line-scan.ts";

/** Large compared to the 50 µs of a message, and small enough that all segments in progress fit in memory. */
export const SEGMENT_BYTES = 2 * 1024 * 1024;

export interface SegmentsSetup {
  /** A file descriptor, which threads share. */
  readonly file: number;
  readonly size: number;
  readonly wanted: Wanted;
  readonly lineOptions: LineOptions;
}

export interface SegmentTask {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly limit: number;
  /** The state of the text output before the first line, known or guessed. */
  readonly textState: TextState;
}

export interface SegmentResult {
  readonly id: number;
  readonly output: Uint8Array;
  readonly count: number;
  readonly textState: TextState;
  readonly tooLongAt: number | undefined;
}

/** Scans segments of a file, one after another: in a worker thread, or in the main thread. */
export function segmentScanner({
  file,
  size,
  wanted,
  lineOptions,
}: SegmentsSetup): (task: SegmentTask) => SegmentResult {
  const scan = lineScan(wanted);
  const segments = new SegmentReader(file, size);
  return ({ id, start, end, limit, textState }) => {
    const lines = new FoundLines(lineOptions);
    lines.textState = textState;
    lines.limit = limit;
    const { block, tooLongAt } = segments.read(start, end);
    if (block !== undefined) scan(block, lines.onLine);
    const taken = lines.take();
    const output: Uint8Array = typeof taken === "string" ? Buffer.from(taken) : taken;
    return { id, output, count: lines.count, textState: lines.textState, tooLongAt };
  };
}

/** The lines of a segment; or, if a line is too long for segments, where to continue reading sequentially. */
export interface SegmentBlock {
  readonly block: Block | undefined;
  readonly tooLongAt: number | undefined;
  /** The position in the file of the first byte of the block's buffer. */
  readonly offset: number;
}

/**
 * Reads the lines of a file that start between two offsets, so that adjacent segments contain every line once. The last line
 * may end past the segment, or with the file.
 */
export class SegmentReader {
  readonly #file: number;
  readonly #size: number;
  #buffer = Buffer.alloc(0);

  constructor(file: number, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** Valid until the next call. */
  read(start: number, end: number): SegmentBlock {
    // Includes the byte before: if it is an LF, a line starts at `start`.
    const from = Math.max(0, start - 1);
    let length = this.#fill(from, 0, end - from);
    let begin = 0;
    if (start > 0) {
      begin = this.#buffer.subarray(0, length).indexOf(LF) + 1;
      // No line starts here.
      if (begin === 0 || from + begin >= end) return { block: undefined, tooLongAt: undefined, offset: from };
    }
    if (begin >= length) return { block: undefined, tooLongAt: undefined, offset: from };
    let last = this.#buffer.subarray(0, length).indexOf(LF, Math.max(begin, end - 1 - from));
    while (last < 0) {
      const lineStart = Math.max(begin, this.#buffer.subarray(0, length).lastIndexOf(LF) + 1);
      if (length - lineStart > MAX_LINE_BYTES) return { block: undefined, tooLongAt: from + begin, offset: from };
      const more = this.#fill(from + length, length, BEYOND_BYTES);
      if (more === 0) break;
      last = this.#buffer.subarray(0, length + more).indexOf(LF, length);
      length += more;
    }
    const blockEnd = last < 0 ? length : last;
    this.#buffer[blockEnd] = LF;
    return { block: { bytes: this.#buffer, start: begin, end: blockEnd }, tooLongAt: undefined, offset: from };
  }

  /** The lines that start between two offsets, if one of them is too long: in parts, as a reader of the whole file has them. */
  *inParts(start: number, end: number): Generator<SegmentBlock & { readonly block: Block }> {
    const lines = new LineBlocks();
    let offset = start;
    for (let at = start; ; ) {
      const space = lines.space();
      const read = readSync(this.#file, space, 0, Math.min(space.length, this.#size - at), at);
      // The line end after the last line that starts here.
      const last = at + read < end ? -1 : space.subarray(0, read).indexOf(LF, Math.max(0, end - 1 - at));
      const count = last < 0 ? read : last + 1;
      at += count;
      const block = read === 0 ? lines.end() : lines.filled(count);
      if (block !== undefined) {
        yield { block, tooLongAt: undefined, offset: offset - block.start };
        offset += block.end - block.start + 1;
      }
      if (read === 0 || last >= 0) return;
    }
  }

  /** Reads into the buffer at `at` and returns the number of bytes. One byte past them stays free. */
  #fill(position: number, at: number, byteCount: number): number {
    const wanted = Math.min(byteCount, this.#size - position);
    if (this.#buffer.length < at + wanted + 1) {
      const larger = Buffer.allocUnsafeSlow(at + wanted + 1 + BEYOND_BYTES);
      larger.set(this.#buffer.subarray(0, at));
      this.#buffer = larger;
    }
    let read = 0;
    while (read < wanted) {
      const count = readSync(this.#file, this.#buffer, at + read, wanted - read, position + read);
      // The file was truncated meanwhile.
      if (count === 0) break;
      read += count;
    }
    return read;
  }
}

const LF = 0x0a;
/** How much is read at a time past the end of a segment, for the rest of its last line. */
const BEYOND_BYTES = 64 * 1024;
