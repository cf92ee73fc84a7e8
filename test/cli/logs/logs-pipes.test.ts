// `tool logs` with stages: what is printed for programs and for people, and what cannot be.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { chartText } from "../../../cli/output/chart-text.ts";
import { displayWidth, shortened } from "../../../cli/output/display-width.ts";
import { tableCsv } from "../../../cli/output/table-csv.ts";
import { tableText } from "../../../cli/output/table-text.ts";
import type { RowColumn, Table } from "../../../grammar/query/index.ts";
import { visible } from "../../../grammar/visible-text.ts";
import { cleanEnv, cliPath, spawnTool, tool } from "../../support/cli.ts";
import { bytesReadBy, descriptorsOf } from "../../support/processes.ts";
import { typeInto } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";

const entry = (second: number, fields: object, level = "info") =>
  `${JSON.stringify({ timestamp: `2026-05-01T12:00:${String(second).padStart(2, "0")}.000Z`, level, message: "response", fields })}\n`;

function logIn(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), "logs-pipes-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const lines = Array.from({ length: 40 }, (_, i) =>
    entry(i, { path: `/${i % 3}`, status: i % 4 === 0 ? 500 : 200, duration: i }, i % 4 === 0 ? "error" : "info"),
  );
  writeFileSync(join(folder, "a.ndjson"), lines.join(""));
  const config = {
    name: "test",
    type: "static",
    logs: { queries: { failed: "status >= 500", byPath: "status >= 500 | count by path" } },
  };
  writeFileSync(join(folder, "tool.json"), JSON.stringify(config));
  const logs = (...argv: string[]) => tool(["logs", "--file", "a.ndjson", ...argv], { cwd: folder });
  return { folder, logs };
}

t.test("rows are JSON lines, or a table", async (t) => {
  const { logs } = logIn(t);
  const query = "status >= 500 | count by path";
  const { code, stdout, stderr } = await logs(query);
  t.equal(stdout, '{"path":"/0","count":4}\n{"path":"/1","count":3}\n{"path":"/2","count":3}\n');
  t.same([code, stderr], [0, ""]);
  const text = await logs("--format", "text", query);
  t.match(text.stdout, /^path {2}count\n\/0 {8}4 {2}\u2588+\n\/1 {8}3 {2}\u2588+\n/);
  const units = await logs("--format", "text", "| stats p50(duration) as middle, rate() by level");
  t.match(units.stdout, /^level +middle +rate\(\) {2}middle\ninfo +\d+ms +[\d.]+\/s {2}/);
  const plain = await logs("| limit 2");
  t.match(plain.stdout, /^\{"timestamp":"2026-05-01T12:00:00\.000Z".*\n\{"timestamp":"2026-05-01T12:00:01\.000Z".*\n$/);
});

t.test("values that nest deeper than JSON.stringify can print", async (t) => {
  const { folder } = logIn(t);
  const deep = (open: string, close: string) => `${open.repeat(20_000)}1${close.repeat(20_000)}`;
  for (const [open, close, isList] of [
    ['{"a":', "}", false],
    ["[", "]", true],
  ] as const) {
    const value = deep(open, close);
    // Groups are made of what is in a list.
    const group = isList ? "1" : value;
    writeFileSync(join(folder, "deep.ndjson"), `{"message":"deep","x":${value}}\n`.repeat(2));
    const logs = (...argv: string[]) => tool(["logs", "--file", "deep.ndjson", ...argv], { cwd: folder });
    for (const [query, stdout] of [
      ["| fields x", `{"x":${value}}\n`.repeat(2)],
      ["| count by x", `{"x":${group},"count":2}\n`],
      ["| unique x", `{"x":${value}}\n`],
    ] as const) {
      const answer = await logs(query);
      t.ok(answer.stdout === stdout, `${query} of ${open}`);
      t.same([answer.code, answer.stderr], [0, ""]);
    }
    const csv = await logs("--format", "csv", "| count by x");
    t.ok(csv.stdout === `x,count\r\n${isList ? group : `"${group.replaceAll('"', '""')}"`},2\r\n`, `CSV of ${open}`);
    const text = await logs("--format", "text", "| count by x");
    t.match(text.stdout, isList ? /^x {2}count\n1 / : /^x +count\n\{"a":/);
    t.equal((await logs("--format", "text")).code, 0);
  }
});

t.test("a platform's line whose record is a deep list", async (t) => {
  const { folder } = logIn(t);
  const line = `{"type":"platform.start","record":${"[".repeat(20_000)}${"]".repeat(20_000)}}\n`;
  writeFileSync(join(folder, "deep.ndjson"), line);
  const { code, stderr } = await tool(["logs", "--file", "deep.ndjson", "--format", "text"], { cwd: folder });
  t.same([code, stderr], [0, ""]);
});

t.test("a period bounds steps and rates", async (t) => {
  const { logs } = logIn(t);
  const { stdout } = await logs(
    "--since",
    "2026-05-01T12:00:00Z",
    "--until",
    "2026-05-01T12:01:00Z",
    "| timeseries 15s",
  );
  t.same(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).count),
    [15, 15, 10, 0],
  );
  for (const [until, rate] of [
    ["2026-05-01T12:00:20Z", 1],
    ["2026-05-01T12:00:16Z", 1],
    ["2026-05-01T12:00:00.500Z", 2],
  ] as const) {
    const { stdout } = await logs("--since", "2026-05-01T12:00:00Z", "--until", until, "| stats rate()");
    t.equal(stdout, `{"rate()":${rate}}\n`, until);
  }
});

t.test("saved queries with stages, and stages after saved queries", async (t) => {
  const { logs } = logIn(t);
  const rows = '{"path":"/0","count":4}\n{"path":"/1","count":3}\n{"path":"/2","count":3}\n';
  t.equal((await logs("@byPath")).stdout, rows);
  t.equal((await logs("@failed | count by path")).stdout, rows);
  t.equal((await logs("@failed|count by path")).stdout, rows, "the bar ends the name");
  t.equal((await logs("@byPath | limit 1")).stdout, '{"path":"/0","count":4}\n');
  t.equal((await logs("@byPath duration > 30 | where count > 1")).stdout, "", "terms select before the saved stages");
  const two = await logs("@byPath @byPath");
  t.match(two.stderr, /@byPath is the second saved query with stages \[query\/second-stages\]/);
  const unknown = await logs("@byPath | where cuont > 3");
  t.match(
    unknown.stderr,
    /there is no column "cuont" here[\s\S]*did you mean count\? the columns here are path, count/,
  );
  t.same([two.code, unknown.code], [1, 1]);
});

t.test("a saved query is named first; one that is wrong is no matter to the others", async (t) => {
  const { folder, logs } = logIn(t);
  const queries = { failed: "status >= 500", broken: "status >>> 5", alsoBroken: 5, count: "| count by path |" };
  writeFileSync(join(folder, "tool.json"), JSON.stringify({ name: "test", type: "static", logs: { queries } }));
  const inside = await logs("path = /1 @failed | count");
  t.match(inside.stderr, /a saved query comes first, and @failed is inside[\s\S]*write @failed path = \/1 \| count/);
  const plain = await logs("path = /1 and @failed");
  t.match(plain.stderr, /write @failed path = \/1/);
  const field = await logs("path = /1 or @field");
  t.same([inside.code, plain.code, field.code], [1, 1, 0], "a field without stages is one");
  t.equal((await logs("@failed | count")).stdout, '{"count":10}\n');
  const broken = await logs("@failed @broken");
  t.equal(broken.code, 1);
  t.match(broken.stderr, /status >>> 5/);
  t.equal(broken.stderr.match(/error:/g)?.length, 1, broken.stderr);
});

t.test("stages exclude flags that are of entries", async (t) => {
  const { logs } = logIn(t);
  for (const [flags, hint] of [
    [["--count"], "end the query with | count"],
    [["--limit", "3"], "end the query with | limit 10"],
    [["--expand"], "leave it out"],
  ] as const) {
    const { code, stderr } = await logs(...flags, "| count by path");
    t.equal(code, 2);
    t.match(stderr, hint);
  }
});

t.test("what a reader should know is said", async (t) => {
  const { logs, folder } = logIn(t);
  appendFileSync(join(folder, "a.ndjson"), `${entry(41, { duration: "slow" })}not JSON\n`);
  const chart = await logs("--format", "text", "| timeseries 1s");
  t.match(chart.stdout, /^count, steps of 1s \(UTC\), most 1 at /);
  const sum = await logs("| stats max(duration)");
  t.equal(sum.stdout, '{"max(duration)":39}\n');
  t.match(sum.stderr, "max(duration): 1 value was no number and is left out");
  const steps = await logs("| timeseries 1m");
  t.match(steps.stderr, "1 entry has no time and is left out");
  const missing = await tool(["logs", "--file", "a.ndjson", "--file", "none.ndjson", "| count"], { cwd: folder });
  t.equal(missing.code, 2, "a file that is not there");
});

t.test("rows of a part of the log are marked", { skip: process.platform === "win32" }, async (t) => {
  const { folder, logs } = logIn(t);
  const lines = Array.from({ length: 60_000 }, (_, i) => entry(i % 60, { n: i * 7919 })).join("");
  writeFileSync(join(folder, "cut.gz"), Buffer.from(gzipSync(lines)).subarray(0, 50_000));
  const cut = await tool(["logs", "--file", "cut.gz", "--file", "a.ndjson", "| stats count(), last(path)"], {
    cwd: folder,
  });
  t.match(cut.stdout, /^\{"count\(\)":\d+,"last\(path\)":"\/0"\}\n$/, "the other file is read");
  t.match(cut.stderr, /cannot read "cut\.gz"[\s\S]*partial: not everything could be read\n/);
  t.equal(cut.code, 1);

  execFileSync("mkfifo", ["fifo"], { cwd: folder });
  const running = spawnTool(["logs", "--file", "fifo", "info | count"], { cwd: folder });
  const writer = openSync(join(folder, "fifo"), constants.O_WRONLY);
  t.teardown(() => closeSync(writer));
  writeSync(writer, entry(1, {}));
  // More than a FIFO holds: once it is written, what came before it was read.
  for (let i = 0; i < 8; i++) writeSync(writer, entry(2, { pad: "x".repeat(100_000) }, "debug"));
  running.child.kill("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  t.same([code, stdout], [130, '{"count":1}\n']);
  t.match(stderr, "partial: interrupted, so that these are of what was read until then\n");
  t.notMatch((await logs("| count")).stderr, "partial");
});

t.test("rows as comma-separated values", async (t) => {
  const { logs, folder } = logIn(t);
  const csv = (...argv: string[]) => logs("--format", "csv", ...argv);
  t.equal((await csv("error | count by path | limit 2")).stdout, "path,count\r\n/0,4\r\n/1,3\r\n");
  t.match((await csv("| timeseries 15s | limit 1")).stdout, /^time,count\r\n2026-05-01T12:00:00\.000Z,15\r\n$/);
  const odd = [{ a: 'x,"y"\nz', b: [1, "p"] }, { a: "", b: { k: 1.5 } }, { a: true }, { a: " \u00e9", b: 1e21 }];
  writeFileSync(join(folder, "a.ndjson"), odd.map((fields) => entry(1, fields)).join(""));
  t.equal(
    (await csv("| fields a, b")).stdout,
    'a,b\r\n"x,""y""\nz","[1,""p""]"\r\n"","{""k"":1.5}"\r\ntrue,\r\n \u00e9,1e+21\r\n',
  );
  t.equal((await csv("| fields none | limit 1")).stdout, 'none\r\n""\r\n', "a row of nothing is a row");
  for (const query of ["error", "error | where status > 1", "| limit 3 | sort status"]) {
    const { code, stdout, stderr } = await csv(query);
    t.same([code, stdout], [2, ""], query);
    t.match(stderr, /--format csv is of rows, and the query gives entries[\s\S]*\| fields timestamp, level, message/);
  }
});

t.test("a log that is followed gives its rows at the end", async (t) => {
  const { folder } = logIn(t);
  const running = spawnTool(["logs", "--file", "a.ndjson", "-f", "error | count by path"], { cwd: folder });
  await until("it reads", () => descriptorsOf(running.child.pid!).some((path) => path.endsWith("/a.ndjson")));
  // The second one comes only after the first was looked at.
  for (const level of ["error", "info"]) {
    const line = entry(50, { path: "/new", status: 500 }, level);
    const before = bytesReadBy(running.child.pid!);
    appendFileSync(join(folder, "a.ndjson"), line);
    await until("what was added is read", () => bytesReadBy(running.child.pid!) >= before + line.length);
  }
  t.equal(running.stdout(), "", "programs get rows once");
  running.child.kill("SIGINT");
  await until("its end", () => running.child.exitCode !== null);
  t.match(running.stdout(), /\{"path":"\/new","count":1\}\n$/);
  t.match(running.stderr(), `the rows are printed at the end; Ctrl-C ends what reads them, too: end it with kill -INT`);
  t.equal(running.child.exitCode, 130);
});

t.test("rows of events are given as they come", async (t) => {
  const { folder } = logIn(t);
  writeFileSync(join(folder, "b.ndjson"), entry(1, { n: 1 }));
  for (const [format, wanted, then] of [
    ["json", '{"n":1}\n', '{"n":1}\n{"n":2}\n'],
    ["csv", "n\r\n1\r\n", "n\r\n1\r\n2\r\n"],
  ] as const) {
    writeFileSync(join(folder, "b.ndjson"), entry(1, { n: 1 }));
    const argv = [
      "logs",
      "-f",
      "-S",
      "2026-01-01",
      "--file",
      "b.ndjson",
      "--format",
      format,
      "| where n > 0 | fields n",
    ];
    const running = spawnTool(argv, { cwd: folder });
    await until(`${format}: the first row`, () => running.stdout() === wanted);
    appendFileSync(join(folder, "b.ndjson"), entry(2, { n: 2 }));
    await until(`${format}: the next one`, () => running.stdout() === then);
    running.child.kill("SIGINT");
    await running.ended;
    t.equal(running.stdout(), then, format);
    t.notMatch(running.stderr(), "at the end");
  }
});

t.test("a followed log on a terminal shows its newest rows", { skip: process.platform === "win32" }, async (t) => {
  const { folder } = logIn(t);
  writeFileSync(join(folder, "b.ndjson"), Array.from({ length: 40 }, (_, n) => entry(n, { n })).join(""));
  const screenOf = async (query: string, wanted: RegExp) => {
    const command = `stty rows 10 cols 60; exec '${process.execPath}' '${cliPath}' logs -f -S 2026-01-01 --file b.ndjson '${query}'`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: folder,
      env: cleanEnv({ NO_COLOR: "1", TERM: "xterm" }),
    });
    t.teardown(() => child.kill());
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
    const ended = new Promise((done) => child.once("close", done));
    await until(`${wanted} in ${text}`, () => wanted.test(text));
    child.stdin.write("\u0003");
    await ended;
    return text;
  };
  const inOrder = await screenOf("| fields n", /\.\.\. 33 more above/);
  t.match(inOrder, /n\s+\.\.\. 33 more above\s+33\s+34\s+35\s+36\s+37\s+38\s+39\s/);
  t.match(inOrder, "\u001b[9A\r\u001b[J", "what the terminal shows of Ctrl-C is undone");
  t.match(await screenOf("| count by n", /more/), /\s6\s+1[^\n]*\n\.\.\. 33 more\s/);
});

t.test("a terminal is told of fields that no entry has", { skip: process.platform === "win32" }, async (t) => {
  const { folder } = logIn(t);
  const said = async (query: string) =>
    (await typeInto(t, ["logs", "--file", "a.ndjson", query], [], { cwd: folder })).text.replaceAll("\r", "");
  t.match(await said("| count by pathh"), "no entry has pathh; did you mean path?");
  t.match(await said("| stats avg(durations) by path"), "no entry has durations; did you mean duration?");
  t.match(await said("statuss > 3 | count"), /no entry found among 40[\s\S]*statuss; did you mean status\?/);
  t.match(await said("path = /nowhere | count"), "no entry found among 40");
  t.notMatch(await said("| where status > 100 | count by path | where count > 1000"), "entry");
  t.notMatch(await said("| sort duration desc | limit 2 | fields duration, status"), "no entry");
});

t.test("nothing is printed of what could not be read at all, and no part is said of what nobody reads", async (t) => {
  const { folder } = logIn(t);
  const none = await tool(["logs", "--file", "none.ndjson", "| count"], { cwd: folder });
  t.same([none.stdout, none.code === 0], ["", false]);
  const away = await tool(["logs", "--service", "http://127.0.0.1:1", "--project", "p", "| count"], {
    cwd: folder,
    env: { TOOL_LOGS_TOKEN: "x" },
  });
  t.same([away.stdout, away.code], ["", 1]);
  writeFileSync(join(folder, "many.ndjson"), Array.from({ length: 5000 }, (_, n) => entry(n % 60, { n })).join(""));
  const { stderr } = spawnSync(
    "bash",
    ["-c", `'${process.execPath}' '${cliPath}' logs --file many.ndjson '| count by n' | head -n 1`],
    {
      cwd: folder,
      encoding: "utf8",
      env: cleanEnv({}),
    },
  );
  t.notMatch(stderr, "partial");
});

/** The table of `timeseries` over minutes with these columns and groups. */
function stepsTable(steps: number, groups: readonly string[], numbers: readonly string[]): Table {
  const rows = Array.from({ length: steps }, (_, step) => {
    const time = new Date(Date.parse("2026-05-01T23:40:00Z") + step * 60_000).toISOString();
    return (groups.length === 0 ? [[]] : groups.map((group) => [group])).map((group, at) => [
      time,
      ...group,
      ...numbers.map((name) =>
        name === "avg(size)" && step === 1 ? null : (step % 10) * (at + 1) * (step === 17 ? 9 : 1),
      ),
    ]);
  }).flat();
  const columns = [
    { name: "time", type: "time", isGroup: true },
    ...(groups.length === 0 ? [] : [{ name: "path", type: "value", isGroup: true } as const]),
    ...numbers.map((name) => ({
      name,
      type: "number",
      ...(name.includes("duration") && { unit: "ms" }),
      isGroup: false,
    })),
  ] as Table["columns"];
  return { columns, rows, stepMs: 60_000, notes: { leftOut: new Map(), withoutTime: 0, estimates: new Set() } };
}

t.test("steps of time are drawn as a chart that fits the terminal", (t) => {
  const one = chartText(stepsTable(40, [], ["count"]), { width: 60, color: false });
  t.equal(
    one,
    [
      "count, steps of 1m (UTC), most 63 at 2026-05-01 23:57",
      "63                  \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "            \u2581       \u2588 \u2581         \u2581         \u2581",
      " 0  \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2588\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588",
      "   2026-05-01 23:40        2026-05-02 00:19",
      "",
    ].join("\n"),
  );
  const tables = [
    stepsTable(60, [], ["p99(duration)"]),
    stepsTable(60, ["/a", "/b", `/${"long".repeat(30)}`], ["count"]),
    stepsTable(60, ["/a"], ["count()", "max(duration)"]),
    stepsTable(60, [], ["count()", "avg(size)"]),
    stepsTable(5_000, ["/a", "/b"], ["count"]),
  ];
  for (const width of [40, 80, 200]) {
    for (const [at, table] of tables.entries()) {
      const text = chartText(table, { width, color: false }) ?? tableText(table, { width, color: false });
      t.ok(
        text.split("\n").every((line) => line.length <= width),
        `table ${at} fits ${width}`,
      );
      t.notMatch(text, "\u001b");
      t.match(text, /[\u2581-\u2588]/);
    }
  }
  const grouped = chartText(stepsTable(20, ["/a", "/b"], ["count"]), { width: 60, color: false })!.split("\n");
  t.match(grouped[1], /^\/a {2} [\u2581-\u2588 ]+ max 63 {3}sum 146$/);
  t.match(grouped[2], /^\/b {2} [\u2581-\u2588 ]+ max 126 {2}sum 292$/);
  const narrow = chartText(stepsTable(20, ["/a", "/b"], ["count"]), { width: 30, color: false })!;
  t.notMatch(narrow, "sum");
  t.match(chartText(stepsTable(60, [], ["count"]), { width: 40, color: false }), "the greatest of 2 steps");
  t.match(chartText(stepsTable(20, [], ["count"]), { width: 80, color: true }), "\u001b[2m");
  t.end();
});

t.test("rows of steps that a table shows better", (t) => {
  const options = { width: 80, color: false };
  const table = stepsTable(20, ["/a", "/b"], ["count"]);
  const below = { ...table, rows: table.rows.map(([time, path]) => [time, path, -1]) };
  const texts = { ...table, columns: table.columns.map((column) => ({ ...column, type: "value" as const })) };
  for (const [name, one] of [
    ["few steps", stepsTable(12, [], ["count"])],
    ["another order", { ...table, rows: [...table.rows].reverse() }],
    ["a step with fewer rows", { ...table, rows: table.rows.slice(1) }],
    ["values below zero", below],
    ["values of any type", texts],
    ["no rows", { ...table, rows: [] }],
  ] as const)
    t.equal(chartText(one, options), undefined, name);
  t.equal(chartText(table, { width: 12, color: false }), undefined, "a narrow terminal");
  t.end();
});

t.test("texts of logs cannot move the cursor, and long ones do not push the rest away", (t) => {
  const columns = [
    { name: "path", type: "value", isGroup: true },
    { name: "count", type: "number", isGroup: false },
  ] as const;
  const notes = { leftOut: new Map(), withoutTime: 0, estimates: new Set<string>() };
  const rows = [
    ["\u001b[2J\nx", 1],
    ["y".repeat(500), 2],
    [null, 0],
    [{ b: 1, a: [2] }, 3],
  ];
  const text = tableText({ columns, rows, notes }, { width: 100, color: false });
  t.notMatch(text, "\u001b");
  const lines = text.split("\n");
  t.equal(lines.length, 6);
  t.ok(
    lines.every((line) => line.length <= 100),
    "fits the terminal",
  );
  t.match(lines[3], /^- +0$/);
  t.match(lines[4], /^\{"a":\[2\],"b":1\} +3 {2}\u2588+$/);
  t.equal(tableText({ columns, rows: [], notes }, { width: 100, color: false }), "path  count\n");
  t.end();
});

const NOTES = { leftOut: new Map(), withoutTime: 0, estimates: new Set<string>() };
const group = (name: string, more: Partial<RowColumn> = {}): RowColumn => ({
  name,
  type: "value",
  isGroup: true,
  ...more,
});
const number = (name: string, more: Partial<RowColumn> = {}): RowColumn => ({
  name,
  type: "number",
  isGroup: false,
  ...more,
});
const linesOf = (table: Omit<Table, "notes">, width = 80) =>
  tableText({ ...table, notes: NOTES }, { width, color: false })
    .trimEnd()
    .split("\n");

t.test("numbers are not shown as others that they are not", (t) => {
  const cells = (column: RowColumn, values: readonly number[]) =>
    linesOf({ columns: [column], rows: values.map((value) => [value]) }, 9)
      .slice(1)
      .map((line) => line.trim());
  for (const [name, column, values, expected] of [
    [
      "computed",
      number("sum(x)"),
      [1234567.891, 5234568.1412, 0.123456, 1.23456e-7, 1999.99999, 200, -2.5],
      ["1234567.891", "5234568.141", "0.1235", "1.235e-7", "2000.000", "200", "-2.5"],
    ],
    ["groups", group("x"), [2000000.5, 2000000.25, 0.123456789], ["2000000.5", "2000000.25", "0.123456789"]],
    ["fields", group("x", { isGroup: false }), [1234567.8912345], ["1234567.8912345"]],
    ["groups of durations", group("d", { unit: "ms" }), [90_000, 1234.1, 1234.2], ["1m 30s", "1234.1ms", "1234.2ms"]],
    ["groups of sizes", group("s", { unit: "bytes" }), [1536, 1500, -1024], ["1.5 KB", "1500 B", "-1 KB"]],
    ["computed durations", number("d", { unit: "ms" }), [-7, 1e300, 1234.1], ["-7ms", "1.15741e+292d", "1.23s"]],
  ] as const)
    t.strictSame(cells(column, values), expected, name);
  t.end();
});

t.test("columns are as wide as a terminal shows them", (t) => {
  for (const [text, width] of [
    ["caf\u00e9", 4],
    ["\u6f22\u5b57", 4],
    ["\ud55c\uae00", 4],
    ["\u1112\u1161\u11ab", 2],
    ["e\u0301", 1],
    ["\u{1f600}", 2],
    ["\u{1f469}\u200d\u{1f469}\u200d\u{1f467}", 2],
    ["\u{1f44d}\u{1f3fd}", 2],
    ["\u{1f1e9}\u{1f1ea}", 2],
    ["\u2764\ufe0f", 2],
    ["1\ufe0f\u20e3", 2],
    ["\uff71", 1],
    ["\u0e19\u0e49\u0e33", 2],
  ] as const)
    t.equal(displayWidth(text), width, text);
  t.equal(shortened("\u6f22\u5b57\u6f22", 4), "\u6f22\u2026");
  t.equal(shortened("ae\u0301\u{1f469}\u200d\u{1f467}x", 4), "ae\u0301\u2026", "no part of an emoji");
  t.equal(shortened("\u6f22\u5b57", 4), "\u6f22\u5b57");
  const rows = ["\u6f22\u5b57", "plain", "\u{1f1e9}\u{1f1ea} x", "e\u0301"].map((text) => [text, 7]);
  const lines = linesOf({ columns: [group("\u30d1\u30b9"), number("n")], rows }, 12);
  t.strictSame(new Set(lines.map(displayWidth)), new Set([8]), "aligned");
  t.end();
});

t.test("what is not seen is shown", (t) => {
  for (const [text, expected] of [
    ["a\tb\nc\u001b", "a\u2409b\u240ac\u241b"],
    ["a\u200bb\ufeff\u202e\u00ad\u2060", "a\ufffdb\ufffd\ufffd\ufffd\ufffd"],
    ["a\u200db\ud800", "a\ufffdb\ufffd"],
    ["\u{1f469}\u200d\u{1f467}", "\u{1f469}\u200d\u{1f467}"],
    ["\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"],
  ] as const)
    t.equal(visible(text), expected);
  t.match(linesOf({ columns: [group("a\tb")], rows: [["c\td"]] }), [/^a\u2409b$/, /^c\u2409d$/]);
  const csv = { columns: [group("a\u001b")], rows: [["x\u001b[2J"], [["\u009b"]]], notes: NOTES };
  t.equal(tableCsv(csv), 'a\u001b\r\nx\u001b[2J\r\n"[""\u009b""]"\r\n', "exact for programs");
  t.equal(tableCsv(csv, { isTerminal: true }), 'a\u241b\r\nx\u241b[2J\r\n"[""\ufffd""]"\r\n');
  t.end();
});

t.test("a table is not wider than the terminal", (t) => {
  const durations = Array.from({ length: 9 }, (_, at) => number(`p${at}(duration)`, { unit: "ms" }));
  const columns = [group("path"), group("host"), ...durations];
  const rows = [
    [`/${"long/".repeat(30)}`, "h".repeat(30), ...durations.map((_, at) => at * 1234567)],
    ["/\u6f22".repeat(30), "h", ...durations.map((_, at) => -at)],
  ];
  for (const [width, left] of [
    [40, 7],
    [80, 3],
    [200, 0],
  ] as const) {
    const lines = linesOf({ columns, rows }, width);
    t.ok(
      lines.every((line) => displayWidth(line) <= width),
      `fits ${width}`,
    );
    t.equal(lines.at(-1)!.endsWith("more columns; --format json shows all"), left > 0);
    if (left > 0) t.equal(Number.parseInt(lines.at(-1)!, 10), left);
    t.match(lines[1], "20m 35s", "numbers are whole");
  }
  const two = { columns: [group("path"), number("count")], rows: [["x".repeat(70), 123456789]] };
  t.equal(linesOf(two, 30)[1], `${"x".repeat(18)}\u2026  123456789`);
  const table = { columns, rows, notes: NOTES };
  t.match(tableText(table, { width: 40, color: false, isTerminal: false }), "p8(duration)", "programs get all columns");
  t.end();
});

t.test("times and bars say what they are", (t) => {
  const { columns, rows, stepMs } = stepsTable(3, [], ["count()", "p50(duration)"]);
  const table = { columns, rows, stepMs: stepMs! };
  t.equal(linesOf(table)[0], "time (UTC)        count()  p50(duration)  count()", "the bars are of count()");
  const last = { ...table, columns: [columns[0]!, group("last(timestamp)", { type: "time", isGroup: false })] };
  const of = ["2026-05-01T23:40:00.000Z", "2026-05-01T23:40:12.345Z"];
  t.match(linesOf({ ...last, rows: [of] })[1], /^2026-05-01 23:40 {2}2026-05-01T23:40:12\.345Z$/, "no step, in full");
  const entries = { columns: [group("timestamp", { type: "time", isGroup: false })], rows: [of.slice(1)] };
  t.strictSame(linesOf(entries, 20), ["timestamp", "2026-05-01T23:40:12.345Z"], "a time is not cut");
  t.end();
});

t.test("charts say what they are of", (t) => {
  const chart = (groups: readonly string[], change: (value: number) => number | null, width = 80) => {
    const table = stepsTable(20, groups, ["sum(z)"]);
    const rows = table.rows.map((row) => [...row.slice(0, -1), change(row.at(-1) as number)]);
    return chartText({ ...table, rows }, { width, color: false })!;
  };
  t.match(
    chart(["/a"], (value) => value),
    /^sum\(z\), path: \/a, steps of 1m \(UTC\), most 63 at 2026-05-01 23:57\n/,
  );
  const period = "2026-05-01 23:40 to 2026-05-01 23:59\n";
  t.equal(
    chart([], () => 0),
    `sum(z), steps of 1m (UTC), all 0, ${period}`,
  );
  t.equal(
    chart([], () => null),
    `sum(z), steps of 1m (UTC), no values, ${period}`,
  );
  t.equal(
    chart([], () => 0, 40),
    `sum(z), steps of 1m (UTC), all 0,\n${period}`,
  );
  const many = chart(["/a", "\u6f22"], (value) => value);
  t.match(many, /^sum\(z\), one scale up to 126, steps of 1m \(UTC\)\n/);
  t.match(many, /\n {4}2026-05-01 23:40 .* 23:59\n$/, "the first and the last time");
  t.match(many, /\n\/a {2} [\u2581-\u2588 ]+ max 63 /);
  t.match(many, /\n\u6f22 {2} [\u2581-\u2588 ]+ max 126 /);
  const value = (one: number) => one;
  t.match(chart(["/a", "/b"], value, 40), "2026-05-01 23:40 to 23:59\n");
  t.match(chart([], value, 25), /\n {3}23:40 {10}23:59\n$/);
  t.match(
    chart(["/a", "/b"], () => null),
    /\n\/b +no values\n/,
  );
  t.end();
});

t.test("values of different types do not look the same", (t) => {
  const texts = (...cells: Table["rows"][number][]) =>
    linesOf({ columns: [group("x")], rows: cells }, 9)
      .slice(1)
      .map((line) => line.trim());
  t.strictSame(texts([200], ["200"], ["201"]), ["200", '"200"', "201"]);
  t.strictSame(texts([null], ["-"], [""], ["  "]), ["-", '"-"', '""', '"  "']);
  t.strictSame(texts([true], ["true"], ["200"]), ["true", '"true"', "200"]);
  t.end();
});
