import type { Problem } from "../problem.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";
import { STAGE_WORDS } from "./levels.ts";
import { levelText } from "./loggers.ts";
import type { Token, TokenKind } from "./tokens.ts";

// Helpers that the recognizers of slips.ts share: a place among the tokens, and the tokens around it.

/** A problem and how many tokens it is about. */
export interface Slip {
  readonly problem: Problem;
  readonly length: number;
}

/** A token and all those around it. */
export interface TokenPlace {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly at: number;
}

/** A value as another language writes it. */
export interface ForeignValue {
  /** As our language writes it. */
  readonly text: string;
  /** The text between its quotes. */
  readonly inner: string;
  /** A regular expression with its slashes, where the other language takes one. */
  readonly regex: boolean;
  readonly end: number;
  readonly length: number;
}

export function operandAt(source: string, tokens: readonly Token[], at: number): ForeignValue | undefined {
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

export const one = (problem: Problem): Slip => ({ problem, length: 1 });

/** Whether the token is where a term may begin: not after an operator, and not in a list. */
export function beginsTerm(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined) return true;
  if (before.kind === "open") return tokens[at - 2]?.kind !== "in";
  return BEFORE_TERM.has(before.kind);
}

/** How many tokens, from the one at `at` on, begin before `end`. */
export function tokensUpTo(tokens: readonly Token[], at: number, end: number): number {
  let length = 1;
  while (tokens[at + length] !== undefined && tokens[at + length]!.start < end) length++;
  return length;
}

export const isNameToken = (token: Token) => token.kind === "word" && NAME.test(token.text);
/** A word that other tools look for in the text: no level, stage, or field that entries are known to have. */
export const isMessageWord = (text: string) =>
  /^[\p{L}_][\p{L}\p{M}0-9_-]*$/u.test(text) &&
  levelText(text, undefined) === undefined &&
  !(STAGE_WORDS as readonly string[]).includes(text.toLowerCase()) &&
  !KNOWN_FIELDS.some(({ name }) => name === text);
export const plainWord = (text: string) => text.toLowerCase().replaceAll("_", "");
export const starEscaped = (text: string) => text.replaceAll("*", "\\*");
/** A regular expression as the other language quotes it: a backslash is doubled there. */
export const slashed = (inner: string) => `/${inner.replaceAll("\\\\", "\\").replace(/(^|[^\\])\//g, "$1\\/")}/`;

const BEFORE_TERM: ReadonlySet<TokenKind> = new Set(["and", "or", "not", "close", "word", "string", "regex", "other"]);
export const VALUES: ReadonlySet<TokenKind> = new Set(["word", "string", "wrong-quotes"]);
export const NAME =
  /^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*(?:\.[\p{L}_@$][\p{L}\p{M}0-9_@$-]*|\[[0-9]+\]|\["[^"\\\r\n]*"\])*$/u;
export const REGEX =
  /\/(?:[^/\\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*\]){1,300}\/i?(?![\p{L}\p{M}0-9_./*@%+-])/uy;
