// The collected state of stages as plain data, for other threads: one list of numbers, and one of everything else. Both
// are read in the order in which they were written.

export interface PackedState {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly values: readonly unknown[];
}

const FIRST_NUMBERS = 1024;

export class Packing {
  #numbers = new Float64Array(FIRST_NUMBERS);
  #count = 0;
  readonly #values: unknown[] = [];

  number(value: number): void {
    if (this.#count === this.#numbers.length) this.#grow(1);
    this.#numbers[this.#count++] = value;
  }

  /** Their number first, for `Unpacking.numbers`. */
  numbers(values: ArrayLike<number>): void {
    if (this.#count + 1 + values.length > this.#numbers.length) this.#grow(1 + values.length);
    this.#numbers[this.#count] = values.length;
    this.#numbers.set(values, this.#count + 1);
    this.#count += 1 + values.length;
  }

  value(value: unknown): void {
    this.#values.push(value);
  }

  #grow(count: number): void {
    const larger = new Float64Array(Math.max(2 * this.#numbers.length, this.#count + count));
    larger.set(this.#numbers);
    this.#numbers = larger;
  }

  packed(): PackedState {
    return { numbers: this.#numbers.slice(0, this.#count), values: this.#values };
  }
}

export class Unpacking {
  readonly #packed: PackedState;
  #number = 0;
  #value = 0;

  constructor(packed: PackedState) {
    this.#packed = packed;
  }

  number(): number {
    return this.#packed.numbers[this.#number++]!;
  }

  numbers(): Float64Array {
    const start = this.#number + 1;
    const end = start + this.#packed.numbers[start - 1]!;
    this.#number = end;
    return this.#packed.numbers.subarray(start, end);
  }

  value(): unknown {
    return this.#packed.values[this.#value++];
  }
}
