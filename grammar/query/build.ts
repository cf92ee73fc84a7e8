import type { Expr } from "./ast.ts";
import { loadGrammar } from "./query.generated.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";

/** The tree of a query that the grammar accepts, or the offset of the token where it does not. */
export type Built =
  | { readonly ok: true; readonly expr: Expr | undefined }
  | { readonly ok: false; readonly offset: number };

export function build(source: string): Built {
  const expr = parsers.Query(source);
  if (expr !== NO_MATCH) return { ok: true, expr: expr as Expr | undefined };
  const match = loadGrammar().match(source);
  if (match.failed()) return { ok: false, offset: match.getRightmostFailurePosition() };
  throw new Error(`the generated parser refuses ${JSON.stringify(source)}, which the grammar accepts`);
}
