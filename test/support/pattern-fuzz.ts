// Random queries with entries made to nearly match them, against the filter patterns that each query becomes.
import fc from "fast-check";
import { readEntryLine } from "../../cli/logs/entry-line.ts";
import { type FilterPattern, parseFilterPattern } from "../../cli/sandbox/cloud/filter-pattern.ts";
import type { Entry } from "../../grammar/entry.ts";
import { filterPatterns, textPattern } from "../../grammar/query/cloudwatch/filter-patterns.ts";
import { compilePredicate, printQuery } from "../../grammar/query/index.ts";
import { entryLine } from "../../runtime/entries.ts";
import { queries } from "./query-arbitrary.ts";
import { generator, NOW_MS, nearLines } from "./scan-fuzz.ts";

export interface Weakened {
  readonly pairs: number;
  /** Pairs whose query has a pattern, and those of them in which the query selects the entry. */
  readonly asked: number;
  readonly selected: number;
  /** Pairs in which the patterns refuse an entry. */
  readonly refused: number;
  /** Patterns that the service would not take, and pairs that it would lose. */
  readonly invalid: readonly string[];
  readonly lost: readonly string[];
  /** Pairs of an exact translation that differ although all fields hold plain values. */
  readonly inexact: readonly string[];
}

/** Compares about `count` pairs of a query and an entry. */
export function compareFilterPatterns(count: number, seed: number): Weakened {
  const random = generator(seed);
  const [invalid, lost, inexact]: [string[], string[], string[]] = [[], [], []];
  let [pairs, asked, selected, refused] = [0, 0, 0, 0];
  const BATCH = 1000;
  for (let batch = 0; pairs < count; batch++) {
    for (const query of fc.sample(queries, { numRuns: Math.min(BATCH, Math.ceil(count / 10)), seed: seed + batch })) {
      const { patterns: conditions, expressions, isExact } = filterPatterns(query);
      const patterns = [...conditions, ...(expressions.length > 0 ? [textPattern(expressions)] : [])];
      const parsed = patterns.map((pattern) => parseFilterPattern(pattern));
      for (const [i, one] of parsed.entries()) if (!one.ok) invalid.push(`${patterns[i]} | ${one.problems[0]}`);
      const matchers = parsed.filter((one): one is FilterPattern & { ok: true } => one.ok);
      const selects = compilePredicate(query, { nowMs: NOW_MS });
      for (const text of nearLines(query, random)) {
        const { entry } = readEntryLine(text);
        const line = entryLine(entry);
        pairs++;
        if (patterns.length === 0) continue;
        asked++;
        const isFound = matchers.some(({ matches }) => matches(line));
        const isSelected = selects(entry);
        if (isSelected) selected++;
        if (!isFound) refused++;
        const shown = () => `${printQuery(query)} | ${line} | ${patterns.join(" , ")}`;
        if (isSelected && !isFound) lost.push(shown());
        if (isExact && isFound && !isSelected && isPlain(entry)) inexact.push(shown());
      }
    }
  }
  return { pairs, asked, selected, refused, invalid, lost, inexact };
}

const isPlain = ({ fields }: Entry) => !Array.isArray(fields) && !/"\s*:\s*[[{]/.test(JSON.stringify(fields));
