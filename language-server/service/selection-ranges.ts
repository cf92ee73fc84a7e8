import type { SelectionRange } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import type { Node, StringNode } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";
import { embeddedTokens } from "./embedded-tokens.ts";

/**
 * The ranges to select around each offset, from the inside out: the token of a language inside a string, a path segment
 * of a route, the string, its quotes, the member, the text between the brackets, the brackets, up to the whole text.
 */
export function selectionRanges(document: ToolDocument, offsets: readonly number[]): SelectionRange[] {
  return offsets.map((offset) => {
    const spans: Span[] = [{ start: 0, end: document.text.length }];
    if (document.root !== undefined) around(document, document.root, offset, spans);
    let range: SelectionRange | undefined;
    let outer: Span | undefined;
    for (const span of spans) {
      // Each is larger than the one before, and contains it.
      if (outer !== undefined && (span.start < outer.start || span.end > outer.end)) continue;
      if (outer !== undefined && span.start === outer.start && span.end === outer.end) continue;
      range = { range: document.rangeOf(span), ...(range && { parent: range }) };
      outer = span;
    }
    return range!;
  });
}

const holds = ({ start, end }: Span, offset: number) => start <= offset && offset <= end;

function around(document: ToolDocument, node: Node, offset: number, spans: Span[]) {
  if (!holds(node.span, offset)) return;
  spans.push(node.span);
  if (node.type === "string") return inString(document, node, offset, spans);
  if (node.type !== "object" && node.type !== "array") return;
  const inner = { start: node.span.start + 1, end: node.span.end - 1 };
  if (inner.start <= inner.end && holds(inner, offset)) spans.push(inner);
  if (node.type === "array") {
    const item = node.items.find(({ span }) => holds(span, offset));
    if (item !== undefined) around(document, item, offset, spans);
    return;
  }
  for (const { key, value } of node.members) {
    const whole = { start: key.span.start, end: (value ?? key).span.end };
    if (!holds(whole, offset)) continue;
    spans.push(whole);
    if (holds(key.span, offset)) around(document, key, offset, spans);
    else if (value !== undefined) around(document, value, offset, spans);
    return;
  }
}

function inString(document: ToolDocument, node: StringNode, offset: number, spans: Span[]) {
  if (!holds(node.content, offset)) return;
  spans.push(node.content);
  const embedded = document.embeddedAt(offset);
  if (embedded === undefined || embedded.node.span.start !== node.span.start) return;
  const at = embedded.toValue(offset);
  const segment =
    embedded.language === "route" || embedded.language === "location" ? segmentAt(node.value, at) : undefined;
  if (segment !== undefined) spans.push(embedded.toText(segment));
  const token = embeddedTokens(embedded.language, node.value).find((token) => holds(token, at));
  if (token !== undefined) spans.push(embedded.toText(token));
}

/** The text between two slashes. */
function segmentAt(text: string, at: number): Span | undefined {
  const start = text.lastIndexOf("/", at - 1) + 1;
  const slash = text.indexOf("/", at);
  const end = slash < 0 ? text.length : slash;
  return start < end ? { start, end } : undefined;
}
