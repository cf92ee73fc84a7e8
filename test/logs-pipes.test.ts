// `tool logs` with stages: what is printed for programs and for people, and what cannot be.
import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { chartText } from "../cli/output/chart-text.ts";
import { tableText } from "../cli/output/table-text.ts";
import type { Table } from "../grammar/query/index.ts";
import { spawnTool, tool, until } from "./support/cli.ts";

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
  t.match(units.stdout, /^level +middle +rate\(\)\ninfo +\d+ms +[\d.]+\/s {2}/);
  const plain = await logs("| limit 2");
  t.match(plain.stdout, /^\{"timestamp":"2026-05-01T12:00:00\.000Z".*\n\{"timestamp":"2026-05-01T12:00:01\.000Z".*\n$/);
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
  const rate = await logs("--since", "2026-05-01T12:00:00Z", "--until", "2026-05-01T12:00:20Z", "| stats rate()");
  t.ok(Math.abs(JSON.parse(rate.stdout)["rate()"] - 1) < 0.01, rate.stdout);
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
  t.match(chart.stdout, /^count, steps of 1s, most 1 at /);
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
  const running = spawnTool(["logs", "--file", "fifo", "| count"], { cwd: folder });
  const writer = openSync(join(folder, "fifo"), constants.O_WRONLY);
  t.teardown(() => closeSync(writer));
  writeSync(writer, entry(1, {}));
  await new Promise((resolve) => setTimeout(resolve, 1000));
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
  await new Promise((resolve) => setTimeout(resolve, 1500));
  appendFileSync(join(folder, "a.ndjson"), entry(50, { path: "/new", status: 500 }, "error"));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  t.equal(running.stdout(), "", "programs get rows once");
  running.child.kill("SIGINT");
  await until("its end", () => running.child.exitCode !== null);
  t.match(running.stdout(), /\{"path":"\/new","count":1\}\n$/);
  t.equal(running.child.exitCode, 130);
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
      "count, steps of 1m, most 63 at 2026-05-01 23:57",
      "63                  \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "                    \u2588",
      "            \u2581       \u2588 \u2581         \u2581         \u2581",
      " 0  \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2588\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588 \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588\u2588",
      "   2026-05-01 23:40    2026-05-02 00:00",
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
  const shown = { width: 80, color: false };
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
    t.equal(chartText(one, shown), undefined, name);
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
