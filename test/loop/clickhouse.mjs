// `npm run test:clickhouse`: the tests of events on ClickHouse, which run in one process by chdb. Installs that first, half a
// gigabyte, into node_modules/.cache: it is no dependency of anything.
//
//   node test/loop/clickhouse.mjs      (from a build)
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runFiles } from "./run-files.mjs";

const CHDB = "chdb@3.4.0";
const LIMIT_S = 900;
const TESTS = ["clickhouse", "store", "aggregate"].map((name) => `test/logservice/events/events-${name}.test.ts`);

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const folder = join(root, "node_modules/.cache/clickhouse");
mkdirSync(folder, { recursive: true });
execFileSync("npm", ["install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, CHDB], {
  stdio: ["ignore", "ignore", "inherit"],
});
const env = { TAP_GREP: "/ClickHouse/" };
const results = await runFiles(
  TESTS.map((test) => ({ test, kind: "slow", env })),
  { root, limitS: LIMIT_S, jobs: 1 },
);
const sum = (name) => results.reduce((so, result) => so + result[name], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = sum("failed") === 0 ? 0 : 1;
