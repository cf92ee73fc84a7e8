// The handling of runs that failed: each runs once more, alone, unless it did so the last time, too.
import { failedChecks, keyOf } from "./run-files.mjs";

/** More than this many files that pass only alone are a fault of the house, not of the machine. */
const MOST = 2;

/** The entries of test/flaky.json. */
export function listedIn(text) {
  let entries;
  try {
    entries = JSON.parse(text);
  } catch (error) {
    throw new Error(`test/flaky.json is not JSON: ${error.message}`);
  }
  const isEntry = (entry) => ["file", "check", "seen"].every((name) => typeof entry?.[name] === "string");
  if (Array.isArray(entries) && entries.every(isEntry)) return entries;
  throw new Error('test/flaky.json is not a list of { "file", "check", "seen" }');
}

/**
 * @param {{ test: string, kind?: string, failed: number, output: string }[]} first  results of the queue
 * @param {{ file: string, check: string, seen: string }[]} listed  test/flaky.json: those that needed another run before
 * @returns the runs that run again, and what their results make of it: lines to print, and the results that count
 */
export function judge(first, listed) {
  const failed = first.filter((result) => result.failed > 0);
  const isListed = (result) => listed.some(({ file }) => file === result.test);
  const again = failed.length > MOST ? [] : failed.filter((result) => !isListed(result));
  const verdict = (second) => {
    const lines = [];
    if (failed.length > MOST)
      lines.push(`${failed.length} failed: none runs again, as more than ${MOST} are no accident`);
    const results = first.map((result) => {
      if (result.failed === 0) return result;
      if (isListed(result))
        lines.push(`${keyOf(result)}: test/flaky.json lists it already, so that it does not run again`);
      const alone = second.find((other) => keyOf(other) === keyOf(result));
      if (alone === undefined || alone.failed > 0) return alone ?? result;
      for (const check of failedChecks(result.output)) lines.push(`flaky: ${keyOf(result)}: ${check}`);
      lines.push(`add it to test/flaky.json, or mend it: ${keyOf(result)} passed only alone`);
      return alone;
    });
    const ran = second.length === 0 ? "no file ran again" : `ran again: ${second.map(keyOf).join(", ")}`;
    return { lines: [...lines, ran], results };
  };
  return { again, verdict };
}
