// The life of a function beside its requests: starts, deadlines, limits, crashes, being stopped in between.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import t, { type Test } from "tap";
import type { InvokeResult } from "../../../cli/sandbox/function/function.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { createApplication } from "../../../runtime/index.ts";
import { checkApp } from "../../../runtime/lambda/check.ts";
import { answerInvocation, untilListening } from "../../../runtime/lambda/invocation.ts";
import { answerInvocations } from "../../../runtime/lambda/loop.ts";
import type { RuntimeApi } from "../../../runtime/lambda/runtime-api.ts";
import type { Sender } from "../../../runtime/lambda/sender.ts";
import { runningClock } from "../../support/clock-at.ts";
import { apps, ask, commandOf, configOf, isRunning, type Project } from "../../support/runtime.ts";
import { bundle, type Deployed, deploy } from "../../support/runtime-api/deployed.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

// Most of them wait.
t.jobs = 3;

const FROZEN_MS = 1_200;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A limit of the platform that counts while both run: see `runningClock`. */
const limitOf = (timeoutMs: number) => ({ timeoutMs, clock: runningClock });

const restEvent = (method: string, path: string, query: Record<string, string> = {}) => ({
  httpMethod: method,
  path,
  queryStringParameters: query,
  requestContext: { requestId: "r1" },
});

interface Document {
  readonly statusCode: number;
  readonly body: string;
  readonly multiValueHeaders: Record<string, string[]>;
}

async function invoke(deployed: Deployed, method: string, path: string, query = {}): Promise<Document> {
  return documentOf(deployed, await deployed.function.invoke(restEvent(method, path, query)));
}

function documentOf(deployed: Deployed, result: InvokeResult): Document {
  if (result.kind !== "document") throw new Error(`${JSON.stringify(result)}\n${deployed.function.output}`);
  return JSON.parse(result.payload.toString());
}

interface Parts {
  readonly head: Document;
  readonly body: Buffer;
  readonly failed: string | undefined;
}

async function invokeStreamed(deployed: Deployed, path: string, query = {}): Promise<Parts> {
  const result = await deployed.function.invoke(restEvent("GET", path, query));
  if (result.kind !== "stream") throw new Error(JSON.stringify(result));
  const parts: Buffer[] = [];
  for await (const part of result.body) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  const end = bytes.indexOf(Buffer.alloc(8));
  return { head: JSON.parse(bytes.toString("utf8", 0, end)), body: bytes.subarray(end + 8), failed: result.failed() };
}

/** All entries but those of requests, once nothing runs any more. */
async function happenings(deployed: Deployed): Promise<string[]> {
  await deployed.function.idle();
  const own = deployed.entries().filter(({ message }) => message !== "request" && message !== "response");
  return own.map(({ level, message }) => `${level} ${message}`);
}

const responses = (deployed: Deployed) => deployed.entries().filter(({ message }) => message === "response");

t.test("entries of loggers have the time at which they came", async (t) => {
  const line = '{"level":50,"time":1700000000000,"msg":"told","user":7}';
  const project = { files: { "line.ndjson": `${line}\n` } };
  const command = `cat line.ndjson && exec ${process.execPath} -e 'require("http").createServer((q, s) => s.end()).listen(process.env.PORT)'`;
  const begin = Date.now() - 1000;
  const deployed = await deploy(t, { command, ...project }, { streams: false });
  await invoke(deployed, "GET", "/");
  await deployed.function.idle();
  const entry = deployed.entries().find(({ message }) => message === "told")!;
  const { user, time } = entry.fields;
  t.same({ level: entry.level, user, time }, { level: "error", user: 7, time: undefined });
  t.ok(Date.parse(entry.timestamp) >= begin, entry.timestamp);
});

t.test("the log is one JSON entry a line, in order, with stage, version and commit", async (t) => {
  const command = `exec ${process.execPath} -e 'require("http").createServer((q, s) => { console.log("told"); s.end() }).listen(process.env.PORT)'`;
  const deployed = await deploy(t, { command, env: { TOOL_COMMIT: "81d3b2b" } }, { streams: false });
  await invoke(deployed, "GET", "/x", { a: "1" });
  await deployed.function.idle();
  const lines = deployed.function.output
    .split("\n")
    .filter((line) => !/^(START|END|REPORT) /.test(line) && line !== "");
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  t.same(
    entries.map(({ message }) => message),
    ["app listening", "request", "told", "response"],
  );
  for (const { fields } of entries) t.match(fields, { stage: "production", version: "7", commit: "81d3b2b" });
  t.match(entries[3], { level: "info", fields: { id: "r1", method: "GET", path: "/x", query: "a=1", status: 200 } });
  t.notOk(existsSync(join(deployed.directory, ".tool/development.ndjson")), "there is no development log");
});

t.test("what a deployment carries for it weighs at most 100 KB zipped", (t) => {
  const bytes = deflateRawSync(readFileSync(bundle), { level: 9 }).length;
  t.ok(bytes <= 100_000, `${bytes} bytes`);
  t.end();
});

t.test("logs.disable leaves the requests out", async (t) => {
  const deployed = await deploy(t, { app: "echo/server.mjs", config: { logs: { disable: true } } }, { streams: false });
  await invoke(deployed, "GET", "/x");
  t.same(responses(deployed), []);
});

t.test("the app knows its stage and nothing of the Runtime API", async (t) => {
  const command = `exec ${process.execPath} -e 'require("http").createServer((q, s) => s.end(JSON.stringify(process.env))).listen(process.env.PORT)'`;
  const project = { command, files: { ".env": "LEAKED=1\n" } };
  const own = {
    AWS_LAMBDA_EXEC_WRAPPER: "/opt/wrapper",
    TOOL_LOGS_URL: "http://127.0.0.1:1/",
    TOOL_LOGS_TOKEN: "lgs_1",
  };
  const deployed = await deploy(t, project, { streams: false, env: own });
  const env = JSON.parse(Buffer.from((await invoke(deployed, "GET", "/")).body, "base64").toString());
  t.match(env, { TOOL_STAGE: "production", NODE_ENV: "production", AWS_REGION: "eu-west-1" });
  t.equal(env.AWS_LAMBDA_RUNTIME_API, undefined);
  for (const name of Object.keys(own)) t.equal(env[name], undefined, name);
  t.equal(env.LEAKED, undefined, "an app's own file is the app's affair");
});

t.test("an app that takes too long: 504 before the platform's deadline", async (t) => {
  const deployed = await deploy(t, { app: "echo/server.mjs" }, { streams: false, ...limitOf(1_500) });
  // It may be stopped amid one for longer than its limit is.
  const answered = () => until("an answer", async () => (await invoke(deployed, "GET", "/")).statusCode === 200);
  await answered();
  const earlier = await happenings(deployed);
  t.equal((await invoke(deployed, "GET", "/", { delay: "5000" })).statusCode, 504);
  t.same((await happenings(deployed)).slice(earlier.length), ["error request timed out"]);
  await answered();
  t.equal(deployed.function.starts, 1, "the platform did not have to step in");
});

/** An application in this process, in the time of the test. It is stopped after it. */
function applicationOf(t: Test, project: Project, log: (entries: readonly Entry[]) => void = () => {}) {
  const clock = new TestClock();
  const application = createApplication({
    config: configOf(project),
    directory: apps,
    stage: "production",
    version: "1",
    command: commandOf(project),
    env: { PATH: process.env.PATH },
    log,
    clock,
  });
  application.supervisor!.start();
  // Its end is looked for in steps of the clock.
  t.teardown(async () => {
    let isStopped = false;
    void application.supervisor!.stop().then(() => {
      isStopped = true;
    });
    await until("the app is gone", async () => {
      await clock.advance(10);
      return isStopped;
    });
  });
  return { application, clock };
}

t.test("the answer is there 300 ms before the deadline, in one piece and in parts", async (t) => {
  const project = { app: "streams/server.mjs" };
  const { application, clock } = applicationOf(t, project);
  let isListening = false;
  void untilListening(application, clock.nowMs() + 8_000).then(() => {
    isListening = true;
  });
  await until("the app listens", async () => {
    await clock.advance(10);
    return isListening;
  });
  for (const { path, streams } of [
    { path: "/hang", streams: false },
    { path: "/hang", streams: true },
    { path: "/trickle", streams: false },
    { path: "/sse", streams: true },
  ]) {
    const deadlineMs = clock.nowMs() + 1_300;
    let leftMs: number | undefined;
    await new Promise<void>((resolve, reject) => {
      const ended = async () => {
        leftMs = deadlineMs - clock.nowMs();
      };
      const answer = {
        document: ended,
        stream: () => ({ write: async () => {}, end: ended, fail: ended }),
      };
      const event = restEvent("GET", path);
      answerInvocation(application, { id: "i", event, deadlineMs }, answer, { streams }).catch(reject);
      const answered = async () => {
        await clock.advance(10);
        return leftMs !== undefined;
      };
      until("the answer", answered).then(() => resolve(), reject);
    });
    t.ok(leftMs! > 150 && leftMs! <= 310, `${path}${streams ? " in parts" : ""}: ${leftMs} ms before it`);
  }
});

t.test("the pause before the first request after a check is none between two requests", async (t) => {
  const { application, clock } = applicationOf(t, { app: "echo/server.mjs" });
  const events = [{ tool: "check" }, { tool: "warm" }, restEvent("GET", "/"), restEvent("GET", "/")];
  const pausesMs: (number | undefined)[] = [];
  const api = {
    next: () => {
      const event = events.shift();
      const invocation = { id: "i", event, deadlineMs: clock.nowMs() + 60_000 };
      return event === undefined ? new Promise(() => {}) : Promise.resolve(invocation);
    },
    answerTo: () => ({ document: async () => {} }),
  } as unknown as RuntimeApi;
  const sender = { answered: async (pauseMs: number | undefined) => void pausesMs.push(pauseMs) } as unknown as Sender;
  const options = { streams: false, readyByMs: clock.nowMs() + 8_000, sender, registered: Promise.resolve() };
  void answerInvocations(application, api, options);
  await until("all answers", async () => {
    await clock.advance(10);
    return pausesMs.length === 4;
  });
  t.same(pausesMs.slice(0, 3), [undefined, undefined, undefined], "after the check, the warming and the first request");
  t.type(pausesMs[3], "number", "after the second");
});

t.test("an app that does not listen: 504 before the platform's deadline", async (t) => {
  const config = { proxy: { listen_timeout: 25 } };
  const deployed = await deploy(
    t,
    { app: "processes/never-listens.mjs", config },
    { streams: false, ...limitOf(1_500) },
  );
  // The platform says that it is ready though its app is not.
  const answer = await invoke(deployed, "GET", "/");
  t.equal(answer.statusCode, 504);
  t.equal(deployed.function.starts, 1);
});

t.test("an app that starts slowly starts on during the first invocation", async (t) => {
  const project = { app: "processes/slow-to-listen.mjs", env: { DELAY: "10500" } };
  const deployed = await deploy(t, project, { streams: false, clock: runningClock });
  t.match(await invoke(deployed, "GET", "/"), { statusCode: 200, body: Buffer.from("at last").toString("base64") });
  t.equal(deployed.function.starts, 1, "initialisation did not time out");
});

t.test("an app that ends at its start: 503, and what it wrote", async (t) => {
  const config = { proxy: { backoff: { attempts: 2, min: 1, max: 2 } } };
  const deployed = await deploy(t, { app: "processes/early-exit.mjs", config }, { streams: false });
  t.match(await invoke(deployed, "GET", "/"), { statusCode: 503, body: /the app is not available/ });
  await deployed.function.idle();
  t.match(
    deployed.entries().find(({ message }) => message === "app exited before it listened"),
    { fields: { code: 4, output: ["reading the settings", "DATABASE_URL is not set"] } },
  );
});

const serving = (handler: string) =>
  `exec ${process.execPath} -e 'require("http").createServer((request, response) => { ${handler} }).listen(process.env.PORT)'`;
const listenWithin = (seconds: number) => ({ proxy: { listen_timeout: seconds, backoff: { min: 1, max: 2 } } });

interface CheckRow {
  readonly project: Project;
  readonly result: object;
  /** The level of the entry of the check. */
  readonly level: string;
}

const inNode = (source: string): Project => ({ command: `exec ${process.execPath} -e '${source}'` });
const CHECKS: Readonly<Record<string, CheckRow>> = {
  "an app that ends at its start": {
    project: { app: "processes/early-exit.mjs" },
    result: { available: false, reason: "the app exited before it listened (exit code 4)" },
    level: "error",
  },
  "a module that is missing": {
    project: inNode('require("express")'),
    result: { available: false, output: ["Error: Cannot find module 'express'"] },
    level: "error",
  },
  "a variable that breaks the start": {
    project: { ...inNode("JSON.parse(process.env.SETTINGS)"), env: { SETTINGS: "{" } },
    result: { available: false, output: [/^SyntaxError: .*JSON/] },
    level: "error",
  },
  "a command that is not there": {
    project: { command: "gunicorn-of-nobody app:app" },
    result: {
      available: false,
      reason: "the app exited before it listened (exit code 127)",
      output: [/gunicorn-of-nobody.*not found/],
    },
    level: "error",
  },
  "an app that ends at each request": {
    project: { command: serving("process.exit(3)") },
    result: { available: false, reason: "the app exited (exit code 3) and did not answer GET /" },
    level: "error",
  },
  "500 at /": {
    project: { command: serving("response.statusCode = 500; response.end()") },
    result: { available: true, status: 500 },
    level: "info",
  },
  "503 of the app itself": {
    project: { command: serving("response.statusCode = 503; response.end()") },
    result: { available: true, status: 503 },
    level: "info",
  },
  "404 at /": {
    project: { command: serving("response.statusCode = 404; response.end()") },
    result: { available: true, status: 404 },
    level: "info",
  },
  "a slow start within listen_timeout": {
    project: { app: "processes/slow-to-listen.mjs", env: { DELAY: "700" }, config: listenWithin(25) },
    result: { available: true, status: 200 },
    level: "info",
  },
  "an app that does not answer": {
    project: { command: serving(""), config: { proxy: { timeout: 1 } } },
    result: { available: true, status: undefined, reason: "the app took too long to answer" },
    level: "warn",
  },
  "an app that closes the connection": {
    project: { command: serving("request.socket.destroy()") },
    result: { available: true, status: undefined, reason: "the app broke the connection" },
    level: "warn",
  },
  "a static site": {
    project: { files: { "index.html": "<p>hello</p>" }, config: { type: "static" } },
    result: { available: true, status: 200 },
    level: "info",
  },
  "a static site without a page at /": {
    project: { files: { "a.html": "<p>hello</p>" }, config: { type: "static" } },
    result: { available: true, status: 404 },
    level: "info",
  },
};

t.test("a deploy's check", async (t) => {
  for (const [name, { project, result, level }] of Object.entries(CHECKS)) {
    t.test(name, async (t) => {
      const deployed = await deploy(t, project);
      const { check } = documentOf(deployed, await deployed.function.invoke({ tool: "check" })) as { check?: object };
      const { output, ...expected } = result as { output?: (string | RegExp)[] };
      t.match(check, expected, JSON.stringify(check));
      const lines = (check as { output?: string[] }).output ?? [];
      for (const line of output ?? [])
        t.ok(
          lines.some((one) => isLike(one, line)),
          `${line} in ${lines.join("\n")}`,
        );
      await deployed.function.idle();
      const entry = deployed.entries().find(({ message }) => message === "deploy check");
      t.match(entry, { level, fields: { request: "GET /", duration: Number, version: "7", status: undefined } });
      t.same(responses(deployed), [], "no request of a client");
    });
  }
});

// In the time of the test, as a busy machine takes longer to start the app than any limit is.
t.test("a deploy's check: a port of its own", async (t) => {
  const rows: [source: string, reason: string | RegExp][] = [
    [
      'require("http").createServer().listen(0, "127.0.0.1", () => console.log("begins"))',
      /^the app did not listen on PORT within 1000 ms; it listens on \d+: let it read PORT from its environment$/,
    ],
    ['console.log("begins"); setInterval(() => {}, 1000)', "the app did not listen on PORT within 1000 ms"],
  ];
  for (const [source, reason] of rows) {
    const entries: Entry[] = [];
    const project = { ...inNode(source), config: listenWithin(1) };
    const { application, clock } = applicationOf(t, project, (more) => void entries.push(...more));
    await until("the app's first line", () => entries.some(({ message }) => message === "begins"));
    // Most of the time to listen is over when the check comes: that is what ends it, and not the check's own limit.
    for (let steps = 90; steps > 0; steps--) await clock.advance(10);
    let check: object | undefined;
    void checkApp(application, "r1", clock.nowMs() + 20_000).then((result) => {
      check = result;
    });
    await until("the check's end", async () => {
      await clock.advance(10);
      return check !== undefined;
    });
    t.match(check, { available: false, reason }, source);
    const entry = entries.find(({ message }) => message === "deploy check");
    t.match(entry, { level: "error", fields: { request: "GET /", duration: Number } });
  }
});

t.test("the time to listen does not run while the platform has stopped all processes", async (t) => {
  const entries: Entry[] = [];
  const listens = 'process.on("SIGUSR2", () => require("http").createServer().listen(process.env.PORT));';
  const project = {
    ...inNode(`${listens} console.log("begins " + process.pid); setInterval(() => {}, 1000)`),
    config: listenWithin(5),
  };
  const { clock } = applicationOf(t, project, (more) => void entries.push(...more));
  const said = await until("the app's first line", () => entries.find(({ message }) => message.startsWith("begins ")));
  await clock.advance(1_000);
  for (const stoppedMs of [7_000, 60_000]) await clock.stop(stoppedMs);
  process.kill(Number(said.message.slice("begins ".length)), "SIGUSR2");
  await until("the app listens", async () => {
    await clock.advance(1);
    return entries.some(({ message }) => message === "app listening");
  });
  t.same(
    entries.map(({ message }) => message),
    [said.message, "app listening"],
  );
});

const isLike = (line: string, wanted: string | RegExp) =>
  typeof wanted === "string" ? line === wanted : wanted.test(line);

t.test("a gateway's request is no check, whatever it holds", async (t) => {
  const deployed = await deploy(t, { app: "echo/server.mjs" }, { streams: false });
  const answer = await ask(deployed.port, { method: "POST", path: "/?tool=check", body: '{"tool":"check"}' });
  t.equal(answer.status, 200);
  t.match(documentOf(deployed, await deployed.function.invoke({ ...restEvent("GET", "/"), tool: "check" })), {
    statusCode: 200,
  });
  await deployed.function.idle();
  t.notOk(deployed.entries().some(({ message }) => message === "deploy check"));
});

t.test("an app that crashes on a request: 502, and the next request is answered", async (t) => {
  const deployed = await deploy(t, { app: "crashes/server.mjs" }, { streams: false });
  const before = (await invoke(deployed, "GET", "/")).body;
  t.equal((await invoke(deployed, "GET", "/exit")).statusCode, 502);
  const after = (await invoke(deployed, "GET", "/")).body;
  t.not(after, before, "by another process");
  t.equal(deployed.function.starts, 1, "in the same environment");
});

t.test("an answer over 6 MB in one piece: a 502 that says so", async (t) => {
  const deployed = await deploy(t, { app: "streams/server.mjs" }, { streams: false });
  const answer = await invoke(deployed, "GET", "/bytes", { n: String(7 * 1024 * 1024) });
  t.match(answer, { statusCode: 502, body: /the answer has \d+ bytes, more than the platform takes in one piece/ });
  await deployed.function.idle();
  const entry = deployed.entries().find(({ message }) => message === "answer is over the limit");
  t.match(entry, { level: "error", fields: { id: "r1", path: "/bytes", limit: 6 * 1024 * 1024 } });
  t.ok(Number(entry?.fields.size) > 6 * 1024 * 1024, "with its size");
  t.match(responses(deployed).at(-1), { level: "error", fields: { status: 502 } });
});

t.test("an answer over 6 MB as a page, for a browser", async (t) => {
  const deployed = await deploy(t, { app: "streams/server.mjs" }, { streams: false });
  const path = `/bytes?n=${7 * 1024 * 1024}`;
  const page = await ask(deployed.port, { path, headers: { Accept: "text/html" } });
  t.equal(page.status, 502);
  t.match(page.body.toString(), /<title>Bad Gateway<\/title>/);
  t.match(page.body.toString(), /more than the platform takes in one piece/);
});

t.test("an answer over 6 MB in parts", async (t) => {
  const deployed = await deploy(t, { app: "streams/server.mjs" });
  const bytes = 30 * 1024 * 1024;
  const answer = await ask(deployed.port, { path: `/bytes?n=${bytes}` });
  t.equal(answer.body.length, bytes);
  t.equal(answer.cut, false);
  await deployed.function.idle();
  t.match(responses(deployed), [{ fields: { status: 200, size: bytes } }]);
});

t.test("an event stream is passed on as it comes, and cut off before the deadline", async (t) => {
  const deployed = await deploy(t, { app: "streams/server.mjs" }, limitOf(5_000));
  const { head, body, failed } = await invokeStreamed(deployed, "/sse");
  t.match(head, { statusCode: 200, multiValueHeaders: { "Content-Type": ["text/event-stream"] } });
  t.equal(body.toString(), "data: first\n\n");
  t.equal(failed, "Tool.TimedOut");
  t.same(await happenings(deployed), ["info app listening", "error request timed out"]);
  t.equal(deployed.function.starts, 1);
});

for (const path of ["/half", "/half-chunked"]) {
  t.test(`an answer that breaks off, in one piece: ${path}`, async (t) => {
    const deployed = await deploy(t, { app: "streams/server.mjs" }, { streams: false });
    t.match(await invoke(deployed, "GET", path), { statusCode: 502, body: /the app broke off its answer/ });
    t.same(await happenings(deployed), ["info app listening", "error app broke off its answer"]);
  });

  t.test(`an answer that breaks off, in parts: ${path}`, async (t) => {
    const deployed = await deploy(t, { app: "streams/server.mjs" });
    const { head, body, failed } = await invokeStreamed(deployed, path);
    t.equal(head.statusCode, 200);
    t.equal(body.toString(), "only this");
    t.equal(failed, "Tool.BrokenOff");
    const seen = await ask(deployed.port, { path });
    t.equal(seen.cut, true, "the client sees that it has not got all");
  });
}

t.test("headers over 16 KB in parts: a 502 that says so", async (t) => {
  const config = { headers: { "/big": { "X-Big": "a".repeat(17_000) } } };
  const deployed = await deploy(t, { app: "echo/server.mjs", config });
  const answer = await ask(deployed.port, { path: "/big" });
  t.equal(answer.status, 502);
  t.match(answer.body.toString(), /the headers of the answer are over the platform's 16 KB/);
  t.same(await happenings(deployed), ["info app listening", "error headers of the answer are over the limit"]);
});

t.test("a deployment that cannot be read is an error of the initialisation", async (t) => {
  const deployed = await deploy(t, { app: "echo/server.mjs" });
  writeFileSync(join(deployed.directory, ".tool/deployment.json"), "{broken");
  const result = await deployed.function.invoke(restEvent("GET", "/"));
  t.match(result, {
    kind: "error",
    error: { errorType: "Tool.NotStarted", errorMessage: /deployment cannot be read/ },
  });
});

t.test("warming keeps the instance busy as long as it is asked to, a second at most", async (t) => {
  const deployed = await deploy(t, { app: "echo/server.mjs" });
  for (const [event, leastMs, mostMs] of [
    [{ tool: "warm" }, 0, 10_000],
    [{ tool: "warm", hold_ms: 400 }, 400, 10_000],
    [{ tool: "warm", hold_ms: 60_000 }, 1_000, 10_000],
    [{ tool: "warm", hold_ms: "long" }, 0, 10_000],
  ] as const) {
    const begin = performance.now();
    const result = await deployed.function.invoke(event);
    const tookMs = performance.now() - begin;
    t.equal(result.kind === "document" && result.payload.toString(), '{"warm":true}', JSON.stringify(event));
    // A timer may fire a millisecond early.
    t.ok(tookMs >= leastMs - 2 && tookMs < mostMs, `${leastMs} to ${mostMs} ms: ${Math.round(tookMs)}`);
  }
});

t.test("SIGTERM reaches the app, and nothing is left of it", async (t) => {
  const deployed = await deploy(t, { app: "processes/drains.mjs" });
  await deployed.function.warmUp();
  const { pid } = deployed.entries().find(({ message }) => message === "app listening")!.fields as { pid: number };
  await deployed.function.shutDown();
  t.match(deployed.function.output, /"message":"draining"/);
  await until("the app has ended", () => !isRunning(pid));
});

t.test("stopped between two invocations", async (t) => {
  async function frozen(t: Test, app: string, config = {}): Promise<Deployed> {
    const deployed = await deploy(t, { app, config }, { streams: false, freezes: true });
    t.equal((await invoke(deployed, "POST", "/")).statusCode, 200);
    await deployed.function.idle();
    return deployed;
  }

  t.test("connections that died meanwhile are not used", async (t) => {
    const deployed = await frozen(t, "processes/closes-idle.mjs");
    for (let i = 0; i < 3; i++) {
      await sleep(FROZEN_MS);
      t.equal((await invoke(deployed, "POST", "/")).statusCode, 200, "a POST is never sent twice");
      await deployed.function.idle();
    }
    t.same(await happenings(deployed), ["info app listening"]);
  });

  t.test("an app that was killed meanwhile is started again", async (t) => {
    const deployed = await frozen(t, "processes/closes-idle.mjs");
    const { pid } = deployed.entries().find(({ message }) => message === "app listening")!.fields as { pid: number };
    process.kill(pid, "SIGKILL");
    await sleep(100);
    t.equal((await invoke(deployed, "GET", "/")).statusCode, 200);
    t.match(await happenings(deployed), ["info app listening", "error app exited", "warn app restarts"]);
    t.equal(deployed.function.starts, 1);
  });
});
