import { nesting, type Token, tokenize } from "./tokens.ts";

/** In UTF-16 units, as spans count: no query written by hand is as long, and refusing a longer one takes little time. */
export const MAX_QUERY_LENGTH = 16 * 1024;

/** Levels of parentheses and `not` together: each costs the parser and every later walk over the tree some stack. */
export const MAX_QUERY_DEPTH = 64;

/** Where a text nests too deep; undefined if it does not. To be asked before the parser, which recurses, sees it. */
export function tooDeepAt(source: string): Token | undefined {
  // Only a text with as many openers can nest as deep; the others are spared the scan.
  let openers = 0;
  for (const _ of source.matchAll(/[(!]|not/gi)) openers++;
  return openers <= MAX_QUERY_DEPTH ? undefined : nesting(tokenize(source), MAX_QUERY_DEPTH);
}
