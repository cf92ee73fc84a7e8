/** The functions of stages. `pNN` stands for every percentile. */
export type FunctionName = "count" | "sum" | "avg" | "min" | "max" | "pNN" | "distinct" | "first" | "last" | "rate";

export interface FunctionKind {
  readonly name: FunctionName;
  /** The percent of `pNN`: 99 for p99. */
  readonly percent: number;
}

interface FunctionFacts {
  readonly argument: "needed" | "possible" | "none";
  /** It takes numbers only. */
  readonly isOfNumbers: boolean;
  /** A number of its own; a number with the unit of its argument; a number a second; or a value of its argument. */
  readonly gives: "count" | "number" | "rate" | "value";
  readonly documentation: string;
}

export const FUNCTIONS: Readonly<Record<FunctionName, FunctionFacts>> = {
  count: {
    argument: "possible",
    isOfNumbers: false,
    gives: "count",
    documentation: "The number of entries; with a field, of those that have it.",
  },
  sum: { argument: "needed", isOfNumbers: true, gives: "number", documentation: "The sum of the numbers." },
  avg: { argument: "needed", isOfNumbers: true, gives: "number", documentation: "The mean of the numbers." },
  min: { argument: "needed", isOfNumbers: true, gives: "number", documentation: "The least number." },
  max: { argument: "needed", isOfNumbers: true, gives: "number", documentation: "The greatest number." },
  pNN: {
    argument: "needed",
    isOfNumbers: true,
    gives: "number",
    documentation:
      "A percentile by nearest rank: p50 is the median, p99.9 is possible. Exact up to 100,000 values a group.",
  },
  distinct: {
    argument: "needed",
    isOfNumbers: false,
    gives: "count",
    documentation: "How many different values there are. Exact up to 100,000 a group.",
  },
  first: {
    argument: "needed",
    isOfNumbers: false,
    gives: "value",
    documentation: "The value of the first entry that has the field.",
  },
  last: {
    argument: "needed",
    isOfNumbers: false,
    gives: "value",
    documentation: "The value of the last entry that has the field.",
  },
  rate: {
    argument: "none",
    isOfNumbers: false,
    gives: "rate",
    documentation: "Entries a second of the period, or of the step.",
  },
};

/** Undefined if there is no such function. */
export function functionOf(name: string): FunctionKind | undefined {
  const percentile = /^p(\d{1,2}(?:\.\d+)?|100)$/.exec(name);
  if (percentile !== null) return { name: "pNN", percent: Number(percentile[1]) };
  return Object.hasOwn(FUNCTIONS, name) && name !== "pNN" ? { name: name as FunctionName, percent: 0 } : undefined;
}

/** Functions of other languages, and ours for each. */
export const FOREIGN_FUNCTIONS: Readonly<Record<string, string>> = {
  mean: "avg",
  average: "avg",
  median: "p50",
  perc50: "p50",
  total: "sum",
  minimum: "min",
  maximum: "max",
  dc: "distinct",
  dcount: "distinct",
  distinct_count: "distinct",
  count_distinct: "distinct",
  count_uniq: "distinct",
  uniq: "distinct",
  unique: "distinct",
  cardinality: "distinct",
  earliest: "first",
  latest: "last",
  any: "first",
  take_any: "first",
  count_if: "count",
  len: "count",
};
