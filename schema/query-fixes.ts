import { didYouMean } from "../grammar/did-you-mean.ts";
import { applyEdits, type Fix, fixesOf, type Problem, type Span } from "../grammar/problem.ts";
import { type Expr, givesRows, PIPE_WORDS, type Pipeline, parsePipeline } from "../grammar/query/index.ts";
import { nearName } from "./near-name.ts";

// Fixes and warnings of queries in files, for editors and `tool validate`, beside those of the language itself.

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
    const count = /^\s*top\s+(\w+)\s*$/.exec(pipe)?.[1];
    if (count === undefined) return [];
    const at = source.lastIndexOf(count, start - 1);
    return [suggest({ start: at, end: at + count.length }, USUAL_COUNT)];
  },
};

/** The rows that `top` gives without a number. */
const USUAL_COUNT = "10";

/** The direction that a word means; undefined if it may be a field. */
function directionOf(word: string): "asc" | "desc" | undefined {
  const lower = word.toLowerCase();
  if (Object.hasOwn(DIRECTIONS, lower)) return DIRECTIONS[lower];
  return didYouMean(lower, ["asc", "desc"]) as "asc" | "desc" | undefined;
}

const DIRECTIONS: Readonly<Record<string, "asc" | "desc">> = {
  asc: "asc",
  ascending: "asc",
  desc: "desc",
  descending: "desc",
  dsc: "desc",
  down: "desc",
  up: "asc",
};

/** The words that are hardly the name of a field, but are read as one by `sort desc`. */
const DIRECTION_WORDS = ["asc", "ascending", "desc", "descending", "dsc"];

/** Warnings about a valid query that hardly means what it says. */
export const doubtsOf = (pipeline: Pipeline): Problem[] => [...nearFields(pipeline), ...directionsAlone(pipeline)];

/** A warning for each direction that is read as a field, since no column is before it. */
function directionsAlone({ source, pipes }: Pipeline): Problem[] {
  const problems: Problem[] = [];
  for (const pipe of pipes) {
    // After rows a name that is no column is an error of the language.
    if (givesRows(pipe)) break;
    if (pipe.kind !== "sort") continue;
    for (const [i, { span }] of pipe.keys.entries()) {
      const word = source.slice(span.start, span.end);
      const direction = DIRECTION_WORDS.includes(word) ? directionOf(word) : undefined;
      if (direction === undefined) continue;
      const before = pipe.keys[i - 1]?.span;
      const column = before === undefined ? "timestamp" : source.slice(before.start, before.end);
      const write = `${column} ${direction}`;
      problems.push({
        code: "query/direction-alone",
        severity: "warning",
        message: `"${word}" has no column before it, and is read as the name of a field`,
        hint: `write sort ${write}`,
        span,
        fix: suggest({ start: before?.start ?? span.start, end: span.end }, write),
      });
    }
  }
  return problems;
}

/** The fields of the tool's own entries that are long enough for a slip to be told from another name. */
const OWN_FIELDS = [
  "commit",
  "duration",
  "level",
  "message",
  "method",
  "path",
  "query",
  "size",
  "stage",
  "status",
  "timestamp",
  "version",
];

/** A warning for each field of the conditions of entries that is one of the tool's own but for a slip of the finger. */
function nearFields({ source, query }: Pipeline): Problem[] {
  const problems: Problem[] = [];
  const walk = (expr: Expr) => {
    if (expr.kind === "and" || expr.kind === "or") for (const term of expr.terms) walk(term);
    else if (expr.kind === "not") walk(expr.term);
    else if (expr.kind === "comparison" || expr.kind === "in") {
      const { span } = expr.field;
      const name = source.slice(span.start, span.end);
      const near = OWN_FIELDS.find((field) => isSlipOf(name, field));
      if (near === undefined) return;
      problems.push({
        code: "query/near-field",
        severity: "warning",
        message: `"${name}" is no field of the entries that the tool writes`,
        hint: `did you mean ${near}?`,
        span,
        fix: suggest(span, near),
      });
    }
  };
  if (query.expr !== undefined) walk(query.expr);
  return problems;
}

/**
 * Whether a name is a field with two neighbours swapped, a letter left out or one written twice. Apps have fields of their
 * own, such as `state` or `paths`: another letter, or one more at the end, is none of these slips.
 */
function isSlipOf(name: string, field: string): boolean {
  const lower = name.toLowerCase();
  if (!/^[a-z]{4,}$/.test(lower) || OWN_FIELDS.includes(lower)) return false;
  const at = [...field].keys();
  for (const i of at) {
    const [before, letter, after] = [field.slice(0, i), field[i]!, field.slice(i + 1)];
    if (lower === before + after || lower === before + letter + letter + after) return true;
    if (after !== "" && lower === before + after[0] + letter + after.slice(1)) return true;
  }
  return false;
}
