import type { ReadPipeline } from "./actions.ts";
import type { Pipeline } from "./ast.ts";
import { MAX_QUERY_LENGTH, tooDeepAt } from "./bounds.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";

/**
 * Reads a query that may have stages as the grammar does; undefined if the grammar refuses it. Says nothing of what is
 * wrong, and takes what only `parsePipeline` refuses: names, values and expressions that mean nothing, habits of other
 * languages. For a page that must react to each key: with this come 8 KB, with `parsePipeline` come 110 KB.
 */
export function readPipeline(source: string): Pipeline | undefined {
  if (source.length > MAX_QUERY_LENGTH || tooDeepAt(source) !== undefined) return undefined;
  const read = parsers.Pipeline(source);
  if (read === NO_MATCH) return undefined;
  const { expr, pipes } = read as ReadPipeline;
  return { source, query: { source, expr }, pipes };
}

/** Where the conditions of a text end: before the bar of its first stage. */
export function conditionEnd({ source, pipes }: Pipeline): number {
  const first = pipes[0];
  return first === undefined ? source.length : source.lastIndexOf("|", first.span.start);
}
