import type { Pipeline, Query, Stage } from "../ast.ts";
import { andQueries } from "../combine.ts";
import { printQuery } from "../print.ts";

/**
 * The same question with what selects events in the query alone: `where` stages before all others are terms of it. Spans of
 * the query no longer point into the text that was read.
 */
export function withLeading({ source, query, stages }: Pipeline): Pipeline {
  const first = stages.findIndex(({ kind }) => kind !== "where");
  const leading = first < 0 ? stages : stages.slice(0, first);
  return {
    source,
    query: leading.reduce(anded, query),
    stages: first < 0 ? [] : stages.slice(first),
  };
}

function anded(query: Query, stage: Stage): Query {
  if (stage.kind !== "where") return query;
  return andQueries(query, { source: printQuery({ source: "", expr: stage.expr }), expr: stage.expr });
}
