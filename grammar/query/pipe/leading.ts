import type { Pipe, Pipeline, Query } from "../ast.ts";
import { andQueries } from "../combine.ts";
import { printQuery } from "../print.ts";

/**
 * The same question with what selects events in the query alone: `where` stages before all others are terms of it. Spans of
 * the query no longer point into the text that was read.
 */
export function withLeading({ source, query, pipes }: Pipeline): Pipeline {
  const first = pipes.findIndex(({ kind }) => kind !== "where");
  const leading = first < 0 ? pipes : pipes.slice(0, first);
  return {
    source,
    query: leading.reduce(anded, query),
    pipes: first < 0 ? [] : pipes.slice(first),
  };
}

function anded(query: Query, pipe: Pipe): Query {
  if (pipe.kind !== "where") return query;
  return andQueries(query, { source: printQuery({ source: "", expr: pipe.expr }), expr: pipe.expr });
}
