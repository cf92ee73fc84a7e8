// Tests of JSON values on their bytes. Whatever is unclear passes: the predicate decides on the parsed line.

/** What a query asks of the value behind a key. */
export type ValueTest =
  | { readonly kind: "number"; readonly op: "<" | "<=" | ">" | ">="; readonly bound: number }
  | { readonly kind: "equal"; readonly value: number; readonly mayBeText: boolean }
  /** `bound` in milliseconds since 1970. */
  | { readonly kind: "time"; readonly op: "<" | "<=" | ">" | ">="; readonly bound: number }
  /** Any of these texts of ASCII letters, given in lower case, in any case. */
  | { readonly kind: "level"; readonly spellings: readonly string[] }
  /** `true`, `false` or `null`, told by its first byte. */
  | { readonly kind: "start"; readonly byte: number };

/**
 * A test of what stands behind the closing quotation mark of a key: a colon, and a value that may pass. An array may hold
 * one that does. Bytes end in a line end.
 */
export function behindKey(test: ValueTest | undefined): (bytes: Uint8Array, at: number) => boolean {
  const accepts = test === undefined ? () => true : ofValue(test);
  return (bytes, from) => {
    let at = from;
    while (isBlank(bytes[at])) at++;
    // A text that reads like the key.
    if (bytes[at] !== COLON) return false;
    at++;
    while (isBlank(bytes[at])) at++;
    return bytes[at] === BRACKET || accepts(bytes, at);
  };
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0d;
const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function ofValue(test: ValueTest): (bytes: Uint8Array, at: number) => boolean {
  switch (test.kind) {
    case "start":
      return (bytes, at) => bytes[at] === test.byte;
    case "level":
      return oneOf(test.spellings);
    case "equal": {
      const { value, mayBeText } = test;
      return number((found) => found === value, mayBeText);
    }
    case "number": {
      const { bound } = test;
      switch (test.op) {
        case "<":
          return number((found) => found < bound, false);
        case "<=":
          return number((found) => found <= bound, false);
        case ">":
          return number((found) => found > bound, false);
        case ">=":
          return number((found) => found >= bound, false);
      }
      break;
    }
    case "time":
      return time(test.op, test.bound);
  }
}

/** A text that is one of these in any case. One with an escape passes. */
function oneOf(spellings: readonly string[]): (bytes: Uint8Array, at: number) => boolean {
  const byInitial: Uint8Array[][] = Array.from({ length: 256 }, () => []);
  for (const spelling of spellings) {
    byInitial[spelling.charCodeAt(0)]!.push(Uint8Array.from(spelling, (letter) => letter.charCodeAt(0)));
  }
  return (bytes, from) => {
    if (bytes[from] !== QUOTE) return false;
    // No byte but a letter's has this as its lower case.
    for (const spelling of byInitial[bytes[from + 1]! | 0x20]!) {
      let at = 1;
      while (at < spelling.length && (bytes[from + 1 + at]! | 0x20) === spelling[at]) at++;
      if (at === spelling.length && bytes[from + 1 + at] === QUOTE) return true;
    }
    for (let at = from + 1; bytes[at] !== QUOTE; at++) {
      if (bytes[at] === BACKSLASH) return true;
      if (bytes[at] === undefined || bytes[at]! < 0x20) return false;
    }
    return false;
  };
}

/**
 * Reads digits, a fraction and a minus sign: up to 15 digits are exact in a double, and so is their quotient by a power
 * of ten, rounded once as JSON.parse rounds. Exponents and longer numbers pass.
 */
function number(passes: (value: number) => boolean, mayBeText: boolean): (bytes: Uint8Array, at: number) => boolean {
  return (bytes, from) => {
    let at = from;
    const first = bytes[at];
    if (first === QUOTE) return mayBeText;
    const isNegative = first === MINUS;
    if (isNegative) at++;
    // An object, true, false or null; or no JSON at all.
    if (!isDigit(bytes[at])) return false;
    let digits = 0;
    let scale = 1;
    const begin = at;
    for (; isDigit(bytes[at]); at++) digits = digits * 10 + bytes[at]! - 0x30;
    let count = at - begin;
    if (bytes[at] === DOT) {
      at++;
      for (; isDigit(bytes[at]); at++) {
        digits = digits * 10 + bytes[at]! - 0x30;
        scale *= 10;
        count++;
      }
    }
    const end = bytes[at];
    if (count > 15 || end === 0x65 || end === 0x45) return true;
    const value = digits / scale;
    return passes(isNegative ? -value : value);
  };
}

/** Times as `toISOString` writes them compare as their bytes do; every other spelling passes. */
function time(op: "<" | "<=" | ">" | ">=", bound: number): (bytes: Uint8Array, at: number) => boolean {
  // Years of four digits; between two milliseconds the earlier one decides for all but itself.
  const floor = Math.floor(bound);
  if (!(floor >= -62_167_219_200_000 && floor <= 253_402_300_799_999)) return () => true;
  const text = new Date(floor).toISOString();
  const isAfter = op === ">" || op === ">=";
  return (bytes, from) => {
    if (bytes[from] !== QUOTE) return true;
    let order = 0;
    for (let i = 0; i < text.length; i++) {
      const byte = bytes[from + 1 + i]!;
      const other = text.charCodeAt(i);
      if (isDigit(other)) {
        if (!isDigit(byte)) return true;
        if (order === 0) order = byte - other;
      } else if (byte !== other) return true;
    }
    if (bytes[from + 1 + text.length] !== QUOTE) return true;
    if (isUnusualTime(bytes, from + 1)) return true;
    // Equal to the rounded bound: left to the predicate.
    return order === 0 || (isAfter ? order > 0 : order < 0);
  };
}

/**
 * Leap seconds, the hour 24 and days that a month has not count as moments of the next minute, day or month where they
 * count at all: their bytes do not compare as their times do. `at` is where 2025-06-30T12:00:00.000Z begins.
 */
function isUnusualTime(bytes: Uint8Array, at: number): boolean {
  const two = (offset: number) => (bytes[at + offset]! - 0x30) * 10 + bytes[at + offset + 1]! - 0x30;
  const day = two(8);
  if (two(17) > 59 || two(14) > 59 || two(11) > 23) return true;
  return day > 28 && (day > 30 || two(5) === 2);
}
