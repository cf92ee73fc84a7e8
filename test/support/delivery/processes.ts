// Instances of a deployed app as the platform runs them: the real bundle in real processes that are stopped between two
// invocations, ended without a warning, and slowed down.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewayEventOf } from "../../../cli/sandbox/function/events.ts";
import { LocalFunction } from "../../../cli/sandbox/function/function.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { checkedConfig } from "../runtime.ts";
import { bundle } from "../runtime-api/deployed.ts";

/** The message of the entry that says how many others were dropped: the closing line. */
export const CLOSING = "entries did not reach the log service";

interface Test {
  teardown(handler: () => void): void;
}

/** Makes the folder of a deployment that has no app: each request is answered by the runtime itself. */
export function makeDeployment(t: Test, { printsAll }: { readonly printsAll: boolean }): string {
  const directory = mkdtempSync(join(tmpdir(), "tool-delivery-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const config = checkedConfig({ config: { type: "static", logs: { cloudwatch: printsAll } } });
  mkdirSync(join(directory, ".tool"));
  writeFileSync(join(directory, ".tool/deployment.json"), JSON.stringify({ config, stage: "production" }));
  return directory;
}

export class InstanceProcess {
  /** The queries of the requests that were answered: each request has one of its own. */
  readonly answered: string[] = [];
  /** Ids on stdout, which is what CloudWatch has. */
  readonly printed = new Set<string>();
  /** The queries of the responses on stdout. */
  readonly responses = new Set<string>();
  /** Entries that each closing line of this instance counts, by its id. */
  readonly closings = new Map<string, number>();
  isBusy = false;
  ending: "killed" | "shut down" | undefined;
  readonly #function: LocalFunction;
  #rest = "";

  constructor(directory: string, { url, token }: { readonly url: string; readonly token: string }) {
    this.#function = new LocalFunction({
      command: [bundle, "/var/lang/bin/node", "/var/runtime/index.mjs"],
      directory,
      timeoutMs: 60_000,
      initTimeoutMs: 60_000,
      freezes: true,
      env: { TOOL_STAGE: "production", TOOL_RESPONSE_MODE: "buffered", TOOL_LOGS_URL: url, TOOL_LOGS_TOKEN: token },
      onOutput: (text, source) => source === "process" && this.#read(text),
    });
  }

  /** One invocation. One that is throttled has its processor for a fifth of the time. */
  async serve(query: string, { isThrottled = false } = {}): Promise<void> {
    this.isBusy = true;
    try {
      const request = { method: "GET", rawHeaders: ["Host", "x"], body: Buffer.alloc(0), ip: "192.0.2.1" };
      const names = { stage: "$default", domainName: "x" };
      const result = this.#function.invoke(gatewayEventOf("http", { ...request, target: `/?${query}` }, names));
      const throttled = isThrottled ? this.#throttle(result) : undefined;
      const { kind } = await result;
      await throttled;
      if (kind === "document") this.answered.push(query);
    } finally {
      this.isBusy = false;
    }
  }

  /** Resolves when it has sent what it sends after an answer. */
  idle(): Promise<void> {
    return this.#function.idle();
  }

  kill(): void {
    this.ending = "killed";
    this.#function.destroy();
  }

  async shutDown(): Promise<void> {
    this.ending = "shut down";
    await this.#function.shutDown();
  }

  /** To be called last: also for one whose process ended by itself. */
  end(): void {
    this.#function.destroy();
  }

  /** How many processes it took: more than one if one ended by itself. */
  get starts(): number {
    return this.#function.starts;
  }

  async #throttle(result: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    result.then(over, over);
    while (!isOver && this.ending === undefined) {
      const { pid } = this.#function;
      if (pid === undefined) return systemClock.sleep(1);
      signal(pid, "SIGSTOP");
      await systemClock.sleep(20);
      signal(pid, "SIGCONT");
      await systemClock.sleep(5);
    }
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith('{"id":')) continue;
      const { id, message, fields } = JSON.parse(line) as Entry;
      this.printed.add(id!);
      if (message === "response") this.responses.add(String(fields.query));
      if (message === CLOSING) this.closings.set(id!, Number(fields.entries));
    }
  }
}

/** A process that has ended meanwhile needs none. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {}
}
