import { type Column, keyOf, readOfField, target } from "../../grammar/query/index.ts";
import { Yielder } from "./event-loop.ts";
import type { StoredEvent } from "./journal/line.ts";
import { ParsedEvents } from "./parsed-events.ts";
import type { Event } from "./store.ts";

/** A field of the events of a memtable, one after the other, as `readOfField` reads it. */
export interface MemtableColumn {
  /** How many events it has. */
  readonly size: number;
  /** An estimate of its memory. */
  readonly bytes: number;
  add(value: unknown): void;
  /** Whether the event at a place has a value but null. */
  has(place: number): boolean;
}

/** More memory than this is not for columns, of all memtables together. */
const MOST_BYTES = 64 * 1024 * 1024;

/** As many fields as a page of charts asks, and as many memtables as are there at once. */
const RECENT_FIELDS = 24;
const RECENT_MEMTABLES = 4;

/** The share of memory that columns and parsed events have, and what reading events costs. */
export class ColumnBudget {
  readonly mostBytes: number;
  bytes = 0;
  readonly parsedEvents: ParsedEvents;
  /** Lines that were parsed for a query since the start. */
  linesParsed = 0;
  /** The fields that were asked last, by their keys, and for how many more memtables they are made before they are. */
  readonly #recent = new Map<string, { readonly column: Column; memtables: number }>();
  /** By their owners; those that were asked last come last. */
  readonly #columns = new Map<MemtableColumn, () => void>();

  constructor(mostBytes = MOST_BYTES, parsedEvents = new ParsedEvents()) {
    this.mostBytes = mostBytes;
    this.parsedEvents = parsedEvents;
  }

  /** Counts a column from now on, as the one that was asked last. `drop` makes its owner forget it. */
  use(column: MemtableColumn, drop: () => void): void {
    if (!this.#columns.delete(column)) this.bytes += column.bytes;
    this.#columns.set(column, drop);
  }

  /** Adds a value to a column, which counts if it is not dropped yet. */
  extend(column: MemtableColumn, value: unknown): void {
    const before = column.bytes;
    column.add(value);
    if (this.#columns.has(column)) this.bytes += column.bytes - before;
  }

  noteAsked(key: string, column: Column): void {
    this.#recent.delete(key);
    this.#recent.set(key, { column, memtables: RECENT_MEMTABLES });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > RECENT_FIELDS) this.#recent.delete(oldest!);
  }

  /** The fields that a memtable begins with when it is asked for the first time: they will be asked of it, too. */
  takeRecent(): readonly (readonly [key: string, column: Column])[] {
    const fields = [...this.#recent].map(([key, { column }]) => [key, column] as const);
    for (const [key, one] of this.#recent) if (--one.memtables === 0) this.#recent.delete(key);
    return fields;
  }

  forget(column: MemtableColumn): void {
    if (this.#columns.delete(column)) this.bytes -= column.bytes;
  }

  /** Drops other columns than these, the longest unused first, as far as is needed. Returns whether that is enough. */
  makeRoom(using: readonly MemtableColumn[]): boolean {
    for (const [column, drop] of this.#columns) {
      if (this.bytes <= this.mostBytes) return true;
      if (!using.includes(column)) drop();
    }
    return this.bytes <= this.mostBytes;
  }
}

export interface ColumnRequest {
  readonly column: Column;
  /**
   * Its numbers or its values. A column of either will do to tell whether it has a value (`presence`), or to test one where
   * null is as good as none (`test`, mostly of numbers).
   */
  readonly use: "numbers" | "values" | "presence" | "test";
}

interface FieldColumn {
  readonly column: MemtableColumn;
  readonly read: (event: Event) => unknown;
}

/** The events that columns are made of. */
interface ColumnSource {
  read(index: number): StoredEvent;
}

/**
 * The columns of the fields that questions asked of a memtable. Each question adds only the events that came since: those
 * are parsed once for all columns, also those of other questions.
 */
export class MemtableColumns {
  readonly #source: ColumnSource;
  readonly #budget: ColumnBudget;
  readonly #columns = new Map<string, FieldColumn>();
  #isAsked = false;
  /** Fields of questions that were answered without columns. */
  readonly #wished = new Set<string>();
  /** Fields of queries for whose page many events were read. */
  readonly #longRead = new Set<string>();
  /** Fields that take more than the share of memory. */
  readonly #tooLarge = new Set<string>();
  #isDropped = false;

  constructor(source: ColumnSource, budget: ColumnBudget) {
    this.#source = source;
    this.#budget = budget;
  }

  /**
   * The columns of some fields with at least the first `length` events, in the order of the requests. Undefined if they take
   * too much memory, or the memtable is gone.
   */
  async read(
    requests: readonly ColumnRequest[],
    length: number,
    signal: AbortSignal,
  ): Promise<readonly MemtableColumn[] | undefined> {
    if (!this.#isDropped) this.#begin();
    const keys = requests.map((request) => this.#keyOf(request));
    if (this.#isDropped || keys.some((key) => this.#tooLarge.has(key))) return undefined;
    const columns = requests.map(({ column }, at) => this.#column(keys[at]!, column));
    const unique = [...new Set(columns)];
    const yielder = new Yielder();
    for (;;) {
      // Another question may extend them, too, between two steps.
      const size = unique.reduce((least, column) => Math.min(least, column.size), length);
      if (size >= length) return columns;
      const { event } = this.#source.read(size);
      for (const { column, read } of this.#columns.values())
        if (column.size === size) this.#budget.extend(column, read(event));
      if (this.#budget.bytes > this.#budget.mostBytes && !this.#budget.makeRoom(unique)) {
        this.#giveUp(keys);
        return undefined;
      }
      // Dropped meanwhile: by a flush, or by a question that needed the room.
      if (unique.some((column) => column.size === size)) return undefined;
      if (yielder.isDue()) await yielder.rest(signal);
    }
  }

  /**
   * Whether a question of these fields that needs only some of the events should use columns, which are made of all:
   * if they are there, or if the same was asked before.
   */
  isWorth(requests: readonly ColumnRequest[]): boolean {
    if (this.#isDropped) return false;
    this.#begin();
    const keys = requests.map((request) => this.#keyOf(request));
    const isKnown = keys.every((key) => this.#columns.has(key) || this.#wished.has(key));
    for (const key of keys) this.#wished.add(key);
    return isKnown;
  }

  /** Notes that the page of a query of these fields read a large part of the events, as few or none are selected. */
  noteLongRead(requests: readonly ColumnRequest[]): void {
    this.#longRead.add(this.#nameOf(requests));
  }

  /** Whether the page of a query of these fields did so: the next one reads less by columns. */
  wasLongRead(requests: readonly ColumnRequest[]): boolean {
    return this.#longRead.has(this.#nameOf(requests));
  }

  #nameOf(requests: readonly ColumnRequest[]): string {
    return JSON.stringify(requests.map(({ column }) => target(column)));
  }

  /** Forgets all: the events are in segments now. */
  drop(): void {
    this.#isDropped = true;
    for (const { column } of this.#columns.values()) this.#budget.forget(column);
    this.#columns.clear();
  }

  #begin(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    for (const [key, column] of this.#budget.takeRecent()) this.#make(key, column);
  }

  #keyOf({ column, use }: ColumnRequest): string {
    const place = JSON.stringify(target(column));
    const [numbers, values] = [`numbers ${place}`, `values ${place}`];
    switch (use) {
      case "numbers":
        return numbers;
      case "values":
        return values;
      case "presence":
        return this.#columns.has(numbers) ? numbers : values;
      case "test":
        return this.#columns.has(values) ? values : numbers;
    }
  }

  #column(key: string, field: Column): MemtableColumn {
    const { column } = this.#columns.get(key) ?? this.#make(key, field);
    this.#budget.noteAsked(key, field);
    this.#budget.use(column, () => this.#drop(key, column));
    return column;
  }

  #make(key: string, field: Column): FieldColumn {
    const column = key.startsWith("numbers") ? new NumberColumn() : new ValueColumn();
    const made = { column, read: readOfField(field) as (event: Event) => unknown };
    this.#columns.set(key, made);
    this.#budget.use(column, () => this.#drop(key, column));
    return made;
  }

  #drop(key: string, column: MemtableColumn): void {
    this.#budget.forget(column);
    if (this.#columns.get(key)?.column === column) this.#columns.delete(key);
  }

  /** The largest field of a question is not kept again. */
  #giveUp(keys: readonly string[]): void {
    const [largest] = keys.toSorted((a, b) => this.#bytesOf(b) - this.#bytesOf(a));
    this.#tooLarge.add(largest!);
    const column = this.#columns.get(largest!);
    if (column !== undefined) this.#drop(largest!, column.column);
  }

  #bytesOf(key: string): number {
    return this.#columns.get(key)?.column.bytes ?? 0;
  }
}

const FIRST_SIZE = 1024;
/** A value of the dictionary beside its text: the places in the list and the map, and the head of a string. */
const VALUE_BYTES = 80;

/** Any values: each different one is kept once. */
export class ValueColumn implements MemtableColumn {
  #codes = new Uint32Array(FIRST_SIZE);
  readonly #byKey = new Map<unknown, number>();
  /** The different values by their codes; undefined for events that have none. */
  readonly values: unknown[] = [];
  size = 0;
  bytes = FIRST_SIZE * Uint32Array.BYTES_PER_ELEMENT;

  /** By the place of an event the code of its value. */
  get codes(): Uint32Array {
    return this.#codes;
  }

  add(value: unknown): void {
    if (this.size === this.#codes.length) {
      this.bytes += this.#codes.byteLength;
      const codes = new Uint32Array(2 * this.size);
      codes.set(this.#codes);
      this.#codes = codes;
    }
    this.#codes[this.size++] = this.#codeOf(value);
  }

  has(place: number): boolean {
    return (this.values[this.#codes[place]!] ?? null) !== null;
  }

  #codeOf(value: unknown): number {
    const key =
      typeof value === "string" ? `"${value}` : value !== null && typeof value === "object" ? keyOf(value) : value;
    let code = this.#byKey.get(key);
    if (code === undefined) {
      code = this.values.push(value) - 1;
      this.#byKey.set(key, code);
      // Objects take several times the text of their key.
      const textBytes = typeof key !== "string" ? 0 : typeof value === "string" ? 2 * key.length : 6 * key.length;
      this.bytes += VALUE_BYTES + textBytes;
    }
    return code;
  }
}

/** Numbers, and the few values that are none. */
export class NumberColumn implements MemtableColumn {
  #numbers = new Float64Array(FIRST_SIZE);
  /** By the place of an event a value that is neither a number nor null; its number is NaN. */
  readonly others = new Map<number, unknown>();
  size = 0;
  bytes = FIRST_SIZE * Float64Array.BYTES_PER_ELEMENT;

  /** By the place of an event its number; NaN if it has none. */
  get numbers(): Float64Array {
    return this.#numbers;
  }

  add(value: unknown): void {
    if (this.size === this.#numbers.length) {
      this.bytes += this.#numbers.byteLength;
      const numbers = new Float64Array(2 * this.size);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
    }
    if (typeof value !== "number" && value !== undefined && value !== null) {
      this.others.set(this.size, value);
      this.bytes += VALUE_BYTES + (typeof value === "boolean" ? 0 : 6 * keyOf(value).length);
    }
    this.#numbers[this.size++] = typeof value === "number" ? value : Number.NaN;
  }

  has(place: number): boolean {
    return !Number.isNaN(this.#numbers[place]!) || this.others.has(place);
  }
}
