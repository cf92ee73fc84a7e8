import { readPipeline } from "../../../grammar/query/read.ts";

/** The kind of a text: a query that selects events, one with stages, which makes a table, or not valid. */
export function kindOfQuery(text: string): "events" | "stages" | "wrong" {
  const read = readPipeline(text);
  if (read === undefined) return "wrong";
  return read.pipes.length > 0 ? "stages" : "events";
}
