import type { Problem } from "../problem.ts";
import { comparedType, type Expr, type Field, type Pipeline, target, type Value } from "./ast.ts";
import { otherTypeProblem, type TypedCondition, type TypedPart } from "./meant/other-type.ts";
import { givesRows, pipeCondition } from "./pipe/pipe-facts.ts";
import { nameInQuery, type SeenFields, type SeenValues } from "./seen-fields.ts";

/**
 * Warnings about a condition that can never hold with the types that its field was seen to have: `status = "5OO"` where
 * status is always a number. One for each value of `in (...)`. None if nothing is known of the field.
 */
export function otherTypes(expr: TypedCondition, source: string, seen: SeenFields): Problem[] {
  const values = seenValuesOf(expr.field, seen);
  if (values === undefined) return [];
  const problems: Problem[] = [];
  for (const part of partsOf(expr)) {
    if (part.takes.some((type) => values.types.has(type))) continue;
    problems.push(otherTypeProblem({ expr, part, values, source, seen }));
  }
  return problems;
}

/** The same for all conditions of entries in a query and its stages, in the order of the text. */
export function otherTypesIn(pipeline: Pipeline, seen: SeenFields): Problem[] {
  return conditionsOf(pipeline).flatMap(({ expr }) => otherTypes(expr, pipeline.source, seen));
}

/** A condition of a query. */
export interface PlacedCondition {
  readonly expr: TypedCondition;
  /** Whether every entry that is found satisfies all of it: then what is found shows that it can hold. */
  readonly isNeeded: boolean;
}

/** The conditions of entries in a query and its stages, in the order of the text. */
export function conditionsOf({ query, pipes }: Pipeline): readonly PlacedCondition[] {
  const conditions: PlacedCondition[] = [];
  const visit = (expr: Expr | undefined, isNeeded: boolean): void => {
    switch (expr?.kind) {
      case "and":
        for (const term of expr.terms) visit(term, isNeeded);
        break;
      case "or":
        for (const term of expr.terms) visit(term, false);
        break;
      case "not":
        visit(expr.term, false);
        break;
      case "in":
        conditions.push({ expr, isNeeded: isNeeded && expr.values.length === 1 });
        break;
      case "comparison":
      case "contains":
      case "match":
        conditions.push({ expr, isNeeded });
    }
  };
  visit(query.expr, true);
  for (const pipe of pipes) {
    if (givesRows(pipe)) break;
    visit(pipeCondition(pipe), true);
  }
  return conditions;
}

/** Whether all of the condition holds for some values of types that its field was seen to have. What is seen later changes nothing. */
export function isPossible(expr: TypedCondition, { values }: Pick<SeenFields, "values">): boolean {
  const name = nameOf(expr.field);
  if (name === undefined) return true;
  const types = values.get(name)?.types;
  return types !== undefined && partsOf(expr).every(({ takes }) => takes.some((type) => types.has(type)));
}

/** The values of a field, if enough of it was seen and all of it has types that conditions test. */
function seenValuesOf(field: Field, seen: SeenFields): SeenValues | undefined {
  const name = nameOf(field);
  const values = name === undefined ? undefined : seen.values.get(name);
  if (values === undefined || values.count < (seen.minCount ?? 1)) return undefined;
  return values.types.size === 0 || values.types.has("other") ? undefined : values;
}

/** The name of a field of entries; undefined for their own parts, columns of rows, and elements of a list. */
function nameOf(field: Field): string | undefined {
  const place = target(field);
  if (field.call !== undefined || field.rowType !== undefined || place.at !== "fields") return undefined;
  const keys = place.path.filter((key) => typeof key === "string");
  return keys.length === place.path.length && keys.length > 0 ? nameInQuery(keys) : undefined;
}

function partsOf(expr: TypedCondition): TypedPart[] {
  switch (expr.kind) {
    case "comparison":
      // A value of another type differs, too.
      if (expr.op === "!=" || comparedType(expr.field) !== "other") return [];
      if (expr.op !== "=") return [{ span: expr.operator, takes: ["number"] }];
      return equality(expr.value);
    case "in":
      return expr.values.flatMap(equality);
    case "contains":
    case "match":
      return [{ span: expr.operator, takes: ["text"] }];
  }
}

function equality(value: Value): TypedPart[] {
  const { span } = value;
  switch (value.kind) {
    case "string":
    case "word":
      return [{ span, takes: ["text"], value }];
    case "number":
      return [{ span, takes: value.unit === undefined ? ["number", "text"] : ["number"], value }];
    case "boolean":
      return [{ span, takes: ["boolean"], value }];
    case "null":
      // Null has no type.
      return [];
  }
}
