import type { Span } from "../problem.ts";
import type { Expr, Query } from "./ast.ts";

/**
 * Both queries at once: a saved query and the terms typed after its name. `source` is the text of the two put together,
 * which parses to the same tree, and the spans point into it.
 */
export function andQueries(a: Query, b: Query): Query {
  if (a.expr === undefined) return b;
  if (b.expr === undefined) return a;
  const left = operand(a.source, a.expr);
  const right = operand(b.source, b.expr);
  const joined = `${left.source} and `;
  const terms = [shift(a.expr, left.offset), shift(b.expr, joined.length + right.offset)];
  const operator = { start: left.source.length + 1, end: left.source.length + 4 };
  const expr: Expr = {
    kind: "and",
    terms: terms.flatMap((term) => (term.kind === "and" ? term.terms : [term])),
    operators: [...operatorsOf(terms[0]!), operator, ...operatorsOf(terms[1]!)],
    span: { start: start(left), end: joined.length + end(right) },
  };
  return { source: joined + right.source, expr };
}

interface Operand {
  readonly source: string;
  /** How far the text moved. */
  readonly offset: number;
}

const operand = (source: string, expr: Expr): Operand =>
  expr.kind === "or" ? { source: `(${source})`, offset: 1 } : { source, offset: 0 };

// The new node reaches from the first character that is not a blank, a parenthesis included, to the last.
const start = ({ source }: Operand) => source.length - source.trimStart().length;
const end = ({ source }: Operand) => source.trimEnd().length;

const operatorsOf = (expr: Expr) => (expr.kind === "and" ? expr.operators : []);

/** The same tree with all its spans moved. Trees are plain data of bounded depth: a walk over the properties finds them. */
function shift<T>(node: T, by: number): T {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((element) => shift(element, by)) as T;
  if (isSpan(node)) return { start: node.start + by, end: node.end + by } as T;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shift(value, by)])) as T;
}

const isSpan = (node: object): node is Span => "start" in node && "end" in node;
