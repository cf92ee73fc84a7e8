// The function platform: what the runtime adds to a cold start, and what a request costs beside the plainest adapter.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { LocalFunction } from "../../../cli/sandbox/function/function.ts";
import type { ProxyResponse } from "../../../runtime/exchange.ts";
import { createApplication } from "../../../runtime/index.ts";
import { type AnswerSink, type AnswerStream, answerInvocation } from "../../../runtime/lambda/invocation.ts";
import { anyPort } from "../../../runtime/port.ts";
import { apps, configOf } from "../../support/runtime.ts";
import { bundle } from "../../support/runtime-api/deployed.ts";
import { median, spread } from "../query/statistics.ts";

const STARTS = Number(process.env.STARTS ?? 15);
const REQUESTS = Number(process.env.REQUESTS ?? 3_000);
const ROUNDS = 9;

const command = `exec ${process.execPath} ${join(apps, "echo/server.mjs")}`;
const layer = join(bundle, "../../../layer/tool/runtime");
const event = {
  resource: "/{proxy+}",
  path: "/shop/7",
  httpMethod: "GET",
  multiValueHeaders: {
    Host: ["shop.example"],
    Accept: ["text/html,application/xhtml+xml"],
    "Accept-Language": ["de,en;q=0.7"],
    "User-Agent": ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"],
    Cookie: ["session=0123456789abcdef; theme=dark"],
    "X-Amzn-Trace-Id": ["Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700"],
    "X-Forwarded-For": ["203.0.113.7"],
    "X-Forwarded-Port": ["443"],
    "X-Forwarded-Proto": ["https"],
  },
  multiValueQueryStringParameters: { body: ["hello"], type: ["text/plain"] },
  requestContext: { apiId: "api", requestId: "r1", stage: "production", identity: { sourceIp: "203.0.113.7" } },
  body: null,
  isBase64Encoded: false,
};

/** Milliseconds from the start of a command to its first answer over HTTP. */
async function ownStart(): Promise<number> {
  const port = await anyPort();
  const begin = performance.now();
  const child = spawn("sh", ["-c", command], { env: { PATH: process.env.PATH, PORT: String(port) }, stdio: "ignore" });
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 1));
  const tookMs = performance.now() - begin;
  child.kill("SIGKILL");
  return tookMs;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const req = get({ host: "127.0.0.1", port, path: "/" }, (res) => {
      res.resume();
      res.on("end", () => resolve(true));
    });
    req.on("error", () => resolve(false));
  });
}

/** Milliseconds from the start of the runtime to the answer to the first event. */
async function firstAnswer(directory: string, runtime: readonly [string, ...string[]]): Promise<number> {
  const target = new LocalFunction({ command: runtime, directory, timeoutMs: 20_000, freezes: false });
  const begin = performance.now();
  const result = await target.invoke(event);
  if (result.kind === "error") throw new Error(result.error.errorMessage);
  if (result.kind === "stream") for await (const part of result.body) void part;
  const tookMs = performance.now() - begin;
  target.destroy();
  return tookMs;
}

async function coldStarts(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tool-bench-"));
  mkdirSync(join(directory, ".tool"));
  writeFileSync(
    join(directory, ".tool/deployment.json"),
    JSON.stringify({ config: { name: "bench" }, stage: "production", command }),
  );
  const runtimes: Record<string, readonly [string, ...string[]]> = { "file, with Node": [bundle], layer: [layer] };
  const own: number[] = [];
  const empty: number[] = [];
  const taken: Record<string, number[]> = {};
  for (let i = 0; i < STARTS; i++) {
    own.push(await ownStart());
    empty.push(await nodeStart());
    for (const [name, runtime] of Object.entries(runtimes)) {
      if (name === "layer" && !isThere(layer)) continue;
      taken[name] ??= [];
      taken[name].push(await firstAnswer(directory, runtime));
    }
  }
  rmSync(directory, { recursive: true, force: true });
  console.log(`app's own start: ${median(own).toFixed(0)} ms ${spread(own)}`);
  console.log(`an empty Node process: ${median(empty).toFixed(0)} ms ${spread(empty)}`);
  for (const [name, values] of Object.entries(taken)) {
    const over = (median(values) - median(own)).toFixed(0);
    const least = (Math.min(...values) - Math.min(...own)).toFixed(0);
    console.log(`start to first answer, ${name}: +${over} ms over it (least over least: +${least}) ${spread(values)}`);
  }
  if (taken.layer === undefined) console.log("no layer: npm run build:layer makes it");
}

function nodeStart(): Promise<number> {
  const begin = performance.now();
  return new Promise((resolve) => {
    spawn(process.execPath, ["-e", "0"]).once("exit", () => resolve(performance.now() - begin));
  });
}

function isThere(path: string): boolean {
  try {
    readFileSync(path, { flag: "r" });
    return true;
  } catch {
    return false;
  }
}

/** Microseconds of CPU and of time for one event, answered in one piece. */
async function requests(): Promise<void> {
  const application = createApplication({
    config: configOf({ command }),
    directory: process.cwd(),
    stage: "production",
    version: "7",
    command,
    env: { PATH: process.env.PATH },
    log: () => {},
  });
  application.supervisor!.start();
  const { port } = await application.supervisor!.upstream(new AbortController().signal);
  const agent = new Agent({ keepAlive: true });

  const ours = async () => {
    let json = "";
    const answer: AnswerSink = {
      document: async (text) => {
        json = text;
      },
      stream: () => {
        throw new Error("not asked for");
      },
    };
    const invocation = { id: "1", event, deadlineMs: Date.now() + 10_000 };
    await answerInvocation(application, invocation, answer, { streams: false });
    if (!json.includes("hello")) throw new Error(json);
  };
  // The event's way into the pipeline and out again, without pipeline and app.
  const body = Buffer.from("hello");
  const handler = async (): Promise<ProxyResponse> => ({
    status: 200,
    headers: [["Content-Type", "text/plain"]],
    body,
  });
  const alone = async () => {
    const invocation = { id: "1", event, deadlineMs: Date.now() + 10_000 };
    const answer: AnswerSink = { document: async () => {}, stream: () => ({}) as AnswerStream };
    await answerInvocation({ ...application, handler }, invocation, answer, { streams: false });
  };
  const plain = async () => {
    const json = await plainAdapter(port, agent);
    if (!json.includes("hello")) throw new Error(json);
  };
  const times: Record<"ours" | "alone" | "plain", { us: number[]; cpu: number[] }> = {
    ours: { us: [], cpu: [] },
    alone: { us: [], cpu: [] },
    plain: { us: [], cpu: [] },
  };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of [
      ["ours", ours],
      ["alone", alone],
      ["plain", plain],
    ] as const) {
      const cpu = process.cpuUsage();
      const begin = performance.now();
      for (let i = 0; i < REQUESTS; i++) await run();
      const us = ((performance.now() - begin) * 1000) / REQUESTS;
      const { user, system } = process.cpuUsage(cpu);
      // The first round warms up.
      if (round > 0) times[name].us.push(us);
      if (round > 0) times[name].cpu.push((user + system) / REQUESTS);
    }
  }
  agent.destroy();
  await application.supervisor!.stop();
  for (const [name, { us, cpu }] of Object.entries(times)) {
    console.log(`${name}: ${median(us).toFixed(0)} us ${spread(us)}, CPU ${median(cpu).toFixed(0)} us ${spread(cpu)}`);
  }
  const ratio = (of: "us" | "cpu") => (median(times.plain[of]) / median(times.ours[of])).toFixed(2);
  console.log(`requests against the plain adapter: ${ratio("us")}x the speed, ${ratio("cpu")}x by CPU`);
}

/** What an adapter of few lines does: http.request with keep-alive, the body collected, a document. No pipeline, no log. */
function plainAdapter(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const query = Object.entries(event.multiValueQueryStringParameters)
      .map(([name, values]) => values.map((value) => `${name}=${encodeURIComponent(value)}`).join("&"))
      .join("&");
    const path = `${event.path}?${query}`;
    const own = Object.entries(event.multiValueHeaders).map(([name, values]) => [name, values.join(", ")]);
    const headers = { ...Object.fromEntries(own), "X-Context": JSON.stringify(event.requestContext) };
    const req = httpRequest({ host: "127.0.0.1", port, agent, method: event.httpMethod, path, headers }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part: Buffer) => parts.push(part));
      res.on("end", () => {
        const multiValueHeaders: Record<string, string[]> = {};
        for (let i = 0; i < res.rawHeaders.length; i += 2) {
          multiValueHeaders[res.rawHeaders[i]!] = [res.rawHeaders[i + 1]!];
        }
        const body = Buffer.concat(parts).toString();
        resolve(JSON.stringify({ statusCode: res.statusCode, multiValueHeaders, body, isBase64Encoded: false }));
      });
    });
    req.on("error", reject);
    req.end();
  });
}

export async function benchPlatform(): Promise<void> {
  const file = readFileSync(bundle);
  console.log(`the runtime's file: ${deflateRawSync(file, { level: 9 }).length} bytes zipped, ${file.length} unpacked`);
  await coldStarts();
  await requests();
}
