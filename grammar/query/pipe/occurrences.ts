import type { Span } from "../../problem.ts";
import type { Column, Expr, Pipe, Pipeline } from "../ast.ts";
import { aggregateName, columnName } from "./columns.ts";
import { aggregatesOf, columnsNamed, factsOf, pipeCondition } from "./pipe-facts.ts";

/** A column of rows, and every place of the query that names it. */
export interface NamedColumn {
  readonly name: string;
  /** Whether `as` gave the name, so that it can be another. */
  readonly isAlias: boolean;
  /** In the order of the text; the first is where the column comes from. */
  readonly places: readonly Span[];
}

/** The column of rows that is named at an offset; the end of a name counts. Fields of events are none. */
export function columnNamedAt({ pipes }: Pipeline, offset: number): NamedColumn | undefined {
  const all: Named[] = [];
  let rows: readonly Named[] | undefined;
  for (const pipe of pipes) {
    if (rows !== undefined) for (const column of columnsIn(pipe)) find(rows, column)?.places.push(column.span);
    rows = after(pipe, rows);
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
function after(pipe: Pipe, rows: readonly Named[] | undefined): readonly Named[] | undefined {
  const { gives } = factsOf(pipe);
  if (gives === "input") return rows;
  const named = (name: string, span: Span, isAlias = false): Named => ({ name, isAlias, places: [span] });
  const kept = (columns: readonly Column[]) =>
    columns.map((column) => (rows && find(rows, column)) ?? named(columnName(column), column.span));
  const groups = kept(columnsNamed(pipe));
  if (gives === "columns") return groups;
  const values = aggregatesOf(pipe).map((one) =>
    named(aggregateName(one), (one.as ?? one.call).span, one.as !== undefined),
  );
  return [...groups, ...(values.length > 0 ? values : [named("count", pipe.word)])];
}

/** Every column that a stage names: outside of functions, and as their arguments. */
function columnsIn(pipe: Pipe): Column[] {
  const condition = pipeCondition(pipe);
  const computed = aggregatesOf(pipe).flatMap(({ call }) => call.argument ?? []);
  return [...(condition === undefined ? [] : operandsOf(condition)), ...computed, ...columnsNamed(pipe)];
}

function operandsOf(expr: Expr): Column[] {
  if (expr.kind === "and" || expr.kind === "or") return expr.terms.flatMap(operandsOf);
  if (expr.kind === "not") return operandsOf(expr.term);
  return "field" in expr ? [expr.field] : [];
}
