import type { FunctionKind } from "./functions.ts";
import type { Packing, Unpacking } from "./packed.ts";
import { DistinctSketch, PercentileSketch } from "./sketches.ts";
import { addToSum, type ExactSum, mergeSums, valueOfSum } from "./sums.ts";
import { type Cell, canonicalValue, keyOf } from "./values.ts";

/** The state of a function for the values of a group. */
export interface Accumulator {
  /**
   * A value of the argument, as the entry has it; undefined if it is missing, and for functions without one. `place` is
   * the entry's place in the input: the first has the least.
   */
  add(value: unknown, place: number): void;
  /** Adds the state of another one for the same group. */
  merge(other: this): void;
  /** All that it has seen, which `unpack` of a new one reads. */
  pack(packing: Packing): void;
  unpack(packed: Unpacking): void;
  /** `seconds` is the length of the period, or of the step, that `rate` divides by. */
  result(seconds: number): Cell;
  /** About how many bytes it holds beyond its first ones. */
  readonly bytes: number;
  /** Whether the result is an estimate. */
  readonly isEstimate?: boolean;
  /** Values that were left out as they are no numbers. */
  readonly leftOut?: number;
}

/** Up to so many values a group, percentiles and distinct counts are exact. */
const EXACT_VALUES = 100_000;

export function accumulator({ name, percent }: FunctionKind, hasArgument: boolean): Accumulator {
  switch (name) {
    case "count":
      return new Count(hasArgument);
    case "rate":
      return new Rate();
    case "sum":
      return new Sum();
    case "avg":
      return new Average();
    case "min":
      return new Extreme(-1);
    case "max":
      return new Extreme(1);
    case "pNN":
      return new Percentile(percent);
    case "distinct":
      return new Distinct();
    case "first":
      return new Outermost(-1);
    case "last":
      return new Outermost(1);
  }
}

class Count implements Accumulator {
  readonly bytes = 0;
  readonly #hasArgument: boolean;
  #count = 0;

  constructor(hasArgument: boolean) {
    this.#hasArgument = hasArgument;
  }

  add(value: unknown): void {
    if (!this.#hasArgument || (value !== undefined && value !== null)) this.#count++;
  }

  merge(other: Count): void {
    this.#count += other.#count;
  }

  pack(packing: Packing): void {
    packing.number(this.#count);
  }

  unpack(packed: Unpacking): void {
    this.#count = packed.number();
  }

  result(): number {
    return this.#count;
  }
}

class Rate implements Accumulator {
  readonly bytes = 0;
  #count = 0;

  add(): void {
    this.#count++;
  }

  merge(other: Rate): void {
    this.#count += other.#count;
  }

  pack(packing: Packing): void {
    packing.number(this.#count);
  }

  unpack(packed: Unpacking): void {
    this.#count = packed.number();
  }

  result(seconds: number): Cell {
    return seconds > 0 ? this.#count / seconds : null;
  }
}

/** Takes each number of a list, too; what is no number is counted, but for null, which counts as missing. */
abstract class OfNumbers implements Accumulator {
  leftOut = 0;
  get bytes(): number {
    return 0;
  }

  add(value: unknown): void {
    if (typeof value === "number") this.take(value);
    else if (Array.isArray(value)) {
      // Lists in lists are looked into, to any depth, without recursion.
      const lists: unknown[][] = [value];
      for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
        for (const element of list) {
          if (typeof element === "number") this.take(element);
          else if (Array.isArray(element)) lists.push(element);
          else if (element !== null && element !== undefined) this.leftOut++;
        }
      }
    } else if (value !== undefined && value !== null) this.leftOut++;
  }

  protected abstract take(value: number): void;
  protected abstract join(other: this): void;
  abstract result(): Cell;

  merge(other: this): void {
    this.leftOut += other.leftOut;
    this.join(other);
  }

  pack(packing: Packing): void {
    packing.number(this.leftOut);
  }

  unpack(packed: Unpacking): void {
    this.leftOut = packed.number();
  }
}

class Sum extends OfNumbers {
  readonly #sum: ExactSum = { sum: 0, lost: 0 };
  protected count = 0;

  protected take(value: number): void {
    this.count++;
    addToSum(this.#sum, value);
  }

  protected join(other: this): void {
    this.count += other.count;
    mergeSums(this.#sum, other.#sum);
  }

  override pack(packing: Packing): void {
    super.pack(packing);
    packing.number(this.count);
    packing.number(this.#sum.sum);
    packing.number(this.#sum.lost);
  }

  override unpack(packed: Unpacking): void {
    super.unpack(packed);
    this.count = packed.number();
    this.#sum.sum = packed.number();
    this.#sum.lost = packed.number();
  }

  protected get total(): number {
    return valueOfSum(this.#sum);
  }

  result(): Cell {
    return this.count === 0 ? null : numberOrNull(this.total);
  }
}

class Average extends Sum {
  override result(): Cell {
    return this.count === 0 ? null : numberOrNull(this.total / this.count);
  }
}

/** JSON has no infinities. */
const numberOrNull = (value: number) => (Number.isFinite(value) ? value : null);

/** The least (-1) or the greatest (1). */
class Extreme extends OfNumbers {
  readonly #side: number;
  #value: number | undefined;

  constructor(side: number) {
    super();
    this.#side = side;
  }

  protected take(value: number): void {
    if (this.#value === undefined || (value - this.#value) * this.#side > 0) this.#value = value === 0 ? 0 : value;
  }

  protected join(other: this): void {
    if (other.#value !== undefined) this.take(other.#value);
  }

  override pack(packing: Packing): void {
    super.pack(packing);
    packing.number(this.#value ?? Number.NaN);
  }

  override unpack(packed: Unpacking): void {
    super.unpack(packed);
    const value = packed.number();
    // JSON has no NaN.
    this.#value = Number.isNaN(value) ? undefined : value;
  }

  result(): Cell {
    return this.#value ?? null;
  }
}

/** The nearest rank: the least value that at least so many percent of the values do not exceed. */
class Percentile extends OfNumbers {
  readonly #percent: number;
  #values: number[] | undefined = [];
  #sketch: PercentileSketch | undefined;

  constructor(percent: number) {
    super();
    this.#percent = percent;
  }

  override get bytes(): number {
    return (this.#values?.length ?? 0) * 8;
  }

  get isEstimate(): boolean {
    return this.#sketch !== undefined;
  }

  protected take(value: number): void {
    if (this.#values === undefined) this.#sketch!.add(value);
    else {
      this.#values.push(value);
      if (this.#values.length > EXACT_VALUES) this.#toSketch();
    }
  }

  #toSketch(): PercentileSketch {
    if (this.#sketch === undefined) {
      this.#sketch = new PercentileSketch();
      for (const value of this.#values!) this.#sketch.add(value);
      this.#values = undefined;
    }
    return this.#sketch;
  }

  protected join(other: this): void {
    if (other.#values !== undefined) for (const value of other.#values) this.take(value);
    else this.#toSketch().merge(other.#sketch!);
  }

  override pack(packing: Packing): void {
    super.pack(packing);
    packing.numbers(this.#values ?? []);
    packing.number(this.#sketch === undefined ? 0 : 1);
    this.#sketch?.pack(packing);
  }

  override unpack(packed: Unpacking): void {
    super.unpack(packed);
    for (const value of packed.numbers()) this.take(value);
    if (packed.number() === 1) this.#toSketch().unpack(packed);
  }

  result(): Cell {
    const count = this.#values?.length ?? this.#sketch!.count;
    if (count === 0) return null;
    const rank = rankOf(this.#percent, count);
    if (this.#values === undefined) return this.#sketch!.at(rank);
    // A typed array is sorted faster, and takes longer to be made.
    const sorted =
      count <= FEW_VALUES ? [...this.#values].sort((a, b) => a - b) : Float64Array.from(this.#values).sort();
    const value = sorted[rank - 1]!;
    return value === 0 ? 0 : value;
  }
}

const FEW_VALUES = 32;

/** From 1 to `count`. Written so that 99.9 % of 1000 values is the rank 999, as in decimals, and not 1000. */
const rankOf = (percent: number, count: number) =>
  Math.min(count, Math.max(1, Math.ceil(Number(((percent * count) / 100).toPrecision(12)))));

class Distinct implements Accumulator {
  #values: Set<string> | undefined = new Set();
  #sketch: DistinctSketch | undefined;
  bytes = 0;

  get isEstimate(): boolean {
    return this.#sketch !== undefined;
  }

  add(value: unknown): void {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) {
      const lists: unknown[][] = [value];
      for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
        for (const element of list) {
          if (Array.isArray(element)) lists.push(element);
          else if (element !== null && element !== undefined) this.#addKey(keyOf(element));
        }
      }
    } else this.#addKey(keyOf(value));
  }

  #addKey(key: string): void {
    if (this.#values === undefined) {
      this.#sketch!.add(key);
      return;
    }
    const before = this.#values.size;
    if (this.#values.add(key).size === before) return;
    this.bytes += 2 * key.length + SET_ENTRY_BYTES;
    if (before + 1 > EXACT_VALUES) this.#toSketch();
  }

  #toSketch(): DistinctSketch {
    if (this.#sketch === undefined) {
      this.#sketch = new DistinctSketch();
      for (const key of this.#values!) this.#sketch.add(key);
      this.#values = undefined;
      this.bytes = SKETCH_BYTES;
    }
    return this.#sketch;
  }

  merge(other: Distinct): void {
    if (other.#values !== undefined) for (const key of other.#values) this.#addKey(key);
    else this.#toSketch().merge(other.#sketch!);
  }

  pack(packing: Packing): void {
    packing.number(this.#values?.size ?? NO_VALUES);
    for (const key of this.#values ?? []) packing.value(key);
    this.#sketch?.pack(packing);
  }

  unpack(packed: Unpacking): void {
    const size = packed.number();
    if (size === NO_VALUES) this.#toSketch().unpack(packed);
    for (let at = 0; at < size; at++) this.#addKey(packed.value() as string);
  }

  result(): Cell {
    return this.#values?.size ?? this.#sketch!.count;
  }
}

/** In place of their number, if there is a sketch of them. */
const NO_VALUES = -1;
const SET_ENTRY_BYTES = 40;
const SKETCH_BYTES = 16 * 1024;

/** The value of the entry with the least place (-1) that has one, or the greatest (1). */
class Outermost implements Accumulator {
  readonly #side: number;
  #value: unknown;
  #place = 0;

  constructor(side: number) {
    this.#side = side;
  }

  get bytes(): number {
    return typeof this.#value === "string" ? 2 * this.#value.length : 0;
  }

  add(value: unknown, place: number): void {
    if (value === undefined || value === null) return;
    if (this.#value !== undefined && (place - this.#place) * this.#side < 0) return;
    this.#value = value;
    this.#place = place;
  }

  merge(other: Outermost): void {
    this.add(other.#value, other.#place);
  }

  pack(packing: Packing): void {
    packing.number(this.#place);
    packing.value(this.#value);
  }

  unpack(packed: Unpacking): void {
    this.#place = packed.number();
    this.#value = packed.value();
  }

  result(): Cell {
    return canonicalValue(this.#value ?? null);
  }
}
