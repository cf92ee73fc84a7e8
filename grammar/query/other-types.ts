import { type Fix, type Problem, quote, type Span } from "../problem.ts";
import {
  type Comparison,
  type Containment,
  comparedType,
  type Expr,
  type Field,
  type Match,
  type Membership,
  type Pipeline,
  target,
  type Value,
} from "./ast.ts";
import { digitPattern, isStatusField } from "./digit-patterns.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";
import { numberMeant } from "./meant/number-meant.ts";
import { givesRows, pipeCondition } from "./pipe/pipe-facts.ts";
import { printField } from "./print.ts";
import { nameInQuery, type SeenFields, type SeenValues, type ValueType } from "./seen-fields.ts";

/** A condition that holds for values of certain types only. */
export type TypedCondition = Comparison | Membership | Containment | Match;

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
    problems.push(problemOf({ expr, part, values, source, seen }));
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

/** What a field holds, if enough of it was seen and all of it has types that conditions test. */
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

/** A part of a condition that holds for values of some types only. */
interface Part {
  readonly span: Span;
  readonly takes: readonly ValueType[];
  readonly value?: Value;
}

function partsOf(expr: TypedCondition): Part[] {
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

function equality(value: Value): Part[] {
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

interface Doubt {
  readonly expr: TypedCondition;
  readonly part: Part;
  readonly values: SeenValues;
  readonly source: string;
  readonly seen: SeenFields;
}

/** How values of a type are called. */
const TYPE_WORDS = { text: "a text", number: "a number", boolean: "true or false", other: "an object" } as const;

function problemOf(doubt: Doubt): Problem {
  const { expr, part, values, seen } = doubt;
  const count = String(values.count).replace(/\B(?=(\d{3})+$)/g, ",");
  const among = seen.among?.(count) ?? `${count} ${values.count === 1 ? "entry" : "entries"}`;
  const types = [...values.types].sort().reverse();
  const meant = meantBy(doubt);
  return {
    code: "query/other-type",
    severity: "warning",
    message: `${printField(expr.field)} is ${types.map((type) => TYPE_WORDS[type]).join(" or ")} in all of ${among}; ${otherOf(doubt)}`,
    hint: meant === undefined ? adviceFor(values) : `did you mean ${meant.text}?`,
    span: part.span,
    ...(meant !== undefined && { fix: suggest(meant) }),
  };
}

/** What the condition takes instead. */
function otherOf({ expr, part: { value, span }, source }: Doubt): string {
  const written = source.slice(span.start, span.end);
  if (value === undefined) return `${written} ${expr.kind === "comparison" ? "compares numbers" : "tests texts"}`;
  if (value.kind === "number") return `${written} is a number`;
  if (value.kind === "boolean") return `${written} equals none of them`;
  return `${quote(value.kind === "string" ? value.chunks.join("*") : written)} is a text`;
}

/** `compare` begins a hint that shows how it is written, not what was meant: see `reasonsFor`. */
const adviceFor = ({ types }: SeenValues) =>
  types.has("number")
    ? "compare it with a number"
    : types.has("boolean")
      ? "compare it with true or false"
      : 'compare it with a text by =, contains or ~; what is a number is written as "seconds": 5, without quotes';

interface Meant {
  readonly span: Span;
  readonly text: string;
}

const suggest = ({ span, text }: Meant): Fix => ({
  title: `Change to ${text}`,
  edits: [{ span, text }],
  isSuggestion: true,
});

/** What was meant, if that is near. */
function meantBy(doubt: Doubt): Meant | undefined {
  const { expr, part, values, source } = doubt;
  if (expr.kind === "match") return isStatusField(expr.field) ? statusRange(doubt, expr.regex.source) : undefined;
  const { value, span } = part;
  if (value === undefined) return undefined;
  const written = source.slice(span.start, span.end);
  const { types } = values;
  if (value.kind === "boolean" || value.kind === "number")
    return types.has("text") ? { span, text: `"${written}"` } : truth(value, types, span);
  if (value.kind !== "string" && value.kind !== "word") return undefined;
  const text = value.chunks.join("*");
  if (types.has("boolean") && /^(?:true|false)$/i.test(text)) return { span, text: text.toLowerCase() };
  if (!types.has("number")) return undefined;
  if (value.chunks.length > 1) return expr.kind === "comparison" ? statusRange(doubt, text) : undefined;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return { span, text };
  const number = numberMeant(text, unitsOf(expr.field));
  return number === undefined ? undefined : { span, text: number };
}

/** 1 and 0 for true and false. */
function truth(value: Value, types: ReadonlySet<ValueType>, span: Span): Meant | undefined {
  if (value.kind === "number" && types.has("boolean") && (value.value === 0 || value.value === 1))
    return { span, text: value.value === 1 ? "true" : "false" };
  if (value.kind === "boolean" && types.has("number")) return { span, text: value.value ? "1" : "0" };
  return undefined;
}

/** `"5*"` and `/^5..$/` of a status as a range. */
function statusRange({ expr, source }: Doubt, pattern: string): Meant | undefined {
  const digits = pattern
    .replace(/^\^/, "")
    .replace(/\$$/, "")
    .replaceAll(/\\d|\[0-9\]|\./g, "x");
  const range = digitPattern(/^[1-5]$/.test(digits) ? `${digits}xx` : digits);
  if (range === undefined || range === "any" || !isStatusField(expr.field)) return undefined;
  const name = source.slice(expr.field.span.start, expr.field.span.end);
  const text = `${name} >= ${range.from} and ${name} < ${range.to}`;
  // Beside other terms, or under "not", parentheses keep it together.
  const isAll = source.trim() === source.slice(expr.span.start, expr.span.end);
  return { span: expr.span, text: isAll ? text : `(${text})` };
}

function unitsOf(field: Field): "number" | "duration" | "bytes" {
  const type = KNOWN_FIELDS.find(({ name }) => name === printField(field))?.type;
  return type === "duration" || type === "bytes" ? type : "number";
}
