// A thread that scans segments of a file for `parallel-scan.ts` or `parallel-pipes.ts`.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type PipesSetup, type PipeTask, pipeTasks } from "./pipe-scan.ts";
import { type SegmentsSetup, type SegmentTask, segmentScanner } from "./segment-scan.ts";

/** Copying a small buffer costs less than transferring it. */
const MIN_TRANSFER_BYTES = 64 * 1024;

function scanLines(port: MessagePort, setup: SegmentsSetup): void {
  const scan = segmentScanner(setup);
  port.on("message", (task: SegmentTask) => {
    const result = scan(task);
    port.postMessage(result, transferable(result.output));
  });
}

function collect(port: MessagePort, setup: PipesSetup): void {
  const collected = pipeTasks(setup);
  port.on("message", (task: PipeTask) => {
    const result = collected(task);
    const { run, fast } = result.packed ?? {};
    const numbers = fast?.numbers.flatMap(({ groups, values }) => [groups, values]) ?? [];
    const large = [run?.numbers, fast?.keys, fast?.keyEnds, fast?.hashes, fast?.counts, ...numbers];
    port.postMessage(
      result,
      large.flatMap((array) => (array === undefined ? [] : transferable(array))),
    );
  });
}

const transferable = ({ byteLength, buffer }: ArrayBufferView) =>
  byteLength < MIN_TRANSFER_BYTES ? [] : [buffer as ArrayBuffer];

if (parentPort !== null) {
  const setup = workerData as SegmentsSetup | { readonly pipes: PipesSetup };
  if ("pipes" in setup) collect(parentPort, setup.pipes);
  else scanLines(parentPort, setup);
}
