import type { Problem, Span } from "../problem.ts";
import * as problems from "./problems.ts";
import type { Token, TokenKind } from "./tokens.ts";

/**
 * What is certainly wrong wherever it stands, all of it: characters that the language does not have, and the ways of
 * other languages to say what ours says differently. Up to a quote that is never closed, behind which nothing is certain.
 *
 * Some of it the grammar accepts (`path like "/x"` is three terms side by side): `check` asks as well.
 */
export function slips(source: string, tokens: readonly Token[]): Problem[] {
  const found: Problem[] = [];
  for (let at = 0; at < tokens.length && found.length < MAX_FOUND; ) {
    let slip: Slip | undefined;
    for (const recognize of RECOGNIZERS) {
      slip = recognize({ source, tokens, at });
      if (slip !== undefined) break;
    }
    if (slip !== undefined) found.push(slip.problem);
    if (tokens[at]!.kind === "unclosed-string" || tokens[at]!.kind === "unclosed-regex") break;
    at += slip?.length ?? 1;
  }
  return found;
}

// Of a text with as many only the first few are told; the rest is not worth the time.
const MAX_FOUND = 50;

/** A name that was never meant as one where it stands beside other terms: an operator or function of other languages. */
export const isForeignWord = (name: string) => OPERATORS.has(plainWord(name)) || FUNCTIONS.has(plainWord(name));

/** A problem and how many tokens it is about. */
interface Slip {
  readonly problem: Problem;
  readonly length: number;
}

interface Place {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly at: number;
}

function character({ source, tokens, at }: Place): Slip | undefined {
  const token = tokens[at]!;
  switch (token.kind) {
    case "unclosed-string": {
      const problem = problems.unclosedString(token, token.end < source.length);
      // fields["a] = 1
      const key = tokens[at - 1]?.text === "[" ? token.text.indexOf("]") : -1;
      if (key < 0 || problem.fix === undefined) return one(problem);
      const span = { start: token.start + key, end: token.start + key };
      return one({ ...problem, fix: { title: problem.fix.title, edits: [{ span, text: '"' }] } });
    }
    case "unclosed-regex":
      return one(problems.unclosedRegex(token));
    case "wrong-quotes":
      return one(problems.wrongQuotes(token));
    case "wrong-blank":
      return one(problems.wrongBlank(token));
    default:
      return undefined;
  }
}

/** `path like "/x%"`, `user is not null`, `status between 1 and 5`, `path startswith "/x"`, `path !contains "x"` */
function wordOperator({ source, tokens, at }: Place): Slip | undefined {
  const field = tokens[at]!;
  if (!beginsTerm(tokens, at) || !isName(field)) return undefined;
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
  let second: Operand | undefined;
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

interface Operand {
  /** As our language writes it. */
  readonly text: string;
  /** What stands between its quotes. */
  readonly inner: string;
  /** A regular expression with its slashes, where the other language takes one. */
  readonly regex: boolean;
  readonly end: number;
  readonly length: number;
}

function operandAt(source: string, tokens: readonly Token[], at: number): Operand | undefined {
  const token = tokens[at];
  if (token === undefined) return undefined;
  const { kind, text, end } = token;
  REGEX.lastIndex = token.start;
  const regex = REGEX.exec(source)?.[0];
  if (regex !== undefined) {
    const regexEnd = token.start + regex.length;
    return { text: regex, inner: regex, regex: true, end: regexEnd, length: tokensUpTo(tokens, at, regexEnd) };
  }
  if (kind === "string") return { text, inner: text.slice(1, -1), regex: false, end, length: 1 };
  if (kind === "wrong-quotes" && text.length > 1) {
    const inner = text.slice(1, -1).replaceAll('"', '\\"');
    return { text: `"${inner}"`, inner, regex: false, end, length: 1 };
  }
  return kind === "word" ? { text, inner: text, regex: false, end, length: 1 } : undefined;
}

type Write = (field: string, operand: Operand, negated: boolean, second?: Operand) => string | undefined;

const compare =
  (operator: string, opposite: string): Write =>
  (field, { text }, negated) =>
    `${field} ${negated ? opposite : operator} ${text}`;

const pattern =
  (before: string, behind: string): Write =>
  (field, { inner }, negated) =>
    `${field} ${negated ? "!=" : "="} "${before}${starEscaped(inner)}${behind}"`;

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
  return negated
    ? `(${field} < ${text} or ${field} > ${second.text})`
    : `${field} >= ${text} and ${field} <= ${second.text}`;
};

/** Operators that are words elsewhere, lower case and without `_`. */
const OPERATORS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ["like", like],
  ["ilike", ilike],
  ["rlike", expression],
  ["regexp", expression],
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
function functionCall({ source, tokens, at }: Place): Slip | undefined {
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
    const problem = problems.unknownFunction(name, name.text, term, inside[0]!.text, `write ${inside[0]!.text}`);
    return { problem, length };
  }
  const write = FUNCTIONS.get(method);
  if (write === undefined) return undefined;
  const [first, second] = receiver === undefined ? inside : [undefined, inside[0]];
  const field = receiver ?? (first !== undefined && isName(first) ? first.text : undefined);
  const operand = second === undefined ? undefined : operandAt(source, tokens, tokens.indexOf(second, at));
  const text = field === undefined ? undefined : write(field, operand);
  // exists (a, b) and the like stay with the grammar's own words.
  if (text === undefined && keyword) return undefined;
  const hint = text === undefined ? "a term is a comparison, such as status >= 500" : `write ${text}`;
  return { problem: problems.unknownFunction(name, `${name.text}()`, term, text, hint), length };
}

type WriteCall = (field: string, operand: Operand | undefined) => string | undefined;

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

/** Lucene's terms: `status:500`, `status:[400 TO 499]`, `status:>=500`, `-method:GET`, `_exists_:user`, `+error` */
function luceneTerm({ source, tokens, at }: Place): Slip | undefined {
  const first = tokens[at]!;
  const colon = tokens[at + 1];
  if (first.kind === "string" && colon?.start === first.end && colon.text.startsWith(":") && beginsTerm(tokens, at)) {
    // "status": 500
    const value = colon.text.length > 1 ? colon : tokens[at + 2];
    const text = colon.text.length > 1 ? colon.text.slice(1) : value?.text;
    const key = first.text.slice(1, -1);
    if (value === undefined || text === undefined || !VALUES.has(value.kind) || !NAME.test(key)) return undefined;
    const span = { start: first.start, end: value.end };
    const what = "a pair of JSON";
    const problem = problems.foreignTerm(span, source.slice(span.start, span.end), what, `${key} = ${text}`);
    return { problem, length: value === colon ? 2 : 3 };
  }
  // A comma here is none of a list, in which a colon belongs to the value.
  if (first.kind !== "word" || !(beginsTerm(tokens, at) || tokens[at - 1]?.kind === "comma")) return undefined;
  const signed = SIGNED.exec(first.text);
  const sign = signed?.[1] ?? "";
  if (sign !== "" && !signed![2]!.startsWith(":")) {
    // -debug, -"text"; a number has no letter behind its sign
    const text = first.text.slice(1);
    const quoted = text === "" && tokens[at + 1]?.start === first.end ? tokens[at + 1] : undefined;
    if (quoted?.kind !== "string" && !(NAME.test(text) && tokens[at + 1]?.start !== first.end)) {
      return luceneColon(source, tokens, at, sign);
    }
    const next = quoted ?? first;
    const write = `${sign === "-" ? "not " : ""}${quoted?.text ?? text}`;
    const span = { start: first.start, end: next.end };
    return {
      problem: problems.foreignTerm(span, source.slice(span.start, span.end), SIGNS[sign]!, write),
      length: quoted === undefined ? 1 : 2,
    };
  }
  return luceneColon(source, tokens, at, sign);
}

const SIGNED = /^([-+])([^0-9.].*|)$/s;
const SIGNS: Readonly<Record<string, string>> = { "-": "Lucene's way to exclude", "+": "Lucene's way to require" };

function luceneColon(source: string, tokens: readonly Token[], at: number, sign: string): Slip | undefined {
  const first = tokens[at]!;
  // The colon begins the next token where a name stands before it, or lies within a word that begins with a sign.
  const inside = sign === "" ? -1 : first.text.indexOf(":");
  const next = inside > 0 ? undefined : tokens[at + 1];
  if (inside < 0 && !(next?.kind === "word" && next.text.startsWith(":"))) return undefined;
  const key = inside > 0 ? first.text.slice(1, inside) : first.text.slice(sign.length);
  if (!NAME.test(key)) return undefined;
  const colon = inside > 0 ? first.start + inside : next!.start;
  let last = at + (inside > 0 ? 0 : 1);
  const glued = source.slice(colon + 1, tokens[last]!.end);

  const term = (write: string, what: string, end: number): Slip => {
    const span = { start: first.start, end };
    const text = sign === "-" ? (/ (?:and|or) /.test(write) ? `not (${write})` : `not ${write}`) : write;
    const length = tokensUpTo(tokens, at, end);
    return { problem: problems.foreignTerm(span, source.slice(span.start, end), what, text), length };
  };
  LUCENE_RANGE.lastIndex = colon + 1;
  const range = LUCENE_RANGE.exec(source);
  if (range !== null) {
    const [text, open, from, to, close] = range as unknown as [string, string, string, string, string];
    const low = from === "*" ? [] : [`${key} ${open === "[" ? ">=" : ">"} ${from}`];
    const high = to === "*" ? [] : [`${key} ${close === "]" ? "<=" : "<"} ${to}`];
    const write = [...low, ...high].join(" and ") || `exists ${key}`;
    return term(write, "Lucene's way to write a range", colon + 1 + text.length);
  }
  LUCENE_GROUP.lastIndex = colon + 1;
  const group = LUCENE_GROUP.exec(source);
  if (group !== null) {
    const values = group[1]!.trim().split(/\s+or\s+|\s+/i);
    return term(`${key} in (${values.join(", ")})`, "Lucene's way to write a list", colon + 1 + group[0].length);
  }
  REGEX.lastIndex = colon + 1;
  const regex = REGEX.exec(source)?.[0];
  if (regex !== undefined) return term(`${key} ~ ${regex}`, "Lucene's way to write ~", colon + 1 + regex.length);

  let value = glued;
  const after = tokens[last + 1];
  if (glued === "" && after?.kind === "compare") {
    // status:>=500
    const operator = after.text === "==" ? "=" : after.text;
    const operand = tokens[last + 2];
    if (operand === undefined || !VALUES.has(operand.kind)) return undefined;
    return term(`${key} ${operator} ${operand.text}`, "Lucene's way to compare", operand.end);
  }
  if (glued === "" && after !== undefined && VALUES.has(after.kind)) {
    last++;
    value = after.text;
  }
  if (value === "") return undefined;
  if (key === "_exists_") return term(`exists ${value}`, "Lucene's way to write exists", tokens[last]!.end);
  if (key === "_missing_") return term(`not exists ${value}`, "Lucene's way to write not exists", tokens[last]!.end);
  if (value === "*") return term(`exists ${key}`, "Lucene's way to write exists", tokens[last]!.end);
  const wrong = tokens[last]!.kind === "wrong-quotes" ? operandAt(source, tokens, last)?.text : undefined;
  if (sign !== "" || wrong !== undefined) {
    return term(`${key} = ${wrong ?? value}`, "Lucene's way to compare", tokens[last]!.end);
  }
  // status:500, with the colon alone to blame
  const blank = colon === first.end || glued !== "" ? " = " : "=";
  const spaced = source[colon + 1] === " " ? blank.trimEnd() : blank;
  return {
    problem: problems.unknownOperator({ start: colon, end: colon + 1 }, ":", `write ${key} = ${value}`, spaced),
    length: last - at + 1,
  };
}

const LUCENE_RANGE = /[ \t]*([[{])[ \t]*([^\s\]}]{1,100})[ \t]+TO[ \t]+([^\s\]}]{1,100})[ \t]*([\]}])/y;
const LUCENE_GROUP =
  /[ \t]*\([ \t]*((?!AND\b|NOT\b)[\p{L}\p{M}0-9_./*@%+-]+(?:[ \t]+(?!AND\b|NOT\b)[\p{L}\p{M}0-9_./*@%+-]+){0,50})[ \t]*\)/uy;

/** Operators of other languages, which the tokens have split: `=>`, `===`, `=~`, `!~`; and signs such as `≥`. */
function symbol({ source, tokens, at }: Place): Slip | undefined {
  const first = tokens[at]!;
  if (!SYMBOLIC.has(first.kind)) return undefined;
  // a =~ /x/ reads as a = "~", and ends there.
  const tilde = first.kind === "compare" ? tokens[at + 1] : undefined;
  if (tilde?.text === "~" && tilde.start === first.end && FOREIGN.has(`${first.text}~`)) {
    return foreign(source, tokens, at, 2);
  }
  let length = 1;
  while (
    tokens[at + length]?.start === tokens[at + length - 1]!.end &&
    SYMBOLIC.has(tokens[at + length]!.kind) &&
    source.slice(first.start, tokens[at + length]!.end).length <= 3
  ) {
    length++;
  }
  for (; length > 0; length--) {
    const text = source.slice(first.start, tokens[at + length - 1]!.end);
    if (FOREIGN.has(text)) return foreign(source, tokens, at, length);
  }
  return undefined;
}

function foreign(source: string, tokens: readonly Token[], at: number, length: number): Slip {
  const span = { start: tokens[at]!.start, end: tokens[at + length - 1]!.end };
  const text = source.slice(span.start, span.end);
  const write = FOREIGN.get(text)!;
  const field = tokens[at - 1];
  const named = field !== undefined && isName(field);
  if (write === "not ~") {
    const problem = problems.unknownOperator(span, text, `write not ${named ? field.text : "field"} ~ ...`);
    if (!named) return { problem, length };
    const edits = [
      { span: { start: field.start, end: field.start }, text: "not " },
      { span, text: "~" },
    ];
    return { problem: { ...problem, fix: { title: "Write not before the field, and ~", edits } }, length };
  }
  // A quoted text or a word becomes an expression in the same stroke.
  const operand = write === "~" ? operandAt(source, tokens, at + length) : undefined;
  if (operand !== undefined && !operand.regex) {
    const term = { start: span.start, end: operand.end };
    const problem = problems.foreignOperator(span, text, term, `~ ${slashed(operand.inner)}`);
    return { problem, length: length + operand.length };
  }
  if (text === "|=" || text === "|~") {
    // Loki's tests of the line, behind whatever selects the stream.
    const line = operandAt(source, tokens, at + length);
    const test = line && (text === "|=" ? `message contains "${line.inner}"` : `message ~ ${slashed(line.inner)}`);
    const hint = `write ${test ?? (text === "|=" ? 'message contains "text"' : "message ~ /text/")}`;
    const problem = problems.unknownOperator(span, text, hint);
    if (line === undefined || test === undefined) return { problem, length };
    const edits = [{ span: { start: span.start, end: line.end }, text: `${at === 0 ? "" : "and "}${test}` }];
    return { problem: { ...problem, fix: { title: `Write ${test}`, edits } }, length: length + line.length };
  }
  if (text === ";" && at === tokens.length - 1) {
    const problem = problems.unknownOperator(span, text, "remove it: a query ends without", "");
    return { problem, length };
  }
  // `a;b`, where the word would become one with its neighbours.
  const touches = (at: number) => /[\p{L}\p{M}0-9_"-]/u.test(source[at] ?? "");
  const word = /^\w/.test(write);
  const spaced = `${word && touches(span.start - 1) ? " " : ""}${write}${word && touches(span.end) ? " " : ""}`;
  return { problem: problems.unknownOperator(span, text, `write ${write.trim()}`, spaced), length };
}

/** What people type who come from elsewhere, and the operator to write instead. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ["=>", ">="],
  ["=<", "<="],
  ["===", "="],
  ["!==", "!="],
  ["<>", "!="],
  ["=!", "!="],
  ["=~", "~"],
  ["==~", "~"],
  ["~=", "~"],
  ["!~", "not ~"],
  ["!=~", "not ~"],
  ["|=", "contains"],
  ["|~", "message ~"],
  ["&", "and"],
  ["|", "or"],
  [";", "and"],
  ["\u2265", ">="],
  ["\u2264", "<="],
  ["\u2260", "!="],
  ["\uff1d", "="],
  ["\uff1e", ">"],
  ["\uff1c", "<"],
  ["\u00ac", "not "],
  ["\u2227", "and"],
  ["\u2228", "or"],
  ["\uff08", "("],
  ["\uff09", ")"],
  ["\uff0c", ","],
]);

/** `in [a, b]`, `in a, b`, `= (a, b)` */
function list({ source, tokens, at }: Place): Slip | undefined {
  const operator = tokens[at]!;
  const equality = operator.kind === "compare" && /^(?:==?|!=)$/.test(operator.text);
  const next = tokens[at + 1];
  if ((operator.kind !== "in" && !equality) || next === undefined) return undefined;
  const field = at > 0 ? fieldBefore(tokens, at) : undefined;
  if (field === undefined) return undefined;

  const bracket = next.text === "[" || next.text === "{";
  if (!bracket && (equality ? next.kind !== "open" : !VALUES.has(next.kind))) return undefined;
  const values: string[] = [];
  let last = at + (bracket || equality ? 1 : 0);
  for (;;) {
    const value = operandAt(source, tokens, last + 1);
    if (value === undefined || value.regex) break;
    values.push(value.text);
    last++;
    if (tokens[last + 1]?.kind !== "comma") break;
    last++;
  }
  if (tokens[last]?.kind === "comma") last--;
  if (bracket || equality) {
    const close = tokens[last + 1];
    if (close === undefined || !(close.kind === "close" || close.text === "]" || close.text === "}")) return undefined;
    last++;
  }
  if (values.length === 0) return undefined;
  const written = `(${values.join(", ")})`;
  const end = tokens[last]!.end;
  const length = last - at + 1;
  if (!equality) {
    return { problem: problems.missingList(next, field, { start: next.start, end }, written), length };
  }
  const span: Span = { start: operator.start, end };
  const write = `${operator.text === "!=" ? "not in" : "in"} ${written}`;
  return { problem: problems.listAfterOperator(next, operator.text, field, span, write), length };
}

function fieldBefore(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at - 1]?.kind === "not" ? tokens[at - 2] : tokens[at - 1];
  return token !== undefined && isName(token) ? token.text : undefined;
}

/** `500 <= status` */
function reversed({ source, tokens, at }: Place): Slip | undefined {
  const [value, operator, field, behind] = [tokens[at]!, tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (operator?.kind !== "compare" || field === undefined || !beginsTerm(tokens, at)) return undefined;
  if (!NUMBER.test(value.text) || !isName(field)) return undefined;
  if (behind?.kind === "compare") return undefined;
  const span = { start: value.start, end: field.end };
  const write = `${field.text} ${FLIPPED[operator.text] ?? operator.text} ${value.text}`;
  return {
    problem: problems.foreignTerm(span, source.slice(span.start, span.end), "a comparison the wrong way round", write),
    length: 3,
  };
}

const FLIPPED: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=" };

/** `.status`, `$.status`: a path of jq or JSONPath. */
function jsonPath({ tokens, at }: Place): Slip | undefined {
  const token = tokens[at]!;
  if (token.kind !== "word" || !beginsTerm(tokens, at)) return undefined;
  if (/^\$\.[\p{L}_@$]/u.test(token.text)) return one(problems.jsonPath(token, token.text));
  if (!/^\.[\p{L}_@$]/u.test(token.text) || tokens[at - 1]?.end === token.start) return undefined;
  const name = token.text.slice(1);
  return one(
    problems.badName({ start: token.start, end: token.start + token.text.length }, token.text, `write ${name}`, name),
  );
}

/** `And`, `Or` */
function keywordCase({ tokens, at }: Place): Slip | undefined {
  const token = tokens[at]!;
  if (token.kind !== "word" || !MIXED_KEYWORD.test(token.text)) return undefined;
  if (!beginsTerm(tokens, at) || tokens[at + 1]?.kind === "compare") return undefined;
  return one(problems.keywordCase(token, token.text));
}

const MIXED_KEYWORD = /^(?:and|or|not|in|contains|exists)$/i;

const RECOGNIZERS: readonly ((place: Place) => Slip | undefined)[] = [
  functionCall,
  wordOperator,
  luceneTerm,
  list,
  symbol,
  reversed,
  jsonPath,
  keywordCase,
  character,
];

const one = (problem: Problem): Slip => ({ problem, length: 1 });

/** Whether the token stands where a term may begin: not behind an operator, and not in a list. */
function beginsTerm(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined) return true;
  if (before.kind === "open") return tokens[at - 2]?.kind !== "in";
  return BEFORE_TERM.has(before.kind);
}

function tokensUpTo(tokens: readonly Token[], at: number, end: number): number {
  let length = 1;
  while (tokens[at + length] !== undefined && tokens[at + length]!.start < end) length++;
  return length;
}

const isName = (token: Token) => token.kind === "word" && NAME.test(token.text);
const plainWord = (text: string) => text.toLowerCase().replaceAll("_", "");
const starEscaped = (text: string) => text.replaceAll("*", "\\*");
/** A regular expression as the other language quotes it: a backslash is doubled there. */
const slashed = (inner: string) => `/${inner.replaceAll("\\\\", "\\").replace(/(^|[^\\])\//g, "$1\\/")}/`;

const BEFORE_TERM: ReadonlySet<TokenKind> = new Set(["and", "or", "not", "close", "word", "string", "regex", "other"]);
const SYMBOLIC: ReadonlySet<TokenKind> = new Set(["compare", "match", "and", "or", "not", "other"]);
const VALUES: ReadonlySet<TokenKind> = new Set(["word", "string", "wrong-quotes"]);
const NAME = /^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*(?:\.[\p{L}_@$][\p{L}\p{M}0-9_@$-]*|\[[0-9]+\]|\["[^"\\\r\n]*"\])*$/u;
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[kmgt]?b|ms|[smhd])?$/;
const REGEX = /\/(?:[^/\\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*\]){1,300}\/i?(?![\p{L}\p{M}0-9_./*@%+-])/uy;
