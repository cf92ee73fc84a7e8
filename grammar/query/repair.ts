import type { Fix, Parsed, Problem, Span, TextEdit } from "../problem.ts";
import type { Query } from "./ast.ts";
import { checkQuery } from "./check.ts";
import { diagnose } from "./diagnose.ts";
import { failureOffset } from "./failure.ts";
import { foreignQueryProblem } from "./meant/foreign-query.ts";
import { slips } from "./meant/slips.ts";
import { PatchedText } from "./patched-text.ts";
import { NO_MATCH, parsers } from "./query-parser.generated.ts";
import { tokenize } from "./tokens.ts";

/**
 * Everything wrong with a query that the grammar does not accept, in the order of the text; at least one problem, at most
 * `MAX_SYNTAX_PROBLEMS` of syntax.
 *
 * Each problem is fixed in a copy of the text (by its fix, or by a name if a term or value is missing), which is then
 * parsed again: so one slip does not hide the next, or what is wrong with the values of the rest. Problems that only a
 * fix caused are not reported.
 */
export function repair(source: string, parse: (source: string) => Parsed<Query>): Problem[] {
  const translated = foreignQueryProblem(source, parse);
  if (translated !== undefined) return [translated];

  const findings = new Findings(source);
  let patched = PatchedText.of(source);
  for (let rounds = 0; rounds < MAX_ROUNDS && findings.syntax < MAX_SYNTAX_PROBLEMS; rounds++) {
    const tokens = tokenize(patched.text);
    let wrong = slips(patched.text, tokens);
    if (wrong.length === 0) {
      const expr = parsers.Query(patched.text);
      if (expr !== NO_MATCH) {
        for (const problem of checkQuery({ source: patched.text, expr: expr as Query["expr"] }))
          findings.add(problem, patched);
        break;
      }
      wrong = [diagnose(patched.text, tokens, failureOffset(patched.text, tokens))];
    }
    const edits: TextEdit[] = [];
    for (const problem of wrong) {
      if (findings.syntax < MAX_SYNTAX_PROBLEMS) findings.addSyntax(problem, patched);
      edits.push(...mending(problem, patched.text));
    }
    const mended = patched.apply(edits);
    if (mended.text === patched.text) break;
    patched = mended;
  }
  return findings.sorted();
}

/** More would tell a person nothing: such a text is not a query. */
const MAX_SYNTAX_PROBLEMS = 5;

// A slip may take two: a wrong quote becomes a text where none belongs. Bounds the time, too.
const MAX_ROUNDS = 12;

class Findings {
  readonly #problems: Problem[] = [];
  readonly #source: string;
  syntax = 0;

  constructor(source: string) {
    this.#source = source;
  }

  addSyntax(problem: Problem, patched: PatchedText): void {
    if (this.add(problem, patched)) this.syntax++;
  }

  /** Returns false if the problem is about fixed text, or about text that a problem was reported for already. */
  add(problem: Problem, patched: PatchedText): boolean {
    const span = patched.original(problem.span);
    if (span === undefined) return false;
    for (const other of this.#problems) {
      const overlaps = other.span.start < span.end && span.start < other.span.end;
      const same = other.span.start === span.start && other.span.end === span.end;
      // `status =>` has a wrong operator, and lacks a value after the right one.
      if (same ? other.fix === undefined || problem.code !== "query/missing-value" : overlaps) return false;
      // `or and` at the end, `##`: one slip.
      const between =
        other.span.end <= span.start
          ? this.#source.slice(other.span.end, span.start)
          : this.#source.slice(span.end, other.span.start);
      const near = problem.code === "query/missing-operand" ? /^[ \t]*$/.test(between) : between === "";
      const addsNothing = problem.code === "query/missing-operand" || problem.fix === undefined;
      if (near && addsNothing && other.code === problem.code) return false;
    }
    const { fix, ...rest } = problem;
    const mapped: Fix | undefined = fix === undefined ? undefined : patched.originalFix(fix);
    // The number and the unit are side by side only because the text between them was taken out.
    if (mapped === undefined && problem.code === "query/unit-after-blank") return false;
    this.#problems.push({ ...rest, span, ...(mapped && { fix: mapped }) });
    return true;
  }

  sorted(): Problem[] {
    return this.#problems.sort((a, b) => a.span.start - b.span.start);
  }
}

/** The edits after which parsing can continue: the fix, if there is one. A single letter stands for what is missing. */
function mending({ code, span, fix }: Problem, text: string): readonly TextEdit[] {
  if (code === "query/unclosed-string") {
    // A quote on a later line was meant to close this one.
    const close = text.indexOf('"', span.end);
    if (close >= 0) return replace({ start: span.start, end: close + 1 }, '"x"');
  }
  if (fix !== undefined) return fix.edits;
  const marked = text.slice(span.start, span.end);
  switch (code) {
    case "query/missing-value":
      // The comma or parenthesis before which a value is missing, or the operator after which it is.
      if (marked === "," || marked === ")") return insert(span.start, " x ");
      return insert(span.end, marked === "~" ? " /x/ " : /^in$/i.test(marked) ? " (x) " : " x ");
    case "query/missing-list":
      return insert(span.start, " (x) ");
    case "query/missing-regex":
    case "query/unclosed-regex":
      return replace(span, marked === "(" ? "/x/ (" : "/x/");
    case "query/missing-field":
      if (/^exists$/i.test(marked)) return insert(span.end, " x ");
      return marked === "(" || marked.startsWith('"')
        ? replace(span, marked === "(" ? "x (" : "x")
        : insert(span.start, " x ");
    case "query/second-operator":
      return insert(span.start, " and x ");
    case "query/unclosed-paren":
      return insert(text.length, ")");
    case "query/empty-parens":
    case "query/value-alone":
    case "query/bad-name":
      return replace(span, "x");
    case "query/unexpected":
      if (marked === "(") return replace({ start: span.start, end: groupEnd(text, span.start) }, " x ");
      return replace(span, " ");
    case "query/unknown-function":
      // A field in its place: what it is compared with is another matter.
      if (text[span.end] !== "(") return replace(span, " ");
      return replace({ start: span.start, end: groupEnd(text, span.end) }, " x ");
    case "query/unknown-operator":
      return replace(span, "=");
    default:
      return replace(span, " ");
  }
}

function groupEnd(text: string, start: number): number {
  const end = text.indexOf(")", start);
  return end < 0 ? text.length : end + 1;
}

const insert = (at: number, text: string): TextEdit[] => [{ span: { start: at, end: at }, text }];
const replace = (span: Span, text: string): TextEdit[] => [{ span, text }];
