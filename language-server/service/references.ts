import type { Location, ReferenceContext } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { locationsOf, occurrencesAt } from "./occurrences.ts";
import type { Project } from "./project.ts";

/** Every place that names the thing at an offset; `includeDeclaration` adds its definition. */
export function references(
  document: ToolDocument,
  offset: number,
  { includeDeclaration }: Pick<ReferenceContext, "includeDeclaration">,
  project: Project = {},
): Location[] {
  const occurrences = occurrencesAt(document, offset, project);
  if (occurrences === undefined) return [];
  return locationsOf(document, occurrences, ({ isDefinition }) => includeDeclaration || !isDefinition);
}
