// Runs test files as processes of their own, several at once and the longest first, so that they end together.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { nameOf } from "./test-files.mjs";

/** For a file whose time is not recorded yet: new files are short, and one that is not should begin early. */
const UNKNOWN_SECONDS = 5;
/** One more than cores, as most files wait for processes and timers; more than four disturb tests of time. */
export const USUAL_JOBS = Math.min(availableParallelism() + 1, 4);
const SHOWN_LINES = 40;
/** tap ends a file at its time limit and reports it; a file that does not end by then is ended from here. */
const GRACE_MS = 10_000;
const STOP_MS = 2000;
/** Lines outside of the TAP format that are shown even if the file passes: what is missing here, what was measured. */
const SHOWN = /^(?:# skip|skipped:|measured:)/;

const secondsFile = new URL("seconds.json", import.meta.url);

/** Seconds that each test file took when they were last recorded, on two idle cores. */
export function recordedSeconds() {
  try {
    const read = Object.entries(JSON.parse(readFileSync(secondsFile, "utf8")));
    return Object.fromEntries(read.filter(([, seconds]) => Number.isFinite(seconds)));
  } catch {
    // It only helps to begin with the longest.
    return {};
  }
}

export const secondsOf = (recorded, test) => recorded[test] ?? UNKNOWN_SECONDS;

/** Replaces the recorded seconds of these tests, and removes files that are gone. */
export function recordSeconds(results, isThere) {
  const all = { ...recordedSeconds() };
  for (const { test, seconds } of results) all[test] = Number(seconds.toFixed(1));
  const kept = Object.entries(all).filter(([test]) => isThere(test));
  writeFileSync(secondsFile, `${JSON.stringify(Object.fromEntries(kept.sort(byName)), undefined, 2)}\n`);
}

const byName = ([a], [b]) => (a < b ? -1 : 1);

/**
 * Runs the built form of test files and prints a line for each, with what failed first if one fails.
 *
 * @param {string[]} tests  paths of sources from the root: test/grammar/units/units.test.ts
 * @param {{ root: string, jobs: number, limitS: number, outDirectory?: string, isSorted?: boolean, onlySlow?: (test: string) => boolean }} options
 *   `outDirectory` gets the TAP output of each file, named as test/loop/rows.mjs reads it; `isSorted` keeps the order given;
 *   `onlySlow` tells of which files the slow tests alone are run
 * @returns results by file, in the order in which they ended
 */
export async function runFiles(tests, options) {
  const { jobs, outDirectory, isSorted } = options;
  const recorded = recordedSeconds();
  const waiting = isSorted ? [...tests] : [...tests].sort((a, b) => secondsOf(recorded, b) - secondsOf(recorded, a));
  if (outDirectory !== undefined) mkdirSync(outDirectory, { recursive: true });
  const running = new Set();
  endWith(running, waiting);
  const results = [];
  const work = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const result = await run(test, options, running);
      results.push(result);
      if (outDirectory !== undefined)
        writeFileSync(join(outDirectory, tapFileOf(test, options.onlySlow?.(test))), result.output);
      report(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, tests.length) }, work));
  for (const { test, failed } of results) if (failed > 0) console.log(`FAILED  ${test}: npm run t -- ${nameOf(test)}`);
  return results;
}

const tapFileOf = (test, isSlow) => `${builtOf(test).replaceAll("/", "_")}${isSlow ? ".slow" : ""}.tap`;

const builtOf = (test) => `dist/${test.replace(/\.ts$/, ".js")}`;

/**
 * These install packages. All others talk to nobody but this machine and start some thousand processes: Node reads the
 * additional certificates of companies at each start, which takes longer than the rest of it.
 */
const INSTALLS =
  /^test\/(?:clients|peers)\/|^test\/slow\/(?:browser|builds|deploy-lifecycle|languages|loop|runtime-layer|service-npm-start|service-python|service-schemathesis)/;
const { NODE_EXTRA_CA_CERTS: _, ...withoutCertificates } = process.env;

function run(test, { root, limitS, onlySlow }, running) {
  const beginMs = performance.now();
  const child = spawn(process.execPath, ["--enable-source-maps", builtOf(test)], {
    cwd: root,
    env: {
      ...(INSTALLS.test(test) ? process.env : withoutCertificates),
      TAP_TIMEOUT: String(limitS),
      TAP_JOBS: "1",
      // test/support/slow.ts
      ...(onlySlow?.(test) && { TAP_ONLY: "1" }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which is ended as a whole.
    detached: process.platform !== "win32",
  });
  running.add(child);
  const late = setTimeout(() => kill(child, "SIGKILL"), limitS * 1000 + GRACE_MS);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((done) =>
    child.once("close", (code) => {
      clearTimeout(late);
      running.delete(child);
      done({ test, output, seconds: (performance.now() - beginMs) / 1000, ...countsOf(output, code) });
    }),
  );
}

/** A file fails if it ends with an error, or before it says how many tests it had. */
export function countsOf(output, code) {
  const total = output.match(/^# \{ total: .*\}$/gm)?.at(-1);
  const count = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(total ?? "")?.[1] ?? 0);
  const failed = count("fail");
  return {
    passed: count("pass"),
    failed: code === 0 && total !== undefined ? failed : Math.max(failed, 1),
    skipped: count("skip") + count("todo"),
  };
}

function report({ test, output, passed, failed, seconds }) {
  const took = `${passed} in ${seconds.toFixed(1)} s`;
  console.log(failed === 0 ? `  ok      ${test}  ${took}` : `  FAILED  ${test}  ${took}, ${failed} failed`);
  if (failed > 0) console.log(shownOf(output));
  else for (const line of output.split("\n")) if (SHOWN.test(line)) console.log(line);
}

/** What failed first, with tap's explanation, and the names of the others; the end of the output if nothing did. */
function shownOf(output) {
  const lines = output.split("\n");
  const failed = lines.flatMap((line, index) => (/^ *not ok/.test(line) ? [index] : []));
  if (failed.length === 0) return lines.slice(-SHOWN_LINES).join("\n");
  const [first] = failed;
  const end = lines.findIndex((line, index) => index > first && /^ *\.\.\.$/.test(line));
  const shown = lines.slice(first, Math.min(end < 0 ? Number.POSITIVE_INFINITY : end + 1, first + SHOWN_LINES));
  const others = failed.slice(1).map((index) => lines[index]);
  const more = others.length - SHOWN_LINES;
  return [...shown, ...others.slice(0, SHOWN_LINES), ...(more > 0 ? [`${more} more`] : [])].join("\n");
}

/** Ctrl-C and SIGTERM end the tests' processes, then this one. */
function endWith(running, waiting) {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ]) {
    process.once(signal, () => {
      waiting.length = 0;
      for (const child of running) {
        child.removeAllListeners("close");
        child.once("close", () => running.delete(child) && running.size === 0 && process.exit(code));
        kill(child, "SIGTERM");
      }
      setTimeout(() => {
        for (const child of running) kill(child, "SIGKILL");
        process.exit(code);
      }, STOP_MS);
    });
  }
}

function kill(child, signal) {
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself.
  }
}
