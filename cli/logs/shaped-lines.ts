import {
  BACKSLASH,
  blanksEnd,
  CLOSE_BRACE,
  COLON,
  COMMA,
  LF,
  OPEN_BRACE,
  plainTextEnd,
  QUOTE,
} from "../../grammar/json-bytes.ts";
import { LEVEL_KEYS, LEVELS, MESSAGE_KEYS, TIME_KEYS } from "../../grammar/query/index.ts";
import { skip } from "./partial-entry.ts";

/** A value that is read of every line: a field by its keys, or the entry's level. */
export type SoughtValue = { readonly at: "fields"; readonly path: readonly string[] } | { readonly at: "level" };

/** The kinds of values that a line may have. */
export const TYPE_MISSING = 0;
export const TYPE_TEXT = 1;
export const TYPE_NUMBER = 2;
export const TYPE_TRUE = 3;
export const TYPE_FALSE = 4;

/** After so many shapes no more are learned: each costs memory, and time for every line. */
const MAX_SHAPES = 200;
/** Nor after so many lines that have no shape, such as lines of text. */
const MAX_SHAPELESS = 1000;

/**
 * Reads some values of lines that have the shape of an earlier line: the same keys in the same order, with the same blanks,
 * and values of the same types. Then only the values have to be looked at. The lines of a log have few shapes.
 */
export class ShapedLines {
  /** The type of each sought value of the last line, and its bytes; those of a text without quotation marks. */
  readonly types: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #sought: readonly SoughtValue[];
  readonly #first: Step[] = [];
  #shapes = 0;
  #shapeless = 0;

  constructor(sought: readonly SoughtValue[]) {
    this.#sought = sought;
    this.types = new Uint8Array(sought.length);
    this.starts = new Int32Array(sought.length);
    this.ends = new Int32Array(sought.length);
  }

  /**
   * Reads the line at `at` of bytes that end in LF and returns the position of its LF; -1 if the line has no known shape, or
   * anything unusual in a sought value. If a position is returned, the line is valid JSON.
   */
  read(bytes: Uint8Array, from: number): number {
    const end = this.#read(bytes, from);
    if (end !== UNKNOWN || this.#shapes === MAX_SHAPES || this.#shapeless === MAX_SHAPELESS) return end;
    if (this.#learn(bytes, from)) {
      this.#shapes++;
      return this.#read(bytes, from);
    }
    this.#shapeless++;
    return UNUSUAL;
  }

  #read(bytes: Uint8Array, from: number): number {
    const { types, starts, ends } = this;
    for (let i = 0; i < types.length; i++) types[i] = TYPE_MISSING;
    let at = from;
    let steps = this.#first;
    for (;;) {
      const step = stepAt(steps, bytes, at);
      if (step === undefined) return UNKNOWN;
      at += step.literal.length;
      const start = at;
      switch (step.kind) {
        case "end":
          return at - 1;
        case "text":
          while (IS_PLAIN[bytes[at]!] === 1) at++;
          if (bytes[at] !== QUOTE) {
            if (step.sought >= 0) return UNUSUAL;
            // An escape, or a character that is none in JSON.
            at = skip(bytes, start - 1, 0) - 1;
            if (at < 0) return UNUSUAL;
          }
          break;
        default:
          at = skip(bytes, at, 0);
          if (at < 0) return UNUSUAL;
      }
      if (step.sought >= 0) {
        const type = typeOf(step.kind, bytes[start]!);
        // Lists.
        if (type < 0) return UNUSUAL;
        types[step.sought] = type;
        starts[step.sought] = start;
        ends[step.sought] = at;
      }
      steps = step.next;
    }
  }

  #learn(bytes: Uint8Array, from: number): boolean {
    const line = partsOf(bytes, from);
    if (line === undefined || !isUsual(line, this.#sought)) return false;
    let steps = this.#first;
    for (const { literal, kind, path } of line.parts) {
      let step = steps.find((one) => one.kind === kind && Buffer.compare(one.literal, literal) === 0);
      if (step === undefined) {
        const sought = this.#sought.findIndex((one) => isAtPath(one, path));
        step = { literal, kind, sought, next: [] };
        steps.push(step);
      }
      steps = step.next;
    }
    return true;
  }
}

const UNUSUAL = -1;
const UNKNOWN = -2;

/** The kinds of values between two literals; an object is part of them, so that "object" is none of a line's values. */
type Kind = "text" | "number" | "other" | "object" | "end";

/** Bytes between two values, and the value after them. */
interface Part {
  /** With the quotation marks of texts beside it. */
  readonly literal: Uint8Array;
  readonly kind: Kind;
  /** The keys of the value. */
  readonly path: readonly string[];
}

interface Line {
  readonly parts: readonly Part[];
  /** The keys of each empty object. */
  readonly empty: readonly (readonly string[])[];
}

interface Step {
  readonly literal: Uint8Array;
  readonly kind: Kind;
  /** The number of the value that is sought; -1 for all others. */
  readonly sought: number;
  readonly next: Step[];
}

/** Bytes of a text that need no look: neither its end, nor an escape, nor a control character. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

function stepAt(steps: readonly Step[], bytes: Uint8Array, at: number): Step | undefined {
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    const { literal } = step;
    let same = 0;
    while (same < literal.length && literal[same] === bytes[at + same]) same++;
    if (same < literal.length) continue;
    // The same bytes may come before values of different types.
    if (step.kind === "text" || step.kind === "end" || step.kind === kindOf(bytes[at + same]!)) return step;
  }
  return undefined;
}

const kindOf = (byte: number): Kind =>
  byte === QUOTE
    ? "text"
    : byte === OPEN_BRACE
      ? "object"
      : byte === 0x2d || (byte >= 0x30 && byte <= 0x39)
        ? "number"
        : "other";

function typeOf(kind: Kind, first: number): number {
  if (kind === "text") return TYPE_TEXT;
  if (kind === "number") return TYPE_NUMBER;
  return first === 0x74 ? TYPE_TRUE : first === 0x66 ? TYPE_FALSE : first === 0x6e ? TYPE_MISSING : -1;
}

/** A line in its parts; undefined if it is not a JSON object, or has anything unusual. */
function partsOf(bytes: Uint8Array, from: number): Line | undefined {
  const parts: Part[] = [];
  const empty: (readonly string[])[] = [];
  let literalStart = from;
  let at = blanksEnd(bytes, from);
  const add = (kind: Kind, valueStart: number, path: readonly string[]) => {
    // A copy: the buffer is reused, and slice of a Buffer would share it.
    parts.push({ literal: new Uint8Array(bytes.subarray(literalStart, valueStart)), kind, path });
  };
  /** Reads the object at `at`; whether it has nothing unusual. */
  const object = (path: readonly string[]): boolean => {
    const keys = new Set<string>();
    at = blanksEnd(bytes, at + 1);
    if (bytes[at] === CLOSE_BRACE) {
      at++;
      empty.push(path);
      return true;
    }
    for (;;) {
      if (bytes[at] !== QUOTE) return false;
      const end = plainTextEnd(bytes, at + 1);
      if (end < 0) return false;
      const key = Buffer.from(bytes.subarray(at + 1, end)).toString("utf8");
      // JSON.parse lets the last of two win, and takes __proto__ for a key.
      if (keys.has(key) || key === "__proto__") return false;
      keys.add(key);
      at = blanksEnd(bytes, end + 1);
      if (bytes[at] !== COLON) return false;
      at = blanksEnd(bytes, at + 1);
      if (!value([...path, key])) return false;
      at = blanksEnd(bytes, at);
      if (bytes[at] === COMMA) at = blanksEnd(bytes, at + 1);
      else if (bytes[at] === CLOSE_BRACE) break;
      else return false;
    }
    at++;
    return true;
  };
  const value = (path: readonly string[]): boolean => {
    if (bytes[at] === OPEN_BRACE) return path.length < MAX_DEPTH && object(path);
    const kind = kindOf(bytes[at]!);
    add(kind, kind === "text" ? at + 1 : at, path);
    at = skip(bytes, at, 0);
    literalStart = kind === "text" ? at - 1 : at;
    return at >= 0;
  };
  if (bytes[at] !== OPEN_BRACE || !object([])) return undefined;
  at = blanksEnd(bytes, at);
  if (bytes[at] !== LF) return undefined;
  add("end", at + 1, []);
  return { parts, empty };
}

const MAX_DEPTH = 16;

const OWN_KEYS: ReadonlySet<string> = new Set(["id", "timestamp", "level", "message", "fields"]);
const LOGGER_KEYS: ReadonlySet<string> = new Set([...LEVEL_KEYS.map(({ key }) => key), ...MESSAGE_KEYS, ...TIME_KEYS]);

/** Whether a field of that name is one in every line, whoever wrote it. */
export const isAlwaysField = (name: string) => !OWN_KEYS.has(name) && !LOGGER_KEYS.has(name);

/** Whether the sought values of the line are where `isAtPath` looks for them. */
function isUsual({ parts, empty }: Line, sought: readonly SoughtValue[]): boolean {
  const values = parts.filter(({ kind }) => kind !== "end");
  // Fields that are not an object are one field.
  if (values.some(({ path }) => path.length === 1 && path[0] === "fields")) return false;
  const paths = [...values.map(({ path }) => path), ...empty];
  const isThere = (...keys: string[]) => paths.some((path) => keys.every((key, at) => path[at] === key));
  return sought.every((one) => {
    if (one.at === "level") {
      // As the runtime writes it; keys of other loggers may say another level.
      const isText = (name: string) => values.some(({ path, kind }) => isSame(path, [name]) && kind === "text");
      return isText("level") && isText("message") && values.every(({ path }) => OWN_KEYS.has(path[0]!));
    }
    const key = one.path[0]!;
    if (isThere(key) && isThere("fields", key)) return false;
    // An object at the path.
    return !(
      empty.some((path) => isAtPath(one, path)) ||
      paths.some((path) => path.some((_, at) => at > 0 && isAtPath(one, path.slice(0, at))))
    );
  });
}

function isAtPath(sought: SoughtValue, path: readonly string[]): boolean {
  if (sought.at === "level") return isSame(path, ["level"]);
  return isSame(path, sought.path) || isSame(path, ["fields", ...sought.path]);
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((key, at) => key === b[at]);

/** Levels as groups show them; other spellings are read in the general way. */
export const isLevelText = (bytes: Uint8Array, start: number, end: number) =>
  LEVEL_BYTES.some((level) => {
    if (level.length !== end - start) return false;
    for (let at = 0; at < level.length; at++) if (bytes[start + at] !== level[at]) return false;
    return true;
  });

const LEVEL_BYTES = LEVELS.map((level) => new Uint8Array(Buffer.from(level)));
