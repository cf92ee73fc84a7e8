import type { Parsed, Problem } from "../problem.ts";
import type { Query } from "./ast.ts";
import { build } from "./build.ts";
import { check } from "./check.ts";
import { diagnose } from "./diagnose.ts";
import * as problems from "./problems.ts";
import { nesting, tokenize } from "./tokens.ts";

/**
 * Parses a log query. Never throws, whatever the text; blank text is the empty query.
 * Source: the specification's "Log query language", settled in README.md.
 *
 * Problems: those of problems.ts. Wrong syntax gives the first place where it is wrong (and every wrong quote or blank
 * character); a query of right syntax gives everything that is wrong with its values.
 */
export function parseQuery(source: string): Parsed<Query> {
  if (source.length > MAX_LENGTH) return failed([problems.tooLong(source.length, MAX_LENGTH)]);
  if (BLANK.test(source)) return { ok: true, value: { source, expr: undefined } };

  const tooDeep = deepest(source);
  if (tooDeep !== undefined) return failed([tooDeep]);

  const built = build(source);
  if (!built.ok) return failed(diagnose(source, built.offset));
  const query = { source, expr: built.expr };
  const found = check(query);
  return found.length === 0 ? { ok: true, value: query } : failed(found);
}

/** In UTF-16 units, as spans count: no query that a person reads is as long, and the time to refuse one stays short. */
export const MAX_LENGTH = 16 * 1024;

/** Of parentheses and `not` together: each level costs the parser and every later walk over the tree some stack. */
export const MAX_DEPTH = 64;

const BLANK = /^[ \t\r\n]*$/;

/** Refuses deep nesting before the parser, which recurses, sees it. */
function deepest(source: string): Problem | undefined {
  // Only a text with as many openers can nest as deep; the others are spared the scan.
  let openers = 0;
  for (const _ of source.matchAll(/[(!]|not/gi)) openers++;
  if (openers <= MAX_DEPTH) return undefined;
  const token = nesting(tokenize(source), MAX_DEPTH);
  return token && problems.tooDeep(token, MAX_DEPTH);
}

const failed = (found: readonly Problem[]): Parsed<Query> => ({ ok: false, problems: found });
