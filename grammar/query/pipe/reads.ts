import type { Column, Expr, Field, Pipeline, Stage } from "../ast.ts";
import { type ReadField, readFields } from "../near.ts";
import { addExpr, addField, type MutableReads, type Reads, readsOf } from "../reads.ts";
import { resultOf } from "./columns.ts";
import { aggregatesOf, columnsNamed, conditionOf, givesRows, isTimed } from "./stage-facts.ts";

/** The properties of an entry that a query and its stages look at; undefined if whole entries come out in the end. */
export function readsOfPipeline({ query, stages }: Pipeline): Reads | undefined {
  if (resultOf(stages).kind === "events") return undefined;
  const ofQuery = readsOf(query);
  const reads: MutableReads = { entry: new Set(ofQuery.entry), fields: new Set(ofQuery.fields) };
  for (const stage of stages) {
    addStage(stage, reads);
    // What comes after rows reads columns.
    if (givesRows(stage)) break;
  }
  return reads;
}

/** The fields of entries that a query and its stages name. */
export function fieldsNamed({ query, stages }: Pipeline): readonly ReadField[] {
  const columns: Field[] = [];
  const exprs: Expr[] = query.expr === undefined ? [] : [query.expr];
  for (const stage of stages) {
    columns.push(...columnsOf(stage));
    const condition = conditionOf(stage);
    if (condition !== undefined) exprs.push(condition);
    if (givesRows(stage)) break;
  }
  const tests = columns.map((field): Expr => ({ kind: "exists", field, operator: field.span, span: field.span }));
  const span = { start: 0, end: 0 };
  return readFields({ source: "", expr: { kind: "and", terms: [...exprs, ...tests], operators: [], span } });
}

function addStage(stage: Stage, reads: MutableReads): void {
  for (const column of columnsOf(stage)) addField(column, reads);
  const condition = conditionOf(stage);
  if (condition !== undefined) addExpr(condition, reads);
  if (isTimed(stage)) reads.entry.add("timestamp");
}

/** What a stage names, conditions aside. */
const columnsOf = (stage: Stage): readonly Column[] => [
  ...columnsNamed(stage),
  ...aggregatesOf(stage).flatMap(({ call }) => call.argument ?? []),
];
