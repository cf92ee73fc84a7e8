import { type ChildProcess, fork } from "node:child_process";
import { processFile } from "../process-file.ts";
import type { SegmentFacts } from "./build.ts";
import type { Job, JobAnswer, JobRequest } from "./worker-protocol.ts";

/** The process that makes segments. It is started with the first job, and again with the next one where it ended. */
export class Flusher {
  #child: ChildProcess | undefined;
  #jobs = new Map<number, { resolve: (built: readonly SegmentFacts[]) => void; reject: (error: Error) => void }>();
  #number = 0;

  run(job: Job): Promise<readonly SegmentFacts[]> {
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

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ends the process; what it was at is refused. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    await new Promise<void>((resolve) => {
      child.ref();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  }

  #start(): ChildProcess {
    const child = fork(processFile("flusher-process", import.meta.url), [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const idle = () => {
      child.unref();
      child.channel?.unref();
    };
    child.on("message", (answer: JobAnswer) => {
      const job = this.#jobs.get(answer.number);
      this.#jobs.delete(answer.number);
      if ("built" in answer) job?.resolve(answer.built);
      else job?.reject(new Error(answer.error));
      if (this.#jobs.size === 0) idle();
    });
    child.on("error", (error) => this.#fail(child, error));
    child.on("exit", (code, signal) =>
      this.#fail(child, new Error(`the flusher ended (${signal ?? `exit status ${code}`})`)),
    );
    return child;
  }

  #fail(child: ChildProcess, error: Error): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#jobs.values()) reject(error);
    this.#jobs.clear();
  }
}
