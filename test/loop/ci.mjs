// `.ci/run`, once everything is installed and built: all suites as one queue.
//
//   node test/loop/ci.mjs [options]
//   --node24=FILE  a Node 24, for the files of test/loop/node24.json
//   --package=DIR  what test/loop/package.mjs --prepare has installed, for its tests of the package for npm
//   --out=DIR      keep the TAP output of each run, for test/loop/rows.mjs
//   --record       write what each run took to test/loop/cost.json; on an idle machine
//
// Runs are started while cores are free, the longest first. One that fails runs once more at the end, alone: if it passes, it is
// named as flaky, and the run passes if there are at most two of these and test/flaky.json does not list them already. The
// last line is "N passed, N failed".
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf } from "./arguments.mjs";
import { recordCosts } from "./cost.mjs";
import { judge, listedIn } from "./flaky.mjs";
import { packageRuns } from "./package.mjs";
import { keyOf, runFiles } from "./run-files.mjs";
import { hasSlow, isTest, testsIn } from "./test-files.mjs";

/** A slow suite on a busy machine; it is there to end one that hangs. */
const LIMIT_S = 1_500;
const DEAREST = 10;
/** The files that the runtime of other languages must pass, too. */
const LAYER = ["lambda-events", "lambda-lifecycle", "lambda-properties", "lambda-variables", "function-platform"];
/** A sample of those that wait for processes, sockets and timers, on a machine that is stopped most of the time. */
const PAUSED = [
  ...["units", "template", "service-members", "service-bounds", "service-stop", "events-readers"],
  ...["logs-pipes", "http", "lambda-lifecycle", "lambda-delivery"],
];

/** The suites of the service that have their records on PostgreSQL, too (test/support/records.ts). */
const POSTGRES = [
  ...["managed-records", "service-records", "service-matrix", "service-contract", "service-app-tokens"],
  ...["service-members", "service-teams", "service-sign-in", "service-billing"],
  ...["alerts", "alerts-late", "notify-queue", "alerting"],
];

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const beginMs = performance.now();
const { values } = argumentsOf(
  import.meta.url,
  {
    node24: { type: "string" },
    package: { type: "string" },
    out: { type: "string" },
    record: { type: "boolean", default: false },
  },
  false,
);
// Before the queue, as a fault of the list should not cost all that it took.
const listed = listedIn(readFileSync(join(root, "test/flaky.json"), "utf8"));

const usual = testsIn(root, "test");
const named = (name) => {
  const test = usual.find((file) => file.endsWith(`/${name}.test.ts`));
  if (test === undefined) throw new Error(`no test is named ${name}`);
  return test;
};
const ofPackage = values.package === undefined ? [] : packageRuns(resolve(values.package));
const runs = [
  ...usual.map((test) => ({ test })),
  ...usual.filter((test) => hasSlow(root, test)).map((test) => ({ test, kind: "slow" })),
  // Their programs are in one place, and npm start has two ports of its own.
  ...testsIn(root, "test/slow").map((test) => ({ test, ...(/npm-start/.test(test) && { lock: "npm start" }) })),
  ...["clients", "peers"].flatMap((lock) => testsIn(root, `test/${lock}`).map((test) => ({ test, lock }))),
  ...PAUSED.map((name) => ({ test: named(name), kind: "paused" })),
  ...POSTGRES.map((name) => ({ test: named(name), kind: "postgres", env: { TOOL_TEST_RECORDS: "postgres" } })),
  ...layerRuns(),
  ...node24Runs(),
  ...ofPackage,
  ...commandRuns(),
];
const options = { root, limitS: LIMIT_S, ...(values.out === undefined ? {} : { outDirectory: values.out }) };
const first = await runFiles(runs, options);
if (values.record) recordCosts(first, (test) => !isTest(test) || existsSync(join(root, test)));

const { again, verdict } = judge(first, listed);
const second = [];
if (again.length > 0) {
  console.log(`again, alone: ${again.map(keyOf).join(", ")}`);
  second.push(...(await runFiles(again, { ...options, jobs: 1 })));
}
const { lines, results } = verdict(second);
const all = [...first, ...second];
const minutes = (seconds) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
console.log("the dearest, in seconds of processor time and of wall time:");
for (const { cpuS, wallS, ...run } of [...all].sort((a, b) => b.cpuS - a.cpuS).slice(0, DEAREST))
  console.log(`  ${cpuS.toFixed(0).padStart(4)} ${wallS.toFixed(0).padStart(5)}  ${keyOf(run)}`);
const cpuS = all.reduce((sum, result) => sum + result.cpuS, 0);
console.log(
  `${first.length} runs, wall time ${minutes((performance.now() - beginMs) / 1000)}, processor time ${minutes(cpuS)}`,
);
for (const line of lines) console.log(line);
const sum = (name) => results.reduce((so, result) => so + result[name], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(sum("failed") === 0 ? 0 : 1);

function layerRuns() {
  const env = { TOOL_TEST_RUNTIME: join(root, "dist/layer/tool/runtime") };
  const tests = LAYER.map(named);
  return [
    ...[...tests, "test/slow/languages.ts"].map((test) => ({ test, kind: "layer", env })),
    ...[named("function-platform")].map((test) => ({ test, kind: "layer slow", env })),
  ];
}

/**
 * Those that depend on Node, on the newest long-term release beside the oldest that we support. What runs there on the package
 * for npm does not run twice: its command is the same bundle.
 */
function node24Runs() {
  if (values.node24 === undefined) return [];
  const env = { PATH: `${dirname(resolve(values.node24))}:${process.env.PATH}` };
  const names = JSON.parse(readFileSync(join(root, "test/loop/node24.json"), "utf8")).runs;
  const already = new Set(ofPackage.filter(({ kind }) => kind === "package 24").map(({ test }) => test));
  const tests = names.map(named).filter((test) => !already.has(test));
  return tests.map((test) => ({ test, kind: "node24", env, node: resolve(values.node24) }));
}

function commandRuns() {
  return [{ test: "format and lint", command: ["npm", "run", "--silent", "lint"] }];
}
