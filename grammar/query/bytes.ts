// Tests of JSON lines on their bytes. Whatever is unclear passes: the predicate decides on the parsed line.
import { BACKSLASH, blanksEnd, COLON, isAt, isDigit, MINUS, OPEN_BRACKET, PLUS, POINT, QUOTE } from "../json-bytes.ts";
import { LEVEL_SPELLINGS, LEVELS, type Level, levelOf } from "./levels.ts";
import { LEVEL_KEYS, type LevelNumbers, levelOfNumber, OTHER_WORDS } from "./loggers.ts";

/** A condition of a query on the value of a key. */
export type ValueTest =
  | { readonly kind: "number"; readonly op: "<" | "<=" | ">" | ">="; readonly bound: number }
  /** `text` is free of characters that JSON must escape. Undefined: no text is equal. */
  | { readonly kind: "equal"; readonly value: number; readonly text: string | undefined }
  /** `true`, `false` or `null`, told by its first byte. */
  | { readonly kind: "start"; readonly byte: number };

/**
 * A test of what follows the closing quotation mark of a key: a colon, and a value that may pass. An array may hold
 * one that does. Bytes end in a line end.
 */
export function afterKey(test: ValueTest | undefined): (bytes: Uint8Array, at: number) => boolean {
  const accepts = test === undefined ? () => true : ofValue(test);
  return (bytes, from) => {
    let at = blanksEnd(bytes, from);
    // A text that reads like the key.
    if (bytes[at] !== COLON) return false;
    at = blanksEnd(bytes, at + 1);
    return bytes[at] === OPEN_BRACKET || accepts(bytes, at);
  };
}

function ofValue(test: ValueTest): (bytes: Uint8Array, at: number) => boolean {
  switch (test.kind) {
    case "start":
      return (bytes, at) => bytes[at] === test.byte;
    case "equal": {
      const { value, text } = test;
      return number((actual) => actual === value, text);
    }
    case "number": {
      const { bound } = test;
      switch (test.op) {
        case "<":
          return number((actual) => actual < bound);
        case "<=":
          return number((actual) => actual <= bound);
        case ">":
          return number((actual) => actual > bound);
        case ">=":
          return number((actual) => actual >= bound);
      }
      break;
    }
  }
}

/**
 * Reads digits, a fraction and a minus sign: up to 15 digits are exact in a double, and so is their quotient by a power
 * of ten, rounded once as JSON.parse rounds. Exponents and longer numbers pass.
 */
function number(passes: (value: number) => boolean, text?: string): (bytes: Uint8Array, at: number) => boolean {
  return (bytes, from) => {
    let at = from;
    const first = bytes[at];
    if (first === QUOTE) return text !== undefined && mayBe(text, bytes, at + 1);
    const isNegative = first === MINUS;
    if (isNegative) at++;
    // An object, true, false or null; or no JSON at all.
    if (!isDigit(bytes[at])) return false;
    let digits = 0;
    let scale = 1;
    const begin = at;
    for (; isDigit(bytes[at]); at++) digits = digits * 10 + bytes[at]! - 0x30;
    let count = at - begin;
    if (bytes[at] === POINT) {
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

/** Whether JSON's string from `from` on may be the text: an escape in it may stand for the next character. */
function mayBe(text: string, bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i <= text.length; i++) {
    const byte = bytes[from + i];
    if (byte === BACKSLASH) return true;
    if (byte !== (i === text.length ? QUOTE : text.charCodeAt(i))) return false;
  }
  return true;
}

/** Part of every key of a level, by which all of them are found in one search. */
export const LEVEL_KEY_PART = "eve";

/** All letters of these keys: any of them may be written as an escape, which hides the part. */
export const LEVEL_KEY_LETTERS = LEVEL_KEYS.map(({ key }) => key).join("");

/**
 * A test of what follows LEVEL_KEY_PART: the rest of a key that loggers use for the level, and as its value one of the
 * levels, by a word in any case or a number. Bytes end in a line end.
 */
export function afterLevelKeyPart(passes: (level: Level) => boolean): (bytes: Uint8Array, at: number) => boolean {
  const rests = new Map<string, Set<LevelNumbers>>();
  for (const { key, numbers } of LEVEL_KEYS) {
    const rest = `${key.slice(key.indexOf(LEVEL_KEY_PART) + LEVEL_KEY_PART.length)}"`;
    const numberings = rests.get(rest) ?? new Set();
    rests.set(rest, numbers === undefined ? numberings : numberings.add(numbers));
  }
  const tests = [...rests].map(([rest, numbers]) => ({
    rest: latin1(rest),
    accepts: number((value) =>
      [...numbers].some((one) => {
        const word = levelOfNumber(value, one);
        return word !== undefined && passes(levelOf(word)!);
      }),
    ),
  }));
  const words = LEVELS.filter(passes)
    .flatMap((level) => [
      ...LEVEL_SPELLINGS[level],
      ...[...OTHER_WORDS].filter(([, of]) => of === level).map(([word]) => word),
    ])
    .map(latin1);
  const isWord = wordTest(words);
  return (bytes, from) => {
    for (const { rest, accepts } of tests) {
      if (!isAt(rest, bytes, from)) continue;
      let at = blanksEnd(bytes, from + rest.length);
      if (bytes[at] !== COLON) return false;
      at = blanksEnd(bytes, at + 1);
      return bytes[at] === QUOTE ? isWord(bytes, at + 1) : accepts(bytes, at);
    }
    return false;
  };
}

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Whether one of the words is there, in any case, alone or with a step of a level after it: `INFO+2`, `INFO2`. */
function wordTest(words: readonly Uint8Array[]): (bytes: Uint8Array, at: number) => boolean {
  return (bytes, from) => {
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!;
      let at = 0;
      while (at < word.length && (bytes[from + at]! | 0x20) === word[at]) at++;
      const next = bytes[from + at]!;
      // A letter that is written as an escape.
      if (next === BACKSLASH) return true;
      if (at < word.length) continue;
      if (next === QUOTE || next === PLUS || next === MINUS || isDigit(next)) return true;
    }
    return false;
  };
}

export interface TimeBound {
  readonly op: "<" | "<=" | ">" | ">=";
  /** In milliseconds since 1970. */
  readonly bound: number;
}

/**
 * A test of where a line begins: whether its first key is `timestamp` with a time as `toISOString` writes it that is not
 * within the bounds. Answers how many bytes say so, or 0. Such a line has no other time, unless the key comes again.
 * Undefined if no bound can be told by bytes.
 */
export function beginsOutside(bounds: readonly TimeBound[]): ((bytes: Uint8Array, at: number) => number) | undefined {
  const tests = bounds.map(({ op, bound }) => {
    // Years of four digits; between two milliseconds the earlier one decides for all but itself.
    const floor = Math.floor(bound);
    if (!(floor >= -62_167_219_200_000 && floor <= 253_402_300_799_999)) return undefined;
    return { digits: latin1(new Date(floor).toISOString()), isAfter: op === ">" || op === ">=" };
  });
  const usable = tests.filter((test) => test !== undefined);
  if (usable.length === 0) return undefined;
  // Most lines share their minute with the one before, which is usual then.
  const minute = new Uint8Array(MINUTE_LENGTH);
  let isMinuteOutside = false;
  return (bytes, from) => {
    const at = from + TIME_BEGIN.length;
    // The last digit of the minute first: it changes most.
    if (bytes[at + MINUTE_LENGTH - 1] !== minute[MINUTE_LENGTH - 1] || !isAt(minute, bytes, at)) {
      if (!isAt(TIME_BEGIN, bytes, from) || !isUsualMinute(bytes, at)) return 0;
      minute.set(bytes.subarray(at, at + MINUTE_LENGTH));
      isMinuteOutside = usable.some(({ digits, isAfter }) => order(bytes, at, digits, MINUTE_LENGTH) === isAfter);
    } else if (!isAt(TIME_BEGIN, bytes, from)) return 0;
    if (!isUsualRest(bytes, at)) return 0;
    if (!isMinuteOutside && !usable.some(({ digits, isAfter }) => order(bytes, at, digits, TIME_LENGTH) === isAfter)) {
      return 0;
    }
    return TIME_BEGIN.length + TIME_LENGTH + 1;
  };
}

/** Whether digits are less than those of a bound; undefined if they are equal, which is left to the predicate. */
function order(bytes: Uint8Array, at: number, digits: Uint8Array, length: number): boolean | undefined {
  for (let i = 0; i < length; i++) {
    const difference = bytes[at + i]! - digits[i]!;
    if (difference !== 0) return difference < 0;
  }
  return undefined;
}

const TIME_BEGIN = latin1('{"timestamp":"');
const TIME_LENGTH = "2025-06-30T12:00:00.000Z".length;

const MINUTE_LENGTH = "2025-06-30T12:00".length;

/**
 * Whether `at` is a time like 2025-06-30T12:00:00.000Z up to its minute, and the bytes compare as times do. Leap seconds,
 * the hour 24 and days that a month has not count as moments of the next minute, day or month where they count at all.
 */
function isUsualMinute(bytes: Uint8Array, at: number): boolean {
  const month = two(bytes, at + 5);
  const day = two(bytes, at + 8);
  return (
    // The year 1 is not a time.
    isDigit(bytes[at]) &&
    bytes[at] !== 0x30 &&
    isDigit(bytes[at + 1]) &&
    isDigit(bytes[at + 2]) &&
    isDigit(bytes[at + 3]) &&
    bytes[at + 4] === MINUS &&
    month >= 1 &&
    month <= 12 &&
    bytes[at + 7] === MINUS &&
    day >= 1 &&
    (day <= 28 || (day <= 30 && month !== 2)) &&
    bytes[at + 10] === 0x54 &&
    two(bytes, at + 11) <= 23 &&
    bytes[at + 13] === COLON &&
    two(bytes, at + 14) <= 59
  );
}

/** The same for what follows the minute. */
const isUsualRest = (bytes: Uint8Array, at: number) =>
  bytes[at + 16] === COLON &&
  two(bytes, at + 17) <= 59 &&
  bytes[at + 19] === POINT &&
  isDigit(bytes[at + 20]) &&
  isDigit(bytes[at + 21]) &&
  isDigit(bytes[at + 22]) &&
  bytes[at + 23] === 0x5a &&
  bytes[at + 24] === QUOTE;

/** Two digits; not a number where they are none, which no bound holds for. */
function two(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [bytes[at]! - 0x30, bytes[at + 1]! - 0x30];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
