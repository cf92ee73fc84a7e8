import { loadGrammar } from "./query.generated.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";
import type { Token } from "./tokens.ts";

/**
 * The offset where parsing fails in a text that the grammar does not accept. Ohm finds it, but needs a third of a second
 * for the longest texts; so the generated parser first finds how much of a long text is right, and Ohm reads the rest.
 */
export function failureOffset(source: string, tokens: readonly Token[]): number {
  const { text, lead, start } = unread(source, tokens);
  const offset = failureOf(text);
  if (offset !== undefined) return start + Math.max(0, offset - lead);
  throw new Error(`the generated parser refuses ${JSON.stringify(source)}, which the grammar accepts`);
}

/**
 * The rest of a long text after the part that is certainly right, for Ohm to read. `start` is where it begins in the
 * text; before it `lead` units stand for all that was left out: a term, within as many parentheses.
 */
export function unread(source: string, tokens: readonly Token[]): { text: string; lead: number; start: number } {
  const boundary = source.length < SHORT ? undefined : rightUpTo(source, tokens);
  if (boundary === undefined) return { text: source, lead: 0, start: 0 };
  const lead = `${"(".repeat(boundary.depth)}"x" `;
  return { text: lead + source.slice(boundary.offset), lead: lead.length, start: boundary.offset };
}

function failureOf(source: string): number | undefined {
  const match = loadGrammar().match(source);
  return match.failed() ? match.getRightmostFailurePosition() : undefined;
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
  // In growing steps, so that a slip near the beginning is found without reading the whole text.
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
      if (complete && isApart(tokens[index - 1]!, token) && (starts || token.kind === "and" || token.kind === "or")) {
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

/** Texts and words that touch may be one token to the grammar, or none. */
function isApart(before: Token, token: Token): boolean {
  if (before.end < token.start || before.kind === "close" || token.kind === "open") return true;
  return before.text.endsWith("]") && /^[\p{L}_@$]/u.test(token.text);
}

// UTF-16 units that Ohm reads in a few milliseconds.
const SHORT = 400;
