import {
  addToSum,
  type Cell,
  combinations,
  keyOf,
  mergeSums,
  readOfField,
} from "../../../../../grammar/query/index.ts";
import { type MemtableColumn, NumberColumn, type ValueColumn } from "../../../memtable-columns.ts";
import { type Event, tooMuch } from "../../../store.ts";
import { type AggregateInput, type GroupPlan, hasPositions, needsValues } from "./plan.ts";
import { NO_NUMBERS, type SummaryNumbers, type SummaryRow } from "./summarized.ts";

/** Whether a row for each group is enough: no function needs the places of events. */
export const needsGroupsOnly = (plan: GroupPlan): boolean => !hasPositions(plan);

/** With the text for SQL some hundred bytes each. */
const MOST_GROUPS = 500_000;
/** Numbers of percentiles, 8 bytes each; and of each group the different values, of which a set holds some 30. */
const MOST_NUMBERS = 4_000_000;
const MOST_DIFFERENT = 1_000_000;

/** In place of the number of a value. */
const [UNKNOWN, SEVERAL] = [-1, -2] as const;

/** A group of events, and what is known of it. */
export interface Group {
  readonly cells: readonly Cell[];
  events: number;
  readonly inputs: readonly Numbers[];
}

/** A group with the values that percentiles and distinct values need. */
export interface GroupValues {
  readonly cells: readonly Cell[];
  readonly events: number;
  /** For each input its numbers or its different values; for `presence` how many there are. */
  readonly values: readonly (readonly Cell[] | number)[];
  /** For each input of numbers: values that are none. */
  readonly leftOut: readonly number[];
}

export interface MemoryAdder {
  add(place: number, step: number): void;
  finish(): void;
}

interface Input {
  readonly read: (event: Event) => unknown;
  readonly use: AggregateInput["use"];
  /** For `key`: the different values of all groups. */
  readonly dictionary: Dictionary;
}

/**
 * Adds up events that are looked at one by one, in a row for each group. SQL gets these rows, and not the different values of
 * a million events; or none, if there are no other events.
 */
export class MemoryGroups {
  readonly #by: readonly ((event: Event) => unknown)[];
  readonly #inputs: readonly Input[];
  readonly #stepOf: ((event: Event) => number) | undefined;
  readonly #keepsNumbers: boolean;
  readonly #groups = new Tree<Group>();
  readonly #all: Group[] = [];
  #numbers = 0;
  #different = 0;

  /** `stepOf` gives the number of the step of time that an event is in. */
  constructor(plan: GroupPlan, stepOf: ((event: Event) => number) | undefined) {
    const { by, inputs } = plan;
    this.#by = by.map(readOfField);
    this.#inputs = inputs.map(({ column, use }) => ({ read: readOfField(column), use, dictionary: new Dictionary() }));
    this.#stepOf = stepOf;
    this.#keepsNumbers = needsValues(plan);
  }

  get groups(): readonly Group[] {
    return this.#all;
  }

  add(event: Event): void {
    const values = this.#by.map((read) => read(event) ?? null);
    const step = this.#stepOf === undefined ? [] : [this.#stepOf(event)];
    const rows = values.some(Array.isArray) ? combinations(values) : [values as Cell[]];
    for (const cells of rows) this.#addTo(this.#groupOf([...step, ...cells]), event);
  }

  /**
   * Adds events by their columns: `add` takes an event's place, and the number of its step of time. They are added up by the
   * codes of their values, and are in the groups once `finish` has been called.
   */
  adder(by: readonly ValueColumn[], inputs: readonly MemtableColumn[]): MemoryAdder {
    const hasSteps = this.#stepOf !== undefined;
    const [only] = by;
    const isByCode = only !== undefined && by.length === 1 && !hasSteps;
    // By a list of codes, or by the only code, its place in what follows.
    const slots = new Tree<number>();
    const codesOf: (readonly number[])[] = [];
    const events = isByCode ? new Array<number>(only.values.length).fill(0) : [];
    const adds = inputs.map((column, at) => this.#inputAdder(column, at));
    const sums = inputs.map((): (Numbers | undefined)[] => []);
    const slotOf = (place: number, step: number): number => {
      const codes = hasSteps ? [step] : [];
      for (let at = 0; at < by.length; at++) codes.push(by[at]!.codes[place]!);
      const slot = slots.get(codes);
      if (slot !== undefined) return slot;
      codesOf.push(codes);
      if (codesOf.length > MOST_GROUPS) throw tooMuch();
      return slots.set(codes, events.push(0) - 1);
    };
    return {
      add: (place, step) => {
        const slot = isByCode ? only.codes[place]! : slotOf(place, step);
        events[slot]!++;
        for (let at = 0; at < adds.length; at++) {
          const ofInput = sums[at]!;
          ofInput[slot] ??= new Numbers();
          adds[at]!(ofInput[slot], place);
        }
      },
      finish: () => {
        for (let slot = 0; slot < events.length; slot++) {
          if (events[slot] === 0) continue;
          const codes = isByCode ? [slot] : codesOf[slot]!;
          const steps = hasSteps ? codes.slice(0, 1) : [];
          const values = by.map(({ values }, at) => values[codes[steps.length + at]!] ?? null);
          const rows = values.some(Array.isArray) ? combinations(values) : [values as Cell[]];
          for (const cells of rows) {
            const group = this.#groupOf([...steps, ...cells]);
            group.events += events[slot]!;
            for (let at = 0; at < sums.length; at++) {
              const other = sums[at]![slot]!;
              mergeNumbers(group.inputs[at]!, other, rows.length === 1);
              if (rows.length > 1) this.#count(other.numbers?.length ?? 0, other.different?.size ?? 0);
            }
          }
        }
      },
    };
  }

  #inputAdder(column: MemtableColumn, at: number): (sums: Numbers, place: number) => void {
    const { use, dictionary } = this.#inputs[at]!;
    if (use === "key") {
      const { codes, values } = column as ValueColumn;
      // Most values are no lists, and have one number.
      const ids = new Int32Array(values.length).fill(UNKNOWN);
      const lists = new Map<number, readonly number[]>();
      // The values of a column differ, but the elements of a list may be values, too.
      let isNew = dictionary.cells.length === 0;
      return (sums, place) => {
        const code = codes[place]!;
        if (ids[code] === UNKNOWN) {
          const value = values[code];
          isNew &&= !Array.isArray(value);
          const all = isNew ? dictionary.idsOfNew(value) : dictionary.idsOf(value);
          ids[code] = all.length === 1 ? all[0]! : SEVERAL;
          if (all.length !== 1) lists.set(code, all);
        }
        if (ids[code] !== SEVERAL) this.#addDifferent(sums, ids[code]!);
        else for (const id of lists.get(code)!) this.#addDifferent(sums, id);
      };
    }
    if (column instanceof NumberColumn && use === "number") {
      const { numbers, others } = column;
      return (sums, place) => {
        const number = numbers[place]!;
        if (!Number.isNaN(number)) this.#addNumber(sums, number);
        else if (others.has(place)) this.#addElements(sums, others.get(place));
      };
    }
    return (sums, place) => {
      if (column.has(place)) sums.count++;
    };
  }

  /** Adds what a summary tells of a group. */
  addSummary({ cells, events, inputs }: SummaryRow): void {
    const group = this.#groupOf(cells);
    group.events += events;
    for (const [at, numbers] of inputs.entries()) addNumbers(group.inputs[at]!, numbers);
  }

  /** The groups without their values. */
  rows(): SummaryRow[] {
    return this.#all.flatMap((group) => rowsOf(group));
  }

  /** The groups with their values. */
  valueRows(): GroupValues[] {
    return this.#all.map(({ cells, events, inputs }) => ({
      cells,
      events,
      values: inputs.map(({ count, numbers, different }, at) => {
        const { use, dictionary } = this.#inputs[at]!;
        if (use === "presence") return count;
        return use === "key" ? Array.from(different ?? [], (id) => dictionary.cells[id]) : (numbers ?? []);
      }),
      leftOut: inputs.map(({ leftOut }) => leftOut),
    }));
  }

  #addTo(group: Group, event: Event): void {
    group.events++;
    for (const [at, { read, use, dictionary }] of this.#inputs.entries()) {
      const value = read(event);
      if (value === undefined || value === null) continue;
      const sums = group.inputs[at]!;
      if (use === "number") this.#addElements(sums, value);
      else if (use === "key") for (const id of dictionary.idsOf(value)) this.#addDifferent(sums, id);
      else sums.count++;
    }
  }

  #addNumber(sums: Numbers, value: number): void {
    addNumber(sums, value);
    if (!this.#keepsNumbers) return;
    sums.numbers ??= [];
    sums.numbers.push(value);
    this.#count(1, 0);
  }

  /** The numbers in lists count; other values are left out. */
  #addElements(sums: Numbers, value: unknown): void {
    if (typeof value === "number") this.#addNumber(sums, value);
    else if (Array.isArray(value)) for (const element of value) this.#addElements(sums, element);
    else if (value !== null && value !== undefined) sums.leftOut++;
  }

  #addDifferent(sums: Numbers, id: number): void {
    sums.different ??= new Set();
    const { size } = sums.different;
    sums.different.add(id);
    if (sums.different.size > size) this.#count(0, 1);
  }

  #count(numbers: number, different: number): void {
    this.#numbers += numbers;
    this.#different += different;
    if (this.#numbers > MOST_NUMBERS || this.#different > MOST_DIFFERENT) throw tooMuch();
  }

  #groupOf(cells: readonly Cell[]): Group {
    const keys = cells.map(mapKey);
    const existing = this.#groups.get(keys);
    if (existing !== undefined) return existing;
    const group = { cells, events: 0, inputs: this.#inputs.map(() => new Numbers()) };
    this.#all.push(group);
    if (this.#all.length > MOST_GROUPS) throw tooMuch();
    return this.#groups.set(keys, group);
  }
}

/** Values by lists of keys that are all of one length. */
class Tree<Value> {
  readonly #root = new Map<unknown, unknown>();

  get(keys: readonly unknown[]): Value | undefined {
    let node = this.#root;
    for (let at = 0; at + 1 < keys.length; at++) {
      const next = node.get(keys[at]) as Map<unknown, unknown> | undefined;
      if (next === undefined) return undefined;
      node = next;
    }
    return node.get(keys.at(-1)) as Value | undefined;
  }

  set(keys: readonly unknown[], value: Value): Value {
    let node = this.#root;
    for (let at = 0; at + 1 < keys.length; at++) {
      let next = node.get(keys[at]) as Map<unknown, unknown> | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(keys[at], next);
      }
      node = next;
    }
    node.set(keys.at(-1), value);
    return value;
  }
}

/** Numbers for values, the same for equal ones. */
class Dictionary {
  /** The ids of the first cells: those of others are entered when they are needed. */
  readonly #ids = new Map<unknown, number>();
  readonly cells: Cell[] = [];
  #keyed = 0;

  /** Those of a value that has none yet and is no list. */
  idsOfNew(value: unknown): readonly number[] {
    return value === undefined || value === null ? [] : [this.cells.push(value) - 1];
  }

  /** Those of a value, or of the elements of a list. */
  idsOf(value: unknown): readonly number[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) return [this.#idOf(value)];
    const elements = value.flat(Number.POSITIVE_INFINITY) as unknown[];
    return elements.filter((element) => element !== null && element !== undefined).map((one) => this.#idOf(one));
  }

  #idOf(cell: Cell): number {
    for (; this.#keyed < this.cells.length; this.#keyed++) this.#ids.set(mapKey(this.cells[this.#keyed]), this.#keyed);
    const key = mapKey(cell);
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.cells.push(cell) - 1;
      this.#ids.set(key, id);
      this.#keyed = this.cells.length;
    }
    return id;
  }
}

/** Scalars are their own keys; 0 and -0 are one. Objects with the same members are the same. */
function mapKey(cell: Cell): unknown {
  return typeof cell === "object" && cell !== null ? `{${keyOf(cell)}` : typeof cell === "string" ? `"${cell}` : cell;
}

export class Numbers {
  count = 0;
  /** See ExactSum. */
  sum = 0;
  lost = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  leftOut = 0;
  /** All of them, where they are needed. */
  numbers: number[] | undefined;
  /** The different values by their numbers in the dictionary of the input. */
  different: Set<number> | undefined;
}

function addNumber(numbers: Numbers, value: number): void {
  addToSum(numbers, value);
  numbers.count++;
  if (value < numbers.min) numbers.min = value;
  if (value > numbers.max) numbers.max = value;
}

/** `isOwn`: the values need not be copied. Those of an event of several groups are in each. */
function mergeNumbers(numbers: Numbers, other: Numbers, isOwn: boolean): void {
  const { count, sum, lost, min, max, leftOut } = other;
  addNumbers(numbers, { count, sum, lost, min, max, leftOut });
  if (other.numbers !== undefined) {
    if (numbers.numbers === undefined) numbers.numbers = isOwn ? other.numbers : [...other.numbers];
    else for (const number of other.numbers) numbers.numbers.push(number);
  }
  if (other.different !== undefined) {
    if (numbers.different === undefined) numbers.different = isOwn ? other.different : new Set(other.different);
    else for (const id of other.different) numbers.different.add(id);
  }
}

function addNumbers(numbers: Numbers, { count, sum, lost, min, max, leftOut }: SummaryNumbers): void {
  numbers.count += count;
  numbers.leftOut += leftOut;
  if (sum !== null) mergeSums(numbers, { sum, lost });
  if (min !== null && min < numbers.min) numbers.min = min;
  if (max !== null && max > numbers.max) numbers.max = max;
}

/** JSON has no infinity: a sum that is too large is two rows that come to one. */
function rowsOf({ cells, events, inputs }: Group): SummaryRow[] {
  const row = { cells, events, inputs: inputs.map(numbersOf) };
  if (inputs.every(({ sum }) => Number.isFinite(sum))) return [row];
  return [row, { cells, events: 0, inputs: inputs.map(excessOf) }];
}

function numbersOf({ count, sum, lost, min, max, leftOut }: Numbers): SummaryNumbers {
  if (count === 0) return { ...NO_NUMBERS, leftOut };
  return { count, ...(Number.isFinite(sum) ? { sum, lost } : { sum: greatest(sum), lost: 0 }), min, max, leftOut };
}

const excessOf = ({ sum }: Numbers): SummaryNumbers =>
  Number.isFinite(sum) ? NO_NUMBERS : { ...NO_NUMBERS, sum: greatest(sum) };

const greatest = (sum: number) => Math.sign(sum) * Number.MAX_VALUE;
