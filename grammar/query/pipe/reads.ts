import type { Column, Expr, Field, Pipeline, Stage } from "../ast.ts";
import { type ReadField, readFields } from "../near.ts";
import { addExpr, addField, type MutableReads, type Reads, readsOf } from "../reads.ts";
import { outputOf, resultOf } from "./columns.ts";

/** The properties of an entry that a query and its stages look at; undefined if whole entries come out in the end. */
export function readsOfPipeline({ query, stages }: Pipeline): Reads | undefined {
  if (resultOf(stages).kind === "events") return undefined;
  const ofQuery = readsOf(query);
  const reads: MutableReads = { entry: new Set(ofQuery.entry), fields: new Set(ofQuery.fields) };
  for (const stage of stages) {
    addStage(stage, reads);
    // What comes after rows reads columns.
    if (outputOf(stage, { kind: "events" }).kind === "rows") break;
  }
  return reads;
}

/** The fields of entries that a query and its stages name. */
export function fieldsNamed({ query, stages }: Pipeline): readonly ReadField[] {
  const columns: Field[] = [];
  const exprs: Expr[] = query.expr === undefined ? [] : [query.expr];
  for (const stage of stages) {
    columns.push(...columnsOf(stage));
    if (stage.kind === "where") exprs.push(stage.expr);
    if (outputOf(stage, { kind: "events" }).kind === "rows") break;
  }
  const tests = columns.map((field): Expr => ({ kind: "exists", field, operator: field.span, span: field.span }));
  const span = { start: 0, end: 0 };
  return readFields({ source: "", expr: { kind: "and", terms: [...exprs, ...tests], operators: [], span } });
}

function addStage(stage: Stage, reads: MutableReads): void {
  for (const column of columnsOf(stage)) addField(column, reads);
  if (stage.kind === "where") addExpr(stage.expr, reads);
  const isTimed = stage.kind === "stats" && stage.aggregates.some(({ call }) => call.name === "rate");
  if (stage.kind === "timeseries" || isTimed) reads.entry.add("timestamp");
}

/** What a stage names, conditions aside. */
function columnsOf(stage: Stage): readonly Column[] {
  switch (stage.kind) {
    case "where":
    case "limit":
      return [];
    case "sort":
      return stage.keys.map(({ column }) => column);
    case "fields":
    case "unique":
      return stage.columns;
    case "top":
      return [stage.column];
    case "count":
      return stage.by;
    case "stats":
    case "timeseries":
      return [...stage.by, ...stage.aggregates.flatMap(({ call }) => call.argument ?? [])];
  }
}
