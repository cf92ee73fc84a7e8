// `npm run t`: runs tests without a whole build, within seconds. Types are not checked: `npm run build` and `npm test` do.
//
//   npm run t                         the tests of what changed since the last commit, the likeliest to fail first
//   npm run t -- --since main         the tests of what changed since the branch left main, committed or not
//   npm run t -- route                a test by its name or a part of it, or the tests of a command
//   npm run t -- grammar/route/x.ts   the tests of a source: those of its room, and the nearest that import it
//   --all      also those that are more than a minute away
//   --slow     slow tests alone: those of test/slow, and those that test/support/slow.ts marks, which are skipped otherwise
//   --list     what would be run
//   --record   write what the tests find into the rows of test/vectors that expect something else, and print which; read the difference
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isGeneratedStale } from "../../cli/build/generated.mjs";
import { argumentsOf } from "./arguments.mjs";
import { byName, chooser, ordered, withinBudget } from "./choice.mjs";
import { runFiles } from "./run-files.mjs";
import { isUsual } from "./test-files.mjs";

/** As `npm test` has it. */
const LIMIT_S = 900;
/** A part of each bundle, which may have been removed since. */
const OUTPUTS = { command: "dist/bin/main.cjs", extension: "vscode-extension/dist/extension.cjs" };
/** The module that finds the built web UI: tests that import it, or start the command, which has it too, get pages. */
const UI_FILES = "logservice/web/files.ts";
const UI_TESTS = /^test\/logservice\/ui\//;
const JOBS = Math.min(2, availableParallelism());

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const beginMs = performance.now();
const seconds = () => `${((performance.now() - beginMs) / 1000).toFixed(1)} s`;

const { values, positionals: words } = argumentsOf(import.meta.url, {
  all: { type: "boolean" },
  slow: { type: "boolean" },
  list: { type: "boolean" },
  since: { type: "string" },
  record: { type: "boolean" },
});
if (!existsSync(join(root, "node_modules/esbuild"))) {
  console.error("what the tests need is not installed: npm ci");
  process.exit(1);
}
const { FOLDERS, transpile } = await import("./transpile.mjs");
generate();
const written = await transpile(root).catch((error) => {
  // esbuild has printed its own errors.
  if (error.errors === undefined) console.error(error.message);
  process.exit(1);
});
if (written.some((file) => !file.startsWith("test/"))) {
  for (const name of ["command", "extension"]) rmSync(stampOf(name), { force: true });
}
const graph = await import("../../dist/test/mutate/imports.js");
const { testsOf } = graph;
const { imports, ofWord, ofFiles, leftOut } = chooser(root, graph, { folders: FOLDERS, isSlow: values.slow });

if (words.includes("")) refuse("a word is empty: give a file, or a part of a name");
if (words.length > 0 && values.since !== undefined) refuse("--since chooses by what changed: name no test beside it");
const since = values.since === undefined ? "the last commit" : `the branch left ${values.since}`;
const changes = words.length > 0 ? [] : changed();
const candidates = ordered(words.length > 0 ? words.map(named) : [ofFiles(changes)]);
const others = leftOut(changes);
if (candidates.length === 0) {
  const nothing =
    changes.length === 0
      ? `Nothing changed since ${since}.`
      : others.length > 0
        ? `Nothing to run but ${byName(others)}`
        : `Nothing to run: no test imports what changed since ${since}.`;
  const more = values.since === undefined ? " What changed since the branch left main: npm run t -- --since main." : "";
  console.log(`${nothing}${more} To run a test by its name: npm run t -- route`);
  process.exit(0);
}
const chosen = values.all ? candidates : withinBudget(candidates, JOBS);
announce(chosen, candidates);
if (others.length > 0) console.log(`what changed is also of ${byName(others)}`);
if (values.list) process.exit(0);

const tests = chosen.map(({ test }) => test);
if (tests.some((test) => testsOf(imports, [test], "cli/cli.ts").length > 0)) bundle("command", "cli/build/bundle.mjs");
if (tests.some((test) => /^test\/(vscode-extension\/.*|clients\/.*)\.ts$/.test(test))) {
  bundle("extension", "cli/build/extension.mjs");
}
if (tests.some((test) => testsOf(imports, [test], UI_FILES).length > 0 || UI_TESTS.test(test))) buildUi();
console.log(`ready after ${seconds()}`);
const runs = tests.map((test) => (values.slow && isUsual(test) ? { test, kind: "slow" } : { test }));
const results = await runFiles(runs, {
  root,
  jobs: JOBS,
  limitS: LIMIT_S,
  isSorted: true,
  isRecording: values.record,
});
if (values.record) {
  const recorded = results.flatMap(({ output }) => output.match(/^ *recorded: .*$/gm) ?? []).map((line) => line.trim());
  console.log(recorded.length > 0 ? recorded.join("\n") : "recorded: nothing, all rows expect what is there");
}
const sum = (name) => results.reduce((so, result) => so + result[name], 0);
const counts = [`${sum("passed")} passed`];
if (sum("failed") > 0) counts.push(`${sum("failed")} failed`);
if (sum("skipped") > 0) counts.push(`${sum("skipped")} skipped${values.slow ? "" : " (--slow runs slow ones)"}`);
console.log(`${counts.join(", ")}, after ${seconds()}`);
process.exit(sum("failed") > 0 ? 1 : 0);

/** The tests that a word means. */
function named(word) {
  const { chosen, why } = ofWord(word);
  return chosen ?? refuse(values.slow ? "none of these files has slow tests: run it without --slow" : why);
}

function refuse(why) {
  console.error(why);
  process.exit(2);
}

function announce(chosen, candidates) {
  const about = Math.ceil(
    Math.max(...chosen.map(({ seconds }) => seconds), chosen.reduce((so, { seconds }) => so + seconds, 0) / JOBS),
  );
  const files = (count) => `${count} test file${count === 1 ? "" : "s"}`;
  const more = candidates.length - chosen.length;
  const rest =
    more === 0
      ? ""
      : `, the nearest; ${more} more: npm run t -- ${[...words, ...(values.since === undefined ? [] : ["--since", values.since]), "--all"].join(" ")}`;
  console.log(`${files(chosen.length)}, about ${about} s${rest}`);
  for (const { test, steps, isOwn } of chosen) {
    console.log(`  ${test}${steps > 1 && !isOwn ? ` (${steps} imports away)` : ""}`);
  }
}

/** The files that changed since the last commit, or since the branch left another; also those that git does not know yet. */
function changed() {
  if (values.since === undefined) {
    const lines = git("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames");
    return lines.map((line) => line.slice(3));
  }
  const [base] = git("merge-base", values.since, "HEAD");
  return [
    ...git("diff", "--name-only", "-z", "--no-renames", base.trim()),
    ...git("ls-files", "-z", "--others", "--exclude-standard"),
  ];
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  // git merge-base says nothing if there is no such commit.
  const why =
    stderr.trim() || `${values.since} and HEAD share no commit here; in a shallow clone, git fetch --unshallow`;
  if (status !== 0) refuse(`git does not tell what changed, so name a test: ${why}`);
  return stdout.split("\0").filter((line) => line !== "");
}

/** Makes the generated modules if anything changed that they are made of. */
function generate() {
  if (isGeneratedStale(root)) must("cli/build/generate.mjs");
}

/** Bundles the programs that tests start as a process: a file for each command, or the extension with its server. */
function bundle(name, script) {
  make(name, OUTPUTS[name], { script, inputs: [...filesIn("cli/build"), "package-lock.json"] });
}

/** The web UI of the log service, if something that it is made of changed. */
function buildUi() {
  const inputs = [...["logservice/ui", "grammar", "schema"].flatMap(filesIn), "cli/build/ui.mjs", "package-lock.json"];
  make("ui", "dist/bin/ui/manifest.json", { script: "cli/build/ui.mjs", inputs });
}

/** Runs a script if its output is missing, or its inputs are others than the last time: a file may be gone, or an older one. */
function make(name, output, { script, inputs }) {
  const state = inputs.map((file) => `${file} ${stateOf(file)}\n`).join("");
  const file = stampOf(name);
  if (existsSync(join(root, output)) && existsSync(file) && readFileSync(file, "utf8") === state) return;
  must(script);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(file, state);
}

function must(script) {
  const { status } = spawnSync(process.execPath, [script], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => !file.includes(".generated.") && statSync(join(root, file), { throwIfNoEntry: false })?.isFile());
}

function stampOf(name) {
  return join(root, `dist/.t-${name}`);
}

function stateOf(file) {
  const stat = statSync(join(root, file), { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.mtimeMs} ${stat.size}`;
}
