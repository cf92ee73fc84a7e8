// Each test has a name by which it is run, and a recorded cost, by which the queue is ordered and filled. `npm run lint` runs it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { recordedCosts } from "../loop/cost.mjs";
import { hasSlow, isTest, isUsual, nameOf, testsIn, WHOLE_FOLDERS } from "../loop/test-files.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Has rows that are such tests themselves. */
const ROWS = "test/queue.test.ts";

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

/** Files that are written as tests, and are none by their place or name, so that nothing runs them; and names of two tests. */
export function nameFaults(files) {
  const looksLikeTest = ([path, text]) =>
    /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(path) ||
    (/^test\/(?!support\/)/.test(path) && /^import t\b[^;]*\bfrom ["']tap["']/m.test(text));
  const stray = files.filter((file) => looksLikeTest(file) && !isTest(file[0]));
  const tests = files.map(([path]) => path).filter((path) => isTest(path) && isUsual(path));
  const others = tests.filter((test, index) => tests.findIndex((one) => nameOf(one) === nameOf(test)) < index);
  return [
    ...stray.map(([path]) => `${path} is never run: name it test/<room>/<subject>.test.ts`),
    ...others.map((test) => `${test} has the name of another test, ${nameOf(test)}`),
  ];
}

/**
 * A test that is switched off in its source, or alone on: it would count as skipped for ever, or the others would. An exit
 * without an error ends a file that passed so far, and its other tests are never missed.
 */
const SWITCHED =
  /\bt\.(?:skip|todo|only)\(|[{,] *(?:(?:skip|todo): *(?:true\b|["'`])|only: *true\b)|^\s*(?:if \(.*\) )?process\.exit\(0?\)/;

const INSTEAD = "mend or remove it: what a test needs of a machine is asked by test/support/require.ts and slow.ts";

/** The lines that switch tests off, with their places. */
export const switchedIn = (path, text) =>
  text
    .split("\n")
    .flatMap((line, index) => (SWITCHED.test(line) ? [`${path}:${index + 1}  ${line.trim()}\n    ${INSTEAD}`] : []));

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
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  const paths = listed.split("\0").filter((path) => /\.[cm]?[jt]sx?$/.test(path) && existsSync(join(root, path)));
  const files = paths.map((path) => [path, readFileSync(join(root, path), "utf8")]);
  const ofTests = files.filter(([path]) => isTest(path) && path !== ROWS);
  const names = [...nameFaults(files), ...ofTests.flatMap(([path, text]) => switchedIn(path, text))];
  for (const fault of names) console.error(fault);
  process.exitCode = faults.length + names.length > 0 ? 1 : 0;
}
