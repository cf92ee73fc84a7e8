// `tool logs` on the log of a deployed app, in the stand-in of the cloud: what is asked for, what is shown, what fails.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { Lambda } from "@aws-sdk/client-lambda";
import t, { type Test } from "tap";
import { asTheyCome, mergeByTime } from "../../../cli/time/merge-by-time.ts";
import { readPlatformLine } from "../../../grammar/query/cloudwatch/platform-line.ts";
import { type Aws, startAws } from "../../support/aws/index.ts";
import { spawnTool, tool } from "../../support/cli.ts";
import { askEndpoint, openApp } from "../../support/deployed-app.ts";
import { slow } from "../../support/slow.ts";
import { typeInto } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";

// Each test has a cloud of its own.
t.jobs = 3;

const INVOCATION = "8476a536-e9f4-11e8-9739-2dfe598c3fcd";
const MINUTE_MS = 60_000;

interface Line {
  readonly agoMs: number;
  readonly text: string;
  readonly stream?: string;
}

const entry = (agoMs: number, level: string, message: string, fields: object = {}): Line => ({
  agoMs,
  text: JSON.stringify({ timestamp: new Date(Date.now() - agoMs).toISOString(), level, message, fields }),
});

const request = (agoMs: number, id: string, path: string, stage = "production"): Line =>
  entry(agoMs, "info", "request", { stage, version: "3", id, ip: "192.0.2.1", method: "GET", path, query: "" });

const response = (agoMs: number, id: string, path: string, status: number, stage = "production"): Line =>
  entry(agoMs, status >= 500 ? "error" : "info", "response", {
    ...{ stage, version: "3", id, ip: "192.0.2.1", method: "GET", path, query: "", status, duration: 12, size: 3 },
  });

/** An app with a log in the cloud, and a folder to ask from. */
async function deployed(
  t: Test,
  lines: readonly Line[],
  { config = { name: "orders" } as object, development = [] as readonly Line[] } = {},
) {
  const aws = await startAws(t);
  write(aws, lines);
  const cwd = t.testdir({ "tool.json": JSON.stringify(config) });
  if (development.length > 0) {
    mkdirSync(join(cwd, ".tool"));
    writeFileSync(join(cwd, ".tool/development.ndjson"), development.map(({ text }) => `${text}\n`).join(""));
  }
  return { aws, cwd, logs: (...argv: string[]) => tool(["logs", ...argv], { cwd, env: aws.env }) };
}

function write(aws: Aws, lines: readonly Line[]): void {
  const logs = aws.state.service("logs");
  for (const { agoMs, text, stream = "2025/06/30/[3]aaaa" } of lines) {
    logs.append("/aws/lambda/orders", stream, [{ timestamp: Date.now() - agoMs, message: `${text}\n` }]);
  }
}

const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

const linesOf = (stdout: string) =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const { level, message, fields } = JSON.parse(line);
      return [level, message, fields.path ?? fields.name, fields.status]
        .filter((value) => value !== undefined)
        .join(" ");
    });

// Minutes apart, so that a slow machine does not shift what a period takes in.
const TRAFFIC: readonly Line[] = [
  {
    agoMs: 3_000_000,
    text: "INIT_START Runtime Version: nodejs:24.v1\tRuntime Version ARN: arn:aws:lambda:eu-west-1::runtime:x",
  },
  { agoMs: 2_400_000, text: `START RequestId: ${INVOCATION} Version: 3` },
  request(2_400_000, "a", "/"),
  response(2_394_000, "a", "/", 200),
  { agoMs: 2_394_000, text: `END RequestId: ${INVOCATION}` },
  {
    agoMs: 2_394_000,
    text: `REPORT RequestId: ${INVOCATION}\tDuration: 12.00 ms\tBilled Duration: 12 ms\tMemory Size: 512 MB\tMax Memory Used: 90 MB\t`,
  },
  request(1_800_000, "b", "/pay"),
  response(1_740_000, "b", "/pay", 502),
  request(1_200_000, "c", "/", "staging"),
  response(1_140_000, "c", "/", 404, "staging"),
  entry(1_080_000, "warn", "slow query", { stage: "production", name: ["a", "b"], took: 812 }),
];

t.test("what a query shows of the cloud's log", async (t) => {
  const { logs, aws } = await deployed(t, TRAFFIC);
  const rows: [query: string, expected: string[]][] = [
    [
      "",
      [
        "info request /",
        "info response / 200",
        "info request /pay",
        "error response /pay 502",
        "info request /",
        "info response / 404",
        "warn slow query a,b",
      ],
    ],
    ["error", ["error response /pay 502"]],
    ["status >= 400 production", ["error response /pay 502"]],
    ["staging", ["info request /", "info response / 404"]],
    ["not production and status != 200", ["info response / 404"]],
    // A list, which no condition of a pattern finds.
    ["name = b", ["warn slow query a,b"]],
    ["not path = /", ["info request /pay", "error response /pay 502", "warn slow query a,b"]],
    ["message ~ /SLOW/i", ["warn slow query a,b"]],
    ["took > 1s", []],
  ];
  for (const [query, expected] of rows) {
    const { code, stdout, stderr } = await logs(...(query === "" ? [] : [query]));
    t.same(
      { code, lines: linesOf(stdout), stderr },
      { code: 0, lines: expected, stderr: "reading the log of orders in eu-west-1\n" },
      query || "no query",
    );
  }
  const patterns = aws.journal.entries.map(({ input }) => (input as { filterPattern?: string }).filterPattern);
  t.ok(patterns.includes("{ $.level = %^[Ee][Rr][Rr][Oo][Rr]$|^[Ee][Rr][Rr]$% }"), "the query is pushed down");
});

t.test("flags", async (t) => {
  const { logs } = await deployed(t, TRAFFIC);
  const rows: [argv: string[], stdout: string[]][] = [
    [["-S", "25m", "message = response"], ["info response / 404"]],
    [
      ["--until", "25m", "message = response"],
      ["info response / 200", "error response /pay 502"],
    ],
    [
      ["-n", "2"],
      ["info response / 404", "warn slow query a,b"],
    ],
  ];
  for (const [argv, expected] of rows) t.same(linesOf((await logs(...argv)).stdout), expected, argv.join(" "));
  t.equal((await logs("--count", "message = response")).stdout, "3\n", "--count");
  t.equal((await logs("--count", "--format", "json", "error")).stdout, '{"count":1}\n', "--count as JSON");
});

t.test("the development log stands between its lines, by time", async (t) => {
  const { logs } = await deployed(t, TRAFFIC, {
    development: [
      entry(2_100_000, "info", "request", { stage: "development", path: "/local" }),
      entry(1_000, "info", "response", { stage: "development", path: "/local", status: 500 }),
    ],
  });
  const { stdout, stderr } = await logs("path = /local or status >= 400");
  t.same(linesOf(stdout), [
    "info request /local",
    "error response /pay 502",
    "info response / 404",
    "info response /local 500",
  ]);
  t.equal(stderr, "reading the log of orders in eu-west-1, and that of tool start\n");
});

t.test("what the platform says of a request is an error with that request", async (t) => {
  const killed = "8476a536-0000-11e8-9739-2dfe598c3fcd";
  const exited = "8476a536-1111-11e8-9739-2dfe598c3fcd";
  const at = (agoMs: number, text: string, stream: string): Line => ({ agoMs, text, stream });
  const [slow, large, broken] = ["[3]slow", "[3]large", "[3]broken"];
  const { logs } = await deployed(t, [
    { ...request(90_000, "a", "/slow"), stream: slow },
    { ...request(89_000, "x", "/other"), stream: "[3]another" },
    at(65_000, `2025-06-30T12:00:25.000Z ${INVOCATION} Task timed out after 25.00 seconds`, slow),
    at(
      65_000,
      `REPORT RequestId: ${INVOCATION}\tDuration: 25000.00 ms\tBilled Duration: 25000 ms\tMemory Size: 512 MB\tMax Memory Used: 90 MB\tStatus: timeout`,
      slow,
    ),
    { ...request(60_500, "done", "/done"), stream: large },
    { ...response(60_400, "done", "/done", 200), stream: large },
    { ...request(60_000, "b", "/large"), stream: large },
    at(58_000, `RequestId: ${killed} Error: Runtime exited with error: signal: killed\nRuntime.ExitError`, large),
    at(
      58_000,
      `REPORT RequestId: ${killed}\tDuration: 1980.50 ms\tBilled Duration: 1981 ms\tMemory Size: 512 MB\tMax Memory Used: 512 MB\tStatus: error\tError Type: Runtime.ExitError`,
      large,
    ),
    at(50_000, `RequestId: ${exited} Error: Runtime exited with error: exit status 1\nRuntime.ExitError`, broken),
    at(49_000, "/usr/bin/env: 'node': No such file or directory", broken),
    at(48_000, "/opt/tool/runtime: libz.so.1: cannot open shared object file: No such file or directory", broken),
    at(47_000, "the reader said: No such file or directory", broken),
  ]);
  const { stdout } = await logs("error");
  const entries = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const common = { stage: "production", version: "3", ip: "192.0.2.1", method: "GET", query: "" };
  t.same(
    entries.map(({ level, message, fields }) => ({ level, message, fields })),
    [
      {
        level: "error",
        message: "the platform ended a request that took too long",
        fields: { ...common, id: "a", path: "/slow", invocation: INVOCATION, duration: 25_000 },
      },
      {
        level: "error",
        message: "the platform ended a request that ran out of memory",
        fields: { ...common, id: "b", path: "/large", invocation: killed, duration: 1980.5, memory: 512 * 1024 * 1024 },
      },
      {
        level: "error",
        message: "the process ended during a request",
        fields: { invocation: exited, reason: "Runtime exited with error: exit status 1" },
      },
      { level: "error", message: "/usr/bin/env: 'node': No such file or directory", fields: {} },
      {
        level: "error",
        message: "/opt/tool/runtime: libz.so.1: cannot open shared object file: No such file or directory",
        fields: {},
      },
    ],
  );
  t.same(
    linesOf((await logs("path = /large")).stdout),
    ["info request /large", "error the platform ended a request that ran out of memory /large"],
    "and is found by what the request was",
  );
  t.same(linesOf((await logs("warn")).stdout), [], "and only by that");
});

t.test("many pages, empty ones among them", async (t) => {
  const lines = Array.from({ length: 12_345 }, (_, i) =>
    entry(20 * MINUTE_MS - i, i % 4000 === 3999 ? "error" : "info", `entry ${i}`),
  );
  const { logs, aws } = await deployed(t, lines);
  t.equal((await logs("--count")).stdout, "12345\n");
  t.same(linesOf((await logs("error")).stdout), ["error entry 3999", "error entry 7999", "error entry 11999"]);
  t.ok(aws.journal.entries.length > 10, `${aws.journal.entries.length} calls`);
});

t.test("a terminal is told why nothing is found", { skip: process.platform === "win32" }, async (t) => {
  const declined = [
    entry(1_000_000, "error", "the card declined", { stage: "production", code: 7 }),
    entry(990_000, "error", "card declined twice", { stage: "production", code: 8 }),
  ];
  const local = entry(900_000, "error", "a card declined on this machine", { stage: "development" });
  const { aws, cwd } = await deployed(t, [...TRAFFIC, ...declined], { development: [local] });
  const said = async (query: string, ...flags: string[]) => {
    const before = aws.journal.count("logs", "FilterLogEvents");
    const { code, text } = await typeInto(t, ["logs", ...flags, query], [], { cwd, env: aws.env });
    t.equal(code, 0, query.slice(0, 40));
    const requests = aws.journal.count("logs", "FilterLogEvents") - before;
    return { text: text.replaceAll("\r", "").replace(/ since [\d:TZ-]+/, ""), requests };
  };
  const rows: readonly (readonly [query: string, said: string])[] = [
    ['"card declined"', 'no entry found among 10; message contains "card declined" finds 3'],
    ["declined", 'no entry found among 10; no entry has declined; message contains "declined" finds 3'],
    ["statuss >= 400", "no entry found among 10; no entry has statuss; did you mean status?"],
    ["level = eror", "no entry found among 10; level = error finds 4"],
    ['message contains "192.0.2.1"', '"192.0.2.1" is in ip: ip contains "192.0.2.1"'],
    ['code = "7a" | count', "no entry found among 10"],
    ["statuss > 3 | count", "no entry has statuss; did you mean status?"],
    ["zebra | limit 5", "no entry found among 10; no entry has zebra"],
    ['"card declined" | count by code', 'message contains "card declined" finds 3'],
    ["level = eror and development", "level = error and development finds 1"],
  ];
  for (const [query, expected] of rows) t.match((await said(query)).text, expected, query);
  // More than a pattern of CloudWatch may have.
  t.match((await said("x".repeat(3_000))).text, /no entry has x{120}\.\.\.: a word alone is a field/);
  t.match((await said("declined", "--until", "2001-01-01")).text, "no entry found: there are none");
  t.match((await said("declined", "--since", later(86_400))).text, "no entry found: there are none");
  const nothing = await tool(["logs", "declined"], { cwd, env: aws.env });
  t.same([nothing.code, nothing.stdout, nothing.stderr.split("\n").length], [0, "", 2], "a program is told nothing");

  // More than one reading of a few requests takes in: what is rare is counted by CloudWatch.
  write(
    aws,
    Array.from({ length: 13_000 }, (_, i) => entry(40 * MINUTE_MS - i, "info", `entry ${i}`, { n: i })),
  );
  write(aws, [entry(60_000, "error", "the last card was refused", { stage: "production" })]);
  const rare = await said('"card was refused"');
  t.match(rare.text, '"card was refused" finds 1');
  t.match(rare.text, /no entry found; /);
  const pagesOfAll = Math.ceil(13_015 / 2_000);
  t.ok(rare.requests <= 4 * pagesOfAll + 6, `${rare.requests} requests`);
  const absent = await said("nowhere");
  t.match(absent.text, /none of the first [\d,]+ has nowhere: a word alone is a field/);
  t.ok(absent.requests <= 4 * pagesOfAll + 6, `${absent.requests} requests`);
  t.match((await said('"nowhere"')).text, '"nowhere" is a whole message; for a part of one write');

  // A failure meanwhile only makes the remark shorter.
  const denied = { code: "AccessDeniedException", message: "not authorized", status: 400 };
  aws.controls.failures.plan({
    service: "logs",
    nth: 2 * pagesOfAll + 2,
    times: Number.POSITIVE_INFINITY,
    error: denied,
  });
  const cut = await said("nowhere");
  t.match(cut.text, "no entry found");
  t.notMatch(cut.text, "error:");
});

t.test("following shows what comes, once", slow(), async (t) => {
  const { aws, cwd } = await deployed(t, TRAFFIC);
  const running = spawnTool(["logs", "-f", "status >= 500 or error"], { cwd, env: aws.env });
  t.teardown(() => running.kill("SIGKILL"));
  await until("the first entry", () => running.stdout().includes("/pay"));
  write(aws, [response(0, "d", "/later", 500), response(0, "e", "/fine", 200)]);
  await until("the next", () => running.stdout().includes("/later"));
  // Found late, and older than what was shown.
  write(aws, [response(3_000, "f", "/late", 503)]);
  await until("a late one", () => running.stdout().includes('/late"'));
  aws.controls.failures.plan({
    service: "logs",
    operation: "FilterLogEvents",
    times: 40,
    error: { code: "ServiceUnavailableException", status: 503 },
  });
  await until("trouble", () => /trying again/.test(running.stderr()));
  aws.controls.failures.clear();
  write(aws, [response(0, "g", "/after", 500)]);
  await until("one after the trouble", () => running.stdout().includes("/after"));
  running.kill("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  t.equal(code, 130);
  t.same(linesOf(stdout), [
    "error response /pay 502",
    "error response /later 500",
    "error response /late 503",
    "error response /after 500",
  ]);
  t.equal(stderr.split("trying again").length, 2, "the trouble is said once");
});

t.test("following live shows what comes, once", async (t) => {
  const { aws, cwd } = await deployed(t, TRAFFIC);
  const running = spawnTool(["logs", "-f", "--live", "status >= 500 or name = b"], { cwd, env: aws.env });
  t.teardown(() => running.kill("SIGKILL"));
  await until("what was there", () => running.stdout().includes("slow query"));
  await until("the sessions", () => aws.journal.count("logs", "StartLiveTail") === 2);
  // While the sessions start; twice the same, and one that both patterns find.
  const twice = response(0, "d", "/twice", 500);
  write(aws, [twice, twice, entry(0, "error", "both", { status: 500, name: ["b"] }), response(0, "e", "/fine", 200)]);
  await until("what came", () => running.stdout().includes("both"));
  write(aws, [response(0, "f", "/later", 502)]);
  await until("what came later", () => running.stdout().includes("/later"));
  write(
    aws,
    Array.from({ length: 700 }, (_, i) => response(0, `g${i}`, "/many", 500)),
  );
  await until("the sampling", () => running.stderr().includes("more than 500"));
  running.kill("SIGINT");
  const { code, stdout } = await running.ended;
  t.equal(code, 130);
  const entryLines = linesOf(stdout).filter((line) => !line.includes("/many"));
  const bothTwice = ["error response /twice 500", "error response /twice 500"];
  const both = "error both b 500";
  // Either session may be the first to show what both find: each keeps its own order.
  const isBothFirst = entryLines.indexOf(both) < entryLines.indexOf(bothTwice[0]!);
  t.same(entryLines, [
    "error response /pay 502",
    "warn slow query a,b",
    ...(isBothFirst ? [both, ...bothTwice] : [...bothTwice, both]),
    "error response /later 502",
  ]);
  const alone = await tool(["logs", "--live"], { cwd, env: aws.env });
  t.same([alone.code, alone.stderr], [2, "error: --live needs -f\n  write tool logs -f --live\n"]);
});

t.test("a deployed app whose log nothing has written to yet", slow(), async (t) => {
  // Where the log is kept for ever, a deploy leaves it to the platform to make it.
  const { aws, app } = await openApp(t, { logs: { retention: "forever" } });
  // The check would be the first to write to it.
  const deploy = await app.tool(["deploy", "--no-check"]);
  t.equal(deploy.code, 0) || t.comment(deploy.stderr);
  const url = deploy.stdout.trim();
  const absent = "app has no log in eu-west-1 yet: its first request makes it\n";
  const plain = await app.tool(["logs"]);
  t.same([plain.code, plain.stdout, plain.stderr], [0, "", absent], "plain logs say so");

  app.write({ ".tool/development.ndjson": `${entry(1_000, "info", "local").text}\n` });
  const local = await app.tool(["logs"]);
  t.same(
    [local.code, linesOf(local.stdout), local.stderr],
    [0, ["info local"], `${absent}reading the log of tool start\n`],
    "and show what this machine wrote",
  );

  const env = app.env;
  const followers = [["-f"], ["-f", "--live"], ["-f", "status = 200", "--until", later(60)]].map((flags) => {
    const running = spawnTool(["logs", ...flags], { cwd: app.directory, env });
    t.teardown(() => running.kill("SIGKILL"));
    return { name: flags.join(" "), running };
  });
  for (const { name, running } of followers) {
    await until(`${name} waits`, () => running.stderr().includes("its first request makes it"));
  }
  aws.controls.failures.plan({
    service: "logs",
    operation: "FilterLogEvents",
    times: 40,
    error: { code: "ServiceUnavailableException", status: 503 },
  });
  await until("trouble", () => /trying again/.test(followers[0]!.running.stderr()));
  aws.controls.failures.clear();
  await askEndpoint(aws, `${url}first`);
  for (const { name, running } of followers) {
    await until(`${name} shows the first request`, () => running.stdout().includes('"/first"'));
  }
  await askEndpoint(aws, `${url}second`);
  for (const { name, running } of followers) {
    await until(`${name} goes on`, () => running.stdout().includes('"/second"'));
    running.kill("SIGINT");
    t.equal((await running.ended).code, 130, name);
  }

  // Removed and made again by somebody else, then for good.
  const last = spawnTool(["logs", "-f"], { cwd: app.directory, env });
  t.teardown(() => last.kill("SIGKILL"));
  await until("what was there", () => last.stdout().includes('"/second"'));
  const logs = new CloudWatchLogs(aws.client);
  await logs.deleteLogGroup({ logGroupName: "/aws/lambda/app" });
  await askEndpoint(aws, `${url}third`);
  await until("the group that took its place", () => last.stdout().includes('"/third"'));
  await new Lambda(aws.client).deleteFunction({ FunctionName: "app" });
  await logs.deleteLogGroup({ logGroupName: "/aws/lambda/app" });
  const { code, stderr } = await last.ended;
  t.same([code, stderr.includes("app has no log in eu-west-1\n  tool deploy makes it")], [1, true]);
  const never = await app.tool(["logs"]);
  t.same(
    [never.code, never.stderr],
    [0, "reading .tool/development.ndjson, the log of tool start\n"],
    "an app that is not deployed has the development log only",
  );
});

t.test("what cannot be read", async (t) => {
  const development = [entry(1_000, "info", "local", {})];
  const { aws, cwd, logs } = await deployed(t, TRAFFIC, { development });
  const denied = {
    code: "AccessDeniedException",
    message: "User: arn:aws:iam::123456789012:user/x is not authorized to perform: logs:FilterLogEvents",
    status: 400,
  };
  aws.controls.failures.plan({ service: "logs", times: Number.POSITIVE_INFINITY, error: denied });
  const refused = await logs();
  t.same(
    { code: refused.code, lines: linesOf(refused.stdout) },
    { code: 1, lines: ["info local"] },
    "the rest is shown",
  );
  t.match(refused.stderr, /error: .*logs:FilterLogEvents/);
  aws.controls.failures.clear();

  aws.controls.failures.plan({ service: "logs", nth: 3, times: Number.POSITIVE_INFINITY, error: denied });
  write(
    aws,
    Array.from({ length: 5000 }, (_, i) => entry(MINUTE_MS * 10 - i, "info", `entry ${i}`)),
  );
  const broken = await logs();
  t.equal(broken.code, 1, "it ends in the middle");
  t.ok(
    linesOf(broken.stdout).includes("info entry 0") && linesOf(broken.stdout).includes("info local"),
    "what came is shown",
  );
  aws.controls.failures.clear();
  aws.controls.failures.plan({ service: "logs", nth: 3, times: Number.POSITIVE_INFINITY, error: denied });
  const counted = await logs("| count");
  t.equal(counted.code, 1);
  t.ok(JSON.parse(counted.stdout).count > 0, "rows of what came");
  t.match(counted.stderr, /error: .*logs:FilterLogEvents[\s\S]*partial: not everything could be read/);
  aws.controls.failures.clear();

  const elsewhere = await tool(["logs"], { cwd, env: { ...aws.env, CLOUD_REGION: "us-east-1" } });
  t.same(
    { code: elsewhere.code, lines: linesOf(elsewhere.stdout), stderr: elsewhere.stderr },
    { code: 0, lines: ["info local"], stderr: "reading .tool/development.ndjson, the log of tool start\n" },
    "not deployed there",
  );
  const nowhere = await tool(["logs"], { cwd, env: { ...aws.env, TOOL_AWS_ENDPOINT: "http://127.0.0.1:9" } });
  t.same({ code: nowhere.code, lines: linesOf(nowhere.stdout) }, { code: 1, lines: ["info local"] }, "no network");
  t.match(nowhere.stderr, /^error: /m);
  const none = await tool(["logs"], { cwd });
  t.same({ code: none.code, lines: linesOf(none.stdout) }, { code: 0, lines: ["info local"] }, "no credentials");
  for (const outcome of [refused, broken, nowhere]) t.notMatch(outcome.stderr, /stand-in-secret/);
});

t.test("lines of the platform", (t) => {
  const rows: [text: string, expected: object | undefined][] = [
    [`START RequestId: ${INVOCATION} Version: $LATEST`, { kind: "frame" }],
    [`END RequestId: ${INVOCATION}`, { kind: "frame" }],
    ["INIT_START Runtime Version: python:3.14.v1\tRuntime Version ARN: arn", { kind: "frame" }],
    ["INIT_REPORT Init Duration: 10010.03 ms\tPhase: init\tStatus: timeout", { kind: "frame" }],
    [
      `2025-06-30T12:00:03.005Z ${INVOCATION} Task timed out after 3.00 seconds`,
      { kind: "timeout", invocation: INVOCATION, durationMs: 3000 },
    ],
    [
      `RequestId: ${INVOCATION} Error: Runtime exited without providing a reason\nRuntime.ExitError`,
      { kind: "exit", invocation: INVOCATION, reason: "Runtime exited without providing a reason" },
    ],
    [
      `REPORT RequestId: ${INVOCATION}\tDuration: 3.15 ms\tBilled Duration: 4 ms\tMemory Size: 128 MB\tMax Memory Used: 75 MB\tInit Duration: 1.00 ms\t`,
      { kind: "report", invocation: INVOCATION, report: { durationMs: 3.15, memoryMiB: 128, usedMiB: 75 } },
    ],
    ["Task timed out after 3.00 seconds, said the app", undefined],
    ['{"message":"Error: Runtime exited"}', undefined],
    ["START of the program", undefined],
  ];
  for (const [text, expected] of rows) t.same(readPlatformLine(text), expected, text);
  t.end();
});

t.test("readings by time", async (t) => {
  const at = (...times: number[]) => times.map((timeMs) => ({ timeMs }));
  async function* reading(...batches: { timeMs: number }[][]) {
    for (const batch of batches) yield batch;
  }
  const rows: [name: string, readings: { timeMs: number }[][][]][] = [
    ["one", [[at(1, 2), at(3)]]],
    [
      "two that alternate",
      [
        [at(1, 4), at(6)],
        [at(2, 3), at(5, 7)],
      ],
    ],
    [
      "empty batches",
      [
        [[], at(3), [], at(4)],
        [[], [], at(1)],
      ],
    ],
    ["none", [[], []]],
    ["equal times", [[at(1, 1), at(1)], [at(1, 2)]]],
  ];
  for (const [name, readings] of rows) {
    const times: number[] = [];
    for await (const batch of mergeByTime(readings.map((batches) => reading(...batches))))
      times.push(...batch.map(({ timeMs }) => timeMs));
    t.same(
      times,
      readings
        .flat(2)
        .map(({ timeMs }) => timeMs)
        .sort((a, b) => a - b),
      name,
    );
    let count = 0;
    for await (const batch of asTheyCome(readings.map((batches) => reading(...batches)))) count += batch.length;
    t.equal(count, readings.flat(2).length, `${name}, as they come`);
  }
  async function* failing() {
    yield at(1);
    throw new Error("broken");
  }
  await t.rejects(
    async () => {
      for await (const _ of mergeByTime([reading(at(2), at(3)), failing()]));
    },
    { message: "broken" },
  );
});
