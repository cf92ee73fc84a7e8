// A thread that scans segments of a file for `parallel-scan.ts` or `parallel-stages.ts`.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type SegmentsSetup, type SegmentTask, segmentScanner } from "./segment-scan.ts";
import { type StagesSetup, type StageTask, stageTasks } from "./stage-scan.ts";

/** Copying a small buffer costs less than transferring it. */
const MIN_TRANSFER_BYTES = 64 * 1024;

function scanLines(port: MessagePort, setup: SegmentsSetup): void {
  const scan = segmentScanner(setup);
  port.on("message", (task: SegmentTask) => {
    const result = scan(task);
    port.postMessage(result, transferable(result.output));
  });
}

function collect(port: MessagePort, setup: StagesSetup): void {
  const collected = stageTasks(setup);
  port.on("message", (task: StageTask) => {
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
  const setup = workerData as SegmentsSetup | { readonly stages: StagesSetup };
  if ("stages" in setup) collect(parentPort, setup.stages);
  else scanLines(parentPort, setup);
}
