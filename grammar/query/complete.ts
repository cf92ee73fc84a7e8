import type { Span } from "../problem.ts";
import type { NumberUnit } from "./ast.ts";
import { Expectation } from "./expected.ts";
import {
  type FieldType,
  KNOWN_FIELDS,
  KNOWN_VALUES,
  type KnownField,
  type KnownValue,
  WORD_DOCS,
} from "./known-fields.ts";
import { LEVEL_SPELLINGS, LEVELS, STAGE_WORDS } from "./levels.ts";
import { encodeString, isTimeUnit, NUMBER_UNITS } from "./literals.ts";
import { aboutColumn } from "./pipe/columns.ts";
import * as inPipe from "./pipe/complete.ts";
import { KEYWORD_DOCS, PIPE_DOCS, PIPE_USES, PIPE_WORDS } from "./pipe-words.ts";
import { type Token, tokenize } from "./tokens.ts";

export type CompletionKind =
  | "field"
  | "operator"
  | "value"
  | "unit"
  | "keyword"
  | "level"
  | "stage"
  | "column"
  | "function";

export interface CompletionItem {
  readonly label: string;
  readonly kind: CompletionKind;
  /** Replaces `span`, which holds or touches the cursor. */
  readonly insertText: string;
  /** The same with `${1:placeholders}`, if there is something to fill in. */
  readonly snippet?: string;
  readonly span: Span;
  /** A few words to show beside the label. */
  readonly detail?: string;
  readonly documentation?: string;
  /** Items are sorted by it. */
  readonly sortText: string;
}

export interface QueryCompletion {
  readonly items: readonly CompletionItem[];
}

/** Facts about the entries that the query is for, beside the fields that every entry has. */
export interface CompletionSources {
  readonly fields?: readonly KnownField[];
  /** The values of a field, named as in the query. */
  readonly values?: (field: string) => readonly KnownValue[];
}

/**
 * Returns the items that may be written at the cursor, best first. Works in any text, broken ones too: the text before
 * the token under the cursor is matched, and what the grammar expects after it is offered, as far as it begins with (or
 * holds) what has been typed. Nothing in regular expressions. An editor keeps a `QuerySession`, which answers the next
 * key faster.
 */
export function complete(source: string, offset: number, sources: CompletionSources = {}): QueryCompletion {
  return completeWith(new Expectation(), source, offset, sources);
}

export function completeWith(
  expectation: Expectation,
  source: string,
  offset: number,
  sources: CompletionSources,
): QueryCompletion {
  const at = Math.max(0, Math.min(offset, source.length));
  const tokens = tokenize(source.slice(0, at));
  const last = tokens.at(-1);
  const touched = last !== undefined && last.end === at ? last : undefined;
  if (touched !== undefined && SILENT.has(touched.kind)) return { items: [] };

  const items: CompletionItem[] = [];
  const partly = touched === undefined ? undefined : partial(source, tokens, at);
  for (const slot of [partly, freshSlot(source, touched, at)]) {
    if (slot === undefined) continue;
    const before = tokens.filter(({ end }) => end <= slot.span.start);
    const expected = expectedAt(expectation, source, before, slot.span.start);
    const pipe = inPipe.pipeAt(source, before);
    items.push(...itemsFor({ ...slot, source, tokens: before, expected, sources, pipe }));
  }
  return { items: items.sort((a, b) => (a.sortText < b.sortText ? -1 : a.sortText > b.sortText ? 1 : 0)) };
}

// Nothing is offered in an expression, nor after a character that the language has no use for.
const SILENT: ReadonlySet<Token["kind"]> = new Set(["regex", "unclosed-regex", "wrong-quotes", "wrong-blank"]);

/** Where an item goes, and what of it has been typed. */
interface Slot {
  readonly span: Span;
  readonly typed: string;
  /** Written after an item: a blank if the item would touch the word that follows. */
  readonly tail: string;
}

/** The token under the cursor, the part after the cursor included. */
function partial(source: string, tokens: readonly Token[], at: number): Slot | undefined {
  let index = tokens.length - 1;
  const last = tokens[index]!;
  if (last.kind === "open" || last.kind === "close" || last.kind === "comma") return undefined;
  const quoted = last.kind === "unclosed-string" || last.kind === "string";
  // user., items[0, fields["odd
  while (index > 0 && tokens[index - 1]!.end === tokens[index]!.start && continuesName(tokens, index)) index--;
  const start = tokens[index]!.start;
  const rest = source.slice(at);
  const remainder =
    last.kind === "string" ? "" : (quoted ? /^[^"\s]*"\]?/ : isSymbol(last) ? /^[=<>]*/ : WORD_REST).exec(rest);
  const end = at + (remainder?.[0] ?? "").length;
  return { span: { start, end }, typed: source.slice(start, at), tail: "" };
}

const WORD_REST = /^[\p{L}\p{M}0-9_\-.:@+%*$]*(?:\[(?:[0-9]+|"[^"\\\r\n]*")\][\p{L}\p{M}0-9_\-.@$]*)*/u;

function continuesName(tokens: readonly Token[], index: number): boolean {
  const [before, token] = [tokens[index - 1]!, tokens[index]!];
  if (token.kind === "other" && token.text === "[") return before.kind === "word";
  if (before.kind === "other" && before.text === "[") return true;
  return token.kind === "word" && token.text.startsWith(".") && before.kind === "word";
}

/** A place of its own at the cursor, where a token may begin. */
function freshSlot(source: string, touched: Token | undefined, at: number): Slot | undefined {
  const begins = touched === undefined || isSymbol(touched) || BEGINS.has(touched.kind);
  if (!begins) return undefined;
  const tail = /[\p{L}\p{M}0-9_"./@$*%+-]/u.test(source[at] ?? "") ? " " : "";
  return { span: { start: at, end: at }, typed: "", tail };
}

const isSymbol = (token: Token) => token.kind !== "word" && /^[=<>!~&|]/.test(token.text);
const BEGINS: ReadonlySet<Token["kind"]> = new Set(["open", "comma"]);

/** Returns what the grammar expects at an offset; if the text before is wrong, as if the query began after the slip. */
function expectedAt(
  expectation: Expectation,
  source: string,
  before: readonly Token[],
  at: number,
): ReadonlySet<string> {
  const whole = expectation.after(source.slice(0, at));
  if (whole !== undefined) return whole;
  const starts: number[] = [];
  for (let index = before.length - 1; index >= 0 && starts.length < MAX_STARTS; index--) {
    const { kind, end } = before[index]!;
    const inList = kind === "open" && before[index - 1]?.kind === "in";
    if (kind === "and" || kind === "or" || (kind === "open" && !inList)) starts.push(end);
  }
  for (const token of before.slice(-MAX_STARTS)) starts.push(token.start);
  for (const start of starts) {
    const expected = expectation.after(source.slice(start, at));
    if (expected !== undefined) return expected;
  }
  return expectation.after("") ?? new Set();
}

// A condition has at most four tokens before its value; more would only take time.
const MAX_STARTS = 4;

interface Context extends Slot {
  readonly source: string;
  /** The stage that the cursor is in. */
  readonly pipe: inPipe.PipeCursor | undefined;
  readonly tokens: readonly Token[];
  readonly expected: ReadonlySet<string>;
  readonly sources: CompletionSources;
}

function itemsFor(context: Context): CompletionItem[] {
  const { pipe, source, span } = context;
  if (pipe === undefined) return termItems(context);
  const items = [...termItems(context), ...pipeItems(context)];
  // In conditions each name is a column already.
  if (pipe.tokens[0]?.text === "where") return items;
  const isAllowed = (text: string) => inPipe.isAllowed(source.slice(0, span.start) + text, pipe);
  return items.filter(({ kind, insertText }) => kind === "function" || isAllowed(insertText));
}

/** Items for the parts of terms, and for their values. */
function termItems(context: Context): CompletionItem[] {
  const { expected, typed, pipe } = context;
  if (pipe !== undefined && isStep(expected)) return stepItems(context);
  const call = pipe && inPipe.openCall(pipe);
  // Only rows have columns that are named like calls.
  if (call !== undefined) return call.isComputed || pipe?.input.kind === "rows" ? fieldItems(context) : [];
  if (expected.has("a word") || (expected.has("a number") && !expected.has("a field"))) return valueItems(context);
  const items: CompletionItem[] = [];
  const has = (column: string) => pipe?.input.kind !== "rows" || inPipe.rowColumnOf(pipe, column) !== undefined;
  if (typed.startsWith('"'))
    return expected.has("a quoted text") && has("message") ? valuesOf(context, "message", true) : [];
  if (expected.has("an operator")) items.push(...operatorItems(context));
  else if (expected.has("in")) items.push(...keyword(context, "in", "1", "operator"));
  for (const word of ["and", "or"] as const) if (expected.has(word)) items.push(...keyword(context, word, "2"));
  // Names side by side are no terms of a stage.
  if (pipe !== undefined && expected.has("an operator")) return items;
  if (expected.has("a field")) items.push(...fieldItems(context));
  if (expected.has("a level") && has("level")) {
    // Who begins to write a level rarely means a field of its name, such as error.message.
    const sortOf = (level: string) => (typed.length > 1 && level.startsWith(typed.toLowerCase()) ? "2" : "4");
    for (const [rank, level] of LEVELS.entries()) {
      items.push(
        ...item(context, {
          label: level,
          kind: "level",
          sort: `${sortOf(level)}${rank}`,
          detail: "level",
          documentation: WORD_LEVEL,
        }),
      );
      for (const alias of LEVEL_SPELLINGS[level].slice(1)) {
        if (typed !== "")
          items.push(
            ...item(context, {
              label: alias,
              kind: "level",
              sort: `${sortOf(alias)}${rank}${alias}`,
              detail: `level, as ${level}`,
              documentation: WORD_LEVEL,
            }),
          );
      }
    }
  }
  if (expected.has("a stage") && has("stage")) {
    for (const stage of STAGE_WORDS) {
      items.push(
        ...item(context, {
          label: stage,
          kind: "stage",
          sort: `5${stage}`,
          detail: "stage",
          documentation: `stage = ${stage}`,
        }),
      );
    }
  }
  for (const word of ["not", "exists"] as const) {
    if (expected.has(word) && expected.has("a field")) items.push(...keyword(context, word, "6"));
  }
  return items;
}

/** Only after `timeseries` may a number be that is no value. */
const isStep = (expected: ReadonlySet<string>) => expected.has("a number") && !expected.has("a word");

/** Words of stages, and functions where nothing else may be. */
function pipeItems(context: Context): CompletionItem[] {
  const { expected, pipe, source, span } = context;
  const items: CompletionItem[] = [];
  for (const [rank, label] of PIPE_WORDS.entries()) {
    const offer = { label, sort: `7${rank}`, detail: `such as ${PIPE_USES[label]}`, documentation: PIPE_DOCS[label] };
    if (expected.has(label)) items.push(...item(context, { ...offer, kind: "keyword" }));
  }
  for (const label of ["by", "as", "asc", "desc"] as const) {
    const offer = { label, sort: `1${label}`, detail: "keyword", documentation: KEYWORD_DOCS[label] };
    if (expected.has(label)) items.push(...item(context, { ...offer, kind: "keyword" }));
  }
  if (pipe === undefined || !expected.has("a function") || expected.has("a field")) return items;
  for (const [rank, { text, example, documentation }] of inPipe
    .functionsAt(source.slice(0, span.start), pipe)
    .entries()) {
    const offer = { label: text, sort: `8${rank}`, detail: "function", documentation, snippet: example };
    items.push(...item(context, { ...offer, kind: "function" }));
  }
  return items;
}

function stepItems(context: Context): CompletionItem[] {
  const number = /^\d+/.exec(context.typed)?.[0];
  const typed = number === undefined ? [] : ["s", "m", "h", "d"].map((unit) => `${number}${unit}`);
  const steps = [...new Set([...inPipe.STEPS, ...typed])].filter((step) => step.startsWith(context.typed));
  return steps.flatMap((label, rank) =>
    item(context, { label, kind: "unit", sort: `0${String(rank).padStart(2, "0")}`, detail: "step of time" }),
  );
}

const WORD_LEVEL = "A level alone tests the entry's level; all its spellings are equal.";

function operatorItems(context: Context): CompletionItem[] {
  const field = inPipe.operandBefore(context.source, context.tokens);
  const type = field === undefined ? undefined : typeOf(field, context);
  const operators = OPERATORS_OF[type ?? "any"];
  return operators.flatMap((operator, rank) => keyword(context, operator, `1${rank}`, "operator"));
}

const EVERY = ["=", "!=", ">=", ">", "<=", "<", "contains", "~", "in", "not in"];
const OPERATORS_OF: Readonly<Record<FieldType | "any", readonly string[]>> = {
  any: EVERY,
  string: ["=", "!=", "contains", "~", "in", "not in"],
  number: [">=", ">", "<=", "<", "=", "!=", "in", "not in"],
  bytes: [">=", ">", "<=", "<", "=", "!="],
  duration: [">=", ">", "<=", "<", "=", "!="],
  boolean: ["=", "!="],
  level: [">=", "=", "!=", ">", "<=", "<", "in", "not in"],
  timestamp: [">", ">=", "<", "<="],
};

function fieldItems(context: Context): CompletionItem[] {
  const columns = context.pipe && inPipe.columnsAt(context.pipe);
  if (columns !== undefined) {
    return columns.flatMap(({ text, column }, rank) =>
      item(context, {
        label: text,
        kind: "column",
        sort: `3${String(rank).padStart(3, "0")}`,
        detail: aboutColumn(column),
      }),
    );
  }
  const supplied = context.sources.fields ?? [];
  const fieldsByName = new Map<string, KnownField>(KNOWN_FIELDS.map((field) => [field.name, field]));
  for (const field of supplied) fieldsByName.set(field.name, { ...fieldsByName.get(field.name), ...field });
  const items: CompletionItem[] = [];
  const isNumeric = inPipe.takesNumbers(context.pipe);
  for (const field of fieldsByName.values()) {
    if (isNumeric && (field.type === "string" || field.type === "boolean")) continue;
    const detail = field.type ?? "field";
    items.push(
      ...item(context, {
        label: fieldText(field.name),
        kind: "field",
        sort: MOST_ASKED.includes(field.name) ? `3 ${MOST_ASKED.indexOf(field.name)}` : `3${rankOf(field.count)}`,
        detail,
        documentation: field.documentation,
      }),
    );
  }
  return items;
}

/** A name as a query can hold it. */
function fieldText(name: string): string {
  if (FIELD.test(name) && !RESERVED.test(name)) return name;
  return `fields["${encodeString([name], false)}"]`;
}

const FIELD =
  /^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*(?:\.[\p{L}_@$][\p{L}\p{M}0-9_@$-]*|\[[0-9]+\]|\["(?:[^"\\\r\n]|\\["\\nt*])*"\])*$/u;
const RESERVED = /^(?:and|or|not|in|contains|exists)(?![\p{L}\p{M}0-9_@$-])/iu;

function valueItems(context: Context): CompletionItem[] {
  const { typed, expected } = context;
  const field = fieldOf(context);
  const type = field === undefined ? undefined : typeOf(field, context);
  const number = NUMBER.exec(typed);
  const items: CompletionItem[] = [];
  if (number !== null && number[1] !== "-" && expected.has("a number")) {
    const timed = type === "duration" || type === "timestamp";
    const units = (Object.keys(NUMBER_UNITS) as NumberUnit[]).filter((unit) => {
      if (type === "number" || type === "string" || type === "boolean" || type === "level") return false;
      return type === undefined || isTimeUnit(unit) === timed;
    });
    for (const [rank, unit] of units.entries()) {
      const detail = isTimeUnit(unit) ? `${NUMBER_UNITS[unit]} ms each` : `${NUMBER_UNITS[unit]} bytes each`;
      items.push(...item(context, { label: `${number[1]}${unit}`, kind: "unit", sort: `1${rank}`, detail }));
    }
  }
  if (field === undefined) return items;
  return [...items, ...valuesOf(context, field, expected.has("a quoted text"))];
}

function valuesOf(context: Context, field: string, quotable: boolean): CompletionItem[] {
  const { tokens, expected } = context;
  const type = typeOf(field, context);
  const column = context.pipe && inPipe.rowColumnOf(context.pipe, field);
  // A computed column has no known values.
  if (column?.type === "number" && !column.isGroup) return [];
  const ordered = tokens.at(-1)?.kind === "compare" && /^[<>]/.test(tokens.at(-1)!.text);
  const values: KnownValue[] = [...(context.sources.values?.(field) ?? [])];
  const seen = new Set(values.map(({ value }) => value));
  for (const value of Object.hasOwn(KNOWN_VALUES, field) ? KNOWN_VALUES[field]! : [])
    if (!seen.has(value)) values.push({ value });
  if (type === "boolean" && values.length === 0) values.push({ value: true }, { value: false });

  const items: CompletionItem[] = [];
  for (const [rank, { value, count }] of values.entries()) {
    // An ordering takes numbers, and a level's names.
    if (ordered && type !== "level" && typeof value !== "number") continue;
    const text = valueText(value, context.typed.startsWith('"') || !expected.has("a word"), expected.has("a number"));
    if (text === undefined || (text.startsWith('"') && !quotable)) continue;
    const detail = count === undefined ? field : count === 1 ? "1 entry" : `${count} entries`;
    const sort = `0${rankOf(count)}${String(rank).padStart(4, "0")}`;
    items.push(...item(context, { label: text, kind: field === "level" ? "level" : "value", sort, detail }));
  }
  if (ordered && type === "timestamp") {
    for (const [rank, ago] of ["15m", "1h", "6h", "1d", "7d"].entries()) {
      items.push(...item(context, { label: ago, kind: "value", sort: `0${rank}`, detail: `${ago} ago` }));
    }
  }
  return items;
}

/** Bare where that reads as the same text, otherwise in quotes. */
function valueText(value: string | number | boolean, quoted: boolean, numbers: boolean): string | undefined {
  if (typeof value === "number") {
    if (!Number.isFinite(value) || quoted) return undefined;
    return numbers ? String(value).replace("e+", "e") : undefined;
  }
  if (typeof value === "boolean") return quoted ? undefined : String(value);
  if (value.length > MAX_VALUE) return undefined;
  const bare = !quoted && WORD.test(value) && !READS_OTHERWISE.test(value);
  return bare ? value : `"${encodeString([value], true)}"`;
}

// A value that fills the screen is no help; UTF-16 units.
const MAX_VALUE = 200;
const WORD = /^[\p{L}\p{M}0-9_\-./:@+%]+$/u;
const READS_OTHERWISE = /^(?:and|or|not|in|contains|exists|true|false|null|-?\.?\d.*|~.*)$/i;
const NUMBER = /^(-?(?:\d+(?:\.\d+)?|\.\d+))[a-z]*$/;

/** The field that the value at the end of the tokens is compared with. */
function fieldOf({ source, tokens }: Context): string | undefined {
  let index = tokens.length - 1;
  const inList = tokens[index]?.kind === "comma" || tokens[index]?.kind === "open";
  if (inList) while (index >= 0 && tokens[index]!.kind !== "in") index--;
  index--;
  if (tokens[index]?.kind === "not") index--;
  return inPipe.operandBefore(source, tokens.slice(0, index + 1));
}

function typeOf(name: string, { sources, pipe }: Context): FieldType | undefined {
  const column = pipe && inPipe.rowColumnOf(pipe, name);
  if (column !== undefined && column.type !== "value") return inPipe.fieldTypeOf(column);
  const supplied = sources.fields?.find((field) => field.name === name)?.type;
  return supplied ?? KNOWN_FIELDS.find((field) => field.name === name)?.type;
}

function keyword(context: Context, word: string, sort: string, kind: CompletionKind = "keyword"): CompletionItem[] {
  return item(context, { label: word, kind, sort: `${sort}${word}`, detail: kind, documentation: WORD_DOCS[word] });
}

interface Offer {
  readonly label: string;
  readonly kind: CompletionKind;
  /** Orders items of one rank. */
  readonly sort: string;
  readonly detail: string;
  readonly documentation?: string | undefined;
  readonly snippet?: string | undefined;
}

/** The item, if what was typed is a part of it. */
function item({ typed, span, tail }: Context, offer: Offer): CompletionItem[] {
  const { label, kind, sort, detail, documentation, snippet } = offer;
  const index = plain(label).indexOf(plain(typed));
  // One letter is in every other name.
  if (index < 0 || (index > 0 && typed.length < 2)) return [];
  const insertText = label + tail;
  const sortText = `${index === 0 ? 0 : 1}${sort}${label}`;
  const more = { ...(documentation && { documentation }), ...(snippet && { snippet: snippet + tail }) };
  return [{ label, kind, insertText, span, detail, ...more, sortText }];
}

const plain = (text: string) => text.toLowerCase().replace(/^"|"$/g, "");

/** Sorts the frequent first. */
/** The fields that most queries begin with. They come before those that were seen more often. */
const MOST_ASKED: readonly string[] = ["level", "status", "message"];

const rankOf = (count = 0) => String(MAX_COUNT - Math.min(count, MAX_COUNT)).padStart(9, "0");
const MAX_COUNT = 999_999_999;
