import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../../grammar/units/clock.ts";
import { processFile } from "../../process-file.ts";
import type { SqlLimits } from "../../settings.ts";
import { StoreError } from "../../store.ts";
import type { SqlAnswer, SqlRequest } from "./sql-protocol.ts";

/** Runs untrusted statements, each in a process of its own. One process is kept ready, since starting takes a while. */
export class SqlRunner {
  readonly #directory: string;
  readonly #limits: SqlLimits;
  readonly #clock: Clock;
  readonly #running = new Set<ChildProcess>();
  #spare: Promise<ChildProcess> | undefined;
  #isClosed = false;

  constructor(directory: string, limits: SqlLimits, clock: Clock) {
    this.#directory = directory;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Removes what a crash left. */
  async open(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  /**
   * The rows of a statement over segments and ranges of the journal, as JSON. The files are linked into a folder of the
   * process, which sees no others. Rejects with `bad_request` or `timeout`, or with the signal's reason.
   */
  async run(
    { text, segments, journalRanges, fromMs }: Pick<SqlRequest, "text" | "segments" | "journalRanges" | "fromMs">,
    signal: AbortSignal,
  ): Promise<string> {
    const folder = join(this.#directory, randomUUID());
    await mkdir(folder, { recursive: true });
    let child: ChildProcess | undefined;
    let isUsed = true;
    try {
      const links = segments.map((segment, i) => ({ ...segment, name: `segment-${i}.parquet` }));
      const journals = journalRanges.map((range, i) => ({ ...range, name: `journal-${i}.ndjson` }));
      await Promise.all([...links, ...journals].map(({ path, name }) => link(path, join(folder, name))));
      child = await this.#take();
      signal.throwIfAborted();
      const { rows, bytes, memoryBytes } = this.#limits;
      const request: SqlRequest = {
        text,
        fromMs,
        folder,
        segments: links.map(({ name, hasTruncated }) => ({ path: name, hasTruncated })),
        journalRanges: journals.map(({ name, ...range }) => ({ ...range, path: name })),
        engineBytes: memoryBytes / 2,
        maxRows: rows,
        maxBytes: bytes,
      };
      const answer = await this.#ask(child, request, signal);
      if (answer.kind === "rows") return answer.json;
      if (answer.kind === "failed") throw new Error(answer.reason);
      isUsed = answer.isUnread !== true;
      throw new StoreError("bad_request", `query: ${answer.reason}`);
    } finally {
      if (child !== undefined && !isUsed) this.#keep(child);
      else if (child !== undefined) await end(child);
      this.#startSpare();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const spare = await this.#spare?.catch(() => undefined);
    for (const child of [...this.#running, ...(spare === undefined ? [] : [spare])]) await end(child);
  }

  async #take(): Promise<ChildProcess> {
    const spare = this.#spare ?? start();
    this.#spare = undefined;
    const child = await spare.catch(() => undefined);
    // It was killed as it started or since, as the system does when memory is short.
    return child === undefined || hasEnded(child) ? start() : child;
  }

  /** One that has seen nothing yet is as good as new. */
  #keep(child: ChildProcess): void {
    if (this.#spare !== undefined || this.#isClosed) return void end(child);
    this.#holdSpare(Promise.resolve(child));
  }

  /** Started before a statement needs it. */
  #startSpare(): void {
    if (this.#spare !== undefined || this.#isClosed) return;
    this.#holdSpare(start());
  }

  #holdSpare(spare: Promise<ChildProcess>): void {
    this.#spare = spare;
    const forget = () => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.then((child) => {
      child.once("exit", forget);
      letGo(child);
    }, forget);
  }

  #ask(child: ChildProcess, request: SqlRequest, signal: AbortSignal): Promise<Exclude<SqlAnswer, { kind: "ready" }>> {
    this.#running.add(child);
    child.ref();
    child.channel?.ref();
    const { promise, resolve, reject } = withResolvers<Exclude<SqlAnswer, { kind: "ready" }>>();
    const { timeMs, memoryBytes } = this.#limits;
    const timer = this.#clock.after(timeMs, () =>
      reject(new StoreError("timeout", `query: took more than ${timeMs / 1000} s; narrow it by time or fields`)),
    );
    const watch = this.#clock.every(WATCH_MS, () => {
      void residentBytes(child.pid!).then((bytes) => {
        if (bytes > memoryBytes) {
          const megabytes = Math.round(memoryBytes / 1e6);
          reject(new StoreError("bad_request", `query: took more than ${megabytes} MB of memory; narrow it`));
        }
      });
    });
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const take = (answer: SqlAnswer) => {
      if (answer.kind !== "ready") resolve(answer);
    };
    child.on("message", take);
    const ended = (code: number | null, by: string | null) => {
      // The engine died of the statement: out of memory, or a bug of its own.
      const died = () =>
        reject(
          new StoreError(
            "bad_request",
            `query: ended the engine (${by ?? `exit status ${code}`}); write it in another way`,
          ),
        );
      // Node reports the end of a process before the message that it sent last, if both come while this process is busy.
      // Messages are all read when the channel is closed.
      if (child.connected) child.once("disconnect", () => setImmediate(died));
      else died();
    };
    child.once("exit", ended);
    child.send(request, (error) => {
      if (error !== null) reject(error);
    });
    return promise.finally(() => {
      timer.stop();
      watch.stop();
      signal.removeEventListener("abort", abort);
      child.off("message", take);
      child.off("exit", ended);
      this.#running.delete(child);
    });
  }
}

const WATCH_MS = 50;

function start(): Promise<ChildProcess> {
  // Nothing of the service's environment is the statement's business.
  const child = fork(processFile("sql-process", import.meta.url), [], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { PATH: process.env.PATH },
    // DuckDB's driver assigns names in a result to objects; without the accessor "__proto__" is a name like any other.
    execArgv: [...process.execArgv, "--disable-proto=delete"],
    // Copies long strings instead of quoting them as JSON.
    serialization: "advanced",
  });
  return new Promise((resolve, reject) => {
    child.once("message", (answer: SqlAnswer) => {
      if (answer.kind === "failed") reject(new Error(answer.reason));
      else resolve(child);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(new Error(`the process for SQL ended as it started: ${signal ?? `exit status ${code}`}`)),
    );
  });
}

/** A spare keeps this process from nothing. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

/** As Linux tells it (proc(5)); elsewhere the engine's own limit holds. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
