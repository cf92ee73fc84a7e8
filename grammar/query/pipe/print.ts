import type { Aggregate, Call, Column, Pipeline, Stage } from "../ast.ts";
import { printField, printQuery, printValue } from "../print.ts";

/**
 * The canonical text: the query as `printQuery` prints it, then each stage after " | ". Without a query it begins with the
 * first bar. `parsePipeline` reads it back to the same tree, spans aside. `between`: the blank before each bar.
 */
export function printPipeline({ query, stages }: Pipeline, between = " "): string {
  const selected = printQuery(query);
  const printed = stages.map((stage) => `| ${printStage(stage)}`).join(between);
  return selected === "" || printed === "" ? selected + printed : `${selected}${between}${printed}`;
}

export function printStage(stage: Stage): string {
  switch (stage.kind) {
    case "count":
      return `count${by(stage.by)}`;
    case "stats":
      return `stats ${stage.aggregates.map(printAggregate).join(", ")}${by(stage.by)}`;
    case "timeseries": {
      const step = stage.step === undefined ? "" : ` ${printValue(stage.step)}`;
      const aggregates = stage.aggregates.length === 0 ? "" : ` ${stage.aggregates.map(printAggregate).join(", ")}`;
      return `timeseries${step}${aggregates}${by(stage.by)}`;
    }
    case "top":
      return `top ${stage.count === undefined ? "" : `${stage.count.value} `}${printField(stage.column)}`;
    case "where":
      return `where ${printQuery({ source: "", expr: stage.expr })}`;
    case "sort":
      return `sort ${stage.keys.map(({ column, direction }) => printField(column) + (direction ? ` ${direction}` : "")).join(", ")}`;
    case "limit":
      return `limit ${stage.count.value}`;
    case "fields":
    case "unique":
      return `${stage.kind} ${list(stage.columns)}`;
  }
}

export const printCall = ({ name, argument }: Call) => `${name}(${argument === undefined ? "" : printField(argument)})`;

const printAggregate = ({ call, as }: Aggregate) => printCall(call) + (as === undefined ? "" : ` as ${as.name}`);

const list = (columns: readonly Column[]) => columns.map(printField).join(", ");

const by = (columns: readonly Column[]) => (columns.length === 0 ? "" : ` by ${list(columns)}`);
