import type { Parsed, Problem } from "../problem.ts";
import type { Query } from "./ast.ts";
import { check } from "./check.ts";
import { foreignQuery, opensForeignQuery } from "./foreign-query.ts";
import * as problems from "./problems.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";
import { repair } from "./repair.ts";
import { nesting, tokenize } from "./tokens.ts";

/**
 * Parses a log query. Never throws, whatever the text; blank text is the empty query.
 * Source: the specification's "Log query language", settled in README.md.
 *
 * Returns all problems (problems.ts), but only the first five of syntax.
 */
export function parseQuery(source: string): Parsed<Query> {
  if (source.length > MAX_LENGTH) return failed([problems.tooLong(source.length, MAX_LENGTH)]);
  if (BLANK.test(source)) return { ok: true, value: { source, expr: undefined } };

  const tooDeep = deepest(source);
  if (tooDeep !== undefined) return failed([tooDeep]);

  const expr = parsers.Query(source);
  if (expr === NO_MATCH) return failed(repair(source, parseQuery));
  const query = { source, expr: expr as Query["expr"] };
  const foreign = opensForeignQuery(source) ? foreignQuery(source, parseQuery) : undefined;
  const found = foreign === undefined ? check(query) : [foreign];
  return found.length === 0 ? { ok: true, value: query } : failed(found);
}

/** In UTF-16 units, as spans count: no query written by hand is as long, and refusing a longer one takes little time. */
export const MAX_LENGTH = 16 * 1024;

/** Levels of parentheses and `not` together: each costs the parser and every later walk over the tree some stack. */
export const MAX_DEPTH = 64;

const BLANK = /^[ \t\r\n]*$/;

/** Refuses deep nesting before the parser, which recurses, sees it. */
export function deepest(source: string): Problem | undefined {
  // Only a text with as many openers can nest as deep; the others are spared the scan.
  let openers = 0;
  for (const _ of source.matchAll(/[(!]|not/gi)) openers++;
  if (openers <= MAX_DEPTH) return undefined;
  const token = nesting(tokenize(source), MAX_DEPTH);
  return token && problems.tooDeep(token, MAX_DEPTH);
}

const failed = (found: readonly Problem[]): Parsed<Query> => ({ ok: false, problems: found });
