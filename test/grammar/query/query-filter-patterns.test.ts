// Queries as filter patterns of CloudWatch Logs: what they become, and that no selected entry is lost by it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parseFilterPattern } from "../../../cli/sandbox/cloud/filter-pattern.ts";
import { filterPatterns, textPattern } from "../../../grammar/query/cloudwatch/filter-patterns.ts";
import { MAX_PATTERN_LENGTH } from "../../../grammar/query/cloudwatch/fit.ts";
import { parseQuery } from "../../../grammar/query/index.ts";
import { root } from "../../support/cli.ts";
import { compareFilterPatterns } from "../../support/pattern-fuzz.ts";
import { slow } from "../../support/slow.ts";
import { recorderOf } from "../../support/vectors.ts";

interface Row {
  readonly query: string;
  readonly exact: boolean;
  readonly patterns: readonly string[];
}

const rows: readonly Row[] = JSON.parse(readFileSync(join(root, "test/vectors/filter-patterns.json"), "utf8"));
const record = recorderOf("filter-patterns.json", rows);

t.test("a query becomes these patterns, which the service takes", async (t) => {
  for (const row of rows) {
    const result = patternsOf(row.query);
    record(row, { exact: result.isExact, patterns: result.patterns });
    const { query, exact, patterns } = row;
    t.strictSame({ exact: result.isExact, patterns: result.patterns }, { exact, patterns }, query || "the empty query");
    for (const pattern of result.patterns) t.ok(parseFilterPattern(pattern).ok, pattern);
  }
});

const values = (count: number) => Array.from({ length: count }, (_, i) => `value-${i}`);
const long: readonly {
  readonly name: string;
  readonly query: string;
  readonly patterns: number;
  readonly exact: boolean;
}[] = [
  { name: "a long list is cut", query: `a in (${values(100)})`, patterns: 3 + 1, exact: true },
  {
    name: "and what stands beside it is in every part",
    query: `error and a in (${values(100)})`,
    patterns: 3 + 1,
    exact: true,
  },
  {
    name: "two long lists: one is left out",
    query: `a in (${values(60)}) and b in (${values(90)})`,
    patterns: 2 + 1,
    exact: false,
  },
  {
    name: "a list beyond eight patterns leaves the rest",
    query: `error and a in (${values(400)})`,
    patterns: 1 + 1,
    exact: false,
  },
  {
    name: "and alone asks for the lines that have the field",
    query: `a in (${values(400)})`,
    patterns: 1,
    exact: false,
  },
  {
    name: "many terms are shortened to what fits",
    query: values(60)
      .map((value) => `message contains ${value}-and-more`)
      .join(" "),
    patterns: 1,
    exact: false,
  },
  {
    name: "an alternative that is too long is shortened by itself",
    query: `error or (${values(60)
      .map((value) => `message contains ${value}-and-more`)
      .join(" ")})`,
    patterns: 2,
    exact: false,
  },
  {
    name: "many fields: their lists would need a pattern that is too long",
    query: values(60)
      .map((value) => `${value} > 1`)
      .join(" or "),
    patterns: 0,
    exact: false,
  },
];

t.test("patterns are never longer than the service takes", async (t) => {
  for (const { name, query, patterns, exact } of long) {
    const result = patternsOf(query);
    t.strictSame({ patterns: result.patterns.length, exact: result.isExact }, { patterns, exact }, name);
    t.ok(
      result.patterns.every((pattern) => pattern.length <= MAX_PATTERN_LENGTH && parseFilterPattern(pattern).ok),
      `${name}: all fit`,
    );
  }
  const parts = patternsOf(`a in (${values(100)})`).patterns.map((pattern) => parseFilterPattern(pattern));
  for (const value of [...values(100), "value-100", "value"]) {
    const line = JSON.stringify({ fields: { a: value } });
    const isFound = parts.some((part) => part.ok && part.matches(line));
    t.equal(isFound, values(100).includes(value), `the parts together find ${value} or not`);
  }
});

const count = Number(process.env.FUZZ_COUNT ?? 10_000);
const seed = Number(process.env.FUZZ_SEED ?? 1);

t.test(`what a query selects, its patterns find (${count} pairs, seed ${seed})`, slow(), async (t) => {
  const { pairs, withPattern, selected, refused, invalid, lost, inexact } = compareFilterPatterns(count, seed);
  t.strictSame(invalid.slice(0, 5).map(ascii), [], "every pattern is one");
  t.strictSame(lost.slice(0, 5).map(ascii), [], "no selected entry is lost");
  t.strictSame(inexact.slice(0, 5).map(ascii), [], "an exact translation finds nothing else among plain values");
  // Else nothing was tested.
  t.ok(
    withPattern > pairs * 0.4 && selected > pairs * 0.08 && refused > pairs * 0.2,
    `${pairs} ${withPattern} ${selected} ${refused}`,
  );
});

function patternsOf(query: string) {
  const parsed = parseQuery(query);
  if (!parsed.ok) throw new Error(`${query}: ${parsed.problems[0]?.message}`);
  const { patterns, expressions, isExact } = filterPatterns(parsed.value);
  return { patterns: [...patterns, ...(expressions.length > 0 ? [textPattern(expressions)] : [])], isExact };
}

function ascii(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
