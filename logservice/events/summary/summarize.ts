import { open } from "node:fs/promises";
import { LEVELS } from "../../../grammar/query/index.ts";
import { requireFile } from "../../data-file.ts";
import { MAX_FIELD_DEPTH } from "../field-paths.ts";
import { ByteTable, HASH_SEED, hashOf, nextHash } from "./byte-table.ts";
import {
  addEvent,
  addNumber,
  addValue,
  countValue,
  emptySummary,
  type FieldSummary,
  MAX_FIELDS,
  newField,
  type Summary,
} from "./summary.ts";

/** The result of a pass over a journal file for one project's events. */
export interface Summarized {
  readonly summary: Summary;
  /** Nanoseconds since 1970, as digits. */
  readonly first: string;
  readonly last: string;
}

/** One pass over a journal file: the summary of each project's events between two sequences. */
export async function summarizeJournal(
  path: string,
  ranges: readonly { readonly project: string; readonly first: number; readonly last: number }[],
): Promise<Summarized[]> {
  const all = ranges.map(({ project, first, last }) => ({ project, counts: new LineCounts(first, last) }));
  const counts = new Map<string, LineCounts[]>();
  for (const { project, counts: one } of all) counts.set(project, [...(counts.get(project) ?? []), one]);
  await requireFile(path);
  const handle = await open(path);
  try {
    let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
      const end = buffer.subarray(0, filled).lastIndexOf(LINE_END) + 1;
      countLines(counts, buffer.subarray(0, end));
      buffer.copyWithin(0, end, filled);
      filled -= end;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } finally {
    await handle.close();
  }
  return all.map(({ counts }) => counts.summarized);
}

// Lines are longer only where an event has nearly its largest size.
const CHUNK_BYTES = 1024 * 1024;

function countLines(counts: ReadonlyMap<string, readonly LineCounts[]>, lines: Buffer): void {
  for (let begin = 0; begin < lines.length; ) {
    const end = lines.indexOf(LINE_END, begin);
    // Other lines are frames.
    if (lines[begin + 2] === LETTER_Q) {
      const name = lines.indexOf(PROJECT, begin) + PROJECT.length;
      const own = counts.get(lines.toString("latin1", name, lines.indexOf(QUOTE, name))) ?? [];
      for (const one of own) one.add(lines, begin);
    }
    begin = end + 1;
  }
}

/**
 * The summary of events by their lines in the journal, which are JSON as JSON.stringify writes it: no value is parsed but
 * lists, no string is made but of what is new. The same as `addToSummary` of each event.
 */
export class LineCounts {
  readonly summary = emptySummary();
  readonly #firstSequence: number;
  readonly #lastSequence: number;
  readonly #root = newNode([]);
  /** Paths with a value. */
  #paths = 0;
  /** Severity of the event that is being counted. */
  #severity = 0;
  // Whole seconds and what is above: nanoseconds are more than a float64 holds.
  #first = { seconds: Number.POSITIVE_INFINITY, nanoseconds: 0 };
  #last = { seconds: Number.NEGATIVE_INFINITY, nanoseconds: 0 };

  /** Counts only events between two sequences. */
  constructor(first = 0, last = Number.POSITIVE_INFINITY) {
    this.#firstSequence = first;
    this.#lastSequence = last;
  }

  get summarized(): Summarized {
    const { summary } = this;
    const digits = ({ seconds, nanoseconds }: { seconds: number; nanoseconds: number }) =>
      summary.events === 0 ? "0" : String(BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds));
    return { summary, first: digits(this.#first), last: digits(this.#last) };
  }

  /** Counts the event whose line begins at `at`. Throws where it is none that `encodeBatch` wrote. */
  add(bytes: Buffer, at: number): void {
    let seconds = 0;
    this.#severity = 0;
    for (;;) {
      at++;
      const name = bytes[at + 1];
      at += '"x":'.length;
      if (name === LETTER_Q) {
        const end = endOfNumber(bytes, at);
        const sequence = integer(bytes, at, end);
        if (sequence < this.#firstSequence || sequence > this.#lastSequence) return;
        at = end;
      } else if (name === LETTER_T) {
        const end = endOfNumber(bytes, at);
        seconds = this.#addTime(bytes, at, end);
        at = end;
      } else if (name === LETTER_V) {
        // Before the fields.
        this.#severity = bytes[at]! - DIGIT_0;
        at++;
      } else if (name === LETTER_F) {
        at = bytes[at + 1] === OBJECT_END ? at + 2 : this.#object(bytes, at + 1, this.#root);
      } else at = skip(bytes, at);
      if (bytes[at] === OBJECT_END) break;
      if (bytes[at] !== COMMA) throw unreadable(at);
    }
    addEvent(this.summary, Math.floor(seconds / 60), this.#severity);
  }

  #addTime(bytes: Buffer, at: number, end: number): number {
    const isNegative = bytes[at] === MINUS;
    const begin = isNegative ? at + 1 : at;
    const split = Math.max(begin, end - 9);
    let seconds = integer(bytes, begin, split);
    let nanoseconds = integer(bytes, split, end);
    if (isNegative) {
      seconds = -seconds - (nanoseconds > 0 ? 1 : 0);
      nanoseconds = nanoseconds > 0 ? 1_000_000_000 - nanoseconds : 0;
    }
    const { seconds: first, nanoseconds: firstRest } = this.#first;
    const { seconds: last, nanoseconds: lastRest } = this.#last;
    if (seconds < first || (seconds === first && nanoseconds < firstRest)) this.#first = { seconds, nanoseconds };
    if (seconds > last || (seconds === last && nanoseconds > lastRest)) this.#last = { seconds, nanoseconds };
    return seconds;
  }

  /** Counts the members of an object, of which `at` is the first; returns the offset after it. */
  #object(bytes: Buffer, at: number, node: PathNode): number {
    for (;;) {
      if (bytes[at] !== QUOTE) throw unreadable(at);
      const begin = at + 1;
      let hash = HASH_SEED;
      let end = begin;
      while (end < bytes.length && bytes[end] !== QUOTE && bytes[end] !== BACKSLASH)
        hash = nextHash(hash, bytes[end++]!);
      let below: PathNode | undefined;
      if (bytes[end] === BACKSLASH) {
        end = endOfText(bytes, end);
        const key = Buffer.from(parsed(bytes, at, end + 1) as string);
        below = this.#below(node, key, 0, key.length, hashOf(key));
      } else below = this.#below(node, bytes, begin, end, hash);
      if (bytes[end + 1] !== COLON) throw unreadable(end);
      at = below === undefined ? skip(bytes, end + 2) : this.#value(bytes, end + 2, below);
      const next = bytes[at++];
      if (next === OBJECT_END) return at;
      if (next !== COMMA) throw unreadable(at);
    }
  }

  // biome-ignore lint/complexity/useMaxParams: called for each key of each event, where an object would be garbage.
  #below(node: PathNode, bytes: Buffer, begin: number, end: number, hash: number): PathNode | undefined {
    const existing = node.below.find(bytes, begin, end, hash);
    if (existing !== undefined) return existing;
    if (this.#paths >= MAX_FIELDS) {
      this.summary.isCut = true;
      return undefined;
    }
    const child = newNode([...node.path, bytes.toString("utf8", begin, end)]);
    node.below.add(bytes, begin, end, hash, child);
    return child;
  }

  #value(bytes: Buffer, at: number, node: PathNode): number {
    const first = bytes[at]!;
    if (first === OBJECT && bytes[at + 1] !== OBJECT_END && node.path.length < MAX_FIELD_DEPTH) {
      return this.#object(bytes, at + 1, node);
    }
    const field = this.#fieldOf(node);
    if (field === undefined) return skip(bytes, at);
    if (first === QUOTE) return addText(field, node, bytes, at);
    if (first === MINUS || (first >= DIGIT_0 && first <= DIGIT_9)) {
      const end = endOfNumber(bytes, at);
      field.present++;
      field.plain++;
      field.number++;
      addNumber(field, numberOf(bytes, at, end));
      return end;
    }
    const end = skip(bytes, at);
    // An object here is empty or too deep: its members do not count.
    addValue(field, first === OBJECT ? {} : parsed(bytes, at, end));
    return end;
  }

  #fieldOf(node: PathNode): FieldSummary | undefined {
    const existing = node.fields[this.#severity];
    if (existing !== undefined) return existing;
    if (!node.hasValues) {
      if (this.#paths >= MAX_FIELDS) {
        this.summary.isCut = true;
        return undefined;
      }
      node.hasValues = true;
      this.#paths++;
    }
    const field = newField(this.summary, this.#severity, JSON.stringify(node.path), node.path);
    node.fields[this.#severity] = field;
    return field;
  }
}

/** The state of a path while lines are read. */
interface PathNode {
  readonly path: readonly string[];
  readonly below: ByteTable<PathNode>;
  /** Whether a value was found that is no object. */
  hasValues: boolean;
  /** By severity, where there was one. */
  readonly fields: (FieldSummary | undefined)[];
  /** The texts among the field's values. */
  readonly texts: ByteTable<string>;
}

const newNode = (path: readonly string[]): PathNode => ({
  path,
  below: new ByteTable(),
  hasValues: false,
  fields: LEVELS.map(() => undefined),
  texts: new ByteTable(),
});

/** Counts the text that begins at `at`, a quote; returns the offset after it. */
function addText(field: FieldSummary, node: PathNode, bytes: Buffer, at: number): number {
  field.present++;
  field.plain++;
  field.string++;
  if (field.values === undefined) return endOfText(bytes, at + 1) + 1;
  let hash = HASH_SEED;
  let end = at + 1;
  while (end < bytes.length && bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) hash = nextHash(hash, bytes[end++]!);
  if (bytes[end] === BACKSLASH) {
    end = endOfText(bytes, end);
    countValue(field, parsed(bytes, at, end + 1) as string);
    return end + 1;
  }
  let text = node.texts.find(bytes, at + 1, end, hash);
  if (text === undefined) {
    text = bytes.toString("utf8", at + 1, end);
    node.texts.add(bytes, at + 1, end, hash, text);
  }
  countValue(field, text);
  return end + 1;
}

/** The quote that ends the string around `at`, the beginning of a character or escape. */
function endOfText(bytes: Buffer, at: number): number {
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The offset after the value at `at`. */
function skip(bytes: Buffer, at: number): number {
  if (bytes[at] === QUOTE) return endOfText(bytes, at + 1) + 1;
  let depth = 0;
  for (; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === OBJECT || byte === LIST) depth++;
    else if (byte === OBJECT_END || byte === LIST_END) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  throw unreadable(at);
}

function endOfNumber(bytes: Buffer, at: number): number {
  while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== OBJECT_END) at++;
  return at;
}

function integer(bytes: Buffer, at: number, end: number): number {
  let value = 0;
  for (; at < end; at++) value = value * 10 + (bytes[at]! - DIGIT_0);
  return value;
}

/** A JSON number, as JSON.parse reads it. */
function numberOf(bytes: Buffer, begin: number, end: number): number {
  // Up to 15 digits and a power of ten are exact, and so is what IEEE 754 divides them to.
  if (end - begin > 16) return Number(bytes.toString("latin1", begin, end));
  let digits = 0;
  let point = end;
  const isNegative = bytes[begin] === MINUS;
  for (let at = isNegative ? begin + 1 : begin; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= DIGIT_0 && byte <= DIGIT_9) digits = digits * 10 + (byte - DIGIT_0);
    else if (byte === POINT) point = at + 1;
    else return Number(bytes.toString("latin1", begin, end));
  }
  const value = digits / POWERS[end - point]!;
  return isNegative ? -value : value;
}

const POWERS = Array.from({ length: 17 }, (_, power) => Number(`1e${power}`));

const parsed = (bytes: Buffer, begin: number, end: number): unknown => JSON.parse(bytes.toString("utf8", begin, end));

const unreadable = (at: number) => new Error(`the journal has a line of another form (byte ${at} of its part)`);

const byteOf = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON, LINE_END] = [byteOf('"'), byteOf("\\"), byteOf(","), byteOf(":"), byteOf("\n")];
const [OBJECT, OBJECT_END, LIST, LIST_END] = [byteOf("{"), byteOf("}"), byteOf("["), byteOf("]")];
const [DIGIT_0, DIGIT_9, MINUS, POINT] = [byteOf("0"), byteOf("9"), byteOf("-"), byteOf(".")];
const [LETTER_Q, LETTER_T, LETTER_V, LETTER_F] = [byteOf("q"), byteOf("t"), byteOf("v"), byteOf("f")];
const PROJECT = Buffer.from('"p":"');
