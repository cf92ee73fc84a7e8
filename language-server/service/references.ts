import type { Location, ReferenceContext } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { occurrencesAt } from "./occurrences.ts";

/** Every place that names the thing at an offset; `includeDeclaration` adds its definition. */
export function references(
  document: ToolDocument,
  offset: number,
  { includeDeclaration }: Pick<ReferenceContext, "includeDeclaration">,
): Location[] {
  const places = occurrencesAt(document, offset)?.places ?? [];
  return places
    .filter(({ isDefinition }) => includeDeclaration || !isDefinition)
    .map(({ span }) => ({ uri: document.uri, range: document.rangeOf(span) }));
}
