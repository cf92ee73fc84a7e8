import { type Comparison, type Expr, type Field, type Query, target, type Value } from "./ast.ts";
import {
  afterKey,
  afterLevelKeyPart,
  beginsOutside,
  LEVEL_KEY_LETTERS,
  LEVEL_KEY_PART,
  type TimeBound,
  type ValueTest,
} from "./bytes.ts";
import { LEVELS, type Level, levelOf, severity } from "./levels.ts";
import { isTimeUnit } from "./literals.ts";
import type { PredicateOptions } from "./predicate.ts";
import { parseMoment } from "./timestamp.ts";

/** The tests of a query on the bytes of a line before the line is parsed. */
export interface ScanPlan {
  /**
   * Each line of NDJSON (or of text) that the query selects shows at least one of these in its UTF-8 bytes, unless the
   * line hides it in an escape. Undefined: nothing is known, every line may be selected. None: no line is.
   */
  readonly needles: readonly Needle[] | undefined;
  /**
   * If there are no needles: whether the timestamp at the beginning of a line excludes the line, unless the line has the
   * key `timestamp` a second time. Returns the length of that beginning, or 0.
   */
  readonly isOutside: ((bytes: Uint8Array, at: number) => number) | undefined;
  /** The UTF-16 units of all needles: a line with one of them as `\uXXXX` (or `\/`) may hide a needle. */
  readonly units: ReadonlySet<number>;
}

/** Bytes to search for. They hold no line end. */
export interface Needle {
  readonly bytes: Uint8Array;
  /**
   * Whether a quotation mark must precede them. It is left out of the bytes: searches stop at each, and lines are full of
   * them.
   */
  readonly isQuoted: boolean;
  /** Whether the value after these bytes, which end a key, may be one that the query selects. Undefined: no key. */
  readonly accepts: ((bytes: Uint8Array, at: number) => boolean) | undefined;
}

/**
 * Finds what every selected line must contain: of `and` the term that promises the rarest hits, of `or` something for
 * each term, of `not` nothing. Sound and not exact: the predicate decides on the parsed line.
 */
export function planScan(query: Query, options: ScanOptions): ScanPlan {
  const need = query.expr && needs(query.expr);
  // Each needle is a search of its own: with many, reading every line costs less.
  const hints = need === undefined || need.hints.length > MAX_NEEDLES ? undefined : need.hints;
  const isOutside = hints === undefined ? beginsOutside(bounds(query, options)) : undefined;
  const units = new Set<number>();
  const letters = [...(hints ?? []).map((hint) => lettersOf(hint, options)), isOutside === undefined ? "" : TIME_KEY];
  for (const text of letters) for (let i = 0; i < text.length; i++) units.add(text.charCodeAt(i));
  return { needles: hints?.map((hint) => toNeedle(hint, options)), isOutside, units };
}

/** The key that `isOutside` is about. */
export const TIME_KEY = "timestamp";

export interface ScanOptions extends PredicateOptions {
  /** Where given, entries from this moment on are wanted, in milliseconds since 1970 ... */
  readonly sinceMs?: number | undefined;
  /** ... and those before this one. An entry without a time is in no period. */
  readonly untilMs?: number | undefined;
  /** Shows some levels in lines with a form of their own for them. Default: a key and a value that loggers write. */
  readonly levelNeedle?: (levels: ReadonlySet<Level>) => Needle;
}

const MAX_NEEDLES = 8;

type Hint =
  | {
      readonly kind: "text" | "quoted" | "key";
      /** Free of characters that JSON must escape. */
      readonly text: string;
      readonly test?: ValueTest;
    }
  | { readonly kind: "level"; readonly levels: readonly Level[] };

/** `rarity` orders the terms of an `and`; the numbers only have to be right about what is worse than what. */
interface Need {
  readonly hints: readonly Hint[];
  readonly rarity: number;
}

const NEVER: Need = { hints: [], rarity: 1000 };

function needs(expr: Expr): Need | undefined {
  switch (expr.kind) {
    case "or":
      return anyOf(expr.terms.map(needs));
    case "and": {
      let best: Need | undefined;
      for (const term of expr.terms) {
        const need = needs(term);
        if (need !== undefined && need.hints.length <= MAX_NEEDLES && need.rarity > (best?.rarity ?? -1)) best = need;
      }
      return best;
    }
    case "not":
      return undefined;
    case "comparison":
      return comparison(expr);
    case "in":
      return anyOf(expr.values.map((value) => equality(expr.field, value))) ?? keyOf(expr.field);
    case "contains":
      return textual(expr.field, [expr.text.chunks.join("*")], false);
    case "match":
    case "exists":
    case "truthy":
      return keyOf(expr.field);
    case "level":
      return levels((level) => level === levelOf(expr.word));
    case "stage":
      // Most logs know one stage or two.
      return { hints: [{ kind: "quoted", text: expr.word.toLowerCase() }], rarity: 10 };
    case "message":
      return literal(expr.text.chunks, false);
  }
}

/** The times that a selected line may have: those of the period, and of what the query says at its top. */
function bounds({ expr }: Query, { sinceMs, untilMs, nowMs }: ScanOptions): TimeBound[] {
  const timeBounds: TimeBound[] = [];
  if (sinceMs !== undefined) timeBounds.push({ op: ">=", bound: sinceMs });
  if (untilMs !== undefined) timeBounds.push({ op: "<", bound: untilMs });
  for (const term of expr?.kind === "and" ? expr.terms : [expr]) {
    if (term?.kind !== "comparison" || term.op === "=" || term.op === "!=") continue;
    const place = target(term.field);
    if (place.at !== "entry" || place.name !== "timestamp") continue;
    const bound = timeBound(term.value, nowMs);
    if (bound !== undefined) timeBounds.push({ op: term.op, bound });
  }
  return timeBounds;
}

function anyOf(terms: readonly (Need | undefined)[]): Need | undefined {
  const all: Need[] = [];
  for (const term of terms) {
    if (term === undefined) return undefined;
    all.push(term);
  }
  return { hints: joined(all.flatMap(({ hints }) => hints)), rarity: Math.min(...all.map(({ rarity }) => rarity)) };
}

/** All levels are one search. */
function joined(hints: readonly Hint[]): readonly Hint[] {
  const levels = hints.flatMap((hint) => (hint.kind === "level" ? hint.levels : []));
  const others = hints.filter(({ kind }) => kind !== "level");
  return levels.length === 0 ? others : [...others, { kind: "level", levels }];
}

function comparison({ field, op, value }: Comparison): Need | undefined {
  if (op === "=") return equality(field, value);
  if (op === "!=") return keyOf(field);
  const place = target(field);
  const name = place.at === "entry" ? place.name : undefined;
  if (name === "level") {
    const bound = value.kind === "word" || value.kind === "string" ? levelOf(value.chunks.join("*")) : undefined;
    if (bound === undefined) return undefined;
    const than = severity(bound);
    return levels((level) => compare(op, severity(level), than));
  }
  return value.kind === "number" ? keyOf(field, { kind: "number", op, bound: value.value }) : keyOf(field);
}

function timeBound(value: Value, nowMs: number): number | undefined {
  if (value.kind === "number") {
    return value.unit !== undefined && isTimeUnit(value.unit) ? nowMs - value.value : undefined;
  }
  return value.kind === "string" || value.kind === "word" ? parseMoment(value.chunks.join("*")) : undefined;
}

function compare(op: "<" | "<=" | ">" | ">=", a: number, b: number): boolean {
  return op === "<" ? a < b : op === "<=" ? a <= b : op === ">" ? a > b : a >= b;
}

function equality(field: Field, value: Value): Need | undefined {
  switch (value.kind) {
    case "string":
    case "word":
      return textual(field, value.chunks, true);
    case "number":
      return keyOf(field, {
        kind: "equal",
        value: value.value,
        // The digits may also be a text.
        text: value.unit === undefined ? value.text : undefined,
      });
    case "boolean":
      return keyOf(field, { kind: "start", byte: value.value ? 0x74 : 0x66 });
    case "null":
      return keyOf(field, { kind: "start", byte: 0x6e });
  }
}

/** A text that holds the chunks: from its beginning to its end if it `isWhole`. */
function textual(field: Field, chunks: readonly string[], isWhole: boolean): Need | undefined {
  const place = target(field);
  const name = place.at === "entry" ? place.name : undefined;
  if (name === "message") return literal(chunks, false);
  // The time of an entry may be written as a number, and is "" where there is none.
  if (name === "timestamp") return undefined;
  if (name === "level") {
    // A wildcard may select spellings that do not hold its text; few queries use one on a level.
    if (!isWhole || chunks.length > 1) return undefined;
    // A logger may have written more than this text: DEBUG-4 is shown as DEBUG.
    const level = levelOf(chunks[0]!);
    return level === undefined ? literal(chunks, true) : levels((other) => other === level);
  }
  // A number beyond float64 is the text of its digits, and has no quotation marks.
  const isNumber = chunks.length === 1 && /^-?\d/.test(chunks[0]!) && !Number.isFinite(Number(chunks[0]!));
  return literal(chunks, isWhole && !isNumber) ?? keyOf(field);
}

/** A line without a level is at info, and nothing in its bytes says so. */
function levels(passes: (level: Level) => boolean): Need | undefined {
  if (passes("info")) return undefined;
  const passing = LEVELS.filter(passes);
  return passing.length === 0 ? NEVER : { hints: [{ kind: "level", levels: passing }], rarity: 20 };
}

/** The longest piece of the chunks that a line shows as it is, or in an escape that is looked for. */
function literal(chunks: readonly string[], isQuoted: boolean): Need | undefined {
  if (isQuoted && chunks.length === 1 && chunks[0] !== "" && !SPLIT.test(chunks[0]!)) {
    return { hints: [{ kind: "quoted", text: chunks[0]! }], rarity: 20 + chunks[0]!.length };
  }
  let text = "";
  for (const piece of chunks.flatMap((chunk) => chunk.split(SPLIT))) if (piece.length > text.length) text = piece;
  return text === "" ? undefined : { hints: [{ kind: "text", text }], rarity: 15 + text.length };
}

// Quotation marks, backslashes and control characters are written as escapes in JSON and as themselves in lines of text.
// Halves of surrogate pairs have no bytes of their own, and U+FFFD is what bytes that are no UTF-8 turn into.
const SPLIT = /["\\\u0000-\u001f\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The key at the end of a path: where it is missing every test is false. The entry's own properties have defaults. */
function keyOf(field: Field, test?: ValueTest): Need | undefined {
  const place = target(field);
  if (place.at === "entry" && place.name !== "id") return undefined;
  const path = place.at === "entry" ? [place.name] : place.path;
  const key = path.findLast((segment) => typeof segment === "string");
  if (key === undefined || key === "") return undefined;
  if (SPLIT.test(key)) return literal([key], false);
  const isTested = test !== undefined && typeof path.at(-1) === "string";
  return { hints: [{ kind: "key", text: key, ...(isTested && { test }) }], rarity: isTested ? 25 : 5 };
}

/** The characters that a line may write as escapes, so that the needle is hidden. */
const lettersOf = (hint: Hint, { levelNeedle }: ScanOptions) =>
  hint.kind !== "level" ? hint.text : levelNeedle === undefined ? LEVEL_KEY_LETTERS : "";

function toNeedle(hint: Hint, { levelNeedle }: ScanOptions): Needle {
  if (hint.kind === "level") {
    const levels = new Set(hint.levels);
    if (levelNeedle !== undefined) return levelNeedle(levels);
    return {
      bytes: utf8(LEVEL_KEY_PART),
      isQuoted: false,
      accepts: afterLevelKeyPart((level) => levels.has(level)),
    };
  }
  const { kind, text, test } = hint;
  return {
    bytes: utf8(kind === "text" ? text : `${text}"`),
    isQuoted: kind !== "text",
    accepts: kind === "key" ? afterKey(test) : undefined,
  };
}

/** The bytes of a text without halves of surrogate pairs. */
function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    }
  }
  return Uint8Array.from(bytes);
}
