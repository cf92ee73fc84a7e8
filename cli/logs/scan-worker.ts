// A thread that scans segments of a file for `parallel-scan.ts`.
import { parentPort, workerData } from "node:worker_threads";
import { type SegmentsSetup, type SegmentTask, segmentScanner } from "./segment-scan.ts";

/** Copying a small buffer costs less than transferring it. */
const MIN_TRANSFER_BYTES = 64 * 1024;

if (parentPort !== null) {
  const port = parentPort;
  const scan = segmentScanner(workerData as SegmentsSetup);
  port.on("message", (task: SegmentTask) => {
    const result = scan(task);
    const { output } = result;
    port.postMessage(result, output.length < MIN_TRANSFER_BYTES ? [] : [output.buffer as ArrayBuffer]);
  });
}
