// `npm run bench:delivery`: what a request of a deployed app costs where its entries are sent to the log service, beside the same
// function that sends nothing. The runtime is its real file in a process of its own, the service a real one; services that are
// slow or fail are stand-ins. All of them in turns, with a second function that sends nothing for how far two equal ones differ.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { apps } from "../../support/runtime.ts";
import { bundle } from "../../support/runtime-api/deployed.ts";
import { PROJECT } from "../logservice/bodies.ts";
import { processorSeconds } from "../logservice/processes.ts";
import { startService } from "../logservice/service.ts";
import { median, spread } from "../query/statistics.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const STARTS = Number(process.env.STARTS ?? 15);
/** One after the other at once, as on an instance that is asked all the time. */
const BUSY = Number(process.env.BUSY ?? 3_000);
/** With a pause before each, in which the platform would stop the instance. */
const QUIET = Number(process.env.QUIET ?? 30);
const QUIET_PAUSE_MS = 300;
const SLOW_MS = 10_000;

const EVENT = JSON.stringify({
  path: "/shop/7",
  httpMethod: "GET",
  multiValueHeaders: { Host: ["shop.example"], "X-Forwarded-For": ["203.0.113.7"], "X-Forwarded-Proto": ["https"] },
  multiValueQueryStringParameters: { body: ["hello"], type: ["text/plain"] },
  requestContext: { apiId: "api", requestId: "r1", stage: "production", identity: { sourceIp: "203.0.113.7" } },
  body: null,
  isBase64Encoded: false,
});

/** Milliseconds of each request: until its answer was there, and until the next event was asked for, which is billed. */
interface Times {
  readonly answered: number[];
  readonly billed: number[];
}

/** A function's process with its Runtime API, which hands out one event when the last one is done. */
class Instance {
  readonly #child: ChildProcess;
  readonly #server: Server;
  #waiting: ServerResponse | undefined;
  #onNext: (() => void) | undefined;
  #onAnswer: (() => void) | undefined;
  readonly #beganMs = performance.now();

  private constructor(server: Server, directory: string, env: NodeJS.ProcessEnv) {
    this.#server = server;
    server.on("request", (req, res) => this.#answer(req, res));
    const { port } = server.address() as AddressInfo;
    this.#child = spawn(bundle, [], {
      cwd: directory,
      stdio: "ignore",
      env: {
        PATH: process.env.PATH,
        LAMBDA_TASK_ROOT: directory,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_FUNCTION_NAME: "bench",
        AWS_LAMBDA_FUNCTION_VERSION: "1",
        ...env,
      },
    });
  }

  /** Milliseconds until it asked for its first event, too. */
  static async start(
    directory: string,
    env: NodeJS.ProcessEnv,
  ): Promise<{ readonly instance: Instance; readonly startMs: number }> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const instance = new Instance(server, directory, env);
    await instance.#untilNext();
    return { instance, startMs: performance.now() - instance.#beganMs };
  }

  async requests(count: number, pauseMs: number): Promise<Times> {
    const times: Times = { answered: [], billed: [] };
    for (let i = 0; i < count; i++) {
      await this.#untilNext();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const res = this.#waiting!;
      this.#waiting = undefined;
      const answered = new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
      });
      const begin = performance.now();
      res.writeHead(200, {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": String(i),
        "Lambda-Runtime-Deadline-Ms": String(Date.now() + 30_000),
      });
      res.end(EVENT);
      await answered;
      times.answered.push(performance.now() - begin);
      await this.#untilNext();
      times.billed.push(performance.now() - begin);
    }
    return times;
  }

  /** Processor time of the runtime alone, without the app. */
  get processorMs(): number {
    return processorSeconds(this.#child.pid!).own * 1000;
  }

  /** The most memory that the runtime held. */
  get peakMB(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
  }

  async end(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await exited;
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #untilNext(): Promise<void> {
    if (this.#waiting !== undefined) return;
    await new Promise<void>((resolve, reject) => {
      this.#onNext = resolve;
      this.#child.once("exit", (code) => reject(new Error(`the function ended with ${code}`)));
    });
    this.#child.removeAllListeners("exit");
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const path = req.url!;
    if (path.endsWith("/invocation/next")) {
      this.#waiting = res;
      this.#onNext?.();
    } else if (path.endsWith("/extension/register")) {
      req.resume().on("end", () => res.writeHead(200, { "Lambda-Extension-Identifier": "one" }).end("{}"));
    } else if (path.endsWith("/response")) {
      req.resume().on("end", () => {
        res.writeHead(202).end();
        this.#onAnswer?.();
      });
    } else if (!path.endsWith("/event/next")) res.writeHead(404).end();
  }
}

/** A service that answers all batches alike, after a while. */
async function standIn(status: number, afterMs = 0): Promise<Server & { url: string }> {
  const server = createServer((req, res) => {
    req.resume().on("end", () => setTimeout(() => res.writeHead(status).end("{}"), afterMs));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

const folder = mkdtempSync(join(tmpdir(), "tool-bench-delivery-"));
const directory = join(folder, "app");
mkdirSync(join(directory, ".tool"), { recursive: true });
const command = `exec ${process.execPath} ${join(apps, "echo/server.mjs")}`;
writeFileSync(
  join(directory, ".tool/deployment.json"),
  JSON.stringify({ config: { name: "bench" }, stage: "production", command }),
);
mkdirSync(join(folder, "service"));
const service = await startService(join(folder, "service"));
const slow = await standIn(200, SLOW_MS);
const failing = await standIn(500);
const busyService = await standIn(429);
const to = (url: string) => ({ TOOL_LOGS_URL: `${url}/ingest/${PROJECT}`, TOOL_LOGS_TOKEN: service.token });
const KINDS: Readonly<Record<string, NodeJS.ProcessEnv>> = {
  "sends nothing": {},
  "sends nothing, again": {},
  "a service": to(service.url),
  "a service that takes 10 s": to(slow.url),
  "a service that answers 500": to(failing.url),
  "a service that answers 429": to(busyService.url),
};

interface Figures {
  readonly p50: number[];
  readonly p99: number[];
  readonly processorUs: number[];
  readonly billed: number[];
  readonly quietAnswered: number[];
  readonly quietBilled: number[];
  readonly worst: number[];
  readonly peakMB: number[];
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`,
);
const all: Record<string, Figures> = {};
for (const name of Object.keys(KINDS)) {
  all[name] = {
    ...{ p50: [], p99: [], processorUs: [], billed: [], quietAnswered: [], quietBilled: [], worst: [], peakMB: [] },
  };
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, env] of Object.entries(KINDS)) {
    const { instance } = await Instance.start(directory, env);
    await instance.requests(Math.ceil(BUSY / 5), 0);
    const before = instance.processorMs;
    const busy = await instance.requests(BUSY, 0);
    const processorMs = instance.processorMs - before;
    const quiet = await instance.requests(QUIET, QUIET_PAUSE_MS);
    const one = all[name]!;
    one.p50.push(quantile(busy.answered, 0.5));
    one.p99.push(quantile(busy.answered, 0.99));
    one.processorUs.push((processorMs * 1000) / BUSY);
    one.billed.push(mean(busy.billed));
    one.quietAnswered.push(quantile(quiet.answered, 0.5));
    one.quietBilled.push(mean(quiet.billed));
    one.worst.push(Math.max(...busy.billed, ...quiet.billed));
    one.peakMB.push(instance.peakMB);
    await instance.end();
    process.stderr.write(".");
  }
}
process.stderr.write("\n");
console.log(`medians of ${ROUNDS} rounds (smallest to largest); ms unless said\n`);
for (const [name, figures] of Object.entries(all)) {
  console.log(name);
  const { processorUs, peakMB, ...rest } = figures;
  for (const [what, values] of Object.entries(rest)) {
    console.log(`  ${what.padEnd(14)} ${median(values).toFixed(3)} ${spread(values)}`);
  }
  console.log(`  processor time ${median(processorUs).toFixed(0)} us ${spread(processorUs)}`);
  console.log(`  memory         ${median(peakMB).toFixed(1)} MB ${spread(peakMB)}`);
}

const starts: Record<string, number[]> = { "sends nothing": [], "a service": [] };
for (let i = 0; i < STARTS; i++) {
  for (const [name, values] of Object.entries(starts)) {
    const { instance, startMs } = await Instance.start(directory, KINDS[name]!);
    values.push(startMs);
    await instance.end();
  }
}
console.log("\nfrom the start of the process to its first question for an event");
for (const [name, values] of Object.entries(starts)) {
  console.log(`  ${name.padEnd(14)} ${median(values).toFixed(1)} ms ${spread(values)}`);
}
await service.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(at * (sorted.length - 1))]!;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
