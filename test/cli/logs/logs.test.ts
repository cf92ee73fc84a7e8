// `tool logs`: how entries look, where they come from, and that they keep coming.
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import t from "tap";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { type Block, LineBlocks, MAX_LINE_BYTES } from "../../../cli/logs/line-blocks.ts";
import { namesInside, namesSavedQuery, notFirst, parseWithSaved } from "../../../cli/logs/saved-query.ts";
import { logText } from "../../../cli/output/log-text.ts";
import { applyEdits, renderProblem } from "../../../grammar/problem.ts";
import { parsePipeline, printPipeline } from "../../../grammar/query/index.ts";
import { cliPath, shell, spawnTool, tool } from "../../support/cli.ts";
import { until } from "../../support/until.ts";
import { recorderOf } from "../../support/vectors.ts";
import rows from "../../vectors/logs.json" with { type: "json" };
import summaryRows from "../../vectors/summary.json" with { type: "json" };

const NOW_MS = Date.parse("2025-06-30T12:00:00Z");

t.test("entries as text", (t) => {
  const record = recorderOf("logs.json", rows);
  for (const row of rows) {
    const { name, entry } = row;
    const lines = (options: { color: boolean; expand: boolean }) =>
      logText({ ...options, nowMs: NOW_MS, offsetMinutes: () => 0 })(entry)
        .replace(/\n$/, "")
        .split("\n");
    record(row, {
      text: lines({ color: false, expand: false }),
      color: lines({ color: true, expand: false }),
      expanded: lines({ color: false, expand: true }),
    });
    const { text, color, expanded } = row;
    t.same(lines({ color: false, expand: false }), text, name);
    t.same(lines({ color: true, expand: false }), color, `${name}, in colour`);
    t.same(lines({ color: false, expand: true }), expanded, `${name}, expanded`);
  }
  t.end();
});

t.test("entries of all senders as a line", (t) => {
  const record = recorderOf("summary.json", summaryRows);
  for (const row of summaryRows) {
    const format = logText({ color: false, expand: false, nowMs: NOW_MS, offsetMinutes: () => 0 });
    const terminal = format(readEntryLine(row.line).entry).trim();
    record(row, { terminal });
    t.equal(terminal, row.terminal, row.name);
  }
  t.end();
});

t.test("a summary takes the place of a message only where that says nothing else", (t) => {
  const expand = logText({ color: false, expand: true, nowMs: NOW_MS, offsetMinutes: () => 0 });
  const texts = [
    "GET /a 200 12 - 3.214 ms",
    '{"level":"info","msg":"request","method":"GET","path":"/a","status":200}',
    '{"level":"error","message":"E: x\\n    at a.js:1","code":7}',
  ].map((line) => expand(readEntryLine(line).entry));
  t.same(texts, [
    "             info  GET /a 200 12 - 3.214 ms\n",
    "             info  GET /a 200\n  method  GET\n  path    /a\n  status  200\n",
    "             error E: x\n        at a.js:1\n  code  7\n",
  ]);
  t.end();
});

t.test("a date line where the day changes, columns that grow, local time across a change of the clock", (t) => {
  const entry = (timestamp: string, level: string, pipe?: string) => ({
    timestamp,
    level,
    message: "m",
    fields: pipe === undefined ? {} : { stage: pipe },
  });
  // Central Europe, 2025-03-30: at 01:00 UTC the clock goes from 02:00 to 03:00.
  const offsetMinutes = (timeMs: number) => (timeMs < Date.parse("2025-03-30T01:00:00Z") ? -60 : -120);
  const format = logText({ color: false, expand: false, nowMs: Date.parse("2025-03-30T12:00:00Z"), offsetMinutes });
  const texts = [
    entry("2025-03-29T22:59:59.5Z", "info"),
    entry("2025-03-29T23:00:00Z", "critical", "staging"),
    entry("2025-03-30T00:59:59.999Z", "info", "production"),
    entry("2025-03-30T01:00:00Z", "info", "dev"),
  ].map(format);
  t.same(texts, [
    "2025-03-29 Saturday\n23:59:59.500 info  m\n",
    "2025-03-30 Sunday\n00:00:00.000 critical staging m\n",
    "01:59:59.999 info     production m\n",
    "03:00:00.000 info     dev        m\n",
  ]);
  t.end();
});

t.test("whatever an entry holds, its text is lines without control characters", (t) => {
  const format = logText({ color: false, expand: false, nowMs: NOW_MS, offsetMinutes: () => 0 });
  const expand = logText({ color: false, expand: true, nowMs: NOW_MS, offsetMinutes: () => 0 });
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (value, message, key) => {
      const { entry } = readEntryLine(
        JSON.stringify({ level: key, message, fields: { [key]: value, [message]: key } }),
      );
      const line = format(entry);
      const plain = (text: string) => !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text);
      return line.indexOf("\n") === line.length - 1 && plain(line) && plain(expand(entry));
    }),
    { seed: 1, numRuns: 2000 },
  );
  t.end();
});

t.test("lines are the same however the bytes are cut", (t) => {
  const linesOf = ({ bytes, start, end }: Block) => {
    if (bytes[end] !== 10) throw new Error("no LF behind a block");
    return bytes.toString("utf8", start, end).split("\n");
  };
  const text = fc.array(fc.constantFrom("\n", "\r\n", "a", "é", "🎉", " ", '{"a":1}'), { maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(9), { minLength: 1, maxLength: 60 }), fc.nat(9), (parts, cuts, readBytes) => {
      const bytes = Buffer.from(parts.join(""));
      const blocks = new LineBlocks(readBytes + 1);
      const lines: string[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + 1 + cuts[i % cuts.length]!;
        for (const block of blocks.push(bytes.subarray(at, end))) lines.push(...linesOf(block));
        at = end;
      }
      const last = blocks.end();
      if (last !== undefined) lines.push(...linesOf(last));
      const expected = bytes.toString().split("\n");
      if (expected.at(-1) === "") expected.pop();
      return JSON.stringify(lines) === JSON.stringify(expected);
    }),
    { seed: 1, numRuns: 2000 },
  );
  const blocks = new LineBlocks();
  t.equal([...blocks.push(Buffer.alloc(MAX_LINE_BYTES, "x"))].length, 1, "a line without end is taken in pieces");
  t.equal([...blocks.push(Buffer.from("y\n"))].length, 1);
  t.end();
});

t.test("what a line is as an entry", (t) => {
  const rows: [line: string, entry: object, isEntry: boolean][] = [
    [
      '{"timestamp":"t","level":"warn","message":"m","fields":{"a":1}}',
      { timestamp: "t", level: "warn", message: "m", fields: { a: 1 } },
      true,
    ],
    [
      '\ufeff {"id":"1","message":"m","fields":{}}',
      { id: "1", timestamp: "", level: "info", message: "m", fields: {} },
      true,
    ],
    ['{"status":500,"level":"error"}', { timestamp: "", level: "error", message: "", fields: { status: 500 } }, true],
    [
      '{"timestamp":1751284800,"level":30}',
      { timestamp: "2025-06-30T12:00:00.000Z", level: "info", message: "", fields: { level: 30 } },
      true,
    ],
    // A value that cannot be what its key says is a field of that name.
    ['{"timestamp":1e300}', { timestamp: "", level: "info", message: "", fields: { timestamp: 1e300 } }, true],
    [
      '{"level":"error","message":{"code":"E42"},"fields":{"a":1}}',
      { timestamp: "", level: "error", message: "", fields: { a: 1, message: { code: "E42" } } },
      true,
    ],
    [
      '{"level":400,"message":5,"id":7,"a":1}',
      { timestamp: "", level: "info", message: "", fields: { a: 1, level: 400, message: 5, id: 7 } },
      true,
    ],
    [
      '{"level":{"name":"x"},"message":["a"],"fields":"x"}',
      { timestamp: "", level: "info", message: "", fields: { fields: "x", level: { name: "x" }, message: ["a"] } },
      true,
    ],
    [
      '{"level":true,"message":null,"fields":["x"],"timestamp":{"a":1}}',
      {
        timestamp: "",
        level: "info",
        message: "",
        fields: { fields: ["x"], level: true, message: null, timestamp: { a: 1 } },
      },
      true,
    ],
    [
      '{"level":"warn","msg":"m","id":7,"fields":null,"timestamp":false,"a":1}',
      { timestamp: "", level: "warn", message: "m", fields: { a: 1, fields: null, timestamp: false, id: 7 } },
      true,
    ],
    [
      '{"level":"warn","message":"m","timestamp":"22/11/2026 18:27:26"}',
      { timestamp: "22/11/2026 18:27:26", level: "warn", message: "m", fields: {} },
      true,
    ],
    ["plain text\r", { timestamp: "", level: "info", message: "plain text", fields: {} }, false],
    ["[1]", { timestamp: "", level: "info", message: "[1]", fields: {} }, false],
    ['{"cut', { timestamp: "", level: "info", message: '{"cut', fields: {} }, false],
    ["null", { timestamp: "", level: "info", message: "null", fields: {} }, false],
  ];
  for (const [line, entry, isEntry] of rows) t.same(readEntryLine(line), { entry, isEntry }, line);
  t.end();
});

t.test("odd values of level, message, fields and id are found and shown", async (t) => {
  const lines = [
    '{"level":"error","message":{"code":"E42"},"n":1}',
    '{"level":400,"message":"rate","n":2}',
    '{"level":"info","message":"m","fields":"x","n":3}',
    '{"level":"info","message":["a","b"],"id":7,"n":4}',
    '{"level":{"name":"x"},"msg":"m","fields":[5],"n":5}',
    '{"level":"info","message":"m","fields":{"status":1},"timestamp":"22/11/2026 18:27:26"}',
    '{"level":"info","message":"m","time":"2025-06-30T12:00:00Z","timestamp":"never"}',
  ];
  const cwd = t.testdir({ "odd.log": `${lines.join("\n")}\n` });
  const rows: [query: string, ...matches: number[]][] = [
    ["fields.message.code = E42", 0],
    ["message.code = E42", 0],
    ["fields.level = 400", 1],
    ["fields.level.name = x", 4],
    ["fields.message = b", 3],
    ["fields.fields = x", 2],
    ["fields.fields = 5", 4],
    ["id = 7", 3],
    ["fields.id = 7", 3],
    ["exists fields.id", 3],
    ["exists fields.message", 0, 3],
    ["fields.timestamp = never", 6],
  ];
  for (const [query, ...matches] of rows) {
    const { stdout } = await tool(["logs", "--file", "odd.log", query], { cwd });
    t.equal(stdout, matches.map((at) => `${lines[at]}\n`).join(""), query);
  }
  const { stdout } = await tool(["logs", "--file", "odd.log", "--format", "text", "-n", "6"], { cwd });
  t.equal(
    stdout,
    [
      "             error   n=1  message.code=E42",
      "             info  rate  n=2  level=400",
      "             info  m  n=3  fields=x",
      '             info    n=4  message=["a","b"]  id=7',
      "             info    msg=m  n=5  fields=[5]  level.name=x",
      "22/11/2026 18:27:26 info  m  status=1",
      "",
    ].join("\n"),
  );
});

t.test("saved queries", (t) => {
  const saved = { slow: "duration > 1s", "my-errors": "error or critical", bad: "a =" };
  const rows: [source: string, expected: string][] = [
    ["@slow", "duration > 1s"],
    ["  @slow  ", "duration > 1s"],
    ["@my-errors status >= 500", "(error or critical) and status >= 500"],
    ["@slow @my-errors", "duration > 1s and (error or critical)"],
    ["@slow and a or b", "duration > 1s and (a or b)"],
    ["@slow AND not a", "duration > 1s and not a"],
    [
      "@sloww",
      'error: tool.json has no saved query "sloww" [query/unknown-saved-query]\n  | @sloww\n  | ^^^^^^\n  = did you mean @slow?',
    ],
    [
      "@slow @x",
      'error: tool.json has no saved query "x" [query/unknown-saved-query]\n  | @slow @x\n  |       ^^\n  = logs.queries has: slow, my-errors, bad',
    ],
    [
      "@toString",
      'error: tool.json has no saved query "toString" [query/unknown-saved-query]\n  | @toString\n  | ^^^^^^^^^\n  = logs.queries has: slow, my-errors, bad',
    ],
  ];
  for (const [source, expected] of rows) {
    const parsed = parseWithSaved(source, saved);
    t.equal(parsed.ok ? printPipeline(parsed.value) : renderProblem(parsed.problems[0]!, { source }), expected, source);
  }
  for (const [source, fixed] of [
    ["method = GET @slow | count", "@slow method = GET | count"],
    ["method = GET and @slow and a | count", "@slow method = GET and a | count"],
    ["@my-errors (a or b) @slow", "@slow @my-errors (a or b)"],
    ["not @slow | count", undefined],
    ["a or @slow", undefined],
    ["a @other | count", "@other a | count"],
    ["a | where @slow | count", undefined],
  ] as const) {
    const plain = parsePipeline(source);
    const whole = namesSavedQuery(source) ? parseWithSaved(source, saved) : undefined;
    const [problem] = whole
      ? whole.ok
        ? []
        : whole.problems
      : plain.ok
        ? namesInside(plain.value).map((term) => notFirst(term, source))
        : [];
    t.equal(problem?.code, "query/saved-query-place", source);
    t.equal(problem?.fix && applyEdits(source, problem.fix.edits), fixed, source);
  }
  for (const source of [
    "@timestamp > 1h | count",
    "exists @x | count by @y",
    "a | where @x = 1",
    "a | count | where @x = 1",
  ]) {
    const plain = parsePipeline(source);
    t.same(plain.ok ? namesInside(plain.value) : [], [], source);
  }
  const own = parseWithSaved("@slow status >", saved);
  t.equal(own.ok || own.problems[0]?.span.start, 13, "a mistake behind a saved query is marked where it stands");
  for (const field of [
    "@timestamp = 1",
    "@x > 2",
    "@x in (1)",
    "@x contains y",
    "error @slow",
    "@a.b:500",
    "@m like x",
    "@m is y",
  ]) {
    t.equal(namesSavedQuery(field), false, `${field} has a field's name`);
  }
  t.end();
});

/** Lines of a log, one a second, the last one now. */
const line = (message: string, more: Record<string, unknown> = {}, ageMs = 0) =>
  JSON.stringify({ timestamp: new Date(Date.now() - ageMs).toISOString(), level: "info", message, fields: more });

t.test("where entries come from", async (t) => {
  const HOUR_MS = 3_600_000;
  const cwd = t.testdir({
    "tool.json": '{ "name": "app", "logs": { "queries": { "slow": "duration > 1s" }, "include": ["ops/*.json"] } }',
    ops: { "more.json": '{ "logs": { "queries": { "quick": "duration < 1s" } } }' },
    ".tool": {
      "development.ndjson.1": `${line("days ago", {}, 50 * HOUR_MS)}\n${line("rotated", {}, 3 * HOUR_MS)}\n`,
      "development.ndjson": `${line("fast", { duration: 5 }, 2 * HOUR_MS)}\n${line("slow", { duration: 2000 }, HOUR_MS)}\n`,
    },
    a: { "1.log": '{"message":"a1"}\n', "2.log": '  {"message" : "a2"}', "[x].log": '{"message":"x"}\n' },
    "times.log": [
      '{"timestamp":"2016-12-31T23:59:60Z","message":"leap"}',
      '{"timestamp":"2017-01-01T10:00:00.500","message":"zone"}',
      '{"timestamp":"2017-01-01T12:00:00.000-0200","message":"offset"}',
      '{"timestamp":"2017-01-01T00:30:00+01:00","message":"before"}\n',
    ].join("\n"),
    "old.log": `${line("old", {}, 100 * HOUR_MS)}\n{"message":"no time"}\ntext with "quotes"\n\n`,
  });
  const note = "reading .tool/development.ndjson, the log of tool start\n";
  const messages = (text: string) =>
    text
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).message)
      .join(" ");
  const rows: [line: string, expected: string, stderr?: string][] = [
    ["tool logs", "rotated fast slow", note],
    ["tool logs -S 90m", "slow", note],
    ["tool logs -S 1M", "days ago rotated fast slow", note],
    ["tool logs --since 1d12h --until 150m", "rotated", note],
    [`tool logs --since ${new Date(Date.now() - 1.5 * HOUR_MS).toISOString()}`, "slow", note],
    ["tool logs @slow", "slow", note],
    ["tool logs @quick", "fast", note],
    ["tool logs 'message = nothing'", "", note],
    ["tool logs --file a/1.log --file a/2.log", "a1 a2"],
    ["tool logs --file 'a/[0-9].log'", "a1 a2"],
    ["tool logs --file 'a/[x].log'", "x"],
    ["tool logs --file old.log", 'old no time text with "quotes"'],
    ["tool logs --file old.log -S 1M", "old"],
    ["tool logs --file old.log -S 1d", ""],
    // Queries and bounds read the time of an entry alike: a leap second, no zone, an offset without a colon.
    ...["--since 2016-12-31T23:59:60Z", "'timestamp >= \"2017-01-01\"'"].map((argument): [string, string] => [
      `tool logs --file times.log ${argument}`,
      "leap zone offset",
    ]),
    ["tool logs --file times.log --until 2017-01-01T10:30:00Z", "leap zone before"],
    ["tool logs --file times.log 'timestamp < \"2017-01-01T10:30:00Z\"'", "leap zone before"],
    ["cat a/1.log | tool logs", "a1"],
    ["tool logs < a/1.log", "a1"],
    ["cat a/1.log | tool logs --file a/2.log --file -", "a2 a1"],
    ["cat a/1.log | tool logs --file a/2.log", "a2"],
    ["cat a/1.log | tool logs --file - --file -", "a1"],
    // A pipe with a name: what is read of it to look at it would be lost.
    ["tool logs --file <(cat a/1.log)", "a1"],
    ["tool logs --file a/1.log --file ./a/1.log --file 'a/?.log' --file $PWD/a/2.log", "a1 a2"],
    ["tool logs < /dev/null", "rotated fast slow", note],
  ];
  for (const [command, expected, stderr = ""] of rows) {
    const outcome = await shell(command, { cwd });
    t.equal(messages(outcome.stdout), expected, command);
    t.equal(outcome.stderr, stderr, `${command}: stderr`);
    t.equal(outcome.code, 0, `${command}: exit code`);
  }
});

t.test("what is wrong is said, and there is nothing on stdout", async (t) => {
  const dir = t.testdir({ project: { folder: {}, "tool.json": '{ "name": "app" }' }, empty: {} });
  const rows: [argv: string[], code: number, stderr: string | RegExp][] = [
    [["logs", "--file", "none"], 2, 'error: cannot read "none": there is no such file\n'],
    [
      ["logs", "--file", "*.none"],
      2,
      'error: no file matches "*.none"\n  quote the pattern, so that the shell does not expand it\n',
    ],
    [
      ["logs", "-f", "--file", "-", "--file", "tool.json"],
      2,
      "error: stdin cannot be followed together with files\n  omit -f, or the files\n",
    ],
    [["logs", "--file", "folder"], 2, 'error: cannot read "folder": it is a folder\n'],
    [["logs", "--since=-1d"], 2, /^error: --since "-1d": /],
    ...["0001-01-01", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00", "40000d"].map(
      (time): [string[], number, string] => [
        ["logs", "-S", time],
        2,
        `error: --since "${time}": no log goes back beyond 1970\n  write a time from 1970-01-01 to 9999-12-31, or a duration like 15m, 1d12h or 1M\n`,
      ],
    ),
    [
      ["logs", "--until", "10000-01-01"],
      2,
      /^error: --until "10000-01-01": a year has four digits\n {2}write a time from/,
    ],
    [["logs", "--since=-0001-01-01"], 2, /^error: --since "-0001-01-01": a year has four digits\n/],
    [["logs", "--until", "9999-12-31T23:59:59-01:00"], 2, /: no log has times after the year 9999\n/],
    [["logs", "-S", "yesterday"], 2, /^error: --since "yesterday": /],
    [["logs", "--since", "2025-06-30T12:00"], 2, /a time without a zone\n {2}write 2025-06-30T12:00:00Z, or/],
    [["logs", "--until", "2025-06-31"], 2, /^error: --until "2025-06-31": no such time\n/],
    [["logs", "--since", "2025-06-30T24:00:00Z"], 2, /no such time\n/],
    [["logs", "--until", "2025-99-99"], 2, /^error: --until "2025-99-99": no such time\n/],
    [
      ["logs", "--since", "1h", "--until", "2h"],
      2,
      'error: --since "1h" is not before --until "2h"\n  write --since 2h --until 1h\n',
    ],
    [["logs", "--since", "2025-06-30", "--until", "2025-06-30"], 2, /is not before .*\n {2}give a later --until\n$/],
    [
      ["logs", "--file", "tool.json", "--service", "ftp://nonsense"],
      2,
      "error: --file and --service name two logs\n  leave one of them out\n",
    ],
    [["logs", "status >="], 1, /^error: nothing follows ">=" .*\n {2}\| status >=\n {2}\| {8}\^\^\n/],
    [["logs", "@slow"], 1, /^error: tool\.json has no saved query "slow"/],
  ];
  for (const [argv, code, stderr] of rows) {
    const outcome = await tool(argv, { cwd: join(dir, "project") });
    t.equal(outcome.code, code, argv.join(" "));
    t.equal(outcome.stdout, "", argv.join(" "));
    if (typeof stderr === "string") t.equal(outcome.stderr, stderr, argv.join(" "));
    else t.match(outcome.stderr, stderr, argv.join(" "));
  }
  const nothing = await tool(["logs"], { cwd: join(dir, "empty") });
  t.equal(nothing.code, 2);
  t.match(nothing.stderr, /^error: there is no log to read: /);
});

t.test("a match is printed byte for byte, text becomes an entry", async (t) => {
  const odd = '  {"level" : "info","fields":{"n":1.0e3,"n":2}, "message":"\\u0041\\/"}\t';
  const cwd = t.testdir({ "odd.log": `${odd}\r\nerror in plain text\n{"level":"error","message":"last"}` });
  const json = await tool(["logs", "--file", "odd.log"], { cwd });
  t.equal(
    json.stdout,
    `${odd}\r\n{"level":"info","message":"error in plain text","fields":{}}\n{"level":"error","message":"last"}\n`,
  );
  const text = await tool(["logs", "--file", "odd.log", "--format", "text", "level = error"], { cwd });
  t.equal(text.stdout, "             error last\n");
});

t.test("following: appended, cut in the middle, rotated, truncated, new files", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }', logs: {} });
  const path = join(cwd, ".tool/development.ndjson");
  const running = spawnTool(["logs", "-f", "not message = skip"], { cwd });
  const others = spawnTool(["logs", "-f", "--file", "logs/*.log"], { cwd });
  const shows = (which: typeof running, ...expected: string[]) =>
    until(expected.join(" "), () => {
      const lines = which.stdout().split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line).message).join(" ") === expected.join(" ");
    });
  try {
    await until("the note", () => running.stderr().includes("does not exist yet"));
    await mkdir(join(cwd, ".tool"));
    await writeFile(path, `${line("one")}\n${line("skip")}\n`);
    await shows(running, "one");
    const two = line("two");
    await appendFile(path, two.slice(0, 20));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await appendFile(path, `${two.slice(20)}\n`);
    await shows(running, "one", "two");
    await appendFile(path, `${line("three")}\n`);
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, `${line("late")}\n`);
    await writeFile(path, `${line("four")}\n`);
    await shows(running, "one", "two", "three", "late", "four");
    await truncate(path, 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await appendFile(path, `${line("five")}\n`);
    await shows(running, "one", "two", "three", "late", "four", "five");

    t.equal(others.child.exitCode, 2, "a pattern that matches nothing is a slip, followed or not");
  } finally {
    running.kill("SIGINT");
    others.kill("SIGKILL");
  }
  t.equal((await running.ended).code, 130);

  await writeFile(join(cwd, "logs/a.log"), `${line("a")}\n`);
  const globbed = spawnTool(["logs", "-f", "--file", "logs/*.log"], { cwd });
  try {
    await shows(globbed, "a");
    await writeFile(join(cwd, "logs/b.log"), `${line("b")}\n`);
    await shows(globbed, "a", "b");
  } finally {
    globbed.kill("SIGTERM");
  }
  t.equal((await globbed.ended).code, 130);
});

t.test("following begins with the last ten entries, and with all that --since asks for", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }', ".tool": {}, logs: {} });
  const path = join(cwd, ".tool/development.ndjson");
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
  const now = (message: string) =>
    JSON.stringify({ timestamp: new Date().toISOString(), level: "info", message, fields: {} });
  const text = `${[...numbers(1, 25), "skip"].map(now).join("\n")}\n`;
  await writeFile(path, text);
  await writeFile(join(cwd, "logs/a.log"), text);
  const rows: [string[], string[]][] = [
    [["not message = skip"], numbers(16, 25)],
    [["--since", "1h", "not message = skip"], numbers(1, 25)],
    [["--file", "logs/*.log", "message != skip"], numbers(16, 25)],
    [
      ["--limit", "12", "not message = skip"],
      [...numbers(16, 25), "new", "newer"],
    ],
  ];
  for (const [words, expected] of rows) {
    const running = spawnTool(["logs", "-f", ...words], { cwd });
    t.teardown(() => running.kill("SIGKILL"));
    const messages = () =>
      running
        .stdout()
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).message);
    const begin = expected.filter((message) => /^\d/.test(message));
    await until(`${words}: the past`, () => messages().length >= begin.length);
    t.same(messages(), begin, words.join(" "));
    for (const message of ["new", "newer"]) {
      for (const file of [path, join(cwd, "logs/a.log")]) await appendFile(file, `${now(message)}\n`);
    }
    await until(`${words}: what comes`, () => messages().length >= begin.length + 2);
    t.same(messages().slice(begin.length), ["new", "newer"]);
    running.kill("SIGINT");
    await running.ended;
    await writeFile(path, text);
    await writeFile(join(cwd, "logs/a.log"), text);
  }
});

t.test("a live pipe shows each line at once, and ends with its writer", async (t) => {
  const cwd = t.testdir();
  // The writer ends when the line is shown, which would never be if that were shown at its end.
  const { stdout } = await shell(
    `mkfifo shown; (echo '{"message":"now"}'; cat shown) | tool logs --file - | (head -c 10; echo; echo > shown; echo ended)`,
    { cwd },
  );
  t.match(stdout, /^\{"message"\nended\n$/);
});

t.test("tool logs | head ends quietly", async (t) => {
  const cwd = t.testdir({ "big.log": `${'{"message":"x"}\n'.repeat(50_000)}` });
  const { stdout, stderr } = await shell("tool logs --file big.log | head -n 1; echo $PIPESTATUS", { cwd });
  t.equal(stdout, '{"message":"x"}\n0\n');
  t.equal(stderr, "");
});

t.test("memory does not grow with the input", { skip: process.platform !== "linux" && "needs /proc" }, async (t) => {
  // 120 MB, all of it selected, to a reader that is slower than the writer: backpressure, not buffers.
  const entry =
    '{"timestamp":"2025-06-30T12:00:00Z","level":"info","message":"response","fields":{"status":200,"path":"/a"}}';
  const measure = `
    const { spawn } = require("node:child_process");
    const { readFileSync } = require("node:fs");
    const argv = [${JSON.stringify(cliPath)}, "logs", "--file", "-", "status = 200"];
    const child = spawn(process.execPath, argv, { stdio: "inherit" });
    let peakKiB = 0;
    const timer = setInterval(() => {
      try {
        peakKiB = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/" + child.pid + "/status", "utf8"))[1]);
      } catch {}
    }, 50);
    child.on("exit", () => { clearInterval(timer); console.error(peakKiB); });`;
  const { stdout, stderr, code } = await shell(
    `yes '${entry}' | head -n 1100000 | node -e '${measure}' | { sleep 1; tail -n 1; }`,
  );
  t.equal(code, 0);
  t.equal(stdout, `${entry}\n`);
  t.ok(Number(stderr) > 0 && Number(stderr) < 150_000, `${stderr.trim()} KiB at most`);
});

/** Whether a process has a handler of SIGHUP, which Node has none of: the command has loaded. Only Linux tells. */
function hearsHangup(pid: number): boolean {
  if (process.platform !== "linux") return true;
  const caught = /^SigCgt:\s+([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (BigInt(`0x${caught}`) & 1n) === 1n;
}

t.test("a FIFO that nobody opens or writes ends with Ctrl-C", { skip: process.platform === "win32" }, async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }' });
  execFileSync("mkfifo", ["q"], { cwd });
  for (const argv of [["--count"], ["-f"], ["--limit", "1"]]) {
    for (const isOpen of [false, true]) {
      // Before the command has loaded, the signal just ends it.
      for (;;) {
        const running = spawnTool(["logs", "--file", "q", ...argv, "error"], { cwd });
        // Only with a reader at the other end, so that the command is known to wait.
        const writer = isOpen ? openSync(join(cwd, "q"), constants.O_WRONLY) : undefined;
        await until("the command to hear signals", () => hearsHangup(running.pid));
        running.child.kill("SIGINT");
        const { code, signal } = await running.ended;
        if (writer !== undefined) closeSync(writer);
        if (signal !== null && process.platform !== "linux") continue;
        t.ok(code !== null && signal === null, `${argv.join(" ")}, ${isOpen ? "open" : "not open"}: ${code} ${signal}`);
        break;
      }
    }
  }
});

t.test("stdin is read as a file is: decompressed, or refused where it is no text", async (t) => {
  const cwd = t.testdir();
  const lines = Array.from({ length: 3000 }, (_, i) => `{"level":"error","message":"line ${i}"}\n`).join("");
  const gzip = gzipSync(lines);
  const put = (name: string, data: string | Buffer) => writeFileSync(join(cwd, name), data);
  put("whole.gz", gzip);
  put("two.gz", Buffer.concat([gzip, gzip]));
  put("cut.gz", gzip.subarray(0, gzip.length - 200));
  put("utf16", Buffer.from(`\ufeff${lines}`, "utf16le"));
  put("binary", Buffer.from("\u0000\u0001"));
  put("short", "{");
  const rows: [line: string, stdout: string, stderr: string, code: number][] = [
    ["tool logs --count error < whole.gz", "3000\n", "", 0],
    ["cat whole.gz | tool logs --count --file - error", "3000\n", "", 0],
    ["(head -c 1 whole.gz; sleep 0.2; tail -c +2 whole.gz) | tool logs --count error", "3000\n", "", 0],
    ["tool logs --count error < two.gz", "6000\n", "", 0],
    ["tool logs --count < short", "1\n", "", 0],
    [
      "tool logs --count error < utf16",
      "0\n",
      'error: cannot read "stdin": it is UTF-16 text\n  convert it: iconv -f utf-16 -t utf-8 | tool logs --file -\n',
      1,
    ],
    [
      "tool logs --count error < binary",
      "0\n",
      'error: cannot read "stdin": it is a binary file\n  logs are text, plain or compressed with gzip\n',
      1,
    ],
  ];
  for (const [line, stdout, stderr, code] of rows) t.match(await shell(line, { cwd }), { stdout, stderr, code }, line);
  const cut = await shell("tool logs --count error < cut.gz", { cwd });
  t.match(cut, { code: 1, stderr: 'error: cannot read "stdin": the gzip file is cut off\n' });
  t.ok(Number(cut.stdout) > 0, "what came before counts");
});

t.test("a file named twice is read once", async (t) => {
  const cwd = t.testdir({ "a.log": '{"message":"one"}\n' });
  const { stdout } = await tool(["logs", "--file", "a.log", "--file", "*.log"], { cwd });
  t.equal(stdout, '{"message":"one"}\n');
});
