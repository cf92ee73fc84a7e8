import type { Span } from "../problem.ts";
import {
  type Comparison,
  comparedType,
  type Expr,
  type Field,
  type NumberValue,
  type Query,
  target,
  type Value,
} from "./ast.ts";
import { KNOWN_FIELDS, WORD_DOCS } from "./known-fields.ts";
import { LEVEL_SPELLINGS, levelOf, lower } from "./levels.ts";
import { encodeString, isTimeUnit } from "./literals.ts";
import { printField } from "./print.ts";

/**
 * The query in plain words, precise where our language differs from what users may expect: a missing field, wildcards,
 * units, the spellings of a level; parentheses show what belongs together.
 *
 *     status >= 500 duration > 1s      status is at least 500 and duration is more than 1 s
 */
export function explain(query: Query): string {
  return query.expr === undefined ? "every entry" : words(query.expr);
}

/** The part of the query at an offset, in words. */
export interface Explanation {
  readonly span: Span;
  readonly text: string;
}

/**
 * Explains the field, operator or value at an offset, or the term around it. Undefined between terms. In a broken query
 * there is no tree to ask: `parseQuery` comes first.
 */
export function explainAt(query: Query, offset: number): Explanation | undefined {
  return query.expr === undefined ? undefined : at(query.expr, offset, query.source);
}

function words(expr: Expr): string {
  switch (expr.kind) {
    case "or":
      return expr.terms.map((term) => grouped(term, "or")).join(" or ");
    case "and":
      return expr.terms.map((term) => grouped(term, "and")).join(" and ");
    case "not":
      return negated(expr.term);
    case "comparison":
      return comparison(expr);
    case "in":
      return `${name(expr.field)} is ${oneOf(expr.values, expr.field)}`;
    case "contains":
      return `${name(expr.field)} contains ${quoted(expr.text.chunks)}`;
    case "match":
      return `${name(expr.field)} matches the regular expression /${expr.regex.source}/${ignoring(expr.regex.flags)}`;
    case "exists":
      return `${name(expr.field)} is present`;
    case "truthy":
      return `${name(expr.field)} is present and not false, null, 0 or ""`;
    case "level":
      return `the level is ${levelName(expr.word)}`;
    case "stage":
      return `the stage is ${expr.word.toLowerCase()}`;
    case "message":
      return `the message ${text(expr.text.chunks)}`;
  }
}

function grouped(expr: Expr, around: "and" | "or"): string {
  const truthy = expr.kind === "truthy" || (expr.kind === "not" && expr.term.kind === "truthy");
  const several = expr.kind === "or" || expr.kind === "and" || truthy;
  // `and` binds tighter, but a reader need not know.
  return several && expr.kind !== around ? `(${words(expr)})` : words(expr);
}

/** The words of a `not`, which is true if a field is missing, too. */
function negated(term: Expr): string {
  switch (term.kind) {
    case "comparison":
      if (term.op === "=") return `${name(term.field)} ${equal(term.value, term.field, true)}${orMissing(term.field)}`;
      // A property that every entry has can be ordered; a field may be missing, or not a number.
      if (term.op !== "!=" && !isAlwaysThere(term.field)) {
        return `${name(term.field)} is not ${ORDER[term.op]} ${valueText(term.value, term.field)} (or is missing)`;
      }
      break;
    case "in":
      return `${name(term.field)} is none of ${list(term.values, term.field)}${orMissing(term.field)}`;
    case "contains":
      return `${name(term.field)} does not contain ${quoted(term.text.chunks)}${orMissing(term.field)}`;
    case "match": {
      const { source, flags } = term.regex;
      return `${name(term.field)} does not match the regular expression /${source}/${ignoring(flags)}${orMissing(term.field)}`;
    }
    case "exists":
      return `${name(term.field)} is missing`;
    case "truthy":
      return `${name(term.field)} is missing, false, null, 0 or ""`;
    case "level":
      return `the level is not ${levelName(term.word)}`;
    case "stage":
      return `the stage is not ${term.word.toLowerCase()} (or is missing)`;
    case "message":
      return `the message ${text(term.text.chunks, true)}`;
  }
  return `not (${words(term)})`;
}

function comparison({ field, op, value }: Comparison): string {
  const type = comparedType(field);
  if (type === "time" && op !== "=" && op !== "!=") return time(op, value, field);
  if (type === "level" && op !== "=" && op !== "!=") {
    const level = levelName(plain(value) ?? "");
    if (op === ">=") return `${name(field)} is ${level} or more severe`;
    if (op === "<=") return `${name(field)} is ${level} or less severe`;
    return `${name(field)} is ${op === ">" ? "more" : "less"} severe than ${level}`;
  }
  if (op === "=") return `${name(field)} ${equal(value, field)}`;
  if (op === "!=") return `${name(field)} ${isAlwaysThere(field) ? "" : "is there and "}${equal(value, field, true)}`;
  return `${name(field)} is ${ORDER[op]} ${valueText(value, field)}`;
}

const ORDER = { ">": "more than", ">=": "at least", "<": "less than", "<=": "at most" } as const;

function time(op: ">" | ">=" | "<" | "<=", value: Value, field: Field): string {
  const isOfEntry = printField(field) === "timestamp";
  if (value.kind === "number") {
    // Later than an hour ago is less than an hour old.
    const age = { ">": "less than", ">=": "at most", "<": "more than", "<=": "at least" }[op];
    return isOfEntry ? `the entry is ${age} ${amount(value)} old` : `${name(field)} is ${age} ${amount(value)} ago`;
  }
  const when = { ">": "after", ">=": "at or after", "<": "before", "<=": "at or before" }[op];
  return `${isOfEntry ? "the entry is from" : `${name(field)} is`} ${when} ${plain(value) ?? ""}`;
}

function equal(value: Value, field: Field, not = false): string {
  if (comparedType(field) === "level") {
    const spelling = plain(value);
    if (spelling !== undefined && levelOf(spelling) !== undefined)
      return `is ${not ? "not " : ""}${levelName(spelling)}`;
  }
  if (value.kind === "string" || value.kind === "word") return text(value.chunks, not);
  return `is ${not ? "not " : ""}${valueText(value, field)}`;
}

/** A text with wildcards as a predicate: `starts with "/a"`. */
function text(chunks: readonly string[], not = false): string {
  const [first = "", last = ""] = [chunks[0], chunks.at(-1)];
  const middle = chunks.slice(1, -1).filter((chunk) => chunk !== "");
  const say = (is: string, isNot: string, what: string) => `${not ? isNot : is} ${what}`;
  if (chunks.length === 1) return say("is", "is not", quoted(chunks));
  if (first === "" && last === "" && middle.length === 0) return say("is", "is no", not ? "text" : "any text");
  if (first === "" && last === "" && middle.length === 1) return say("contains", "does not contain", quoted(middle));
  if (middle.length === 0 && last === "") return say("starts with", "does not start with", quoted([first]));
  if (middle.length === 0 && first === "") return say("ends with", "does not end with", quoted([last]));
  return say("is like", "is not like", `"${encodeString(chunks, true)}" (* is any text)`);
}

const oneOf = (values: readonly Value[], field: Field) =>
  values.length === 1 ? valueText(values[0]!, field) : `one of ${list(values, field)}`;

const list = (values: readonly Value[], field: Field) => values.map((value) => valueText(value, field)).join(", ");

function valueText(value: Value, field: Field): string {
  switch (value.kind) {
    case "number":
      return value.unit === undefined ? value.text + unitOf(field) : amount(value);
    case "boolean":
      return String(value.value);
    case "null":
      return "null";
    default:
      if (comparedType(field) === "level" && levelOf(plain(value) ?? "") !== undefined) return levelName(plain(value)!);
      return value.chunks.length === 1 ? quoted(value.chunks) : `"${encodeString(value.chunks, true)}" (* is any text)`;
  }
}

/** A bare number of a field that is measured: milliseconds and bytes. */
function unitOf(field: Field): string {
  const type = KNOWN_FIELDS.find(({ name }) => name === printField(field))?.type;
  return type === "duration" ? " ms" : type === "bytes" ? " bytes" : "";
}

const UNIT_WORDS = {
  b: "bytes",
  kb: "kB",
  mb: "MB",
  gb: "GB",
  tb: "TB",
  ms: "ms",
  s: "s",
  m: "min",
  h: "h",
  d: "days",
} as const;

function amount({ text, unit }: NumberValue): string {
  if (unit === undefined) return text;
  const digits = text.slice(0, -unit.length);
  const word = unit === "d" && digits === "1" ? "day" : UNIT_WORDS[unit];
  return `${digits} ${word}`;
}

function name(field: Field): string {
  const place = target(field);
  if (place.at === "entry" && (place.name === "message" || place.name === "level")) return `the ${place.name}`;
  return printField(field);
}

function isAlwaysThere(field: Field): boolean {
  const place = target(field);
  return place.at === "entry" && place.name !== "id";
}

const orMissing = (field: Field) => (isAlwaysThere(field) ? "" : " (or is missing)");
const quoted = (chunks: readonly string[]) => `"${encodeString(chunks, false)}"`;
const ignoring = (flags: string) => (flags.includes("i") ? ", ignoring case" : "");
const plain = (value: Value) =>
  (value.kind === "string" || value.kind === "word") && value.chunks.length === 1 ? value.chunks[0] : undefined;

/** The level by its first name, with the spelling in the query if that is another. */
function levelName(spelling: string): string {
  const level = levelOf(spelling);
  if (level === undefined) return spelling;
  return level === lower(spelling) ? level : `${level} (${lower(spelling)})`;
}

function at(expr: Expr, offset: number, source: string): Explanation | undefined {
  if (!holds(expr.span, offset)) return undefined;
  if (expr.kind === "or" || expr.kind === "and" || expr.kind === "not") {
    const terms = expr.kind === "not" ? [expr.term] : expr.terms;
    const operators = expr.kind === "not" ? [expr.operator] : expr.operators;
    // a not in (..) is one term to the reader.
    if (expr.kind === "not" && expr.operator.start > expr.span.start && holds(expr.operator, offset)) {
      return { span: expr.operator, text: WORD_DOCS["not in"]! };
    }
    for (const operator of operators) if (holds(operator, offset)) return word(operator, source);
    if (expr.kind === "not" && expr.term.kind === "in") {
      const value = expr.term.values.find(({ span }) => holds(span, offset));
      if (value !== undefined) return { span: value.span, text: words(expr) };
    }
    for (const term of terms) {
      const explanation = at(term, offset, source);
      if (explanation !== undefined)
        return expr.kind === "not" && isWhole(explanation, term) ? whole(expr) : explanation;
    }
    return expr.kind === "not" ? whole(expr) : undefined;
  }
  if ("operator" in expr && holds(expr.operator, offset)) return word(expr.operator, source);
  if ("field" in expr && expr.kind !== "truthy" && holds(expr.field.span, offset)) {
    return { span: expr.field.span, text: fieldDocs(expr.field) };
  }
  if (expr.kind === "comparison" && holds(expr.value.span, offset)) {
    return { span: expr.value.span, text: valueDocs(expr.value, words(expr)) };
  }
  if (expr.kind === "in") {
    const value = expr.values.find(({ span }) => holds(span, offset));
    if (value !== undefined) return { span: value.span, text: valueDocs(value, words(expr)) };
  }
  return whole(expr);
}

const whole = (expr: Expr): Explanation => ({ span: expr.span, text: words(expr) });
const isWhole = (explanation: Explanation, { span }: Expr) =>
  explanation.span.start === span.start && explanation.span.end === span.end;
const holds = ({ start, end }: Span, offset: number) => offset >= start && offset < end;

function word(span: Span, source: string): Explanation {
  const docs = WORD_DOCS[source.slice(span.start, span.end).toLowerCase()];
  return { span, text: docs ?? source.slice(span.start, span.end) };
}

/** The description of a field of entries. */
export function fieldDocs(field: Field): string {
  const place = target(field);
  const printed = printField(field);
  const documentation = KNOWN_FIELDS.find(({ name }) => name === printed)?.documentation;
  if (documentation !== undefined) return documentation;
  if (place.at === "entry") return printed;
  return `The field ${printed}. A comparison with a missing field is false, != too.`;
}

function valueDocs(value: Value, term: string): string {
  if (value.kind === "number" && value.unit !== undefined) {
    const base = isTimeUnit(value.unit) ? "milliseconds" : "bytes";
    return `${amount(value)}: ${grouped3(value.value)} ${base}`;
  }
  if (value.kind === "number")
    return `${term}. Equality finds the number and the text "${value.text}"; an order, numbers.`;
  const spelling = plain(value);
  const level = spelling === undefined ? undefined : levelOf(spelling);
  if (level !== undefined && LEVEL_SPELLINGS[level].length > 1) {
    return `${term}. Spellings of ${level}: ${LEVEL_SPELLINGS[level].join(", ")}`;
  }
  return term;
}

/** Digits in groups of three. */
const grouped3 = (value: number) =>
  String(value).replace(/^\d+(?=\.|$)/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
