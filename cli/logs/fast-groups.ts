import { POINT } from "../../grammar/json-bytes.ts";
import {
  type Accumulator,
  accumulator,
  aggregatesOf,
  type Cell,
  type Column,
  type FunctionKind,
  factsOf,
  functionOf,
  groupsOf,
  type PackedState,
  Packing,
  type Pipe,
  type Pipeline,
  target,
} from "../../grammar/query/index.ts";
import { ByteGroups, byGroup, type PackedByteGroups, readGroupKey, TOO_LONG } from "./byte-groups.ts";
import type { Wanted } from "./line-scan.ts";
import {
  isAlwaysField,
  isLevelText,
  ShapedLines,
  type SoughtValue,
  TYPE_FALSE,
  TYPE_MISSING,
  TYPE_NUMBER,
  TYPE_TEXT,
  TYPE_TRUE,
} from "./shaped-lines.ts";

interface FastAggregate {
  readonly kind: FunctionKind;
  /** Which list of numbers it is of; -1 for `count()`. */
  readonly list: number;
}

interface FastPipe {
  readonly by: readonly SoughtValue[];
  /** The fields whose numbers are collected. */
  readonly numbers: readonly SoughtValue[];
  readonly aggregates: readonly FastAggregate[];
}

/**
 * Groups lines by the bytes of their values, without an entry, a text or an object for a line: for stages that count, or take
 * numbers, of all entries. Lines with anything unusual are left to the stages themselves; the result is the same.
 */
class FastGroups {
  readonly #stage: FastPipe;
  readonly #lines: ShapedLines;
  readonly #values: Float64Array;
  #groups: ByteGroups;

  constructor(pipe: FastPipe) {
    this.#stage = pipe;
    this.#lines = new ShapedLines([...pipe.by, ...pipe.numbers]);
    this.#values = new Float64Array(pipe.numbers.length);
    this.#groups = this.#newGroups();
  }

  #newGroups(): ByteGroups {
    return new ByteGroups(this.#stage.by.length, this.#stage.numbers.length);
  }

  /** Takes the line at `at` and returns the position of its LF; -1 if it is left to the stages. */
  take(bytes: Uint8Array, at: number): number {
    const lines = this.#lines;
    const end = lines.read(bytes, at);
    if (end < 0 || !this.#isUsual(bytes)) return -1;
    const group = this.#groups.add(bytes, lines);
    if (group === TOO_LONG) return -1;
    const { by, numbers } = this.#stage;
    for (let list = 0; list < numbers.length; list++)
      if (lines.types[by.length + list] === TYPE_NUMBER) this.#groups.addNumber(list, group, this.#values[list]!);
    return end;
  }

  /** Whether equal values have equal bytes, and numbers are read exactly. */
  #isUsual(bytes: Uint8Array): boolean {
    const { types, starts, ends } = this.#lines;
    const { by, numbers } = this.#stage;
    for (let part = 0; part < by.length; part++) {
      const [start, end] = [starts[part]!, ends[part]!];
      if (types[part] === TYPE_TEXT) {
        if (by[part]!.at === "level" ? !isLevelText(bytes, start, end) : !isAscii(bytes, start, end)) return false;
      } else if (types[part] === TYPE_NUMBER && !isShortest(bytes, start, end)) return false;
    }
    for (let list = 0; list < numbers.length; list++) {
      const part = by.length + list;
      if (types[part] === TYPE_MISSING) continue;
      if (types[part] !== TYPE_NUMBER) return false;
      const value = numberOf(bytes, starts[part]!, ends[part]!);
      if (Number.isNaN(value)) return false;
      this.#values[list] = value;
    }
    return true;
  }

  get bytes(): number {
    return this.#groups.bytes;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** Returns the groups that were collected, and forgets them. */
  takeGroups(): PackedByteGroups {
    const packed = this.#groups.pack();
    this.#groups = this.#newGroups();
    return packed;
  }

  merge(packed: PackedByteGroups): void {
    this.#groups.merge(packed);
  }

  /** A row for each group; undefined if it takes a run of the stages to say more than the values. */
  rows(): Cell[][] | undefined {
    const { keys, keyEnds, counts, numbers } = this.#groups.pack();
    const { by, aggregates } = this.#stage;
    // Without groups there is always one row.
    if (by.length === 0) return undefined;
    const sorted = numbers.map((list) => byGroup(list, keyEnds.length));
    const texts = Buffer.from(keys.buffer, keys.byteOffset, keys.length);
    const rows: Cell[][] = [];
    let row: Cell[] = [];
    const addCell = (type: number, start: number, end: number) => row.push(cellOf(texts, type, start, end));
    for (let group = 0, start = 0; group < keyEnds.length; group++) {
      row = [];
      readGroupKey(keys, start, keyEnds[group]!, addCell);
      start = keyEnds[group]!;
      for (const { kind, list } of aggregates) {
        const values = sorted[list];
        if (values === undefined) row.push(counts[group]!);
        else {
          const of = collected(kind, values, group);
          if (of.isEstimate) return undefined;
          row.push(of.result(0));
        }
      }
      rows.push(row);
    }
    return rows;
  }

  /** Returns the groups that were collected as a run of the stages packs them, and forgets them. */
  takePacked(): PackedState {
    const { keys, keyEnds, counts, numbers } = this.takeGroups();
    const { aggregates } = this.#stage;
    const sorted = numbers.map((list) => byGroup(list, keyEnds.length));
    const texts = Buffer.from(keys.buffer, keys.byteOffset, keys.length);
    const packing = new Packing();
    // No times were read.
    packing.number(Number.POSITIVE_INFINITY);
    packing.number(Number.NEGATIVE_INFINITY);
    packing.number(keyEnds.length);
    for (let group = 0, start = 0; group < keyEnds.length; group++) {
      readGroupKey(keys, start, keyEnds[group]!, (...cell) => packing.value(cellOf(texts, ...cell)));
      start = keyEnds[group]!;
      for (const { kind, list } of aggregates) {
        const values = sorted[list];
        if (values === undefined) packing.number(counts[group]!);
        else collected(kind, values, group).pack(packing);
      }
    }
    return packing.packed();
  }
}

function collected(kind: FunctionKind, { starts, values }: ReturnType<typeof byGroup>, group: number): Accumulator {
  const of = accumulator(kind, true);
  for (let at = starts[group]!; at < starts[group + 1]!; at++) of.add(values[at], 0);
  return of;
}

function cellOf(keys: Buffer, type: number, start: number, end: number): Cell {
  if (type === TYPE_MISSING) return null;
  if (type === TYPE_TRUE) return true;
  if (type === TYPE_FALSE) return false;
  const text = keys.toString("latin1", start, end);
  return type === TYPE_NUMBER ? Number(text) : text;
}

/** Undefined if lines have to be read in the general way. */
export function fastGroups(wanted: Wanted, pipeline: Pipeline): FastGroups | undefined {
  if (wanted.query.expr !== undefined || wanted.sinceMs !== undefined || wanted.untilMs !== undefined) return undefined;
  const pipe = fastPipe(pipeline.pipes[0]);
  return pipe && new FastGroups(pipe);
}

const OF_NUMBERS: ReadonlySet<string> = new Set(["sum", "avg", "min", "max", "pNN"]);

function fastPipe(pipe: Pipe | undefined): FastPipe | undefined {
  if (pipe === undefined || factsOf(pipe).gives !== "groups") return undefined;
  const numbers: SoughtValue[] = [];
  const aggregates: FastAggregate[] = [];
  for (const { call } of aggregatesOf(pipe)) {
    const kind = functionOf(call.name)!;
    if (call.argument === undefined) {
      if (kind.name !== "count") return undefined;
      aggregates.push({ kind, list: -1 });
      continue;
    }
    const of = soughtValue(call.argument);
    if (of?.at !== "fields" || !OF_NUMBERS.has(kind.name)) return undefined;
    const index = numbers.findIndex((one) => isSame(one, of));
    aggregates.push({ kind, list: index < 0 ? numbers.push(of) - 1 : index });
  }
  if (aggregates.length === 0) aggregates.push({ kind: { name: "count", percent: 0 }, list: -1 });
  const by = groupsOf(pipe)!.map(soughtValue);
  const all = [...by, ...numbers];
  // A value of a line is read for one purpose.
  if (all.some((one, at) => one === undefined || all.slice(0, at).some((other) => isSame(one, other))))
    return undefined;
  return { by: by as SoughtValue[], numbers, aggregates };
}

function soughtValue(column: Column): SoughtValue | undefined {
  const place = target(column);
  if (place.at === "entry") return place.name === "level" ? { at: "level" } : undefined;
  const path = place.path.filter((key) => typeof key === "string");
  return path.length === place.path.length && isAlwaysField(path[0]!) ? { at: "fields", path } : undefined;
}

const isSame = (a: SoughtValue | undefined, b: SoughtValue | undefined) => JSON.stringify(a) === JSON.stringify(b);

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let all = 0;
  for (let at = start; at < end; at++) all |= bytes[at]!;
  return all < 0x80;
}

/** So many digits are the same number only if they are the same digits. */
const EXACT_DIGITS = 15;

/** Whether no other text of the same form is the same number: no exponent, no zeros after a fraction, no -0. */
function isShortest(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > EXACT_DIGITS || bytes[start] === 0x2d) return false;
  let hasPoint = false;
  for (let at = start; at < end; at++) {
    if (bytes[at] === POINT) hasPoint = true;
    else if (bytes[at]! > 0x39 || bytes[at]! < 0x30) return false;
  }
  return !hasPoint || bytes[end - 1] !== 0x30;
}

/** A number of up to 15 digits without an exponent, which a division gives exactly rounded; NaN for all others. */
function numberOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > EXACT_DIGITS) return Number.NaN;
  let digits = 0;
  let divisor = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === POINT) divisor = 1;
    else if (byte > 0x39 || byte < 0x30) return Number.NaN;
    else {
      digits = digits * 10 + byte - 0x30;
      divisor *= 10;
    }
  }
  return divisor === 0 ? digits : digits / divisor;
}
