import type { HighlightToken } from "../../grammar/highlight.ts";
import { highlightQuery } from "../../grammar/query/highlight.generated.ts";
import { highlightLocation, highlightRoute } from "../../grammar/route/highlight.generated.ts";

/** The tokens of a string in one of the languages that have colours; none for the others. Spans count from the value. */
export function embeddedTokens(language: string, value: string): readonly HighlightToken[] {
  switch (language) {
    case "query":
      return highlightQuery(value);
    case "route":
      return highlightRoute(value);
    case "location":
      return highlightLocation(value);
    default:
      return [];
  }
}
