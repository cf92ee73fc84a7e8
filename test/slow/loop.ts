// The commands of test/loop, in a small project of their own: as in a fresh clone, nothing is built there.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { isRunning, root } from "../support/cli.ts";
import { until } from "../support/until.ts";

const FOLDERS = ["grammar", "schema", "language-server", "vscode-extension", "cli/build", "runtime", "logservice"];
const testOf = (imported: string, body = "t.pass(String(one));") =>
  `import t from "tap";\nimport { one } from "../${imported}";\n${body}\n`;
const UI_SCRIPT =
  'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("dist/bin/ui", { recursive: true });\n' +
  'writeFileSync("dist/bin/ui/manifest.json", "{}");\nconsole.log("ui is made");\n';
const FILES = {
  "package.json": '{ "type": "module" }',
  ".gitignore": "/node_modules\n/dist\n/.tap\n",
  "cli/build/generate.mjs": "",
  "cli/sandbox/cloud/protocol/operations.json": "{}",
  "grammar/one.ts": "export const one: number = 1;\n",
  "grammar/data.json": "1",
  "grammar/two.ts":
    'import data from "./data.json" with { type: "json" };\nimport { one as first } from "./one.ts";\nexport const one: number = first + data;\n',
  "grammar/alone.ts": "export const alone = 1;\n",
  // The programs that cli/build/processes.mjs bundles.
  "logservice/events/duckdb/engine/engine-process.ts": "",
  "logservice/events/duckdb/flusher-process.ts": "",
  "logservice/events/duckdb/sql/sql-process.ts": "",
  "test/near.test.ts": testOf("grammar/one.ts"),
  "test/far.test.ts": testOf("grammar/two.ts"),
  "test/failing.test.ts": testOf("grammar/two.ts", 't.equal(one, 3, "two is three");'),
  "test/seconds.test.ts": testOf("grammar/two.ts", "setTimeout(() => t.pass(), 60_000); console.log(process.pid);"),
};

const folder = mkdtempSync(join(tmpdir(), "loop-"));
t.teardown(() => rmSync(folder, { recursive: true }));
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
for (const [name, text] of Object.entries(FILES)) write(name, text);
for (const name of [
  "test/loop",
  "test/mutate/imports.ts",
  "cli/build/generated.mjs",
  "cli/build/processes.mjs",
  "cli/build/duckdb-driver.mjs",
  "cli/build/esbuild.mjs",
]) {
  cpSync(join(root, name), join(folder, name), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
}
const setSeconds = (seconds: Record<string, number>) => {
  const costs = Object.entries(seconds).map(([test, wallS]) => [test, { wallS, cpuS: wallS }]);
  write("test/loop/cost.json", JSON.stringify(Object.fromEntries(costs)));
};
setSeconds({ "test/near.test.ts": 1, "test/far.test.ts": 2, "test/seconds.test.ts": 4000 });
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
const git = (...args: string[]) =>
  spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder });

const read = (file: string) => spawnSync("cat", [file], { encoding: "utf8", cwd: folder }).stdout;

const loopIn = (env: Record<string, string>, name: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join("test/loop", name), ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, TAP_ONLY: "", ...env },
  });
  return { status, stdout, stderr };
};
const loop = (name: string, ...args: string[]) => loopIn({}, name, ...args);

t.test("a test by its name, when nothing is built yet", (t) => {
  const { status, stdout, stderr } = loop("t.mjs", "near");
  t.equal(status, 0, stderr);
  t.match(
    stdout,
    /^1 test file, about 1 s\n {2}test\/near\.test\.ts\nready after .*\n {2}ok {6}test\/near\.test\.ts {2}1 in /,
  );
  t.match(stdout, /\n1 passed, after [\d.]+ s\n$/);
  t.end();
});

t.test("the tests of a source, the nearest first, up to a minute", (t) => {
  const listed = loop("t.mjs", "--list", "grammar/one.ts").stdout;
  t.equal(
    listed,
    "3 test files, about 5 s, the nearest; 1 more: npm run t -- grammar/one.ts --all\n" +
      "  test/near.test.ts\n  test/far.test.ts (2 imports away)\n  test/failing.test.ts (2 imports away)\n",
  );
  t.match(loop("t.mjs", "--list", "--all", "grammar/one.ts").stdout, /^4 test files, about 4000 s\n/);
  t.match(loop("t.mjs", "--list", "grammar/two.ts").stdout, /^2 test files, .*1 more/);
  t.match(
    loop("t.mjs", "--list", "seconds").stdout,
    /^1 test file, about 4000 s\n/,
    "what is named is run in any case",
  );
  t.end();
});

t.test("what cannot be meant", (t) => {
  t.match(loop("t.mjs", "grammar/alone.ts"), { status: 2, stderr: "no test imports grammar/alone.ts\n" });
  t.match(loop("t.mjs", "nothing"), {
    status: 2,
    stderr: "no test or source is named nothing: give a file, or a part of a name\n",
  });
  t.match(loop("t.mjs", "--al"), { status: 2, stderr: /^Unknown option '--al'\n\n`npm run t`: runs tests/ });
  t.match(loop("all.mjs", "--help"), { status: 0, stdout: /^`npm test`: runs every test[\s\S]*--jobs=N/ });
  t.match(loop("t.mjs", "near"), { status: 0 });
  write("grammar/one.ts", "export const one: number = ;\n");
  t.match(loop("t.mjs", "near"), { status: 1, stderr: /grammar\/one\.ts:1:27/ }, "an error of syntax");
  write("grammar/one.ts", FILES["grammar/one.ts"]);
  renameSync(join(folder, "dist"), join(folder, "built"));
  write("dist", "");
  t.match(loop("t.mjs", "near"), { status: 1, stderr: /./ }, "no folder for what is built: says so");
  rmSync(join(folder, "dist"));
  renameSync(join(folder, "built"), join(folder, "dist"));
  t.end();
});

t.test("a source that is gone, and one that is put back as it was", (t) => {
  const path = join(folder, "grammar/one.ts");
  renameSync(path, `${path}.away`);
  for (const run of ["first", "second"]) {
    t.match(
      loop("t.mjs", "near"),
      { status: 1, stderr: /Could not resolve "\.\.\/grammar\/one\.ts"/ },
      `the ${run} run`,
    );
  }
  // A copy that keeps its time is older than what was made of the other text.
  write("grammar/one.ts", "export const one: number = 1 / 0;\nexport const two = missing;\n");
  t.match(loop("t.mjs", "near"), { status: 1 });
  renameSync(`${path}.away`, path);
  t.match(loop("t.mjs", "near"), { status: 0 });
  write("test/cost.json.bak", read("test/loop/cost.json"));
  write("test/loop/cost.json", "{");
  t.match(loop("t.mjs", "near"), { status: 0 }, "without the seconds of before");
  renameSync(join(folder, "test/cost.json.bak"), join(folder, "test/loop/cost.json"));
  t.end();
});

t.test("a link with which an editor locks a file", { skip: process.platform === "win32" }, (t) => {
  const links = ["grammar/.#one.ts", "test/.#near.test.ts", "logservice/.#a.tsx", "cli/build/.#generate.mjs"];
  for (const name of links) symlinkSync("user@host.1234:5678", join(folder, name));
  t.match(loop("t.mjs", "near"), { status: 0, stderr: "" });
  t.match(loop("t.mjs", "--list", "test"), { status: 0, stdout: /^4 test files, / });
  for (const name of links) rmSync(join(folder, name));
  t.end();
});

t.test("nothing is run, and that is no success", (t) => {
  t.match(loop("all.mjs", "--jobs=0"), { status: 2, stderr: '--jobs "0" is not a number of files: write --jobs=2\n' });
  t.match(loop("all.mjs", "--limit=x"), {
    status: 2,
    stderr: '--limit "x" is not a number of seconds: write --limit=2\n',
  });
  t.match(loop("all.mjs", "test/loop"), { status: 2, stderr: /^test\/loop is not a test/ });
  t.match(loop("all.mjs", "package.json"), { status: 2, stderr: /^package\.json is not a test/ });
  t.match(loop("t.mjs", "--slow", "near"), { status: 2, stderr: /^none of these files has slow tests/ });
  t.match(loop("all.mjs", "--slow", "near"), { status: 2, stderr: /^none of these files has slow tests/ });
  t.match(loop("ci.mjs", "near"), { status: 2, stderr: /^Unexpected argument 'near'/ });
  t.match(loop("t.mjs", ""), { status: 2, stderr: /^a word is empty/ });
  t.end();
});

t.test("a variable of the shell neither records rows nor skips tests", (t) => {
  const of = "t.test(process.env.RECORD ?? 'no record', (t) => { t.equal(one, 3); t.end(); });";
  write("test/variables.test.ts", testOf("grammar/two.ts", of));
  const shell = { RECORD: "1", TAP_ONLY: "1", TAP_GREP: "/nothing/" };
  t.match(loopIn(shell, "t.mjs", "variables"), { status: 1, stdout: /\nnot ok 1 - no record/ });
  t.match(loopIn(shell, "all.mjs", "variables"), { status: 1, stdout: /\nnot ok 1 - no record/ });
  t.match(loopIn({}, "t.mjs", "--record", "variables"), { status: 1, stdout: /\nnot ok 1 - 1 / }, "--record does");
  rmSync(join(folder, "test/variables.test.ts"));
  t.end();
});

t.test("a process that holds the output of its test", { skip: process.platform === "win32" }, (t) => {
  const out = join(folder, "holder.pid");
  const holder = (options: string) =>
    testOf(
      "grammar/one.ts",
      'import { spawn } from "node:child_process";\nimport { writeFileSync } from "node:fs";\n' +
        `const child = spawn("tail", ["-f", "/dev/null"], ${options});\nchild.unref();\n` +
        `writeFileSync(${JSON.stringify(out)}, String(child.pid));\nt.pass(String(one));`,
    );
  for (const [name, options] of [
    ["of its group", '{ stdio: "inherit" }'],
    ["that has left its group", '{ stdio: "inherit", detached: true }'],
  ] as const) {
    write("test/holder.test.ts", holder(options));
    t.match(loop("t.mjs", "--list", "holder"), { status: 0 });
    const { status, stdout } = loop("all.mjs", "--limit=2", "holder");
    const pid = Number(read(out));
    if (isRunning(pid)) process.kill(pid, "SIGKILL");
    t.equal(status, 1, name);
    t.match(
      stdout,
      /FAILED[\s\S]*its process was over, but one that it started held its output: ended after 2 s/,
      name,
    );
  }
  rmSync(join(folder, "test/holder.test.ts"));
  t.end();
});

t.test("npm test installs and builds after a change", { skip: process.platform === "win32" }, (t) => {
  cpSync(join(root, "cli/bootstrap.mjs"), join(folder, "cli/bootstrap.mjs"));
  // An npm that writes down its task: ci, run --silent build.
  write("programs/npm", '#!/bin/sh\necho "$*" >> npm.txt\n');
  chmodSync(join(folder, "programs/npm"), 0o755);
  write("package-lock.json", "{}");
  write("tsconfig.json", "{}");
  const env = { ...process.env, PATH: `${join(folder, "programs")}:${process.env.PATH}` };
  // Where packages are, and a stamp of what they are of, which is not that of the project around this one.
  renameSync(join(folder, "node_modules"), join(folder, "packages"));
  const prepare = () => {
    write("npm.txt", "");
    const { status } = spawnSync(process.execPath, ["cli/bootstrap.mjs", "prepare"], { cwd: folder, env });
    return status === 0 ? (read("npm.txt").match(/^ci|build$/gm) ?? []).join(" ") : status;
  };
  t.equal(prepare(), "ci build", "the first time");
  t.equal(prepare(), "", "nothing changed");
  symlinkSync("user@host.1234:5678", join(folder, "grammar/.#one.ts"));
  t.equal(prepare(), "", "a link with which an editor locks a file");
  rmSync(join(folder, "grammar/.#one.ts"));
  for (const [name, text, tasks] of [
    ["package-lock.json", '{ "packages": {} }', "ci build"],
    ["package.json", '{ "type": "module", "private": true }', "ci build"],
    ["tsconfig.json", '{ "files": [] }', "build"],
    ["grammar/alone.ts", "export const alone = 2;\n", "build"],
    ["grammar/data.json", "1\n", "build"],
    ["README.md", "A document.\n", ""],
  ] as const) {
    write(name, text);
    t.equal(prepare(), tasks, name);
    t.equal(prepare(), "", `${name}: once`);
  }
  for (const name of ["node_modules", "README.md", "npm.txt", "package-lock.json", "tsconfig.json", "programs"])
    rmSync(join(folder, name), { recursive: true });
  renameSync(join(folder, "packages"), join(folder, "node_modules"));
  for (const name of ["package.json", "grammar/alone.ts", "grammar/data.json"] as const) write(name, FILES[name]);
  t.end();
});

t.test("the web UI is made again for a file that is gone, or an older one", (t) => {
  write("cli/build/ui.mjs", UI_SCRIPT);
  write("logservice/web/files.ts", "export const files = 1;\n");
  write("test/pages.test.ts", testOf("logservice/web/files.ts", "t.pass(String(one));").replace("one", "files as one"));
  const page = join(folder, "logservice/ui/page.css");
  const made = () => /^ui is made$/m.test(loop("t.mjs", "pages").stdout);
  write("logservice/ui/page.css", "");
  t.ok(made(), "the first time");
  t.notOk(made(), "nothing changed");
  renameSync(page, `${page}.away`);
  t.ok(made(), "gone");
  write("logservice/ui/page.css", "p {}");
  t.ok(made(), "new");
  renameSync(`${page}.away`, page);
  t.ok(made(), "one of before, with its time of then");
  t.notOk(made(), "nothing changed");
  for (const name of ["cli/build/ui.mjs", "logservice/web", "logservice/ui", "test/pages.test.ts"])
    rmSync(join(folder, name), { recursive: true });
  t.end();
});

t.test("the record of costs", (t) => {
  const costs = {
    lint: { wallS: 2, cpuS: 2 },
    "test/gone.test.ts": { wallS: 1, cpuS: 1 },
    "test/far.test.ts": { wallS: 2, cpuS: 2 },
  };
  const before = read("test/loop/cost.json");
  write("test/loop/cost.json", JSON.stringify(costs));
  t.match(loop("all.mjs", "--record", "near"), { status: 0 });
  t.same(Object.keys(JSON.parse(read("test/loop/cost.json"))), ["lint", "test/far.test.ts", "test/near.test.ts"]);
  for (const text of ["null", "[]", '{ "test/near.test.ts": null }', '{ "test/near.test.ts": 5 }']) {
    write("test/loop/cost.json", text);
    t.match(loop("t.mjs", "near"), { status: 0, stdout: /^1 test file, about 5 s\n/ }, text);
  }
  const conflict = `<<<<<<< HEAD\n${before}`;
  write("test/loop/cost.json", conflict);
  t.match(loop("all.mjs", "--record", "near"), { status: 1, stderr: /cost\.json .* mend it first: / });
  t.equal(read("test/loop/cost.json"), conflict, "what cannot be read is not replaced");
  write("test/loop/cost.json", before);
  t.end();
});

t.test("a test that fails", (t) => {
  const { status, stdout } = loop("t.mjs", "failing");
  t.equal(status, 1);
  t.match(stdout, /FAILED {2}test\/failing\.test\.ts.*\nnot ok 1 - two is three\n[\s\S]*\n0 passed, 1 failed, after/);
  t.match(stdout, /test\/failing\.test\.ts\n {4}lineNumber: 3/, "at its line of the source");
  t.end();
});

t.test("what changed since the last commit", (t) => {
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "one");
  t.match(loop("t.mjs").stdout, /^Nothing changed since the last commit/);
  write("grammar/two.ts", `${FILES["grammar/two.ts"]}// changed\n`);
  t.match(loop("t.mjs", "--list").stdout, /^2 test files, .*\n {2}test\/far\.test\.ts\n {2}test\/failing\.test\.ts\n$/);
  git("checkout", "-q", "-b", "mine");
  git("commit", "-qam", "two");
  t.match(loop("t.mjs").stdout, /^Nothing changed since the last commit\. .*: npm run t -- --since main\./);
  const ofBranch = /^2 test files, .*\n {2}test\/far\.test\.ts\n {2}test\/failing\.test\.ts\n$/;
  t.match(loop("t.mjs", "--list", "--since", "main").stdout, ofBranch, "what is committed on the branch");
  write("grammar/alone.ts", `${FILES["grammar/alone.ts"]}// changed\n`);
  write("test/new.test.ts", testOf("grammar/alone.ts"));
  t.match(
    loop("t.mjs", "--list", "--since", "main").stdout,
    /^3 test files, .*\n {2}test\/new\.test\.ts\n {2}test\/far\.test\.ts\n/,
    "and what is not, also what git does not know yet",
  );
  rmSync(join(folder, "test/new.test.ts"));
  write("grammar/alone.ts", FILES["grammar/alone.ts"]);
  t.match(loop("t.mjs", "--since", "nowhere"), { status: 2, stderr: /^git does not tell what changed/ });
  const { stdout: other } = git("commit-tree", "-m", "of no other commit", "HEAD^{tree}");
  t.match(loop("t.mjs", "--since", String(other).trim()), {
    status: 2,
    stderr: /[0-9a-f]{40} and HEAD share no commit/,
  });
  t.match(loop("t.mjs", "--since", "main", "near"), { status: 2, stderr: /^--since chooses by what changed/ });
  t.end();
});

t.test("a slow file", (t) => {
  write("test/slow/near-and-slow.ts", testOf("../grammar/one.ts"));
  t.notMatch(loop("t.mjs", "--list", "grammar/one.ts").stdout, /slow/, "of a source");
  t.match(loop("t.mjs", "--list", "near").stdout, /^1 test file, /, "that has the word in its name");
  t.match(loop("t.mjs", "--list", "and-slow"), {
    status: 2,
    stderr: "test/slow/near-and-slow.ts is not run by a part of its name: npm run t -- test/slow/near-and-slow.ts\n",
  });
  for (const args of [["test/slow/near-and-slow.ts"], ["--slow", "and-slow"], ["--slow", "grammar/one.ts"]]) {
    t.match(loop("t.mjs", "--list", ...args).stdout, /\n {2}test\/slow\/near-and-slow\.ts\n$/, args.join(" "));
  }
  t.match(loop("t.mjs", "--list"), {
    status: 0,
    stdout: /^Nothing to run but a test that is run by name: npm run t -- test\/slow\/near-and-slow\.ts/,
  });
  write("grammar/alone.ts", `${FILES["grammar/alone.ts"]}// changed\n`);
  write("test/alone.test.ts", testOf("grammar/alone.ts"));
  t.match(
    loop("t.mjs", "--list").stdout,
    /^1 test file, .*\n {2}test\/alone\.test\.ts\nwhat changed is also of a test that is run by name: /,
  );
  write("grammar/alone.ts", FILES["grammar/alone.ts"]);
  rmSync(join(folder, "test/alone.test.ts"));
  rmSync(join(folder, "test/slow/near-and-slow.ts"));
  t.end();
});

t.test("Ctrl-C ends the tests", { skip: process.platform === "win32" }, async (t) => {
  const out = join(folder, "seconds.tap");
  // It prints its process id, which tap's own output does not have.
  write(
    "test/seconds.test.ts",
    testOf(
      "grammar/two.ts",
      `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(out)}, String(process.pid));\n` +
        't.test("long", () => new Promise((done) => setTimeout(done, 60_000)));',
    ),
  );
  const running = spawn(process.execPath, ["test/loop/t.mjs", "seconds"], { cwd: folder, stdio: "ignore" });
  const pid = Number(await until("the test's process", () => existsSync(out) && read(out)));
  running.kill("SIGINT");
  const [code] = await once(running, "exit");
  t.equal(code, 130);
  await until("the test's end", () => !isRunning(pid));
});

t.test("all tests: the totals, and the rows that two runs have", (t) => {
  rmSync(join(folder, "test/seconds.test.ts"));
  const before = loop("all.mjs", "--out=before");
  t.equal(before.status, 1);
  t.match(before.stdout, /\n# \{ total: 3, pass: 2, fail: 1 \}\n# 3 files in /);
  t.match(loop("all.mjs", "near.test.ts", "test/far.test.ts").stdout, /\n# \{ total: 2, pass: 2 \}\n# 2 files in /);
  t.match(loop("all.mjs", "nothing.test.ts"), { status: 2, stderr: /^nothing\.test\.ts is not a test/ });

  write("test/failing.test.ts", testOf("grammar/two.ts", 't.equal(one, 2, "two is three");'));
  t.equal(loop("t.mjs", "failing").status, 0);
  t.equal(loop("all.mjs", "--out=after").status, 0);
  t.match(loop("rows.mjs", "before", "after"), { status: 0, stdout: /^new:\n {2}two is three\n.*lost: 0, new: 1\n$/ });
  t.match(loop("rows.mjs", "after", "before"), { status: 1, stdout: /^lost:\n {2}two is three\n/ });
  t.match(loop("rows.mjs", "test"), { status: 2, stderr: /^test has no \*\.tap files/ });
  t.end();
});

t.test("rows: nested, buffered, skipped, and with what differs from run to run", (t) => {
  const tap = (port: number, rest = "") => `TAP version 14
# Subtest: outer
    # Subtest: inner
        ok 1 - on 127.0.0.1:${port} in ${port / 1000} ms
        ok 2 - same
        ok 3 - same
        1..3
    ok 1 - inner # time=${port}ms
    
    1..1
ok 1 - outer # time=${port}ms

ok 2 - buffered # time=${port}ms {
    ok 1 - within
    1..1
}
${rest}1..2
`;
  write("one/a.tap", tap(1234, "ok 3 - last\n"));
  write("two/b.tap", tap(4321, "ok 3 - last # SKIP not here\n"));
  write(
    "three/b.tap",
    tap(4321, "not ok 3 - last\n  ---\n  ok 4 - in an explanation\n  ...\n").replace("ok 3 - same\n", ""),
  );
  t.equal(
    loop("rows.mjs", "one").stdout,
    [
      "1\touter > inner > on 127.0.0.1:<n> in <n> ms",
      "2\touter > inner > same",
      "1\touter > inner",
      "1\touter",
      "1\tbuffered",
      "1\tbuffered > within",
      "1\tlast\n",
    ].join("\n"),
  );
  t.match(
    loop("rows.mjs", "one", "two"),
    { status: 1, stdout: /^lost:\n {2}last\nbefore/ },
    "a row that is skipped now",
  );
  t.match(loop("rows.mjs", "one", "three").stdout, /^lost:\n {2}outer > inner > same\n {2}last\nbefore/);
  t.end();
});
