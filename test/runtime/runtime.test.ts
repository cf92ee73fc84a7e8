// The app's process and the hop to it, with apps that misbehave: real processes, real connections.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer as createHttpServer,
  get,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import httpProxy from "http-proxy";
import t from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { systemClock } from "../../grammar/units/clock.ts";
import { EntryLog } from "../../runtime/entries.ts";
import type { ProxyRequest } from "../../runtime/exchange.ts";
import { headersForApp } from "../../runtime/forwarded.ts";
import { anyPort } from "../../runtime/port.ts";
import { backoffDelayMs, endedFromOutside, Supervisor } from "../../runtime/process.ts";
import { patientClock } from "../support/clock-at.ts";
import { apps, ask, askRaw, isRunning, makeProject, parseResponse, start } from "../support/runtime.ts";
import { TestClock } from "../support/test-clock.ts";
import { unreadBytes } from "../support/unread.ts";
import { until } from "../support/until.ts";

const node = process.execPath;
const crashes = join(apps, "crashes/server.mjs");
const streams = "streams/server.mjs";
const quick = { proxy: { backoff: { min: 10, max: 50 } } };

t.test("a request right after kill -9 is answered by the restarted app", async (t) => {
  // The shell stays, with the app as its child: either of them is killed in turn.
  const server = await start(t, { command: `${node} ${crashes}; exit $?`, config: quick });
  const agent = new HttpAgent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const pidOfApp = () =>
    new Promise<number>((resolve, reject) => {
      get({ port: server.port, agent }, async (res) => {
        const body = (await res.toArray()).join("");
        if (res.statusCode === 200) resolve(Number(body));
        else reject(new Error(`${res.statusCode} ${body}`));
      }).on("error", reject);
    });
  let pid = await pidOfApp();
  for (let round = 1; round <= 20; round++) {
    const shell = server.entries.findLast((entry) => entry.message.startsWith("app listening"))!.fields.pid as number;
    const killed = round % 2 === 0 ? shell : pid;
    t.not(shell, pid, "the shell and the app are two processes");
    killNow(killed);
    const next = await pidOfApp();
    t.not(next, pid, `round ${round}: another process answers`);
    t.notOk(isRunning(pid), "nothing of the old one lives");
    pid = next;
  }
  const exits = server.entries.filter((entry) => entry.message === "app exited");
  t.equal(exits.length, 20);
  t.match(exits[0]!.fields, { code: 137, uptime: Number });
  t.match(exits[1]!.fields, { signal: "SIGKILL" });
  t.equal(server.entries.filter((entry) => entry.message === "app listening again").length, 20);
  t.equal(server.entries.filter((entry) => entry.fields.status === 200).length, 21);
});

t.test("a request that brings the app down never runs twice", async (t) => {
  const directory = makeProject();
  t.teardown(() => rmSync(directory, { recursive: true }));
  const COUNT = join(directory, "count");
  const server = await start(t, { app: "crashes/server.mjs", env: { COUNT }, config: quick, clock: patientClock });
  const runs = (what: string) =>
    readFileSync(COUNT, "utf8")
      .split("\n")
      .filter((line) => line === what).length;
  const rows = [
    { path: "/throw", method: "GET", runs: 1, app: "exited" },
    { path: "/exit", method: "GET", runs: 1, app: "exited" },
    { path: "/exit-cleanly", method: "PUT", runs: 1, app: "exited" },
    { path: "/abort", method: "GET", runs: 1, app: "exited" },
    { path: "/reset-then-exit", method: "GET", runs: 1, app: "exited" },
    { path: "/kill", method: "POST", runs: 1, app: "was killed" },
    { path: "/kill", method: "PATCH", runs: 1, app: "was killed" },
    // A SIGKILL looks the same from any sender: an idempotent request is tried once more, and only once.
    { path: "/kill", method: "DELETE", runs: 2, app: "was killed" },
  ];
  for (const row of rows) {
    const before = server.entries.length;
    const response = await ask(server.port, row);
    t.equal(response.status, 502, `${row.method} ${row.path}`);
    t.equal(runs(`${row.method} ${row.path}`), row.runs, "runs");
    const entry = server.entries.slice(before).find(({ message }) => message === "app broke the connection");
    t.match(entry, { level: "error", fields: { method: row.method, path: row.path, app: row.app } });
    t.equal((await ask(server.port, { path: "/" })).status, 200, "the next request is served");
  }
  t.equal((await ask(server.port, { path: "/answer-then-exit" })).body.toString(), "answered");
  await until("the exit is seen", () => server.entries.filter(({ fields }) => fields.code === 3).length === 1);
  t.equal((await ask(server.port, { path: "/" })).status, 200);
});

t.test("an early exit is reported at once, with what the app wrote", async (t) => {
  const clock = new TestClock();
  const server = await start(t, { app: "processes/early-exit.mjs", config: quick, clock });
  const answer = ask(server.port, { path: "/" });
  for (const restarts of [1, 2]) {
    await until(
      "a restart",
      () => server.entries.filter(({ message }) => message === "app restarts").length === restarts,
    );
    await clock.advance(quick.proxy.backoff.max);
  }
  t.equal((await answer).status, 503);
  t.ok(clock.monotonicMs() < 5_000, "long before listen_timeout");
  const failures = () => server.entries.filter(({ message }) => message === "app exited before it listened");
  t.equal(failures().length, 3, "attempts");
  t.match(failures()[0], {
    level: "error",
    fields: { code: 4, stage: "development", version: "development" },
  });
  t.same([...(failures()[0]!.fields.output as string[])].sort(), ["DATABASE_URL is not set", "reading the settings"]);
  const gaveUp = server.entries.find(({ message }) => message === "app unavailable, the next request restarts it");
  t.match(gaveUp?.fields, { attempts: 3, reason: "the app exited before it listened (exit code 4)" });

  t.equal((await ask(server.port, { path: "/" })).status, 503);
  t.equal(failures().length, 4, "one more try with the next request");
  const delays = server.entries.filter(({ message }) => message === "app restarts").map(({ fields }) => fields.delay);
  t.same(delays, [10, 20]);
});

t.test("an app that comes back is served again after the supervisor gave up", async (t) => {
  const server = await start(t, {
    command: `test -e ready && exec ${node} ${crashes}; exit 1`,
    config: quick,
  });
  t.equal((await ask(server.port, { path: "/" })).status, 503);
  writeFileSync(join(server.directory, "ready"), "");
  t.equal((await ask(server.port, { path: "/" })).status, 200);
});

t.test("a command that does not exist", async (t) => {
  const server = await start(t, { command: "./no-such-server", config: quick });
  t.equal((await ask(server.port, { path: "/" })).status, 503);
  const entry = await server.entry(({ message }) => message === "app exited before it listened");
  t.match(entry.fields, { code: 127, command: "./no-such-server" });
  t.match((entry.fields.output as string[]).join("\n"), /not found/);
});

t.test("in development a 503 says why the app is not there, in production it does not", async (t) => {
  const commands: [string, RegExp][] = [
    ["./no-such-server", /exited before it listened \(exit code 127\)/],
    [`echo '<b>'; exit 3`, /exited before it listened \(exit code 3\)/],
  ];
  for (const [command, reason] of commands) {
    for (const isDevelopment of [true, false]) {
      const server = await start(t, { command, config: quick, isDevelopment });
      for (const accept of ["*/*", "application/json", "text/html"]) {
        const { status, body } = await ask(server.port, { path: "/", headers: { Accept: accept } });
        t.equal(status, 503);
        t.match(body.toString(), /the app is not available|The app is not available|went wrong/i);
        t.equal(reason.test(body.toString()), isDevelopment, `${accept}: ${body}`);
      }
    }
  }
});

t.test("an app that ends while it answers: the answer says how", async (t) => {
  const rows = [
    ["/exit", "the app exited (exit code 7)"],
    ["/exit-cleanly", "the app exited (exit code 0)"],
    ["/abort", /^the app exited \((?:SIGABRT|exit code 134)\)$/],
    // It lives on for a moment, as apps with work to finish do.
    ["/reset-then-exit", "the app exited (exit code 9)"],
  ] as const;
  for (const isDevelopment of [true, false]) {
    const server = await start(t, { app: "crashes/server.mjs", config: quick, isDevelopment, clock: patientClock });
    for (const [path, reason] of rows) {
      const seen = server.entries.length;
      const { status, body } = await ask(server.port, { method: "POST", path, headers: { Accept: "text/plain" } });
      t.equal(status, 502, path);
      const entry = server.entries.slice(seen).find(({ message }) => message === "app broke the connection");
      t.match(entry?.fields, { reason, app: "exited" }, path);
      const said = `the app broke the connection: ${entry?.fields.reason}`;
      t.equal(body.toString().includes(said), isDevelopment, `${path}: ${body}`);
    }
  }
});

t.test("an app that never listens", async (t) => {
  const server = await start(t, {
    app: "processes/never-listens.mjs",
    config: { proxy: { listen_timeout: 1, backoff: { attempts: 1 } } },
  });
  const response = await ask(server.port, { path: "/", headers: { Accept: "application/json" } });
  t.equal(response.status, 503);
  t.match(JSON.parse(response.body.toString()), { status: 503, error: "Service Unavailable", id: String });
  const entry = await server.entry(({ message }) => message === "app did not listen on PORT in time");
  t.match(entry.fields, { timeout: 1000, output: ["thinking"] });
});

t.test(
  "an answer that breaks off is an error of its entry, with the reason; the status is what was sent",
  async (t) => {
    const server = await start(t, { app: streams, isDevelopment: true });
    const ended = (path: string) =>
      server.entry(({ message, fields }) => message === "response" && fields.path === path);
    const rows = [
      { path: "/half", headers: {} },
      { path: "/half-chunked", headers: {} },
      { path: "/half-chunked", headers: { "Accept-Encoding": "br" } },
    ];
    for (const { path, headers } of rows) {
      const response = await ask(server.port, { path, headers });
      t.match(response, { status: 200, cut: true }, path);
      const { level, fields } = await ended(path);
      t.match({ level, ...fields }, { level: "error", status: 200, reason: /the app closed the connection/ }, path);
      server.entries.length = 0;
    }

    // A client that leaves is no failure of the app.
    const client = connect(server.port, "127.0.0.1");
    client.write("GET /trickle HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(client, "data");
    client.destroy();
    const left = await ended("/trickle");
    t.match(left, { level: "info", fields: { status: 200 } });
    t.notOk("reason" in left.fields);

    for (const { path, reason } of [
      { path: "/odd-status", reason: "the status 42" },
      { path: "/odd-header", reason: "a control character in a header" },
      { path: "/nonsense", reason: "the first line is not a status line" },
    ]) {
      const answer = await ask(server.port, { path });
      t.equal(answer.status, 502);
      t.match(answer.body.toString(), `the app broke the connection: ${reason}`, "who develops the app sees why");
    }
    const deployed = await start(t, { app: streams });
    t.match(
      (await ask(deployed.port, { path: "/nonsense" })).body.toString(),
      /the app broke the connection \(request/,
    );
  },
);

t.test("an answer that breaks off while an error page or an injected file is read brings nothing down", async (t) => {
  const server = await start(t, {
    app: "streams/breaks-off.mjs",
    config: { inject: { head: [{ type: "inline script", value: "head.js" }] } },
    files: { "head.js": "let head;" },
  });
  const seen = new Set<string>();
  for (const path of ["/404", "/200", "/404?gzip", "/200?gzip"]) {
    for (let turns = 0; turns < 40; turns++) {
      const [status, query = ""] = path.split("?");
      const answer = await ask(server.port, {
        path: `${status}/${turns}?${query}`,
        headers: { Accept: "text/html", "Accept-Encoding": "gzip" },
      }).catch((error: Error) => error);
      // A page of ours, the beginning of the app's, or nothing of it: but always an end, and no second one.
      seen.add(answer instanceof Error ? answer.message : `${answer.status} ${answer.cut ? "cut" : "whole"}`);
    }
  }
  t.notMatch([...seen].join(), /no answer within/);
  t.match([...seen].join(), /cut/);

  // The client leaves instead.
  for (let turns = 0; turns < 40; turns++) {
    const client = connect(server.port, "127.0.0.1");
    client.write("GET /404/1000 HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n");
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    client.destroy();
  }
  t.equal((await ask(server.port, { path: "/" })).status, 200);
});

t.test("a 504 that the client asked for is a warning in all its entries", async (t) => {
  const server = await start(t, { app: streams });
  t.equal((await ask(server.port, { path: "/hang", headers: { "X-Tool-Timeout": "0.001" } })).status, 504);
  const { level } = await server.entry(({ message }) => message === "response");
  t.equal(level, "warn");
  t.match(
    server.entries.find(({ message }) => message === "request timed out"),
    {
      level: "warn",
      fields: { timeout: 1000, asked_by: "X-Tool-Timeout" },
    },
  );
  t.notOk(server.entries.some((entry) => entry.level === "error"));
});

t.test("an app that listens elsewhere: on which ports, and what to do", async (t) => {
  const config = { proxy: { listen_timeout: 1, backoff: { attempts: 1 } } };
  const apart = await anyPort();
  const other = await anyPort();
  const listen = (where: string) => `require("node:http").createServer().listen(${where});`;
  const rows = [
    { code: listen(`${apart}, "127.0.0.1"`), listens: [apart] },
    // A child of the app's, and IPv6.
    {
      code: `require("node:child_process").fork("child.cjs"); ${listen(`${apart}, "127.0.0.1"`)}`,
      listens: [apart, other].sort((a, b) => a - b),
    },
    { code: `setInterval(() => {}, 1000);`, listens: undefined },
  ];
  for (const { code, listens } of rows) {
    const files = { "app.cjs": code, "child.cjs": listen(`${other}, "::1"`) };
    const server = await start(t, { command: `exec ${node} app.cjs`, config, files });
    t.equal((await ask(server.port, { path: "/" })).status, 503);
    const { fields } = await server.entry(({ message }) => message === "app did not listen on PORT in time");
    t.same(fields.listens, listens);
    const hint = listens && `it listens on ${listens.join(", ")}: let it read PORT from its environment`;
    t.equal(fields.hint, hint);
    const gaveUp = await server.entry(({ message }) => message.startsWith("app unavailable"));
    t.equal(gaveUp.fields.reason, `the app did not listen on PORT within 1000 ms${hint ? `; ${hint}` : ""}`);
    await server.close();
  }
});

t.test("an app that listens elsewhere for a second is told so, long before the time to listen is over", async (t) => {
  const [apart, inspected, first] = [await anyPort(), await anyPort(), await anyPort()];
  const listen = (port: number | string, address = "127.0.0.1") =>
    `require("node:http").createServer().listen(${port}, "${address}", () => console.log("listens " + process.pid));`;
  const later = (when: string) => `process.on("SIGUSR2", () => { ${when} });`;
  const rows: Record<string, { code: string; flag?: string; hint?: string; listensAt?: number }> = {
    "a port of its own": {
      code: listen(apart),
      hint: `it listens on ${apart}: let it read PORT from its environment`,
    },
    "PORT, at another address": {
      code: listen("process.env.PORT", "127.0.0.2"),
      hint: "it listens on another address: let it listen on 127.0.0.1 or on all addresses",
    },
    "a debugger's": { code: listen(inspected), flag: `--inspect=127.0.0.1:0 ` },
    none: { code: 'console.log("listens nowhere"); setInterval(() => {}, 1000);' },
    "a port of its own, and PORT half a second later": {
      code: `${listen(first)} ${later(listen("process.env.PORT"))}`,
      listensAt: 500,
    },
  };
  const message = "app listens, but not on PORT";
  for (const [name, { code, flag = "", hint, listensAt }] of Object.entries(rows)) {
    const clock = new TestClock();
    const config = { proxy: { listen_timeout: 25, backoff: { attempts: 1 } } };
    const server = await start(t, {
      command: `exec ${node} ${flag}app.cjs`,
      config,
      files: { "app.cjs": code },
      clock,
    });
    const { message: said } = await server.entry((one) => one.message.startsWith("listens "));
    const seen = () => server.entries.filter((one) => one.message === message);
    const begunMs = clock.monotonicMs();
    // Each look at the ports asks the system, and answers after some turns of the loop.
    while (clock.monotonicMs() - begunMs < 2_500) {
      await clock.advance(10);
      if (listensAt !== undefined && clock.monotonicMs() - begunMs === listensAt) {
        process.kill(Number(said.slice("listens ".length)), "SIGUSR2");
        await until("PORT", async () => {
          await clock.advance(1);
          return server.entries.some((one) => one.message === "app listening");
        });
      }
    }
    t.same(
      seen().map(({ level, fields }) => [level, fields.hint]),
      hint === undefined ? [] : [["warn", hint]],
      name,
    );
    t.notOk(server.entries.some((one) => one.message === "app did not listen on PORT in time"));
  }
});

t.test("requests wait for an app that is slow to listen, and their clients may leave", async (t) => {
  const server = await start(t, { app: "processes/slow-to-listen.mjs", config: { proxy: { timeout: 1 } } });
  const impatient = connect(server.port, "127.0.0.1");
  impatient.write("GET /impatient HTTP/1.1\r\nHost: x\r\n\r\n");
  const responses = Promise.all(["/1", "/2"].map((path) => ask(server.port, { path })));
  await server.entry(({ fields }) => fields.path === "/impatient");
  impatient.destroy();
  for (const response of await responses) t.equal(`${response.status} ${response.body}`, "200 at last");
  const left = await server.entry(({ message, fields }) => message === "response" && fields.path === "/impatient");
  t.match(left, { level: "warn", fields: { status: 499, size: 0 } });
});

t.test("the whole group is ended", async (t) => {
  const server = await start(t, { app: "processes/grandchildren.mjs", config: quick });
  const pids = async () => (await ask(server.port, { path: "/" })).body.toString().split(" ").map(Number);
  const [child, grandchild] = await pids();
  killNow(child!);
  const after = await pids();
  t.not(after[1], grandchild, "the grandchild that held the port answers no more");
  t.notOk(isRunning(grandchild!));
  await server.close();
  for (const pid of after) t.notOk(isRunning(pid), "nor does anything outlive the server");
});

t.test("an app that ignores SIGTERM is killed", async (t) => {
  // Meanwhile: an app may be silent for longer than its idle connections are kept.
  const echo = await start(t, { app: "echo/server.mjs" });
  const patient = ask(echo.port, { path: "/?delay=2500&body=at%20last" });
  const clock = new TestClock();
  const server = await start(t, { app: "processes/stubborn.mjs", clock });
  const pid = Number((await polled(clock, ask(server.port, { path: "/" }))).body);
  const closed = server.close();
  await server.entry(({ message }) => message === "no");
  await clock.advance(4_999);
  t.ok(isRunning(pid), "not before five seconds");
  await clock.advance(1);
  await until("killed after five seconds", () => !isRunning(pid));
  await polled(clock, closed);
  t.ok(
    server.entries.some(({ message }) => message === "no"),
    "it was asked",
  );
  t.equal((await patient).body.toString(), "at last");
});

t.test("shutdown_timeout is the time from SIGTERM to SIGKILL, at the end and at a restart", async (t) => {
  const config = { proxy: { shutdown_timeout: 1 } };
  const clock = new TestClock();
  const server = await start(t, { app: "processes/stubborn.mjs", config, clock });
  const pidOfApp = async () => Number((await polled(clock, ask(server.port, { path: "/" }))).body);
  let requests = 0;
  const isOneSecond = async (pid: number, ended: Promise<unknown>, what: string) => {
    requests++;
    await until("it is asked", () => server.entries.filter(({ message }) => message === "no").length === requests);
    await clock.advance(999);
    t.ok(isRunning(pid), `${what}: not before one second`);
    await clock.advance(1);
    await until(`${what}: after one second`, () => !isRunning(pid));
    await polled(clock, ended);
  };
  const pid = await pidOfApp();
  const env = { PATH: process.env.PATH, CHANGED: "1" };
  await isOneSecond(pid, server.change({ ...server.options, env }), "killed for a restart");
  const next = await pidOfApp();
  t.not(next, pid);
  await isOneSecond(next, server.close(), "killed at the end");
});

t.test("closing drains: the app's own farewell is heard", async (t) => {
  // A shell in front dies of SIGTERM at once; the app below it still has its time.
  const server = await start(t, { command: `${node} ${join(apps, "processes/drains.mjs")}; exit $?` });
  t.equal((await ask(server.port, { path: "/" })).status, 200);
  await server.close();
  t.ok(server.entries.some(({ message }) => message === "drained"));
  t.notOk(
    server.entries.some(({ message }) => message === "app exited"),
    "a stop is no crash",
  );
});

t.test("closing drains: requests end, no new ones are taken, streams are cut", async (t) => {
  const clock = new TestClock();
  const server = await start(t, { app: "crashes/server.mjs", clock });
  await polled(clock, ask(server.port, { path: "/" }));
  const slow = ask(server.port, { path: "/slow", headers: { Connection: "keep-alive" } });
  await server.entry(({ fields }) => fields.path === "/slow");
  const closed = server.close();
  await t.rejects(ask(server.port, { path: "/" }), { code: "ECONNREFUSED" });
  t.equal((await slow).status, 200);
  // No time passes but that of looking whether the app has ended.
  await polled(clock, closed);
  t.pass("the kept-alive connection is not waited for");

  const streaming = await start(t, { app: streams, clock });
  await polled(clock, ask(streaming.port, { path: "/aborted" }));
  const events = connect(streaming.port, "127.0.0.1");
  events.write("GET /sse HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(events, "data");
  await polled(clock, streaming.close());
  t.pass("an event stream is not waited for");
});

t.test("closing does not wait for an app that does not come", async (t) => {
  const clock = new TestClock();
  const server = await start(t, { app: "processes/never-listens.mjs", clock });
  const waiting = ask(server.port, { path: "/" });
  await server.entry(({ message }) => message === "request");
  const closed = server.close();
  // No time passes: nothing but the close ends its wait.
  t.equal((await waiting).status, 503);
  // Here it does, by looking whether the app has ended.
  await polled(clock, closed);
});

t.test("nothing lives on when the tool itself is killed with -9", async (t) => {
  const serve = join(dirname(fileURLToPath(import.meta.url)), "../support/serve.js");
  for (const app of ["processes/stubborn.mjs", "processes/grandchildren.mjs"]) {
    const tool = spawn(node, [serve, `${node} ${join(apps, app)}; exit $?`], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    tool.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await until("the tool serves", () => /^\d+$/m.test(output));
    const response = await ask(Number(/^\d+$/m.exec(output)![0]), { path: "/" });
    const pids = response.body.toString().split(" ").map(Number);
    t.ok(pids.every(isRunning), `${app}: ${pids}`);
    tool.kill("SIGKILL");
    await until("the app is gone", () => !pids.some(isRunning));
  }
  t.end();
});

t.test("what the app finds in its environment", async (t) => {
  const print = `${node} -e 'const {PORT, TOOL_STAGE, NODE_ENV, PATH, X} = process.env; require("http").createServer((q, r) => r.end(JSON.stringify({PORT, TOOL_STAGE, NODE_ENV, PATH, X, cwd: process.cwd()}))).listen(PORT)'`;
  const server = await start(t, { command: print, env: { X: "1", PORT: "1", TOOL_STAGE: "other" } });
  const seen = JSON.parse((await ask(server.port, { path: "/" })).body.toString());
  t.match(seen, { TOOL_STAGE: "development", NODE_ENV: "development", X: "1", cwd: server.directory });
  t.equal(seen.PATH, `${join(server.directory, "node_modules/.bin")}:${process.env.PATH}`);
  t.ok(Number(seen.PORT) > 1);
  const own = await start(t, { command: print, env: { NODE_ENV: "test" } });
  t.equal(JSON.parse((await ask(own.port, { path: "/" })).body.toString()).NODE_ENV, "test");
});

t.test("a port for an app is free, and none that the system gives to connections", async (t) => {
  // Other processes may take ports meanwhile: after `first`, each of these takes random ports.
  const from = (first: number) => () => {
    const chance = first;
    first = Math.random();
    return chance;
  };
  for (const chance of [0, 0.5, 1 - 2 ** -53]) {
    const port = await anyPort(from(chance));
    t.ok(port >= 20_000 && port < 32_000, `${port}`);
  }
  const other = createHttpServer().listen(await anyPort(), "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const taken = (port + 0.5 - 20_000) / 12_000;
  t.not(await anyPort(from(taken)), port);
  t.ok(await anyPort(() => taken), "where there is none, one of the system's");
});

t.test("a port that something else took", async (t) => {
  const other = createHttpServer((_req, res) => res.end("a stranger")).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;

  const written: Entry[] = [];
  const ports = [port, Number.NaN, 0];
  const supervisor = new Supervisor({
    command: `exec ${node} ${crashes}`,
    directory: apps,
    env: { PATH: process.env.PATH },
    stage: "development",
    listenTimeoutMs: 5_000,
    shutdownTimeoutMs: 5_000,
    backoff: { min: 1, max: 1, factor: 1, attempts: 3, jitter: false },
    output: undefined,
    entries: new EntryLog({ log: (entries) => written.push(...entries), clock: systemClock, stage: "", version: "" }),
    clock: systemClock,
    choosePort: async () => {
      const next = ports.shift();
      if (Number.isNaN(next)) throw new Error("too many open files");
      return next || anyPort();
    },
  });
  supervisor.start();
  t.teardown(() => supervisor.stop());
  for (const ask of [supervisor.upstream, supervisor.firstUpstream]) {
    const gone = ask.call(supervisor, AbortSignal.abort(new Error("the client left before")));
    await t.rejects(Promise.resolve(gone), { message: "the client left before" }, "at once, not when the app listens");
  }
  const upstream = await supervisor.upstream(new AbortController().signal);
  t.not(upstream.port, port);
  await until("the start is written", () => written.some(({ message }) => /^app listening/.test(message)));
  t.same(
    written.map(({ message }) => message),
    ["app could not be started", "app restarts", "app listening again"],
  );

  const { serve } = await import("../../runtime/index.ts");
  const { configOf } = await import("../support/runtime.ts");
  const options = { config: configOf({}), directory: apps, stage: "s", version: "v", env: {}, log: () => {} };
  await t.rejects(serve({ ...options, host: "127.0.0.1", port }), { code: "EADDRINUSE" }, "the proxy's own port");
});

t.test("backoff", (t) => {
  const backoff = { min: 100, max: 500, factor: 2, attempts: 3, jitter: false };
  const delays = (more: object, random = () => 0.5) =>
    [0, 1, 2, 3, 400].map((n) => backoffDelayMs({ ...backoff, ...more }, n, random));
  t.same(delays({}), [100, 200, 400, 500, 500]);
  t.same(delays({ factor: 1 }), [100, 100, 100, 100, 100]);
  t.same(delays({ jitter: true }), [100, 150, 250, 300, 300]);
  t.same(
    delays({ jitter: true }, () => 0),
    [100, 100, 100, 100, 100],
  );
  const exit = (code: number | null, signal: NodeJS.Signals | null = null) => endedFromOutside({ code, signal });
  t.same([exit(null, "SIGKILL"), exit(null, "SIGTERM"), exit(137), exit(143)], [true, true, true, true]);
  t.same([exit(0), exit(1), exit(null, "SIGSEGV"), exit(134)], [false, false, false, false]);
  t.end();
});

t.test("an event stream's first byte comes at once, also where it is only the head", async (t) => {
  const clock = new TestClock();
  const server = await start(t, { app: streams, config: { proxy: { timeout: 1 } }, clock });
  await polled(clock, ask(server.port, { path: "/aborted" }));
  const stream = connect(server.port, "127.0.0.1");
  t.teardown(() => stream.destroy());
  stream.write("GET /sse HTTP/1.1\r\nHost: x\r\n\r\n");
  let seen = "";
  stream.on("data", (chunk) => {
    seen += chunk;
  });
  await until("the first event", () => seen.includes("data: first"));
  const quiet = connect(server.port, "127.0.0.1");
  t.teardown(() => quiet.destroy());
  quiet.write("GET /quiet-sse HTTP/1.1\r\nHost: x\r\n\r\n");
  const [head] = await once(quiet, "data");
  t.match(String(head), /^HTTP\/1\.1 200 OK\r\n/);
  await clock.advance(1_200);
  t.equal((await ask(server.port, { path: "/aborted" })).body.toString(), "0", "nor does the proxy leave the app");
  t.notOk(stream.destroyed || stream.readableEnded, "proxy.timeout does not end a stream that has begun");
});

t.test("a client that leaves takes its request to the app along", async (t) => {
  const server = await start(t, { app: streams });
  t.equal((await ask(server.port, { path: "/aborted" })).body.toString(), "0");
  for (let i = 0; i < 5; i++) {
    for (const path of ["/hang", "/sse"]) {
      const before = server.entries.length;
      const client = connect(server.port, "127.0.0.1");
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await server.entry((entry) => entry.fields.path === path && server.entries.indexOf(entry) >= before);
      if (path === "/sse") await once(client, "data");
      else await new Promise((done) => setTimeout(done, 30));
      client.destroy();
    }
  }
  const aborted = async () => Number((await ask(server.port, { path: "/aborted" })).body);
  await until("all ten upstream requests are closed", async () => (await aborted()) === 10);
  t.equal(await aborted(), 10);
});

t.test("what an app has written goes through compression at once, and a client that leaves is noticed", async (t) => {
  const server = await start(t, { app: streams });
  for (const [coding, decoder] of [
    ["gzip", createGunzip()],
    ["br", createBrotliDecompress()],
  ] as const) {
    const request = get({ port: server.port, path: "/trickle", headers: { "Accept-Encoding": coding } });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    t.equal(response.headers["content-encoding"], coding);
    const [first] = await once(response.pipe(decoder), "data");
    t.equal(String(first), "<p>first</p>");
    response.on("error", () => {});
    request.destroy();
  }
  const aborted = async () => Number((await ask(server.port, { path: "/aborted" })).body);
  await until("both upstream requests are closed", async () => (await aborted()) === 2);
});

t.test("answers that break off", async (t) => {
  const server = await start(t, { app: streams });
  for (const path of ["/half", "/half-chunked"]) {
    const response = await ask(server.port, { path });
    t.equal(response.body.toString(), "only this", path);
    t.equal(response.cut, true, "looks cut to the client too");
  }
  const half = await ask(server.port, { path: "/half-chunked", headers: { "Accept-Encoding": "gzip" } });
  t.equal(half.cut, true, "compressed as well");
  for (const path of ["/half-head", "/nonsense", "/odd-status", "/odd-header"]) {
    t.equal((await ask(server.port, { path })).status, 502, path);
  }
  t.equal((await ask(server.port, { path: "/odd-reason" })).body.toString(), "ok");
  const resets = async () => Number((await ask(server.port, { path: "/resets" })).body);
  t.equal(await resets(), 1, "nothing is sent again after a part of an answer");
  t.equal((await ask(server.port, { path: "/reset" })).status, 502);
  t.equal(await resets(), 3, "an idempotent request to a living app is sent once more");
  t.equal((await ask(server.port, { path: "/reset", method: "POST" })).status, 502);
  t.equal((await ask(server.port, { path: "/reset", method: "PATCH" })).status, 502);
  t.equal(await resets(), 5, "another is not");
  t.equal((await ask(server.port, { path: "/reset", method: "PUT", body: "x".repeat(1000) })).status, 502);
  t.equal(await resets(), 7, "a small body is sent again");
});

t.test("what is no HTTP, behind and inside of requests that are", async (t) => {
  const server = await start(t, { app: "echo/server.mjs" });
  const head = "Host: x\r\n";
  const slow = `GET /slow?delay=200&body=slow HTTP/1.1\r\n${head}\r\n`;
  const upload = `POST /upload HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`;
  await ask(server.port, { path: "/" });
  const both = await raw(server.port, `${slow}GARBAGE\r\n\r\n${slow}`);
  t.match(both, /^HTTP\/1\.1 200 OK.*slow.*HTTP\/1\.1 400 Bad Request.*400 Bad Request\n$/s, "in turn");
  t.equal(both.match(/HTTP\/1\.1 /g)!.length, 2, "nothing behind it is read");
  const host = await raw(server.port, `GET /h HTTP/1.1\r\n${head}${head}\r\n${slow}`);
  t.equal(host.match(/HTTP\/1\.1 /g)!.length, 1, "nor behind two Hosts");

  const seen = (path: string) => server.entry(({ message, fields }) => message === "response" && fields.path === path);
  t.match(await raw(server.port, `${upload}zz\r\n`), /^HTTP\/1\.1 400 Bad Request/);
  t.match(await seen("/upload"), { level: "warn", fields: { status: 400, size: 0 } });

  // A client that never closes its end does not keep the connection.
  for (const text of ["GARBAGE\r\n\r\n", "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n", `${upload}zz\r\n`]) {
    const stubborn = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
    stubborn.on("error", () => {});
    stubborn.write(text);
    await once(stubborn.resume(), "end");
    const isCut = () => stubborn.closed || !stubborn.write("x");
    await until("the connection is cut", isCut);
  }

  const client = connect(server.port, "127.0.0.1");
  client.write(["/one", "/two"].map((path) => slow.replace("/slow", path)).join(""));
  await server.entry(({ fields }) => fields.path === "/two");
  client.destroy();
  for (const path of ["/one", "/two"])
    t.match(await seen(path), { fields: { status: 499 } }, `${path} lost its client`);
});

t.test("targets with raw bytes, between others on one connection and in several packets", async (t) => {
  const server = await start(t, { app: "echo/server.mjs" });
  const urls = (answers: string) =>
    [...answers.matchAll(/"method":"([A-Z]+)","url":"([^"]*)"/g)].map(([, , url]) => url);
  const head = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const last = "Connection: close\r\n";
  const rows: { name: string; parts: string[]; urls?: string[]; status?: RegExp }[] = [
    {
      name: "behind and before others, answered in turn",
      parts: [`${head("/1?delay=100")}${head("/\xe9?2")}${head("/3")}${head("/\xc3\xa9/4", last)}`],
      urls: ["/1?delay=100", "/%E9?2", "/3", "/%C3%A9/4"],
    },
    {
      name: "the line's end comes later",
      parts: ["GET /\xe9", "\xe8?x HTTP/1.1\r\nHos", `t: x\r\n${last}\r\n`],
      urls: ["/%E9%E8?x"],
    },
    { name: "the headers come later", parts: ["GET /\xe9 HTTP/1.1\r\n", `Host: x\r\n${last}\r\n`], urls: ["/%E9"] },
    {
      name: "and then no HTTP",
      parts: [`${head("/\xe9")}GARBAGE\r\n\r\n`],
      urls: ["/%E9"],
      status: /400 Bad Request\n$/,
    },
    {
      name: "a line without end",
      parts: ["GET /\xe9", ...Array.from({ length: 40 }, () => "\xe9".repeat(1000))],
      urls: [],
      status: /^HTTP\/1\.1 4/,
    },
    // Bytes that were read of the line before cannot be had from the parser.
    {
      name: "the line begins in an earlier packet",
      parts: ["GET /caf", `\xe9 HTTP/1.1\r\nHost: x\r\n\r\n`],
      urls: [],
      status: /^HTTP\/1\.1 400 /,
    },
  ];
  for (const { name, parts, urls: expected, status } of rows) {
    const socket = connect({ host: "127.0.0.1", port: server.port, noDelay: true });
    const seen: Buffer[] = [];
    socket.on("data", (part) => seen.push(part)).on("error", () => {});
    await once(socket, "connect");
    for (const part of parts) {
      socket.write(part, "latin1");
      // Otherwise two may be read as one.
      await until(
        "the part to be read",
        () => socket.closed || (socket.writableLength === 0 && unreadBytes(socket) === 0),
      );
    }
    if (!socket.closed) await once(socket, "close");
    const answers = Buffer.concat(seen).toString("latin1");
    t.same(urls(answers), expected, name);
    if (status !== undefined) t.match(answers, status, name);
  }
  const cut = connect(server.port, "127.0.0.1");
  cut.end("GET /\xe9", "latin1");
  await once(cut.resume(), "close");
  t.equal((await ask(server.port, { path: "/alive?body=yes" })).body.toString(), "yes");
});

t.test("a connection that ends before its request does is no failure of anybody", async (t) => {
  const server = await start(t, { config: { type: "static" }, files: { "index.html": "home" } });
  for (const text of ["G", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nHo"]) {
    const before = server.entries.length;
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.end(text);
    socket.resume();
    const fresh = () => server.entries.slice(before);
    await until("an entry", () => fresh().length > 0);
    t.match(
      fresh(),
      [{ level: "debug", message: "incomplete request", fields: { status: 499, ip: "127.0.0.1" } }],
      text,
    );
    t.equal(fresh().length, 1);
    if (!socket.closed) await once(socket, "close");
  }
  const quiet = connect(server.port, "127.0.0.1");
  quiet.end();
  await once(quiet.resume(), "close");
  // A request whose headers came is another matter.
  const echo = await start(t, { app: "echo/server.mjs" });
  const upload = connect(echo.port, "127.0.0.1");
  upload.end("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  await once(upload.resume(), "close");
  await echo.entry(({ message }) => message === "malformed request");
  t.notOk(echo.entries.some(({ message }) => message === "incomplete request"));
  t.equal(server.entries.length, 3);
});

t.test("an app that compares tags as texts gets the one that it gave", async (t) => {
  const code = `
    const seen = [];
    require("node:http").createServer((req, res) => {
      const [tag, type] = req.url === "/weak" ? ['W/"own"', "text/plain"] : ['"strong"', req.url === "/page" ? "text/html" : "text/plain"];
      seen.push(req.headers["if-none-match"]);
      if (req.url === "/seen") return res.end(JSON.stringify(seen));
      const same = req.headers["if-none-match"] === tag;
      res.writeHead(same ? 304 : 200, { ETag: tag, "Content-Type": type });
      res.end(same ? undefined : "<head></head>" + "text ".repeat(1000));
    }).listen(process.env.PORT);`;
  const config = { inject: { head: [{ type: "literal", value: "<i>" }] } };
  const server = await start(t, { command: `exec ${node} app.cjs`, config, files: { "app.cjs": code } });
  const get = async (path: string, tag?: string) => {
    const headers = { "Accept-Encoding": "gzip", ...(tag !== undefined && { "If-None-Match": tag }) };
    const response = await ask(server.port, { path, headers });
    return [response.status, response.headers.find(([name]) => name.toLowerCase() === "etag")?.[1]];
  };
  t.same(await get("/text", 'W/"strong"'), [200, 'W/"strong"'], "a tag that nobody here has seen stays as it is");
  t.same(await get("/text", 'W/"strong"'), [304, 'W/"strong"'], "compressed");
  t.same(await get("/page", 'W/"strong"'), [304, 'W/"strong"'], "injected into");
  t.same(await get("/weak"), [200, 'W/"own"']);
  t.same(await get("/weak", 'W/"own"'), [304, 'W/"own"'], "the app's own weak tag");
  await get("/text", '"x", W/"strong", W/"other"');
  const seen = JSON.parse((await ask(server.port, { path: "/seen" })).body.toString()) as (string | null)[];
  t.same(seen.slice(0, 6), ['W/"strong"', '"strong"', '"strong"', null, 'W/"own"', '"x", "strong", W/"other"']);
});

t.test("forwarded headers of a client on another machine are replaced", (t) => {
  const request = (ip: string) =>
    ({
      id: "r",
      clientPath: "/",
      path: "/",
      headers: { host: "shop.example", "x-forwarded-for": "10.0.0.1", "x-forwarded-proto": "https" },
      rawHeaders: ["Host", "shop.example", "X-Forwarded-For", "10.0.0.1", "X-Forwarded-Proto", "https"],
      ip,
      port: 3000,
      secure: false,
      context: "{}",
    }) as unknown as ProxyRequest;
  const forwarded = (ip: string) =>
    headersForApp(request(ip), "development")
      .filter(([name]) => /^x-forwarded-(for|proto)$/i.test(name))
      .map(([, value]) => value);
  t.same(forwarded("203.0.113.5"), ["203.0.113.5", "http"]);
  t.same(forwarded("12.7.0.1"), ["12.7.0.1", "http"]);
  t.same(forwarded("2001:db8::1"), ["2001:db8::1", "http"]);
  t.same(forwarded("127.0.0.2"), ["10.0.0.1, 127.0.0.2", "https"]);
  t.same(forwarded("::1"), ["10.0.0.1, ::1", "https"]);
  t.end();
});

t.test("large bodies arrive intact", async (t) => {
  const upload = Buffer.alloc(5 * 1024 * 1024, "0123456789abcdef");
  const echo = await start(t, { app: "echo/server.mjs" });
  const { body } = JSON.parse((await ask(echo.port, { method: "PUT", path: "/", body: upload })).body.toString());
  t.same(body, { bytes: upload.length, sha256: createHash("sha256").update(upload).digest("hex") });

  const server = await start(t, { app: streams });
  const response = await ask(server.port, { path: `/bytes?n=${upload.length}` });
  t.equal(response.body.length, upload.length);
  const entry = await server.entry(({ message }) => message === "response");
  t.equal(entry.fields.size, upload.length);
});

t.test("an upload that nobody reads does not hold its connection", async (t) => {
  const server = await start(t, { config: { type: "static" }, files: { "index.html": "home" } });
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const send = (method: string, body?: Buffer) =>
    new Promise<number>((resolve, reject) => {
      const req = httpRequest({ port: server.port, method, agent }, (res) => {
        res.resume().once("end", () => resolve(res.statusCode!));
      });
      req.on("error", reject).end(body);
    });
  t.equal(await send("POST", Buffer.alloc(1_000_000)), 405);
  t.equal(await send("GET"), 200);
});

t.test("websockets", async (t) => {
  const server = await start(t, {
    app: streams,
    config: {
      headers: { "/*": { "X-Rule": "yes" } },
      redirects: { "/live/*": { location: "/:splat" }, "/moved": { location: "/sse", status: 308 } },
    },
  });
  const handshake = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

  const socket = connect(server.port, "127.0.0.1");
  socket.write(handshake("/live/echo?room=1"));
  const answer = parseResponse((await once(socket, "data"))[0]);
  t.equal(answer.status, 101);
  const header = (name: string) => answer.headers.find(([own]) => own.toLowerCase() === name)?.[1];
  t.equal(header("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "the key of RFC 6455, section 1.3");
  t.equal(header("x-url"), "/echo?room=1", "a rewrite applies");
  t.equal(header("x-seen-context"), "true");
  // "Hello", masked, of RFC 6455, section 5.7.
  socket.write(Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]));
  const [frame] = await once(socket, "data");
  t.equal(frame.toString("latin1"), "\x81\x05Hello");
  const entry = await server.entry(({ message, fields }) => message === "response" && fields.status === 101);
  t.match(entry, { level: "info", fields: { path: "/live/echo", query: "room=1", size: 0 } });

  const refused = await askRaw(server.port, handshake("/refused"));
  t.equal(`${refused.status} ${refused.body}`, "403 no", "a refusal is an ordinary answer");
  t.ok(
    refused.headers.some(([name, value]) => name === "X-Rule" && value === "yes"),
    "with the header rules",
  );
  const names = refused.headers.map(([name]) => name.toLowerCase());
  t.same([names.includes("x-own"), names.includes("x-hop")], [true, false], "but for headers that Connection names");
  t.equal((await askRaw(server.port, handshake("/broken"))).status, 502);
  t.equal((await askRaw(server.port, handshake("/moved"))).status, 308);

  const closed = once(socket, "close");
  await server.close();
  await closed;
  t.pass("an open websocket does not keep the server from closing");
});

t.test("a request that takes the connection waits for the answers to those before it", async (t) => {
  const server = await start(t, { app: streams });
  const get = "GET /bytes?n=10 HTTP/1.1\r\nHost: x\r\n\r\n";
  const websocket =
    "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  const h2c =
    "GET /bytes?n=20 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n";
  const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
  const expecting = "GET /bytes?n=1 HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n";
  const withoutHost = "GET /bytes?n=1 HTTP/1.1\r\n\r\n";
  for (const [name, text, statuses] of [
    ["a websocket", get + websocket, [200, 101]],
    ["after two", get + get + websocket, [200, 200, 101]],
    ["a protocol that nobody speaks", get + h2c, [200, 200]],
    ["a tunnel", get + tunnel, [200, 501]],
    ["after an expectation", expecting + websocket, [417, 101]],
    ["after what is no request", withoutHost + websocket, [400]],
    ["after one that is no request, which comes in turn", get + withoutHost + websocket, [200, 400]],
  ] as const) {
    const socket = connect(server.port, "127.0.0.1");
    let answers = "";
    socket.setEncoding("latin1").on("data", (data: string) => {
      answers += data;
    });
    socket.write(text);
    const seen = () => [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    await until(`the answers: ${name}`, () => seen().length >= statuses.length);
    t.same(seen(), statuses, name);
    socket.destroy();
  }
  t.equal((await ask(server.port, { path: "/bytes?n=10" })).status, 200, "the server goes on");
});

t.test("http-proxy carries websockets, and nothing else", async (t) => {
  const events: string[] = [];
  let carrying: Socket | undefined;
  const { createProxyServer } = httpProxy;
  httpProxy.createProxyServer = ((options: httpProxy.ServerOptions) => {
    const proxy = createProxyServer(options);
    proxy.on("proxyReq", () => events.push("request"));
    proxy.on("proxyReqWs", () => events.push("handshake"));
    proxy.on("open", (appSocket) => {
      events.push("switched");
      carrying = appSocket;
    });
    return proxy;
  }) as typeof createProxyServer;
  t.teardown(() => {
    httpProxy.createProxyServer = createProxyServer;
  });
  const server = await start(t, { app: streams });
  t.equal((await ask(server.port, { path: "/bytes?n=10" })).body.length, 10);
  t.same(events, [], "a plain request");

  const handshake = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  t.equal((await askRaw(server.port, handshake("/refused"))).status, 403);
  t.same(events, ["handshake"], "a handshake that the app refuses");

  const socket = connect(server.port, "127.0.0.1");
  socket.write(handshake("/echo"));
  await once(socket, "data");
  t.same(events, ["handshake", "handshake", "switched"], "one that it accepts");
  const [readBefore, writtenBefore] = [carrying!.bytesRead, carrying!.bytesWritten];
  socket.write(Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]));
  const [frame] = await once(socket, "data");
  t.same([carrying!.bytesWritten - writtenBefore, carrying!.bytesRead - readBefore], [11, frame.length], "its bytes");
  socket.destroy();
});

t.test("a request and its response, as entries", async (t) => {
  const server = await start(t, { app: "echo/server.mjs", commit: "81d3b2b" });
  const rows = [
    { path: "/a%20b?x=1&y", status: 200, level: "info" },
    { path: "/?status=302", status: 302, level: "info" },
    { path: "/?status=404", status: 404, level: "warn" },
    { path: "/?status=500", status: 500, level: "error" },
  ];
  for (const { path, status, level } of rows) {
    const before = server.entries.length;
    const response = await ask(server.port, {
      path,
      headers: { "X-Request-Id": "req-1", "X-Forwarded-For": "6.6.6.6" },
    });
    await server.entry((entry) => entry.message === "response" && server.entries.indexOf(entry) >= before);
    const [first, second, ...others] = server.entries.slice(before).filter(({ message }) => !/^app /.test(message));
    const [pathname, query = ""] = path.split("?");
    const common = {
      stage: "development",
      version: "development",
      commit: "81d3b2b",
      id: "req-1",
      ip: "127.0.0.1",
      method: "GET",
      path: pathname,
      query,
    };
    t.same(others, []);
    t.same({ ...first, timestamp: "" }, { timestamp: "", level: "info", message: "request", fields: common });
    const { duration, ...fields } = second!.fields;
    t.same(
      { ...second, timestamp: "", fields },
      { timestamp: "", level, message: "response", fields: { ...common, status, size: response.body.length } },
    );
    t.ok(typeof duration === "number" && duration > 0 && duration < 5_000, `duration ${duration}`);
    t.match(second!.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  await raw(server.port, "GARBAGE\r\n\r\n");
  t.match(await server.entry(({ message }) => message === "malformed request"), { fields: { status: 400 } });
  t.same(
    server.entries.filter(({ fields }) => fields.commit !== "81d3b2b"),
    [],
    "every entry carries the commit",
  );

  const config = { logs: { disable: true }, cors: { debug: true } };
  const quiet = await start(t, { app: "processes/writes.mjs", config });
  await ask(quiet.port, { path: "/torn" });
  await raw(quiet.port, "GARBAGE\r\n\r\n");
  t.same(
    quiet.entries.filter(({ message }) => !/^app /.test(message)),
    [],
    "logs.disable",
  );
});

/** The step in which the supervisor looks whether its app listens, or is gone. */
const POLL_MS = 10;

/** Waits for what the supervisor looks for again and again: turns the clock to its next look, and no further. */
async function polled<T>(clock: TestClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  promise.then(settled, settled);
  await until("a promise", async () => {
    if ((clock.timers[0] ?? Number.POSITIVE_INFINITY) <= POLL_MS) await clock.advance(POLL_MS);
    return isSettled;
  });
  return promise;
}

/** All that a connection answers. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (part) => {
      answer += part;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

/** Returns when the process is dead, but before this process, the supervisor in it included, could hear of it. */
function killNow(pid: number): void {
  process.kill(pid, "SIGKILL");
  while (isRunning(pid));
}
