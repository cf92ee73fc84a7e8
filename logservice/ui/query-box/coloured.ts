import type { Problem } from "../../../grammar/problem.ts";
import { highlightQuery } from "../../../grammar/query/highlight.generated.ts";

/** A piece of a query that looks the same all along. */
export interface ColouredPiece {
  readonly text: string;
  /** The kind of token; "" for blanks. */
  readonly type: string;
  readonly isWrong: boolean;
}

/** A query in pieces: by its tokens, and by where a problem begins and ends. */
export function colouredPieces(text: string, problems: readonly Problem[]): readonly ColouredPiece[] {
  const tokens = highlightQuery(text);
  const edges = new Set([0, text.length]);
  for (const { start, end } of tokens) edges.add(start).add(end);
  const spans = problems.map(({ span }) => visibleSpan(span, text.length)).filter(({ start }) => start < text.length);
  for (const { start, end } of spans) edges.add(start).add(end);
  const sorted = [...edges].sort((a, b) => a - b);
  let token = 0;
  return sorted.slice(0, -1).map((start, i) => {
    const end = sorted[i + 1]!;
    while (token < tokens.length && tokens[token]!.end <= start) token++;
    const at = tokens[token];
    return {
      text: text.slice(start, end),
      type: at === undefined || at.start > start ? "" : isUnit(tokens, token) ? "number" : at.type,
      isWrong: spans.some((span) => span.start <= start && span.end >= end),
    };
  });
}

/** Whether a token is the unit of the number before it, as in 100ms. */
const isUnit = (tokens: ReturnType<typeof highlightQuery>, at: number) =>
  tokens[at]!.type === "keyword" && tokens[at - 1]?.type === "number" && tokens[at - 1]!.end === tokens[at]!.start;

/** A problem at one place, such as the end, marks the character before it. */
function visibleSpan({ start, end }: Problem["span"], length: number): Problem["span"] {
  if (end > start) return { start, end: Math.min(end, length) };
  return start < length ? { start, end: start + 1 } : { start: Math.max(0, length - 1), end: length };
}
