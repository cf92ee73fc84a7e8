import { type Comparison, type Expr, type Field, type Query, target, type Value } from "../ast.ts";
import { LEVEL_SPELLINGS, LEVELS, type Level, levelOf, lower, severity } from "../levels.ts";
import { ANY_EVENT, allOf, anyOf, leaf, type PatternCondition } from "./conditions.ts";
import { fit, MAX_PATTERN_LENGTH } from "./fit.ts";
import { toPatternRegex } from "./regex.ts";

/** The request to CloudWatch Logs in place of a query. If both lists are empty, every event. */
export interface FilterPatterns {
  /** Filter patterns, `{ $.level = "error" }`, of which one matches where the query's values are plain. */
  readonly patterns: readonly string[];
  /**
   * Regular expressions on the line's text, as filter patterns have them; `textPattern` makes one pattern of all. They
   * find the lines with a list or an object where the patterns take plain values.
   */
  readonly expressions: readonly string[];
  /** Whether the patterns match nothing else, as long as the fields hold plain values. */
  readonly isExact: boolean;
}

/**
 * The query as filter patterns: an entry that it selects is matched by one of them, or by an expression, as the line that
 * the runtime writes. They are weaker where they cannot say it: filter again what they find. Patterns have no `not`, so
 * that it is carried down to the leaves; a leaf that cannot be said is true, whichever way it is asked.
 *
 * Source: "Filter pattern syntax for metric filters, subscription filters, filter log events, and Live Tail" of the
 * CloudWatch Logs User Guide; where it is ambiguous, the reading that filters less is assumed.
 */
export function filterPatterns(query: Query): FilterPatterns {
  const none: FilterPatterns = { patterns: [], expressions: [], isExact: query.expr === undefined };
  if (query.expr === undefined) return none;
  const context: Context = { keys: new Map(), regexes: 0 };
  const { condition, isExact } = translate(query.expr, true, context);
  const { patterns, isWhole } = fit(condition);
  if (patterns.length === 0) {
    const key = neededKey(query.expr);
    const expression = `\\x22${key}\\x22\\s*\\x3a`;
    const fits = textPattern([expression]).length <= MAX_PATTERN_LENGTH - MAX_OTHER_EXPRESSIONS;
    return key === undefined || !fits ? none : { ...none, expressions: [expression] };
  }
  // No condition is true of a list or an object, and queries look into lists: such lines are found by their text.
  const expressions = containers(context.keys);
  if (textPattern(expressions).length > MAX_PATTERN_LENGTH - MAX_OTHER_EXPRESSIONS) return none;
  return { patterns, expressions, isExact: isExact && isWhole };
}

/** One pattern that finds what any of the expressions does: it cannot be combined with others. */
export const textPattern = (expressions: readonly string[]) => `%${expressions.join("|")}%`;

/** Room for what else is looked for by text, such as the platform's own lines. */
const MAX_OTHER_EXPRESSIONS = 200;

/** A value that is not plain begins with a bracket. Expressions of patterns have no groups and hardly a symbol. */
function containers(keys: ReadonlyMap<string, boolean>): string[] {
  return [...keys].flatMap(([key, takesObjects]) =>
    (takesObjects ? ["\\[", "\\{"] : ["\\["]).map((bracket) => `\\x22${key}\\x22\\s*\\x3a\\s*${bracket}`),
  );
}

interface Context {
  /** The last keys of the paths whose values were taken for plain ones, and whether an object there counts too. */
  readonly keys: Map<string, boolean>;
  /** "There is a limit of 2 regex for each filter pattern when creating a delimited or JSON filter pattern." */
  regexes: number;
}

const MAX_REGEXES = 2;

interface Translation {
  /** True of every entry that the expression is true of (false of, where it is negated), of plain values. */
  readonly condition: PatternCondition;
  /** And of no other. */
  readonly isExact: boolean;
}

const UNKNOWN: Translation = { condition: ANY_EVENT, isExact: false };

function translate(expr: Expr, isPositive: boolean, context: Context): Translation {
  switch (expr.kind) {
    case "and":
    case "or": {
      const terms = (isPositive ? joinLevels(expr) : expr.terms).map((term) =>
        "kind" in term ? translate(term, isPositive, context) : levels(term, true, context),
      );
      const join = (expr.kind === "and") === isPositive ? allOf : anyOf;
      return {
        condition: join(terms.map(({ condition }) => condition)),
        isExact: terms.every(({ isExact }) => isExact),
      };
    }
    case "not":
      return translate(expr.term, !isPositive, context);
    case "level":
      return levels([levelOf(expr.word)!], isPositive, context);
    case "message":
      return textual(["$.message"], { isString: true, chunks: expr.text.chunks, isPositive });
    default:
      return onField(expr, isPositive, context);
  }
}

type FieldExpr = Exclude<Expr, { kind: "and" | "or" | "not" | "level" | "message" }>;

function onField(expr: FieldExpr, isPositive: boolean, context: Context): Translation {
  const place: Place | undefined =
    expr.kind === "stage" ? { selectors: ["$.fields.stage"], isString: false, key: "stage" } : placeOf(expr.field);
  if (place === undefined) return UNKNOWN;
  const translation = test(expr, place, isPositive, context);
  if (translation.condition.kind !== "all" && place.key !== undefined) {
    // An object equals nothing, so that it differs from everything; and it is true.
    const takesObjects = !isPositive || expr.kind === "truthy" || (expr.kind === "comparison" && expr.op === "!=");
    context.keys.set(place.key, takesObjects || context.keys.get(place.key) === true);
  }
  // `id` is read in two places, and a condition cannot say that the first hides the second.
  return place.selectors.length === 1 ? translation : { ...translation, isExact: false };
}

function test(expr: FieldExpr, place: Place, isPositive: boolean, context: Context): Translation {
  switch (expr.kind) {
    case "stage":
      return textual(place.selectors, { isString: false, chunks: [expr.word.toLowerCase()], isPositive });
    case "exists":
      // No condition says that a field is there whatever it holds: the guide does not say what `= *` does with an empty
      // text.
      return isPositive ? UNKNOWN : { condition: missing(place), isExact: true };
    case "truthy":
      return isPositive
        ? { condition: onEach(place, (s) => anyOf([leaf(`${s} = *`), leaf(`${s} IS TRUE`)])), isExact: false }
        : UNKNOWN;
    case "comparison":
      if (expr.op === "=") {
        return isPositive ? equal(place, expr.value, context) : orMissing(place, differs(place, expr.value, context));
      }
      if (expr.op === "!=") {
        return isPositive ? differs(place, expr.value, context) : orMissing(place, equal(place, expr.value, context));
      }
      return ordering(expr, place, isPositive, context);
    case "in": {
      const levelValues = isPositive ? levelsOf(expr) : undefined;
      if (levelValues !== undefined) return levels(levelValues, true, context);
      const terms = expr.values.map((value) =>
        isPositive ? equal(place, value, context) : differs(place, value, context),
      );
      const condition = (isPositive ? anyOf : allOf)(terms.map(({ condition }) => condition));
      const translation = { condition, isExact: terms.every(({ isExact }) => isExact) };
      return isPositive ? translation : orMissing(place, translation);
    }
    case "contains": {
      const chunks = ["", expr.text.chunks.join("*"), ""];
      if (place.selectors[0] === "$.level") return levelText(chunks, isPositive, context);
      return textual(place.selectors, { isString: place.isString, chunks, isPositive });
    }
    case "match": {
      if (!isPositive || place.selectors[0] === "$.level") return UNKNOWN;
      const regex = toPatternRegex(expr.regex.source, expr.regex.flags);
      const needed = place.selectors.length;
      if (regex === undefined || context.regexes + needed > MAX_REGEXES) return UNKNOWN;
      context.regexes += needed;
      return { condition: onEach(place, (selector) => leaf(`${selector} = %${regex}%`)), isExact: false };
    }
  }
}

interface Place {
  readonly selectors: readonly string[];
  /** Whether the runtime writes a text there, always. */
  readonly isString: boolean;
  /** The key whose value may be a list or an object. */
  readonly key?: string;
}

/** Undefined if no selector can name it: "alphanumeric characters, underscores and hyphens". */
function placeOf(field: Field): Place | undefined {
  const place = target(field);
  if (place.at === "entry") {
    if (place.name === "id") return { selectors: ["$.id", "$.fields.id"], isString: false, key: "id" };
    return { selectors: [`$.${place.name}`], isString: true };
  }
  let selector = "$.fields";
  let key: string | undefined;
  for (const segment of place.path) {
    if (typeof segment === "number") selector += `[${segment}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(segment)) {
      selector += `.${segment}`;
      key = segment;
    } else return undefined;
  }
  // `fields` itself, by an index, is not a list; and every line has an object of that name.
  return key === undefined || key === "fields" ? undefined : { selectors: [selector], isString: false, key };
}

const onEach = (place: Place, test: (selector: string) => PatternCondition) => anyOf(place.selectors.map(test));

const missing = (place: Place) => allOf(place.selectors.map((selector) => leaf(`${selector} NOT EXISTS`)));

function orMissing(place: Place, { condition, isExact }: Translation): Translation {
  // An entry has its level, message and timestamp.
  return { condition: place.isString ? condition : anyOf([missing(place), condition]), isExact };
}

/** `!=` is false of these three. */
const notText = (selector: string) => ["NULL", "TRUE", "FALSE"].map((value) => leaf(`${selector} IS ${value}`));

function equal(place: Place, value: Value, context: Context): Translation {
  const { selectors, isString } = place;
  switch (value.kind) {
    case "string":
    case "word":
      return selectors[0] === "$.level"
        ? levelText(value.chunks, true, context)
        : textual(selectors, { isString, chunks: value.chunks, isPositive: true, orAbsent: false });
    case "number": {
      const number = numeral(value.value);
      // Without a unit the digits may also be a text; a pattern's number finds the text of its own spelling.
      const asText = value.unit === undefined && value.text !== number;
      return {
        condition: onEach(place, (selector) =>
          anyOf([leaf(`${selector} = ${number}`), ...(asText ? [leaf(`${selector} = "${value.text}"`)] : [])]),
        ),
        isExact: value.unit === undefined && !asText && isPlain(number),
      };
    }
    case "boolean":
      return {
        condition: onEach(place, (selector) => leaf(`${selector} IS ${String(value.value).toUpperCase()}`)),
        isExact: true,
      };
    case "null":
      return { condition: onEach(place, (selector) => leaf(`${selector} IS NULL`)), isExact: true };
  }
}

/** There, and not equal to it. */
function differs(place: Place, value: Value, context: Context): Translation {
  const { selectors, isString } = place;
  switch (value.kind) {
    case "string":
    case "word":
      return selectors[0] === "$.level"
        ? levelText(value.chunks, false, context)
        : textual(selectors, { isString, chunks: value.chunks, isPositive: false, orAbsent: false });
    case "number": {
      const number = numeral(value.value);
      if (!isPlain(number)) return UNKNOWN;
      const isExact = value.unit === undefined && value.text === number;
      return {
        condition: onEach(place, (selector) =>
          anyOf([
            leaf(`${selector} != ${number}`),
            // The number's own spelling as a text differs from it.
            ...(isExact ? [] : [leaf(`${selector} = "${number}"`)]),
            ...(isString ? [] : notText(selector)),
          ]),
        ),
        isExact,
      };
    }
    // Every text, the empty one too, and every number: nothing says that.
    case "boolean":
    case "null":
      return UNKNOWN;
  }
}

function ordering(expr: Comparison, place: Place, isPositive: boolean, context: Context): Translation {
  const { field, op, value } = expr;
  const named = target(field);
  if (named.at === "entry" && named.name === "level") {
    const of = levelsOf(expr);
    return of === undefined ? UNKNOWN : levels(of, isPositive, context);
  }
  // A value that is not a number has no order, so that the opposite of an ordering is more than the opposite operator.
  if (place.isString || value.kind !== "number" || !isPositive) return UNKNOWN;
  return { condition: onEach(place, (selector) => leaf(`${selector} ${op} ${numeral(value.value)}`)), isExact: true };
}

function compare(op: Comparison["op"], a: number, b: number): boolean {
  return op === "<" ? a < b : op === "<=" ? a <= b : op === ">" ? a > b : a >= b;
}

/** The levels that a term selects, where it selects these and no text that is not a level. */
function levelsOf(expr: Expr): readonly Level[] | undefined {
  switch (expr.kind) {
    case "level":
      return [levelOf(expr.word)!];
    case "or":
    case "and": {
      const all = expr.terms.map(levelsOf);
      if (all.includes(undefined)) return undefined;
      return LEVELS.filter((level) => all[expr.kind === "or" ? "some" : "every"]((of) => of!.includes(level)));
    }
    case "in": {
      const all = expr.values.map((value) => namedLevel(expr.field, value));
      return all.includes(undefined) ? undefined : LEVELS.filter((level) => all.includes(level));
    }
    case "comparison": {
      const level = namedLevel(expr.field, expr.value);
      if (level === undefined || expr.op === "!=") return undefined;
      if (expr.op === "=") return [level];
      return LEVELS.filter((other) => compare(expr.op, severity(other), severity(level)));
    }
    default:
      return undefined;
  }
}

function namedLevel(field: Field, value: Value): Level | undefined {
  const place = target(field);
  if (place.at !== "entry" || place.name !== "level" || (value.kind !== "string" && value.kind !== "word")) {
    return undefined;
  }
  return value.chunks.length === 1 ? levelOf(value.chunks[0]!) : undefined;
}

/** The terms, those that name levels as one: each takes a regular expression, and a pattern has two. */
function joinLevels(expr: Extract<Expr, { kind: "and" | "or" }>): readonly (Expr | readonly Level[])[] {
  const named = expr.terms.filter((term) => levelsOf(term) !== undefined);
  if (named.length < 2) return expr.terms;
  const levels = levelsOf({ ...expr, terms: named })!;
  return expr.terms.flatMap<Expr | readonly Level[]>((term) =>
    term === named[0] ? [levels] : named.includes(term) ? [] : [term],
  );
}

/** A test for these levels, by all their spellings in any case; or for none of them. */
function levels(of: readonly Level[], isPositive: boolean, context: Context): Translation {
  const spellings = of.flatMap((level) => LEVEL_SPELLINGS[level]);
  // `level < debug`: no entry, which no pattern has to say.
  if (spellings.length === 0) return isPositive ? UNKNOWN : { condition: ANY_EVENT, isExact: true };
  if (!isPositive) {
    // The guide does not say that `!=` takes an expression. Levels in mixed case are returned, and then filtered by the
    // query.
    const written = spellings.flatMap((spelling) => [spelling, spelling.toUpperCase()]);
    return { condition: allOf(written.map((spelling) => leaf(`$.level != "${spelling}"`))), isExact: false };
  }
  if (context.regexes >= MAX_REGEXES) return UNKNOWN;
  context.regexes++;
  return { condition: leaf(`$.level = %${spellings.map(inAnyCase).join("|")}%`), isExact: true };
}

/** A whole text of letters as a class for each: expressions of patterns have no flags, and no groups. */
const inAnyCase = (spelling: string) =>
  `^${spelling.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)}$`;

/** A level by a text: all spellings of a level pass where one does; a text that is not a level passes by itself. */
function levelText(chunks: readonly string[], isPositive: boolean, context: Context): Translation {
  if (chunks.length === 1 && levelOf(chunks[0]!) !== undefined) {
    return levels([levelOf(chunks[0]!)!], isPositive, context);
  }
  const asText = wildcard("$.level", chunks, isPositive);
  if (asText === undefined || (!isPositive && !asText.isExact)) return UNKNOWN;
  const inLower = chunks.map(lower);
  const passing = LEVELS.filter((level) => LEVEL_SPELLINGS[level].some((spelling) => matches(spelling, inLower)));
  if (passing.length === 0) return asText;
  const asLevels = levels(passing, isPositive, context);
  return {
    condition: (isPositive ? anyOf : allOf)([asLevels.condition, asText.condition]),
    isExact: asLevels.isExact && asText.isExact,
  };
}

function matches(text: string, chunks: readonly string[]): boolean {
  const [first = "", ...rest] = chunks;
  if (rest.length === 0) return text === first;
  const last = rest.pop()!;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const chunk of rest) {
    const index = text.indexOf(chunk, at);
    if (index < 0) return false;
    at = index + chunk.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

interface TextTest {
  /** Whether the value is always a text. */
  readonly isString: boolean;
  readonly chunks: readonly string[];
  readonly isPositive: boolean;
  readonly orAbsent?: boolean;
}

/**
 * A text with these chunks between wildcards, or (where not positive) a value that is there and is no such text, or is
 * missing if `orAbsent`.
 */
function textual(
  selectors: readonly string[],
  { isString, chunks, isPositive, orAbsent = true }: TextTest,
): Translation {
  const translations = selectors.map((selector) => wildcard(selector, chunks, isPositive));
  let isExact = true;
  const conditions: PatternCondition[] = [];
  for (const [i, one] of translations.entries()) {
    if (one === undefined) return UNKNOWN;
    // Patterns compare the digits of a number as if they were a text; ours do not.
    const takesNumbers = !isString && NUMERIC.test(chunks.join(""));
    if (!isPositive && (takesNumbers || !one.isExact)) return UNKNOWN;
    isExact &&= one.isExact && !takesNumbers;
    conditions.push(isPositive || isString ? one.condition : anyOf([one.condition, ...notText(selectors[i]!)]));
  }
  const condition = anyOf(conditions);
  if (isPositive || isString || !orAbsent) return { condition, isExact };
  return { condition: anyOf([allOf(selectors.map((selector) => leaf(`${selector} NOT EXISTS`))), condition]), isExact };
}

/** The characters that a number may be written with. */
const NUMERIC = /^[-+.eE\d]*$/;

/**
 * `$.a = "x"`, `"x*"`, `"*x"`, `"*x*"`: a star in the middle is a star, so that several chunks are several conditions.
 * Undefined if no piece of it can be said.
 */
function wildcard(selector: string, chunks: readonly string[], isPositive: boolean): Translation | undefined {
  const op = isPositive ? "=" : "!=";
  const [whole] = chunks;
  if (chunks.length === 1 && whole !== "" && !UNSAFE.test(whole!) && !/^\*|\*$/.test(whole!)) {
    return { condition: leaf(`${selector} ${op} "${whole}"`), isExact: true };
  }
  const conditions: PatternCondition[] = [];
  let isExact = true;
  for (const [i, chunk] of chunks.entries()) {
    if (chunk === "") {
      isExact &&= chunks.length > 1;
      continue;
    }
    // Literal stars, quotes, backslashes, and what cannot be written, are left to the query, which filters the result again.
    const pieces = chunk.split(SPLIT);
    for (const [j, piece] of pieces.entries()) {
      if (piece === "") continue;
      const before = i === 0 && j === 0 ? "" : "*";
      const after = i === chunks.length - 1 && j === pieces.length - 1 ? "" : "*";
      conditions.push(leaf(`${selector} ${op} "${before}${piece}${after}"`));
    }
    isExact &&= pieces.length === 1;
  }
  if (conditions.length === 0) return undefined;
  // Several pieces in any order, or one over the other, are more than the text itself.
  return { condition: (isPositive ? allOf : anyOf)(conditions), isExact: isExact && conditions.length === 1 };
}

// How quotes and backslashes are escaped is not said; control characters and halves of surrogate pairs are written as
// escapes in the line.
const UNSAFE = /["\\\u0000-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const SPLIT = new RegExp(`\\*|${UNSAFE.source}`);

/** As JSON writes it, and with a bare exponent. */
const numeral = (value: number) => String(Object.is(value, -0) ? 0 : value).replace("e+", "e");

/** A text of these digits is the text of the same number. */
const isPlain = (number: string) => /^-?\d+(\.\d+)?$/.test(number);

/** A key that the line of every selected entry holds. */
function neededKey(expr: Expr): string | undefined {
  if (expr.kind === "and") {
    for (const term of expr.terms) {
      const key = neededKey(term);
      if (key !== undefined) return key;
    }
    return undefined;
  }
  if (expr.kind === "or" || expr.kind === "not" || expr.kind === "level" || expr.kind === "message") return undefined;
  return expr.kind === "stage" ? "stage" : placeOf(expr.field)?.key;
}
