// Runs test files as processes of their own: one queue, the longest first, as many at once as the cores have room for.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { costOf, recordedCosts } from "./cost.mjs";
import { limited } from "./limit.mjs";
import { pauseTree } from "./pauses.mjs";
import { bundleTap } from "./tap.mjs";
import { nameOf } from "./test-files.mjs";

/**
 * So many processors a file takes at least, whatever it mostly waits for: it still starts processes and holds memory, and at
 * most three files a core run at once.
 */
const LEAST_SHARE = 1 / 3;
const SHOWN_LINES = 40;
/** A file that is over its limit is asked to end, so that it says what it was at, and ended if it does not. */
const GRACE_MS = 10_000;
const STOP_MS = 2000;
const HELD = "its process was over, but one that it started held its output: ";
/** Lines outside of the TAP format that are shown even if the file passes: what is missing here, what was measured. */
const VISIBLE = /^(?:# skip|skipped:|measured:)/;
/** The last line of a run: the processor time of all processes below the shell that were waited for. */
const TIMES = /^(\d+)m([\d.]+)s (\d+)m([\d.]+)s$/gm;

/**
 * @typedef {object} Run
 * @property {string} test      path of the source from the root, test/grammar/units/units.test.ts, or the name of `command`
 * @property {string} [kind]    what sets it apart from the usual run of the file: slow, node24, layer, paused
 * @property {Record<string, string>} [env]
 * @property {string} [node]    the Node that runs it, if not this one
 * @property {string[]} [command]  another program than the test's built form
 * @property {string} [lock]    runs with the same one do not run at once, as those of the same file never do
 */

export const keyOf = ({ test, kind }) => (kind === undefined ? test : `${test} ${kind}`);

/**
 * Runs the built form of test files and prints a line for each, with what failed first if one fails.
 *
 * @param {Run[]} runs
 * @param {{ root: string, limitS: number, jobs?: number, outDirectory?: string, isSorted?: boolean, isRecording?: boolean }} options
 *   `jobs`: so many at once, instead of as many as the cores have room for; `outDirectory` gets the TAP output of each, named as
 *   test/loop/rows.mjs reads it; `isSorted` keeps the order given; `isRecording` lets the rows of test/vectors expect what is there
 * @returns results by run, in the order in which they ended
 */
export async function runFiles(runs, options) {
  const { root, jobs, outDirectory, isSorted } = options;
  await bundleTap(root);
  const costs = recordedCosts();
  const waiting = runs.map((run) => ({ ...run, key: keyOf(run), cost: costOf(costs, keyOf(run)) }));
  if (!isSorted) waiting.sort((a, b) => b.cost.wallS - a.cost.wallS);
  if (outDirectory !== undefined) mkdirSync(outDirectory, { recursive: true });
  const running = new Map();
  endWith(running, waiting);
  const results = [];
  const shareOf = ({ cost }) => Math.max(LEAST_SHARE, cost.cpuS / Math.max(cost.wallS, 0.1));
  const locksOf = ({ test, lock }) => (lock === undefined ? [test] : [test, lock]);
  const hasRoom = () => {
    if (running.size === 0) return true;
    if (jobs !== undefined) return running.size < jobs;
    return [...running.values()].reduce((sum, run) => sum + shareOf(run), 0) < availableParallelism();
  };
  const next = () => {
    if (!hasRoom()) return undefined;
    const held = new Set([...running.values()].flatMap(locksOf));
    const index = waiting.findIndex((run) => !locksOf(run).some((lock) => held.has(lock)));
    return index < 0 ? undefined : waiting.splice(index, 1)[0];
  };
  await new Promise((done) => {
    const fill = () => {
      for (let run = next(); run !== undefined; run = next()) start(run);
      if (running.size === 0) done();
    };
    const start = (run) => {
      const child = spawnRun(run, options);
      if (run.kind?.startsWith("paused")) run.endPauses = pauseTree(child.pid);
      running.set(child, run);
      resultOf(child, run, options).then((result) => {
        running.delete(child);
        results.push(result);
        if (outDirectory !== undefined) writeFileSync(join(outDirectory, tapFileOf(run)), result.output);
        report(result);
        fill();
      });
    };
    fill();
  });
  for (const { test, failed } of results) if (failed > 0) console.log(`FAILED  ${test}: npm run t -- ${nameOf(test)}`);
  return results;
}

const tapFileOf = ({ test, kind }) =>
  `${builtOf(test).replaceAll("/", "_")}${kind === undefined ? "" : `.${kind.replaceAll(" ", ".")}`}.tap`;

const builtOf = (test) => `dist/${test.replace(/\.ts$/, ".js")}`;

/**
 * These install packages. All others talk to nobody but this machine and start some thousand processes: Node reads the
 * additional certificates of companies at each start, which takes longer than the rest of it.
 */
const INSTALLS =
  /^test\/(?:clients|peers)\/|^test\/slow\/(?:browser|builds|deploy-lifecycle|languages|loop|runtime-layer|service-npm-start|npm-start-clone|service-python|service-schemathesis)/;
const { NODE_EXTRA_CA_CERTS: _, ...withoutCertificates } = process.env;
/**
 * Variables of the shell that would turn a test that fails green: RECORD=1, which `.ci/run` has for another purpose, lets each
 * row expect what is there, TAP_ONLY and TAP_GREP skip tests.
 */
const OF_RUNNER = /^(?:RECORD|TAP_.*)$/;
/** Runs the words after it and prints the processor time of their tree, as no call of Node tells it. */
const TIMED = ["-c", '"$@"; code=$?; times; exit $code', "sh"];

function spawnRun({ test, kind, env, node = process.execPath, command }, { root, isRecording }) {
  const words = command ?? [node, "--enable-source-maps", builtOf(test)];
  const isTimed = process.platform !== "win32";
  const inherited = INSTALLS.test(test) ? process.env : withoutCertificates;
  return spawn(isTimed ? "sh" : words[0], isTimed ? [...TIMED, ...words] : words.slice(1), {
    cwd: root,
    env: {
      ...Object.fromEntries(Object.entries(inherited).filter(([name]) => !OF_RUNNER.test(name))),
      // The runner's own limit is the only one.
      TAP_TIMEOUT: "0",
      TAP_JOBS: "1",
      // test/support/vectors.ts
      ...(isRecording && { RECORD: "1" }),
      // test/support/slow.ts
      ...(kind?.endsWith("slow") && { TAP_ONLY: "1" }),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which is ended as a whole.
    detached: process.platform !== "win32",
  });
}

function resultOf(child, run, { limitS }) {
  const beginMs = performance.now();
  let late;
  let wasOver = false;
  const limit = limited(limitS, (reason) => {
    late = reason;
    wasOver = child.exitCode !== null || child.signalCode !== null;
    kill(child, "SIGTERM");
    setTimeout(() => {
      kill(child, "SIGKILL");
      // A process that has left the group may hold the output for ever.
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    }, GRACE_MS).unref();
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      limit.spoke();
    });
  }
  return new Promise((done) =>
    child.once("close", (code) => {
      limit.stop();
      run.endPauses?.();
      if (late !== undefined) output += `\n${wasOver ? HELD : ""}ended ${late}, the limit of the runner\n`;
      const wallS = (performance.now() - beginMs) / 1000;
      const times = [...output.matchAll(TIMES)].at(-1)?.slice(1).map(Number);
      const cpuS = times === undefined ? wallS : (times[0] + times[2]) * 60 + times[1] + times[3];
      // A file that passed is late, too, if what it started holds its output.
      const result = late !== undefined ? null : code;
      const counts = run.command === undefined ? countsOf(output, result) : commandCounts(output, result);
      done({ ...run, output, wallS, cpuS, ...counts });
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

/** A command that is no test counts as one. */
const commandCounts = (_output, code) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 });

function report({ test, kind, output, passed, failed, skipped, wallS }) {
  const isSkipped = passed === 0 && failed === 0 && skipped > 0;
  const took = `${isSkipped ? skipped : passed} in ${wallS.toFixed(1)} s`;
  const name = kind === undefined ? test : `${test} (${kind})`;
  if (isSkipped) console.log(`  skipped ${name}  ${took}`);
  else console.log(failed === 0 ? `  ok      ${name}  ${took}` : `  FAILED  ${name}  ${took}, ${failed} failed`);
  if (failed > 0) console.log(failureText(output));
  else for (const line of output.split("\n")) if (VISIBLE.test(line)) console.log(line);
}

/** The names of the checks that failed, without the subtests around them. */
export function failedChecks(output) {
  const lines = output.split("\n").filter((line) => /^ *not ok/.test(line));
  const deepest = lines.filter((line, index) => {
    const indent = (text) => /^ */.exec(text)[0].length;
    return index === 0 || indent(line) >= indent(lines[index - 1]);
  });
  return deepest.map((line) =>
    line
      .trim()
      .replace(/^not ok \d+ - /, "")
      .replace(/ # time=.*$/, ""),
  );
}

/** Returns the first failure, with tap's explanation, and the names of the others; or the end of the output. */
function failureText(output) {
  const lines = output.split("\n");
  const failed = lines.flatMap((line, index) => (/^ *not ok/.test(line) ? [index] : []));
  if (failed.length === 0) return lines.slice(-SHOWN_LINES).join("\n");
  const [first] = failed;
  const end = lines.findIndex((line, index) => index > first && /^ *\.\.\.$/.test(line));
  const firstFailure = lines.slice(first, Math.min(end < 0 ? Number.POSITIVE_INFINITY : end + 1, first + SHOWN_LINES));
  const others = failed.slice(1).map((index) => lines[index]);
  const more = others.length - SHOWN_LINES;
  return [...firstFailure, ...others.slice(0, SHOWN_LINES), ...(more > 0 ? [`${more} more`] : [])].join("\n");
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
      for (const [child, { endPauses }] of running) {
        endPauses?.();
        child.removeAllListeners("close");
        child.once("close", () => running.delete(child) && running.size === 0 && process.exit(code));
        kill(child, "SIGTERM");
      }
      setTimeout(() => {
        for (const child of running.keys()) kill(child, "SIGKILL");
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
