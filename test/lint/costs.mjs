// Each test has a recorded cost, by which the queue is ordered and filled. `npm run lint` runs it.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { recordedCosts } from "../loop/cost.mjs";
import { hasSlow, testsIn, WHOLE_FOLDERS } from "../loop/test-files.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Keys of runs without a record, and records of files that are gone. */
export function costFaults(costs, keys) {
  const files = new Set(keys.map((key) => key.split(" ")[0]));
  return [
    ...keys.filter((key) => costs[key] === undefined).map((key) => `${key} has no cost`),
    ...Object.keys(costs)
      .filter((key) => key.startsWith("test/") && !files.has(key.split(" ")[0]))
      .map((key) => `${key} is recorded, and gone`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const usual = testsIn(root, "test");
  const keys = [
    ...usual,
    ...usual.filter((test) => hasSlow(root, test)).map((test) => `${test} slow`),
    ...WHOLE_FOLDERS.flatMap((folder) => testsIn(root, `test/${folder}`)),
  ];
  const faults = costFaults(recordedCosts(), keys);
  for (const fault of faults) console.error(`test/loop/cost.json: ${fault}`);
  if (faults.length > 0)
    console.error("npm test -- --record NAME writes it (with --slow for slow tests); on an idle machine");
  process.exitCode = faults.length > 0 ? 1 : 0;
}
