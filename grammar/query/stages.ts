import type { Span } from "../problem.ts";
import { type Expr, type Field, type Pipeline, type Query, target, type Value } from "./ast.ts";
import { givesRows, pipeCondition } from "./pipe/pipe-facts.ts";

/** A stage that a query names: `stage = beta`, `stage in (beta, "rc")`, `production`. */
export interface NamedStage {
  readonly name: string;
  /** The span of the name alone, without quotes. */
  readonly span: Span;
  readonly isQuoted: boolean;
}

/** Every stage that a query names in full, in the order of the text. Patterns (`pr-*`, `~ /beta/`) name none. */
export function stagesNamed({ expr, source }: Query): NamedStage[] {
  const namedStages: NamedStage[] = [];
  if (expr !== undefined) collect(expr, source, namedStages);
  return namedStages;
}

/** Those that a query with stages names in its conditions of events. */
export function stagesNamedIn({ source, query, pipes: stages }: Pipeline): NamedStage[] {
  const namedStages = stagesNamed({ source, expr: query.expr });
  for (const stage of stages) {
    // Stages after rows name columns.
    if (givesRows(stage)) break;
    const condition = pipeCondition(stage);
    if (condition !== undefined) collect(condition, source, namedStages);
  }
  return namedStages;
}

function collect(expr: Expr, source: string, namedStages: NamedStage[]): void {
  switch (expr.kind) {
    case "or":
    case "and":
      for (const term of expr.terms) collect(term, source, namedStages);
      return;
    case "not":
      collect(expr.term, source, namedStages);
      return;
    case "stage":
      namedStages.push({ name: expr.word.toLowerCase(), span: expr.span, isQuoted: false });
      return;
    case "comparison":
      // An order of names means nothing about stages.
      if (isStage(expr.field) && (expr.op === "=" || expr.op === "!=")) add(expr.value, source, namedStages);
      return;
    case "in":
      if (isStage(expr.field)) for (const value of expr.values) add(value, source, namedStages);
  }
}

function isStage(field: Field): boolean {
  const place = target(field);
  return place.at === "fields" && place.path.length === 1 && place.path[0] === "stage";
}

function add(value: Value, source: string, namedStages: NamedStage[]): void {
  if ((value.kind !== "string" && value.kind !== "word") || value.chunks.length !== 1) return;
  const isQuoted = value.kind === "string";
  const { start, end } = value.span;
  const span = isQuoted ? { start: start + 1, end: end - 1 } : value.span;
  // A name that is spelled by escapes is not worth a second reading.
  if (source.slice(span.start, span.end) === value.chunks[0])
    namedStages.push({ name: value.chunks[0]!, span, isQuoted });
}
