import type { Span } from "../problem.ts";
import { PIPE_WORDS } from "./pipe-words.ts";

/** A piece of a query that may be wrong. Valid queries are parsed without this. */
export interface Token extends Span {
  readonly kind: TokenKind;
  readonly text: string;
}

export type TokenKind =
  | "compare" // = == != < <= > >=
  | "match" // ~
  | "and" // and &&
  | "or" // or ||
  | "not" // not !
  | "in"
  | "contains"
  | "exists"
  | "open"
  | "close"
  | "comma"
  | "string"
  | "unclosed-string"
  | "regex"
  | "unclosed-regex"
  | "word" // a name, number or unquoted value
  | "wrong-quotes" // '..', `..` and typographic ones, with what they enclose
  | "wrong-blank" // U+00A0 and other blanks of Unicode
  | "other"; // one character that the language has no use for

/**
 * Splits any text into tokens, in linear time and without recursion, for the diagnosis of queries that the grammar does
 * not accept and for measuring their depth. Where the text is valid the tokens are those of the grammar.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let inList = false;
  for (;;) {
    at += take(BLANKS, source, at).length;
    if (at >= source.length) return tokens;
    const previous = tokens.at(-1)?.kind;
    if (previous === "open" && tokens.at(-2)?.kind === "in") inList = true;
    if (previous === "close") inList = false;
    const valueExpected =
      previous === "compare" || previous === "contains" || (inList && (previous === "open" || previous === "comma"));
    const [kind, text] = next(source, at, previous, valueExpected);
    tokens.push({ kind, text, start: at, end: at + text.length });
    at += text.length;
  }
}

/** The token that opens a level deeper than `max`, if one does. Parentheses and `not` open levels. */
export function nesting(tokens: readonly Token[], max: number): Token | undefined {
  const open: number[] = [];
  let depth = 0;
  let nots = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "not") {
      if (tokens[index + 1]?.kind !== "in") nots++;
    } else if (token.kind === "open") {
      open.push(nots + 1);
      depth += nots + 1;
      nots = 0;
    } else {
      if (token.kind === "close") depth -= open.pop() ?? 0;
      nots = 0;
    }
    if (depth + nots > max) return token;
  }
  return undefined;
}

function next(
  source: string,
  at: number,
  previous: TokenKind | undefined,
  valueExpected: boolean,
): [TokenKind, string] {
  const char = source[at]!;
  if (char === '"') {
    const text = take(STRING, source, at);
    return text === "" ? ["unclosed-string", take(UNCLOSED, source, at)] : ["string", text];
  }
  if (char === "/" && previous === "match") {
    const text = takeRegex(source, at);
    return text === "" ? ["unclosed-regex", take(UNCLOSED, source, at)] : ["regex", text];
  }
  if (char === "(") return ["open", char];
  if (char === ")") return ["close", char];
  if (char === ",") return ["comma", char];

  // isn't: an apostrophe opens no quote.
  if (/['\u2018\u2019]/.test(char) && APOSTROPHE.test(source.slice(Math.max(0, at - 1), at + 2)))
    return ["wrong-quotes", char];
  const quotes = take(WRONG_QUOTES, source, at);
  if (quotes !== "") return ["wrong-quotes", quotes];
  const blanks = take(WRONG_BLANKS, source, at);
  if (blanks !== "") return ["wrong-blank", blanks];

  const word = (valueExpected ? "" : take(NAME, source, at)) || take(valueExpected ? VALUE : LOOSE, source, at);
  if (word !== "") return [KEYWORDS.get(word) ?? "word", word];
  const operator = take(OPERATOR, source, at);
  if (operator !== "") return [OPERATORS.get(operator) ?? "compare", operator];
  return ["other", String.fromCodePoint(source.codePointAt(at)!)];
}

/**
 * A regular expression with its slashes and flags; "" if it does not end on its line. A slash in a class does not end it.
 */
function takeRegex(source: string, start: number): string {
  let inClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at]!;
    if (char === "\n" || char === "\r") return "";
    if (char === "\\") at++;
    else if (inClass) {
      const named = take(NAMED_CLASS, source, at);
      if (named !== "") at += named.length - 1;
      else if (char === "]") inClass = false;
    } else if (char === "[") {
      inClass = true;
      at += take(CLASS_START, source, at).length - 1;
    } else if (char === "/") {
      return source.slice(start, at + 1) + take(FLAGS, source, at + 1);
    }
  }
  return "";
}

function take(sticky: RegExp, source: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(source)?.[0] ?? "";
}

const BLANKS = /[ \t\r\n]*/y;
// Up to the end of the line, or a stage. The counts of blanks bound the time.
const UNCLOSED = new RegExp(`(?:(?![ \\t]{0,9}\\|[ \\t]{1,9}(?:${PIPE_WORDS.join("|")})\\b)[^\\r\\n])*`, "y");
const STRING = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y;
const NAME =
  /[\p{L}_@$][\p{L}\p{M}0-9_@$-]*(?:\.[\p{L}_@$][\p{L}\p{M}0-9_@$-]*|\[[0-9]+\]|\["(?:[^"\\\r\n]|\\[^\r\n])*"\])*/uy;
const VALUE = /[\p{L}\p{M}0-9_\-./:@+%~*]+/uy;
// Text that is neither a name nor in a value's place. A tilde begins an operator there.
const LOOSE = /[\p{L}\p{M}0-9_\-./:@+%*$]+/uy;
const OPERATOR = /==|!=|>=|<=|&&|\|\||[=<>!~]/y;
const FLAGS = /\p{L}*/uy;
const NAMED_CLASS = /\[:\^?\p{L}*:\]/uy;
const CLASS_START = /\[\^?\]?/y;
const WRONG_QUOTES =
  /'[^'\r\n]*'|`[^`\r\n]*`|[\u201c\u201d\u201e\u201f\u00ab\u00bb][^\u201c\u201d\u201f\u00ab\u00bb"\r\n]*[\u201c\u201d\u201f\u00ab\u00bb"]|[\u2018\u2019\u201a][^\u2018\u2019'\r\n]*[\u2018\u2019']|['`\u2018-\u201f\u00ab\u00bb]/y;
const APOSTROPHE = /^\p{L}['\u2018\u2019]t/u;
const WRONG_BLANKS = /[\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\v\f]+/y;

const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map(
  (["and", "or", "not", "in", "contains", "exists"] as const).flatMap((word) => [
    [word, word],
    [word.toUpperCase(), word],
  ]),
);
const OPERATORS: ReadonlyMap<string, TokenKind> = new Map([
  ["&&", "and"],
  ["||", "or"],
  ["!", "not"],
  ["~", "match"],
]);
