import type { Span } from "../../problem.ts";
import type { Column, Expr, Pipeline, Stage } from "../ast.ts";
import { aggregateName, columnName } from "./columns.ts";

/** A column of rows, and every place of the query that names it. */
export interface NamedColumn {
  readonly name: string;
  /** Whether `as` gave the name, so that it can be another. */
  readonly isGiven: boolean;
  /** In the order of the text; the first is where the column comes from. */
  readonly places: readonly Span[];
}

/** The column of rows that is named at an offset; the end of a name counts. Fields of events are none. */
export function columnNamedAt({ stages }: Pipeline, offset: number): NamedColumn | undefined {
  const all: Named[] = [];
  let rows: readonly Named[] | undefined;
  for (const stage of stages) {
    if (rows !== undefined) for (const column of columnsIn(stage)) find(rows, column)?.places.push(column.span);
    rows = after(stage, rows);
    for (const column of rows ?? []) if (!all.includes(column)) all.push(column);
  }
  return all.find(({ places }) => places.some(({ start, end }) => start <= offset && offset <= end));
}

interface Named extends NamedColumn {
  readonly places: Span[];
}

function find(rows: readonly Named[], column: Column): Named | undefined {
  const name = columnName(column);
  return rows.find((one) => one.name === name) ?? rows.find((one) => one.name === `${name}()`);
}

/** The columns after a stage: those that it passes on are the same. */
function after(stage: Stage, rows: readonly Named[] | undefined): readonly Named[] | undefined {
  if (stage.kind === "where" || stage.kind === "sort" || stage.kind === "limit") return rows;
  const named = (name: string, span: Span, isGiven = false): Named => ({ name, isGiven, places: [span] });
  const kept = (columns: readonly Column[]) =>
    columns.map((column) => (rows && find(rows, column)) ?? named(columnName(column), column.span));
  if (stage.kind === "fields" || stage.kind === "unique") return kept(stage.columns);
  const groups = kept(stage.kind === "top" ? [stage.column] : stage.by);
  const aggregates = "aggregates" in stage ? stage.aggregates : [];
  const values = aggregates.map((one) => named(aggregateName(one), (one.as ?? one.call).span, one.as !== undefined));
  return [...groups, ...(values.length > 0 ? values : [named("count", stage.word)])];
}

/** Every column that a stage names: outside of functions, and as their arguments. */
function columnsIn(stage: Stage): Column[] {
  const computed = "aggregates" in stage ? stage.aggregates.flatMap(({ call }) => call.argument ?? []) : [];
  const groups = "by" in stage ? stage.by : [];
  if (stage.kind === "where") return operandsOf(stage.expr);
  if (stage.kind === "sort") return stage.keys.map(({ column }) => column);
  if (stage.kind === "top") return [stage.column];
  return "columns" in stage ? [...stage.columns] : [...computed, ...groups];
}

function operandsOf(expr: Expr): Column[] {
  if (expr.kind === "and" || expr.kind === "or") return expr.terms.flatMap(operandsOf);
  if (expr.kind === "not") return operandsOf(expr.term);
  return "field" in expr ? [expr.field] : [];
}
