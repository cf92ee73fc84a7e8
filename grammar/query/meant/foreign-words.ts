import { parseDuration } from "../../units/duration.ts";
import {
  beginsTerm,
  type ForeignValue,
  isNameToken,
  operandAt,
  plainWord,
  type Slip,
  slashed,
  starEscaped,
  type TokenPlace,
  tokensUpTo,
} from "../place.ts";
import * as problems from "../problems.ts";

/** A name beside other terms that was never meant as one: an operator or function of other languages. */
export const isForeignWord = (name: string) =>
  OPERATORS.has(plainWord(name)) || FUNCTIONS.has(plainWord(name)) || AGGREGATES.test(plainWord(name));

/** `path like "/x%"`, `user is not null`, `status between 1 and 5`, `path startswith "/x"`, `path !contains "x"` */
export function wordOperator({ source, tokens, at }: TokenPlace): Slip | undefined {
  const written = tokens[at]!;
  if (!beginsTerm(tokens, at) || !isNameToken(written)) return undefined;
  // Elsewhere what every entry has begins with @.
  const field = { ...written, text: written.text.replace(/^@(?=(?:message|timestamp|level)$)/, "") };
  let length = 1;
  const not = tokens[at + 1]?.kind === "not" ? tokens[at + 1] : undefined;
  if (not !== undefined) length++;
  const operator = tokens[at + length++];
  if (operator?.kind !== "word") return undefined;
  const write = OPERATORS.get(plainWord(operator.text));
  if (write === undefined) return undefined;
  const word = plainWord(operator.text);

  let negated = not !== undefined;
  if (word === "is" && tokens[at + length]?.kind === "not") {
    negated = true;
    length++;
  }
  // matches regex "x"
  if (word === "matches" && tokens[at + length]?.text === "regex") length++;
  const operand = operandAt(source, tokens, at + length);
  if (operand === undefined) return undefined;
  length += operand.length;
  let second: ForeignValue | undefined;
  if (word === "between") {
    second = tokens[at + length]?.kind === "and" ? operandAt(source, tokens, at + length + 1) : undefined;
    if (second !== undefined) length += second.length + 1;
  }
  const text = write(field.text, operand, negated, second);
  const end = tokens[at + length - 1]!.end;
  const term = { start: field.start, end: Math.max(end, operand.end, second?.end ?? 0) };
  const problem =
    text === undefined
      ? problems.unknownOperator(operator, operator.text, `write ${field.text} >= ... and ${field.text} <= ...`)
      : problems.foreignOperator(operator, operator.text, term, text);
  return { problem, length: tokensUpTo(tokens, at, term.end) };
}

/** `status isn't 500`, `path doesn't contain "/x"`, `user does not exist`, with and without the apostrophe. */
export function spokenNegation({ source, tokens, at }: TokenPlace): Slip | undefined {
  const field = tokens[at]!;
  if (!beginsTerm(tokens, at) || !isNameToken(field)) return undefined;
  NEGATION.lastIndex = field.end;
  const [whole, spoken, verb] = NEGATION.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const start = field.end + whole.search(/\S/);
  const operator = { start, end: start + spoken!.length };
  if (/^exist/i.test(verb ?? "")) {
    const term = { start: field.start, end: operator.end };
    const problem = problems.foreignOperator(operator, spoken!, term, `not exists ${field.text}`);
    return { problem, length: tokensUpTo(tokens, at, term.end) };
  }
  const operand = operandAt(source, tokens, at + tokensUpTo(tokens, at, operator.end));
  if (operand === undefined) return undefined;
  const text = NEGATED.find(([pattern]) => pattern.test(verb ?? "is"))![1](field.text, operand, true);
  const term = { start: field.start, end: operand.end };
  const problem = problems.foreignOperator(operator, spoken!, term, text!);
  return { problem, length: tokensUpTo(tokens, at, term.end) };
}

const NEGATION =
  /\s+((?:is|was|are|were)n['\u2018\u2019`]?t|(?:does|do|did)(?:n['\u2018\u2019`]?t|\s+not)\s+(equals?|contains?|includes?|have|has|match(?:es)?|(?:start|begin|end)s?\s+with|exists?))(?![\p{L}\p{M}0-9_'\u2019])/iuy;

type Write = (field: string, operand: ForeignValue, negated: boolean, second?: ForeignValue) => string | undefined;

const compare =
  (operator: string, opposite: string): Write =>
  (field, { text }, negated) =>
    `${field} ${negated ? opposite : operator} ${text}`;

const pattern =
  (before: string, after: string): Write =>
  (field, { inner }, negated) =>
    `${field} ${negated ? "!=" : "="} "${before}${starEscaped(inner)}${after}"`;

const substring: Write = (field, { inner }, negated) => `${negated ? "not " : ""}${field} contains "${inner}"`;

const expression: Write = (field, { inner, regex }, negated) =>
  `${negated ? "not " : ""}${field} ~ ${regex ? inner : slashed(inner)}`;

const like: Write = (field, operand, negated) => {
  if (operand.regex) return expression(field, operand, negated);
  return `${field} ${negated ? "!=" : "="} "${starEscaped(operand.inner).replaceAll("%", "*")}"`;
};

const ilike: Write = (field, { inner }, negated) => {
  const open = inner.startsWith("%") ? "" : "^";
  const close = inner.endsWith("%") ? "" : "$";
  const middle = inner.replace(/^%|%$/g, "").replace(/[.*+?^${}()|[\]/]/g, "\\$&");
  return `${negated ? "not " : ""}${field} ~ /${open}${middle.replaceAll("%", ".*")}${close}/i`;
};

const is: Write = (field, operand, negated) => {
  if (/^(?:missing|absent|undefined|none|nil)$/i.test(operand.text)) return `${negated ? "" : "not "}exists ${field}`;
  if (/^(?:present|set|defined)$/i.test(operand.text)) return `${negated ? "not " : ""}exists ${field}`;
  if (/^empty$/i.test(operand.text)) return `${field} ${negated ? "!=" : "="} ""`;
  if (!/^null$/i.test(operand.text)) return compare("=", "!=")(field, operand, negated);
  // Elsewhere a missing value is null, and a null differs from none.
  return negated ? `${field} != null` : `(${field} = null or not exists ${field})`;
};

const between: Write = (field, { text }, negated, second) => {
  if (second === undefined) return undefined;
  const [ago, later] = [parseDuration(text), parseDuration(second.text)];
  // Durations ago: the longer one is the earlier time.
  if (field === "timestamp" && !negated && ago.ok && later.ok) {
    const [from, to] = ago.value > later.value ? [text, second.text] : [second.text, text];
    return `timestamp >= ${from} and timestamp <= ${to}`;
  }
  return negated
    ? `(${field} < ${text} or ${field} > ${second.text})`
    : `${field} >= ${text} and ${field} <= ${second.text}`;
};

/** The meanings of negated verbs. */
const NEGATED: readonly (readonly [verb: RegExp, write: Write])[] = [
  [/^(?:is|equal)/i, is],
  [/^(?:contain|include|ha)/i, substring],
  [/^match/i, expression],
  [/^(?:start|begin)/i, pattern("", "*")],
  [/^end/i, pattern("*", "")],
];

/** Operators that are words elsewhere, lower case and without `_`. */
const OPERATORS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ["like", like],
  ["ilike", ilike],
  ["rlike", expression],
  ["regexp", expression],
  ["regex", expression],
  ["matches", expression],
  ["match", expression],
  ["startswith", pattern("", "*")],
  ["startswithcs", pattern("", "*")],
  ["beginswith", pattern("", "*")],
  ["hasprefix", pattern("", "*")],
  ["endswith", pattern("*", "")],
  ["endswithcs", pattern("*", "")],
  ["hassuffix", pattern("*", "")],
  ["containscs", substring],
  ["containing", substring],
  ["includes", substring],
  ["has", substring],
  ["hascs", substring],
  ["eq", compare("=", "!=")],
  ["equals", compare("=", "!=")],
  ["is", is],
  ["ne", compare("!=", "=")],
  ["neq", compare("!=", "=")],
  ["gt", compare(">", "<=")],
  ["gte", compare(">=", "<")],
  ["ge", compare(">=", "<")],
  ["lt", compare("<", ">=")],
  ["lte", compare("<=", ">")],
  ["le", compare("<=", ">")],
  ["between", between],
]);

/** `contains(path, "x")`, `path.startsWith("/x")`, `ispresent(user)`, `exists(user)`, `timestamp > ago(1h)` */
export function functionCall({ source, tokens, at }: TokenPlace): Slip | undefined {
  const name = tokens[at]!;
  const open = tokens[at + 1];
  if (open?.kind !== "open" || open.start !== name.end) return undefined;
  const keyword = name.kind === "exists" || name.kind === "contains";
  if (name.kind !== "word" && !keyword) return undefined;

  const dot = name.text.lastIndexOf(".");
  const method = plainWord(name.text.slice(dot + 1));
  const receiver = dot > 0 ? name.text.slice(0, dot) : undefined;
  // Two arguments and a comma at most.
  const width = tokens.slice(at + 2, at + 6).findIndex(({ kind }) => kind === "close");
  if (width < 0) return undefined;
  const close = at + 2 + width;
  const inside = tokens.slice(at + 2, close).filter(({ kind }) => kind !== "comma");
  const term = { start: name.start, end: tokens[close]!.end };
  const length = close - at + 1;

  if (method === "ago" && inside.length === 1 && tokens[at - 1]?.kind === "compare") {
    const problem = problems.unknownFunction(name, name.text, {
      term,
      write: inside[0]!.text,
      hint: `write ${inside[0]!.text}`,
    });
    return { problem, length };
  }
  if (method === "now" && inside.length === 0 && tokens[at - 1]?.kind === "compare") {
    NOW_MINUS.lastIndex = name.start;
    const [text, amount, unit = ""] = NOW_MINUS.exec(source) ?? [];
    if (text !== undefined) {
      const span = { start: name.start, end: name.start + text.length };
      const write = `${amount}${unit.slice(0, 1).toLowerCase()}`;
      const problem = problems.unknownFunction(name, "now()", {
        term: span,
        write,
        hint: `write ${write}, which is that long ago`,
      });
      return { problem, length: tokensUpTo(tokens, at, span.end) };
    }
  }
  const write = FUNCTIONS.get(method);
  if (write === undefined) {
    const isOfTime = isPartOfTime(method);
    if (receiver !== undefined || keyword || !(isOfTime || AGGREGATES.test(method))) return undefined;
    const hint = isOfTime
      ? BOUNDS_OF_TIME
      : "a query selects entries and computes nothing: write the condition alone, such as status >= 500";
    const problem = problems.unknownFunction(name, `${name.text}()`, { term, write: undefined, hint });
    return { problem, length };
  }
  const [first, second] = receiver === undefined ? inside : [undefined, inside[0]];
  const field = receiver ?? (first !== undefined && isNameToken(first) ? first.text : undefined);
  const operand = second === undefined ? undefined : operandAt(source, tokens, tokens.indexOf(second, at));
  const text = field === undefined ? undefined : write(field, operand);
  // exists (a, b) and the like stay with the grammar's own words.
  if (text === undefined && keyword) return undefined;
  const hint = text === undefined ? "a term is a comparison, such as status >= 500" : `write ${text}`;
  return { problem: problems.unknownFunction(name, `${name.text}()`, { term, write: text, hint }), length };
}

/** Functions of values and of many entries. */
const AGGREGATES =
  /^(?:rate|irate|count|countdistinct|sum|avg|average|mean|median|min|max|p\d\d?|percentile|quantile|stddev|distinct|unique|dc|topk|bottomk|\w+overtime|lower|upper|tolower|toupper|len|length|now|round|abs|bin|histogram|values)$/;
/** Whether a function of this name gives a part of a time in other languages. */
export const isPartOfTime = (name: string) => PARTS_OF_TIME.test(plainWord(name));

/** Advice for those who look for such a function in a condition. */
export const BOUNDS_OF_TIME =
  'write the bounds of the time, such as timestamp >= "2026-05-01T08:00:00Z", or count in steps of it: | timeseries 1h';

const PARTS_OF_TIME =
  /^(?:second|minute|hour|hourofday|day|date|dayofweek|dayofmonth|weekday|week|month|year|datetrunc|todate|strftime|formatdate)$/;
const NOW_MINUS = /now\(\)\s*-\s*(?:interval\s*)?['"]?\s*(\d+)\s*(ms|[smhd]\w*)['"]?/iy;

type WriteCall = (field: string, operand: ForeignValue | undefined) => string | undefined;

const unary =
  (write: (field: string) => string): WriteCall =>
  (field, operand) =>
    operand === undefined ? write(field) : undefined;
const binary =
  (write: Write): WriteCall =>
  (field, operand) =>
    operand === undefined ? undefined : write(field, operand, false);

const FUNCTIONS: ReadonlyMap<string, WriteCall> = new Map<string, WriteCall>([
  ["exists", unary((field) => `exists ${field}`)],
  ["ispresent", unary((field) => `exists ${field}`)],
  ["isnotnull", unary((field) => `${field} != null`)],
  ["isnull", unary((field) => `(${field} = null or not exists ${field})`)],
  ["isnotempty", unary((field) => `${field} != ""`)],
  ["isempty", unary((field) => `(${field} = "" or not exists ${field})`)],
  ["contains", binary(substring)],
  ["strcontains", binary(substring)],
  ["includes", binary(substring)],
  ["startswith", binary(pattern("", "*"))],
  ["endswith", binary(pattern("*", ""))],
  ["matches", binary(expression)],
  ["match", binary(expression)],
  ["like", binary(like)],
]);
