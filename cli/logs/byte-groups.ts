import { TYPE_MISSING } from "./shaped-lines.ts";

/** The values of a line that make its group: the type of each, and where its bytes are. */
export interface KeyParts {
  readonly types: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Groups as plain data, for another thread. */
export interface PackedByteGroups {
  readonly keys: Uint8Array<ArrayBuffer>;
  readonly keyEnds: Int32Array;
  readonly hashes: Int32Array;
  readonly counts: Float64Array;
  readonly numbers: readonly GroupNumbers[];
}

/** Numbers in the order in which they came, each with its group. */
export interface GroupNumbers {
  readonly groups: Int32Array;
  readonly values: Float64Array;
}

/** A key has its values one after another: the type, the length in two bytes, and the bytes. */
const KEY_HEAD_BYTES = 3;
const MAX_VALUE_BYTES = 0xffff;

/** Returned in place of a group for a value too long for a key. */
export const TOO_LONG = -1;

/**
 * Groups of lines by the bytes of some values: how many lines each has, and the numbers of each. A hash table without an object
 * or a text for each group, since most groups of a large log have one or two lines.
 */
export class ByteGroups {
  size = 0;
  readonly #keyParts: number;
  readonly #numbers: NumberLog[];
  #keys = new Uint8Array(64 * 1024);
  #keyEnds = new Int32Array(1024);
  #hashes = new Int32Array(1024);
  #counts = new Float64Array(1024);
  /** Open addressing; a place holds a group and 1, or 0. */
  #table = new Int32Array(4096);

  /** Each key has the first `keyParts` values of a line; `numberCount` is how many lists of numbers there are. */
  constructor(keyParts: number, numberCount: number) {
    this.#keyParts = keyParts;
    this.#numbers = Array.from({ length: numberCount }, () => new NumberLog());
  }

  /** About how many bytes it holds. */
  get bytes(): number {
    const numbers = this.#numbers.reduce((sum, { length }) => sum + length * 12, 0);
    return this.#keyBytes + this.size * 24 + numbers;
  }

  get #keyBytes(): number {
    return this.size === 0 ? 0 : this.#keyEnds[this.size - 1]!;
  }

  /** Counts a line and returns its group. */
  add(bytes: Uint8Array, parts: KeyParts): number {
    const { types, starts, ends } = parts;
    let hash = 0;
    for (let part = 0; part < this.#keyParts; part++) {
      hash = Math.imul(hash ^ types[part]!, PRIME);
      if (types[part] === TYPE_MISSING) continue;
      const end = ends[part]!;
      if (end - starts[part]! > MAX_VALUE_BYTES) return TOO_LONG;
      for (let at = starts[part]!; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, PRIME);
    }
    hash ^= hash >>> 15;
    const mask = this.#table.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const group = this.#table[place]! - 1;
      if (group < 0) return this.#addNew(bytes, parts, hash);
      if (this.#hashes[group] === hash && this.#isKey(group, bytes, parts)) {
        this.#counts[group]!++;
        return group;
      }
    }
  }

  /** A number of a line in the group. */
  addNumber(list: number, group: number, value: number): void {
    this.#numbers[list]!.add(group, value);
  }

  #isKey(group: number, bytes: Uint8Array, { types, starts, ends }: KeyParts): boolean {
    const keys = this.#keys;
    let at = group === 0 ? 0 : this.#keyEnds[group - 1]!;
    for (let part = 0; part < this.#keyParts; part++) {
      if (keys[at] !== types[part]) return false;
      const start = types[part] === TYPE_MISSING ? 0 : starts[part]!;
      const length = types[part] === TYPE_MISSING ? 0 : ends[part]! - start;
      if (((keys[at + 1]! << 8) | keys[at + 2]!) !== length) return false;
      at += KEY_HEAD_BYTES;
      for (let i = 0; i < length; i++) if (keys[at + i] !== bytes[start + i]) return false;
      at += length;
    }
    return true;
  }

  #addNew(bytes: Uint8Array, { types, starts, ends }: KeyParts, hash: number): number {
    let at = this.#keyBytes;
    for (let part = 0; part < this.#keyParts; part++) {
      const start = types[part] === TYPE_MISSING ? 0 : starts[part]!;
      const length = types[part] === TYPE_MISSING ? 0 : ends[part]! - start;
      if (at + KEY_HEAD_BYTES + length > this.#keys.length) this.#growKeys(KEY_HEAD_BYTES + length);
      const keys = this.#keys;
      keys[at] = types[part]!;
      keys[at + 1] = length >> 8;
      keys[at + 2] = length;
      at += KEY_HEAD_BYTES;
      for (let i = 0; i < length; i++) keys[at + i] = bytes[start + i]!;
      at += length;
    }
    return this.#insert(at, hash, 1);
  }

  /** Makes a group of the key that was written after the others and ends at `keyEnd`. */
  #insert(keyEnd: number, hash: number, count: number): number {
    if (this.size === this.#keyEnds.length) this.#growGroups();
    const group = this.size++;
    this.#keyEnds[group] = keyEnd;
    this.#hashes[group] = hash;
    this.#counts[group] = count;
    if (2 * this.size > this.#table.length) this.#growTable();
    else this.#place(group);
    return group;
  }

  #place(group: number): void {
    const mask = this.#table.length - 1;
    let place = this.#hashes[group]! & mask;
    while (this.#table[place] !== 0) place = (place + 1) & mask;
    this.#table[place] = group + 1;
  }

  #growKeys(byteCount: number): void {
    const larger = new Uint8Array(2 * this.#keys.length + byteCount);
    larger.set(this.#keys);
    this.#keys = larger;
  }

  #growGroups(): void {
    const length = 2 * this.size;
    const [keyEnds, hashes, counts] = [this.#keyEnds, this.#hashes, this.#counts];
    this.#keyEnds = new Int32Array(length);
    this.#keyEnds.set(keyEnds);
    this.#hashes = new Int32Array(length);
    this.#hashes.set(hashes);
    this.#counts = new Float64Array(length);
    this.#counts.set(counts);
  }

  #growTable(): void {
    this.#table = new Int32Array(4 * this.#table.length);
    for (let group = 0; group < this.size; group++) this.#place(group);
  }

  pack(): PackedByteGroups {
    return {
      keys: this.#keys.slice(0, this.#keyBytes),
      keyEnds: this.#keyEnds.slice(0, this.size),
      hashes: this.#hashes.slice(0, this.size),
      counts: this.#counts.slice(0, this.size),
      numbers: this.#numbers.map((numbers) => numbers.pack()),
    };
  }

  /** Adds the groups of another one with keys of as many values. */
  merge({ keys, keyEnds, hashes, counts, numbers }: PackedByteGroups): void {
    const mine = new Int32Array(keyEnds.length);
    for (let group = 0, start = 0; group < keyEnds.length; group++) {
      const end = keyEnds[group]!;
      mine[group] = this.#mergeGroup(keys.subarray(start, end), hashes[group]!, counts[group]!);
      start = end;
    }
    for (const [list, { groups, values }] of numbers.entries())
      for (let at = 0; at < groups.length; at++) this.addNumber(list, mine[groups[at]!]!, values[at]!);
  }

  #mergeGroup(key: Uint8Array, hash: number, count: number): number {
    const mask = this.#table.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const group = this.#table[place]! - 1;
      if (group < 0) break;
      if (this.#hashes[group] !== hash || !this.#isSameKey(group, key)) continue;
      this.#counts[group]! += count;
      return group;
    }
    const start = this.#keyBytes;
    if (start + key.length > this.#keys.length) this.#growKeys(key.length);
    this.#keys.set(key, start);
    return this.#insert(start + key.length, hash, count);
  }

  #isSameKey(group: number, key: Uint8Array): boolean {
    const start = group === 0 ? 0 : this.#keyEnds[group - 1]!;
    if (this.#keyEnds[group]! - start !== key.length) return false;
    for (let at = 0; at < key.length; at++) if (this.#keys[start + at] !== key[at]) return false;
    return true;
  }
}

const PRIME = 0x01000193;

class NumberLog {
  length = 0;
  #groups = new Int32Array(1024);
  #values = new Float64Array(1024);

  add(group: number, value: number): void {
    if (this.length === this.#groups.length) this.#grow();
    this.#groups[this.length] = group;
    this.#values[this.length++] = value;
  }

  #grow(): void {
    const [groups, values] = [this.#groups, this.#values];
    this.#groups = new Int32Array(2 * this.length);
    this.#groups.set(groups);
    this.#values = new Float64Array(2 * this.length);
    this.#values.set(values);
  }

  pack(): GroupNumbers {
    return { groups: this.#groups.slice(0, this.length), values: this.#values.slice(0, this.length) };
  }
}

/** The numbers of each group together: those of a group begin at its place in `starts` and end where the next ones begin. */
export function byGroup({ groups, values }: GroupNumbers, groupCount: number) {
  const starts = new Int32Array(groupCount + 1);
  for (let at = 0; at < groups.length; at++) starts[groups[at]! + 1]!++;
  for (let group = 0; group < groupCount; group++) starts[group + 1]! += starts[group]!;
  const next = starts.slice(0, groupCount);
  const sorted = new Float64Array(values.length);
  for (let at = 0; at < groups.length; at++) sorted[next[groups[at]!]!++] = values[at]!;
  return { starts, values: sorted };
}

/** Called with each value of a key: its type, and where its bytes are. */
export function readGroupKey(
  keys: Uint8Array,
  start: number,
  end: number,
  read: (type: number, start: number, end: number) => void,
): void {
  for (let at = start; at < end; ) {
    const type = keys[at]!;
    const length = (keys[at + 1]! << 8) | keys[at + 2]!;
    at += KEY_HEAD_BYTES;
    read(type, at, at + length);
    at += length;
  }
}
