// `npm test`: runs every test/**/*.test.ts that is built, or the files and folders given.
//
//   node test/loop/all.mjs [options] [FILE | FOLDER ...]      from the root or from test, or a name: test/slow, cli/logs, units
//   --jobs=N     files at once (by what they take, as long as a core is free)
//   --limit=S    seconds that one file may say nothing (900); it may take four times as long
//   --out=DIR    keep the TAP output of each file, for test/loop/rows.mjs
//   --slow       only the tests that test/support/slow.ts marks, which are skipped otherwise
//   --paused     stop the processes of each file for 1.5 s of each 2.5 s, as a busy machine does
//   --record     write what each file took to test/loop/cost.json; on an idle machine
//
// tap's own runner does the same with `npx tap dist/test/grammar/units/units.test.js`. For all files it takes 40 seconds of processor
// time more (loading itself into each file, reading all output), and it does not begin with the longest file.
import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf } from "./arguments.mjs";
import { recordCosts } from "./cost.mjs";
import { runFiles } from "./run-files.mjs";
import { hasSlow, isTest, isUsual, nameOf, testsIn } from "./test-files.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const beginMs = performance.now();

const { values, positionals } = argumentsOf(import.meta.url, {
  jobs: { type: "string" },
  limit: { type: "string", default: "900" },
  out: { type: "string" },
  slow: { type: "boolean", default: false },
  paused: { type: "boolean", default: false },
  record: { type: "boolean", default: false },
});

const selected = positionals.length > 0 ? [...new Set(positionals.flatMap(testsOf))] : testsIn(root, "test");
const tests = values.slow ? selected.filter((test) => !isUsual(test) || hasSlow(root, test)) : selected;
if (tests.length === 0) {
  console.error("none of these files has slow tests: run it without --slow");
  process.exit(2);
}
for (const [name, value] of [
  ["jobs", values.jobs],
  ["limit", values.limit],
]) {
  if (value === undefined || /^[1-9]\d*$/.test(value)) continue;
  console.error(
    `--${name} ${JSON.stringify(value)} is not a number of ${name === "jobs" ? "files" : "seconds"}: write --${name}=2`,
  );
  process.exit(2);
}
const runs = tests.map((test) => {
  const kind = [values.paused && "paused", values.slow && isUsual(test) && "slow"].filter(Boolean).join(" ");
  return kind === "" ? { test } : { test, kind };
});
const results = await runFiles(runs, {
  root,
  limitS: Number(values.limit),
  ...(values.jobs === undefined ? {} : { jobs: Number(values.jobs) }),
  ...(values.out === undefined ? {} : { outDirectory: values.out }),
});
if (values.record) recordCosts(results, (test) => !isTest(test) || existsSync(join(root, test)));

const sum = (name) => results.reduce((so, result) => so + result[name], 0);
const [pass, fail, skip] = ["passed", "failed", "skipped"].map(sum);
const counts = [`total: ${pass + fail + skip}`, `pass: ${pass}`];
if (fail > 0) counts.push(`fail: ${fail}`);
if (skip > 0) counts.push(`skip: ${skip}`);
console.log(`# { ${counts.join(", ")} }`);
console.log(`# ${results.length} files in ${((performance.now() - beginMs) / 1000).toFixed(1)} s`);
process.exit(fail === 0 ? 0 : 1);

function testsOf(argument) {
  const path = relative(root, resolve(argument)).replace(/^dist\/(.*)\.js$/, "$1.ts");
  const file = [path, join("test", path)].find((one) => one.startsWith("test") && existsSync(join(root, one)));
  const isFolder = file !== undefined && statSync(join(root, file)).isDirectory();
  const named = file === undefined ? testsIn(root, "test").filter((test) => nameOf(test) === argument) : [];
  const tests = isFolder ? testsIn(root, file) : [...named, ...(file === undefined ? [] : [file])];
  if (tests.length === 0 || !tests.every(isTest)) {
    console.error(`${argument} is not a test: give files, or test, test/slow, test/clients, test/peers`);
    process.exit(2);
  }
  return tests;
}
