import type { DocumentLink } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { parseLocation } from "../../grammar/route/index.ts";
import { targets } from "../../schema/languages.ts";
import type { ToolDocument } from "./document.ts";
import { pathsIn, uriOfPath } from "./paths.ts";
import type { Project } from "./project.ts";

/** The links of a document: files that exist, absolute URLs without placeholders, webhooks. In text order. */
export function documentLinks(document: ToolDocument, project: Project = {}): DocumentLink[] {
  const links: { span: Span; target: string; tooltip: string }[] = [];
  for (const { node, value } of pathsIn(document)) {
    const kind = project.directory?.kind(value);
    // Without a view of the directory every path may be there.
    if (project.directory !== undefined && kind === undefined) continue;
    const target = uriOfPath(document.uri, value);
    if (target === undefined) continue;
    links.push({ span: node.content, target, tooltip: kind === "directory" ? "Show the directory" : "Open the file" });
  }
  for (const { node, language, value } of document.strings()) {
    // Most are paths of the same host, which need no parser to be told.
    if (language !== "location" || !value.includes("://")) continue;
    const location = document.memory.ofText("location", value, parseLocation);
    if (!location.ok || location.value.origin === "") continue;
    // With a placeholder in it, each request has an address of its own.
    if (location.value.parts.some(({ kind }) => kind === "placeholder")) continue;
    links.push({ span: node.content, target: value, tooltip: "Open the URL" });
  }
  for (const node of targets(document.root, ["actions", "*", "url"])) {
    if (/^https:\/\/[^\s/]+/i.test(node.value)) {
      links.push({ span: node.content, target: node.value, tooltip: "Open the webhook's address" });
    }
  }
  return links
    .sort((a, b) => a.span.start - b.span.start)
    .map(({ span, target, tooltip }) => ({ range: document.rangeOf(span), target, tooltip }));
}
