import type { Range, SemanticTokens, SemanticTokensDelta, SemanticTokensEdit } from "vscode-languageserver-types";
import type { HighlightToken, TokenType } from "../../grammar/highlight.ts";
import type { Span } from "../../grammar/problem.ts";
import { highlightQuery } from "../../grammar/query/highlight.generated.ts";
import { commentsIn, withoutComments } from "../../grammar/query/index.ts";
import { highlightTemplate } from "../../grammar/template/highlight.generated.ts";
import type { ToolDocument } from "./document.ts";
import { embeddedTokens } from "./embedded-tokens.ts";

/**
 * Types of the protocol that every client colours. A token without a type of its own has the nearest: a constant is
 * coloured like a number, an escape like a regular expression. Punctuation, text and mistakes keep the client's own
 * colour: brackets need none, and a mistake has a diagnostic.
 */
const TYPES = {
  comment: "comment",
  function: "function",
  keyword: "keyword",
  number: "number",
  operator: "operator",
  parameter: "parameter",
  property: "property",
  regexp: "regexp",
  string: "string",
  variable: "variable",
  constant: "enumMember",
  escape: "regexp",
  punctuation: undefined,
  text: undefined,
  invalid: undefined,
} as const satisfies Record<TokenType, string | undefined>;

const TOKEN_TYPES = [...new Set(Object.values(TYPES).filter((type) => type !== undefined))];

export const SEMANTIC_TOKENS_LEGEND = { tokenTypes: TOKEN_TYPES as string[], tokenModifiers: [] as string[] };

/**
 * The colours of what the JSON grammar sees as plain strings: queries, routes and locations, keys or values; all of a
 * query file, and the actions of a template. With a range those that touch it.
 */
export function semanticTokens(document: ToolDocument, range?: Range): SemanticTokens {
  const start = range === undefined ? 0 : document.offsetAt(range.start);
  const end = range === undefined ? document.text.length : document.offsetAt(range.end);
  const data: number[] = [];
  let line = 0;
  let character = 0;
  const add = (span: Span, type: number) => {
    const at = document.positionAt(span.start);
    data.push(at.line - line, at.line === line ? at.character - character : at.character);
    data.push(span.end - span.start, type, 0);
    ({ line, character } = at);
  };
  if (document.kind === "config") {
    addStrings(document, start, end, add);
    return { data };
  }
  const highlight =
    document.kind === "query" ? highlightQueryFile : document.kind === "template" ? highlightTemplate : none;
  for (const token of highlight(document.text)) {
    const type = indexOf(token.type);
    if (type < 0 || token.end < start || token.start > end) continue;
    for (const part of byLines(document, token)) add(part, type);
  }
  return { data };
}

/** The tokens of a query, and its comments. */
function highlightQueryFile(text: string): readonly HighlightToken[] {
  const comments = commentsIn(text).map((span): HighlightToken => ({ ...span, type: "comment" }));
  if (comments.length === 0) return highlightQuery(text);
  return [...highlightQuery(withoutComments(text)), ...comments].sort((a, b) => a.start - b.start);
}

const none = (): readonly HighlightToken[] => [];

/** The place in the legend; -1 for what has no colour of its own. */
function indexOf(type: TokenType): number {
  const name: string | undefined = TYPES[type];
  return name === undefined ? -1 : (TOKEN_TYPES as string[]).indexOf(name);
}

/** The change to the tokens that a client has: one replacement, for typing changes one place. */
export function semanticTokensDelta(
  before: readonly number[],
  after: readonly number[],
): Pick<SemanticTokensDelta, "edits"> {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let same = 0;
  const limit = Math.min(before.length, after.length) - start;
  while (same < limit && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  const deleteCount = before.length - start - same;
  const data = after.slice(start, after.length - same);
  const edit: SemanticTokensEdit = { start, deleteCount, ...(data.length > 0 && { data }) };
  return { edits: deleteCount === 0 && data.length === 0 ? [] : [edit] };
}

function addStrings(document: ToolDocument, start: number, end: number, add: (span: Span, type: number) => void) {
  for (const string of document.strings()) {
    const { language, node, value } = string;
    // For a file of a megabyte clients ask only for the visible range.
    if (node.span.end < start || node.span.start > end) continue;
    if (language !== "query" && !(COLOURED.has(language) && /[:*\\%]/.test(value))) continue;
    const tokens = document.memory.ofText(`${language} tokens`, value, () => tokensIn(language, value));
    for (let i = 0; i < tokens.length; i += 3) {
      const span = string.toText({ start: tokens[i]!, end: tokens[i + 1]! });
      if (span.end >= start && span.start <= end) add(span, tokens[i + 2]!);
    }
  }
}

const COLOURED: ReadonlySet<string> = new Set(["route", "location"]);

/** Start, end and type of each token with a colour: plain numbers, for they are kept for every string. */
function tokensIn(language: string, value: string): readonly number[] {
  return embeddedTokens(language, value).flatMap(({ type, start, end }) => {
    // The literal text of a pattern keeps the colour of JSON, as a key or a string; most paths are nothing else.
    const index = type === "string" && language !== "query" ? -1 : indexOf(type);
    return index < 0 ? [] : [start, end, index];
  });
}

/** Clients need not understand tokens over several lines. */
function* byLines({ text }: ToolDocument, { start, end }: Span): Generator<Span> {
  for (const { index, 0: line } of text.slice(start, end).matchAll(/[^\r\n]+/g)) {
    yield { start: start + index, end: start + index + line.length };
  }
}
