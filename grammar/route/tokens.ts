import type { RouteToken } from "./ast.ts";
import { NO_MATCH, parsers } from "./route-parser.generated.ts";

/** The tokens of any text: the grammar has a token for each mistake. */
export function tokenize(source: string, start: "route" | "location"): RouteToken[] {
  const tokens = parsers[start](source);
  if (tokens === NO_MATCH) throw new Error(`the grammar of ${start}s refuses ${JSON.stringify(source)}`);
  return tokens as RouteToken[];
}
