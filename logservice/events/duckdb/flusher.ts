import { type ChildProcess, fork } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import type { Clock, Timer } from "../../../grammar/units/clock.ts";
import { unlessDiskFull } from "../durable.ts";
import { processFile } from "../process-file.ts";
import type { SegmentFacts } from "./build.ts";
import type { Job, JobAnswer, JobRequest } from "./flusher-protocol.ts";
import type { FileChecksum, RebuiltSidecar } from "./sidecar.ts";

/** Jobs that it does at once. */
export const FLUSHER_JOBS = 2;

/**
 * The process that makes segments. It is started with the first job, and again if it has ended. It holds some hundred
 * megabytes, so it does not stay idle for long.
 */
export class Flusher {
  readonly #spill: string;
  readonly #clock: Clock;
  #idle: Timer | undefined;
  #child: ChildProcess | undefined;
  #jobs = new Map<number, { resolve: (done: Done) => void; reject: (error: Error) => void }>();
  #number = 0;
  #isClosed = false;

  /** `spill` is a folder for what does not fit into its memory. */
  constructor(spill: string, clock: Clock) {
    this.#spill = spill;
    this.#clock = clock;
  }

  /** Removes what a crash left. */
  async open(): Promise<void> {
    await rm(this.#spill, { recursive: true, force: true });
    await unlessDiskFull(mkdir(this.#spill, { recursive: true }));
  }

  /** Does the job, and retries it if the process ends meanwhile: another job, or the system, may have ended it. */
  async run(job: Job): Promise<readonly SegmentFacts[]> {
    return (await this.#run(job)).built;
  }

  /** Rebuilds the summary of a segment, whether or not it can be written. */
  async rebuildSummary(path: string, segment: FileChecksum): Promise<RebuiltSidecar> {
    return (await this.#run({ kind: "summary", path, segment })).summary!;
  }

  async #run(job: Job): Promise<Done> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#try(job);
      } catch (error) {
        if (!(error instanceof FlusherEnded) || tries === MOST_TRIES || this.#isClosed) throw error;
        await this.#clock.sleep(PAUSE_MS * 4 ** (tries - 1));
      }
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ends the process; unfinished jobs are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle?.stop();
    const child = this.#child;
    if (child === undefined) return;
    await new Promise<void>((resolve) => {
      child.ref();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  }

  #try(job: Job): Promise<Done> {
    if (this.#isClosed) return Promise.reject(new FlusherEnded("the flusher is closed"));
    this.#idle?.stop();
    const number = ++this.#number;
    this.#child ??= this.#start();
    const child = this.#child;
    // A job keeps this process alive, a waiting flusher does not.
    child.ref();
    child.channel?.ref();
    return new Promise((resolve, reject) => {
      this.#jobs.set(number, { resolve, reject });
      child.send({ ...job, number } satisfies JobRequest, (error) => {
        if (error !== null) this.#fail(child, error);
      });
    });
  }

  #start(): ChildProcess {
    // It speaks to nobody else. Node reads these certificates at every start, which takes half of it.
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    const child = fork(processFile("flusher-process", import.meta.url), [this.#spill, String(FLUSHER_JOBS)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env,
    });
    const idle = () => {
      child.unref();
      child.channel?.unref();
      const exit = () => {
        if (this.#child !== child) return;
        this.#child = undefined;
        // It exits.
        child.disconnect();
      };
      this.#idle = this.#clock.after(IDLE_MS, exit, { isBackground: true });
    };
    child.on("message", (answer: JobAnswer) => {
      const job = this.#jobs.get(answer.number);
      this.#jobs.delete(answer.number);
      if ("built" in answer) job?.resolve(answer);
      else job?.reject(new Error(answer.error));
      // `close` waits for its end.
      if (this.#jobs.size === 0 && !this.#isClosed) idle();
    });
    child.on("error", (error) => this.#fail(child, error));
    child.on("exit", (code, signal) => this.#fail(child, new Error(signal ?? `exit status ${code}`)));
    return child;
  }

  #fail(child: ChildProcess, cause: Error): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#jobs.values()) {
      reject(new FlusherEnded(`the flusher ended (${cause.message})`, { cause }));
    }
    this.#jobs.clear();
  }
}

type Done = Extract<JobAnswer, { built: unknown }>;

class FlusherEnded extends Error {}

// Longer than between two segments of a busy service.
const IDLE_MS = 15_000;
const MOST_TRIES = 3;
const PAUSE_MS = 250;
