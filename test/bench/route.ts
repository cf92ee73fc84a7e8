// The cost of looking up a path at 10, 100 and 1,000 rules: node dist/test/bench/route.js
//
// "same traffic" asks all sizes for the same paths, those of the ten rules that all have: what more rules cost by
// themselves. "all rules asked" spreads the paths over all rules of a size: there the processor's caches and branch
// predictor see more of everything, whatever the matcher.
//
// Each size is timed in many short rounds, the sizes in turn, so that a busy machine slows all alike; the median is what
// counts, and the spread (10th to 90th percentile) says how much to believe it.
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { compileRoutes, parseRoute, type RouteTable } from "../../grammar/route/index.ts";

const SIZES = [10, 100, 1000];
const ROUNDS = 100;
// The compiler warms, and the states that the paths need are made.
const WARM_UP_ROUNDS = 20;
const LOOKUPS_PER_ROUND = 20_000;

interface Candidate {
  readonly size: number;
  readonly table: RouteTable<number>;
  readonly paths: readonly string[];
  readonly roundsNs: number[];
}

export function main(print: (line: string) => void): void {
  const lookups = {
    "first (redirects)": (table: RouteTable<number>, path: string) => table.first(path) !== undefined,
    "all (headers)": (table: RouteTable<number>, path: string) => table.all(path).length > 0,
  };
  for (const [name, look] of Object.entries(lookups)) {
    for (const traffic of ["same traffic", "all rules asked"] as const) {
      const headers = name.startsWith("all");
      const candidates = SIZES.map((size) => candidate(size, traffic === "same traffic" ? 10 : size, headers));
      print(`${name}, ${traffic}: ns per path`);
      time(candidates, look);
      const medians = candidates.map(({ size, roundsNs }) => {
        const [low, median, high] = percentiles(roundsNs).map((ns) => ns.toFixed(0));
        print(`  ${String(size).padStart(5)} rules  ${median!.padStart(4)}  (${low} to ${high})`);
        return Number(median);
      });
      print(`  1,000 against 10: ${(medians.at(-1)! / medians[0]!).toFixed(2)}x`);
    }
  }
}

function time(candidates: readonly Candidate[], look: (table: RouteTable<number>, path: string) => boolean): void {
  let hits = 0;
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { table, paths, roundsNs } of candidates) {
      const start = performance.now();
      for (let i = 0; i < LOOKUPS_PER_ROUND; i++) if (look(table, paths[i % paths.length]!)) hits++;
      const ns = ((performance.now() - start) * 1e6) / LOOKUPS_PER_ROUND;
      if (round >= 0) roundsNs.push(ns);
    }
  }
  if (hits === 0) throw new Error("nothing matched: this would time something else");
}

/** Rules as sites have them: pages that moved, sections with params, sections with a splat, some by extension. */
function candidate(size: number, usedRules: number, headers: boolean): Candidate {
  const next = random(1);
  const words = ["docs", "blog", "api", "help", "news", "shop", "team", "jobs", "guide", "legal", "press", "events"];
  const word = () => words[Math.floor(next() * words.length)]!;
  const rules: { pattern: string; path: () => string }[] = headers
    ? [
        { pattern: "/*", path: () => `/${word()}/${word()}` },
        { pattern: "*.css", path: () => `/assets/${word()}.css` },
      ]
    : [];
  for (let i = rules.length; i < size; i++) {
    const base = `/${word()}/${word()}-${i}`;
    const kind = next();
    if (kind < 0.5) rules.push({ pattern: base, path: () => base });
    else if (kind < 0.8) rules.push({ pattern: `${base}/:id`, path: () => `${base}/${Math.floor(next() * 1e6)}` });
    else rules.push({ pattern: `${base}/*`, path: () => `${base}/${word()}/${word()}.html` });
  }
  const table = compileRoutes(
    rules.map(({ pattern }, value) => {
      const route = parseRoute(pattern);
      if (!route.ok) throw new Error(pattern);
      return { route: route.value, value };
    }),
    { trailingSlash: headers ? "strict" : "optional" },
  );
  // Four of five paths match; the same number of paths for every size, so
  // that the sizes differ in rules only. The list is long enough that no branch predictor learns it by heart.
  const paths = Array.from({ length: 1000 }, () => {
    const rule = rules[Math.floor(next() * usedRules)]!;
    return next() < 0.8 ? rule.path() : `/${word()}/missing/${Math.floor(next() * 1e6)}`;
  });
  return { size, table, paths, roundsNs: [] };
}

function percentiles(values: number[]): [number, number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
  return [at(0.1), at(0.5), at(0.9)];
}

/** Mulberry32: the same rules and paths in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main((line) => process.stdout.write(`${line}\n`));
