import { didYouMean } from "../did-you-mean.ts";
import { applyEdits, describe, type Fix, type Problem, quote, type Span } from "../problem.ts";
import { meantByteUnit } from "../units/bytes.ts";
import { meantDurationUnit } from "../units/duration.ts";
import { type Expr, type Field, type NumberValue, type Pipeline, type Query, target, type Value } from "./ast.ts";
import { contradictionsIn } from "./contradictions.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";
import { LEVEL_SPELLINGS, LEVELS, levelOf, STAGE_WORDS } from "./levels.ts";
import { levelText } from "./loggers.ts";
import { isSeen, type NearQuery } from "./meant/near.ts";
import { numberMeant } from "./meant/number-meant.ts";
import type { TypedCondition } from "./meant/other-type.ts";
import { otherTypes } from "./other-types.ts";
import { aggregatesOf, columnsNamed, givesRows, pipeCondition } from "./pipe/pipe-facts.ts";
import { DIRECTION_WORDS, PIPE_WORDS } from "./pipe-words.ts";
import { printField } from "./print.ts";
import { NOTHING_SEEN, type SeenFields } from "./seen-fields.ts";

/**
 * Warnings about a valid query that hardly means what it says, in the order of the text; each has a change that may have been
 * meant. `seen` is what the entries are like that the query is for: fields that they have are never doubted, and those that
 * they lack may be slips of those that they have.
 */
export function doubtsOf(pipeline: Pipeline, seen: SeenFields = NOTHING_SEEN): Problem[] {
  const context: Context = { source: pipeline.source, seen, problems: [], names: namesIn(pipeline) };
  const { query, pipes } = pipeline;
  if (query.expr !== undefined) inExpr(query.expr, context);
  for (const pipe of pipes) {
    const condition = pipeCondition(pipe);
    if (condition !== undefined) inExpr(condition, context);
    for (const column of columnsNamed(pipe)) if (!stepMeant(column, context)) nearField(column, context);
    for (const { call } of aggregatesOf(pipe)) if (call.argument !== undefined) nearField(call.argument, context);
    // After rows a name that is no column is an error of the language.
    if (givesRows(pipe)) break;
  }
  context.problems.push(...directionsAlone(pipeline), ...contradictionsIn(pipeline));
  return context.problems.sort((a, b) => a.span.start - b.span.start);
}

/** Why a query may have found nothing, and the query that was meant if that is told. */
export interface NothingReason {
  /** The code of the doubt. */
  readonly code: string;
  /** One sentence. */
  readonly said: string;
  /** The part of the query that it is about. */
  readonly about: string;
  readonly meant?: NearQuery;
}

/**
 * The doubts about a query that found nothing. Misspelt fields are left out: `meantField` knows more of them, by all
 * names that there are.
 */
export function reasonsFor(query: Query, seen: SeenFields = NOTHING_SEEN): NothingReason[] {
  const { source } = query;
  return doubtsOf({ source, query, pipes: [] }, seen).flatMap((problem) => {
    if (problem.code === "query/near-field") return [];
    const { code, fix, span, hint } = problem;
    // A number that only shows how one is written was not meant.
    const isMeant = fix !== undefined && !hint?.startsWith("compare");
    const changed = isMeant ? applyEdits(source, fix.edits) : source;
    const reason = { code, said: describe(problem), about: textOf(source, span) };
    return [changed === source ? reason : { ...reason, meant: { term: changed, source: changed } }];
  });
}

interface Context {
  readonly source: string;
  readonly seen: SeenFields;
  readonly problems: Problem[];
  /** The places of each name, those of columns included: they change together. */
  readonly names: ReadonlyMap<string, readonly Span[]>;
}

const textOf = (source: string, { start, end }: Span) => source.slice(start, end);

const suggest = (span: Span, text: string): Fix => ({
  title: `Change to ${text}`,
  edits: [{ span, text }],
  isSuggestion: true,
});

function inExpr(expr: Expr, context: Context): void {
  switch (expr.kind) {
    case "or":
      for (const term of expr.terms) inExpr(term, context);
      break;
    case "and":
      for (const [i, term] of expr.terms.entries()) {
        if (term.kind !== "truthy" || !nearWord(term, { before: expr.terms[i - 1], after: expr.terms[i + 1] }, context))
          inExpr(term, context);
      }
      break;
    case "not":
      inExpr(expr.term, context);
      break;
    case "truthy":
      if (!nearTerm(expr.field, context)) nearField(expr.field, context);
      break;
    case "comparison":
      nearField(expr.field, context);
      if (!isOfOtherType(expr, context) && (expr.op === "=" || expr.op === "!="))
        inValues(expr.field, [expr.value], context);
      break;
    case "in":
      nearField(expr.field, context);
      if (!isOfOtherType(expr, context)) inValues(expr.field, expr.values, context);
      break;
    case "contains":
    case "match":
      nearField(expr.field, context);
      isOfOtherType(expr, context);
      break;
    case "exists":
      nearField(expr.field, context);
      break;
    case "level":
    case "stage":
    case "message":
      break;
    default:
      expr satisfies never;
  }
}

/** Whether a condition is doubted because its field holds values of another type in all entries. */
function isOfOtherType(expr: TypedCondition, { source, seen, problems }: Context): boolean {
  const doubts = otherTypes(expr, source, seen);
  problems.push(...doubts);
  return doubts.length > 0;
}

/** Fields of the tool's own entries that are long enough for a slip to be told from another name. */
const OWN_FIELDS = KNOWN_FIELDS.map(({ name }) => name).filter((name) => name.length >= 4);

/** A field that is one of the tool's own, or of those that were seen, but for a slip of the finger. */
function nearField({ path, span, call }: Field, { source, seen, problems, names }: Context): void {
  const name = textOf(source, span);
  if (call !== undefined || path.length === 0 || isSeen(name, seen.names)) return;
  const near = [...OWN_FIELDS, ...seen.names].find((field) => isSlipOf(name, field));
  if (near === undefined) return;
  const owner = seen.names.length === 0 ? "the entries that the tool writes" : "the entries of the log";
  problems.push({
    code: "query/near-field",
    severity: "warning",
    message: `${quote(name)} is no field of ${owner}`,
    hint: `did you mean ${near}?`,
    span,
    fix: { ...suggest(span, near), edits: (names.get(name) ?? [span]).map((place) => ({ span: place, text: near })) },
  });
}

/** The places of all fields and columns by their text. */
function namesIn({ source, query, pipes }: Pipeline): Map<string, Span[]> {
  const places = new Map<string, Span[]>();
  const add = ({ span }: Field) => {
    const name = textOf(source, span);
    places.set(name, [...(places.get(name) ?? []), span]);
  };
  const visit = (expr: Expr | undefined): void => {
    if (expr === undefined) return;
    if (expr.kind === "and" || expr.kind === "or") for (const term of expr.terms) visit(term);
    else if (expr.kind === "not") visit(expr.term);
    else if ("field" in expr && expr.field.call === undefined) add(expr.field);
  };
  visit(query.expr);
  for (const pipe of pipes) {
    visit(pipeCondition(pipe));
    for (const column of columnsNamed(pipe)) if (column.call === undefined) add(column);
    for (const { call } of aggregatesOf(pipe)) if (call.argument !== undefined) add(call.argument);
  }
  return places;
}

/**
 * Whether a name is a field with two neighbours swapped, a letter left out or one written twice. Apps have fields of their
 * own, such as `state` or `paths`: another letter, or one more at the end, is none of these slips.
 */
function isSlipOf(name: string, field: string): boolean {
  const lower = name.toLowerCase();
  const meant = field.toLowerCase();
  if (!/^[a-z][\w.]{3,}$/.test(lower) || meant.length < 4 || isOtherWord(lower)) return false;
  if (Math.abs(lower.length - meant.length) > 1) return false;
  for (let i = 0; i < meant.length; i++) {
    const [before, letter, after] = [meant.slice(0, i), meant[i]!, meant.slice(i + 1)];
    // a1 and a2 are two fields, and so are item and items.
    if (!/[a-z]/.test(letter)) continue;
    if (after === "" && letter === "s" && lower === before) continue;
    if (lower === before + after) return true;
    if (lower === before + letter + letter + after) return true;
    if (/^[a-z]/.test(after) && lower === before + after[0] + letter + after.slice(1) && lower !== meant) return true;
  }
  return false;
}

/** Names that are right, and words of stages, which somebody may have as fields. */
const isOtherWord = (name: string) => OWN_FIELDS.includes(name) || (PIPE_WORDS as readonly string[]).includes(name);

/** Words for steps of time in other languages, which are read as fields here. */
const STEPS: Readonly<Record<string, string>> = { minute: "1m", hour: "1h", day: "1d", week: "7d", month: "30d" };

/** `count by day`: a field that entries hardly have. Whether it is doubted. */
function stepMeant({ path, span, call }: Field, { source, seen, problems }: Context): boolean {
  const name = textOf(source, span);
  const grouping = /\bcount\s+by\s+$/.exec(source.slice(0, span.start));
  if (grouping === null || call !== undefined || path.length !== 1) return false;
  if (!Object.hasOwn(STEPS, name) || isSeen(name, seen.names)) return false;
  if (!/^\s*(\||$)/.test(source.slice(span.end))) return false;
  const write = `timeseries ${STEPS[name]}`;
  problems.push({
    code: "query/near-word",
    severity: "warning",
    message: `${quote(name)} is read as a field of the entries`,
    hint: `did you mean ${write}? It counts the entries of each step of time`,
    span,
    fix: suggest({ start: grouping.index, end: span.end }, write),
  });
  return true;
}

/** Functions of other languages that say whether an entry has a field. */
const HAS = /^(?:has|have|defined|is_?defined|is_?set|is_?present|is_?not_?null)$/i;

/** `has(x)`: two fields that are true, the second one in parentheses. Whether it is doubted. */
function callMeant({ span }: Expr, after: Expr | undefined, { source, problems }: Context): boolean {
  const name = textOf(source, span);
  if (source[span.end] !== "(" || !HAS.test(name)) return false;
  if (after?.kind !== "truthy" || after.span.start !== span.end + 1 || source[after.span.end] !== ")") return false;
  const write = `exists ${textOf(source, after.span)}`;
  problems.push({
    code: "query/near-word",
    severity: "warning",
    message: `${quote(name)} is read as a field that is true: there are no functions`,
    hint: `did you mean ${write}?`,
    span,
    fix: suggest({ start: span.start, end: after.span.end + 1 }, write),
  });
  return true;
}

interface Neighbours {
  readonly before: Expr | undefined;
  readonly after: Expr | undefined;
}

/** A word alone between other terms: `status = 500 adn error`, `duration > 5 xs`. Whether it is doubted. */
function nearWord(term: Extract<Expr, { kind: "truthy" }>, { before, after }: Neighbours, context: Context): boolean {
  const { source, seen, problems } = context;
  const { span } = term;
  const name = textOf(source, span);
  if (isSeen(name, seen.names)) return false;
  if (callMeant(term, after, context)) return true;
  const isJoined = (left: Expr | undefined, right: Expr | undefined) =>
    left !== undefined && right !== undefined && /^\s+$/.test(source.slice(left.span.end, right.span.start));
  const word = Object.hasOwn(JOINING_SLIPS, name) ? JOINING_SLIPS[name]! : undefined;
  const isBetween = isJoined(before, term) && isJoined(term, after);
  if (word !== undefined && (word === "not" ? isJoined(term, after) : isBetween)) {
    problems.push({
      code: "query/near-word",
      severity: "warning",
      message: `${quote(name)} is read as a field that is true`,
      hint: `did you mean ${word}?`,
      span,
      fix: suggest(span, word),
    });
    return true;
  }
  const number = isJoined(before, term) ? numberAtEnd(before!) : undefined;
  const unit = number && unitNear(name, number.field);
  if (unit === undefined) return false;
  problems.push({
    code: "query/no-unit",
    severity: "warning",
    message: `${quote(name)} is no unit, and is read as a field that is true`,
    hint: `did you mean ${number!.value.text}${unit}? Units of a ${number!.type === "bytes" ? "size" : "duration"} are ${UNITS[number!.type].join(", ")}`,
    span,
    fix: suggest({ start: number!.value.span.start, end: span.end }, `${number!.value.text}${unit}`),
  });
  return true;
}

/** Slips of the words that join terms. `an`, `no` and the like are fields as often. */
const JOINING_SLIPS: Readonly<Record<string, "and" | "or" | "not">> = {
  aand: "and",
  adn: "and",
  andd: "and",
  annd: "and",
  nad: "and",
  noot: "not",
  nott: "not",
  nto: "not",
  oor: "or",
  orr: "or",
  ro: "or",
};

const UNITS = { duration: ["ms", "s", "m", "h", "d"], bytes: ["b", "kb", "mb", "gb", "tb"] } as const;

interface UnitlessNumber {
  readonly field: Field;
  readonly value: NumberValue;
  readonly type: keyof typeof UNITS;
}

/** The number without a unit at the end of a comparison of a duration or a size. */
function numberAtEnd(expr: Expr): UnitlessNumber | undefined {
  if (expr.kind !== "comparison" || expr.value.kind !== "number" || expr.value.unit !== undefined) return undefined;
  const type = typeOfOwn(expr.field);
  return type === "duration" || type === "bytes" ? { field: expr.field, value: expr.value, type } : undefined;
}

/** The unit that a word was meant to be; undefined if it may well be a field. */
function unitNear(name: string, field: Field): string | undefined {
  if (!/^[a-z]{1,5}$/i.test(name)) return undefined;
  const type = typeOfOwn(field);
  const units = type === "bytes" ? UNITS.bytes : UNITS.duration;
  const words = type === "bytes" ? ["byte", "bytes"] : ["sec", "secs", "msec", "min", "mins", "hour", "hours", "days"];
  const near = didYouMean(name, words) ?? name.replace(/s$/i, "");
  const meant = type === "bytes" ? meantByteUnit(near) : meantDurationUnit(near);
  if (meant !== undefined) return meant;
  if (name.length > 2) return undefined;
  const lower = name.toLowerCase();
  return units.find((unit) => lower.endsWith(unit)) ?? units.find((unit) => lower.startsWith(unit)) ?? units[1];
}

/** The type of a field of the tool's own entries, by its name alone. */
function typeOfOwn(field: Field) {
  const place = target(field);
  const name = place.at === "fields" && place.path.length === 1 ? place.path[0] : undefined;
  return KNOWN_FIELDS.find((one) => one.name === name)?.type;
}

/** `eror path = "/x"`, `prodution`: a level or stage word that is read as a field that is true. Whether it is doubted. */
function nearTerm({ span }: Field, { source, seen, problems }: Context): boolean {
  const name = textOf(source, span);
  if (isSeen(name, seen.names)) return false;
  // "race" is a field rather than a slip of "trace".
  const near = [...Object.values(LEVEL_SPELLINGS).flat(), ...STAGE_WORDS].find(
    (word) => isSlipOf(name, word) && (name[0] === word[0] || name[1] === word[0]),
  );
  if (near === undefined) return false;
  const meaning = levelOf(near) === undefined ? "stage" : "level";
  problems.push({
    code: meaning === "stage" ? "query/near-word" : "query/near-level",
    severity: "warning",
    message: `${quote(name)} is no ${meaning}, and is read as a field that is true`,
    hint: `did you mean ${near}?`,
    span,
    fix: suggest(span, near),
  });
  return true;
}

function inValues(field: Field, values: readonly Value[], context: Context): void {
  const place = target(field);
  if (place.at === "entry" && place.name === "level") for (const value of values) nearLevel(value, context);
  else for (const value of values) textForNumber(field, value, context);
}

const plain = (value: Value) =>
  (value.kind === "string" || value.kind === "word") && value.chunks.length === 1 ? value.chunks[0] : undefined;

/** `level = eror`: any text can be a level of the app's own, but this one is hardly one. */
function nearLevel(value: Value, { seen, problems }: Context): void {
  const text = plain(value);
  if (text === undefined || text.length < 3 || levelOf(text) !== undefined || seen.levels.has(text)) return;
  // Words of loggers, such as http, are levels somewhere.
  const near = levelText(text, undefined) === undefined ? didYouMean(text, LEVELS) : undefined;
  if (near === undefined) return;
  problems.push({
    code: "query/near-level",
    severity: "warning",
    message: `${quote(text)} is not a level`,
    hint: `did you mean ${near}?`,
    span: value.span,
    fix: suggest(value.span, near),
  });
}

/** `status = 50O`: a number of the tool's own entries equals no text. */
function textForNumber(field: Field, value: Value, { seen, problems }: Context): void {
  const type = typeOfOwn(field);
  const text = plain(value);
  if (text === undefined || (type !== "number" && type !== "duration" && type !== "bytes")) return;
  const name = printField(field);
  // A text of digits in quotes is what some logs have for a number.
  if (seen.values.get(name)?.types.has("text") || (value.kind === "string" && /^-?[\d.]+$/.test(text))) return;
  const meant = numberMeant(text, type);
  problems.push({
    code: "query/text-for-number",
    severity: "warning",
    message: `${quote(text)} is a text, and ${name} is a number in the entries that the tool writes`,
    hint: meant === undefined ? `compare it with a number, such as ${EXAMPLES[type]}` : `did you mean ${meant}?`,
    span: value.span,
    fix: suggest(value.span, meant ?? EXAMPLES[type]),
  });
}

const EXAMPLES = { number: "500", duration: "1s", bytes: "1mb" } as const;

/** A warning for each direction that is read as a field, since no column is before it. */
function directionsAlone({ source, pipes }: Pipeline): Problem[] {
  const problems: Problem[] = [];
  for (const pipe of pipes) {
    if (givesRows(pipe)) break;
    if (pipe.kind !== "sort") continue;
    for (const [i, { span }] of pipe.keys.entries()) {
      const word = textOf(source, span);
      if (!Object.hasOwn(DIRECTION_WORDS, word)) continue;
      const before = pipe.keys[i - 1]?.span;
      const write = `${before === undefined ? "timestamp" : textOf(source, before)} ${DIRECTION_WORDS[word]}`;
      problems.push({
        code: "query/direction-alone",
        severity: "warning",
        message: `"${word}" has no column before it, and is read as the name of a field`,
        hint: `write sort ${write}`,
        span,
        fix: suggest({ start: before?.start ?? span.start, end: span.end }, write),
      });
    }
  }
  return problems;
}
