// Ingest over HTTP, by a process of its own: what it costs is told apart from what the service costs.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  /** Batches `firstBatch` to below `endBatch`; without an end until it is stopped. */
  readonly firstBatch: number;
  readonly endBatch?: number;
  readonly connections: number;
  /** Without it as fast as they are acknowledged. */
  readonly eventsPerSecond?: number;
}

/** The events that were acknowledged, which is to say durable, and their times. */
export interface LoadResult {
  readonly events: number;
  readonly seconds: number;
  /** Events a second until `BURST_EVENTS` were acknowledged; all of them where they are fewer. */
  readonly burstRate: number;
  readonly rate: number;
  /** From the first byte of a batch to its acknowledgement, tries that were refused included. */
  readonly acknowledgeMs: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Answers 429 and 503, which were tried again. */
  readonly refused: number;
  readonly loadMicrosPerEvent: number;
}

export const BURST_EVENTS = 200_000;

export type LoadMessage =
  | { readonly kind: "prepared" }
  | { readonly kind: "progress"; readonly events: number; readonly seconds: number }
  | { readonly kind: "done"; readonly result: LoadResult };

export interface Load {
  /** Rejects where the service answers anything but 204, 429 and 503. */
  readonly done: Promise<LoadResult>;
  /** Ends it with the batches that are under way. */
  stop(): void;
}

/** Resolves when the bodies are made and the load has begun. */
export async function startLoad(
  options: LoadOptions,
  onProgress: (events: number, seconds: number) => void = () => {},
): Promise<Load> {
  const child: ChildProcess = fork(fileURLToPath(new URL("load-process.js", import.meta.url)));
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const done = new Promise<LoadResult>((resolve, reject) => {
    child.on("message", (message: LoadMessage) => {
      if (message.kind === "prepared") begin();
      else if (message.kind === "progress") onProgress(message.events, message.seconds);
      else resolve(message.result);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(new Error(`the load ended early (${signal ?? `exit status ${code}`})`)),
    );
  });
  child.send(options);
  await Promise.race([begun, done]);
  return { done, stop: () => void child.send("stop") };
}
