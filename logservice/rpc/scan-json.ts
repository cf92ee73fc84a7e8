import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  digitsEnd,
  isAt,
  LF,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  POINT,
  plainTextEnd,
  QUOTE,
  SPACE,
  TAB,
  ZERO,
} from "../../grammar/json-bytes.ts";
import { LIMITS } from "../limits.ts";

/**
 * Finds the ends of JSON values in valid UTF-8, if they are in canonical form: JSON.parse and JSON.stringify would return
 * the same text, except for white space between tokens. Methods take the offset of a value and return the offset
 * past it, or NO_INDEX if it has to be parsed: other escapes, other forms of numbers or numbers beyond float64, duplicate keys, keys
 * that JSON.parse reorders, text that is not JSON, and fields beyond the limits of an event.
 */
export class JsonScan {
  readonly bytes: Buffer;
  /** White space within the last value of `fields`: the begin and the end of each gap. */
  readonly gaps: number[] = [];
  #keys = 0;
  /** Hashes of the keys of the open objects, inner objects last. */
  readonly #hashes = new Int32Array(LIMITS.fieldsPerEvent);
  #hashCount = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Offset past white space. */
  space(at: number): number {
    let to = at;
    for (;;) {
      const code = this.bytes[to]!;
      if (code !== SPACE && code !== LF && code !== TAB && code !== CR) return to;
      to++;
    }
  }

  /** A string whose quote is at `at`. */
  text(at: number): number {
    const { bytes } = this;
    if (bytes[at] !== QUOTE) return NO_INDEX;
    for (let to = at + 1; ; ) {
      const code = bytes[to]!;
      if (code === QUOTE) return to + 1;
      if (code === BACKSLASH) {
        to = this.#escape(to + 1);
        if (to === NO_INDEX) return NO_INDEX;
      } else if (code >= 0x20) to++;
      else return NO_INDEX;
    }
  }

  /** A string without escapes. */
  plainText(at: number): number {
    if (this.bytes[at] !== QUOTE) return NO_INDEX;
    const end = plainTextEnd(this.bytes, at + 1);
    return end < 0 ? NO_INDEX : end + 1;
  }

  /** The object at `at`, which is the fields of an event. */
  fields(at: number): number {
    if (this.bytes[at] !== OPEN_BRACE) return NO_INDEX;
    this.gaps.length = 0;
    this.#keys = 0;
    this.#hashCount = 0;
    return this.#object(at + 1, 1);
  }

  #object(at: number, depth: number): number {
    if (depth > LIMITS.fieldsDepth) return NO_INDEX;
    const { bytes } = this;
    const firstHash = this.#hashCount;
    let to = this.#gap(at);
    if (bytes[to] === CLOSE_BRACE) return to + 1;
    for (;;) {
      to = this.#key(to, firstHash);
      if (to === NO_INDEX) return NO_INDEX;
      to = this.#gap(to);
      if (bytes[to] !== COLON) return NO_INDEX;
      to = this.#value(this.#gap(to + 1), depth);
      if (to === NO_INDEX) return NO_INDEX;
      to = this.#gap(to);
      const code = bytes[to];
      to++;
      if (code === CLOSE_BRACE) break;
      if (code !== COMMA) return NO_INDEX;
      to = this.#gap(to);
    }
    this.#hashCount = firstHash;
    return to;
  }

  #list(at: number, depth: number): number {
    if (depth > LIMITS.fieldsDepth) return NO_INDEX;
    const { bytes } = this;
    let to = this.#gap(at);
    if (bytes[to] === CLOSE_BRACKET) return to + 1;
    for (;;) {
      to = this.#value(to, depth);
      if (to === NO_INDEX) return NO_INDEX;
      to = this.#gap(to);
      const code = bytes[to];
      to++;
      if (code === CLOSE_BRACKET) return to;
      if (code !== COMMA) return NO_INDEX;
      to = this.#gap(to);
    }
  }

  #value(at: number, depth: number): number {
    const code = this.bytes[at]!;
    if (code === QUOTE) return this.text(at);
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#number(at);
    if (code === OPEN_BRACE) return this.#object(at + 1, depth + 1);
    if (code === OPEN_BRACKET) return this.#list(at + 1, depth + 1);
    if (code === TRUE[0]) return this.literal(at, TRUE);
    if (code === FALSE[0]) return this.literal(at, FALSE);
    return this.literal(at, NULL);
  }

  /** The literal at `at`. */
  literal(at: number, literal: Uint8Array): number {
    return isAt(literal, this.bytes, at) ? at + literal.length : NO_INDEX;
  }

  isTrue(at: number): boolean {
    return this.literal(at, TRUE) !== NO_INDEX;
  }

  /** The `true` or `false` at `at`. */
  truth(at: number): number {
    return this.literal(at, this.bytes[at] === TRUE[0] ? TRUE : FALSE);
  }

  /** A key that is unique in its object. One with the hash of another key has to be parsed. */
  #key(at: number, firstHash: number): number {
    const { bytes } = this;
    if (bytes[at] !== QUOTE || ++this.#keys > LIMITS.fieldsPerEvent) return NO_INDEX;
    let to = at + 1;
    const first = bytes[to]!;
    // JSON.parse puts whole numbers before all other keys.
    if (first >= ZERO && first <= NINE) return NO_INDEX;
    let hash = 0;
    for (; ; to++) {
      const code = bytes[to]!;
      if (code === QUOTE) break;
      if (!(code >= 0x20) || code === BACKSLASH) return NO_INDEX;
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    const hashes = this.#hashes;
    const count = this.#hashCount;
    for (let i = firstHash; i < count; i++) if (hashes[i] === hash) return NO_INDEX;
    hashes[count] = hash;
    this.#hashCount = count + 1;
    return to + 1;
  }

  /** A number in canonical form. Ends before an exponent, where no value can end, so that the event is parsed. */
  #number(at: number): number {
    const { bytes } = this;
    const isNegative = bytes[at] === MINUS;
    const begin = isNegative ? at + 1 : at;
    const whole = digitsEnd(bytes, begin) - begin;
    const isZero = bytes[begin] === ZERO;
    if (whole === 0 || (isZero && whole > 1)) return NO_INDEX;
    let to = begin + whole;
    if (bytes[to] !== POINT) {
      return whole <= EXACT_DIGITS && !(isZero && isNegative) ? to : NO_INDEX;
    }
    const fractionAt = to + 1;
    to = digitsEnd(bytes, fractionAt);
    if (to === fractionAt) return NO_INDEX;
    const digits = whole + to - fractionAt;
    const isSmall = isZero && bytes[fractionAt] === ZERO;
    if (digits <= EXACT_DIGITS && bytes[to - 1] !== ZERO && !isSmall) return to;
    const text = bytes.toString("latin1", at, to);
    return String(Number(text)) === text ? to : NO_INDEX;
  }

  /** The escape whose backslash is before `at`, if JSON.stringify writes it that way. */
  #escape(at: number): number {
    const code = this.bytes[at]!;
    if (SHORT_ESCAPES[code] === 1) return at + 1;
    if (code !== 0x75) return NO_INDEX;
    return CONTROL_ESCAPES.has(this.bytes.toString("latin1", at + 1, at + 5)) ? at + 5 : NO_INDEX;
  }

  #gap(at: number): number {
    if (!(this.bytes[at]! <= 0x20)) return at;
    const to = this.space(at);
    if (to > at) this.gaps.push(at, to);
    return to;
  }
}

export const NO_INDEX = -1;
/** Float64 preserves this many digits. */
const EXACT_DIGITS = 15;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
export const NULL = Buffer.from("null");

/** 1 for each byte that may follow a backslash. */
const SHORT_ESCAPES = new Uint8Array(256);
for (const code of Buffer.from('"\\bfnrt')) SHORT_ESCAPES[code] = 1;
/** The four digits that JSON.stringify writes for control characters without a short escape. */
const CONTROL_ESCAPES: ReadonlySet<string> = new Set(
  Array.from({ length: 0x20 }, (_, code) => JSON.stringify(String.fromCharCode(code)))
    .filter((text) => text.startsWith('"\\u'))
    .map((text) => text.slice(3, -1)),
);
