import { didYouMean } from "../grammar/did-you-mean.ts";
import { applyEdits, type Fix, fixesOf, type Problem, type Span } from "../grammar/problem.ts";
import { DIRECTION_WORDS, PIPE_USES, PIPE_WORDS, parsePipeline } from "../grammar/query/index.ts";
import { nearName } from "./near-name.ts";

// Fixes of queries in files, for editors and `tool validate`, beside those of the language itself.

/** The problems of a query, with changes that leave fewer of them where the text tells what was meant. */
export function withQueryFixes(source: string, problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => {
    const added = (FIXES[problem.code]?.(source, problem.span) ?? []).filter((fix) =>
      leavesFewer(source, problems, fix),
    );
    if (added.length === 0) return problem;
    const edits = new Set(added.map((fix) => JSON.stringify(fix.edits)));
    const others = fixesOf(problem).filter((fix) => !edits.has(JSON.stringify(fix.edits)));
    const [first, ...rest] = [...added, ...others];
    return { ...problem, fix: first!, alternatives: rest.map((fix): Fix => ({ ...fix, isSuggestion: true })) };
  });
}

function leavesFewer(source: string, problems: readonly Problem[], fix: Fix): boolean {
  const after = parsePipeline(applyEdits(source, fix.edits));
  return after.ok || after.problems.length < problems.length;
}

const change = (span: Span, text: string): Fix => ({ title: `Change to ${text}`, edits: [{ span, text }] });
const suggest = (span: Span, text: string): Fix => ({ ...change(span, text), isSuggestion: true });

const FIXES: Readonly<Record<string, (source: string, span: Span) => readonly Fix[]>> = {
  // limit x, limit 1.5, limit -5
  "query/wrong-row-count"(source, span) {
    const count = Math.round(Math.abs(Number(source.slice(span.start, span.end))));
    return [suggest(span, count > 0 && Number.isSafeInteger(count) ? String(count) : USUAL_COUNT)];
  },
  // stats avg duration
  "query/missing-parentheses"(source, { start, end }) {
    const field = /^\s+([\w.]+)/.exec(source.slice(end));
    if (field === null) return [];
    return [change({ start, end: end + field[0].length }, `${source.slice(start, end)}(${field[1]})`)];
  },
  // stats avg(duration by path
  "query/unclosed-paren"(source, { end }) {
    const field = /^\s*[\w.]+(?=\s)/.exec(source.slice(end));
    const at = end + (field?.[0].length ?? 0);
    const edits = [{ span: { start: at, end: at }, text: ")" }];
    return field === null ? [] : [{ title: `Add the closing ) after ${field[0].trim()}`, edits }];
  },
  // | whree duration > 1s
  "query/term-after-bar"(source, { end }) {
    const [blank = "", word = ""] = /^\s*(\w+)/.exec(source.slice(end)) ?? [];
    const near = nearName(word, PIPE_WORDS);
    const start = end + blank.length - word.length;
    return near === undefined ? [] : [suggest({ start, end: start + word.length }, near.name)];
  },
  "query/missing-comma"(source, span) {
    const { start } = span;
    const pipe = source.slice(source.lastIndexOf("|", start) + 1, start);
    const [blank = "", word = ""] = /^(?:\s*)([\w.]+)/.exec(source.slice(start)) ?? [];
    const from = start + blank.length - word.length;
    // sort duration dsc
    const direction = /^\s*sort\s/.test(pipe) ? directionOf(word) : undefined;
    if (direction !== undefined) return [change({ start: from, end: from + word.length }, direction)];
    // top x path
    const count = COUNTED_FIELD.exec(pipe)?.[1];
    if (count === undefined) return [];
    const at = source.lastIndexOf(count, start - 1);
    return [suggest({ start: at, end: at + count.length }, USUAL_COUNT)];
  },
};

/** Stages that may have a number of rows before their field, as `top 10 path` has it, with something else in its place. */
const COUNTED_FIELD = new RegExp(
  `^\\s*(?:${PIPE_WORDS.filter((word) => /^\w+ \d+ [a-z]/.test(PIPE_USES[word])).join("|")})\\s+(\\w+)\\s*$`,
);

/** The rows that `top` gives without a number. */
const USUAL_COUNT = "10";

/** The direction that a word means; undefined if it may be a field. */
function directionOf(word: string): "asc" | "desc" | undefined {
  const lower = word.toLowerCase();
  if (Object.hasOwn(DIRECTIONS, lower)) return DIRECTIONS[lower];
  return didYouMean(lower, ["asc", "desc"]) as "asc" | "desc" | undefined;
}

const DIRECTIONS: Readonly<Record<string, "asc" | "desc">> = { ...DIRECTION_WORDS, down: "desc", up: "asc" };
