import { formatDuration } from "../../units/duration.ts";
import type { Aggregate, Column, Stage } from "../ast.ts";
import { explain } from "../explain.ts";
import { printField } from "../print.ts";
import { functionOf } from "./functions.ts";

/** Each stage in plain words, a sentence each. */
export const explainStages = (stages: readonly Stage[]): string[] => stages.map((stage) => `${inWords(stage)}.`);

function inWords(stage: Stage): string {
  switch (stage.kind) {
    case "count":
      return `Then their number${by(stage.by)}`;
    case "stats":
      return `Then ${stage.aggregates.map(aggregate).join(", ")}${by(stage.by)}`;
    case "timeseries": {
      const step = stage.step?.kind === "number" ? `each ${formatDuration(stage.step.value)}` : "each step of time";
      const values = stage.aggregates.length === 0 ? "their number" : stage.aggregates.map(aggregate).join(", ");
      return `Then ${values} for ${step}${by(stage.by)}`;
    }
    case "top":
      return `Then the ${stage.count?.value ?? 10} most frequent values of ${printField(stage.column)}`;
    case "where":
      return `Of those, the ones where ${explain({ source: "", expr: stage.expr })}`;
    case "sort":
      return `Sorted by ${stage.keys.map(({ column, direction }) => `${printField(column)}${direction === "desc" ? ", the greatest first" : ""}`).join(", then by ")}`;
    case "limit":
      return stage.count.value === 1 ? "The first one" : `The first ${stage.count.value}`;
    case "fields":
      return `Of those ${list(stage.columns)}`;
    case "unique":
      return `Each different ${list(stage.columns)} once`;
  }
}

const list = (columns: readonly Column[]) => columns.map(printField).join(", ");

const by = (columns: readonly Column[]) => (columns.length === 0 ? "" : ` for each ${list(columns)}`);

function aggregate({ call, as }: Aggregate): string {
  const of = call.argument === undefined ? "" : printField(call.argument);
  const kind = functionOf(call.name);
  const named = as === undefined ? "" : ` as ${as.name}`;
  switch (kind?.name) {
    case "count":
      return `${of === "" ? "their number" : `the number of those with ${of}`}${named}`;
    case "rate":
      return `their number a second${named}`;
    case "sum":
      return `the sum of ${of}${named}`;
    case "avg":
      return `the mean of ${of}${named}`;
    case "min":
      return `the least ${of}${named}`;
    case "max":
      return `the greatest ${of}${named}`;
    case "pNN":
      return `the ${kind.percent}th percentile of ${of}${named}`;
    case "distinct":
      return `the number of different ${of}${named}`;
    default:
      return `the ${call.name} ${of}${named}`;
  }
}
