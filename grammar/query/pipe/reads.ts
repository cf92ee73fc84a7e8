import type { Column, Expr, Field, Pipe, Pipeline } from "../ast.ts";
import { type ReadField, readFields } from "../meant/near.ts";
import { addExpr, addField, type MutableReads, type Reads, readsOf } from "../reads.ts";
import { resultOf } from "./columns.ts";
import { aggregatesOf, columnsNamed, givesRows, isTimed, pipeCondition } from "./pipe-facts.ts";

/** The properties of an entry that a query and its stages look at; undefined if whole entries come out in the end. */
export function readsOfPipeline({ query, pipes }: Pipeline): Reads | undefined {
  if (resultOf(pipes).kind === "events") return undefined;
  const ofQuery = readsOf(query);
  const reads: MutableReads = { entry: new Set(ofQuery.entry), fields: new Set(ofQuery.fields) };
  for (const pipe of pipes) {
    addPipe(pipe, reads);
    // Stages after rows read columns.
    if (givesRows(pipe)) break;
  }
  return reads;
}

/** The fields of entries that a query and its stages name. */
export function fieldsNamed({ query, pipes }: Pipeline): readonly ReadField[] {
  const columns: Field[] = [];
  const exprs: Expr[] = query.expr === undefined ? [] : [query.expr];
  for (const pipe of pipes) {
    columns.push(...columnsOf(pipe));
    const condition = pipeCondition(pipe);
    if (condition !== undefined) exprs.push(condition);
    if (givesRows(pipe)) break;
  }
  const tests = columns.map((field): Expr => ({ kind: "exists", field, operator: field.span, span: field.span }));
  const span = { start: 0, end: 0 };
  return readFields({ source: "", expr: { kind: "and", terms: [...exprs, ...tests], operators: [], span } });
}

function addPipe(pipe: Pipe, reads: MutableReads): void {
  for (const column of columnsOf(pipe)) addField(column, reads);
  const condition = pipeCondition(pipe);
  if (condition !== undefined) addExpr(condition, reads);
  if (isTimed(pipe)) reads.entry.add("timestamp");
}

/** The columns that a stage names, conditions aside. */
const columnsOf = (pipe: Pipe): readonly Column[] => [
  ...columnsNamed(pipe),
  ...aggregatesOf(pipe).flatMap(({ call }) => call.argument ?? []),
];
