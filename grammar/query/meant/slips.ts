import type { Problem, Span } from "../../problem.ts";
import { levelOf } from "../levels.ts";
import { beginsTerm, isNameToken, one, operandAt, type Slip, slashed, type TokenPlace, VALUES } from "../place.ts";
import * as problems from "../problems.ts";
import type { Token, TokenKind } from "../tokens.ts";
import { functionCall, spokenNegation, wordOperator } from "./foreign-words.ts";
import { bareValue, clause, option, prose, spokenOperator, timeSpan } from "./habits.ts";
import { luceneTerm } from "./lucene.ts";

/**
 * Everything that is wrong in any position: characters that the language does not have, and the ways of
 * other languages to say what ours says differently. Up to a quote that is never closed, after which nothing is certain.
 *
 * Some of it the grammar accepts (`path like "/x"` is three terms side by side): `check` asks as well.
 */
export function slips(source: string, tokens: readonly Token[]): Problem[] {
  const findings: Problem[] = [];
  for (let at = 0; at < tokens.length && findings.length < MAX_PROBLEMS; ) {
    let slip: Slip | undefined;
    for (const recognize of RECOGNIZERS) {
      slip = recognize({ source, tokens, at });
      if (slip !== undefined) break;
    }
    if (slip !== undefined) findings.push(slip.problem);
    if (tokens[at]!.kind === "unclosed-string" || tokens[at]!.kind === "unclosed-regex") break;
    at += slip?.length ?? 1;
  }
  return findings;
}

// If a text has this many, reporting the rest is not worth the time.
const MAX_PROBLEMS = 50;

function character({ source, tokens, at }: TokenPlace): Slip | undefined {
  const token = tokens[at]!;
  switch (token.kind) {
    case "unclosed-string": {
      const problem = problems.unclosedString(token, /[\r\n]/.test(source[token.end] ?? ""));
      // fields["a] = 1
      const key = tokens[at - 1]?.text === "[" ? token.text.indexOf("]") : -1;
      if (key < 0 || problem.fix === undefined) return one(problem);
      const span = { start: token.start + key, end: token.start + key };
      return one({ ...problem, fix: { title: problem.fix.title, edits: [{ span, text: '"' }] } });
    }
    case "unclosed-regex":
      return one(problems.unclosedRegex(token));
    case "wrong-quotes":
      if (isQuotedName(tokens, at)) return one(problems.quotedName(token));
      return one(problems.wrongQuotes(token));
    case "wrong-blank":
      return one(problems.wrongBlank(token));
    default:
      return undefined;
  }
}

/** `` `user name` = bob ``: SQL's way to quote a name. */
function isQuotedName(tokens: readonly Token[], at: number): boolean {
  const { text } = tokens[at]!;
  if (!/^`[^`"\\]+`$/.test(text) || !beginsTerm(tokens, at)) return false;
  const next = tokens[at + 1]?.kind === "not" ? tokens[at + 2] : tokens[at + 1];
  return next !== undefined && NAME_IS_BEFORE.has(next.kind);
}

const NAME_IS_BEFORE: ReadonlySet<TokenKind> = new Set(["compare", "match", "contains", "in"]);

/** `?ERROR ?WARN`: CloudWatch's way to say or. */
function questionTerms({ source, tokens, at }: TokenPlace): Slip | undefined {
  if (tokens[at]!.text !== "?" || !beginsTerm(tokens, at)) return undefined;
  const terms: string[] = [];
  let last = at;
  for (let i = at; tokens[i]?.text === "?"; i += 2) {
    const term = tokens[i + 1];
    if (term === undefined || term.start !== tokens[i]!.end || (term.kind !== "word" && term.kind !== "string")) break;
    const inner = term.kind === "string" ? term.text : `"${term.text}"`;
    terms.push(term.kind === "word" && levelOf(term.text) !== undefined ? term.text : `message contains ${inner}`);
    last = i + 1;
  }
  if (terms.length === 0) return undefined;
  const span = { start: tokens[at]!.start, end: tokens[last]!.end };
  const isWhole = at === 0 && last === tokens.length - 1;
  const write = terms.length > 1 && !isWhole ? `(${terms.join(" or ")})` : terms.join(" or ");
  const what = "CloudWatch's way to search for any of some terms";
  return {
    problem: problems.foreignTerm(span, source.slice(span.start, span.end), what, { write }),
    length: last - at + 1,
  };
}

/** `user exists` */
function existsAfter({ source, tokens, at }: TokenPlace): Slip | undefined {
  const [name, exists, next] = [tokens[at]!, tokens[at + 1], tokens[at + 2]];
  if (exists?.kind !== "exists" || !beginsTerm(tokens, at) || !isNameToken(name)) return undefined;
  // Otherwise the name is a term of its own, and exists begins the next.
  if (next !== undefined && next.kind !== "and" && next.kind !== "or" && next.kind !== "close") return undefined;
  if (levelOf(name.text) !== undefined) return undefined;
  const span = { start: name.start, end: exists.end };
  const text = source.slice(span.start, span.end);
  const what = "the wrong way round";
  return { problem: problems.foreignTerm(span, text, what, { write: `exists ${name.text}` }), length: 2 };
}

/** Operators of other languages, which the tokens have split: `=>`, `===`, `=~`, `!~`; and signs such as `≥`. */
function symbol({ source, tokens, at }: TokenPlace): Slip | undefined {
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
  const named = field !== undefined && isNameToken(field);
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
    // Loki's tests of the line, after whatever selects the stream.
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
  // Nothing is there to be combined.
  if (/^(?:and|or)$/.test(write) && (at === 0 || at + length === tokens.length)) {
    return { problem: problems.unknownOperator(span, text, "remove it: there is nothing to combine", ""), length };
  }
  // `a;b`, where the word would become one with its neighbours.
  const touches = (at: number) => /[\p{L}\p{M}0-9_"-]/u.test(source[at] ?? "");
  const word = /^\w/.test(write);
  const spaced = `${word && touches(span.start - 1) ? " " : ""}${write}${word && touches(span.end) ? " " : ""}`;
  return { problem: problems.unknownOperator(span, text, `write ${write.trim()}`, spaced), length };
}

/** Operators that users of other query languages type, and ours for each. */
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

/** `in [a, b]`, `in a, b`, `= (a, b)`, `= (a or b)` */
function list({ source, tokens, at }: TokenPlace): Slip | undefined {
  const operator = tokens[at]!;
  const equality = operator.kind === "compare" && /^(?:==?|!=)$/.test(operator.text);
  const next = tokens[at + 1];
  if ((operator.kind !== "in" && !equality) || next === undefined) return undefined;
  const field = at > 0 ? fieldBefore(tokens, at) : undefined;
  if (field === undefined) return undefined;

  const range = operator.kind === "in" ? /^(-?\d+)\.\.=?(-?\d+)$/.exec(next.text) : null;
  if (range !== null && tokens[at - 1]!.kind !== "not") {
    // status in 500..599
    const name = tokens[at - 1]!;
    const term = { start: name.start, end: next.end };
    const write = `${field} >= ${range[1]} and ${field} <= ${range[2]}`;
    return { problem: problems.foreignTerm(next, next.text, "no list", { write, term }), length: 2 };
  }
  const bracket = next.text === "[" || next.text === "{";
  if (!bracket && (equality ? next.kind !== "open" : !VALUES.has(next.kind))) return undefined;
  const values: string[] = [];
  let last = at + (bracket || equality ? 1 : 0);
  for (;;) {
    const value = operandAt(source, tokens, last + 1);
    if (value === undefined || value.regex) break;
    values.push(value.text);
    last++;
    const isOr = equality && tokens[last + 1]?.kind === "or";
    if (tokens[last + 1]?.kind !== "comma" && !isOr) break;
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
  const [network] = values;
  const name = tokens[at - 1]?.kind === "not" ? tokens[at - 2] : tokens[at - 1];
  if (!equality && !bracket && values.length === 1 && name !== undefined && NETWORK.test(network!)) {
    const term = { start: name.start, end };
    const problem = problems.network(next, { field, text: network!, term, isNot: tokens[at - 1]?.kind === "not" });
    return { problem, length };
  }
  if (!equality) {
    return { problem: problems.missingList(next, field, { start: next.start, end }, written), length };
  }
  const span: Span = { start: operator.start, end };
  const write = `${operator.text === "!=" ? "not in" : "in"} ${written}`;
  return { problem: problems.listAfterOperator(next, operator.text, field, { term: span, write }), length };
}

const NETWORK = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F:]*::?[\da-fA-F:]*)\/\d{1,3}$/;

function fieldBefore(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at - 1]?.kind === "not" ? tokens[at - 2] : tokens[at - 1];
  return token !== undefined && isNameToken(token) ? token.text : undefined;
}

/** `500 <= status` */
function reversed({ source, tokens, at }: TokenPlace): Slip | undefined {
  const [value, operator, field, next] = [tokens[at]!, tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (operator?.kind !== "compare" || field === undefined || !beginsTerm(tokens, at)) return undefined;
  if (!NUMBER.test(value.text) || !isNameToken(field)) return undefined;
  if (next?.kind === "compare") return undefined;
  const span = { start: value.start, end: field.end };
  const write = `${field.text} ${FLIPPED[operator.text] ?? operator.text} ${value.text}`;
  return {
    problem: problems.foreignTerm(span, source.slice(span.start, span.end), "a comparison the wrong way round", {
      write,
    }),
    length: 3,
  };
}

const FLIPPED: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=" };

/** `.status`, `$.status`: a path of jq or JSONPath. */
function jsonPath({ tokens, at }: TokenPlace): Slip | undefined {
  const token = tokens[at]!;
  if (token.kind !== "word" || !beginsTerm(tokens, at)) return undefined;
  if (/^\$\.[\p{L}_@$]/u.test(token.text)) return one(problems.jsonPathSyntax(token, token.text));
  if (!/^\.[\p{L}_@$]/u.test(token.text) || tokens[at - 1]?.end === token.start) return undefined;
  const name = token.text.slice(1);
  return one(
    problems.badName({ start: token.start, end: token.start + token.text.length }, token.text, `write ${name}`, name),
  );
}

/** `And`, `Or` */
function keywordCase({ tokens, at }: TokenPlace): Slip | undefined {
  const token = tokens[at]!;
  if (token.kind !== "word" || !MIXED_KEYWORD.test(token.text)) return undefined;
  if (!beginsTerm(tokens, at) || tokens[at + 1]?.kind === "compare") return undefined;
  return one(problems.keywordCase(token, token.text));
}

const MIXED_KEYWORD = /^(?:and|or|not|in|contains|exists)$/i;

const RECOGNIZERS: readonly ((place: TokenPlace) => Slip | undefined)[] = [
  option,
  timeSpan,
  clause,
  functionCall,
  spokenNegation,
  wordOperator,
  spokenOperator,
  luceneTerm,
  list,
  symbol,
  reversed,
  jsonPath,
  keywordCase,
  questionTerms,
  existsAfter,
  character,
  bareValue,
  prose,
];

const SYMBOLIC: ReadonlySet<TokenKind> = new Set(["compare", "match", "and", "or", "not", "other"]);
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[kmgt]?b|ms|[smhd])?$/;
