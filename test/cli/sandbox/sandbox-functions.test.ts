// The insides of a function of the sandbox: its memory, environment, program and code, and that nothing outlives it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { failureLine } from "../../../cli/aws/logs/failure-line.ts";
import { readZip, unpack } from "../../../cli/sandbox/cloud/lambda/unzip.ts";
import { type ZipFile, zipOf } from "../../../cli/sandbox/cloud/lambda/zip.ts";
import type { FunctionOptions } from "../../../cli/sandbox/function/function.ts";
import {
  languageHere,
  linkProgram,
  type RuntimeLanguage,
  refusalHere,
} from "../../../cli/sandbox/function/languages.ts";
import { passOnLines } from "../../../cli/sandbox/function/lines.ts";
import { MemoryMeter } from "../../../cli/sandbox/function/memory.ts";
import { below } from "../../../cli/sandbox/function/process-tree.ts";
import { readPlatformLine } from "../../../grammar/query/cloudwatch/platform-line.ts";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { startAws } from "../../support/aws/index.ts";
import { activeFunction, answerOf, foldersOf, handlerFunction } from "../../support/sandbox-function.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const here = dirname(fileURLToPath(import.meta.url));
const nodeRuntime = resolve(here, "../../../cli/sandbox/cloud/lambda/node-runtime.js");

const newFolder = foldersOf(t);

/** A function on the Node runtime whose handler is the code. */
function functionOf(
  t: { teardown(handler: () => void): void },
  handler: string,
  options: Partial<FunctionOptions> & { memoryMiB?: number } = {},
) {
  const { memoryMiB = 512, ...rest } = options;
  return handlerFunction(t, {
    ...{ directory: newFolder(), handler },
    identity: { name: "app", version: "1", region: "eu-west-1", arn: "arn", memoryMiB, logStream: "stream" },
    ...rest,
  });
}

const KILLED = { errorType: "Runtime.ExitError", errorMessage: "Runtime exited with error: signal: killed" };

const ALLOCATE = `
  const held = (globalThis.held ??= []);
  const end = held.length + (event.mib ?? 0);
  while (held.length < end) {
    held.push(Buffer.alloc(1024 * 1024, 1));
    if (held.length % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return held.length;`;

const ALLOCATE_BELOW = `
  const { spawn } = require("node:child_process");
  const code = \`const held = []; setInterval(() => held.push(Buffer.alloc(16 * 1024 * 1024, 1)), 20);\`;
  if (event.mib) await new Promise((resolve) => spawn(process.execPath, ["-e", code], { detached: true }).once("exit", resolve));
  return 0;`;

for (const [name, handler] of [
  ["the function's process", ALLOCATE],
  ["one that it started", ALLOCATE_BELOW],
] as const) {
  t.test(`memory of ${name} above the limit`, async (t) => {
    const target = functionOf(t, handler, { memoryMiB: 192 });
    t.equal(answerOf(await target.invoke({})), 0);
    const { pid } = target;
    const running = target.invoke({ mib: 1024 });
    t.match(answerOf(await running), KILLED);
    await target.idle();
    const lines = target.output.split(/(?<=\n)(?=START|END|REPORT|RequestId)/);
    const exit = lines.find((line) => line.startsWith("RequestId"));
    t.match(exit, /^RequestId: \S+ Error: Runtime exited with error: signal: killed\nRuntime\.ExitError\n$/);
    const reports = lines.filter((line) => line.startsWith("REPORT"));
    t.match(
      reports[1],
      /\tMemory Size: 192 MB\tMax Memory Used: 192 MB\tStatus: error\tError Type: Runtime\.ExitError\t\n$/,
    );
    const events = lines.map((text, id) => ({ id: String(id), stream: "stream", timeMs: 1_000 + id, text }));
    const failure = readPlatformLine(exit!) as Parameters<typeof failureLine>[1];
    const line = JSON.parse(
      await failureLine(events[0]! as never, failure, async function* () {
        yield events as never;
      }),
    );
    t.match(line, {
      message: "the platform ended a request that ran out of memory",
      fields: { memory: 192 * 1024 * 1024 },
    });
    await until("the end of the process", () => !isThere(pid!));
    t.equal(answerOf(await target.invoke({})), 0, "the next request");
    t.equal(target.starts, 2);
  });
}

t.test("memory above the limit before the first request", async (t) => {
  const target = functionOf(t, "", { memoryMiB: 128 });
  const source = `setInterval(() => (globalThis.held ??= []).push(Buffer.alloc(16 * 1024 * 1024, 1)), 5);
    while (true) await new Promise((resolve) => setTimeout(resolve, 5));`;
  writeFileSync(
    join(target.options.directory, "index.js"),
    "throw Object.assign(new Error(), { code: 'ERR_REQUIRE_ESM' });",
  );
  writeFileSync(join(target.options.directory, "index.mjs"), source);
  t.match(answerOf(await target.invoke({})), KILLED);
  await target.idle();
  const kinds = target.output.split("\n").map((line) => line.replace(/ [\w-]{36}.*| Duration: .*(?=Phase)/, ""));
  t.same(kinds, [
    "INIT_REPORT InitPhase: init\tStatus: error\tError Type: Runtime.ExitError",
    "INIT_REPORT InitPhase: invoke\tStatus: error\tError Type: Runtime.ExitError",
    "START RequestId:",
    "RequestId:",
    "Runtime.ExitError",
    "END RequestId:",
    "REPORT RequestId:",
    "",
  ]);
  t.match(target.output, /\tMemory Size: 128 MB\tMax Memory Used: 128 MB\tStatus: error/);
});

t.test("memory below the limit is reported", async (t) => {
  const target = functionOf(t, ALLOCATE);
  const usedMiB: number[] = [];
  for (const mib of [0, 150, 0]) {
    await target.invoke({ mib });
    await target.idle();
    const reports = [...target.output.matchAll(/\tMax Memory Used: (\d+) MB\t/g)];
    usedMiB.push(Number(reports.at(-1)![1]));
  }
  const [first = 0, second = 0, third = 0] = usedMiB;
  t.ok(first > 10 && first < 120, `${first} MiB at first`);
  t.ok(second > first + 130 && second < 512, `${second} MiB with 150 MiB more`);
  t.ok(third >= second, `the most of the environment: ${third} MiB`);
});

t.test("the environment is the platform's and the function's own", async (t) => {
  process.env.SECRET_OF_THE_DAEMON = "secret";
  t.teardown(() => delete process.env.SECRET_OF_THE_DAEMON);
  const handler = `
    const fs = require("node:fs");
    fs.writeFileSync(process.env.TMPDIR + "/kept", "");
    return { env: process.env, left: fs.readdirSync(process.env.TMPDIR) };`;
  const targets = [1, 2].map(() => functionOf(t, handler, { env: { GREETING: "hello" } }));
  const [one, two] = await Promise.all(targets.map(async (target) => answerOf(await target.invoke({}))));
  t.same(Object.keys(one.env).sort(), [
    "AWS_DEFAULT_REGION",
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_LAMBDA_INITIALIZATION_TYPE",
    "AWS_LAMBDA_LOG_GROUP_NAME",
    "AWS_LAMBDA_LOG_STREAM_NAME",
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_REGION",
    "GREETING",
    "LAMBDA_RUNTIME_DIR",
    "LAMBDA_TASK_ROOT",
    "LANG",
    "PATH",
    "TMPDIR",
    "TZ",
    "_HANDLER",
  ]);
  t.equal(one.env.PATH, process.env.PATH);
  t.same([one.left, two.left], [["kept"], ["kept"]]);
  for (const target of targets) target.destroy();
  await until("the end of the folder", () => !existsSync(one.env.TMPDIR));
});

t.test("garbage at the Runtime API is refused, and the function goes on", async (t) => {
  const handler = `
    const { request } = require("node:http");
    const ask = ({ path, body, length, isCut }) => new Promise((resolve) => {
      const url = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + path;
      const headers = length === undefined ? {} : { "Content-Length": length };
      const req = request(url, { method: "POST", headers }, (res) => {
        resolve(res.resume().statusCode);
        if (length !== undefined) req.destroy();
      });
      req.on("error", () => resolve("cut"));
      if (length === undefined) return req.end(body);
      req.write(body, () => isCut && req.destroy());
    });
    const answers = [];
    for (const row of event.rows) answers.push(await ask(row));
    return answers;`;
  const target = functionOf(t, handler, {
    onCall: async (_, payload) => ({ status: 200, body: JSON.parse(String(payload)) }),
  });
  const runtime = "/2018-06-01/runtime";
  const rows: readonly [
    row: { path: string; body: string; length?: number; isCut?: boolean },
    status: number | "cut",
  ][] = [
    [{ path: `${runtime}/init/error`, body: "no JSON" }, 400],
    [{ path: `${runtime}/init/error`, body: "null" }, 400],
    [{ path: `${runtime}/init/error`, body: "{", length: 100, isCut: true }, "cut"],
    [{ path: `${runtime}/invocation/other/response`, body: "{", length: 100 }, 400],
    [{ path: "/sandbox/invocations", body: "\0" }, 400],
    [{ path: "/sandbox/invocations", body: "{", length: 100, isCut: true }, "cut"],
    [{ path: "/other", body: "" }, 404],
  ];
  for (const when of ["at first", "again"]) {
    const actual = answerOf(await target.invoke({ rows: rows.map(([row]) => row) }));
    t.same(
      actual,
      rows.map(([, status]) => status),
      when,
    );
  }
  t.equal(target.starts, 1);
});

t.test("output is whole lines, and the last one is kept without an end", async (t) => {
  const parts: string[] = [];
  const handler = `
    const { writeSync } = require("node:fs");
    writeSync(1, "half of a line, ");
    writeSync(2, "an error\\nand an error without an end");
    writeSync(1, "its other half\\nthe last line");
    return 0;`;
  const target = functionOf(t, handler, { onOutput: (text, source) => source === "process" && parts.push(text) });
  await target.invoke({});
  await target.idle();
  target.destroy();
  const lines: string[] = await until("the last lines of both streams", () => {
    const written = parts.join("").split("\n").slice(0, -1);
    return written.length >= 4 ? written : undefined;
  });
  t.same(lines.sort(), ["an error", "and an error without an end", "half of a line, its other half", "the last line"]);
});

/** A runtime that asks each of the rows at its start, and registers once more during an event. It makes a file when it is told to end. */
const withExtension = (rows: readonly ExtensionRow[], warning: string) => `
  const { request } = require("node:http");
  const ask = (path, method = "POST", headers = {}, body = "{}") => new Promise((resolve) => {
    const req = request("http://" + process.env.AWS_LAMBDA_RUNTIME_API + path, { method, headers }, (res) => {
      let text = "";
      res.on("data", (part) => (text += part));
      res.on("end", () => resolve({ status: res.statusCode, headers: res.headers, json: text && JSON.parse(text) }));
    });
    req.end(method === "GET" ? undefined : body);
  });
  const extension = "/2020-01-01/extension/";
  const said = ({ status, json }) => [status, json.errorType ?? json.functionName];
  process.on("SIGTERM", () => {
    require("node:fs").writeFileSync(${JSON.stringify(warning)}, "");
    process.kill(process.pid, "SIGKILL");
  });
  (async () => {
    const answers = [];
    for (const row of ${JSON.stringify(rows)}) {
      answers.push(said(await ask(extension + row.path, row.method, row.headers, row.body)));
    }
    for (;;) {
      const event = await ask("/2018-06-01/runtime/invocation/next", "GET");
      const late = said(await ask(extension + "register", "POST", { "Lambda-Extension-Name": "late" }));
      const id = event.headers["lambda-runtime-aws-request-id"];
      const answer = JSON.stringify({ answers, late });
      await ask("/2018-06-01/runtime/invocation/" + id + "/response", "POST", {}, answer);
    }
  })();`;

interface ExtensionRow {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

t.test("SIGTERM comes only where an extension is registered", async (t) => {
  const named = { "Lambda-Extension-Name": "tool" };
  const rows: readonly (readonly [row: ExtensionRow, expected: readonly [status: number, said: string]])[] = [
    [{ path: "register" }, [400, "Extension.InvalidExtensionName"]],
    [{ path: "register", headers: named, body: '{"events":["SHUTDOWN"]}' }, [400, "Extension.InvalidEventType"]],
    [{ path: "event/next", method: "GET" }, [403, "Extension.InvalidExtensionIdentifier"]],
    [{ path: "register", headers: named, body: '{"events":[]}' }, [200, "app"]],
    [{ path: "register", headers: named }, [403, "Extension.AlreadyRegistered"]],
    [{ path: "other" }, [404, "NotFound"]],
  ];
  for (const [requests, late, isWarned] of [
    [rows, "Extension.AlreadyRegistered", true],
    [[], "Extension.RegistrationClosed", false],
  ] as const) {
    const [script, warning] = ["index.js", "warning"].map((name) => join(newFolder(), name)) as [string, string];
    const code = withExtension(
      requests.map(([row]) => row),
      warning,
    );
    writeFileSync(script, code);
    const target = functionOf(t, "", { command: [process.execPath, script] });
    const answer = answerOf(await target.invoke({}));
    t.same(answer, { answers: requests.map(([, expected]) => expected), late: [403, late] });
    await target.idle();
    const pid = target.pid!;
    await target.shutDown();
    await until("its end", () => !existsSync(`/proc/${pid}/environ`));
    t.equal(existsSync(warning), isWarned, isWarned ? "it may say its last words" : "killed without a word");
  }
});

t.test("a request that waits for a version that is taken away is for the next one", async (t) => {
  const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0 });
  const codeOf = (name: string) => ({
    "index.js": `exports.handler = async (event) => (event.stays ? new Promise(() => {}) : "${name}");`,
  });
  const invoke = await activeFunction(aws.state, codeOf("the first"));
  t.equal(answerOf(await invoke("{}")), "the first");
  const { operations } = aws.state.service("lambda");
  const busy = [1, 2, 3, 4].map(() => invoke('{"stays":true}'));
  await until("all environments to be busy", async () => {
    const { events } = await aws.state.service("logs").operations.FilterLogEvents({ logGroupName: "/aws/lambda/app" });
    return events.filter(({ message }) => message?.startsWith("START ")).length === 1 + busy.length;
  });
  const waiting = invoke("{}");
  // By then it waits for one of them.
  await setImmediate();
  operations.UpdateFunctionCode({ FunctionName: "app", ZipFile: zipOf(codeOf("the next")) });
  t.equal(answerOf(await waiting), "the next");
  for (const result of await Promise.all(busy)) t.equal(result.kind, "error");
  const last = invoke("{}");
  operations.DeleteFunction({ FunctionName: "app" });
  await t.rejects(last, { code: "ResourceNotFoundException" });
});

t.test("samples of the memory that take long are few", { skip: process.platform !== "linux" }, async (t) => {
  let [nowMs, samples, tick] = [0, 0, () => {}];
  const clock: Clock = {
    ...systemClock,
    // Each look at the clock is 40 ms later, and a sample is between two of them.
    monotonicMs: () => {
      nowMs += 40;
      return nowMs;
    },
    every: (_ms, act) => {
      tick = act;
      return { stop() {} };
    },
  };
  new MemoryMeter(process.pid, 0, () => void samples++, clock).start();
  for (let i = 0; i < 100; i++) {
    tick();
    await setImmediate();
  }
  t.equal(samples, 12, "one in eight");
});

/** A runtime of its own: `ask` speaks to the Runtime API, and the code is what it does. */
const runtimeOf = (code: string) => `
  const http = require("node:http");
  const base = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + "/";
  const ask = (path, method, body) =>
    new Promise((resolve) => {
      const request = http.request(base + path, { method, agent: false }, (res) => res.resume().on("end", () => resolve(res)));
      request.on("error", (error) => resolve({ statusCode: error.code })).end(body);
    });
  const next = async () => (await ask("2018-06-01/runtime/invocation/next", "GET")).headers["lambda-runtime-aws-request-id"];
  const answer = (id, said) => ask("2018-06-01/runtime/invocation/" + id + "/response", "POST", JSON.stringify(said));
  (async () => { ${code} })();`;

function runtime(t: Test, code: string, options: Partial<FunctionOptions> = {}) {
  const script = join(newFolder(), "index.js");
  writeFileSync(script, runtimeOf(code));
  return functionOf(t, "", { command: [process.execPath, script], ...options });
}

t.test("what is larger than an event is refused by the Runtime API, whatever it is", async (t) => {
  const target = runtime(
    t,
    `const large = Buffer.alloc(7 * 1024 * 1024, " ");
     const answers = [];
     for (const path of ["2018-06-01/runtime/init/error", "2020-01-01/extension/register"]) {
       answers.push((await ask(path, "POST", large)).statusCode);
     }
     answer(await next(), answers);`,
  );
  t.same(answerOf(await target.invoke({})), [413, 413]);
});

t.test("a function holds a hundred connections to its Runtime API", async (t) => {
  const target = runtime(
    t,
    `const { connect } = require("node:net");
     const [, host, port] = /([^:]+):(\\d+)/.exec(process.env.AWS_LAMBDA_RUNTIME_API);
     const id = await next();
     const all = [];
     for (let i = 0; i < 150; i++) {
       const socket = connect(Number(port), host);
       socket.on("error", () => {});
       all.push(new Promise((resolve) => socket.once("close", () => resolve(false))));
       socket.write("POST");
     }
     // Those that are left out are closed at once.
     let closed = 0;
     await new Promise((resolve) => all.forEach((one) => one.then(() => ++closed === 50 && resolve())));
     process.stdout.write("closed " + closed + "\\n", () => process.exit(4));`,
  );
  t.match(answerOf(await target.invoke({})), { errorMessage: /exit status 4/ });
  t.match(target.output, /closed 50\n/);
});

t.test("a runtime that asks for no event after its answer is started anew", async (t) => {
  const limit = new TestClock();
  const after: Clock["after"] = (ms, act, options) => (ms === 10_000 ? limit : systemClock).after(ms, act, options);
  const target = runtime(t, "answer(await next(), process.pid); setInterval(() => {}, 1000);", {
    clock: { ...systemClock, after },
  });
  const first = answerOf(await target.invoke({}));
  await until("the limit", () => limit.timers.length === 1);
  const second = target.invoke({});
  await limit.advance(9_999);
  t.ok(isThere(first), "it has ten seconds");
  await limit.advance(1);
  t.not(answerOf(await second), first);
  t.match(target.output, /the runtime did not ask for its next event within 10 s of its answer\n/);
});

t.test("a connection to the Runtime API lasts as long as the function", async (t) => {
  const script = join(newFolder(), "index.js");
  // The server ends a connection that idles, as it does while a request is answered, after the time that it announces.
  const code = `
    const http = require("node:http");
    const base = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + "/2018-06-01/runtime/invocation/";
    const agent = new http.Agent({ keepAlive: true });
    const ask = (path, method, body) =>
      new Promise((resolve) => {
        const request = http.request(base + path, { method, agent }, (res) => res.resume().on("end", () => resolve(res)));
        request.end(body);
      });
    (async () => {
      for (;;) {
        const { headers } = await ask("next", "GET");
        const { connection, "keep-alive": announced = null } = headers;
        const id = headers["lambda-runtime-aws-request-id"];
        await ask(id + "/response", "POST", JSON.stringify({ connection, announced }));
      }
    })();`;
  writeFileSync(script, code);
  const target = functionOf(t, "", { command: [process.execPath, script] });
  t.same(answerOf(await target.invoke({})), { connection: "keep-alive", announced: null });
});

t.test("a version that is taken away has time for its last words", async (t) => {
  const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0 });
  const warning = join(newFolder(), "warning");
  const register = { path: "register", headers: { "Lambda-Extension-Name": "tool" }, body: '{"events":[]}' };
  const files = {
    bootstrap: { bytes: Buffer.from(`#!${process.execPath}\n${withExtension([register], warning)}`), mode: 0o755 },
  };
  const invoke = await activeFunction(aws.state, files, { Runtime: "provided.al2023" });
  const answer = answerOf(await invoke("{}"));
  t.same(answer.answers, [[200, "app"]]);
  await aws.state.service("lambda").runner.retire("app");
  t.ok(existsSync(warning), "it was told to end");
});

t.test("a line without an end is cut at the bytes of an event, between characters", async (t) => {
  const bytes = Buffer.from("a€".repeat(1024 * 1024));
  const stream = new PassThrough();
  const parts: string[] = [];
  passOnLines(stream, (lines) => parts.push(lines));
  // Whatever a pipe has at once.
  for (let at = 0; at < bytes.length; at += 65_536) stream.write(bytes.subarray(at, at + 65_536));
  stream.end();
  await once(stream, "end");
  t.equal(parts.map((part) => part.slice(0, -1)).join(""), bytes.toString());
  t.equal(parts.length, 4);
  for (const part of parts) t.ok(Buffer.byteLength(part) <= 1024 * 1024 + 65_536);
});

t.test("an idle environment is taken down, and the next request starts another", async (t) => {
  const idleMs = 300;
  let ends = 0;
  // Only what is idle goes by the clock of the test: the function itself is a real process.
  const idle = new TestClock();
  const after: Clock["after"] = (ms, act, options) => (ms === idleMs ? idle : systemClock).after(ms, act, options);
  const clock = { ...systemClock, after };
  const target = functionOf(t, "return process.pid;", { idleMs, onIdle: () => void ends++, clock });
  const first = answerOf(await target.invoke({}));
  await until("it to be idle", () => idle.timers.length === 1);
  await idle.advance(idleMs - 1);
  const second = answerOf(await target.invoke({}));
  t.equal(second, first, "before that it goes on");
  await until("it to be idle again", () => idle.timers.length === 1);
  t.same(idle.timers, [idleMs], "the time begins with the last request");
  await idle.advance(idleMs - 1);
  t.same([ends, isThere(first)], [0, true]);
  await idle.advance(1);
  await until("the end of the process", () => !isThere(first));
  t.equal(ends, 1);
  t.not(answerOf(await target.invoke({})), first);
  t.equal(target.starts, 2);
});

/** Ends when so many processes that wait have begun; one that a shell still is to become would be frozen before. */
const untilWaiting = (marker: string, count: number) => `
  const { readdirSync, readFileSync } = require("node:fs");
  const isOne = (pid) => {
    try {
      const words = readFileSync("/proc/" + pid + "/cmdline", "utf8").split("\\0");
      return words[0] === process.execPath && words[3] === "${marker}";
    } catch {
      return false;
    }
  };
  while (readdirSync("/proc").filter(isOne).length < ${count}) await new Promise((resolve) => setTimeout(resolve, 10));`;

/** Leaves the parent, the session and the environment. */
const leavesAll = (marker: string) => `
  const leave = '(env -i setsid "$0" -e "$1" "$2" &)';
  const waits = "process.on('SIGTERM', () => {}).on('SIGHUP', () => {}); setInterval(() => {}, 1000)";
  require("node:child_process").spawn("sh", ["-c", leave, process.execPath, waits, "${marker}"], { stdio: "ignore" });`;

/** Starts one that stays in the group, one in a session of its own, and one there whose parent ends. */
const startsOthers = (marker: string, count = 3) => `
  const { spawn } = require("node:child_process");
  const wait = "setInterval(() => {}, 1000)";
  if (event.stays) await new Promise(() => {});
  spawn(process.execPath, ["-e", wait, "${marker}"], { stdio: "ignore" });
  spawn(process.execPath, ["-e", wait, "${marker}"], { stdio: "ignore", detached: true });
  const shell = 'exec "$0" -e "$1" "$2" &';
  spawn("sh", ["-c", shell, process.execPath, wait, "${marker}"], { stdio: "ignore", detached: true });
  ${untilWaiting(marker, count)}
  return process.pid;`;

t.test("nothing outlives its environment", async (t) => {
  const marker = `marker-${process.pid}-destroyed`;
  const target = functionOf(t, startsOthers(marker));
  await target.invoke({});
  t.equal(marked(marker).length, 3);
  target.destroy();
  await until("the end of all processes", () => marked(marker).length === 0);
});

t.test("nothing outlives the version of a function, whatever it leaves", async (t) => {
  const marker = `marker-${process.pid}-retired`;
  const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0 });
  const code = `exports.handler = async () => { ${leavesAll(marker)}
    ${untilWaiting(marker, 1)} };`;
  const invoke = await activeFunction(aws.state, { "index.js": code });
  await invoke("{}");
  t.equal(marked(marker).length, 1);
  await aws.state.service("lambda").runner.retire("app");
  await until("its end", () => marked(marker).length === 0);
});

for (const [state, kills, namespaces] of [
  ["idle", 0, ""],
  ["busy", 0, ""],
  // Twice: the second ends before the pause between two starts is over.
  ["guarded", 2, ""],
  ["busy", 0, "namespaces"],
] as const) {
  const also = `${kills === 0 ? "" : `, after the kill of ${kills} watchdogs`}${namespaces && ", in namespaces of their own"}`;
  t.test(`nothing outlives a daemon that is killed, with functions that are ${state}${also}`, async (t) => {
    const marker = `marker-${process.pid}-${state}${namespaces}`;
    const code = `exports.handler = async (event) => { if (!event.stays) { ${leavesAll(marker)} } ${startsOthers(marker, 4)} };`;
    const temporary = newFolder();
    const daemon = spawn(
      process.execPath,
      [join(here, "../../support/sandbox-process.js"), code, "{}", '{"stays":true}', String(kills), namespaces],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, TMPDIR: temporary },
      },
    );
    t.teardown(() => daemon.kill("SIGKILL"));
    let said = "";
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    }
    const seen = () => `${said}${daemon.exitCode === null ? "" : `exit code ${daemon.exitCode}`}`;
    await until(`a function that is ${state}`, () => said.includes(state) || daemon.exitCode !== null, seen);
    t.equal(daemon.exitCode, null, said);
    t.equal(marked(marker).length, 4);
    t.equal(readdirSync(temporary).length, 1, "one folder has all files");
    const functions = below(daemon.pid!).filter((pid) => pid !== daemon.pid && !isShell(pid));
    t.ok(functions.length > 0);
    const exited = once(daemon, "exit");
    daemon.kill("SIGKILL");
    await exited;
    await until("the end of all processes", () => marked(marker).length === 0 && !functions.some(isThere));
    await until("the end of the files", () => readdirSync(temporary).length === 0);
  });
}

t.test("which languages run where", (t) => {
  const LINUX = "is made for linux x64 and does not run on darwin arm64: use a machine or a container of linux x64";
  const rows: [NodeJS.Platform, string, RuntimeLanguage | undefined, string | undefined][] = [
    ["linux", "x64", undefined, undefined],
    ["darwin", "arm64", undefined, `an app of another language ${LINUX}`],
    ["linux", "x64", "node", undefined],
    ["linux", "x64", "static", undefined],
    ["linux", "x64", "go", undefined],
    ["linux", "x64", "crystal", undefined],
    ["linux", "x64", "python", undefined],
    ["linux", "x64", "java", undefined],
    ["darwin", "arm64", "node", undefined],
    ["darwin", "arm64", "static", undefined],
    ["darwin", "arm64", "go", `a deployment of Go ${LINUX}`],
    ["darwin", "arm64", "crystal", `a deployment of Crystal ${LINUX}`],
    ["darwin", "arm64", "python", `a deployment of Python ${LINUX}`],
    ["darwin", "arm64", "java", `a deployment of Java ${LINUX}`],
    ["linux", "arm64", "node", undefined],
    ["linux", "arm64", "go", `a deployment of Go ${LINUX.replace("darwin", "linux")}`],
    ["win32", "x64", "node", "the sandbox does not run on Windows itself: run it in WSL"],
  ];
  for (const [platform, arch, language, expected] of rows) {
    t.equal(refusalHere(platform, arch, language), expected, `${language} on ${platform} ${arch}`);
  }
  t.end();
});

t.test("which program runs a runtime", async (t) => {
  const folder = newFolder();
  const { PATH } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = [folder, PATH].join(delimiter);
  const program = (name: string, text: string) =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program("python3.98", `echo ${folder}/real; echo 3.98.1`);
  program("python3.97", "echo not installed; exit 127");
  program("python3", `echo ${folder}/other; echo 3.8.10`);
  program("java", "echo '    java.home = /opt/jdk' >&2; echo '    java.version = 25.0.1' >&2");
  const [major] = process.versions.node.split(".");
  const node = { program: process.execPath, version: process.versions.node };
  const rows = [
    [`nodejs${major}.x`, { ...node, matches: true }],
    ["nodejs98.x", { ...node, matches: false }],
    ["python3.98", { program: join(folder, "real"), version: "3.98.1", matches: true }],
    ["python3.97", { program: join(folder, "other"), version: "3.8.10", matches: false }],
    ["java25", { program: "/opt/jdk/bin/java", version: "25.0.1", matches: true }],
    ["java2", { program: "/opt/jdk/bin/java", version: "25.0.1", matches: false }],
    ["provided.al2023", undefined],
  ] as const;
  for (const [runtime, expected] of rows) {
    const language = await languageHere(runtime);
    t.same(language, expected && { runtime, ...expected }, runtime);
    if (language === undefined) continue;
    const bin = join(folder, `bin-${runtime}`);
    linkProgram(language, bin);
    const names = { nodejs: ["node"], python: ["python", "python3", runtime], java: ["java"] };
    t.same(readdirSync(bin).sort(), names[/^[a-z]+/.exec(runtime)![0] as keyof typeof names], `names of ${runtime}`);
  }
});

/** A reader of events as a runtime is one, in Python's own library. */
const PYTHON_APP = `
import json, os, platform, sys, urllib.request
api = "http://" + os.environ["AWS_LAMBDA_RUNTIME_API"] + "/2018-06-01/runtime/invocation/"
while True:
    with urllib.request.urlopen(api + "next") as event:
        id = event.headers["Lambda-Runtime-Aws-Request-Id"]
        event.read()
    answer = json.dumps({"version": platform.python_version(), "arguments": sys.argv[1:]})
    urllib.request.urlopen(api + id + "/response", answer.encode()).read()
`;

for (const [how, options] of [
  ["", {}],
  [", in namespaces of its own where it gets them", { hides: [] }],
] as const) {
  t.test(`a function of a managed runtime runs on the program that was found${how}`, async (t) => {
    const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0, ...options });
    const python = await languageHere("python3.14");
    const wrapper = { bytes: Buffer.from('#!/bin/sh\nexec python3.14 app.py "$1"\n'), mode: 0o755 };
    const invoke = await activeFunction(
      aws.state,
      { run: wrapper, "app.py": PYTHON_APP },
      { Runtime: "python3.14", Environment: { Variables: { AWS_LAMBDA_EXEC_WRAPPER: "/var/task/run" } } },
    );
    const answer = answerOf(await invoke("{}"));
    if (python === undefined) t.match(answer, { errorMessage: "nothing on this machine runs python3.14: install it" });
    else t.same(answer, { version: python.version, arguments: ["/var/lang/bin/python3.14"] });
  });
}

t.test("an account names the file that stands for the Node runtime", async (t) => {
  const file = join(newFolder(), "runtime.mjs");
  // It runs another handler than the function names.
  writeFileSync(
    file,
    `process.env._HANDLER = "other.handler";\nawait import(${JSON.stringify(pathToFileURL(nodeRuntime).href)});`,
  );
  const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0, nodeRuntime: file });
  const files = { "index.js": "exports.handler = () => 1;", "other.js": "exports.handler = () => 2;" };
  const invoke = await activeFunction(aws.state, files);
  t.equal(answerOf(await invoke("{}")), 2);
});

const link = (target: string): ZipFile => ({ bytes: Buffer.from(target), mode: 0o120777 });
type Files = Readonly<Record<string, string | ZipFile>>;

t.test("an archive stays in its folder", async (t) => {
  const rows: [name: string, archives: Files[], refused: RegExp][] = [
    ["a step up", [{ "../evil": "x" }], /^the entry \.\.\/evil is outside$/],
    ["steps up in the middle", [{ "a/../../evil": "x" }], /is outside$/],
    ["a folder above", [{ "../": "" }], /is outside$/],
    ["an absolute name", [{ "/evil": "x" }], /is outside$/],
    ["a link to above", [{ "a/evil": link("../../x") }], /^the link a\/evil leads outside$/],
    ["a link to a folder above", [{ evil: link("a/../..") }], /leads outside$/],
    ["an absolute link", [{ evil: link("/etc/passwd") }], /leads outside$/],
    ["a file below a link", [{ evil: link("b"), "evil/x": "x" }], /^the entry evil\/x is below a link$/],
    ["a link below a link", [{ evil: link("b"), "evil/c/x": link("y") }], /is below a link$/],
    [
      "a file below a link of another archive",
      [{ "b/x": "x", evil: link("b") }, { "evil/y": "y" }],
      /is below a link$/,
    ],
  ];
  for (const [name, archives, refused] of rows) {
    const outer = newFolder();
    const folder = join(outer, "code");
    mkdirSync(folder);
    const unpacking = archives.reduce(
      (last, files) => last.then(() => unpack(zipOf(files), folder)),
      Promise.resolve(),
    );
    await t.rejects(unpacking, { message: refused }, name);
    t.same(readdirSync(outer), ["code"], name);
  }
});

t.test("an archive is unpacked as it is", async (t) => {
  const folder = newFolder();
  const program = { bytes: Buffer.from("#!/bin/sh\n"), mode: 0o755 };
  await unpack(
    zipOf({ "a/b/c.txt": "first", run: program, "empty/": "", "d/link": link("../a/b"), old: link("run") }),
    folder,
  );
  await unpack(zipOf({ "a/b/c.txt": "second", old: "a file", "..name": "x" }), folder);
  t.equal(readFileSync(join(folder, "d/link/c.txt"), "utf8"), "second");
  t.equal(readFileSync(join(folder, "run"), "utf8"), "#!/bin/sh\n", "a link is replaced, not followed");
  t.equal(readFileSync(join(folder, "old"), "utf8"), "a file");
  t.same(readdirSync(folder).sort(), ["..name", "a", "d", "empty", "old", "run"]);
  t.equal(statSync(join(folder, "run")).mode & 0o777, 0o755);
  t.throws(() => readZip(Buffer.from("no archive")), { message: "no end of a zip archive" });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

const argumentsOf = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
};

const marked = (marker: string) =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(marker));

/** The watchdog, which ends on its own. */
const isShell = (pid: number) => basename(argumentsOf(String(pid))[0] ?? "") === "sh";
