// The work of stages on the items that come: events, or rows. Some pass them on at once (Sink), others hold them, or
// what they add up to, and can be asked at any time what they give of what has come so far (Collector).

import { type Accumulator, accumulator } from "./accumulators.ts";
import type { RowColumn } from "./columns.ts";
import type { FunctionKind } from "./functions.ts";
import { type PackedState, Packing, Unpacking } from "./packed.ts";
import type { SortOrder } from "./sort-order.ts";
import { LADDER_MS, periodSeconds, stepCount, stepFor, stepStart, stepsOf } from "./steps.ts";
import { TooManyGroups } from "./table.ts";
import { type Cell, canonicalValue, compareCells, keyOf } from "./values.ts";

export interface Sink<Item> {
  push(item: Item): void;
  /** Set when nothing that comes can change what is given. */
  readonly isDone: boolean;
}

export interface Collector<Item, Result> extends Sink<Item> {
  /** Changes nothing: more may come afterwards. */
  results(): readonly Result[];
}

export type CellRow = readonly Cell[];
export type Read<Item> = (item: Item) => unknown;

abstract class Operator<In, Out> implements Sink<In> {
  protected readonly next: Sink<Out>;

  constructor(next: Sink<Out>) {
    this.next = next;
  }

  abstract push(item: In): void;

  get isDone(): boolean {
    return this.next.isDone;
  }
}

export class Where<Item> extends Operator<Item, Item> {
  readonly #test: (item: Item) => boolean;

  constructor(test: (item: Item) => boolean, next: Sink<Item>) {
    super(next);
    this.#test = test;
  }

  push(item: Item): void {
    if (this.#test(item)) this.next.push(item);
  }
}

export class Limit<Item> extends Operator<Item, Item> {
  #left: number;

  constructor(count: number, next: Sink<Item>) {
    super(next);
    this.#left = count;
  }

  push(item: Item): void {
    if (this.#left-- > 0) this.next.push(item);
  }

  override get isDone(): boolean {
    return this.#left <= 0 || this.next.isDone;
  }
}

/** The memory that a query may use, all stages together. */
export class Budget {
  readonly #bytes: number;
  #left: number;
  #groups = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#left = bytes;
  }

  get takenBytes(): number {
    return this.#bytes - this.#left;
  }

  /** Throws if there is no more. */
  take(bytes: number, groups = 0): void {
    this.#left -= bytes;
    this.#groups += groups;
    if (this.#left < 0) throw new TooManyGroups(this.#groups);
  }

  /** Throws if there is no memory for one more row beside those that `what` holds. */
  takeRow(rows: number, what: "rows" | "sorted rows"): void {
    this.#left -= KEPT_BYTES;
    if (this.#left < 0) throw new TooManyGroups(rows, what);
  }
}

/** The memory that an item that is kept takes, or a row's cells. */
const KEPT_BYTES = 200;

export interface SortKeyRead<Item> {
  readonly read: Read<Item>;
  readonly order: SortOrder;
  readonly isDescending: boolean;
}

/** Everything that comes. */
export class Kept<Item> implements Collector<Item, Item> {
  readonly isDone = false;
  #items: Item[] = [];
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  push(item: Item): void {
    this.#budget.takeRow(this.#items.length, "rows");
    this.#items.push(item);
  }

  results(): readonly Item[] {
    return this.#items;
  }

  /** Forgets what was given. */
  clear(): void {
    this.#budget.take(-KEPT_BYTES * this.#items.length);
    this.#items = [];
  }
}

interface Sortable<Item> {
  readonly item: Item;
  readonly cells: CellRow;
}

/** `most`: no more of the first items are wanted. */
export class Sort<Item> implements Collector<Item, Item> {
  readonly isDone = false;
  readonly #keys: readonly SortKeyRead<Item>[];
  readonly #budget: Budget;
  readonly #most: number;
  #items: Sortable<Item>[] = [];

  constructor(keys: readonly SortKeyRead<Item>[], budget: Budget, most: number) {
    this.#keys = keys;
    this.#budget = budget;
    this.#most = most;
  }

  push(item: Item): void {
    this.#budget.takeRow(this.#items.length, "sorted rows");
    this.#items.push({ item, cells: this.#keys.map(({ read, order }) => order.key(read(item))) });
    if (this.#items.length < 2 * this.#most + CUT_EVERY) return;
    this.#budget.take(-KEPT_BYTES * (this.#items.length - this.#most));
    this.#items = this.#sorted();
  }

  results(): readonly Item[] {
    return this.#sorted().map(({ item }) => item);
  }

  #sorted(): Sortable<Item>[] {
    // Sorting keeps the order of equal items.
    const sorted = this.#items.toSorted((a, b) => {
      for (const [at, { order, isDescending }] of this.#keys.entries()) {
        const difference = order.compare(a.cells[at], b.cells[at]);
        if (difference !== 0) return isDescending ? -difference : difference;
      }
      return 0;
    });
    return sorted.length > this.#most ? sorted.slice(0, this.#most) : sorted;
  }
}

/** Sorting what a limit leaves costs little then for each item. */
const CUT_EVERY = 1000;

/** Rows of some columns. */
export class SelectColumns<Item> extends Operator<Item, CellRow> {
  readonly #reads: readonly Read<Item>[];

  constructor(reads: readonly Read<Item>[], next: Sink<CellRow>) {
    super(next);
    this.#reads = reads;
  }

  push(item: Item): void {
    this.next.push(this.#reads.map((read) => read(item) ?? null));
  }
}

/** The first row of each combination of cells. */
export class Unique extends Operator<CellRow, CellRow> {
  readonly #seen = new Set<string>();
  readonly #budget: Budget;

  constructor(budget: Budget, next: Sink<CellRow>) {
    super(next);
    this.#budget = budget;
  }

  push(row: CellRow): void {
    const key = joined(row.map(keyOf));
    const before = this.#seen.size;
    if (this.#seen.add(key).size === before) return;
    this.#budget.take(KEPT_BYTES + 2 * key.length, 1);
    this.next.push(row.map(canonicalValue));
  }
}

/** Keys joined so that different lists of keys differ. */
const joined = (keys: readonly string[]) =>
  keys.length === 1 ? keys[0]! : keys.map((key) => `${key.length}:${key}`).join("");

export interface ComputedColumn<Item> {
  readonly kind: FunctionKind;
  readonly read: Read<Item> | undefined;
  readonly column: RowColumn;
}

export interface Grouping<Item> {
  readonly by: readonly Read<Item>[];
  readonly aggregates: readonly ComputedColumn<Item>[];
  /** The time of an item, in milliseconds since 1970; undefined if it has none. */
  readonly timeOf: (item: Item) => number | undefined;
  /** The bounds of the period of the query, as far as they are known. */
  readonly range: QueryRange;
  readonly budget: Budget;
  readonly notes: MutableNotes;
}

export interface QueryRange {
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface MutableNotes {
  readonly leftOut: Map<string, number>;
  withoutTime: number;
  readonly estimates: Set<string>;
}

interface Group {
  /** Canonical: equal objects may have their members in another order. */
  readonly cells: CellRow;
  readonly values: readonly Accumulator[];
}

/** Groups of one step of time, or of all of it. */
class Groups<Item> {
  readonly byKey = new Map<string, Group>();
  readonly #grouping: Grouping<Item>;

  constructor(grouping: Grouping<Item>) {
    this.#grouping = grouping;
  }

  push(item: Item, place: number): void {
    const { by, aggregates } = this.#grouping;
    const inputs = aggregates.map(({ read }) => read?.(item));
    for (const cells of combinations(by.map((read) => read(item)))) {
      const { values } = this.groupOf(cells);
      for (const [at, value] of values.entries()) value.add(inputs[at], place);
    }
  }

  merge(other: Groups<Item>): void {
    for (const [key, group] of other.byKey) this.#join(key, group);
  }

  #join(key: string, { cells, values }: Group): void {
    const mine = this.byKey.get(key);
    if (mine === undefined) {
      this.#take(key);
      this.byKey.set(key, { cells, values });
      return;
    }
    for (const [at, value] of mine.values.entries()) value.merge(values[at]!);
  }

  pack(packing: Packing): void {
    packing.number(this.byKey.size);
    for (const { cells, values } of this.byKey.values()) {
      for (const cell of cells) packing.value(cell);
      for (const value of values) value.pack(packing);
    }
  }

  /** Adds the groups that another one has packed. */
  unpack(packed: Unpacking): void {
    const { by } = this.#grouping;
    for (let left = packed.number(); left > 0; left--) {
      const cells = by.map(() => packed.value());
      const values = this.#newValues();
      for (const value of values) value.unpack(packed);
      this.#join(joined(cells.map(keyOf)), { cells, values });
    }
  }

  groupOf(cells: CellRow): Group {
    const key = joined(cells.map(keyOf));
    let group = this.byKey.get(key);
    if (group === undefined) {
      this.#take(key);
      group = { cells: cells.map(canonicalValue), values: this.#newValues() };
      this.byKey.set(key, group);
    }
    return group;
  }

  #newValues(): readonly Accumulator[] {
    return this.#grouping.aggregates.map(({ kind, read }) => accumulator(kind, read !== undefined));
  }

  #take(key: string): void {
    const { aggregates, budget } = this.#grouping;
    budget.take(KEPT_BYTES + 2 * key.length + aggregates.length * ACCUMULATOR_BYTES, 1);
  }

  get bytes(): number {
    let bytes = 0;
    for (const { values } of this.byKey.values()) for (const value of values) bytes += value.bytes;
    return bytes;
  }
}

const ACCUMULATOR_BYTES = 80;

/** The cells of an item's groups: with a list among them, one for each different element; with two, their product. */
export function combinations(values: readonly unknown[]): CellRow[] {
  let rows: CellRow[] = [[]];
  for (const value of values) {
    const cells = Array.isArray(value) ? elementsOf(value) : [value ?? null];
    rows =
      cells.length === 1
        ? rows.map((row) => [...row, cells[0]])
        : rows.flatMap((row) => cells.map((cell) => [...row, cell]));
  }
  return rows;
}

function elementsOf(list: readonly unknown[]): Cell[] {
  const elements = new Map<string, Cell>();
  const lists: (readonly unknown[])[] = [list];
  for (let at = 0; at < lists.length; at++) {
    for (const element of lists[at]!) {
      if (Array.isArray(element)) lists.push(element);
      else elements.set(keyOf(element), element ?? null);
    }
  }
  return elements.size === 0 ? [null] : [...elements.values()];
}

/** How often the bytes of values are counted: adding up takes as long as there are groups. */
const COUNT_EVERY = 4096;

export abstract class Grouped<Item> implements Collector<Item, CellRow> {
  readonly isDone = false;
  /** The place of the next item in the input; each comes after the one before, if nothing else is said. */
  nextPlace = 0;
  protected readonly grouping: Grouping<Item>;
  #pushed = 0;
  #counted = 0;
  #nextCount = COUNT_EVERY;
  protected firstMs = Number.POSITIVE_INFINITY;
  protected lastMs = Number.NEGATIVE_INFINITY;

  constructor(grouping: Grouping<Item>) {
    this.grouping = grouping;
  }

  abstract push(item: Item): void;
  abstract results(): readonly CellRow[];

  protected place(): number {
    if (++this.#pushed >= this.#nextCount) this.#countBytes();
    return this.nextPlace++;
  }

  /** The collected state, for `merge` of a collector of the same stage. */
  pack(): PackedState {
    const packing = new Packing();
    packing.number(this.firstMs);
    packing.number(this.lastMs);
    this.packGroups(packing);
    return packing.packed();
  }

  /** Adds what another one has collected, from other places of the input. */
  merge(packed: PackedState): void {
    const unpacking = new Unpacking(packed);
    const [firstMs, lastMs] = [unpacking.number(), unpacking.number()];
    // Not so if no item had a time.
    if (firstMs <= lastMs) {
      this.see(firstMs);
      this.see(lastMs);
    }
    this.mergeGroups(unpacking);
    this.#countBytes();
  }

  protected abstract packGroups(packing: Packing): void;
  protected abstract mergeGroups(packed: Unpacking): void;

  #countBytes(): void {
    const { bytes, groups } = this.held();
    this.grouping.budget.take(bytes - this.#counted);
    this.#counted = bytes;
    this.#nextCount = this.#pushed + Math.max(COUNT_EVERY, groups);
  }

  /** The size of all values, beyond the memory that was taken for their groups. */
  protected abstract held(): { readonly bytes: number; readonly groups: number };

  protected see(timeMs: number): void {
    if (timeMs < this.firstMs) this.firstMs = timeMs;
    if (timeMs > this.lastMs) this.lastMs = timeMs;
  }

  /** The range that was asked for, as far as it is known; otherwise that of the items. */
  protected get range(): { readonly fromMs: number; readonly toMs: number } {
    const { fromMs = this.firstMs, toMs = this.lastMs } = this.grouping.range;
    return { fromMs, toMs };
  }

  /** Puts the notes into the order of the columns, so that it does not depend on that of the groups. */
  protected orderNotes(): void {
    const { aggregates, notes } = this.grouping;
    for (const { column } of aggregates) {
      const leftOut = notes.leftOut.get(column.name);
      if (leftOut !== undefined && notes.leftOut.delete(column.name)) notes.leftOut.set(column.name, leftOut);
      if (notes.estimates.delete(column.name)) notes.estimates.add(column.name);
    }
  }

  protected cellsOf(values: readonly Accumulator[], seconds: number): Cell[] {
    const { aggregates, notes } = this.grouping;
    return values.map((value, at) => {
      const { name } = aggregates[at]!.column;
      if (value.isEstimate) notes.estimates.add(name);
      const { leftOut = 0 } = value;
      if (leftOut > 0) notes.leftOut.set(name, (notes.leftOut.get(name) ?? 0) + leftOut);
      return value.result(seconds);
    });
  }
}

/** `count`, `stats` and `top`: a row for each group, the greatest first value first. */
export class AggregateCollector<Item> extends Grouped<Item> {
  readonly #groups: Groups<Item>;
  readonly #needsTime: boolean;

  constructor(grouping: Grouping<Item>) {
    super(grouping);
    this.#groups = new Groups(grouping);
    this.#needsTime = grouping.aggregates.some(({ kind }) => kind.name === "rate");
    // Without groups there is always one row.
    if (grouping.by.length === 0) this.#groups.groupOf([]);
  }

  push(item: Item): void {
    this.#groups.push(item, this.place());
    if (!this.#needsTime) return;
    const timeMs = this.grouping.timeOf(item);
    if (timeMs !== undefined) this.see(timeMs);
  }

  protected packGroups(packing: Packing): void {
    this.#groups.pack(packing);
  }

  protected mergeGroups(packed: Unpacking): void {
    this.#groups.unpack(packed);
  }

  protected held() {
    return { bytes: this.#groups.bytes, groups: this.#groups.byKey.size };
  }

  results(): readonly CellRow[] {
    const { fromMs, toMs } = this.range;
    // Without a time there is no period.
    const seconds = fromMs <= toMs ? periodSeconds(fromMs, toMs) : 0;
    const groups = this.grouping.by.length;
    const rows = [...this.#groups.byKey.values()].map(({ cells, values }) => [
      ...cells,
      ...this.cellsOf(values, seconds),
    ]);
    this.orderNotes();
    return inOrder(rows, groups);
  }

  /** The rows of groups that were collected elsewhere, in the order of all rows. */
  resultsOf(rows: readonly CellRow[]): readonly CellRow[] {
    return inOrder(rows, this.grouping.by.length);
  }

  get isEmpty(): boolean {
    return this.#groups.byKey.size === 0;
  }
}

/** The greatest first value first, then by groups. */
function inOrder(rows: readonly CellRow[], groups: number): readonly CellRow[] {
  // An infinite value would be equal to null.
  const isOfNumbers = rows.every((row) => row[groups] === null || Number.isFinite(row[groups]));
  if (isOfNumbers) return byNumber(rows, groups);
  return [...rows].sort((a, b) => compareCells(b[groups], a[groups]) || byGroups(a, b, groups));
}

/** Sorts the numbers alone and then finds the place of each row, which is many times as fast as comparing rows. */
function byNumber(rows: readonly CellRow[], groups: number): readonly CellRow[] {
  const { length } = rows;
  const numberIn = (row: CellRow) => (row[groups] as number | null) ?? Number.NEGATIVE_INFINITY;
  const numbers = new Float64Array(length);
  for (let at = 0; at < length; at++) numbers[at] = numberIn(rows[at]!);
  numbers.sort();
  const taken = new Uint32Array(length);
  const sorted: CellRow[] = new Array(length);
  for (const row of rows) {
    const at = firstAt(numbers, numberIn(row));
    sorted[length - 1 - at - taken[at]!++] = row;
  }
  for (let start = 0; start < length; ) {
    const number = numberIn(sorted[start]!);
    let end = start + 1;
    while (end < length && numberIn(sorted[end]!) === number) end++;
    const same = end - start === 1 ? [] : sorted.slice(start, end).sort((a, b) => byGroups(a, b, groups));
    for (const [at, row] of same.entries()) sorted[start + at] = row;
    start = end;
  }
  return sorted;
}

/** The first place of a number in sorted numbers that have it. */
function firstAt(numbers: Float64Array, number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byGroups(a: CellRow, b: CellRow, groups: number): number {
  for (let at = 0; at < groups; at++) {
    const order = compareCells(a[at], b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Without a written step there are at most so many. */
const MOST_STEPS = 60;
/** With a written one: more rows than anybody reads. */
const MOST_WRITTEN_STEPS = 100_000;
/** While the range is not known yet. */
const MOST_STEPS_KEPT = 4 * MOST_STEPS;

/** `timeseries`: a row for each step and group, also for steps in which nothing was. */
export class Timeseries<Item> extends Grouped<Item> {
  readonly #isWritten: boolean;
  #stepMs: number;
  #steps = new Map<number, Groups<Item>>();

  /** `stepMs` is undefined if none is written. */
  constructor(grouping: Grouping<Item>, stepMs: number | undefined) {
    super(grouping);
    this.#isWritten = stepMs !== undefined;
    this.#stepMs = stepMs ?? LADDER_MS[0]!;
  }

  push(item: Item): void {
    const timeMs = this.grouping.timeOf(item);
    const place = this.place();
    if (timeMs === undefined) {
      this.grouping.notes.withoutTime++;
      return;
    }
    this.see(timeMs);
    this.#groupsAt(stepStart(timeMs, this.#stepMs)).push(item, place);
    if (!this.#isWritten && this.#steps.size > MOST_STEPS_KEPT) this.#widen(this.#wider());
  }

  #groupsAt(start: number): Groups<Item> {
    let groups = this.#steps.get(start);
    if (groups === undefined) {
      if (this.#steps.size >= MOST_WRITTEN_STEPS) throw new TooManyGroups(this.#steps.size, stepsOf(this.#stepMs));
      groups = new Groups(this.grouping);
      this.#steps.set(start, groups);
    }
    return groups;
  }

  /** The next step that makes them few enough; the longest, if even that does not. */
  #wider(): number {
    const longer = LADDER_MS.filter((stepMs) => stepMs > this.#stepMs);
    return (
      longer.find((stepMs) => stepCount(this.firstMs, this.lastMs, stepMs) <= MOST_STEPS) ??
      longer.at(-1) ??
      this.#stepMs
    );
  }

  protected packGroups(packing: Packing): void {
    packing.number(this.grouping.notes.withoutTime);
    packing.number(this.#stepMs);
    packing.number(this.#steps.size);
    for (const [start, groups] of this.#steps) {
      packing.number(start);
      groups.pack(packing);
    }
  }

  protected mergeGroups(packed: Unpacking): void {
    this.grouping.notes.withoutTime += packed.number();
    // Each step of the ladder divides the next one, so that the longer of both fits both.
    this.#widen(Math.max(this.#stepMs, packed.number()));
    for (let left = packed.number(); left > 0; left--)
      this.#groupsAt(stepStart(packed.number(), this.#stepMs)).unpack(packed);
    if (!this.#isWritten && this.#steps.size > MOST_STEPS_KEPT) this.#widen(this.#wider());
  }

  #widen(stepMs: number): void {
    if (stepMs === this.#stepMs) return;
    const narrow = this.#steps;
    this.#stepMs = stepMs;
    this.#steps = new Map();
    for (const [start, groups] of narrow) this.#groupsAt(stepStart(start, stepMs)).merge(groups);
  }

  protected held() {
    let [bytes, groups] = [0, 0];
    for (const one of this.#steps.values()) {
      bytes += one.bytes;
      groups += one.byKey.size;
    }
    return { bytes, groups };
  }

  get stepMs(): number {
    return this.#stepMs;
  }

  results(): readonly CellRow[] {
    const { fromMs, toMs } = this.range;
    if (!(fromMs <= toMs)) return [];
    if (!this.#isWritten) this.#widen(Math.max(this.#stepMs, stepFor(fromMs, toMs, MOST_STEPS)));
    if (stepCount(fromMs, toMs, this.#stepMs) > MOST_WRITTEN_STEPS)
      throw new TooManyGroups(MOST_WRITTEN_STEPS, stepsOf(this.#stepMs));
    const { by, aggregates } = this.grouping;
    const all = new Map<string, CellRow>();
    if (by.length === 0) all.set("", []);
    for (const { byKey } of this.#steps.values()) for (const [key, { cells }] of byKey) all.set(key, cells);
    const groups = [...all].sort(([, a], [, b]) => byGroups(a, b, by.length));
    const seconds = this.#stepMs / 1000;
    // The result of a function for no values.
    const nothing = aggregates.map(({ kind, read }) => accumulator(kind, read !== undefined));
    const rows: CellRow[] = [];
    for (let start = stepStart(fromMs, this.#stepMs); start <= toMs; start += this.#stepMs) {
      const step = this.#steps.get(start);
      const time = new Date(start).toISOString();
      for (const [key, cells] of groups) {
        const values = step?.byKey.get(key)?.values ?? nothing;
        rows.push([time, ...cells, ...this.cellsOf(values, seconds)]);
      }
    }
    this.orderNotes();
    return rows;
  }
}
