// The rows of groups of events that are all in memory, which are those that the statement would give. No SQL is asked.
import { type Cell, canonicalValue, sortOrder, valueOfSum } from "../../../../../grammar/query/index.ts";
import type { Group, Numbers } from "./memory-groups.ts";
import type { GroupPlan, Having, PlannedAggregate } from "./plan.ts";

export interface MemoryAnswer {
  readonly rows: readonly (readonly Cell[])[];
  /** By the column: how many values of all groups were no numbers. */
  readonly left: ReadonlyMap<string, number>;
}

/** `seconds` is the divisor of `rate`. */
export function answerOfGroups(groups: readonly Group[], plan: GroupPlan, seconds: number): MemoryAnswer {
  const { by, aggregates, columns, having } = plan;
  const cells = columns.length - aggregates.length;
  // Without groups there is one row, of no events too.
  const isEmpty = groups.length === 0 && cells === 0;
  const all = isEmpty ? [{ cells: [], events: 0, inputs: plan.inputs.map(() => undefined) }] : groups;
  const left = new Map<string, number>();
  for (const [at, { input }] of aggregates.entries()) {
    if (input === undefined) continue;
    const total = groups.reduce((sum, { inputs }) => sum + inputs[input]!.leftOut, 0);
    if (total > 0) left.set(columns[cells + at]!.name, total);
  }
  const rows: Cell[][] = [];
  for (const { cells, events, inputs } of all) {
    const sorted: (Float64Array | undefined)[] = [];
    const values = aggregates.map((one) => resultOf(one, { events, inputs, seconds, sorted }));
    if (having.every((one) => holds(values[one.place - by.length], one)))
      rows.push([...cells.map((cell) => (cell === 0 ? 0 : canonicalValue(cell))), ...values]);
  }
  return { rows, left };
}

interface Valued {
  readonly events: number;
  readonly inputs: readonly (Numbers | undefined)[];
  readonly seconds: number;
  /** By the input its numbers in order, once they are. */
  readonly sorted: (Float64Array | undefined)[];
}

function resultOf({ kind, input }: PlannedAggregate, { events, inputs, seconds, sorted }: Valued): Cell {
  if (kind.name === "rate") return seconds > 0 ? events / seconds : null;
  if (input === undefined) return events;
  const numbers = inputs[input];
  switch (kind.name) {
    case "count":
      return numbers?.count ?? 0;
    case "distinct":
      return numbers?.different?.size ?? 0;
    case "first":
    case "last":
      throw new Error(`groups in memory have no ${kind.name} value`);
    default:
      break;
  }
  if (numbers === undefined || numbers.count === 0) return null;
  const sum = valueOfSum(numbers);
  switch (kind.name) {
    case "sum":
      return Number.isFinite(sum) ? zeroed(sum) : null;
    case "avg":
      return Number.isFinite(sum) ? zeroed(sum / numbers.count) : null;
    case "min":
      return zeroed(numbers.min);
    case "max":
      return zeroed(numbers.max);
    case "pNN": {
      sorted[input] ??= Float64Array.from(numbers.numbers ?? []).sort();
      const list = sorted[input];
      return zeroed(list[rankOf(kind.percent, list.length) - 1]!);
    }
  }
}

const zeroed = (number: number) => (number === 0 ? 0 : number);

/** The nearest rank, from 1 on, as `quantile_disc` reckons it: a percent is its decimals, of which none are rounded. */
function rankOf(percent: number, count: number): number {
  const [whole = "0", fraction = ""] = String(percent).split(".");
  const scale = 10n ** BigInt(2 + fraction.length);
  const n = BigInt(count);
  return Number(n - (n * scale - n * BigInt(`${whole}${fraction}`)) / scale) || 1;
}

function holds(value: Cell, { operator, number }: Having): boolean {
  if (typeof value !== "number") return false;
  switch (operator) {
    case "=":
      return value === number;
    case "!=":
      return value !== number;
    case "<":
      return value < number;
    case "<=":
      return value <= number;
    case ">":
      return value > number;
    case ">=":
      return value >= number;
  }
}

/** Sorting more in the service would stop it for longer than some milliseconds. */
const MOST_SORTED = 10_000;

/** The first rows in the plan's order; undefined if more have to be sorted than should be in the service. */
export function firstGroups(
  rows: readonly (readonly Cell[])[],
  plan: GroupPlan,
  most: number,
): readonly (readonly Cell[])[] | undefined {
  const candidates = rows.length > most ? firstByNumber(rows, plan, most) : rows;
  return candidates.length > MOST_SORTED ? undefined : inPlansOrder(candidates, plan).slice(0, most);
}

/** The rows that can be among the first ones by the first key alone, if its values are numbers. */
function firstByNumber(rows: readonly (readonly Cell[])[], { order, by, columns }: GroupPlan, most: number) {
  const [{ place, isDescending }] = [...order, { place: by.length, isDescending: true }] as const;
  const cells = columns[place]!.type === "number" ? rows.map((row) => row[place]) : [null, ""];
  if (!cells.every((cell) => cell === null || typeof cell === "number")) return rows;
  const sign = isDescending ? -1 : 1;
  // Missing values come first, or last with a negative sign.
  const keys = Float64Array.from(cells, (cell) => sign * ((cell as number | null) ?? Number.NEGATIVE_INFINITY));
  const last = Float64Array.from(keys).sort()[most - 1] ?? Number.POSITIVE_INFINITY;
  return rows.filter((_, at) => keys[at]! <= last);
}

/** Sorted as the language orders values. */
export function inPlansOrder(
  rows: readonly (readonly Cell[])[],
  { by, columns, order }: GroupPlan,
): readonly (readonly Cell[])[] {
  const values = sortOrder("value");
  const keys = [
    ...order.map((key) => ({ ...key, order: sortOrder(columns[key.place]!.type) })),
    { place: by.length, isDescending: true, order: values },
    ...by.map((_, place) => ({ place, isDescending: false, order: values })),
  ];
  const read = rows.map((row) => ({ row, cells: keys.map(({ place, order }) => order.key(row[place])) }));
  const sorted = read.sort((a, b) => {
    for (let at = 0; at < keys.length; at++) {
      const { order, isDescending } = keys[at]!;
      const difference = order.compare(a.cells[at], b.cells[at]);
      if (difference !== 0) return isDescending ? -difference : difference;
    }
    return 0;
  });
  return sorted.map(({ row }) => row);
}
