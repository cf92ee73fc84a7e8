import type { Location } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { locationsOf, occurrencesAt } from "./occurrences.ts";
import { pathsIn, uriOfPath } from "./paths.ts";
import type { Project } from "./project.ts";

/** Where the thing at an offset is named: an action, a route's param, a stage; for a path, the file. */
export function definition(document: ToolDocument, offset: number, project: Project = {}): Location[] {
  const occurrences = occurrencesAt(document, offset, project);
  if (occurrences !== undefined) return locationsOf(document, occurrences, ({ isDefinition }) => isDefinition);
  const path = pathsIn(document).find(({ node }) => node.span.start <= offset && offset <= node.span.end);
  // A directory has no text to open.
  if (path === undefined || project.directory?.kind(path.node.value) !== "file") return [];
  const uri = uriOfPath(document.uri, path.node.value);
  const start = { line: 0, character: 0 };
  return uri === undefined ? [] : [{ uri, range: { start, end: start } }];
}
