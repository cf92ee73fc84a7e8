// `npm run mutate`: changes the sources at random, one place at a time, and prints the changes that no test notices.
//
// FOLDERS (all of them), COUNT of each folder (25), SEED (1), TESTS that are run for each at most (10), WORKERS (one for
// each core), FILE=path for one file alone; PLACES=1 for the changes of places.json, which were once not noticed, in
// FOLDERS. `--format json` for programs. It needs Node 22.13, which takes types off.
//
// The first run of each test is slow: what it takes and which places it runs are recorded. A place is then changed for
// the tests that run it. What a type checker refuses, or parses as no program, is no change.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { root } from "../support/cli.ts";
import { randomOf } from "../support/random.ts";
import { Baselines, runs } from "./baseline.ts";
import { importsOf, reachedFrom, testsOf } from "./imports.ts";
import { canStrip, changed, type Mutant, mutantsOf } from "./operators.ts";
import { type Chosen, Tree } from "./tree.ts";

const FOLDERS = ["grammar", "schema", "language-server", "cli", "runtime", "logservice"];
/** The files that the build makes or reads: nothing is built again here. */
const BUILD_INPUT = /generated|\/build\/|^grammar\/\w+\/highlight\.ts$|^schema\/generate/;
/** The parts of a source that make a test one that a busy machine may fail. */
const TIMED =
  /["'](?:node:)?(?:child_process|cluster|dgram|http2?|https|net|worker_threads)["']|\bsetTimeout\(|\bperformance\.now\(/;
/** The assumed duration of a test that was not measured yet. */
const UNKNOWN_MS = 2000;
const UNKNOWN_TIMED_MS = 10_000;
/** So many tests that run a place in their own process. */
const ENOUGH = 3;

interface Place {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

interface Equivalent extends Place {
  /** Why nobody can notice it. */
  readonly reason: string;
}

interface Result extends Mutant {
  readonly line: number;
  readonly verdict: "killed" | "survived" | "equivalent";
  /** The test that failed, the reason, or how many tests passed. */
  readonly by: string;
}

if (!canStrip) {
  console.error("npm run mutate needs Node 22.13 or newer");
  process.exit(2);
}
const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual);
const [count, seed, most] = [numberOf("COUNT", 25), numberOf("SEED", 1), numberOf("TESTS", 10)];
const workers = numberOf("WORKERS", availableParallelism());
const isJson = process.argv.join(" ").includes("--format json");
const folders = process.env.FOLDERS?.split(",") ?? FOLDERS;
const sourceOf = (file: string) => readFileSync(join(root, file), "utf8");
const read = <Value>(name: string) => JSON.parse(sourceOf(`test/mutate/${name}.json`)) as Value;
const imports = importsOf(root, [...FOLDERS, "test"]);
const tests = [...imports.keys()].filter(
  (file) =>
    /^test\/.*\.test\.ts$/.test(file) &&
    !isAboutText(file) &&
    existsSync(join(root, "dist", file.replace(/\.ts$/, ".js"))),
);
const equivalents = read<Equivalent[]>("equivalents").map((row) => ({ ...mutantOf(row), reason: row.reason }));
const baselines = new Baselines(root, imports);
/** Which tests noticed the changes of a file: they are run first for the next one. */
const killers = new Map<string, string[]>();
const timed = new Map<string, boolean>();
const leftOut = new Set<string>();

const candidates = process.env.PLACES === "1" ? places() : drawn();
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
const results: Result[] = [];
const trees: Tree[] = [];
const newTree = () => {
  const tree = new Tree(root, [...imports.keys()].filter(isSource), ending.signal);
  trees.push(tree);
  return tree;
};
try {
  const mutants = await withoutRefused(newTree(), candidates);
  const waiting = mutants.flatMap((of) => (process.env.PLACES === "1" ? of : of.slice(0, count)));
  const work = async (_: undefined, worker: number) => {
    const tree = trees[worker] ?? newTree();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await judged(tree, next);
      if (ending.signal.aborted) return;
      results.push(result);
      tell(result);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(workers, waiting.length)) }, work));
} finally {
  for (const tree of trees) tree.remove();
}
conclude();
process.exit(ending.signal.aborted ? 130 : 0);

/** Mutants of each folder, drawn by the seed: each place of its sources is as likely. More than are judged. */
function drawn(): Mutant[][] {
  const one = process.env.FILE;
  const all = one === undefined ? folders.map((folder) => mutantsIn(`${folder}/`)) : [mutantsIn(one)];
  return all.map((of) => {
    const random = randomOf(seed);
    const left = [...of];
    const chosen: Mutant[] = [];
    while (chosen.length < 2 * count && left.length > 0) {
      const [mutant] = left.splice(random.below(left.length), 1);
      if (changed(sourceOf(mutant!.file), mutant!) !== undefined) chosen.push(mutant!);
    }
    return chosen;
  });
}

/** Those that a build would take. */
async function withoutRefused(tree: Tree, of: readonly (readonly Mutant[])[]): Promise<Mutant[][]> {
  const all = of.flat();
  const refused = await tree.refused(
    all.map((mutant) => ({ file: mutant.file, changed: changed(sourceOf(mutant.file), mutant)! })),
  );
  const gone = new Set(all.filter((_, i) => refused[i]));
  return of.map((some) => some.filter((mutant) => !gone.has(mutant)));
}

function isSource(file: string): boolean {
  return !file.startsWith("test/") && file.endsWith(".ts") && !BUILD_INPUT.test(file);
}

function mutantsIn(path: string): Mutant[] {
  const isOurs = (file: string) => file.startsWith(path) && isSource(file);
  return [...imports.keys()].filter(isOurs).flatMap((file) => mutantsOf(file, sourceOf(file)));
}

function places(): Mutant[][] {
  const one = process.env.FILE;
  const all = read<Place[]>("places")
    .filter(({ file }) => (one === undefined ? folders.some((folder) => file.startsWith(`${folder}/`)) : file === one))
    .map(mutantOf);
  for (const mutant of all) {
    if (changed(sourceOf(mutant.file), mutant) === undefined)
      throw new Error(`${mutant.file}: ${JSON.stringify(mutant.replacement)} gives no program: change places.json`);
  }
  return [all];
}

function mutantOf({ file, from, to }: Place): Mutant {
  const source = sourceOf(file);
  const begin = source.indexOf(from);
  if (begin < 0 || source.indexOf(from, begin + 1) >= 0)
    throw new Error(`${file} has ${begin < 0 ? "no" : "more than one"} ${JSON.stringify(from)}: change test/mutate`);
  return { file, operator: "place", begin, end: begin + from.length, replacement: to };
}

/** Those that read sources as texts fail with any change of them. */
function isAboutText(file: string): boolean {
  return ["boundaries", "readme", "rules"].includes(basename(file, ".test.ts"));
}

async function judged(tree: Tree, mutant: Mutant): Promise<Result> {
  const source = sourceOf(mutant.file);
  const text = changed(source, mutant)!;
  const line = source.slice(0, mutant.begin).split("\n").length;
  const equivalent = equivalents.find(
    (candidate) => candidate.file === mutant.file && changed(source, candidate) === text,
  );
  if (equivalent !== undefined) return { ...mutant, line, verdict: "equivalent", by: equivalent.reason };
  let killer: string | undefined;
  let passed = 0;
  let ran = 0;
  for (const test of nearest(mutant.file)) {
    if (killer !== undefined || passed === most || ending.signal.aborted) break;
    const chosen = await ifItRuns(mutant, test, tree);
    // Where tests run the place themselves, a command that may run it adds little and takes long.
    if (chosen === undefined || (chosen.isCommand && ran >= ENOUGH)) continue;
    if (!chosen.isCommand) ran++;
    killer = await tree.killerOf(mutant.file, text, chosen);
    passed++;
  }
  if (killer === undefined) return { ...mutant, line, verdict: "survived", by: `${passed} tests` };
  killers.set(mutant.file, [killer, ...(killers.get(mutant.file) ?? [])]);
  return { ...mutant, line, verdict: "killed", by: killer };
}

/** The tests that reach a file: the quick and near ones first, and before them those that noticed other changes of it. */
function nearest(file: string): string[] {
  const before = killers.get(file) ?? [];
  return testsOf(imports, tests, file)
    .slice(0, 2 * most)
    .map(({ test, steps }) => {
      const ms = baselines.msOf(test) ?? (isTimed(test) ? UNKNOWN_TIMED_MS : UNKNOWN_MS);
      return { test, order: ms * 4 ** steps * (before.includes(test) ? 0.1 : 1) };
    })
    .sort((a, b) => a.order - b.order)
    .map(({ test }) => test);
}

/** Undefined if the test does not run the place. The process of a command is not looked into: it may run it. */
async function ifItRuns({ file, begin }: Mutant, test: string, tree: Tree): Promise<Chosen | undefined> {
  const baseline = await baselines.of(test, tree);
  const { ms } = baseline;
  if (ms === undefined) {
    if (!ending.signal.aborted && !leftOut.has(test)) console.error(`${test} does not pass unchanged: left out`);
    leftOut.add(test);
    return undefined;
  }
  const isCommand = reaches(test, "cli/main.ts") && reaches("cli/main.ts", file);
  const isRun = runs(baseline, file, begin);
  if (isRun === false && !isCommand) return undefined;
  return { test, ms, isCommand: isCommand && isRun !== true, isTimed: isTimed(test) };
}

function isTimed(test: string): boolean {
  let is = timed.get(test);
  if (is === undefined) {
    is = reachedFrom(imports, test).some((file) => existsSync(join(root, file)) && TIMED.test(sourceOf(file)));
    timed.set(test, is);
  }
  return is;
}

function reaches(from: string, to: string): boolean {
  return testsOf(imports, [from], to).length > 0;
}

function tell({ file, line, operator, verdict, by, begin, end, replacement }: Result): void {
  const change = `${JSON.stringify(sourceOf(file).slice(begin, end))} -> ${JSON.stringify(replacement)}`;
  const label = verdict === "survived" ? "SURVIVED" : verdict;
  console.error(`${label.padEnd(10)} ${file}:${line} ${operator}: ${change.slice(0, 160)} (${by})`);
}

function conclude(): void {
  const shares = folders.map((folder) => {
    const numberOf = (verdict: Result["verdict"]) =>
      results.filter((result) => result.file.startsWith(`${folder}/`) && result.verdict === verdict).length;
    const [killed, survived, equivalent] = [numberOf("killed"), numberOf("survived"), numberOf("equivalent")];
    return { folder, mutants: killed + survived, killed, equivalent };
  });
  const survivors = results
    .filter(({ verdict }) => verdict === "survived")
    .map((result) => ({ ...placeOf(result), line: result.line, operator: result.operator, by: result.by }));
  if (isJson) {
    console.log(JSON.stringify({ seed, count, shares, survivors }, undefined, 2));
    return;
  }
  for (const { file, line, from, to, by } of survivors) {
    console.log(`${file}:${line} survives ${by}:\n  ${from.trim()}\n  ${to.trim() || "(nothing)"}`);
  }
  for (const { folder, mutants, killed, equivalent } of shares) {
    if (mutants === 0) continue;
    const share = Math.round((100 * killed) / mutants);
    console.log(`${folder.padEnd(16)} ${killed} of ${mutants}, ${share} %, and ${equivalent} equivalent`);
  }
}

/** As places.json and equivalents.json have it: whole lines, as many as make it the only place of its file. */
function placeOf({ file, begin, end, replacement }: Mutant): Place {
  const source = sourceOf(file);
  let [first, last] = [begin + 1, end - 1];
  do {
    first = source.lastIndexOf("\n", first - 2) + 1;
    const next = source.indexOf("\n", last + 1);
    last = next < 0 ? source.length : next;
  } while (source.indexOf(source.slice(first, last)) !== source.lastIndexOf(source.slice(first, last)));
  const from = source.slice(first, last);
  return { file, from, to: source.slice(first, begin) + replacement + source.slice(end, last) };
}
