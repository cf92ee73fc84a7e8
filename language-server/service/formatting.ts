import { createScanner, format, type FormattingOptions as JsonOptions } from "jsonc-parser";
import type { FormattingOptions, Position, Range, TextEdit } from "vscode-languageserver-types";
import { applyEdits } from "../../grammar/problem.ts";
import { type Node, parseJson } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";
import { formattedQuery } from "./format-query.ts";

/**
 * The whole text in its usual form: JSON with a member on each line, a query file as its canonical query, line by line. Only blanks
 * of JSON change: keys keep their order and values their spelling. A text that cannot be read to its end stays.
 */
export function formatDocument(document: ToolDocument, options: FormattingOptions): TextEdit[] {
  if (document.kind === "query") return formatQuery(document, options);
  return formatJson(document, undefined, options);
}

/** The lines that a range touches. */
export function formatRange(document: ToolDocument, range: Range, options: FormattingOptions): TextEdit[] {
  // A query is short: it is always formatted as a whole.
  if (document.kind !== "config") return [];
  const offset = document.offsetAt(range.start);
  return formatJson(document, { offset, length: document.offsetAt(range.end) - offset }, options);
}

/** The characters that `formatOnType` handles when they are typed, as `initialize` announces them. */
export const FORMAT_ON_TYPE = { first: "}", more: ["]", "\n"] };

/**
 * A closing bracket brings the value that it ends into form; a line end indents the new line by the brackets around it.
 */
export function formatOnType(
  document: ToolDocument,
  position: Position,
  typed: string,
  options: FormattingOptions,
): TextEdit[] {
  if (document.kind !== "config" || document.root === undefined) return [];
  const offset = document.offsetAt(position);
  if (typed === "\n") return indentLine(document, position, options);
  const ended = closedAt(document.root, offset);
  // A bracket typed into a string closes nothing.
  if (ended === undefined || document.text[offset - 1] !== typed) return [];
  // A value that was typed on one line is meant to stay on one line.
  if (document.positionAt(ended.span.start).line === position.line) return [];
  const range = { offset: ended.span.start, length: offset - ended.span.start };
  return formatJson(document, range, options, { keepLines: true });
}

function formatQuery(document: ToolDocument, { insertFinalNewline }: FormattingOptions): TextEdit[] {
  const printed = formattedQuery(document.text, document.query);
  if (printed === undefined) return [];
  const end = /[\r\n]$/.test(document.text) || insertFinalNewline ? eolOf(document.text) : "";
  const text = printed === "" ? "" : printed.replaceAll("\n", eolOf(document.text)) + end;
  if (text === document.text) return [];
  return [{ range: document.rangeOf({ start: 0, end: document.text.length }), newText: text }];
}

function formatJson(
  document: ToolDocument,
  range: { offset: number; length: number } | undefined,
  options: FormattingOptions,
  more: JsonOptions = {},
): TextEdit[] {
  const { text, root } = document;
  if (root === undefined || document.parsed.problems.some(({ code }) => !HARMLESS.has(code))) return [];
  const edits = format(text, range, {
    ...jsonOptions(text, options),
    // The formatter takes the last line end away unless it is asked for one, and few editors ask.
    insertFinalNewline: options.insertFinalNewline === true || endsWithLineEnd(text, root.span.end),
    ...more,
  });
  if (edits.length === 0) return [];
  // The formatter has a reader of its own; should the two ever differ, the text stays as it is.
  const changes = edits.map(({ offset, length, content }) => ({
    span: { start: offset, end: offset + length },
    text: content,
  }));
  if (!sameTree(parseJson(applyEdits(text, changes)).root, root)) return [];
  return changes.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text }));
}

/** Slips that leave no doubt about where values begin and end. */
const HARMLESS: ReadonlySet<string> = new Set(["config/comment", "config/comma", "config/duplicate-key"]);

function jsonOptions(text: string, { tabSize, insertSpaces }: FormattingOptions): JsonOptions {
  return { tabSize, insertSpaces, eol: eolOf(text) };
}

/** Whether the rest of the text, from an offset after the value, ends with a line end outside of comments. */
function endsWithLineEnd(text: string, from: number): boolean {
  const tail = text.slice(from).replace(/\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, "comment");
  return /[\r\n]\s*$/.test(tail);
}

/** That of the first line, so that a file keeps to one. */
function eolOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
}

function sameTree(a: Node | undefined, b: Node | undefined): boolean {
  if (a?.type === "object") {
    if (b?.type !== "object" || a.members.length !== b.members.length) return false;
    return a.members.every(({ key, value }, i) => {
      const other = b.members[i]!;
      return key.value === other.key.value && sameTree(value, other.value);
    });
  }
  if (a?.type === "array") {
    return (
      b?.type === "array" && a.items.length === b.items.length && a.items.every((it, i) => sameTree(it, b.items[i]))
    );
  }
  if (a === undefined || b === undefined) return a === b;
  return a.type === b.type && ("value" in a ? a.value : null) === ("value" in b ? b.value : null);
}

function indentLine(document: ToolDocument, { line }: Position, { tabSize, insertSpaces }: FormattingOptions) {
  const start = document.offsetAt({ line, character: 0 });
  const [blanks = ""] = /^[ \t]*/.exec(document.text.slice(start))!;
  const open = depthBefore(document.text, start);
  if (open === undefined) return [];
  // A closing bracket is indented like the line of its opening one.
  const depth = /[\]}]/.test(document.text[start + blanks.length] ?? "") ? Math.max(0, open - 1) : open;
  const indent = (insertSpaces ? " ".repeat(tabSize) : "\t").repeat(depth);
  if (indent === blanks) return [];
  return [{ range: document.rangeOf({ start, end: start + blanks.length }), newText: indent }];
}

/** How many brackets are open before an offset; undefined within a comment. Counts tokens, for the text is being typed. */
function depthBefore(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (;;) {
    scanner.scan();
    const start = scanner.getTokenOffset();
    if (start >= offset || scanner.getTokenLength() === 0) return depth;
    if (start + scanner.getTokenLength() > offset) return undefined;
    if (text[start] === "{" || text[start] === "[") depth++;
    else if (text[start] === "}" || text[start] === "]") depth = Math.max(0, depth - 1);
  }
}

/** The object or array whose closing bracket ends at an offset. */
function closedAt(node: Node, offset: number): Node | undefined {
  if (offset <= node.span.start || offset > node.span.end) return undefined;
  if (node.type !== "object" && node.type !== "array") return undefined;
  if (node.span.end === offset) return node;
  const children = node.type === "array" ? node.items : node.members.flatMap(({ value }) => value ?? []);
  for (const child of children) {
    const match = closedAt(child, offset);
    if (match !== undefined) return match;
  }
  return undefined;
}
