// `npm test`: runs every test/*.test.ts that is built, or the files and folders given.
//
//   node test/loop/all.mjs [options] [FILE | FOLDER ...]      from the root or from test: test/slow, units.test.ts
//   --jobs=N     files at once (one more than cores, at most 4)
//   --limit=S    seconds that one file may take (300)
//   --out=DIR    keep the TAP output of each file, for test/loop/rows.mjs
//   --slow       only the tests that test/support/slow.ts marks, which are skipped otherwise
//   --record     write how long each file took to test/loop/seconds.json; on an idle machine
//
// tap's own runner does the same with `npx tap dist/test/units.test.js`. For all files it takes 40 seconds of processor
// time more (loading itself into each file, reading all output), and it does not begin with the longest file.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf } from "./arguments.mjs";
import { recordSeconds, runFiles, USUAL_JOBS } from "./run-files.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const beginMs = performance.now();

const { values, positionals } = argumentsOf(import.meta.url, {
  jobs: { type: "string", default: String(USUAL_JOBS) },
  limit: { type: "string", default: "300" },
  out: { type: "string" },
  slow: { type: "boolean", default: false },
  record: { type: "boolean", default: false },
});

/** Only their slow tests are run with --slow; the files of other folders are slow as a whole. */
const isMixed = (test) => test.endsWith(".test.ts");
const given = positionals.length > 0 ? [...new Set(positionals.flatMap(testsOf))] : testsIn("test");
const tests = values.slow ? given.filter((test) => !isMixed(test) || hasSlow(test)) : given;
const results = await runFiles(tests, {
  root,
  jobs: Number(values.jobs),
  limitS: Number(values.limit),
  ...(values.slow && { onlySlow: isMixed }),
  ...(values.out === undefined ? {} : { outDirectory: values.out }),
});
if (values.record && !values.slow) recordSeconds(results, (test) => existsSync(join(root, test)));

const sum = (name) => results.reduce((so, result) => so + result[name], 0);
const [pass, fail, skip] = ["passed", "failed", "skipped"].map(sum);
const counts = [`total: ${pass + fail + skip}`, `pass: ${pass}`];
if (fail > 0) counts.push(`fail: ${fail}`);
if (skip > 0) counts.push(`skip: ${skip}`);
console.log(`# { ${counts.join(", ")} }`);
console.log(`# ${results.length} files in ${((performance.now() - beginMs) / 1000).toFixed(1)} s`);
process.exit(fail === 0 ? 0 : 1);

function hasSlow(test) {
  return readFileSync(join(root, test), "utf8").includes('from "./support/slow.ts"');
}

function testsOf(given) {
  const path = relative(root, resolve(given)).replace(/^dist\/(.*)\.js$/, "$1.ts");
  const found = [path, join("test", path)].find((one) => one.startsWith("test") && existsSync(join(root, one)));
  if (found === undefined) {
    console.error(`${given} is not a test: give files or folders of test`);
    process.exit(2);
  }
  return statSync(join(root, found)).isDirectory() ? testsIn(found) : [found];
}

/** In test itself other files are no tests; in test/slow and test/clients all are. */
function testsIn(folder) {
  const isTest = (name) => (folder === "test" ? name.endsWith(".test.ts") : name.endsWith(".ts"));
  return readdirSync(join(root, folder))
    .filter(isTest)
    .map((name) => `${folder}/${name}`);
}
