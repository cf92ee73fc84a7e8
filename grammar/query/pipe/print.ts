import type { Aggregate, Call, Column, Pipe, Pipeline } from "../ast.ts";
import { printField, printQuery, printValue } from "../print.ts";

/**
 * The canonical text: the query as `printQuery` prints it, then each stage after " | ". Without a query it begins with the
 * first bar. `parsePipeline` reads it back to the same tree, spans aside. `between`: the blank before each bar.
 */
export function printPipeline({ query, pipes }: Pipeline, between = " "): string {
  const selected = printQuery(query);
  const printed = pipes.map((pipe) => `| ${printPipe(pipe)}`).join(between);
  return selected === "" || printed === "" ? selected + printed : `${selected}${between}${printed}`;
}

export function printPipe(pipe: Pipe): string {
  switch (pipe.kind) {
    case "count":
      return `count${by(pipe.by)}`;
    case "stats":
      return `stats ${pipe.aggregates.map(printAggregate).join(", ")}${by(pipe.by)}`;
    case "timeseries": {
      const step = pipe.step === undefined ? "" : ` ${printValue(pipe.step)}`;
      const aggregates = pipe.aggregates.length === 0 ? "" : ` ${pipe.aggregates.map(printAggregate).join(", ")}`;
      return `timeseries${step}${aggregates}${by(pipe.by)}`;
    }
    case "top":
      return `top ${pipe.count === undefined ? "" : `${pipe.count.value} `}${printField(pipe.column)}`;
    case "where":
      return `where ${printQuery({ source: "", expr: pipe.expr })}`;
    case "sort":
      return `sort ${pipe.keys.map(({ column, direction }) => printField(column) + (direction ? ` ${direction}` : "")).join(", ")}`;
    case "limit":
      return `limit ${pipe.count.value}`;
    case "fields":
    case "unique":
      return `${pipe.kind} ${list(pipe.columns)}`;
  }
}

export const printCall = ({ name, argument }: Call) => `${name}(${argument === undefined ? "" : printField(argument)})`;

const printAggregate = ({ call, as }: Aggregate) => printCall(call) + (as === undefined ? "" : ` as ${as.name}`);

const list = (columns: readonly Column[]) => columns.map(printField).join(", ");

const by = (columns: readonly Column[]) => (columns.length === 0 ? "" : ` by ${list(columns)}`);
