import type { Column, Field, Pipeline, Stage } from "../ast.ts";
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

function addStage(stage: Stage, reads: MutableReads): void {
  const add = (columns: readonly Column[]) => {
    for (const column of columns) addField(column, reads);
  };
  switch (stage.kind) {
    case "where":
      addExpr(stage.expr, reads);
      return;
    case "limit":
      return;
    case "sort":
      add(stage.keys.map(({ column }) => column));
      return;
    case "fields":
    case "unique":
      add(stage.columns);
      return;
    case "top":
      add([stage.column]);
      return;
    case "count":
      add(stage.by);
      return;
    case "stats":
    case "timeseries":
      add(stage.by);
      add(
        stage.aggregates.flatMap(({ call }): readonly Field[] => (call.argument === undefined ? [] : [call.argument])),
      );
      if (stage.kind === "timeseries" || stage.aggregates.some(({ call }) => call.name === "rate"))
        reads.entry.add("timestamp");
  }
}
