import type { FoldingRange } from "vscode-languageserver-types";
import type { Node } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";

/** Objects and arrays over several lines; the line of the closing bracket stays in sight. */
export function folding(document: ToolDocument): FoldingRange[] {
  const ranges: FoldingRange[] = [];
  const visit = (node: Node | undefined) => {
    if (node?.type !== "object" && node?.type !== "array") return;
    const startLine = document.positionAt(node.span.start).line;
    const last = document.positionAt(node.span.end);
    const isClosed = /[\]}]/.test(document.text[node.span.end - 1] ?? "");
    const endLine = isClosed ? last.line - 1 : last.line;
    if (endLine > startLine) ranges.push({ startLine, endLine });
    for (const child of node.type === "array" ? node.items : node.members.map(({ value }) => value)) visit(child);
  };
  visit(document.root);
  return ranges;
}
