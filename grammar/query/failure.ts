import { loadGrammar } from "./query.generated.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";
import type { Token } from "./tokens.ts";

/**
 * The offset where the grammar cannot go on in a text that it does not accept. Ohm finds it, and needs a third of a second
 * for the longest texts; so the generated parser first finds how much of a long text is right, and Ohm reads the rest.
 */
export function failureOffset(source: string, tokens: readonly Token[]): number {
  const start = source.length < SHORT ? undefined : rightUpTo(source, tokens);
  if (start === undefined) return failureOf(source);
  // A term stands for all that was left out, within as many parentheses.
  const lead = `${"(".repeat(start.depth)}"x" `;
  const offset = failureOf(lead + source.slice(start.offset)) - lead.length;
  return start.offset + Math.max(0, offset);
}

function failureOf(source: string): number {
  const match = loadGrammar().match(source);
  if (match.failed()) return match.getRightmostFailurePosition();
  return source.length;
}

interface Boundary {
  readonly offset: number;
  readonly depth: number;
}

/** The last place between two terms found before which all is right. */
function rightUpTo(source: string, tokens: readonly Token[]): Boundary | undefined {
  const boundaries = betweenTerms(tokens);
  const isRight = ({ offset, depth }: Boundary) =>
    parsers.Query(source.slice(0, offset) + ")".repeat(depth)) !== NO_MATCH;
  // Ever larger steps, so that a slip near the beginning is found without reading the whole.
  let low = -1;
  let step = 1;
  while (low + step < boundaries.length && isRight(boundaries[low + step]!)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, boundaries.length);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isRight(boundaries[middle]!)) low = middle;
    else high = middle;
  }
  return boundaries[low];
}

function betweenTerms(tokens: readonly Token[]): Boundary[] {
  const boundaries: Boundary[] = [];
  let depth = 0;
  let inList = false;
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1]?.kind;
    if (token.kind === "open" && before === "in") inList = true;
    if (!inList) {
      const complete = before === "word" || before === "string" || before === "close" || before === "regex";
      const starts = token.kind === "word" || token.kind === "string" || token.kind === "open";
      // What touches may be one token to the grammar, or none.
      const apart = index > 0 && tokens[index - 1]!.end < token.start;
      if (complete && apart && (starts || token.kind === "and" || token.kind === "or")) {
        boundaries.push({ offset: token.start, depth });
      }
      if (token.kind === "open") depth++;
      if (token.kind === "close" && --depth < 0) return boundaries;
    } else if (token.kind === "close") {
      inList = false;
    }
  }
  return boundaries;
}

// UTF-16 units that Ohm reads in a few milliseconds.
const SHORT = 400;
