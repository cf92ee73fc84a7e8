import type { Span } from "../problem.ts";

/**
 * The comments of a query in a file: from a `#` that begins a word to the end of its line, outside of texts and expressions.
 * No unquoted value has one, so that nothing else is meant by it.
 */
export function commentsIn(source: string): Span[] {
  if (!source.includes("#")) return [];
  const comments: Span[] = [];
  const parts = /"(?:[^"\\\r\n]|\\.)*"?|~\s*\/(?:[^/\\\r\n]|\\.)*\/?|(?<!\S)(#)[^\r\n]*/g;
  for (const match of source.matchAll(parts)) {
    if (match[1] !== undefined) comments.push({ start: match.index, end: match.index + match[0].length });
  }
  return comments;
}

/**
 * The query with blanks in place of its comments, so that all offsets stay; also in place of a byte order mark, which some
 * editors put at the beginning of a file.
 */
export function withoutComments(source: string): string {
  let text = source.replace(/^\ufeff/, " ");
  for (const { start, end } of commentsIn(source))
    text = text.slice(0, start) + " ".repeat(end - start) + text.slice(end);
  return text;
}
