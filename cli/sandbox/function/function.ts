// The function platform on this machine, as its documentation has it: execution environments that are real processes
// speaking the Runtime API ("Understanding the Lambda execution environment lifecycle", "Using the Lambda runtime API").
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { signalTree } from "./process-tree.ts";

/** "Exceeded maximum allowed payload size (6291556 bytes)": 6 MB and a little. */
export const MAX_PAYLOAD_BYTES = 6_291_556;

export interface FunctionOptions {
  /** Program and arguments: what is there as `bootstrap`, or what the wrapper executes. */
  readonly command: readonly [string, ...string[]];
  /** The unpacked deployment. */
  readonly directory: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Time limit of one invocation; 3 s is the platform's default. */
  readonly timeoutMs?: number;
  /** 10 s on the platform. */
  readonly initTimeoutMs?: number;
  /** All processes are stopped between two invocations. */
  readonly freezes?: boolean;
  /** As whom the function runs; a function called `test` where it is absent. */
  readonly identity?: FunctionIdentity;
  /** Gets what goes to `output`, too, as it comes: of the process in any pieces, of the platform event by event. */
  readonly onOutput?: (text: string, source: OutputSource) => void;
}

export type OutputSource = "process" | "platform";

export interface FunctionIdentity {
  readonly name: string;
  readonly version: string;
  readonly region: string;
  /** As it was invoked: with the alias. */
  readonly arn: string;
  readonly memoryMiB: number;
  readonly logStream: string;
}

/** As the platform, which is written in Go, calls them. */
const SIGNALS: Readonly<Record<string, string>> = {
  SIGABRT: "aborted",
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGTERM: "terminated",
};

const TEST_IDENTITY: FunctionIdentity = {
  name: "test",
  version: "7",
  region: "eu-west-1",
  arn: "arn:aws:lambda:eu-west-1:123456789012:function:test",
  memoryMiB: 512,
  logStream: "2026/11/21/[7]0123456789abcdef",
};

export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
}

export type InvokeResult =
  | { readonly kind: "document"; readonly payload: Buffer }
  /** The body is still coming; `failed` says afterwards how it ended. */
  | { readonly kind: "stream"; readonly type: string; readonly body: IncomingMessage; failed(): string | undefined }
  | { readonly kind: "error"; readonly error: FunctionError };

/** What an invocation came to, as its REPORT line has it. */
export interface InvocationReport {
  readonly durationMs: number;
  readonly isError: boolean;
}

/** A function with at most one execution environment, which handles one invocation after the other. */
export class LocalFunction {
  readonly options: FunctionOptions;
  /** What the environments wrote and the platform's own lines, in order. */
  output = "";
  /** How many environments were started, and how many of these starts were initialisations that timed out. */
  starts = 0;
  #environment: Environment | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: FunctionOptions) {
    this.options = options;
  }

  /** JSON values are sent as they are, a string as the payload itself. */
  invoke(event: unknown, report?: (report: InvocationReport) => void): Promise<InvokeResult> {
    const payload = typeof event === "string" ? event : JSON.stringify(event);
    const result = this.#last.then(() => this.#invoke(payload, report));
    // Until the answer's last byte the environment is busy.
    this.#last = result.then(ended, () => {});
    return result;
  }

  /** The initialisation that provisioned concurrency and proactive starts do before any request. */
  async warmUp(): Promise<void> {
    await this.#ready();
    // It is idle from now on.
    if (await this.#environment?.untilIdle()) this.#environment?.freeze();
  }

  /** Resolves when nothing runs: the last answer is given, its entries are written. */
  async idle(): Promise<void> {
    await this.#last;
    await this.#environment?.untilIdle();
  }

  /** The environment's process, where there is one. */
  get pid(): number | undefined {
    return this.#environment?.pid;
  }

  /** As the platform takes an environment down: SIGTERM, SIGKILL half a second later. */
  async shutDown(): Promise<void> {
    await this.#environment?.shutDown();
    this.#environment = undefined;
  }

  /** As the platform takes an environment away that it has no more use for. */
  destroy(): void {
    this.#environment?.end();
    this.#environment = undefined;
  }

  async #invoke(payload: string, report?: (report: InvocationReport) => void): Promise<InvokeResult> {
    const { timeoutMs = 3_000 } = this.options;
    const environment = await this.#ready();
    if ("errorType" in environment) {
      report?.({ durationMs: 0, isError: true });
      return { kind: "error", error: environment };
    }
    const id = randomUUID();
    this.#write(`START RequestId: ${id} Version: ${this.options.identity?.version ?? "$LATEST"}\n`);
    const begin = performance.now();
    const result = await environment.invoke(id, payload, timeoutMs);
    void ended(result).then(() => {
      const durationMs = performance.now() - begin;
      this.#write(`END RequestId: ${id}\n`);
      this.#write(reportOf(id, result, durationMs, environment, this.options.identity?.memoryMiB ?? 512));
      const isError = result.kind === "error" || (result.kind === "stream" && result.failed() !== undefined);
      report?.({ durationMs, isError });
    });
    return result;
  }

  #write(text: string, source: OutputSource = "platform"): void {
    this.output += text;
    this.options.onOutput?.(text, source);
  }

  /** An initialisation that fails is done once more, in the time of the invocation, before it counts. */
  async #ready(): Promise<Environment | FunctionError> {
    if (await this.#environment?.untilIdle()) return this.#environment!;
    const { initTimeoutMs = 10_000, timeoutMs = 3_000 } = this.options;
    for (const limitMs of [initTimeoutMs, timeoutMs]) {
      this.starts += 1;
      const begin = performance.now();
      const environment = await Environment.start(this.options, (text, source) => this.#write(text, source));
      this.#environment = environment;
      const failure = await environment.untilReady(limitMs);
      environment.initMs = performance.now() - begin;
      if (failure === undefined) return environment;
      const status = failure.errorType === "Sandbox.Timedout" ? "timeout" : `error\tError Type: ${failure.errorType}`;
      this.#write(`INIT_REPORT Init Duration: ${environment.initMs.toFixed(2)} ms\tPhase: init\tStatus: ${status}\n`);
      if (limitMs === timeoutMs) return failure;
    }
    throw new Error("unreachable");
  }
}

async function ended(result: InvokeResult): Promise<void> {
  if (result.kind !== "stream" || result.body.readableEnded || result.body.destroyed) return;
  await new Promise<void>((resolve) => {
    result.body.once("end", resolve);
    result.body.once("close", resolve);
  });
}

/** The last line of an invocation; the first of an environment says how long the initialisation took, too. */
function reportOf(id: string, result: InvokeResult, ms: number, environment: Environment, memoryMiB: number): string {
  const fields = [
    `REPORT RequestId: ${id}`,
    `Duration: ${ms.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(ms)} ms`,
    `Memory Size: ${memoryMiB} MB`,
    `Max Memory Used: ${Math.min(memoryMiB, 96)} MB`,
  ];
  if (environment.initMs !== undefined) fields.push(`Init Duration: ${environment.initMs.toFixed(2)} ms`);
  environment.initMs = undefined;
  if (result.kind === "error" && result.error.errorType === "Sandbox.Timedout") fields.push("Status: timeout");
  else if (result.kind === "error") fields.push(`Status: error\tError Type: ${result.error.errorType}`);
  return `${fields.join("\t")}\t\n`;
}

interface Running {
  readonly id: string;
  settle(result: InvokeResult): void;
  settled: boolean;
}

/** One process with its Runtime API. */
class Environment {
  readonly #options: FunctionOptions;
  readonly #server: Server;
  readonly #write: (text: string, source: OutputSource) => void;
  #child!: ChildProcess;
  /** The runtime waits for an event. */
  #waiting: ServerResponse | undefined;
  #running: Running | undefined;
  #onReady: ((failure: FunctionError | undefined) => void) | undefined;
  #initError: FunctionError | undefined;
  /** How long it took to start; undefined once it was reported. */
  initMs: number | undefined;
  isGone = false;

  static async start(
    options: FunctionOptions,
    write: (text: string, source: OutputSource) => void,
  ): Promise<Environment> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const environment = new Environment(options, server, write);
    environment.#start();
    return environment;
  }

  constructor(options: FunctionOptions, server: Server, write: (text: string, source: OutputSource) => void) {
    this.#options = options;
    this.#server = server;
    this.#write = write;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when the runtime waits for an event again: true, or false where it ended instead. */
  async untilIdle(): Promise<boolean> {
    while (this.#waiting === undefined && !this.isGone) await new Promise<void>((resolve) => setTimeout(resolve, 1));
    return !this.isGone;
  }

  /** Undefined when the runtime has asked for its first event. */
  untilReady(limitMs: number): Promise<FunctionError | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.end();
        done({ errorType: "Sandbox.Timedout", errorMessage: `initialisation took longer than ${limitMs} ms` });
      }, limitMs);
      const done = (failure: FunctionError | undefined) => {
        clearTimeout(timer);
        this.#onReady = undefined;
        resolve(failure);
      };
      this.#onReady = done;
      if (this.#waiting !== undefined) done(undefined);
      else if (this.isGone) done(this.#exitError());
    });
  }

  invoke(id: string, payload: string, timeoutMs: number): Promise<InvokeResult> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const seconds = (timeoutMs / 1000).toFixed(2);
        const errorMessage = `${new Date().toISOString()} ${id} Task timed out after ${seconds} seconds`;
        this.#write(`${errorMessage}\n`, "platform");
        this.end();
        running.settle({ kind: "error", error: { errorType: "Sandbox.Timedout", errorMessage } });
      }, timeoutMs);
      const running: Running = {
        id,
        settled: false,
        settle: (result) => {
          if (running.settled) return;
          running.settled = true;
          void ended(result).then(() => clearTimeout(timer));
          resolve(result);
        },
      };
      this.#running = running;
      this.thaw();
      const waiting = this.#waiting!;
      this.#waiting = undefined;
      waiting.writeHead(200, {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": id,
        "Lambda-Runtime-Deadline-Ms": String(Date.now() + timeoutMs),
        "Lambda-Runtime-Invoked-Function-Arn": (this.#options.identity ?? TEST_IDENTITY).arn,
        "Lambda-Runtime-Trace-Id": `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomBytes(12).toString("hex")};Parent=${randomBytes(8).toString("hex")};Sampled=0`,
      });
      waiting.end(payload);
    });
  }

  freeze(): void {
    if (this.#options.freezes !== false && !this.isGone) signalTree(this.#child.pid!, "SIGSTOP");
  }

  thaw(): void {
    if (this.#options.freezes !== false && !this.isGone) signalTree(this.#child.pid!, "SIGCONT");
  }

  async shutDown(): Promise<void> {
    if (this.isGone) return;
    this.thaw();
    const exited = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.end(), 500);
    await exited;
    clearTimeout(timer);
    this.end();
  }

  #start(): void {
    const { command, directory, env, identity = TEST_IDENTITY } = this.#options;
    const { port } = this.#server.address() as AddressInfo;
    this.#server.on("request", (req, res) => this.#answer(req, res));
    const [program, ...args] = command;
    this.#child = spawn(program, args, {
      cwd: directory,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        LANG: "en_US.UTF-8",
        TZ: ":UTC",
        LAMBDA_TASK_ROOT: directory,
        LAMBDA_RUNTIME_DIR: "/var/runtime",
        AWS_REGION: identity.region,
        AWS_DEFAULT_REGION: identity.region,
        AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
        AWS_LAMBDA_FUNCTION_NAME: identity.name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(identity.memoryMiB),
        AWS_LAMBDA_FUNCTION_VERSION: identity.version,
        AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${identity.name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: identity.logStream,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        _HANDLER: "index.handler",
        ...env,
      },
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => this.#write(text, "process"));
    }
    this.#child.once("exit", () => {
      const error = this.#exitError();
      // It ended by itself, and not because the platform ended it.
      if (!this.isGone && this.#running !== undefined) {
        this.#write(`RequestId: ${this.#running.id} Error: ${error.errorMessage}\n${error.errorType}\n`, "platform");
      }
      this.end();
      this.#onReady?.(error);
      this.#running?.settle({ kind: "error", error });
    });
  }

  #exitError(): FunctionError {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode === null ? `exit status ${exitCode}` : `signal: ${SIGNALS[signalCode] ?? signalCode}`;
    return this.#initError ?? { errorType: "Runtime.ExitError", errorMessage: `Runtime exited with error: ${how}` };
  }

  end(): void {
    if (this.isGone) return;
    this.isGone = true;
    signalTree(this.#child.pid!, "SIGKILL");
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, , , area, ...rest] = (req.url ?? "").split("/");
    const path = `${req.method} ${[area, ...rest].join("/")}`;
    if (path === "GET invocation/next") return this.#next(res);
    if (path === "POST init/error") {
      this.#initError = JSON.parse((await bytesOf(req)).toString());
      return reply(res, 202, { status: "OK" });
    }
    const [, id, what] = /^POST invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (id === undefined) return reply(res, 404, { errorType: "NotFound", errorMessage: path });
    const running = this.#running;
    if (running === undefined || running.id !== id || running.settled) {
      req.resume();
      return reply(res, 400, { errorType: "InvalidRequestID", errorMessage: "Invalid request ID" });
    }
    if (what === "error") {
      running.settle({ kind: "error", error: JSON.parse((await bytesOf(req)).toString()) });
      return reply(res, 202, { status: "OK" });
    }
    if (req.headers["lambda-runtime-function-response-mode"] === "streaming") return this.#stream(req, res, running);
    const payload = await bytesOf(req);
    if (payload.length <= MAX_PAYLOAD_BYTES) {
      running.settle({ kind: "document", payload });
      return reply(res, 202, { status: "OK" });
    }
    const errorMessage = `Response payload size (${payload.length} bytes) exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`;
    running.settle({ kind: "error", error: { errorType: "Function.ResponseSizeTooLarge", errorMessage } });
    return reply(res, 413, {
      errorType: "RequestEntityTooLarge",
      errorMessage: `Exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`,
    });
  }

  #stream(req: IncomingMessage, res: ServerResponse, running: Running): void {
    const failed = () => (req.complete ? (req.trailers["lambda-runtime-function-error-type"] as string) : "cut off");
    running.settle({ kind: "stream", type: req.headers["content-type"] ?? "", body: req, failed });
    req.once("end", () => reply(res, 202, { status: "OK" }));
  }

  #next(res: ServerResponse): void {
    if (this.#waiting !== undefined || (this.#running !== undefined && !this.#running.settled)) {
      reply(res, 403, { errorType: "InvalidStateTransition", errorMessage: "an invocation is running" });
      return;
    }
    this.#waiting = res;
    if (this.#onReady !== undefined) this.#onReady(undefined);
    else this.freeze();
  }
}

function reply(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
