import { type Fix, type Problem, quote, type Span } from "../../problem.ts";
import type { Comparison, Containment, Field, Match, Membership, Value } from "../ast.ts";
import { digitPattern, isStatusField } from "../digit-patterns.ts";
import { KNOWN_FIELDS } from "../known-fields.ts";
import { printField } from "../print.ts";
import type { SeenFields, SeenValues, ValueType } from "../seen-fields.ts";
import { numberMeant } from "./number-meant.ts";

/** A condition that holds for values of certain types only. */
export type TypedCondition = Comparison | Membership | Containment | Match;

/** A part of a condition that holds for values of some types only. */
export interface TypedPart {
  readonly span: Span;
  readonly takes: readonly ValueType[];
  readonly value?: Value;
}

/** A part of a condition that none of the values of its field satisfies. */
export interface OtherType {
  readonly expr: TypedCondition;
  readonly part: TypedPart;
  readonly values: SeenValues;
  readonly source: string;
  readonly seen: SeenFields;
}

/** How values of a type are called. */
const TYPE_WORDS = { text: "a text", number: "a number", boolean: "true or false", other: "an object" } as const;

/** The warning about it, with the change that was meant if that is near. */
export function otherTypeProblem(doubt: OtherType): Problem {
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

/** The other type that the condition takes. */
function otherOf({ expr, part: { value, span }, source }: OtherType): string {
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

/** The change that was meant, if it is near. */
function meantBy(doubt: OtherType): Meant | undefined {
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
function statusRange({ expr, source }: OtherType, pattern: string): Meant | undefined {
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
