import { type Cell, combinations, jsonText, keyOf, readOfField } from "../../../../../grammar/query/index.ts";
import { comparePositions, type EventPosition } from "../../../order.ts";
import { type Event, tooMuch } from "../../../store.ts";
import { type AggregateInput, type GroupPlan, isOutermost, isSortedByTime } from "./plan.ts";

/** Rows for SQL of events that were looked at one by one. */
export interface MemoryRow {
  /** How many such rows there are. */
  times: number;
  /** 1 for the first row of an event, 0 for further ones, which hold the other elements of lists. */
  readonly counts: 0 | 1;
  readonly cells: readonly Cell[];
  /** For each input a number, a value or null; for `presence` true. */
  readonly values: readonly Cell[];
  /** For each input of numbers: values that are none. */
  readonly leftOut: readonly number[];
  /** Place of the event, for rows with a first or last value, and for groups that are sorted by their time. */
  readonly position: EventPosition | undefined;
}

// With the text for SQL about a kilobyte each at most.
const MOST_ROWS = 500_000;

/** Events that have the same in all that is asked share a row. */
export class MemoryRows {
  readonly #plan: GroupPlan;
  readonly #by: readonly ((event: Event) => unknown)[];
  readonly #inputs: readonly ((event: Event) => unknown)[];
  readonly #stepOf: ((event: Event) => number) | undefined;
  readonly #rows = new Map<string, MemoryRow>();
  /** By the group and the input: the outermost value. */
  readonly #outermost = new Map<string, MemoryRow>();
  readonly #isOrdered: boolean;
  readonly #isSorted: boolean;

  /** `stepOf` gives the number of the step of time that an event is in. */
  constructor(plan: GroupPlan, stepOf: ((event: Event) => number) | undefined) {
    this.#plan = plan;
    this.#by = plan.by.map(readOfField);
    this.#inputs = plan.inputs.map(({ column }) => readOfField(column));
    this.#stepOf = stepOf;
    this.#isOrdered = plan.inputs.some(isOutermost);
    this.#isSorted = isSortedByTime(plan);
  }

  add(event: Event, positionOf: () => EventPosition): void {
    if (this.#plan.isUnique) {
      const cells = this.#by.map((read) => read(event) ?? null);
      this.#addFirst(cells, positionOf());
      return;
    }
    const values = this.#inputs.map((read) => read(event));
    const step = this.#stepOf === undefined ? [] : [this.#stepOf(event)];
    const position = this.#isOrdered || this.#isSorted ? positionOf() : undefined;
    for (const group of combinations(this.#by.map((read) => read(event)))) {
      const cells = [...step, ...group];
      this.#addGroup(cells, values, this.#isSorted ? position : undefined);
      if (position !== undefined && this.#isOrdered) this.#addOutermost(cells, values, position);
    }
  }

  /** Everything, those of outermost values last. */
  *rows(): Generator<MemoryRow> {
    yield* this.#rows.values();
    yield* this.#outermost.values();
  }

  #addFirst(cells: readonly Cell[], position: EventPosition): void {
    const key = keyOf(cells.map(keyOf));
    const existing = this.#rows.get(key)?.position;
    if (existing !== undefined && comparePositions(position, existing) > 0) return;
    this.#rows.set(key, { times: 1, counts: 1, cells, values: [], leftOut: [], position });
    if (this.#rows.size > MOST_ROWS) throw tooMuch();
  }

  #addGroup(cells: readonly Cell[], values: readonly unknown[], position: EventPosition | undefined): void {
    const { inputs } = this.#plan;
    const lists = inputs.map(({ use }, at) => elementsFor(use, values[at]));
    const length = lists.reduce((most, { elements }) => Math.max(most, elements.length), 1);
    for (let n = 0; n < length; n++) {
      this.#take({
        times: 1,
        counts: n === 0 ? 1 : 0,
        cells,
        values: lists.map(({ elements }) => elements[n] ?? null),
        leftOut: lists.map(({ leftOut }) => (n === 0 ? leftOut : 0)),
        position,
      });
    }
  }

  #take(row: MemoryRow): void {
    const key = keyOf([row.counts, ...row.cells.map(keyOf), ...row.values.map(keyOf), ...row.leftOut]);
    const existing = this.#rows.get(key);
    if (existing !== undefined) {
      existing.times++;
      return;
    }
    this.#rows.set(key, row);
    if (this.#rows.size > MOST_ROWS) throw tooMuch();
  }

  #addOutermost(cells: readonly Cell[], values: readonly unknown[], position: EventPosition): void {
    const { inputs } = this.#plan;
    for (const [at, input] of inputs.entries()) {
      const value = values[at];
      if (!isOutermost(input) || value === undefined || value === null) continue;
      const key = keyOf([at, ...cells.map(keyOf)]);
      const existing = this.#outermost.get(key)?.position;
      const side = input.use === "first" ? -1 : 1;
      if (existing !== undefined && comparePositions(position, existing) * side < 0) continue;
      const own = inputs.map((_, n): Cell => (n === at ? value : null));
      const leftOut = inputs.map(() => 0);
      this.#outermost.set(key, { times: 1, counts: 0, cells, values: own, leftOut, position });
      if (this.#outermost.size > MOST_ROWS) throw tooMuch();
    }
  }
}

/** The elements of a value that a use takes. */
function elementsFor(
  use: AggregateInput["use"],
  value: unknown,
): { readonly elements: readonly Cell[]; readonly leftOut: number } {
  if (value === undefined || value === null || use === "first" || use === "last") return { elements: [], leftOut: 0 };
  if (use === "presence") return { elements: [true], leftOut: 0 };
  const elements = (Array.isArray(value) ? (value.flat(Number.POSITIVE_INFINITY) as unknown[]) : [value]).filter(
    (element) => element !== null && element !== undefined,
  );
  if (use === "key") return { elements, leftOut: 0 };
  const numbers = elements.filter((element) => typeof element === "number");
  return { elements: numbers, leftOut: elements.length - numbers.length };
}

/** A value as JSON, the same text for equal ones. */
export const cellJson = (cell: Cell) => (cell === null ? null : jsonText(cell));
