import type { Span } from "../problem.ts";

/** A piece of a template. Pieces cover the source without gaps. */
export interface TemplatePiece {
  readonly kind: "text" | "comment" | "badComment" | "action";
  readonly span: Span;
  /** In an action, the first parenthesis that is nested deeper than `maxDepth`. */
  readonly tooDeep?: Span;
}

const COMMENT_OPEN = /\{\{(?:-[ \t\r\n]+)?\/\*/y;
const COMMENT_CLOSE = /\*\/(?:[ \t\r\n]+-)?\}\}/y;

// The tokens in an action that matter here: braces, parentheses, and strings, which may hold any of these. A string
// that is not closed ends before the next braces, as in the grammar.
const TOKEN = /\{\{|\}\}|[()]|"(?:\\.|[^"\\\n])*"|"(?:(?!\}\}|\{\{)(?:\\.|[^"\\\n]))*|`[^`]*`|`(?:(?!\}\}|\{\{)[^`])*/g;

/** Finds text, comments and actions. An action that is not closed ends before the next one. */
export function* scan(source: string, maxDepth: number): Generator<TemplatePiece> {
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{{", at);
    const textEnd = open < 0 ? source.length : open;
    if (textEnd > at) yield { kind: "text", span: { start: at, end: textEnd } };
    if (open < 0) return;
    COMMENT_OPEN.lastIndex = open;
    const piece = COMMENT_OPEN.test(source)
      ? comment(source, open, COMMENT_OPEN.lastIndex)
      : action(source, open, maxDepth);
    yield piece;
    at = piece.span.end;
  }
}

function comment(source: string, start: number, textStart: number): TemplatePiece {
  const close = source.indexOf("*/", textStart);
  if (close < 0) return { kind: "badComment", span: { start, end: source.length } };
  COMMENT_CLOSE.lastIndex = close;
  if (COMMENT_CLOSE.test(source)) return { kind: "comment", span: { start, end: COMMENT_CLOSE.lastIndex } };
  const { span } = action(source, close, Infinity);
  return { kind: "badComment", span: { start, end: span.end } };
}

function action(source: string, start: number, maxDepth: number): TemplatePiece {
  let depth = 0;
  let tooDeep: Span | undefined;
  TOKEN.lastIndex = start + 2;
  for (let token = TOKEN.exec(source); token; token = TOKEN.exec(source)) {
    const end = TOKEN.lastIndex;
    if (token[0] === "{{") return piece(token.index);
    if (token[0] === "}}") return piece(end);
    if (token[0] === "(") depth++;
    if (token[0] === ")") depth--;
    if (depth > maxDepth) tooDeep ??= { start: token.index, end };
  }
  return piece(source.length);

  function piece(end: number): TemplatePiece {
    return { kind: "action", span: { start, end }, ...(tooDeep && { tooDeep }) };
  }
}
