import {
  type Fix,
  LineIndex,
  type Problem,
  type Remedy,
  type Severity,
  type Span,
  type TextEdit,
} from "../grammar/problem.ts";
import { type Node, type StringNode, spanInside } from "./json.ts";

/** The parts of a problem besides its message. */
export interface ProblemDetails extends Remedy {
  /** Several changes, the likeliest first; those that are undefined do not count. `fix` is not read then. */
  readonly fixes?: readonly (Fix | undefined)[];
}

interface Finding {
  readonly code: string;
  readonly span: Span;
  readonly message: string;
}

/** Collects the problems of one text. */
export class ProblemReport {
  readonly source: string;
  readonly #problems: Problem[] = [];
  /** Values of the wrong type that are read as what they were meant to be, and the problem that said so. */
  readonly #coerced: Problem[] = [];

  constructor(source: string) {
    this.source = source;
  }

  error(code: string, span: Span, message: string, more: ProblemDetails = {}): Problem {
    return this.#add("error", { code, span, message }, more);
  }

  warning(code: string, span: Span, message: string, more: ProblemDetails = {}): Problem {
    return this.#add("warning", { code, span, message }, more);
  }

  get size(): number {
    return this.#problems.length;
  }

  add(problem: Problem) {
    this.#problems.push(problem);
  }

  /** Takes over problems of a language inside a string: their spans and fixes count from the string's value. */
  inside(node: StringNode, problems: readonly Problem[]) {
    for (const problem of problems) {
      this.add({
        ...problem,
        span: spanInside(this.source, node, problem.span),
        ...(problem.fix && { fix: this.#fixInside(node, problem.fix) }),
        ...(problem.alternatives && { alternatives: problem.alternatives.map((fix) => this.#fixInside(node, fix)) }),
      });
    }
  }

  /** Takes over the problems of another file, which `at` names here. Their places are said in the messages. */
  elsewhere({ path, text }: { readonly path: string; readonly text: string }, at: Span, problems: readonly Problem[]) {
    const lines = new LineIndex(text);
    for (const problem of problems) {
      const { line, column } = lines.position(problem.span.start);
      this.add({
        code: problem.code,
        severity: problem.severity,
        message: `${path}:${line}:${column}: ${problem.message}`,
        ...(problem.hint !== undefined && { hint: problem.hint }),
        span: at,
        elsewhere: { path, text, problem },
      });
    }
  }

  editInside(node: StringNode, edit: TextEdit): TextEdit {
    return { span: spanInside(this.source, node, edit.span), text: JSON.stringify(edit.text).slice(1, -1) };
  }

  #fixInside(node: StringNode, fix: Fix): Fix {
    return { ...fix, edits: fix.edits.map((edit) => this.editInside(node, edit)) };
  }

  /** A fix that writes another string in place of a whole string or key. */
  replace(node: Node, by: string): Fix {
    return { title: `Change to ${by}`, edits: [{ span: node.span, text: JSON.stringify(by) }] };
  }

  /** The same as a suggestion, for a string that the user may not have meant; undefined if it is already there. */
  suggest(node: Node, by: string | undefined): Fix | undefined {
    if (by === undefined || by === "" || (node.type === "string" && node.value === by)) return undefined;
    return { ...this.replace(node, by), isSuggestion: true };
  }

  /** Notes that the value at `problem.span` is checked as what it was meant to be from here on. */
  coerced(problem: Problem) {
    this.#coerced.push(problem);
  }

  /** All problems in order of place, each slip once. */
  sorted(): Problem[] {
    const hidden = new Set<Problem>();
    const withdrawn = new Map<Problem, Problem>();
    const coerced = new Map(this.#coerced.map((problem) => [place(problem), problem]));
    for (const other of coerced.size === 0 ? [] : this.#problems) {
      const problem = coerced.get(place(other));
      if (problem === undefined || other === problem) continue;
      // "9999" for a number is reported as a string; that 9999 would be too much as well is a second complaint about
      // one value. But then writing 9999 is not a fix.
      hidden.add(other);
      // A word without quotes is not a second complaint: the value that is written replaces it.
      if (other.code === "config/literal") continue;
      withdrawn.set(problem, other);
    }
    const visible = this.#problems
      .filter((problem) => !hidden.has(problem))
      .map((problem): Problem => {
        if (!withdrawn.has(problem)) return problem;
        // The value as it was read is wrong too: its own fixes put another in the same place.
        const { fix: _fix, alternatives: _alternatives, hint: _hint, ...rest } = problem;
        const { hint, fix, alternatives } = withdrawn.get(problem)!;
        return { ...rest, ...(hint && { hint }), ...(fix && { fix }), ...(alternatives && { alternatives }) };
      });
    return visible.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  }

  #add(severity: Severity, { code, span, message }: Finding, { hint, fix, fixes = [fix] }: ProblemDetails): Problem {
    const [first, ...others] = distinct(fixes);
    const alternatives = others.map((other): Fix => ({ ...other, isSuggestion: true }));
    const problem = {
      code,
      severity,
      message,
      ...(hint && { hint }),
      span,
      ...(first && { fix: first }),
      ...(alternatives.length > 0 && { alternatives }),
    };
    this.#problems.push(problem);
    return problem;
  }
}

const place = ({ span }: Problem) => `${span.start}:${span.end}`;

function distinct(fixes: readonly (Fix | undefined)[]): Fix[] {
  const byEdits = new Map<string, Fix>();
  for (const fix of fixes) {
    const key = JSON.stringify(fix?.edits);
    if (fix !== undefined && !byEdits.has(key)) byEdits.set(key, fix);
  }
  return [...byEdits.values()];
}
