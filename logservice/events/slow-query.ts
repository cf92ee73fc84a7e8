import type { Expr, Pipe } from "../../grammar/query/index.ts";

/**
 * Whether a condition may take long over a single text: expressions take time linear in the text, but some of them a
 * microsecond and more for each character, in both engines, and neither can be stopped within a text.
 */
export function mayBeSlow(expr: Expr | undefined): boolean {
  switch (expr?.kind) {
    case "and":
    case "or":
      return expr.terms.some(mayBeSlow);
    case "not":
      return mayBeSlow(expr.term);
    case "match":
      return !PLAIN_TEXTS.test(expr.regex.source);
    default:
      return false;
  }
}

/** Whether a stage has such a condition. */
export const hasSlowWhere = (pipe: Pipe) => pipe.kind === "where" && mayBeSlow(pipe.expr);

/** Matches expressions that are texts, or choices of texts: these are found by a small automaton. */
const PLAIN_TEXTS = /^(?:[^\\.[\]{}*+?^$]|\\[./-])*$/;
