// One execution environment: a process that speaks the Runtime API ("Using the Lambda runtime API"), with what it starts.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rm } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Clock, systemClock, type Timer } from "../../../grammar/units/clock.ts";
import { type End, type FunctionProcess, startProcess } from "./function-process.ts";
import { passOnLines } from "./lines.ts";
import { MemoryMeter } from "./memory.ts";
import type { Namespaces } from "./namespaces.ts";
import { continueProcesses, killTree, stopTree } from "./process-tree.ts";
import { openWatchdog } from "./watchdog.ts";

/** "Exceeded maximum allowed payload size (6291556 bytes)": 6 MB and a little. */
const MAX_PAYLOAD_BYTES = 6_291_556;

export interface FunctionOptions {
  /** The machine's clock if it is absent. */
  readonly clock?: Clock;
  /** Program and arguments: what is there as `bootstrap`, or what the wrapper executes. */
  readonly command: readonly [string, ...string[]];
  /** The unpacked deployment. */
  readonly directory: string;
  readonly env?: NodeJS.ProcessEnv;
  /** It keeps its folder for temporary files, too. The function sees what all processes here see if this is absent. */
  readonly namespaces?: Omit<Namespaces, "table"> | undefined;
  /** Time limit of one invocation; 3 s is the platform's default. */
  readonly timeoutMs?: number;
  /** 10 s on the platform. */
  readonly initTimeoutMs?: number;
  /** An environment without invocations for so long is taken down; none is if this is absent. */
  readonly idleMs?: number;
  /** The environment was taken down, as it was idle. */
  readonly onIdle?: () => void;
  /** Answers what a function asks of the platform besides the Runtime API. */
  readonly onCall?: (
    operation: SandboxCall,
    request: Buffer,
  ) => Promise<{ readonly status: number; readonly body: object }>;
  /** All processes are stopped between two invocations. */
  readonly freezes?: boolean;
  /** As whom the function runs; a function called `test` if it is absent. */
  readonly identity?: FunctionIdentity;
  /** Gets the output in place of `output`, as it comes: the process's in any pieces, the platform's event by event. */
  readonly onOutput?: (text: string, source: OutputSource) => void;
}

/** An invocation of a function, or what would go out to the network. */
export type SandboxCall = "invocations" | "messages";

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

export const TEST_IDENTITY: FunctionIdentity = {
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

/** As the platform, which is written in Go, calls them. */
const SIGNALS: Readonly<Record<string, string>> = {
  SIGABRT: "aborted",
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGTERM: "terminated",
};

/** Where extensions register ("Using the Lambda Extensions API to create extensions"). */
const EXTENSIONS = "2020-01-01/extension/";

/**
 * Its connections last as long as the function: one that answers after more than the five seconds that Node.js leaves an idle
 * connection, or whose answer takes longer than Node.js reads a request, is cut off by nobody on the platform either.
 */
const UNLIMITED = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };

/** A runtime has one or two. Each takes a file of this process, which is there for all functions, as long as it is open. */
const MAX_CONNECTIONS = 100;

/**
 * From an answer to the question for the next event. On the platform it is what is left of the time of the invocation, which a
 * busy machine may need for less.
 */
const NEXT_EVENT_MS = 10_000;

const EXITED = "Runtime exited with error: ";

/** Resolves when the last byte of an answer is there, or its end by failure. */
export async function ended(result: InvokeResult): Promise<void> {
  if (result.kind !== "stream" || result.body.readableEnded || result.body.destroyed) return;
  await new Promise<void>((resolve) => {
    result.body.once("end", resolve);
    result.body.once("close", resolve);
  });
}

interface Running {
  readonly id: string;
  settle(result: InvokeResult): void;
  settled: boolean;
}

/** One process with its Runtime API. */
export class Environment {
  /** A part of the address, as other users of this machine reach the port, too. */
  readonly #secret = randomBytes(12).toString("hex");
  readonly #options: FunctionOptions;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #write: (text: string, source: OutputSource) => void;
  readonly #directory = mkdtempSync(join(openWatchdog().folder, "tmp-"));
  #process!: FunctionProcess;
  #memory!: MemoryMeter;
  /** Whom `thaw` continues. */
  #stopped: readonly number[] = [];
  /** The runtime waits for an event. */
  #waiting: ServerResponse | undefined;
  #running: Running | undefined;
  /** An extension is registered, and its name is taken. */
  #isExtended = false;
  #onReady: ((failure: FunctionError | undefined) => void) | undefined;
  #initError: FunctionError | undefined;
  /** How long it took to start; undefined once it was reported. */
  initMs: number | undefined;
  isGone = false;
  #isEnding = false;
  #nextLimit: Timer | undefined;
  /** Why the platform ended it, or how it ended by itself. */
  failure: FunctionError | undefined;

  static async start(
    options: FunctionOptions,
    write: (text: string, source: OutputSource) => void,
  ): Promise<Environment> {
    const server = createServer(UNLIMITED);
    server.maxConnections = MAX_CONNECTIONS;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const environment = new Environment(options, server, write);
    environment.#start();
    return environment;
  }

  constructor(options: FunctionOptions, server: Server, write: (text: string, source: OutputSource) => void) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#server = server;
    this.#write = write;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The most memory that was seen, in MiB. */
  get peakMiB(): number {
    return Math.ceil(this.#memory.peakBytes / 1024 / 1024);
  }

  /** Resolves when the runtime waits for an event again: true, or false if it ended instead. */
  async untilIdle(): Promise<boolean> {
    while (this.#waiting === undefined && !this.isGone) await this.#clock.sleep(1);
    return !this.isGone;
  }

  /** Undefined when the runtime has asked for its first event. */
  untilReady(limitMs: number): Promise<FunctionError | undefined> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(limitMs, () => {
        this.#fail({ errorType: "Sandbox.Timedout", errorMessage: `initialisation took longer than ${limitMs} ms` });
      });
      const done = (failure: FunctionError | undefined) => {
        timer.stop();
        this.#onReady = undefined;
        void this.#memory.stop();
        resolve(failure);
      };
      this.#onReady = done;
      if (this.#waiting !== undefined) done(undefined);
      else if (this.isGone) done(this.failure ?? this.#errorOf({ code: null, signal: null }));
    });
  }

  invoke(id: string, payload: string, timeoutMs: number): Promise<InvokeResult> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(timeoutMs, () => {
        const seconds = (timeoutMs / 1000).toFixed(2);
        const errorMessage = `${new Date(this.#clock.nowMs()).toISOString()} ${id} Task timed out after ${seconds} seconds`;
        this.#write(`${errorMessage}\n`, "platform");
        this.#fail({ errorType: "Sandbox.Timedout", errorMessage });
      });
      const running: Running = {
        id,
        settled: false,
        settle: (result) => {
          if (running.settled) return;
          running.settled = true;
          void ended(result).then(() => {
            timer.stop();
            this.#limitNext(id);
          });
          resolve(result);
        },
      };
      this.#running = running;
      this.thaw();
      this.#memory.start();
      const waiting = this.#waiting!;
      this.#waiting = undefined;
      waiting.writeHead(200, {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": id,
        "Lambda-Runtime-Deadline-Ms": String(this.#clock.nowMs() + timeoutMs),
        "Lambda-Runtime-Invoked-Function-Arn": (this.#options.identity ?? TEST_IDENTITY).arn,
        "Lambda-Runtime-Trace-Id": `Root=1-${Math.floor(this.#clock.nowMs() / 1000).toString(16)}-${randomBytes(12).toString("hex")};Parent=${randomBytes(8).toString("hex")};Sampled=0`,
      });
      waiting.end(payload);
    });
  }

  #limitNext(id: string): void {
    if (this.#waiting !== undefined || this.isGone) return;
    this.#nextLimit = this.#clock.after(
      NEXT_EVENT_MS,
      () => {
        const errorMessage = `${id} the runtime did not ask for its next event within ${NEXT_EVENT_MS / 1000} s of its answer`;
        this.#write(`${errorMessage}\n`, "platform");
        this.#fail({ errorType: "Sandbox.Timedout", errorMessage });
      },
      { isBackground: true },
    );
  }

  /** After an invocation's last byte. */
  measure(): Promise<void> {
    return this.#memory.stop();
  }

  freeze(): void {
    if (this.#options.freezes !== false && !this.isGone && !this.#isEnding) this.#stopped = stopTree(this.pid!);
  }

  thaw(): void {
    continueProcesses(this.#stopped);
    this.#stopped = [];
  }

  /** SIGTERM comes only if an extension is registered: nobody else could answer it ("Shutdown phase"). */
  async shutDown(): Promise<void> {
    if (this.isGone) return;
    if (!this.#isExtended) return this.end();
    // It may be about to wait for its next event, and would hear of nothing then.
    this.#isEnding = true;
    this.thaw();
    const timer = this.#clock.after(500, () => this.end());
    try {
      this.#process.terminate();
      await this.#process.ended;
    } finally {
      timer.stop();
      this.end();
    }
  }

  #start(): void {
    const { command, directory, env, namespaces, identity = TEST_IDENTITY } = this.#options;
    const { port } = this.#server.address() as AddressInfo;
    this.#server.on("request", (req, res) => {
      this.#answer(req, res).catch((error: Error) => {
        // Whatever a function sends, it is no reason to end.
        if (res.headersSent) res.destroy();
        else if (error instanceof BodyTooLarge)
          reply(res, 413, { errorType: "RequestEntityTooLarge", errorMessage: error.message });
        else reply(res, 400, { errorType: "InvalidRequest", errorMessage: error.message });
      });
    });
    const functionEnv = {
      // Nothing of this process's own but where programs are.
      PATH: process.env.PATH,
      TMPDIR: this.#directory,
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
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}/${this.#secret}`,
      _HANDLER: "index.handler",
      ...env,
    };
    const own = namespaces && {
      ...namespaces,
      keeps: [...namespaces.keeps, this.#directory],
      table: `${this.#directory}.mounts`,
    };
    this.#process = startProcess({ command, directory, env: functionEnv }, own);
    // A program that cannot be started has no process.
    if (this.pid !== undefined) openWatchdog().watch(this.pid);
    this.#memory = new MemoryMeter(
      this.pid ?? 0,
      identity.memoryMiB * 1024 * 1024,
      () => {
        if (!this.isGone) this.#crash({ errorType: "Runtime.ExitError", errorMessage: `${EXITED}signal: killed` });
      },
      this.#clock,
    );
    this.#memory.start();
    for (const stream of this.#process.output) {
      passOnLines(stream, (lines) => this.#write(lines, "process"));
    }
    void this.#process.ended.then((end) => {
      const error = this.#errorOf(end);
      if (this.isGone) this.#fail(error);
      else this.#crash(error);
    });
  }

  /** It ended, and not because the platform is done with it. */
  #crash(error: FunctionError): void {
    const running = this.#running;
    if (running !== undefined && this.#waiting === undefined) this.writeFailure(running.id, error);
    this.#fail(error);
  }

  writeFailure(id: string, { errorType, errorMessage }: FunctionError): void {
    this.#write(`RequestId: ${id} Error: ${errorMessage}\n${errorType}\n`, "platform");
  }

  #fail(error: FunctionError): void {
    this.failure ??= error;
    this.end();
    this.#onReady?.(error);
    this.#running?.settle({ kind: "error", error });
  }

  #errorOf(end: End): FunctionError {
    if ("error" in end) {
      const errorMessage = `Error: fork/exec ${this.#options.command[0]}: ${end.error.message}`;
      return { errorType: "Runtime.InvalidEntrypoint", errorMessage };
    }
    if ("refusal" in end) {
      const errorMessage = `the function gets no namespaces of its own: ${end.refusal}`;
      return { errorType: "Runtime.NoNamespaces", errorMessage };
    }
    const { code, signal } = end;
    const how = signal === null ? `exit status ${code}` : `signal: ${SIGNALS[signal] ?? signal}`;
    return this.#initError ?? { errorType: "Runtime.ExitError", errorMessage: `${EXITED}${how}` };
  }

  end(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.#nextLimit?.stop();
    this.#memory.end();
    if (this.pid !== undefined) {
      killTree(this.pid, this.#directory);
      openWatchdog().forget(this.pid);
    }
    // One that is just ending may still write; what stays goes with the watchdog's folder.
    rm(this.#directory, { recursive: true, force: true, maxRetries: 3 }, () => {});
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { onCall } = this.#options;
    const prefix = `/${this.#secret}/`;
    if (!req.url?.startsWith(prefix)) {
      req.resume();
      return reply(res, 403, { errorType: "AccessDenied", errorMessage: "this is the Runtime API of a function" });
    }
    const target = req.url.slice(prefix.length);
    const [, operation] = /^sandbox\/(invocations|messages)$/.exec(target) ?? [];
    if (operation !== undefined && onCall !== undefined) {
      const { status, body } = await onCall(operation as SandboxCall, await bytesOf(req));
      return reply(res, status, body);
    }
    if (target.startsWith(EXTENSIONS)) return this.#answerExtension(target.slice(EXTENSIONS.length), req, res);
    const [, , area, ...rest] = target.split("/");
    const path = `${req.method} ${[area, ...rest].join("/")}`;
    if (path === "GET invocation/next") return this.#next(res);
    if (path === "POST init/error") {
      this.#initError = await errorOf(req);
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
      running.settle({ kind: "error", error: await errorOf(req) });
      return reply(res, 202, { status: "OK" });
    }
    if (req.headers["lambda-runtime-function-response-mode"] === "streaming") return this.#stream(req, res, running);
    try {
      running.settle({ kind: "document", payload: await bytesOf(req) });
      return reply(res, 202, { status: "OK" });
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      const errorMessage = `Response payload size (${error.bytes} bytes) exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`;
      running.settle({ kind: "error", error: { errorType: "Function.ResponseSizeTooLarge", errorMessage } });
      throw error;
    }
  }

  /**
   * The part of the Extensions API that an internal extension without events uses. Its next event never comes: the end of the
   * environment ends the connection.
   */
  async #answerExtension(path: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { name, version } = this.#options.identity ?? TEST_IDENTITY;
    const refuse = (status: number, errorType: string, errorMessage: string) =>
      reply(res, status, { errorType, errorMessage });
    if (req.method === "POST" && path === "register") {
      const { events = [] } = JSON.parse((await bytesOf(req)).toString()) as { events?: unknown[] };
      if (req.headers["lambda-extension-name"] === undefined) {
        return refuse(400, "Extension.InvalidExtensionName", "Empty extension name");
      }
      if (events.length > 0) return refuse(400, "Extension.InvalidEventType", "the sandbox sends no events");
      if (this.#isExtended) return refuse(403, "Extension.AlreadyRegistered", "there is an extension of this name");
      if (this.#waiting !== undefined || this.#running !== undefined) {
        return refuse(403, "Extension.RegistrationClosed", "extensions register before the first event is asked for");
      }
      this.#isExtended = true;
      const identifier = { "Content-Type": "application/json", "Lambda-Extension-Identifier": this.#secret };
      res.writeHead(200, identifier);
      res.end(JSON.stringify({ functionName: name, functionVersion: version, handler: "index.handler" }));
      return;
    }
    req.resume();
    if (req.method === "GET" && path === "event/next") {
      if (req.headers["lambda-extension-identifier"] === this.#secret && this.#isExtended) return;
      return refuse(403, "Extension.InvalidExtensionIdentifier", "no extension has this identifier");
    }
    return refuse(404, "NotFound", path);
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
    this.#nextLimit?.stop();
    if (this.#onReady !== undefined) this.#onReady(undefined);
    else this.freeze();
  }
}

function reply(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** The failure that a runtime reports in a request; throws if the body is none. */
async function errorOf(req: IncomingMessage): Promise<FunctionError> {
  const body: unknown = JSON.parse((await bytesOf(req)).toString());
  if (typeof body !== "object" || body === null) throw new Error("an error is an object");
  const { errorType = "Runtime.Unknown", errorMessage = "" } = body as Partial<FunctionError>;
  return { ...body, errorType: String(errorType), errorMessage: String(errorMessage) };
}

/** More than an event or an answer may have; the message is the platform's. */
class BodyTooLarge extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`Exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`);
    this.bytes = bytes;
  }
}

/** Reads all of a body, so that whoever sends too much hears of it, but keeps no more than what is allowed. */
async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of req) {
    bytes += (part as Buffer).length;
    if (bytes <= MAX_PAYLOAD_BYTES) parts.push(part as Buffer);
    else parts.length = 0;
  }
  if (bytes > MAX_PAYLOAD_BYTES) throw new BodyTooLarge(bytes);
  return Buffer.concat(parts);
}
