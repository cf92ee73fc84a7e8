import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";

/** For a smaller file starting a thread, 30 ms, costs more than it saves. */
export const MIN_PARALLEL_BYTES = 32 * 1024 * 1024;
/** More threads would only wait for memory and for the writer. */
const MAX_WORKERS = 8;

/** How many threads can be used. */
export const workerCount = (): number => Math.min(availableParallelism(), MAX_WORKERS);

/** A task, and its result by the same number. */
interface Numbered {
  readonly id: number;
}

interface Waiting<Result> {
  readonly worker: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Threads that run `scan-worker.ts`. Each does its tasks one after another. */
export class WorkerPool<Task extends Numbered, Result extends Numbered> {
  readonly #workers: Worker[];
  readonly #load: number[];
  readonly #waiting = new Map<number, Waiting<Result>>();
  #failure: Error | undefined;
  #id = 0;

  constructor(count: number, workerData: unknown) {
    this.#workers = Array.from({ length: count }, () => new Worker(workerPath(), { workerData }));
    this.#load = this.#workers.map(() => 0);
    for (const worker of this.#workers) {
      worker.on("message", (result: Result) => {
        const waiting = this.#waiting.get(result.id)!;
        this.#waiting.delete(result.id);
        this.#load[waiting.worker]!--;
        waiting.resolve(result);
      });
      worker.on("error", (error) => {
        this.#failure = error as Error;
        for (const { reject } of this.#waiting.values()) reject(error as Error);
      });
    }
  }

  get size(): number {
    return this.#workers.length;
  }

  /** Passes the task to the worker with the fewest tasks. */
  run(task: Task): Promise<Result> {
    return this.#runOn(this.#load.indexOf(Math.min(...this.#load)), task);
  }

  /** Passes the task to each worker, after those that it has. */
  runOnEach(task: Task): Promise<Result[]> {
    return Promise.all(this.#workers.map((_, worker) => this.#runOn(worker, task)));
  }

  #runOn(worker: number, task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      const id = this.#id++;
      this.#load[worker]!++;
      this.#waiting.set(id, { worker, resolve, reject });
      this.#workers[worker]!.postMessage({ ...task, id });
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** The worker is next to this file, or in the bundle, where import.meta.url is a path, next to the command. */
function workerPath(): string | URL {
  const here = import.meta.url;
  return here.startsWith("file:") ? new URL("./scan-worker.js", here) : join(dirname(here), "scan-worker.cjs");
}
