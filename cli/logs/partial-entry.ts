import type { Entry } from "../../grammar/entry.ts";
import { isEntryId } from "../../grammar/entry-id.ts";
import {
  BACKSLASH,
  blanksEnd,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  digitsEnd,
  isAt,
  isDigit,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  plainTextEnd,
  QUOTE,
} from "../../grammar/json-bytes.ts";
import { parseFinite } from "../../grammar/json-numbers.ts";
import {
  isWholeTime,
  LEVEL_KEYS,
  LEVEL_SPELLINGS,
  LEVELS,
  levelText,
  MESSAGE_KEYS,
  type Reads,
  TIME_KEYS,
} from "../../grammar/query/index.ts";
import { toEntry } from "./entry-line.ts";

/** Reads the parts of an entry that a query looks at, from the bytes of its line. */
export interface PartialReader {
  /**
   * Reads the line at `at` of bytes that end in LF. Returns the position of its LF, or -1 if the line is not a JSON object
   * or has anything unusual: then it has to be read by `readEntryLine`. A JSON object in the usual form never returns -1,
   * and if a position is returned, the line is valid JSON.
   */
  read(bytes: Buffer, at: number): number;
  /** The last entry that was read; only the parts in `reads` are correct. Overwritten by the next line. */
  readonly entry: Entry;
}

/** Undefined if a query needs the whole entry. */
export function partialReader(reads: Reads): PartialReader | undefined {
  const names = [...reads.fields];
  // __proto__ is special in an object literal, and invalid UTF-8 is read as U+FFFD.
  if (names.some((name) => name === "__proto__" || /[\ufffd"\\\u0000-\u001f\ud800-\udfff]/.test(name)))
    return undefined;
  const wanted = names.map((name): Key => ({ name, bytes: utf8(name) }));
  return new Reader(wanted, reads.entry);
}

interface Key {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** As a plain Uint8Array, as all that is compared by `isAt`: with buffers beside them V8 makes slower code of it. */
const utf8 = (text: string) => new Uint8Array(Buffer.from(text));

/** Results below zero: the line has to be read as a whole, */
const UNUSUAL = -1;
/** or by the keys of all loggers. */
const FOREIGN = -2;

interface MutableEntry {
  id?: string;
  timestamp: string;
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

/** Deeper values are left to JSON.parse. */
const MAX_DEPTH = 32;

const ENTRY_KEYS: readonly Key[] = ["id", "timestamp", "level", "message", "fields"].map((name) => ({
  name,
  bytes: utf8(name),
}));

const LOGGER_KEYS: readonly Key[] = [
  ...new Set([...LEVEL_KEYS.map(({ key }) => key), ...MESSAGE_KEYS, ...TIME_KEYS]),
].map((name) => ({ name, bytes: utf8(name) }));

/** The keys of other loggers, by length. */
const FOREIGN_KEYS: readonly (readonly Key[])[] = Array.from({ length: 32 }, (_, length) =>
  LOGGER_KEYS.filter(({ name, bytes }) => bytes.length === length && !ENTRY_KEYS.some((key) => key.name === name)),
);

const SPELLINGS: ReadonlySet<string> = new Set(LEVELS.flatMap((level) => LEVEL_SPELLINGS[level]));

/** Whether some logger uses this text for another level. */
const isTheirLevel = (text: string) => !SPELLINGS.has(text) && (levelText(text, undefined) ?? text) !== text;

class Reader implements PartialReader {
  entry: Entry = { timestamp: "", level: "info", message: "", fields: {} };
  readonly #wanted: readonly Key[];
  readonly #reads: Reads["entry"];
  /** Whether keys of other loggers affect what is read. */
  readonly #looksForLoggers: boolean;
  /** Whether such a key is read as a field, which it is only in lines of other programs or with an odd value. */
  readonly #asksForTheirKeys: boolean;
  /** Whether the last line was written by another logger, as the next one probably is. */
  #readsLoggers: boolean;
  /** Set by #value. */
  #value: unknown;
  /** Recent texts, by length and first letter. */
  readonly #texts: { bytes: Uint8Array; text: string }[] = [];

  constructor(wanted: readonly Key[], reads: Reads["entry"]) {
    this.#wanted = wanted;
    // An id that is not a string is a field.
    this.#reads = wanted.some(({ name }) => name === "id") ? new Set([...reads, "id" as const]) : reads;
    this.#asksForTheirKeys = wanted.some(({ name }) => LOGGER_KEYS.some((key) => key.name === name));
    this.#looksForLoggers =
      this.#asksForTheirKeys || reads.has("level") || reads.has("message") || reads.has("timestamp");
    this.#readsLoggers = this.#asksForTheirKeys;
  }

  read(bytes: Buffer, from: number): number {
    if (!this.#readsLoggers) {
      const end = this.#readOwn(bytes, from);
      if (end !== FOREIGN) return end;
      this.#readsLoggers = true;
    }
    return this.#readLogger(bytes, from);
  }

  /** Reads a line of our own runtime; FOREIGN if another logger may have written it. */
  #readOwn(bytes: Buffer, from: number): number {
    let at = blanksEnd(bytes, from);
    if (bytes[at] !== OPEN_BRACE) return UNUSUAL;
    const entry: MutableEntry = { timestamp: "", level: "info", message: "", fields: {} };
    this.entry = entry;
    let hasFields = false;
    const wanted = this.#wanted;
    let rest: Record<string, unknown> | undefined;
    at = blanksEnd(bytes, at + 1);
    if (bytes[at] === CLOSE_BRACE) return lineEnd(bytes, at + 1);
    for (;;) {
      if (bytes[at] !== QUOTE) return UNUSUAL;
      const keyStart = at + 1;
      at = plainTextEnd(bytes, keyStart);
      if (at < 0) return UNUSUAL;
      let key = find(ENTRY_KEYS, bytes, keyStart, at);
      if (key === undefined) {
        if (this.#looksForLoggers && isForeign(bytes, keyStart, at)) return FOREIGN;
        key = find(wanted, bytes, keyStart, at);
      }
      at = blanksEnd(bytes, at + 1);
      if (bytes[at] !== COLON) return UNUSUAL;
      at = blanksEnd(bytes, at + 1);
      if (key === undefined) at = skip(bytes, at, 0);
      else {
        switch (key.name) {
          case "fields":
            // A second one replaces the first; a value that is not an object is rare and has rules of its own.
            if (hasFields || bytes[at] !== OPEN_BRACE) return UNUSUAL;
            hasFields = true;
            at = this.#fields(bytes, at, entry.fields);
            break;
          case "timestamp":
          case "level":
          case "message":
          case "id":
            if (!this.#reads.has(key.name)) {
              at = skip(bytes, at, 0);
              break;
            }
            if (bytes[at] !== QUOTE) return key.name === "id" ? UNUSUAL : FOREIGN;
            at = this.#readValue(bytes, at);
            if (at < 0) return UNUSUAL;
            entry[key.name] = this.#value as string;
            // It may give way to the id of the request.
            if (key.name === "id" && isEntryId(this.#value)) return UNUSUAL;
            if (key.name === "level" && isTheirLevel(entry.level)) return FOREIGN;
            if (key.name === "timestamp" && !isWholeTime(entry.timestamp)) return FOREIGN;
            break;
          default:
            at = this.#readValue(bytes, at);
            rest ??= {};
            rest[key.name] = this.#value;
        }
      }
      if (at < 0) return UNUSUAL;
      at = blanksEnd(bytes, at);
      if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
      else if (bytes[at] === CLOSE_BRACE) break;
      else return UNUSUAL;
    }
    if (rest !== undefined) entry.fields = hasFields ? { ...rest, ...entry.fields } : rest;
    return lineEnd(bytes, at + 1);
  }

  /**
   * Reads the keys of all loggers and those that the query needs, and lets `toEntry` interpret them: it looks at no others.
   */
  #readLogger(bytes: Buffer, from: number): number {
    let at = blanksEnd(bytes, from);
    if (bytes[at] !== OPEN_BRACE) return UNUSUAL;
    const object: Record<string, unknown> = {};
    let isOwn = !this.#asksForTheirKeys;
    at = blanksEnd(bytes, at + 1);
    if (bytes[at] === CLOSE_BRACE) at = lineEnd(bytes, at + 1);
    else {
      for (;;) {
        if (bytes[at] !== QUOTE) return UNUSUAL;
        const keyStart = at + 1;
        at = plainTextEnd(bytes, keyStart);
        if (at < 0) return UNUSUAL;
        let key = find(ENTRY_KEYS, bytes, keyStart, at);
        if (key === undefined) {
          key = find(FOREIGN_KEYS[at - keyStart] ?? [], bytes, keyStart, at);
          if (key !== undefined) isOwn = false;
          else key = find(this.#wanted, bytes, keyStart, at);
        }
        at = blanksEnd(bytes, at + 1);
        if (bytes[at] !== COLON) return UNUSUAL;
        at = blanksEnd(bytes, at + 1);
        if (key === undefined) at = skip(bytes, at, 0);
        else if (key.name === "fields") {
          if (object.fields !== undefined || bytes[at] !== OPEN_BRACE) return UNUSUAL;
          const fields = {};
          at = this.#fields(bytes, at, fields);
          object.fields = fields;
        } else {
          at = this.#readValue(bytes, at);
          object[key.name] = this.#value;
        }
        if (at < 0) return UNUSUAL;
        at = blanksEnd(bytes, at);
        if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
        else if (bytes[at] === CLOSE_BRACE) break;
        else return UNUSUAL;
      }
      at = lineEnd(bytes, at + 1);
    }
    if (at < 0) return UNUSUAL;
    if (isOwn) this.#readsLoggers = false;
    this.entry = toEntry(object);
    return at;
  }

  #fields(bytes: Buffer, from: number, fields: Record<string, unknown>): number {
    const wanted = this.#wanted;
    if (wanted.length === 0) return skip(bytes, from, 1);
    let at = blanksEnd(bytes, from + 1);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      if (bytes[at] !== QUOTE) return UNUSUAL;
      const keyStart = at + 1;
      at = plainTextEnd(bytes, keyStart);
      if (at < 0) return UNUSUAL;
      const key = find(wanted, bytes, keyStart, at);
      at = blanksEnd(bytes, at + 1);
      if (bytes[at] !== COLON) return UNUSUAL;
      at = blanksEnd(bytes, at + 1);
      if (key === undefined) at = skip(bytes, at, 1);
      else {
        at = this.#readValue(bytes, at);
        fields[key.name] = this.#value;
      }
      if (at < 0) return UNUSUAL;
      at = blanksEnd(bytes, at);
      if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
      else return bytes[at] === CLOSE_BRACE ? at + 1 : UNUSUAL;
    }
  }

  #readValue(bytes: Buffer, at: number): number {
    const end = skip(bytes, at, 1);
    if (end < 0) return UNUSUAL;
    const first = bytes[at]!;
    if (first === QUOTE) this.#value = this.#text(bytes, at + 1, end - 1);
    else if (first === 0x74) this.#value = true;
    else if (first === 0x66) this.#value = false;
    else if (first === 0x6e) this.#value = null;
    else if (first === OPEN_BRACE || first === OPEN_BRACKET) this.#value = parseFinite(bytes.toString("utf8", at, end));
    else this.#value = numberOf(bytes, at, end);
    return end;
  }

  #text(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    // Short texts repeat (levels, methods, stages): a comparison costs less than a new string.
    const slot = length <= 16 ? ((length << 4) ^ bytes[start]!) & 0x7f : -1;
    if (slot >= 0) {
      const last = this.#texts[slot];
      if (last !== undefined && last.bytes.length === length && isAt(last.bytes, bytes, start)) return last.text;
    }
    let all = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === BACKSLASH) return JSON.parse(bytes.toString("utf8", start - 1, end + 1)) as string;
      all |= byte;
    }
    const text = all < 0x80 ? bytes.toString("latin1", start, end) : bytes.toString("utf8", start, end);
    if (slot >= 0) this.#texts[slot] = { bytes: new Uint8Array(bytes.subarray(start, end)), text };
    return text;
  }
}

function find(keys: readonly Key[], bytes: Buffer, start: number, end: number): Key | undefined {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key.bytes.length === end - start && isAt(key.bytes, bytes, start)) return key;
  }
  return undefined;
}

function isForeign(bytes: Buffer, start: number, end: number): boolean {
  const keys = FOREIGN_KEYS[end - start];
  return keys !== undefined && keys.length > 0 && find(keys, bytes, start, end) !== undefined;
}

function lineEnd(bytes: Buffer, from: number): number {
  const at = blanksEnd(bytes, from);
  return bytes[at] === LF ? at : UNUSUAL;
}

/** The position after the value at `at`, which is checked as JSON.parse does. */
export function skip(bytes: Uint8Array, from: number, depth: number): number {
  const first = bytes[from]!;
  if (first === QUOTE) {
    let at = from + 1;
    for (;;) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at + 1;
      if (byte < 0x20) return UNUSUAL;
      if (byte === BACKSLASH) {
        const letter = bytes[at + 1]!;
        if (letter === 0x75) {
          for (let i = 2; i < 6; i++) if (!isHex(bytes[at + i]!)) return UNUSUAL;
          at += 6;
        } else if (!isEscape(letter)) return UNUSUAL;
        else at += 2;
      } else at++;
    }
  }
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return skipNumber(bytes, from);
  if (first === 0x74) return isAt(TRUE, bytes, from) ? from + 4 : UNUSUAL;
  if (first === 0x66) return isAt(FALSE, bytes, from) ? from + 5 : UNUSUAL;
  if (first === 0x6e) return isAt(NULL, bytes, from) ? from + 4 : UNUSUAL;
  if (depth >= MAX_DEPTH) return UNUSUAL;
  if (first === OPEN_BRACKET) {
    let at = blanksEnd(bytes, from + 1);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      at = skip(bytes, at, depth + 1);
      if (at < 0) return UNUSUAL;
      at = blanksEnd(bytes, at);
      if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
      else return bytes[at] === CLOSE_BRACKET ? at + 1 : UNUSUAL;
    }
  }
  if (first !== OPEN_BRACE) return UNUSUAL;
  let at = blanksEnd(bytes, from + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return UNUSUAL;
    at = skip(bytes, at, depth + 1);
    if (at < 0) return UNUSUAL;
    at = blanksEnd(bytes, at);
    if (bytes[at] !== COLON) return UNUSUAL;
    at = skip(bytes, blanksEnd(bytes, at + 1), depth + 1);
    if (at < 0) return UNUSUAL;
    at = blanksEnd(bytes, at);
    if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
    else return bytes[at] === CLOSE_BRACE ? at + 1 : UNUSUAL;
  }
}

const TRUE = utf8("true");
const FALSE = utf8("false");
const NULL = utf8("null");

const isHex = (byte: number) => isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
const isEscape = (byte: number) =>
  byte === QUOTE ||
  byte === BACKSLASH ||
  byte === 0x2f ||
  byte === 0x62 ||
  byte === 0x66 ||
  byte === 0x6e ||
  byte === 0x72 ||
  byte === 0x74;

/** RFC 8259, section 6: no leading zeros, digits on both sides of the decimal point. */
function skipNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === 0x2d ? from + 1 : from;
  if (bytes[at] === 0x30) at++;
  else {
    if (!isDigit(bytes[at])) return UNUSUAL;
    at = digitsEnd(bytes, at);
  }
  if (bytes[at] === 0x2e) {
    if (!isDigit(bytes[++at])) return UNUSUAL;
    at = digitsEnd(bytes, at);
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++;
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++;
    if (!isDigit(bytes[at])) return UNUSUAL;
    at = digitsEnd(bytes, at);
  }
  return at;
}

/** A number, or the text of one that float64 cannot hold, as `parseFinite` reads them. */
function numberOf(bytes: Buffer, start: number, end: number): number | string {
  // Nine digits fit into a small integer. For everything else Number of a string is as fast.
  if (end - start <= 9) {
    let value = 0;
    let at = start;
    for (; at < end && isDigit(bytes[at]); at++) value = value * 10 + bytes[at]! - 0x30;
    if (at === end) return value;
  }
  const text = bytes.toString("latin1", start, end);
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}
