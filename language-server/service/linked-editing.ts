import type { Range } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { occurrencesAt } from "./occurrences.ts";

/** The param at an offset in its pattern and its location, to be typed in both at once. */
export function linkedEditing(
  document: ToolDocument,
  offset: number,
): { ranges: Range[]; wordPattern: string } | undefined {
  const occurrences = occurrencesAt(document, offset);
  // Actions are left to rename: a name that is being typed may equal another action's for a moment, and would change that
  // too.
  if (occurrences?.kind !== "param" || occurrences.places.length < 2) return undefined;
  const texts = occurrences.places.map(({ span }) => document.text.slice(span.start, span.end));
  // Clients copy what is typed; a place that spells the name with JSON escapes is not the same text.
  if (texts.some((text) => text !== occurrences.name)) return undefined;
  return {
    ranges: occurrences.places.map(({ span }) => document.rangeOf(span)),
    wordPattern: "[A-Za-z_][A-Za-z0-9_]*",
  };
}
