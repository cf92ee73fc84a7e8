// The queue of tests: what becomes of a file that fails, what a file's output counts as, and what is recorded of it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { root } from "./support/cli.ts";
import { TestClock } from "./support/test-clock.ts";

const load = (name: string) => import(pathToFileURL(join(root, "test", name)).href);

interface Result {
  readonly test: string;
  readonly kind?: string;
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}
const passed = (test: string): Result => ({ test, passed: 3, failed: 0, output: "" });
const failed = (test: string, check = "a check"): Result => ({
  test,
  passed: 2,
  failed: 1,
  output: `ok 1 - fine\n    not ok 2 - ${check} # time=2ms\nnot ok 2 - around it\n`,
});
const NONE = ["no file ran again"];

t.test("the limit of a file is that of its silence, and of four times as long in all", async (t) => {
  const { limited } = await load("loop/limit.mjs");
  const run = async (minutesBetweenWords: number, endsAfterMinutes: number) => {
    const clock = new TestClock();
    const reasons: string[] = [];
    const limit = limited(
      600,
      (reason: string) => reasons.push(`${reason}, at ${clock.monotonicMs() / 60_000}`),
      clock,
    );
    for (let minute = 1; minute < 100; minute++) {
      await clock.advance(60_000);
      if (minute === endsAfterMinutes) limit.stop();
      if (minute % minutesBetweenWords === 0) limit.spoke();
    }
    return reasons;
  };
  t.same(await run(200, 5), [], "one that ends");
  t.same(await run(200, 50), ["after 600 s without a word, at 10"], "one that says nothing");
  t.same(await run(9, 39), [], "one that says something");
  t.same(await run(9, 50), ["after 2400 s, at 40"], "one that goes on for ever");
});

t.test("a file that failed runs once more, alone", async (t) => {
  const { judge } = await load("loop/flaky.mjs");
  const rows: [string, Result[], string[], Result[], { again: string[]; failed: number; lines: unknown[] }][] = [
    ["nothing failed", [passed("a")], [], [], { again: [], failed: 0, lines: NONE }],
    [
      "passes alone",
      [failed("a"), passed("b")],
      [],
      [passed("a")],
      {
        again: ["a"],
        failed: 0,
        lines: ["flaky: a: a check", /^add it to test\/flaky\.json, or mend it: a /, "ran again: a"],
      },
    ],
    ["fails alone, too", [failed("a")], [], [failed("a")], { again: ["a"], failed: 1, lines: ["ran again: a"] }],
    [
      "is listed",
      [failed("a")],
      ["a"],
      [],
      { again: [], failed: 1, lines: [/^a: test\/flaky\.json lists it already/, ...NONE] },
    ],
    [
      "two, one of them listed",
      [failed("a"), failed("b")],
      ["a"],
      [passed("b")],
      { again: ["b"], failed: 1, lines: [/^a: .* lists it/, "flaky: b: a check", /^add it/, "ran again: b"] },
    ],
    [
      "three",
      [failed("a"), failed("b"), failed("c")],
      [],
      [],
      { again: [], failed: 3, lines: [/^3 failed: none runs again/, ...NONE] },
    ],
    [
      "another kind of run of the same file",
      [failed("a"), { ...passed("a"), kind: "slow" }],
      [],
      [{ ...passed("a"), kind: "slow" }],
      { again: ["a"], failed: 1, lines: ["ran again: a slow"] },
    ],
  ];
  for (const [name, first, listed, second, expected] of rows) {
    const { again, verdict } = judge(
      first,
      listed.map((file) => ({ file, check: "a check", seen: "2026-11-27" })),
    );
    const { lines, results } = verdict(second);
    const failures = results.reduce((sum: number, result: Result) => sum + result.failed, 0);
    t.match({ again: again.map(({ test }: Result) => test), failed: failures, lines }, expected, name);
    t.equal(results.length, first.length, `${name}: each run counts once`);
    t.equal(lines.length, expected.lines.length, `${name}: no other line`);
  }
});

t.test("counts of an output", async (t) => {
  const { countsOf } = await load("loop/run-files.mjs");
  const rows: [string, string, number | null, object][] = [
    ["passes", "# { total: 3, pass: 3 }\n", 0, { passed: 3, failed: 0, skipped: 0 }],
    ["skips", "# { total: 3, pass: 1, skip: 1, todo: 1 }\n", 0, { passed: 1, failed: 0, skipped: 2 }],
    ["fails", "# { total: 3, pass: 2, fail: 1 }\n", 1, { passed: 2, failed: 1, skipped: 0 }],
    [
      "the last total counts",
      "# { total: 9, pass: 9 }\n# { total: 3, pass: 3 }\n",
      0,
      { passed: 3, failed: 0, skipped: 0 },
    ],
    ["ends early", "ok 1 - fine\n", 0, { passed: 0, failed: 1, skipped: 0 }],
    ["ends with an error after its tests", "# { total: 3, pass: 3 }\n", 7, { passed: 3, failed: 1, skipped: 0 }],
    ["killed", "# { total: 3, pass: 3 }\n", null, { passed: 3, failed: 1, skipped: 0 }],
  ];
  for (const [name, output, code, expected] of rows) t.same(countsOf(output, code), expected, name);
});

t.test("the list of those that needed another run", async (t) => {
  const { listedIn } = await load("loop/flaky.mjs");
  t.same(listedIn("[]"), []);
  const entry = { file: "test/a.test.ts", check: "a check", seen: "2026-11-27" };
  t.same(listedIn(JSON.stringify([entry])), [entry]);
  for (const text of ["", "<<<<<<< HEAD\n[]"])
    t.throws(() => listedIn(text), { message: /^test\/flaky\.json is not JSON: / }, text);
  for (const text of ["{}", "null", "[null]", '["test/a.test.ts"]', '[{"file":"test/a.test.ts"}]'])
    t.throws(() => listedIn(text), { message: /^test\/flaky\.json is not a list of / }, text);
});

t.test("the checks that failed", async (t) => {
  const { failedChecks } = await load("loop/run-files.mjs");
  t.same(failedChecks("ok 1 - fine\n"), []);
  t.same(failedChecks(failed("a", "one of two").output), ["one of two"]);
  t.same(failedChecks("not ok 1 - at the top # time=1.5ms\n    not ok 1 - below\nnot ok 2 - around\n"), [
    "at the top",
    "below",
  ]);
});

t.test("costs", async (t) => {
  const { costFaults } = await load("lint/costs.mjs");
  const { costOf, secondsOf } = await load("loop/cost.mjs");
  const costs = {
    "test/a.test.ts": { wallS: 9, cpuS: 4 },
    "test/a.test.ts slow": { wallS: 60, cpuS: 50 },
    lint: { wallS: 2, cpuS: 2 },
  };
  t.same(costFaults(costs, ["test/a.test.ts", "test/a.test.ts slow"]), []);
  t.same(costFaults(costs, ["test/a.test.ts", "test/b.test.ts"]), ["test/b.test.ts has no cost"]);
  t.same(costFaults(costs, []), ["test/a.test.ts is recorded, and gone", "test/a.test.ts slow is recorded, and gone"]);
  t.equal(secondsOf(costs, "test/a.test.ts slow"), 60);
  t.same(costOf(costs, "test/a.test.ts node24"), { wallS: 9, cpuS: 4 }, "another kind costs what the usual one does");
  t.ok(secondsOf(costs, "test/new.test.ts") > 0);
});

t.test("the seconds that the READMEs name are those of the recorded costs", async (t) => {
  const { commandSeconds, suitesOf } = await load("loop/suites.mjs");
  const { recordedCosts } = await load("loop/cost.mjs");
  const costs = recordedCosts();
  /** The cells of each row of a table, after an empty one. */
  const rowsOf = (path: string) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.split("|").map((cell) => cell.trim()));
  const numberIn = (cell = "") => Number(/[\d,]+/.exec(cell)?.[0].replaceAll(",", ""));
  // A tenth: the costs of a file are recorded anew when it is changed, and no table needs that.
  const isNear = (written: number, recorded: number) => Math.abs(written - recorded) <= Math.max(2, recorded / 10);
  const compare = (path: string, name: string, cells: readonly [cell: string | undefined, recorded: number][]) => {
    const recorded = cells.map(([, seconds]) => Math.round(seconds));
    const isRight = cells.every(([cell, seconds]) => isNear(numberIn(cell), seconds));
    t.ok(isRight, `${path}: ${name} has ${recorded.join(" and ")}`);
  };
  const commands = rowsOf("README.md");
  for (const [command, seconds] of Object.entries<number>(commandSeconds(costs))) {
    const row = commands.find(([, name]) => name === `\`${command}\``);
    compare("README.md", command, [[row?.[2], seconds]]);
  }
  const suites = suitesOf(costs) as Readonly<Record<string, { readonly files: number; readonly seconds: number }>>;
  const table = rowsOf("test/README.md").filter(([, name = ""]) => name in suites);
  t.equal(table.length, Object.keys(suites).length, "each suite has its row");
  for (const [, name = "", files, seconds] of table) {
    compare("test/README.md", name, [
      [files, suites[name]!.files],
      [seconds, suites[name]!.seconds],
    ]);
  }
});

t.test("files that are never run as tests, and names of two", async (t) => {
  const { nameFaults } = await load("lint/costs.mjs");
  const tap = 'import t from "tap";\n';
  for (const path of [
    "test/cli/a.tests.ts",
    "test/cli/a.ts",
    "test/cli/a.test.mts",
    "test/cli/a.test.tsx",
    "test/cli/a.spec.ts",
    "test/slow/below/a.ts",
    "cli/a.test.ts",
  ])
    t.same(nameFaults([[path, tap]]), [`${path} is never run: name it test/<room>/<subject>.test.ts`], path);
  t.same(nameFaults([["test/cli/a.ts", 'import t, {\n  type Test,\n} from "tap";\n']]).length, 1, "in lines");
  const fine = ["test/a.test.ts", "test/cli/b.test.ts", "test/slow/a.ts", "test/support/a.ts", "test/peers/peers.ts"];
  t.same(nameFaults(fine.map((path) => [path, tap])), []);
  t.same(nameFaults([["test/cli/a.ts", 'import type { Test } from "tap";\n']]), [], "a type alone");
  t.same(nameFaults(["test/cli/a.test.ts", "test/grammar/a.test.ts"].map((path) => [path, tap])), [
    "test/grammar/a.test.ts has the name of another test, a",
  ]);
});

t.test("tests that are switched off", async (t) => {
  const { switchedIn } = await load("lint/costs.mjs");
  for (const line of [
    't.skip("a", (t) => t.end());',
    't.todo("a");',
    '  t.only("a", (t) => t.end());',
    't.test("a", { skip: true }, (t) => t.end());',
    't.test("a", { skip: "later" }, (t) => t.end());',
    't.test("a", { timeout: 1, todo: true }, (t) => t.end());',
    't.equal(1, 2, "a", { todo: "later" });',
    't.test("a", { only: true }, (t) => t.end());',
    "process.exit(0);",
    "  if (isWindows) process.exit();",
  ])
    t.equal(switchedIn("test/a.test.ts", line).length, 1, line);
  for (const line of [
    't.test("a", { skip }, (t) => t.end());',
    't.test("a", { skip: process.platform === "win32" }, (t) => t.end());',
    't.test("a", { skip: requires("zsh") }, (t) => t.end());',
    't.test("a", slow(), (t) => t.end());',
    "reader.skip(4);",
    "    process.exit(1);",
    "process.on('SIGTERM', () => process.exit(0));",
  ])
    t.same(switchedIn("test/a.test.ts", line), [], line);
  t.match(switchedIn("test/a.test.ts", "fine\nt.todo(1)"), [/^test\/a\.test\.ts:2 {2}t\.todo\(1\)/], "says the line");
});

t.test("which files are tests", async (t) => {
  const { isTest, isUsual, nameOf } = await load("loop/test-files.mjs");
  for (const path of ["test/a.test.ts", "test/cli/logs/a.test.ts", "test/slow/a.ts", "test/peers/peers.ts"])
    t.ok(isTest(path), path);
  for (const path of [
    "test/a.ts",
    "cli/a.test.ts",
    "test/support/a.ts",
    "test/slow/a.py",
    "test/peers/servers.ts",
    "test/bench/a.ts",
    "test/.#a.test.ts",
    "test/slow/.#a.ts",
  ])
    t.notOk(isTest(path), path);
  t.ok(isUsual("test/cli/a.test.ts"));
  t.notOk(isUsual("test/slow/a.ts"));
  t.equal(nameOf("test/cli/logs/scan.test.ts"), "scan");
  t.equal(nameOf("test/slow/scan.ts"), "slow/scan");
});

t.test("Node 24 runs a test of each room that depends on Node", (t) => {
  const { runs, without } = JSON.parse(readFileSync(join(root, "test/loop/node24.json"), "utf8"));
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  const roomOf = (name: string) => tests.find((test) => basename(test) === `${name}.test.ts`);
  for (const name of runs) t.ok(roomOf(name), `${name} is a test`);
  const listed = new Set(runs.map((name: string) => dirname(roomOf(name) ?? "")));
  const importsNode = (room: string) =>
    readdirSync(join(root, room)).some(
      (name) => /(?<!generate)\.ts$/.test(name) && /from "node:/.test(readFileSync(join(root, room, name), "utf8")),
    );
  for (const room of new Set(tests.map((test) => dirname(test)).filter((room) => room !== "."))) {
    if (!existsSync(join(root, room)) || !importsNode(room)) continue;
    t.ok(
      listed.has(room) || room in without,
      `${room}: add a test of it to test/loop/node24.json, or a reason to leave it out`,
    );
    t.notOk(
      listed.has(room) && room in without && !without[room].includes("runs"),
      `${room} is run, and needs no reason`,
    );
  }
  t.end();
});
