import type { Parsed, Problem } from "../problem.ts";
import type { Query } from "./ast.ts";
import { MAX_QUERY_DEPTH, MAX_QUERY_LENGTH, tooDeepAt } from "./bounds.ts";
import { checkQuery } from "./check.ts";
import { foreignQueryProblem } from "./meant/foreign-query.ts";
import * as problems from "./problems.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";
import { repair } from "./repair.ts";

/**
 * Parses a log query. Never throws, whatever the text; blank text is the empty query.
 * Source: the specification's "Log query language", settled in README.md.
 *
 * Returns all problems (problems.ts), but only the first five of syntax.
 */
export function parseQuery(source: string): Parsed<Query> {
  if (source.length > MAX_QUERY_LENGTH) return failed([problems.tooLong(source.length, MAX_QUERY_LENGTH)]);
  if (BLANK.test(source)) return { ok: true, value: { source, expr: undefined } };

  const tooDeep = deepest(source);
  if (tooDeep !== undefined) return failed([tooDeep]);

  const expr = parsers.Query(source);
  if (expr === NO_MATCH) return failed(repair(source, parseQuery));
  const query = { source, expr: expr as Query["expr"] };
  const foreign = opensForeignQuery(source) ? foreignQueryProblem(source, parseQuery) : undefined;
  const findings = foreign === undefined ? checkQuery(query) : [foreign];
  return findings.length === 0 ? { ok: true, value: query } : failed(findings);
}

const BLANK = /^[ \t\r\n]*$/;

/** Whether a query that the grammar accepts may yet be one of another language: `where status = 500`. */
const opensForeignQuery = (source: string) => OPENERS.test(source);

const OPENERS =
  /^[ \t\r\n]*(?:where|filter|select|fields|search|e?grep|rg)[ \t\r\n]+(?![=<>~!]|(?:in|contains|and|or|not|AND|OR|NOT|IN|CONTAINS)\b)/i;

/** The problem of a text that nests too deep; undefined if it does not. */
export function deepest(source: string): Problem | undefined {
  const token = tooDeepAt(source);
  return token && problems.tooDeep(token, MAX_QUERY_DEPTH);
}

const failed = (findings: readonly Problem[]): Parsed<Query> => ({ ok: false, problems: findings });
