// `npm run t`: runs tests without a whole build, within seconds. Types are not checked: `npm run build` and `npm test` do.
//
//   npm run t                         the tests that import what changed since the last commit, the nearest first
//   npm run t -- route                a test by its name or a part of it
//   npm run t -- grammar/route/x.ts   the tests that import a source, the nearest first
//   --all      also those that are more than a minute away
//   --slow     of the files named, the tests that test/support/slow.ts marks, which are skipped otherwise
//   --list     what would be run
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf } from "./arguments.mjs";
import { recordedCosts, secondsOf } from "./cost.mjs";
import { runFiles } from "./run-files.mjs";
import { hasSlow, isTest, isUsual } from "./test-files.mjs";

/** As `npm test` has it. */
const LIMIT_S = 900;
/** The limit for tests that are not named: what a person waits for between two changes. */
const BUDGET_S = 60;
/** A part of each bundle, which may have been removed since. */
const OUTPUTS = { command: "dist/bin/main.cjs", extension: "vscode-extension/dist/extension.cjs" };
const SANDBOX_OPERATIONS = "cli/sandbox/cloud/protocol/operations.json";
/** What finds the built web UI: tests that import it, or start the command, which has it too, are shown pages. */
const UI_FILES = "logservice/web/files.ts";
const UI_TESTS = /^test\/logservice\/ui\//;
const BOUNDARIES = "test/boundaries.test.ts";
const JOBS = Math.min(2, availableParallelism());

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const beginMs = performance.now();
const seconds = () => `${((performance.now() - beginMs) / 1000).toFixed(1)} s`;

const { values, positionals: words } = argumentsOf(import.meta.url, {
  all: { type: "boolean" },
  slow: { type: "boolean" },
  list: { type: "boolean" },
});

if (!existsSync(join(root, "node_modules/esbuild"))) {
  console.error("what the tests need is not installed: npm ci");
  process.exit(1);
}
const { FOLDERS, transpile } = await import("./transpile.mjs");
generate();
const written = await transpile(root).catch(() => process.exit(1)); // esbuild has printed why.
if (written.some((file) => !file.startsWith("test/"))) {
  for (const name of ["command", "extension"]) rmSync(stampOf(name), { force: true });
}
const { importsOf, testsOf } = await import("../../dist/test/mutate/imports.js");
const imports = importsOf(root, FOLDERS);
const all = [...imports.keys()].filter(isTest);
const usual = all.filter(isUsual);

if (words.includes("")) refuse("a word is empty: give a file, or a part of a name");
const changes = words.length > 0 ? [] : changed();
const candidates = words.length > 0 ? merged(words.map(named)) : merged([reached(changes), readersOfAll(changes)]);
if (candidates.length === 0) {
  if (changes.length === 0)
    console.log("Nothing changed since the last commit. To run a test by its name: npm run t -- route");
  else
    console.log(
      "Nothing to run: no test imports what changed since the last commit. To run a test by its name: npm run t -- route",
    );
  process.exit(0);
}
const chosen = values.all ? candidates : withinBudget(candidates);
announce(chosen, candidates);
if (values.list) process.exit(0);

const tests = chosen.map(({ test }) => test).filter((test) => !values.slow || !isUsual(test) || hasSlow(root, test));
if (tests.length === 0) refuse("none of these files has slow tests: run it without --slow");
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
});
const sum = (name) => results.reduce((so, result) => so + result[name], 0);
const counts = [`${sum("passed")} passed`];
if (sum("failed") > 0) counts.push(`${sum("failed")} failed`);
if (sum("skipped") > 0) counts.push(`${sum("skipped")} skipped${values.slow ? "" : " (--slow runs slow ones)"}`);
console.log(`${counts.join(", ")}, after ${seconds()}`);
process.exit(sum("failed") > 0 ? 1 : 0);

/**
 * The tests that a word means, with the steps of imports from the test to it; 0 if the test itself is named.
 */
function named(word) {
  const path = relative(root, resolve(word)).replace(/^dist\/(.*)\.js$/, "$1.ts");
  if (all.includes(path)) return [{ test: path, steps: 0 }];
  if (existsSync(join(root, path)) && statSync(join(root, path)).isFile()) {
    const tests = reached([path]);
    return tests.length > 0 ? tests : refuse(`no test imports ${path}`);
  }
  const name = (file) => basename(file, ".ts").replace(/\.test$/, "");
  const same = all.filter((file) => [name(file), basename(file), basename(file, ".ts")].includes(word));
  if (same.length > 0) return same.map((test) => ({ test, steps: 0 }));
  const part = usual.filter((file) => name(file).includes(word));
  if (part.length > 0) return part.map((test) => ({ test, steps: 1 }));
  const fromSources = reached([...imports.keys()].filter((file) => !file.startsWith("test/") && file.includes(word)));
  if (fromSources.length > 0) return fromSources;
  return refuse(`no test or source is named ${word}: give a file, or a part of a name`);
}

function refuse(why) {
  console.error(why);
  process.exit(2);
}

/** The tests that reach files by their imports, the nearest first. */
function reached(files) {
  return merged(
    files.flatMap(modulesOf).map((file) => {
      if (all.includes(file)) return [{ test: file, steps: 0 }];
      return testsOf(imports, usual, file).map(({ test, steps }) => ({ test, steps: Math.max(1, steps) }));
    }),
  );
}

/** The tests of the import directions, which read every source and import none. */
function readersOfAll(files) {
  const isSource = (file) => FOLDERS.some((folder) => file.startsWith(`${folder}/`)) && /\.(?:ts|mjs)$/.test(file);
  return files.some(isSource) && all.includes(BOUNDARIES) ? [{ test: BOUNDARIES, steps: 1 }] : [];
}

/** Each test once, by its shortest way; the nearest first, and of these the quickest. */
function merged(lists) {
  const nearest = new Map();
  for (const { test, steps } of lists.flat()) nearest.set(test, Math.min(steps, nearest.get(test) ?? Infinity));
  const recorded = recordedCosts();
  return [...nearest]
    .map(([test, steps]) => ({ test, steps, seconds: secondsOf(recorded, test) }))
    .sort((a, b) => a.steps - b.steps || a.seconds - b.seconds || (a.test < b.test ? -1 : 1));
}

/** The nearest tests until the time is used up; what is named itself, and one test, in any case. */
function withinBudget(tests) {
  let used = 0;
  return tests.filter(({ steps, seconds }, index) => {
    used += seconds;
    return steps === 0 || index === 0 || used <= BUDGET_S * JOBS;
  });
}

function announce(chosen, candidates) {
  const about = Math.ceil(
    Math.max(...chosen.map(({ seconds }) => seconds), chosen.reduce((so, { seconds }) => so + seconds, 0) / JOBS),
  );
  const files = (count) => `${count} test file${count === 1 ? "" : "s"}`;
  const more = candidates.length - chosen.length;
  const rest = more === 0 ? "" : `, the nearest; ${more} more: npm run t -- ${[...words, "--all"].join(" ")}`;
  console.log(`${files(chosen.length)}, about ${about} s${rest}`);
  for (const { test, steps } of chosen) console.log(`  ${test}${steps > 1 ? ` (${steps} imports away)` : ""}`);
}

/** The modules that a file is a part of: itself, what is generated of it, or those that name it if it is data. */
function modulesOf(file) {
  if (file.endsWith(".ohm")) return [file.replace(/\.ohm$/, ".generated.ts")];
  if (file === "schema/tool.schema.json") return ["schema/tool-schema.generated.ts"];
  if (file === "schema/rpc.schema.json") return ["schema/rpc.generated.ts"];
  if (file === SANDBOX_OPERATIONS) return ["cli/sandbox/cloud/protocol/model.generated.ts"];
  if (/\.(ts|mjs)$/.test(file) && !/^test\/(apps|fixtures)\//.test(file)) return [file];
  // test/vectors/route.json is read as "route.json", test/apps/echo/server.mjs as "echo/server.mjs" or by its folder.
  const known = /^test\/(?:vectors|fixtures)\/(.+)$|^test\/apps\/([^/]+)\//.exec(file);
  if (known === null) return [];
  const text = known[1] ?? `${known[2]}/`;
  return [...imports.keys()].filter((module) => readFileSync(join(root, module), "utf8").includes(text));
}

function changed() {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) refuse(`git does not tell what changed, so name a test: ${stderr.trim()}`);
  return stdout.split("\0").flatMap((line) => (line === "" ? [] : line.slice(3)));
}

/** Makes the generated modules if a grammar, a schema or what makes them changed. */
function generate() {
  const inputs = [
    ...filesIn("grammar").filter((file) => file.endsWith(".ohm") || /\/(actions|build\/[^/]+)\.ts$/.test(file)),
    ...filesIn("schema").filter((file) => /\.schema\.json$|\/(?:rpc-)?generate[^/]*\.ts$/.test(file)),
    ...filesIn("cli/build"),
    SANDBOX_OPERATIONS,
  ];
  if (!isOlder("generated", inputs)) return;
  must("cli/build/generate.mjs");
  stamp("generated");
}

/** What tests start as a process: a file for each command, or the extension with its server. */
function bundle(name, script) {
  if (existsSync(stampOf(name)) && existsSync(join(root, OUTPUTS[name]))) return;
  must(script);
  stamp(name);
}

/** The web UI of the log service, if something that it is made of is newer. */
function buildUi() {
  const inputs = [...["logservice/ui", "grammar", "schema"].flatMap(filesIn), "cli/build/ui.mjs", "package-lock.json"];
  if (existsSync(join(root, "dist/bin/ui/manifest.json")) && !isOlder("ui", inputs)) return;
  must("cli/build/ui.mjs");
  stamp("ui");
}

function must(script) {
  const { status } = spawnSync(process.execPath, [script], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => !file.includes(".generated.") && statSync(join(root, file)).isFile());
}

function stampOf(name) {
  return join(root, `dist/.t-${name}`);
}

function stamp(name) {
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(stampOf(name), "");
}

function isOlder(name, inputs) {
  if (!existsSync(stampOf(name))) return true;
  const madeMs = statSync(stampOf(name)).mtimeMs;
  return inputs.some((file) => statSync(join(root, file)).mtimeMs > madeMs);
}
