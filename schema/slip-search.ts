import { applyEdits, type Fix, type Problem, type TextEdit } from "../grammar/problem.ts";
import { isJson } from "./json.ts";

// Every candidate is read as JSON, and what can be read is checked: in a longer text that takes too long.
const MAX_LENGTH = 20_000;
const MAX_CANDIDATES = 6000;
const MAX_CHECKS = 16;
const MAX_FIXES = 3;

// How far from where it is seen a surplus or missing character is looked for; brackets are looked for everywhere.
const REACH = 60;

/**
 * If one bracket, comma, colon or quote is missing or surplus, the parser may notice it late, in another place. This tries
 * changes of one such character. Those after which the text is JSON, and has fewer problems than after any other fix,
 * become the fixes of the first syntax problem.
 */
export function withSlipFixes(text: string, problems: Problem[], { first, check, isBetter }: Search): Problem[] {
  if (text.length > MAX_LENGTH) return problems;
  const fixes: Fix[] = [];
  let checks = 0;
  const seen = new Set<string>();
  for (const { edit, title } of candidates(text, first.span.start)) {
    const fixed = applyEdits(text, [edit]);
    if (!isJson(fixed) || seen.has(fixed)) continue;
    seen.add(fixed);
    if (++checks > MAX_CHECKS || fixes.length === MAX_FIXES) break;
    if (isBetter(check(fixed))) fixes.push({ title, edits: [edit] });
  }
  if (fixes.length === 0) return problems;
  const isCertain = fixes.length === 1;
  const { fix: _fix, alternatives: _alternatives, ...rest } = first;
  const [best, ...others] = fixes.map((fix): Fix => (isCertain ? fix : { ...fix, isSuggestion: true }));
  const fixed: Problem = { ...rest, fix: best!, ...(others.length > 0 && { alternatives: others }) };
  return problems.map((problem) => (problem === first ? fixed : problem));
}

interface Search {
  readonly first: Problem;
  check(text: string): readonly Problem[];
  isBetter(after: readonly Problem[]): boolean;
}

interface Candidate {
  readonly edit: TextEdit;
  readonly title: string;
}

function* candidates(text: string, at: number): Generator<Candidate> {
  yield* bracketCandidates(text);
  yield* nearCandidates(text, at);
}

/** Single-bracket changes that balance the brackets. */
function* bracketCandidates(text: string): Generator<Candidate> {
  const tokens = [...text.matchAll(/"(?:[^"\\\r\n]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)];
  const count = (bracket: string) => tokens.filter(([token]) => token === bracket).length;
  const braces = count("{") - count("}");
  const brackets = count("[") - count("]");
  const [open, close] = braces !== 0 ? ["{", "}"] : ["[", "]"];
  const lacking = Math.abs(braces) + Math.abs(brackets) === 1 ? Math.sign(braces + brackets) : undefined;
  // One of the other kind: one too many here, one too few there.
  const isSwapped = Math.abs(braces) === 1 && brackets === -braces;
  for (const [i, { 0: token, index }] of tokens.slice(0, MAX_CANDIDATES).entries()) {
    const next = tokens[i + 1]?.[0];
    const end = index + token.length;
    if (lacking === -1 && i === 0) yield change(index, 0, open, `Add ${open}`);
    if (lacking === 1) {
      const endsValue = !"{[,:".includes(token) || token.length > 1;
      const canEnd = next === undefined || next === "," || next === "}" || next === "]";
      if (endsValue && canEnd) yield change(end, 0, close, `Add ${close}`);
      if (token === open) yield change(index, 1, "", `Remove ${open}`);
    } else if (lacking === -1) {
      const beginsValue = token === ":" || token === "," || token === "[" || token === "{";
      if (beginsValue) yield change(end, 0, token === ":" ? ` ${open}` : open, `Add ${open}`);
      if (token === close) yield change(index, 1, "", `Remove ${close}`);
    } else if (isSwapped) {
      if (braces === 1 && token === "]") yield change(index, 1, "}", "Replace with }");
      if (braces === -1 && token === "}") yield change(index, 1, "]", "Replace with ]");
      if (braces === 1 && token === "{") yield change(index, 1, "[", "Replace with [");
      if (braces === -1 && token === "[") yield change(index, 1, "{", "Replace with {");
    }
  }
}

/** Removes, replaces or adds one such character near the problem; the nearest place first. */
function* nearCandidates(text: string, at: number): Generator<Candidate> {
  for (let distance = 0; distance <= REACH; distance++) {
    for (const index of distance === 0 ? [at] : [at - distance, at + distance]) {
      const char = text[index];
      if (char === undefined) continue;
      if ('"{}[],:'.includes(char)) yield change(index, 1, "", `Remove ${char}`);
      const meant = char === ";" ? "," : char === "=" ? ":" : undefined;
      if (meant !== undefined) yield change(index, 1, meant, `Change to ${meant}`);
      // After a backslash it would become a part of the string.
      if (text[index - 1] === "\\") continue;
      for (const added of '",:') yield change(index, 0, added, `Add ${added}`);
    }
  }
}

const change = (index: number, length: number, by: string, title: string): Candidate => ({
  edit: { span: { start: index, end: index + length }, text: by },
  title,
});
