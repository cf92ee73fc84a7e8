// Conditions of rows: the fields that they name are columns, which may be of other types than fields of entries.
import type { ComparedType, Expr, Field } from "../ast.ts";
import { columnIndex, columnName, type PipeInput, type RowColumn } from "./columns.ts";

/** The condition with the types of the columns that it names. Of events it stays as it is. */
export const typedCondition = (expr: Expr, input: PipeInput): Expr =>
  input.kind === "events" ? expr : withFields(expr, (field) => typed(field, input.columns));

/** The same, each column named by its place: `p99(duration)` is `2`. */
export const conditionByPlace = (expr: Expr, columns: readonly RowColumn[]): Expr =>
  withFields(expr, (field) => {
    const { rowType, span } = typed(field, columns);
    const key = `${columnIndex(columns, columnName(field))}`;
    return { path: [{ kind: "key", key, span }], rowType: rowType ?? "other", span };
  });

function typed(field: Field, columns: readonly RowColumn[]): Field {
  const column = columns[columnIndex(columns, columnName(field))];
  return column === undefined ? field : { ...field, rowType: typeOf(column) };
}

function typeOf({ name, type }: RowColumn): ComparedType {
  switch (type) {
    case "time":
    case "level":
      return type;
    case "number":
      return "other";
    case "value":
      // Such as `first(fields.level) as level`: the name says what it is.
      return name === "timestamp" ? "time" : name === "level" ? "level" : "other";
    default:
      return type satisfies never;
  }
}

function withFields(expr: Expr, give: (field: Field) => Field): Expr {
  switch (expr.kind) {
    case "or":
    case "and":
      return { ...expr, terms: expr.terms.map((term) => withFields(term, give)) };
    case "not":
      return { ...expr, term: withFields(expr.term, give) };
    case "level":
    case "stage":
    case "message":
      return expr;
    default:
      return { ...expr, field: give(expr.field) };
  }
}
