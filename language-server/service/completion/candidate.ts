import type { CompletionItem, CompletionItemKind, TextEdit } from "vscode-languageserver-types";
import type { TextEdit as Edit, Span } from "../../../grammar/problem.ts";
import type { ClientOptions } from "../client-options.ts";
import type { ToolDocument } from "../document.ts";
import type { CursorContext } from "./place.ts";

/** CompletionItemKind of the protocol: constants, so that its types are all that is imported. */
export const KIND = {
  text: 1,
  function: 3,
  field: 5,
  property: 10,
  unit: 11,
  value: 12,
  enum: 13,
  keyword: 14,
  color: 16,
  file: 17,
  reference: 18,
  folder: 19,
  enumMember: 20,
  constant: 21,
  operator: 24,
} as const satisfies Record<string, CompletionItemKind>;

/** Something that may be written at a place of the tree, before it is put into the terms of an editor. */
export interface CompletionCandidate {
  readonly label: string;
  readonly kind: CompletionItemKind;
  /** JSON, whole: a key with its value, or a value. */
  readonly text: string;
  /** The same with `${1:placeholders}`, if there is something to fill in. */
  readonly snippet?: string;
  readonly detail?: string | undefined;
  readonly documentation?: string | undefined;
  /** Its place among the others: `0` comes before `1`. Candidates of the same rank stay in the order given. */
  readonly rank?: number;
  readonly preselect?: boolean;
  /** A change elsewhere in the document without which it would not be valid. */
  readonly also?: Edit;
  /** The key by which `completionItem/resolve` finds the documentation. */
  readonly data?: unknown;
}

/** The items of candidates that take the place of a range, whatever is around it. */
export function itemsIn(
  document: ToolDocument,
  range: Span,
  candidates: readonly CompletionCandidate[],
  client: ClientOptions,
): CompletionItem[] {
  return itemsAt(document, { range, isQuoted: false, commaBefore: undefined, commaAfter: false }, candidates, client);
}

/** The items of candidates that take the place of the token at the cursor, with the commas that are needed around. */
export function itemsAt(
  document: ToolDocument,
  cursor: Pick<CursorContext, "range" | "isQuoted" | "commaBefore" | "commaAfter">,
  candidates: readonly CompletionCandidate[],
  client: ClientOptions,
): CompletionItem[] {
  // After the opening quote: some editors match what is typed with the word at the cursor, which has no quote.
  const isAfterQuote = cursor.isQuoted && document.text[cursor.range.start] === '"';
  const range = document.rangeOf(isAfterQuote ? { ...cursor.range, start: cursor.range.start + 1 } : cursor.range);
  const afterQuote = (text: string) => (isAfterQuote ? text.slice(1) : text);
  const comma = cursor.commaAfter ? "," : "";
  const before: TextEdit[] = [];
  if (cursor.commaBefore !== undefined) {
    const at = document.positionAt(cursor.commaBefore);
    before.push({ range: { start: at, end: at }, newText: "," });
  }
  const indent = indentation(document, cursor.range.start);
  return candidates.map((candidate, i): CompletionItem => {
    const { label, kind, text, snippet, detail, documentation, rank = 1, preselect, also, data } = candidate;
    const others =
      also === undefined ? before : [...before, { range: document.rangeOf(also.span), newText: also.text }];
    const asSnippet = client.snippets && snippet !== undefined;
    return {
      label,
      kind,
      ...(detail !== undefined && { detail }),
      ...(documentation !== undefined && { documentation: documentationOf(documentation, client) }),
      // "!" is before the "$schema" and the words that an editor's own JSON support offers besides.
      sortText: `${rank === 0 ? "!" : rank}${String(i).padStart(4, "0")}`,
      // Editors compare it with the text between the start of the range and the cursor.
      filterText: isAfterQuote ? JSON.stringify(label).slice(1, -1) : cursor.isQuoted ? JSON.stringify(label) : label,
      insertTextFormat: asSnippet ? 2 : 1,
      // Lines are indented as the document is: not every editor does it.
      insertTextMode: 1,
      textEdit: { range, newText: afterQuote(indent(asSnippet ? snippet : text)) + comma },
      ...(others.length > 0 && { additionalTextEdits: others }),
      ...(preselect && { preselect }),
      ...(data !== undefined && { data }),
    };
  });
}

/** Puts the lines of a text, indented by tabs, under the line of an offset, in the document's own steps. */
function indentation(document: ToolDocument, offset: number): (text: string) => string {
  const { text } = document;
  const lineStart = Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
  const base = /^[ \t]*/.exec(text.slice(lineStart, offset))![0];
  const step = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return (lines) => lines.replace(/\n(\t*)/g, (_, tabs: string) => eol + base + step.repeat(tabs.length));
}

export function documentationOf(markdown: string, client: ClientOptions) {
  return client.markdown ? { kind: "markdown" as const, value: markdown } : stripMarkdown(markdown);
}

/** Markdown as plain text, for clients that cannot show Markdown: without fences and backquotes. */
export function stripMarkdown(markdown: string): string {
  return markdown
    .replace(/^```.*\n?/gm, "")
    .replace(/`([^`\n]*)`/g, "$1")
    .replace(/\*\*([^*\n]+)\*\*/g, "$1")
    .trim();
}
