// `npm run t -- <file or word> ...`: runs tests without a whole build, within seconds.
//
// A test by its name or a part of it; for a source, the tests that import it; for nothing, the tests that import what
// changed since the last commit. Types are not checked: `npm run build` and `npm test` do.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { FOLDERS, transpile } from "./transpile.mjs";

/** As `npm test` has it (package.json): tap ends a file that was started by itself after 30 seconds. */
const LIMIT_S = 300;
const SHOWN_LINES = 40;

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const begin = performance.now();

await generate();
const written = await transpile(root);
if (written.some((file) => !file.startsWith("test/"))) drop("bundled");
const { importsOf, testsOf } = await import("../../dist/test/mutate/imports.js");
const imports = importsOf(root, FOLDERS);
const all = [...imports.keys()].filter((file) =>
  /^test\/.*\.test\.ts$|^test\/(slow|clients|peers)\/[^/]+\.ts$/.test(file),
);
const usual = all.filter((file) => file.endsWith(".test.ts"));

const words = process.argv.slice(2);
const chosen = words.length > 0 ? [...new Set(words.flatMap(named))] : reached(changed());
if (chosen.length === 0) {
  console.log("Nothing changed since the last commit that a test imports.");
  process.exit(0);
}
if (chosen.some((test) => testsOf(imports, [test], "cli/cli.ts").length > 0)) bundle();
console.log(`${chosen.length} of ${usual.length} test files, ready after ${seconds(begin)}`);
process.exit((await runAll(chosen)) ? 0 : 1);

/** The tests that a word means. */
function named(word) {
  const path = relative(root, resolve(word)).replace(/^dist\/(.*)\.js$/, "$1.ts");
  if (all.includes(path)) return [path];
  if (existsSync(join(root, path)) && statSync(join(root, path)).isFile()) {
    const tests = reached([path]);
    if (tests.length > 0) return tests;
    return refuse(`no test imports ${path}`);
  }
  const name = (file) => basename(file, ".ts").replace(/\.test$/, "");
  const same = all.filter((file) => name(file) === word);
  const tests = same.length > 0 ? same : usual.filter((file) => name(file).includes(word));
  if (tests.length > 0) return tests;
  const sources = [...imports.keys()].filter((file) => !file.startsWith("test/") && file.includes(word));
  const fromSources = reached(sources);
  return fromSources.length > 0
    ? fromSources
    : refuse(`no test or source is named ${word}: give a file, or a part of a name`);
}

function refuse(why) {
  console.error(why);
  process.exit(2);
}

/** The tests that reach files by their imports, the nearest first. */
function reached(files) {
  const steps = new Map();
  for (const file of files.map(moduleOf)) {
    const own = usual.includes(file) ? [{ test: file, steps: 0 }] : testsOf(imports, usual, file);
    for (const { test, steps: so } of own) steps.set(test, Math.min(so, steps.get(test) ?? Infinity));
  }
  return [...steps].sort(([, a], [, b]) => a - b).map(([test]) => test);
}

/** The module that is made of a grammar or a schema. */
function moduleOf(file) {
  if (file.endsWith(".ohm")) return file.replace(/\.ohm$/, ".generated.ts");
  if (file === "schema/tool.schema.json") return "schema/tool-schema.generated.ts";
  return file === "schema/rpc.schema.json" ? "schema/rpc.generated.ts" : file;
}

function changed() {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  if (status !== 0) refuse(`git does not tell what changed, so name a test: ${stderr.trim()}`);
  return stdout.split("\0").flatMap((line) => (line === "" ? [] : line.slice(3)));
}

/** Makes the generated modules where a grammar, a schema or what makes them changed. */
async function generate() {
  const inputs = [
    ...filesIn("grammar").filter((file) => file.endsWith(".ohm") || /\/(actions|build\/[^/]+)\.ts$/.test(file)),
    ...filesIn("schema").filter((file) => /\.schema\.json$|\/(?:rpc-)?generate[^/]*\.ts$/.test(file)),
    ...filesIn("cli/build"),
  ];
  if (!isOlder("generated", inputs)) return;
  must("cli/build/generate.mjs");
  stamp("generated");
}

/** The command as one file for each of its commands, which tests start as a process. */
function bundle() {
  if (existsSync(stampOf("bundled"))) return;
  must("cli/build/bundle.mjs");
  stamp("bundled");
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

function drop(name) {
  rmSync(stampOf(name), { force: true });
}

function isOlder(name, inputs) {
  if (!existsSync(stampOf(name))) return true;
  const madeMs = statSync(stampOf(name)).mtimeMs;
  return inputs.some((file) => statSync(join(root, file)).mtimeMs > madeMs);
}

/** Two at once, as `npm test` does; whether all passed. */
async function runAll(tests) {
  const waiting = [...tests];
  const failed = [];
  let rows = 0;
  const work = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const result = await run(test);
      rows += result.passed;
      if (result.isGood) console.log(`  ok      ${test}  ${result.passed} in ${result.took}`);
      else {
        failed.push(test);
        console.log(`  FAILED  ${test}  ${result.passed} passed, in ${result.took}\n${result.shown}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  console.log(`${rows} passed${failed.length > 0 ? `; failed: ${failed.join(" ")}` : ""}, after ${seconds(begin)}`);
  return failed.length === 0;
}

function run(test) {
  const from = performance.now();
  const args = ["--enable-source-maps", join("dist", test.replace(/\.ts$/, ".js"))];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, TAP_TIMEOUT: String(LIMIT_S), TAP_JOBS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((done) =>
    child.once("close", (code) => {
      const passed = Number(/^# \{ total: \d+, pass: (\d+)/m.exec(output)?.[1] ?? 0);
      done({ isGood: code === 0, passed, took: seconds(from), shown: shownOf(output) });
    }),
  );
}

/** What failed first, with what tap says of it; the end where it says nothing. */
function shownOf(output) {
  const lines = output.split("\n");
  const first = lines.findIndex((line) => /^ *not ok/.test(line));
  return (first < 0 ? lines.slice(-SHOWN_LINES) : lines.slice(first, first + SHOWN_LINES)).join("\n");
}

function seconds(from) {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}
