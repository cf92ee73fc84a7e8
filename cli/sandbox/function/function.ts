// The function platform on this machine, as its documentation has it: execution environments that are real processes
// ("Understanding the Lambda execution environment lifecycle").

import { randomUUID } from "node:crypto";
import { type Clock, systemClock, type Timer } from "../../../grammar/units/clock.ts";
import {
  Environment,
  ended,
  type FunctionError,
  type FunctionOptions,
  type InvokeResult,
  type OutputSource,
  TEST_IDENTITY,
} from "./environment.ts";

export type { FunctionOptions, InvokeResult, OutputSource } from "./environment.ts";

/** The figures of an invocation, as its REPORT line has them. */
export interface InvocationReport {
  readonly durationMs: number;
  readonly isError: boolean;
}

/** The function was taken away before an invocation had begun. */
export class FunctionClosed extends Error {}

/** A function with at most one execution environment, which handles one invocation after the other. */
export class LocalFunction {
  readonly options: FunctionOptions;
  readonly #clock: Clock;
  /** The output of the environments and the platform's own lines, in order; empty if `onOutput` gets them. */
  output = "";
  /** How many environments were started, and how many of these starts were initialisations that timed out. */
  starts = 0;
  #environment: Environment | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The last line of the last invocation is written. */
  #reported: Promise<void> = Promise.resolve();
  #idle: Timer | undefined;
  #isClosed = false;

  constructor(options: FunctionOptions) {
    this.options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** JSON values are sent as they are, a string as the payload itself. */
  invoke(event: unknown, report?: (report: InvocationReport) => void): Promise<InvokeResult> {
    const payload = typeof event === "string" ? event : JSON.stringify(event);
    const result = this.#last.then(() => this.#invoke(payload, report));
    this.#idle?.stop();
    // Until the answer's last byte the environment is busy.
    const last = result.then(
      () => this.#reported,
      () => {},
    );
    this.#last = last;
    void last.then(() => {
      if (this.#last === last) this.#endLater();
    });
    return result;
  }

  /** Gives the memory back of what nobody asks any more. */
  #endLater(): void {
    const { idleMs, onIdle } = this.options;
    if (idleMs === undefined) return;
    const end = () => {
      onIdle?.();
      this.#last = this.#last.then(() => this.shutDown());
    };
    this.#idle = this.#clock.after(idleMs, end, { isBackground: true });
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

  /** The environment's process, if there is one. */
  get pid(): number | undefined {
    return this.#environment?.pid;
  }

  /** As the platform takes an environment down: SIGKILL, or SIGTERM half a second before if an extension is registered. */
  async shutDown(): Promise<void> {
    this.#idle?.stop();
    await this.#environment?.shutDown();
    this.#environment = undefined;
  }

  /** As `shutDown`, for good: what is still to begin rejects with `FunctionClosed`. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.shutDown();
  }

  /** As the platform takes an environment away that it has no more use for. */
  destroy(): void {
    this.#idle?.stop();
    this.#environment?.end();
    this.#environment = undefined;
  }

  async #invoke(payload: string, report?: (report: InvocationReport) => void): Promise<InvokeResult> {
    const { timeoutMs = 3_000 } = this.options;
    const id = randomUUID();
    const environment = await this.#ready();
    this.#write(`START RequestId: ${id} Version: ${this.options.identity?.version ?? "$LATEST"}\n`);
    const begin = this.#clock.monotonicMs();
    const { failure } = environment;
    if (failure?.errorType.startsWith("Runtime.")) environment.writeFailure(id, failure);
    const result: InvokeResult =
      failure === undefined ? await environment.invoke(id, payload, timeoutMs) : { kind: "error", error: failure };
    this.#reported = ended(result).then(async () => {
      const ms = this.#clock.monotonicMs() - begin;
      await environment.measure();
      const error = environment.failure ?? (result.kind === "error" ? result.error : undefined);
      this.#write(`END RequestId: ${id}\n`);
      const { memoryMiB } = this.options.identity ?? TEST_IDENTITY;
      this.#write(`REPORT RequestId: ${id}\t${reportOf(environment, { ms, memoryMiB, error })}\t\n`);
      const isError = error !== undefined || (result.kind === "stream" && result.failed() !== undefined);
      report?.({ durationMs: ms, isError });
    });
    return result;
  }

  #write(text: string, source: OutputSource = "platform"): void {
    if (this.options.onOutput === undefined) this.output += text;
    else this.options.onOutput(text, source);
  }

  /**
   * An initialisation that fails is done once more, in the time of the invocation, before it counts: then the environment
   * has a failure.
   */
  async #ready(): Promise<Environment> {
    if ((await this.#environment?.untilIdle()) && !this.#isClosed) return this.#environment!;
    const { initTimeoutMs = 10_000, timeoutMs = 3_000 } = this.options;
    for (const [phase, limitMs] of [
      ["init", initTimeoutMs],
      ["invoke", timeoutMs],
    ] as const) {
      if (this.#isClosed) throw new FunctionClosed("the function was taken away");
      this.starts += 1;
      const begin = this.#clock.monotonicMs();
      const environment = await Environment.start(this.options, (text, source) => this.#write(text, source));
      this.#environment = environment;
      // While it was started, when there was none to take down yet.
      if (this.#isClosed) await this.shutDown();
      const failure = await environment.untilReady(limitMs);
      environment.initMs = this.#clock.monotonicMs() - begin;
      if (failure === undefined) return environment;
      const status = failure.errorType === "Sandbox.Timedout" ? "timeout" : `error\tError Type: ${failure.errorType}`;
      this.#write(
        `INIT_REPORT Init Duration: ${environment.initMs.toFixed(2)} ms\tPhase: ${phase}\tStatus: ${status}\n`,
      );
      environment.initMs = undefined;
      if (phase === "invoke") return environment;
    }
    throw new Error("unreachable");
  }
}

interface Invocation {
  readonly ms: number;
  readonly memoryMiB: number;
  readonly error: FunctionError | undefined;
}

/** The last line of an invocation; the first of an environment says how long the initialisation took, too. */
function reportOf(environment: Environment, { ms, memoryMiB, error }: Invocation): string {
  const fields = [
    `Duration: ${ms.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(ms)} ms`,
    `Memory Size: ${memoryMiB} MB`,
    `Max Memory Used: ${environment.peakMiB} MB`,
  ];
  if (environment.initMs !== undefined) fields.push(`Init Duration: ${environment.initMs.toFixed(2)} ms`);
  environment.initMs = undefined;
  if (error?.errorType === "Sandbox.Timedout") fields.push("Status: timeout");
  else if (error !== undefined) fields.push(`Status: error\tError Type: ${error.errorType}`);
  return fields.join("\t");
}
