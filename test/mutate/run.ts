// `npm run mutate`: changes the sources at random, one place at a time, and prints the changes that no test notices.
//
// FOLDERS (all of them), COUNT of each folder (25), SEED (1), TESTS that are run for each at most (10), FILE=path for one
// file alone; PLACES=1 for the changes of places.json, which were once not noticed. `--format json` for programs. It needs
// Node 22.13, which takes types off. About four minutes for each 25 on two cores.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { root } from "../support/cli.ts";
import { randomOf } from "../support/random.ts";
import { importsOf, testsOf } from "./imports.ts";
import { canStrip, type Mutant, mutantsOf } from "./operators.ts";
import { Tree } from "./tree.ts";

const FOLDERS = ["grammar", "schema", "language-server", "cli", "runtime", "logservice"];
const LEAST_LIMIT_MS = 20_000;
const MOST_LIMIT_MS = 180_000;

interface Place {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

interface Known extends Place {
  /** Why nobody can notice it. */
  readonly reason: string;
}

interface Result extends Mutant {
  readonly line: number;
  readonly killer: string | undefined;
  readonly equivalent: string | undefined;
  readonly tests: number;
}

if (!canStrip) {
  console.error("npm run mutate needs Node 22.13 or newer");
  process.exit(2);
}
const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual);
const [count, seed, most] = [numberOf("COUNT", 25), numberOf("SEED", 1), numberOf("TESTS", 10)];
const isJson = process.argv.join(" ").includes("--format json");
const folders = process.env.FOLDERS?.split(",") ?? FOLDERS;
const sourceOf = (file: string) => readFileSync(join(root, file), "utf8");
const read = <Value>(name: string) => JSON.parse(sourceOf(`test/mutate/${name}.json`)) as Value;
const imports = importsOf(root, [...FOLDERS, "test"]);
const tests = [...imports.keys()].filter((file) => /^test\/[^/]+\.test\.ts$/.test(file) && !isAboutText(file));
const equivalents = read<Known[]>("equivalents");

const mutants = process.env.PLACES === "1" ? read<Place[]>("places").map(mutantOf) : drawn();
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
const results: Result[] = [];
const limits = new Map<string, Promise<number | undefined>>();
const trees: Tree[] = [];
try {
  const waiting = [...mutants.entries()];
  const work = async () => {
    const tree = new Tree(root);
    trees.push(tree);
    for (let next = waiting.shift(); next !== undefined && !ending.signal.aborted; next = waiting.shift()) {
      const result = await judged(tree, next[1]);
      if (ending.signal.aborted) return;
      results.push(result);
      tell(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), mutants.length) }, work));
} finally {
  for (const tree of trees) tree.remove();
}
conclude();
process.exit(ending.signal.aborted ? 130 : 0);

/** Mutants of each folder, drawn by the seed: each place of its sources is as likely. */
function drawn(): Mutant[] {
  const one = process.env.FILE;
  const all = one === undefined ? folders.map((folder) => mutantsIn(`${folder}/`)) : [mutantsIn(one)];
  return all.flatMap((of, i) => {
    const random = randomOf(seed * 1000 + i);
    const left = [...of];
    return Array.from(
      { length: Math.min(count, left.length) },
      () => left.splice(random.below(left.length), 1)[0] as Mutant,
    );
  });
}

function mutantsIn(path: string): Mutant[] {
  const isOurs = (file: string) => file.startsWith(path) && file.endsWith(".ts") && !/generated|\/build\//.test(file);
  return [...imports.keys()].filter(isOurs).flatMap((file) => mutantsOf(file, sourceOf(file)));
}

function mutantOf({ file, from, to }: Place): Mutant {
  const source = sourceOf(file);
  const begin = source.indexOf(from);
  if (begin < 0 || source.indexOf(from, begin + 1) >= 0)
    throw new Error(`${file} has ${begin < 0 ? "no" : "more than one"} ${JSON.stringify(from)}: change places.json`);
  return { file, operator: "place", begin, end: begin + from.length, replacement: to };
}

/** Those that read sources as texts fail with any change of them. */
function isAboutText(file: string): boolean {
  return ["boundaries", "readme"].includes(basename(file, ".test.ts"));
}

async function judged(tree: Tree, mutant: Mutant): Promise<Result> {
  const source = sourceOf(mutant.file);
  const line = source.slice(0, mutant.begin).split("\n").length;
  const equivalent = equivalents.find(
    ({ file, from, to }) =>
      file === mutant.file &&
      to === mutant.replacement &&
      mutant.begin >= source.indexOf(from) &&
      mutant.end <= source.indexOf(from) + from.length,
  )?.reason;
  if (equivalent !== undefined) return { ...mutant, line, killer: undefined, equivalent, tests: 0 };
  const chosen: { test: string; limitMs: number; isCommand: boolean }[] = [];
  for (const { test } of testsOf(imports, tests, mutant.file)) {
    if (chosen.length === most) break;
    let limit = limits.get(test);
    if (limit === undefined) {
      limit = tree.restore(ending.signal).then(() => limitOf(tree, test));
      limits.set(test, limit);
    }
    const limitMs = await limit;
    if (limitMs === undefined) continue;
    const isCommand = reaches(test, "cli/main.ts") && reaches("cli/main.ts", mutant.file);
    chosen.push({ test, limitMs, isCommand });
  }
  const killer = await tree.killerOf(mutant, chosen, ending.signal);
  return { ...mutant, line, killer, equivalent, tests: chosen.length };
}

function reaches(from: string, to: string): boolean {
  return testsOf(imports, [from], to).length > 0;
}

/** Three times what a test takes by itself; undefined if it does not pass unchanged. */
async function limitOf(tree: Tree, test: string): Promise<number | undefined> {
  if (!existsSync(join(root, "dist", test.replace(/\.ts$/, ".js")))) return undefined;
  const { isPassed, ms } = await tree.run(test, MOST_LIMIT_MS, ending.signal);
  if (!isPassed) {
    if (!ending.signal.aborted) console.error(`${test} does not pass unchanged: left out`);
    return undefined;
  }
  return Math.min(MOST_LIMIT_MS, Math.max(LEAST_LIMIT_MS, 3 * ms));
}

function tell(result: Result): void {
  const { file, line, operator, killer, equivalent, begin, end, replacement, tests } = result;
  const verdict = equivalent !== undefined ? "same" : killer !== undefined ? "killed" : "SURVIVED";
  const change = `${JSON.stringify(sourceOf(file).slice(begin, end))} -> ${JSON.stringify(replacement)}`;
  const by = killer === undefined ? (equivalent ?? `${tests} tests`) : `by ${killer}`;
  console.error(`${verdict.padEnd(8)} ${file}:${line} ${operator}: ${change.slice(0, 160)} (${by})`);
}

function conclude(): void {
  const shares = folders.map((folder) => {
    const of = results.filter(({ file, equivalent }) => file.startsWith(`${folder}/`) && equivalent === undefined);
    return { folder, mutants: of.length, killed: of.filter(({ killer }) => killer !== undefined).length };
  });
  const all = { folder: "all", mutants: 0, killed: 0 };
  for (const { mutants, killed } of shares) {
    all.mutants += mutants;
    all.killed += killed;
  }
  const survivors = results.filter(({ killer, equivalent }) => killer === undefined && equivalent === undefined);
  if (isJson) {
    console.log(JSON.stringify({ seed, shares, survivors }, undefined, 2));
    return;
  }
  for (const { folder, mutants, killed } of [...shares, all]) {
    if (mutants > 0)
      console.log(`${folder.padEnd(16)} ${killed} of ${mutants}, ${Math.round((100 * killed) / mutants)} %`);
  }
}
