import { type Cell, combinations, keyOf, readOfField } from "../../../../../grammar/query/index.ts";
import type { MemtableColumn, NumberColumn, ValueColumn } from "../../../memtable-columns.ts";
import { type Event, tooMuch } from "../../../store.ts";
import { type GroupPlan, hasPositions } from "./plan.ts";
import type { SummaryNumbers, SummaryRow } from "./summarized.ts";

/** Whether a row for each group is enough: no function needs the values themselves or the places of events. */
export const needsGroupsOnly = (plan: GroupPlan): boolean =>
  !hasPositions(plan) &&
  plan.inputs.every(({ use }) => use === "presence" || use === "number") &&
  plan.aggregates.every(({ kind }) => kind.name !== "pNN");

/** With the text for SQL some hundred bytes each. */
const MOST_GROUPS = 500_000;

/**
 * Adds up events that are looked at one by one, in a row for each group. SQL gets these rows, and not the different values of
 * a million events.
 */
export class MemoryGroups {
  readonly #by: readonly ((event: Event) => unknown)[];
  readonly #inputs: readonly { readonly read: (event: Event) => unknown; readonly isNumber: boolean }[];
  readonly #stepOf: ((event: Event) => number) | undefined;
  readonly #groups: GroupNode = new Map();
  readonly #all: Group[] = [];

  /** `stepOf` gives the number of the step of time that an event is in. */
  constructor({ by, inputs }: GroupPlan, stepOf: ((event: Event) => number) | undefined) {
    this.#by = by.map(readOfField);
    this.#inputs = inputs.map(({ column, use }) => ({ read: readOfField(column), isNumber: use === "number" }));
    this.#stepOf = stepOf;
  }

  add(event: Event): void {
    const values = this.#by.map((read) => read(event) ?? null);
    const step = this.#stepOf === undefined ? [] : [this.#stepOf(event)];
    const rows = values.some(Array.isArray) ? combinations(values) : [values as Cell[]];
    for (const cells of rows) this.#addTo(this.#groupOf([...step, ...cells]), event);
  }

  /**
   * Adds events by their columns: gives a function that takes an event's place, and the number of its step of time. Groups
   * are looked up by the codes of their values.
   */
  adder(by: readonly ValueColumn[], inputs: readonly MemtableColumn[]): (place: number, step: number) => void {
    const hasSteps = this.#stepOf !== undefined;
    const byCodes: CodeNode = new Map();
    const groupsOf = (place: number, step: number): readonly Group[] => {
      let node = byCodes;
      for (let at = hasSteps ? -1 : 0; at < by.length; at++) {
        const code = at < 0 ? step : by[at]!.codes[place]!;
        let next = node.get(code) as CodeNode | undefined;
        if (next === undefined) {
          next = new Map();
          node.set(code, next);
        }
        node = next;
      }
      let groups = node.get(GROUP) as readonly Group[] | undefined;
      if (groups === undefined) {
        const values = by.map(({ codes, values }) => values[codes[place]!] ?? null);
        const steps = hasSteps ? [step] : [];
        const rows = values.some(Array.isArray) ? combinations(values) : [values as Cell[]];
        groups = rows.map((cells) => this.#groupOf([...steps, ...cells]));
        node.set(GROUP, groups);
      }
      return groups;
    };
    return (place, step) => {
      for (const group of groupsOf(place, step)) {
        group.events++;
        for (let at = 0; at < inputs.length; at++) {
          const [column, sums] = [inputs[at]!, group.inputs[at]!];
          if (!this.#inputs[at]!.isNumber) sums.count += column.has(place) ? 1 : 0;
          else addAt(sums, column as NumberColumn, place);
        }
      }
    };
  }

  rows(): SummaryRow[] {
    return this.#all.flatMap((group) => rowsOf(group));
  }

  #addTo(group: Group, event: Event): void {
    group.events++;
    for (const [at, { read, isNumber }] of this.#inputs.entries()) {
      const value = read(event);
      if (value === undefined || value === null) continue;
      const numbers = group.inputs[at]!;
      if (!isNumber) numbers.count++;
      else if (typeof value === "number") addNumber(numbers, value);
      else addElements(numbers, value);
    }
  }

  #groupOf(cells: readonly Cell[]): Group {
    let node = this.#groups;
    for (let at = 0; at < cells.length; at++) {
      const key = mapKey(cells[at]!);
      let next = node.get(key) as GroupNode | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(key, next);
      }
      node = next;
    }
    let group = node.get(GROUP) as Group | undefined;
    if (group === undefined) {
      group = { cells, events: 0, inputs: this.#inputs.map(() => new Numbers()) };
      node.set(GROUP, group);
      this.#all.push(group);
      if (this.#all.length > MOST_GROUPS) throw tooMuch();
    }
    return group;
  }
}

/** By a cell the groups of the next one, by `GROUP` the group of all of them. */
type GroupNode = Map<unknown, GroupNode | Group>;
/** The same by the codes of the cells, for events with lists several groups. */
type CodeNode = Map<number | symbol, CodeNode | readonly Group[]>;
const GROUP = Symbol("group");

interface Group {
  readonly cells: readonly Cell[];
  events: number;
  readonly inputs: readonly Numbers[];
}

/** Scalars are their own keys; 0 and -0 are one. Objects with the same members are the same. */
function mapKey(cell: Cell): unknown {
  return typeof cell === "object" && cell !== null ? `{${keyOf(cell)}` : typeof cell === "string" ? `"${cell}` : cell;
}

class Numbers {
  count = 0;
  sum = 0;
  /** The part that the sum has lost, so that the order of small and large numbers does not matter. */
  lost = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  leftOut = 0;
}

function addNumber(numbers: Numbers, value: number): void {
  const { sum } = numbers;
  const next = sum + value;
  numbers.lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
  numbers.sum = next;
  numbers.count++;
  if (value < numbers.min) numbers.min = value;
  if (value > numbers.max) numbers.max = value;
}

function addAt(sums: Numbers, { numbers, others }: NumberColumn, place: number): void {
  const number = numbers[place]!;
  if (!Number.isNaN(number)) addNumber(sums, number);
  else if (others.has(place)) addElements(sums, others.get(place));
}

/** The numbers in lists count; other values are left out. */
function addElements(numbers: Numbers, value: unknown): void {
  if (typeof value === "number") addNumber(numbers, value);
  else if (Array.isArray(value)) for (const element of value) addElements(numbers, element);
  else if (value !== null && value !== undefined) numbers.leftOut++;
}

/** JSON has no infinity: a sum that is too large is two rows that come to one. */
function rowsOf({ cells, events, inputs }: Group): SummaryRow[] {
  const row = { cells, events, inputs: inputs.map(numbersOf) };
  if (inputs.every(({ sum }) => Number.isFinite(sum))) return [row];
  return [row, { cells, events: 0, inputs: inputs.map(excessOf) }];
}

function numbersOf({ count, sum, lost, min, max, leftOut }: Numbers): SummaryNumbers {
  if (count === 0) return { ...NOTHING, leftOut };
  return { count, sum: Number.isFinite(sum) ? sum + lost : greatest(sum), min, max, leftOut };
}

const excessOf = ({ sum }: Numbers): SummaryNumbers =>
  Number.isFinite(sum) ? NOTHING : { ...NOTHING, sum: greatest(sum) };

const greatest = (sum: number) => Math.sign(sum) * Number.MAX_VALUE;
const NOTHING: SummaryNumbers = { count: 0, sum: null, min: null, max: null, leftOut: 0 };
