import type { ExactSum } from "../../../../../grammar/query/index.ts";
import { allFields, type Summary } from "../../../summary/summary.ts";
import type { SqlPart } from "../aggregate.ts";
import { pathKey } from "../field-values.ts";
import type { GroupValues } from "./memory-groups.ts";
import type { MemoryRow } from "./memory-rows.ts";
import type { AggregateInput, GroupPlan } from "./plan.ts";
import type { SummaryRow } from "./summarized.ts";

/** All that a statement adds. */
interface Added {
  readonly plan: GroupPlan;
  readonly parts: readonly SqlPart<unknown>[];
  readonly memory: readonly MemoryRow[];
  readonly summaries: readonly SummaryRow[];
  readonly values: readonly GroupValues[];
}

/**
 * Splits numbers in two, so that SQL adds them as exactly as `ExactSum` does: added to a number and taken from it again,
 * it leaves the number's multiple of a power of two. Sums of these are exact, in any order; what is left is so small that its
 * rounding does not show. Undefined if it is not known how large the sum may be.
 */
export type SumGrid = number | undefined;

/** The grid of an input of numbers, the same for all rows of a statement. */
export function sumGrid({ plan, parts, memory, summaries, values }: Added, at: number): SumGrid {
  const segments = new Set(parts.flatMap(({ segments }) => segments));
  let bound = 0;
  for (const { summary } of segments) bound += boundIn(summary, plan.inputs[at]!);
  for (const row of memory) bound += Math.abs(Number(row.values[at] ?? 0)) * row.times;
  for (const { inputs } of summaries) bound += Math.abs(inputs[at]?.sum ?? 0);
  for (const group of values) for (const number of group.values[at] as readonly number[]) bound += Math.abs(number);
  // Multiples have up to 50 bits then, and their sums no more than a number holds, which is 53.
  const exponent = Math.ceil(Math.log2(bound)) - 50;
  const addend = 1.5 * 2 ** 52 * 2 ** exponent;
  return Number.isFinite(addend) && exponent > LEAST_EXPONENT ? addend : undefined;
}

/** Multiples of less are not told apart by all their digits. */
const LEAST_EXPONENT = -1_000;

/** The sum of the absolute numbers of a segment is no more than this. */
function boundIn(summary: Summary, { target }: AggregateInput): number {
  if (target.at === "entry") return 0;
  const key = pathKey(target);
  if (key === undefined || summary.isCut) return Number.POSITIVE_INFINITY;
  const numbers = allFields(summary).get(key)?.numbers;
  if (numbers === undefined || numbers.count === 0) return 0;
  return numbers.count * Math.max(Math.abs(numbers.min), Math.abs(numbers.max));
}

/** A sum in its two parts. */
export function splitSum({ sum, lost }: Readonly<ExactSum>, grid: SumGrid): ExactSum {
  if (grid === undefined) return { sum, lost };
  const multiple = sum + grid - grid;
  return { sum: multiple, lost: sum - multiple + lost };
}

/** The sums of both parts of the numbers of a column, s and l. */
export function splitSumsSql(at: number, grid: SumGrid): string[] {
  if (grid === undefined) return [`fsum(v${at}) as s${at}`, `0::double as l${at}`];
  // With an exponent, as SQL would take the digits alone for a whole number.
  const addend = grid.toExponential();
  const multiple = `((v${at} + ${addend}) - ${addend})`;
  return [`sum(${multiple}) as s${at}`, `fsum(v${at} - ${multiple}) as l${at}`];
}

export const joinedSumsSql = (at: number, grid: SumGrid): string[] => [
  `${grid === undefined ? "fsum" : "sum"}(s${at}) as s${at}`,
  `fsum(l${at}) as l${at}`,
];
