// The way of an app's output, and the development log on disk.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { continuesTrace } from "../../grammar/query/trace-lines.ts";
import { openDevelopmentLog } from "../../runtime/development-log.ts";
import { entryLine } from "../../runtime/entries.ts";
import { entryOfLine, LineSplitter } from "../../runtime/output.ts";
import { ask, makeProject, start } from "../support/runtime.ts";
import { until } from "../support/until.ts";

const NOW = "2024-05-06T07:08:09.000Z";

t.test("lines across writes", (t) => {
  const rows: [parts: (string | number[])[], lines: string[]][] = [
    [["a\nb\n"], ["a", "b"]],
    [
      ["a", "b\nc"],
      ["ab", "c"],
    ],
    [
      ["a\r\nb\r", "\nc\rd\n"],
      ["a", "b", "c\rd"],
    ],
    [["\n\n"], ["", ""]],
    [[""], []],
    [[[0xe2], [0x82, 0xac, 0x0a]], ["\u20ac"]],
    [[[0xff, 0x61, 0x0a]], ["\ufffda"]],
    [["abcdefgh"], ["abcdefgh"]],
    [["abcdefghi"], ["abcdefgh", "i"]],
    [["abcdefgh\ni"], ["abcdefgh", "i"]],
    [
      ["abcdefgh", "\n", "x\n"],
      ["abcdefgh", "x"],
    ],
    [["abcdefghijklmnopqr\n"], ["abcdefgh", "ijklmnop", "qr"]],
    // The limit falls into a character of two, three and four bytes.
    [["abcdefg\u00e9\n"], ["abcdefg", "\u00e9"]],
    [["abcdef\u20ac\n"], ["abcdef", "\u20ac"]],
    [["abcdef\u{1f600}\n"], ["abcdef", "\u{1f600}"]],
    [["abcd\u{1f600}efg\n"], ["abcd\u{1f600}", "efg"]],
    [[[0x61, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x0a]], [`a${"\ufffd".repeat(7)}`, "\ufffd"]],
  ];
  for (const [parts, expected] of rows) {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line), 8);
    for (const part of parts) splitter.write(Buffer.from(part as string));
    splitter.end();
    t.same(lines, expected, JSON.stringify(parts));
  }
  t.end();
});

t.test("how the output is cut into writes changes nothing", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(60), { maxLength: 8 }), (bytes, cuts) => {
      const linesOf = (parts: Uint8Array[]) => {
        const lines: string[] = [];
        const splitter = new LineSplitter((line) => lines.push(line), 16);
        for (const part of parts) splitter.write(Buffer.from(part));
        splitter.end();
        return lines;
      };
      const places = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
      t.same(linesOf(places.slice(1).map((end, i) => bytes.subarray(places[i], end))), linesOf([bytes]));
    }),
    { seed: 7, numRuns: 200 },
  );
  t.end();
});

t.test("a line as an entry", (t) => {
  const text = (message: string) => ({ timestamp: NOW, level: "info", message, fields: {} });
  const rows: [line: string, entry: Entry | undefined][] = [
    ["hello", text("hello")],
    ["  indented ", text("  indented ")],
    ["", undefined],
    [" \t", undefined],
    ['{"level":"warn","message":"m"}', { timestamp: NOW, level: "warn", message: "m", fields: {} }],
    [
      ' {"level":"CUSTOM","message":"m","fields":{"a":{"b":1}}}',
      { timestamp: NOW, level: "CUSTOM", message: "m", fields: { a: { b: 1 } } },
    ],
    ['{"level":"info","message":"m","user":1}', { timestamp: NOW, level: "info", message: "m", fields: { user: 1 } }],
    [
      '{"level":"info","message":"m","user":1,"fields":{"user":2}}',
      { timestamp: NOW, level: "info", message: "m", fields: { user: 2 } },
    ],
    [
      '{"level":"info","message":"m","timestamp":"2020-01-02T03:04:05+02:00"}',
      { timestamp: "2020-01-02T03:04:05+02:00", level: "info", message: "m", fields: {} },
    ],
    [
      '{"level":"info","message":"m","timestamp":1577934245}',
      { timestamp: "2020-01-02T03:04:05.000Z", level: "info", message: "m", fields: {} },
    ],
    [
      '{"level":"info","message":"m","timestamp":5}',
      { timestamp: NOW, level: "info", message: "m", fields: { timestamp: 5 } },
    ],
    [
      '{"level":"info","message":"m","timestamp":"2020-13-40T99:00:00Z"}',
      { timestamp: NOW, level: "info", message: "m", fields: { timestamp: "2020-13-40T99:00:00Z" } },
    ],
    [
      '{"level":"info","message":"m","fields":[1]}',
      { timestamp: NOW, level: "info", message: "m", fields: { fields: [1] } },
    ],
    ['{"level":30,"message":"m"}', { timestamp: NOW, level: "info", message: "m", fields: {} }],
    ['{"level":3,"message":"m"}', text('{"level":3,"message":"m"}')],
    [
      '{"level":"CUSTOM","message":"m","timestamp":"2020-01-02T03:04:05Z","time":"2020-01-02T03:04:05Z"}',
      { timestamp: "2020-01-02T03:04:05Z", level: "CUSTOM", message: "m", fields: { time: "2020-01-02T03:04:05Z" } },
    ],
    ['{"level":"info"}', text('{"level":"info"}')],
    ['{"level":"info","message":"m"', text('{"level":"info","message":"m"')],
    ['["level"]', text('["level"]')],
    ["null", text("null")],
  ];
  for (const [line, expected] of rows) {
    t.same(entryOfLine(line, { level: "info", nowMs: () => Date.parse(NOW) }), expected, line || "the empty line");
  }
  t.end();
});

t.test("a line of text on stderr has the level that it says", (t) => {
  const flask = (request: string, status: number) => `127.0.0.1 - - [30/Nov/2026 21:58:16] "${request}" ${status} -`;
  const rows: [line: string, level: string][] = [
    // Access logs, by their status.
    [flask("GET / HTTP/1.1", 200), "info"],
    [flask("GET / HTTP/1.1", 302), "info"],
    [flask("GET /x HTTP/1.1", 404), "warn"],
    [flask("\u001b[33mGET /x HTTP/1.1\u001b[0m", 404), "warn"],
    [flask("GET /boom HTTP/1.1", 500), "error"],
    ['127.0.0.1 - - [30/Nov/2026 21:58:16] "GET /app.py HTTP/1.1" 304 -', "info"],
    // Remarks of Python's http.server and of Django's runserver beside them.
    ["127.0.0.1 - - [01/Dec/2026 10:00:00] code 404, message File not found", "warn"],
    ["127.0.0.1 - - [01/Dec/2026 10:00:00] code 501, message Unsupported method ('POST')", "error"],
    ["::1 - - [01/Dec/2026 10:00:00] code 400, message Bad request syntax ('x')", "warn"],
    ["Not Found: /a b", "warn"],
    ["Method Not Allowed (POST): /x", "warn"],
    ["Forbidden (CSRF cookie not set.): /x", "warn"],
    ["Internal Server Error: /x", "error"],
    ["Not Found: the file", "alert"],
    ['[01/Dec/2026 10:00:00] "GET /x HTTP/1.1" 404 2345', "warn"],
    ['[01/Dec/2026 10:00:00] "GET /x HTTP/1.1" 500 145', "error"],
    ['[01/Dec/2026 10:00:00] "GET / HTTP/1.1" 200 12', "info"],
    ['::1 - - [30/Nov/2026:21:58:16 +0000] "GET /a HTTP/1.1" 503 7 "-" "curl/8.5.0"', "error"],
    ['INFO:     127.0.0.1:5 - "GET / HTTP/1.1" 200 OK', "info"],
    ['INFO:     127.0.0.1:5 - "GET / HTTP/1.1" 500 Internal Server Error', "error"],
    ["GET /a 404 1.5 ms - 12", "warn"],
    ["GET /a - - ms - -", "info"],
    // Loggers.
    ["WARNING: This is a development server. Do not use it in a production deployment.", "warning"],
    ["\u001b[31m\u001b[1mWARNING: This is a development server.\u001b[0m", "warning"],
    ["WARNING:root:careful", "warning"],
    ["INFO:root:started", "info"],
    ["CRITICAL:root:no disk", "critical"],
    ['INFO:werkzeug:127.0.0.1 - - [30/Nov/2026 21:58:16] "GET / HTTP/1.1" 200 -', "info"],
    ["[WARN] low", "warn"],
    ["[ warn ] low", "warn"],
    ["DEBUG - tick", "debug"],
    ["info | ready", "info"],
    ["error: no such file", "error"],
    ["Error: boot", "error"],
    ["[2026-11-30 21:58:16 +0000] [7] [INFO] Listening at: http://127.0.0.1:3000 (7)", "info"],
    ["[2026-11-30 21:58:16 +0000] [7] [ERROR] Worker (pid:8) was sent SIGKILL!", "error"],
    ["[2026-11-30 21:58:16,123] WARNING in app: careful", "warning"],
    ["[2026-11-30 21:58:16] INFO  WEBrick::HTTPServer#start: pid=7 port=3000", "info"],
    ["2026-11-30 21:58:16,123 - root - INFO - started", "info"],
    ["2026-11-30 21:58:16,123 INFO root started", "info"],
    ["2026-11-30T21:58:16.123Z\tWARN\tmain.go:5\tlow", "warn"],
    ["[2026-11-30T21:58:16Z DEBUG shop] tick", "debug"],
    ["21:58:16.123 [main] INFO  shop.Main - started", "info"],
    ["2026/11/30 21:58:16 [notice] 1#1: start worker process 29", "notice"],
    ["2026/11/30 21:58:16 INFO started port=3000", "info"],
    ['time="2026-11-30T21:58:16Z" level=info msg=started', "info"],
    ["time=2026-11-30T21:58:16.123Z level=WARN msg=low", "warn"],
    // All others are what is configured.
    ["an error", "alert"],
    ["Press CTRL+C to quit", "alert"],
    ["2026/11/30 21:58:16 listening on :3000", "alert"],
    ["2026/11/30 21:58:16 info about the server", "alert"],
    ["Traceback (most recent call last):", "alert"],
    ["KeyError: 'x'", "alert"],
    ["panic: runtime error: index out of range", "alert"],
    ["http: panic serving 127.0.0.1:5: boom", "alert"],
    ["FATAL ERROR: Reached heap limit Allocation failed", "alert"],
    ["(node:7) Warning: a promise was rejected", "alert"],
    ["Error handling was improved", "alert"],
    ["ERROR handling was improved", "alert"],
    ["Information: x", "alert"],
    ["Warnings: 3", "alert"],
    ["debugger listening", "alert"],
    ["[main] started", "alert"],
    ['[1, "INFO"]', "alert"],
    ["levels=info", "alert"],
    ["level=information", "alert"],
    // Long ones.
    [`INFO: ${"x".repeat(10_000)}`, "info"],
    ["x".repeat(10_000), "alert"],
    ["[ ".repeat(5_000), "alert"],
    [`${" ".repeat(10_000)}INFO: x`, "alert"],
    [flask(`GET /${"x".repeat(10_000)} HTTP/1.1`, 404), "warn"],
    [flask(`GET /${"x".repeat(1_000_000)} HTTP/1.1`, 404), "alert"],
  ];
  const nowMs = () => Date.parse(NOW);
  for (const [line, level] of rows) {
    const entry = entryOfLine(line, { level: "alert", readsLevel: true, nowMs });
    t.same(entry, { timestamp: NOW, level, message: line, fields: {} }, line.slice(0, 100));
    t.equal(entryOfLine(line, { level: "notice", nowMs })!.level, "notice", "stdout says nothing of levels");
  }
  t.end();
});

t.test("a line that nests deep is text, as it could be read and not written", (t) => {
  const nested = (levels: number, open: string, close: string) =>
    `{"level":"warn","message":"deep","body":${open.repeat(levels)}1${close.repeat(levels)}}`;
  for (const [open, close] of [
    ['{"a":', "}"],
    ["[", "]"],
  ] as const) {
    for (const levels of [101, 20_000]) {
      const line = nested(levels, open, close);
      const entry = entryOfLine(line, { level: "info", nowMs: () => Date.parse(NOW) })!;
      t.same([entry.level, entry.message === line, entry.fields], ["info", true, {}], `${levels} of ${open}`);
      t.ok(entryLine(entry).includes("deep"));
    }
    const usual = entryOfLine(nested(90, open, close), { level: "info", nowMs: () => Date.parse(NOW) })!;
    t.same([usual.level, usual.message], ["warn", "deep"]);
  }
  t.end();
});

t.test("which line continues the entry before it", (t) => {
  const PYTHON = 'Traceback (most recent call last):\n  File "app.py", line 1, in <module>\n    {}["x"]';
  const rows: [before: string, line: string, continues: boolean][] = [
    ["Error: boot", "    at main (app.js:1:2)", true],
    ["Error: boot", "\tat com.example.Main.main(Main.java:1)", true],
    ["Error: boot", "at main (app.js:1:2)", true],
    ["Error: boot", "attempt 2", false],
    ["Error: boot", '  {"level":"info","message":"m"} ', false],
    ["Error: boot", "  {", true],
    ["Error: boot", "Caused by: x", false],
    ["Error: boot", "", false],
    ["Error: boot", "  ", false],
    ["Traceback (most recent call last):", '  File "app.py", line 1, in <module>', true],
    [PYTHON, "KeyError: 'x'", true],
    [PYTHON, "werkzeug.exceptions.NotFound: 404", true],
    [PYTHON, "KeyboardInterrupt", true],
    [PYTHON, "2026-01-15 the next line", false],
    [`${PYTHON}\nKeyError: 'x'`, "ValueError: y", false],
    ["Error: boot", "KeyError: 'x'", false],
  ];
  for (const [before, line, continues] of rows) {
    const lines = before.split("\n");
    const soFar = { first: lines[0]!, last: lines.at(-1)! };
    t.equal(continuesTrace(line, soFar), continues, JSON.stringify([before, line]));
  }
  t.end();
});

t.test("a trace that comes at once is one entry", async (t) => {
  const code = `
    process.stdout.write("one\\n  two\\n\\tthree\\nfour\\n\\n  five\\n");
    process.stdout.write('{"level":"warn","message":"json"}\\n  six\\n');
    process.stderr.write(new Error("boot").stack.split("\\n").slice(0, 3).join("\\n") + "\\n" + "  x".repeat(30_000) + "\\n");
    process.stdout.write("done\\n");
    require("node:http").createServer().listen(process.env.PORT);`;
  const server = await start(t, { command: `exec ${process.execPath} app.cjs`, files: { "app.cjs": code } });
  await server.entry(({ message }) => message === "app listening");
  await server.entry(({ message }) => message === "done");
  const boot = await server.entry(({ message }) => message.startsWith("Error: boot"));
  t.match(boot, { level: "error", message: /^Error: boot\n {4}at [^\n]+\n {4}at [^\n]+/ });
  const others = server.entries.filter(({ message }) => !/^app |^Error: boot|^ *x/.test(message));
  t.same(
    others.map(({ message }) => message),
    ["one\n  two\n\tthree", "four", "  five", "json", "  six", "done"],
  );
});

t.test("what an app writes to stderr has its own levels, and a crash is an error", async (t) => {
  const lines = [
    "WARNING: This is a development server.\\n * Running on http://127.0.0.1:3000\\nPress CTRL+C to quit",
    '127.0.0.1 - - [30/Nov/2026 21:58:16] \\"GET / HTTP/1.1\\" 200 -',
    'Traceback (most recent call last):\\n  File \\"app.py\\", line 1, in <module>\\nKeyError: 1',
  ];
  const code = `
    process.stdout.write("WARNING: on stdout\\n");
    process.stderr.write("${lines.join("\\n")}\\n");
    require("node:http").createServer().listen(process.env.PORT);`;
  const server = await start(t, { command: `exec ${process.execPath} app.cjs`, files: { "app.cjs": code } });
  await server.entry(({ message }) => message === "WARNING: on stdout");
  await server.entry(({ message }) => message.startsWith("Traceback"));
  const own = server.entries.filter(({ message }) => !/^app /.test(message));
  t.same(own.map(({ level, message }) => `${level} ${message}`).sort(), [
    "error Press CTRL+C to quit",
    'error Traceback (most recent call last):\n  File "app.py", line 1, in <module>\nKeyError: 1',
    'info 127.0.0.1 - - [30/Nov/2026 21:58:16] "GET / HTTP/1.1" 200 -',
    "info WARNING: on stdout",
    "warning WARNING: This is a development server.\n * Running on http://127.0.0.1:3000",
  ]);
});

t.test("an app's output becomes entries", async (t) => {
  const server = await start(t, {
    app: "processes/writes.mjs",
    config: { logs: { stdout: "notice", stderr: "critical" } },
  });
  const written = async (path: string) => {
    const before = server.entries.length;
    await ask(server.port, { path });
    await server.entry(({ fields }) => fields.path === path && fields.status === 200);
    const own = server.entries.slice(before).filter(({ message, fields }) => !/^app /.test(message) && !fields.path);
    return own.map(({ level, message, fields: { stage, version, ...fields } }) => {
      t.same([stage, version], ["development", "development"]);
      return [level, message, fields];
    });
  };
  t.same(await written("/torn"), [
    ["notice", "one line", {}],
    ["notice", "two \u20ac", {}],
    ["critical", "an error", {}],
  ]);
  t.same(await written("/structured"), [
    ["debug", "user login", { user: "ada" }],
    ["warn", "extra", { user: 7 }],
    ["notice", '{"level":1,"message":"no level"}', {}],
    ["notice", '{"message":"no level either"}', {}],
    ["notice", "[1]", {}],
    ["notice", "{broken", {}],
  ]);
  t.same(await written("/invalid"), [["notice", "a\ufffdb", {}]]);
  await ask(server.port, { path: "/flood" });
  await server.entry(({ message }) => message === "line 19999");
  const flood = server.entries.filter(({ message }) => /^line /.test(message)).map(({ message }) => message);
  t.same(
    flood,
    Array.from({ length: 20_000 }, (_, i) => `line ${i}`),
    "a flood arrives whole and in order",
  );
  await ask(server.port, { path: "/last" });
  await server.entry(({ message }) => message === "no newline");
});

t.test("the development log", async (t) => {
  const directory = makeProject();
  t.teardown(() => rmSync(directory, { recursive: true }));
  const log = openDevelopmentLog(directory);
  const path = join(directory, ".tool/development.ndjson");
  const entry = (message: string): Entry => ({ timestamp: NOW, level: "info", message, fields: { n: 1 } });
  const messages = (file = path) =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

  t.equal(log.path, path);
  t.notOk(existsSync(join(directory, ".tool")), "nothing is made before there is something to write");
  log.write([entry("one"), entry("two")]);
  log.write([{ ...entry("three"), id: "7" }]);
  await log.close();
  t.equal(
    readFileSync(path, "utf8").split("\n")[2],
    `{"id":"7","timestamp":"${NOW}","level":"info","message":"three","fields":{"n":1}}`,
  );
  t.same(messages(), ["one", "two", "three"]);
  t.equal(mode(path), "600");
  t.equal(mode(join(directory, ".tool")), "700");
  t.equal(readFileSync(join(directory, ".tool/.gitignore"), "utf8"), "*\n");

  log.write([entry("four")]);
  await log.close();
  t.same(messages(), ["one", "two", "three", "four"], "appended");

  log.write([entry("five")]);
  await until("five is written", () => messages().includes("five"));
  rmSync(join(directory, ".tool"), { recursive: true });
  log.write([entry("six")]);
  await log.close();
  t.same(messages(), ["six"], "a deleted folder is made again");

  chmodSync(join(directory, ".tool"), 0o755);
  writeFileSync(join(directory, ".tool/.gitignore"), "mine\n");
  log.write([entry("seven")]);
  await log.close();
  t.equal(mode(join(directory, ".tool")), "700");
  t.equal(readFileSync(join(directory, ".tool/.gitignore"), "utf8"), "mine\n", "a file that is there stays");
});

t.test("the development log is rotated, one old file is kept", async (t) => {
  const directory = makeProject();
  t.teardown(() => rmSync(directory, { recursive: true }));
  const path = join(directory, ".tool/development.ndjson");
  const log = openDevelopmentLog(directory, { maxFileBytes: 1_000 });
  for (let i = 0; i < 30; i++) {
    log.write([{ timestamp: NOW, level: "info", message: `entry ${i}`, fields: {} }]);
    // One at a time: what comes while a write is under way is written at once, whatever the limit.
    await until("the entry", () => existsSync(path) && readFileSync(path, "utf8").includes(`"entry ${i}"`));
  }
  await log.close();
  const read = (file: string) =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
  t.ok(statSync(path).size <= 1_000);
  t.ok(statSync(`${path}.1`).size <= 1_000);
  const kept = [...read(`${path}.1`), ...read(path)];
  t.same(kept, Array.from({ length: 30 }, (_, i) => `entry ${i}`).slice(-kept.length), "whole lines, in order");
  t.equal((statSync(`${path}.1`).mode & 0o777).toString(8), "600");
});

t.test("a log that cannot be written says so once, and never holds anybody up", async (t) => {
  const directory = makeProject({ ".tool": "a file in its place" });
  t.teardown(() => rmSync(directory, { recursive: true }));
  const errors: Error[] = [];
  const log = openDevelopmentLog(directory, { onError: (error) => errors.push(error), maxPendingBytes: 10_000 });
  const entry = { timestamp: NOW, level: "info", message: "x".repeat(100), fields: {} };
  for (let i = 0; i < 3; i++) {
    // On a busy machine the last may still be waiting when the folder is there.
    log.write([{ ...entry, message: "before" }]);
    await until("the error", () => errors.length > 0);
  }
  t.equal(errors.length, 1);
  t.match(errors[0]!.message, /^cannot write .*development\.ndjson: EEXIST/);
  rmSync(join(directory, ".tool"));
  mkdirSync(join(directory, ".tool"));
  for (let i = 0; i < 500; i++) log.write([entry]);
  await log.close();
  log.write([entry]);
  await log.close();
  const lines = readFileSync(log.path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const dropped = lines.find(({ message }) => message === "entries dropped because the disk was too slow");
  const written = lines.filter(({ message }) => message === entry.message);
  t.equal(dropped.fields.entries + written.length, 501, "what was dropped is counted");
});
