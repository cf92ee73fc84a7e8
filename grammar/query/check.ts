import { didYouMean } from "../did-you-mean.ts";
import { type Problem, quote, type Span } from "../problem.ts";
import { meantByteUnit } from "../units/bytes.ts";
import { meantDurationUnit, parseDuration } from "../units/duration.ts";
import {
  type And,
  type Comparison,
  comparedType,
  type Expr,
  type Field,
  type Membership,
  type Not,
  type NumberValue,
  type Query,
  type Value,
} from "./ast.ts";
import { digitPattern, isNumberField, isStatusField } from "./digit-patterns.ts";
import { LEVELS, levelOf } from "./levels.ts";
import { isTimeUnit, NUMBER_UNITS, readEscape } from "./literals.ts";
import { isForeignWord } from "./meant/foreign-words.ts";
import { isHabit } from "./meant/habits.ts";
import { slips } from "./meant/slips.ts";
import { printField } from "./print.ts";
import * as problems from "./problems.ts";
import { compileRegex } from "./regex.ts";
import { completedMoment, parseMoment } from "./timestamp.ts";
import { tokenize } from "./tokens.ts";

/** Everything wrong with a query that the grammar accepts, in the order of the text. */
export function checkQuery(query: Query): Problem[] {
  if (query.expr === undefined) return [];
  const context: Context = { source: query.source, problems: [], numbers: new Map(), foreign: false, not: undefined };
  checkExpr(query.expr, context);
  if (context.foreign) addSlips(context);
  return context.problems.sort((a, b) => a.span.start - b.span.start);
}

interface Context {
  readonly source: string;
  readonly problems: Problem[];
  /** The number literals so far, by the offset where they end. */
  readonly numbers: Map<number, NumberValue>;
  /** Whether a bare name is an operator of another language. */
  foreign: boolean;
  /** The last `not`, which may be the one before the term that is looked at. */
  not: Not | undefined;
}

/** `path like "/x"` is three terms to the grammar. */
function addSlips({ source, problems: existing }: Context): void {
  for (const slip of slips(source, tokenize(source))) {
    if (!existing.some(({ span }) => span.start < slip.span.end && slip.span.start < span.end)) existing.push(slip);
  }
}

function checkExpr(expr: Expr, context: Context): void {
  switch (expr.kind) {
    case "or":
      for (const term of expr.terms) checkExpr(term, context);
      break;
    case "and":
      for (const term of expr.terms) checkExpr(term, context);
      checkNeighbours(expr, context);
      break;
    case "not":
      context.not = expr;
      checkExpr(expr.term, context);
      break;
    case "comparison":
      checkField(expr.field, context);
      checkValue(expr.value, context);
      if (expr.op !== "=" && expr.op !== "!=") checkOrdering(expr, context);
      else {
        checkAttachedTilde(expr, context);
        // Splunk's period.
        context.foreign ||= /^(?:earliest|latest)$/.test(printField(expr.field));
        checkPatterns(expr, [expr.value], context);
        checkDay(expr, context);
      }
      break;
    case "in":
      checkField(expr.field, context);
      for (const value of expr.values) checkValue(value, context);
      if (expr.values.length === 0) {
        const at = { start: expr.operator.start, end: expr.span.end };
        context.problems.push(problems.emptyList(at, printField(expr.field)));
      }
      checkPatterns(expr, expr.values, context);
      break;
    case "contains":
      checkField(expr.field, context);
      checkValue(expr.text, context);
      break;
    case "match":
      checkField(expr.field, context);
      checkRegex(expr.regex.source, expr.regex.flags, expr.regex.span, context);
      break;
    case "exists":
      checkField(expr.field, context);
      break;
    case "truthy":
      checkField(expr.field, context);
      checkBareName(expr.field, context);
      break;
    case "message":
      checkValue(expr.text, context);
      break;
    case "level":
    case "stage":
      break;
  }
}

/** `timestamp = 2026-11-22`: times are compared as texts, which hold more than a day. */
function checkDay({ field, op, value, span }: Comparison, context: Context): void {
  if (comparedType(field) !== "time") return;
  if ((value.kind !== "string" && value.kind !== "word") || value.chunks.length !== 1) return;
  const day = value.chunks[0]!;
  const begin = /^\d{4}-\d\d-\d\d$/.test(day) ? parseMoment(day) : undefined;
  if (begin === undefined) return;
  const next = new Date(begin + 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const name = printField(field);
  const within = `${name} >= "${day}" and ${name} < "${next}"`;
  const write = op === "=" ? within : `not (${within})`;
  context.problems.push(problems.dayAsTime(value.span, day, span, write));
}

function checkField(field: Field, context: Context): void {
  const [first, second] = field.path;
  if (
    first!.kind === "key" &&
    first!.key === "$" &&
    second?.kind === "key" &&
    context.source[second.span.start] === "."
  ) {
    context.problems.push(problems.jsonPathSyntax(field.span, context.source.slice(field.span.start, field.span.end)));
  }
  for (const segment of field.path) {
    const text = context.source.slice(segment.span.start, segment.span.end);
    if (segment.kind === "key") checkEscapes(segment.span, context);
    else if (segment.index > MAX_INDEX) context.problems.push(problems.indexTooLarge(segment.span, text));
  }
}

// The last index that a JavaScript array can have.
const MAX_INDEX = 2 ** 32 - 2;

function checkValue(value: Value, context: Context): void {
  if (value.kind === "string") checkEscapes(value.span, context);
  if (value.kind === "number") context.numbers.set(value.span.end, value);
}

function checkEscapes({ start, end }: Span, context: Context): void {
  const raw = context.source.slice(start, end);
  for (let at = raw.indexOf("\\"); at >= 0; at = raw.indexOf("\\", at)) {
    const { length, isKnown } = readEscape(raw, at);
    if (!isKnown) {
      const span = { start: start + at, end: start + at + length };
      context.problems.push(problems.badEscape(span, raw.slice(at, at + length)));
    }
    at += length;
  }
}

function checkRegex(source: string, flags: string, { start, end }: Span, context: Context): void {
  if (flags !== "" && flags !== "i") {
    context.problems.push(problems.unknownFlag({ start: end - flags.length, end }, flags));
  }
  const compiled = compileRegex(source, false);
  if (compiled.ok) return;
  const [{ message, part }] = compiled.problems;
  // Marked where it is plain which piece is meant; otherwise the whole is.
  const at = part === undefined ? -1 : source.indexOf(part);
  const unique = at >= 0 && source.indexOf(part!, at + 1) < 0;
  const span = unique ? { start: start + 1 + at, end: start + 1 + at + part!.length } : { start, end };
  context.problems.push(problems.badRegex(span, message, part));
}

/** `path =~/x/` would compare with the text "~/x/". */
function checkAttachedTilde({ field, operator, value }: Comparison, context: Context): void {
  if (value.kind !== "word" || value.span.start !== operator.end || !value.chunks[0]!.startsWith("~")) return;
  if (value.chunks[0] === "~") {
    context.foreign = true;
    return;
  }
  const at = { start: operator.start, end: operator.end + 1 };
  const text = context.source.slice(at.start, at.end);
  if (text === "!=~") {
    const edits = [
      { span: { start: field.span.start, end: field.span.start }, text: "not " },
      { span: at, text: "~ " },
    ];
    const problem = problems.unknownOperator(at, text, `write not ${printField(field)} ~ ...`);
    context.problems.push({ ...problem, fix: { title: "Write not before the field, and ~", edits } });
    return;
  }
  context.problems.push(problems.unknownOperator(at, text, "write ~, or put the value in double quotes", "~"));
}

/** `status = 5xx`, `status != 4*`, `status in (404, 5xx)`: no text equals a number. */
function checkPatterns(expr: Comparison | Membership, values: readonly Value[], context: Context): void {
  if (!isNumberField(expr.field)) return;
  const field = printField(expr.field);
  const terms: string[] = [];
  let first: Value | undefined;
  for (const value of values) {
    const text = value.kind === "string" || value.kind === "word" ? value.chunks.join("*") : undefined;
    // "5*" in quotes is a test of texts, which some logs have for numbers.
    const isText = value.kind === "string" && value.chunks.length > 1;
    const pattern = text === undefined || isText ? undefined : digitPattern(text);
    if (pattern === undefined) terms.push(`${field} = ${textOf(value, context)}`);
    else {
      first ??= value;
      if (pattern === "any") terms.push(`exists ${field}`);
      else if (!isStatusField(expr.field)) terms.push("");
      else if (pattern.to === pattern.from + 1) terms.push(`${field} = ${pattern.from}`);
      else terms.push(`${field} >= ${pattern.from} and ${field} < ${pattern.to}`);
    }
  }
  if (first === undefined) return;
  const message = `${quoteValue(first, context)} is not a number`;
  // Other numbers that begin with a digit are not as certain as the hundreds of a status.
  if (terms.includes("")) {
    context.problems.push(
      problems.notANumber(first.span, message, `* matches text: compare numbers, such as ${field} >= 4`),
    );
    return;
  }
  const isNot = context.not?.term === expr;
  const range = terms.join(" or ");
  const single = !/ (?:and|or) /.test(range);
  let write = range;
  let span: Span = expr.span;
  if (isNot) {
    // a not in (..) has its not inside.
    span = context.not!.span;
    write = `not ${single ? range : `(${range})`}`;
  } else if (expr.kind === "comparison" && expr.op === "!=") {
    const [pattern] = terms;
    write = pattern!
      .replace(/^(.*) >= (\d+) and .* < (\d+)$/, (_, name, from, to) => `(${name} < ${from} or ${name} >= ${to})`)
      .replace(/^exists/, "not exists")
      .replace(/ = (\d+)$/, " != $1");
  } else if (terms.length > 1) write = `(${range})`;
  context.problems.push(problems.pattern(first.span, message, span, write));
}

/** Terms side by side that were meant as one: `size > 5 kb`. */
function checkNeighbours({ terms }: And, context: Context): void {
  const { source } = context;
  const beside = (left: Expr | undefined, right: Expr | undefined) =>
    left !== undefined && right !== undefined && /^[ \t\r\n]+$/.test(source.slice(left.span.end, right.span.start));

  for (const [index, term] of terms.entries()) {
    const name = bareName(term);
    const before = terms[index - 1];
    if (name === undefined || before === undefined || !beside(before, term)) continue;

    // connection refused: words of a message.
    if (bareName(before) !== undefined) context.foreign = true;
    const number = context.numbers.get(before.span.end);
    if (number === undefined) continue;
    const lower = name.toLowerCase();
    const unit = Object.hasOwn(NUMBER_UNITS, lower) ? lower : (meantByteUnit(name) ?? meantDurationUnit(name));
    if (unit !== undefined && Object.hasOwn(NUMBER_UNITS, unit)) {
      const digits = number.text.slice(0, number.text.length - (number.unit?.length ?? 0));
      context.problems.push(problems.unitAfterBlank(term.span, { ...number.span, text: digits }, unit));
    }
  }
}

const bareName = (expr: Expr) =>
  expr.kind === "truthy" && expr.field.path.length === 1 ? printField(expr.field) : undefined;

/** `Or` is a legal name, but was never meant as one. */
function checkBareName(field: Field, context: Context): void {
  const name = printField(field);
  context.foreign ||= isForeignWord(name) || isHabit(name);
  if (/^(and|or|not|in|contains|exists)$/i.test(name)) context.problems.push(problems.keywordCase(field.span, name));
}

function checkOrdering({ field, op, value }: Comparison, context: Context): void {
  const type = comparedType(field);
  const isOfRows = field.rowType !== undefined;
  const orderingProblem =
    type === "level"
      ? levelProblem(value, context)
      : type === "time"
        ? timestampProblem(value, context)
        : numberProblem({ op, value, isOfRows }, context);
  if (orderingProblem !== undefined) context.problems.push(orderingProblem);
}

const textOf = (value: Value, { source }: Context) => source.slice(value.span.start, value.span.end);

const plain = (value: Value) =>
  (value.kind === "string" || value.kind === "word") && value.chunks.length === 1 ? value.chunks[0] : undefined;

function levelProblem(value: Value, context: Context): Problem | undefined {
  const name = plain(value);
  if (name !== undefined && levelOf(name) !== undefined) return undefined;
  const message = `${quoteValue(value, context)} is not a level`;
  const near = name === undefined ? undefined : didYouMean(name, LEVELS);
  if (near !== undefined) return problems.notANumber(value.span, message, `did you mean ${near}?`, near);
  return problems.notANumber(value.span, message, `levels are ${LEVELS.join(", ")}`);
}

function timestampProblem(value: Value, context: Context): Problem | undefined {
  const text = textOf(value, context);
  const message = `${quoteValue(value, context)} is not a time`;
  if (value.kind === "number") {
    const timed = value.unit !== undefined && isTimeUnit(value.unit);
    if (timed && value.value >= 0 && !text.startsWith("-")) return undefined;
    if (timed)
      return problems.notANumber(value.span, message, `write ${text.slice(1)}, which is that long ago`, text.slice(1));
    return problems.notANumber(value.span, message, TIMES);
  }
  const name = plain(value);
  if (name !== undefined) {
    if (parseMoment(name) !== undefined) {
      return value.kind === "string"
        ? undefined
        : problems.notANumber(value.span, `the time ${quote(text)} is not in quotes`, `write "${text}"`, `"${text}"`);
    }
    const completed = completedMoment(name);
    if (completed !== undefined) {
      return problems.notANumber(value.span, message, `write "${completed}"`, `"${completed}"`);
    }
    const unit = value.kind === "word" ? unitProblem(value.span, name, "time") : undefined;
    if (unit !== undefined) return unit;
    const ago = /^(?:now)?-(\d+(?:\.\d+)?(?:ms|s|m|h|d))$|^(\d+(?:\.\d+)?(?:ms|s|m|h|d))[ -]?ago$/.exec(name);
    const duration = ago?.[1] ?? ago?.[2];
    if (duration !== undefined) {
      return problems.notANumber(value.span, message, `write ${duration}, which is that long ago`, duration);
    }
    if (/^(?:yesterday|today|now)$/i.test(name)) {
      return problems.notANumber(
        value.span,
        message,
        'write 1d for the last 24 hours, or a quoted time, such as "2024-05-01T00:00:00Z"',
      );
    }
  }
  return problems.notANumber(value.span, message, TIMES);
}

const TIMES = 'write a duration ago, such as 1h, or a quoted time, such as "2024-05-01T00:00:00Z"';

interface NumberOrdering extends Pick<Comparison, "op" | "value"> {
  /** Whether it compares a column of rows. */
  readonly isOfRows: boolean;
}

function numberProblem({ op, value, isOfRows }: NumberOrdering, context: Context): Problem | undefined {
  if (value.kind === "number") return undefined;
  const text = textOf(value, context);
  const name = plain(value);
  const message = `${quoteValue(value, context)} is not a number`;
  if (name !== undefined) {
    const hundreds = /^([1-5])xx$/i.exec(name)?.[1];
    if (hundreds !== undefined) {
      const write = `${hundreds}${op === ">=" || op === "<" ? "00" : "99"}`;
      return problems.notANumber(value.span, message, `write ${write}`, write);
    }
    const unit = value.kind === "word" ? unitProblem(value.span, name) : undefined;
    if (unit !== undefined) return unit;
    const digits = name.replace(/^\+|_|\.$/g, "");
    if (NUMBER.test(digits)) {
      return Number.isFinite(Number(digits))
        ? problems.notANumber(value.span, message, `write ${digits}`, digits)
        : problems.notANumber(value.span, `the number ${quote(text)} is too large`, "the largest is about 1.8e308");
    }
    if (parseMoment(name) !== undefined) {
      return problems.notANumber(
        value.span,
        message,
        isOfRows
          ? "only columns of times are compared with a time, such as last(timestamp)"
          : `only timestamp is compared with a time: timestamp ${op} "${name}"`,
      );
    }
    if (levelOf(name) !== undefined) {
      return problems.notANumber(
        value.span,
        message,
        isOfRows
          ? "only columns of levels are ordered by words, such as first(level)"
          : `only level is ordered by words: level ${op} ${name}`,
      );
    }
  }
  return problems.notANumber(
    value.span,
    message,
    `${op} compares numbers, such as 200, 1.5mb or 250ms; texts take = or ~`,
  );
}

/** A number followed by letters that are not a unit, or by several units. Only a duration is compared with a time. */
function unitProblem(span: Span, text: string, takes: "any" | "time" = "any"): Problem | undefined {
  const match = NUMBER_WITH_UNIT.exec(text);
  if (match === null) {
    const duration = parseDuration(text);
    if (!duration.ok) return undefined;
    return problems.severalUnits(span, text, inOneUnit(duration.value));
  }
  const [, number = "", unit = ""] = match;
  const at = { start: span.start + number.length, end: span.end };
  const meant = (takes === "time" ? undefined : meantByteUnit(unit)) ?? meantDurationUnit(unit);
  if (takes === "time" && (meant === undefined || meant === "M")) return undefined;
  if (unit === "M") return problems.unknownUnit(at, unit, `write ${number}mb for bytes, ${number}m for minutes`);
  if (meant !== undefined && meant !== "M") {
    return problems.unknownUnit(at, unit, `write ${number}${meant}`, { at, text: meant });
  }
  return problems.unknownUnit(at, unit, UNITS);
}

const UNITS = "units are b, kb, mb, gb, tb for bytes and ms, s, m, h, d for durations";
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const NUMBER_WITH_UNIT = /^([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)(\p{L}+)$/u;

function inOneUnit(ms: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (ms % NUMBER_UNITS[unit] === 0) return `${ms / NUMBER_UNITS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** The value as the user wrote it, in one pair of quotes. */
function quoteValue(value: Value, context: Context): string {
  const text = textOf(value, context);
  return value.kind === "string" ? `the text ${quote(text.slice(1, -1))}` : quote(text);
}
