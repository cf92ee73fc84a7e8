// A thread that scans segments of a file. `parallel-scan.ts` starts it, and says what they tell each other.
import { parentPort, workerData } from "node:worker_threads";
import type { TextState } from "../output/log-text.ts";
import { FoundLines, type Shown } from "./found-lines.ts";
import { lineScan, type Wanted } from "./line-scan.ts";
import { SegmentReader } from "./segment.ts";

export interface WorkerSetup {
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

/** Copying a little costs less than handing it over. */
const MIN_TRANSFER_BYTES = 64 * 1024;

if (parentPort !== null) {
  const port = parentPort;
  const { file, size, wanted, shown } = workerData as WorkerSetup;
  const scan = lineScan(wanted);
  const segments = new SegmentReader(file, size);
  port.on("message", ({ id, start, end, limit, textState }: SegmentTask) => {
    const lines = new FoundLines(shown);
    lines.textState = textState;
    lines.limit = limit;
    const { block, tooLongAt } = segments.read(start, end);
    if (block !== undefined) scan(block, lines.found);
    const taken = lines.take();
    const output: Uint8Array = typeof taken === "string" ? Buffer.from(taken) : taken;
    const result: SegmentResult = { id, output, count: lines.count, textState: lines.textState, tooLongAt };
    port.postMessage(result, output.length < MIN_TRANSFER_BYTES ? [] : [output.buffer as ArrayBuffer]);
  });
}
