// How long each test file takes, as last recorded: test/loop/cost.json.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const file = new URL("cost.json", import.meta.url);

/** For a file whose cost is not recorded yet: new files are short, and one that is not should begin early. */
const UNKNOWN = { wallS: 5, cpuS: 3 };

/**
 * Costs by the key of a run: wall time and processor time of its whole tree of processes, in seconds. The key of a file's usual
 * run is its path; other runs add a word to it ("test/runtime/http.test.ts slow").
 */
export function recordedCosts() {
  try {
    return readCosts();
  } catch {
    // It only helps to order.
    return {};
  }
}

function readCosts() {
  if (!existsSync(file)) return {};
  const entries = Object.entries(JSON.parse(readFileSync(file, "utf8")) ?? {});
  return Object.fromEntries(entries.filter(([, cost]) => Number.isFinite(cost?.wallS) && Number.isFinite(cost?.cpuS)));
}

/** The cost of a run; of a kind that is not recorded, that of the file's usual run. */
export const costOf = (costs, key) => costs[key] ?? costs[key.split(" ")[0]] ?? UNKNOWN;

/** Seconds that a file takes alone. */
export const secondsOf = (costs, key) => costOf(costs, key).wallS;

/**
 * Replaces the recorded costs of these runs, and removes those of files that are gone. Throws if the file cannot be read, as in
 * a merge: the costs of all others would be lost.
 */
export function recordCosts(results, isThere) {
  let all;
  try {
    all = readCosts();
  } catch (error) {
    throw new Error(`test/loop/cost.json has the costs of all other tests, so mend it first: ${error.message}`);
  }
  for (const { key, wallS, cpuS } of results) all[key] = { wallS: round(wallS), cpuS: round(cpuS) };
  const kept = Object.entries(all)
    .filter(([key]) => isThere(key.split(" ")[0]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  // As Biome formats it.
  const rows = kept.map(([key, { wallS, cpuS }]) => `  ${JSON.stringify(key)}: { "wallS": ${wallS}, "cpuS": ${cpuS} }`);
  writeFileSync(file, `{\n${rows.join(",\n")}\n}\n`);
}

const round = (seconds) => Number(seconds.toFixed(1));
