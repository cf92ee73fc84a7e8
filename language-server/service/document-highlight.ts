import { type DocumentHighlight, DocumentHighlightKind } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { occurrencesAt } from "./occurrences.ts";

/** The places of the thing at an offset, told apart by whether it is named or used there. */
export function documentHighlight(document: ToolDocument, offset: number): DocumentHighlight[] {
  return (occurrencesAt(document, offset)?.places ?? []).map(({ span, isDefinition }) => ({
    range: document.rangeOf(span),
    kind: isDefinition ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
  }));
}
