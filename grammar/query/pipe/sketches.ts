// Sketches stand for many values in bounded memory, once there are more than are kept.

import type { Packing, Unpacking } from "./packed.ts";

/** DDSketch (Masson, Rim and Lee, 2019): any percentile within `ACCURACY` of the value, whatever the values are. */
const ACCURACY = 0.005;
const GAMMA = (1 + ACCURACY) / (1 - ACCURACY);
const LOG_GAMMA = Math.log(GAMMA);

export class PercentileSketch {
  readonly #positive = new Map<number, number>();
  readonly #negative = new Map<number, number>();
  #zeros = 0;
  count = 0;

  add(value: number): void {
    this.count++;
    if (value === 0) this.#zeros++;
    else {
      const bins = value > 0 ? this.#positive : this.#negative;
      const bin = Math.ceil(Math.log(Math.abs(value)) / LOG_GAMMA);
      bins.set(bin, (bins.get(bin) ?? 0) + 1);
    }
  }

  merge(other: PercentileSketch): void {
    this.count += other.count;
    this.#zeros += other.#zeros;
    for (const [mine, theirs] of [
      [this.#positive, other.#positive],
      [this.#negative, other.#negative],
    ] as const)
      for (const [bin, count] of theirs) mine.set(bin, (mine.get(bin) ?? 0) + count);
  }

  pack(packing: Packing): void {
    packing.number(this.count);
    packing.number(this.#zeros);
    for (const bins of [this.#positive, this.#negative]) {
      packing.numbers([...bins.keys()]);
      packing.numbers([...bins.values()]);
    }
  }

  /** Into a new one. */
  unpack(packed: Unpacking): void {
    this.count = packed.number();
    this.#zeros = packed.number();
    for (const bins of [this.#positive, this.#negative]) {
      const [keys, counts] = [packed.numbers(), packed.numbers()];
      for (const [at, bin] of keys.entries()) bins.set(bin, counts[at]!);
    }
  }

  /** The value of a rank from 1 to `count`, within the accuracy. */
  at(rank: number): number {
    let left = rank;
    for (const bin of [...this.#negative.keys()].sort((a, b) => b - a)) {
      left -= this.#negative.get(bin)!;
      if (left <= 0) return -middleOf(bin);
    }
    left -= this.#zeros;
    if (left <= 0) return 0;
    for (const bin of [...this.#positive.keys()].sort((a, b) => a - b)) {
      left -= this.#positive.get(bin)!;
      if (left <= 0) return middleOf(bin);
    }
    throw new RangeError(`no value of rank ${rank} among ${this.count}`);
  }
}

const middleOf = (bin: number) => (2 * GAMMA ** bin) / (GAMMA + 1);

const REGISTER_BITS = 14;
const REGISTERS = 1 << REGISTER_BITS;

/** HyperLogLog (Flajolet and others, 2007) with 16,384 registers: a standard error of 0.8 %. */
export class DistinctSketch {
  readonly #registers = new Uint8Array(REGISTERS);

  add(text: string): void {
    const [high, low] = hash(text);
    const register = high >>> (32 - REGISTER_BITS);
    // The position of the first 1 in the other 50 bits.
    const rest = (high << REGISTER_BITS) | 0;
    const rank = rest !== 0 ? Math.clz32(rest) + 1 : 32 - REGISTER_BITS + Math.clz32(low) + 1;
    if (rank > this.#registers[register]!) this.#registers[register] = rank;
  }

  merge(other: DistinctSketch): void {
    for (let at = 0; at < REGISTERS; at++)
      if (other.#registers[at]! > this.#registers[at]!) this.#registers[at] = other.#registers[at]!;
  }

  pack(packing: Packing): void {
    packing.value(this.#registers);
  }

  unpack(packed: Unpacking): void {
    this.#registers.set(packed.value() as Uint8Array);
  }

  get count(): number {
    let sum = 0;
    let zeros = 0;
    for (const rank of this.#registers) {
      sum += 2 ** -rank;
      if (rank === 0) zeros++;
    }
    const estimate = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS * REGISTERS) / sum;
    // Few values leave registers empty, whose number says more.
    return Math.round(estimate <= 2.5 * REGISTERS && zeros > 0 ? REGISTERS * Math.log(REGISTERS / zeros) : estimate);
  }
}

/** 64 bits of a text, from two rounds of multiplication and mixing over its UTF-16 units. */
function hash(text: string): [high: number, low: number] {
  let a = 0x9e3779b9 ^ text.length;
  let b = 0x85ebca6b;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0xcc9e2d51);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0x1b873593);
    b ^= b >>> 13;
  }
  return [mix(a ^ Math.imul(b, 0x27d4eb2f)), mix(b ^ Math.imul(a, 0x165667b1))];
}

function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
