import { didYouMean } from "../../grammar/did-you-mean.ts";
import type { Parsed, Problem } from "../../grammar/problem.ts";
import { applyEdits, quote } from "../../grammar/problem.ts";
import {
  andQueries,
  type Expr,
  givesRows,
  type Pipe,
  type Pipeline,
  parsePipeline,
  pipeCondition,
} from "../../grammar/query/index.ts";

/** The saved queries that a query begins with: `@slow @mine status >= 500` names two. */
export function namesSavedQuery(source: string): boolean {
  return SAVED.test(source);
}

// Before an operator it is the name of a field: @timestamp = "...". Operators of other query languages count, too.
const SAVED =
  /^\s*@([^\s()=<>!~,:"'@|]+)(?![^\s|])(?!\s*(?:[=<>~]|!=|(?:not\s+)?in\b|contains\b|NOT\s+IN\b|IN\b|CONTAINS\b|(?:i?like|matches|regexp?|between|is|startswith|endswith)\b(?!\s*[=<>~])))/i;

/** The names of the saved queries that a query begins with. */
export function savedNames(source: string): string[] {
  const names: string[] = [];
  for (let rest = source, match = SAVED.exec(rest); match !== null; match = SAVED.exec(rest)) {
    names.push(match[1]!);
    rest = afterName(rest, match[0]);
  }
  return names;
}

const afterName = (rest: string, name: string) => rest.slice(name.length).replace(/^\s*(?:and\b|AND\b|&&)/, "");

/**
 * Parses a query that may begin with saved ones, all combined by `and`; the stages of a saved one come before the typed
 * ones. `saved` is `logs.queries` of tool.json. Problems point into `source`. A saved query that does not parse is a problem
 * of tool.json: it is reported there.
 */
export function parseWithSaved(source: string, saved: Readonly<Record<string, string>>): Parsed<Pipeline> {
  const queries: Pipeline["query"][] = [];
  let pipes: readonly Pipe[] = [];
  const problems: Problem[] = [];
  let rest = source;
  for (let match = SAVED.exec(rest); match !== null; match = SAVED.exec(rest)) {
    const name = match[1]!;
    const end = source.length - rest.length + match[0].length;
    const parsed = Object.hasOwn(saved, name) ? parsePipeline(saved[name]!) : undefined;
    const span = { start: end - name.length - 1, end };
    if (!parsed?.ok) problems.push(unknownName(name, span, Object.keys(saved)));
    else {
      queries.push(parsed.value.query);
      if (pipes.length > 0 && parsed.value.pipes.length > 0) problems.push(secondPipes(name, span));
      pipes = [...pipes, ...parsed.value.pipes];
    }
    rest = afterName(rest, match[0]);
  }
  // The part that was read is replaced by spaces, so that positions stay those of the whole.
  const own = parsePipeline(" ".repeat(source.length - rest.length) + rest, pipes);
  if (!own.ok) problems.push(...own.problems);
  else queries.push(own.value.query);
  if (problems.length > 0 || !own.ok) return { ok: false, problems };
  const inside = namesInside(own.value);
  const isSaved = (name: string) => own.value.pipes.length > 0 || Object.hasOwn(saved, name);
  const misplaced = inside.filter(({ name }) => isSaved(name));
  if (misplaced.length > 0) return { ok: false, problems: misplaced.map((term) => notFirst(term, source)) };
  return { ok: true, value: { source, query: queries.reduce(andQueries), pipes: [...pipes, ...own.value.pipes] } };
}

/** A term that would be the name of a saved query at the beginning, such as the last one of `error @slow`. */
export interface NameInside {
  readonly name: string;
  readonly span: Problem["span"];
  /** Whether it selects the same at the beginning. */
  readonly isMovable: boolean;
}

/** The terms of a query, without saved ones, that may be names of saved queries: fields are compared, or follow `exists`. */
export function namesInside({ query, pipes }: Pipeline): NameInside[] {
  const found: NameInside[] = [];
  const visit = (expr: Expr | undefined, isMovable: boolean): void => {
    if (expr?.kind === "and" || expr?.kind === "or")
      for (const term of expr.terms) visit(term, isMovable && expr.kind === "and");
    else if (expr?.kind === "not") visit(expr.term, false);
    else if (expr?.kind === "truthy") {
      const name = /^@(.+)$/.exec(query.source.slice(expr.span.start, expr.span.end))?.[1];
      if (name !== undefined) found.push({ name, span: expr.span, isMovable });
    }
  };
  visit(query.expr, true);
  for (const pipe of pipes) {
    // What comes after rows names columns.
    if (givesRows(pipe)) break;
    visit(pipeCondition(pipe), false);
  }
  return found;
}

/** A saved query that is named after the beginning. */
export function notFirst({ name, span, isMovable }: NameInside, source: string): Problem {
  const before = source.slice(0, span.start).replace(/\s*(?:(?<!\S)(?:and|AND|&&)\s*)?$/, "");
  const start = source.length - source.trimStart().length;
  const edits = [
    { span: { start, end: start }, text: `@${name} ` },
    { span: { start: before.length, end: span.end }, text: "" },
  ];
  const moved = applyEdits(source, edits);
  return {
    code: "query/saved-query-place",
    severity: "error",
    message: `a saved query comes first, and @${name} is inside`,
    hint:
      isMovable && before !== ""
        ? `write ${moved}`
        : `write its text here, or begin with @${name}; a field of that name follows exists`,
    span,
    ...(isMovable && before !== "" && parsePipeline(moved).ok && { fix: { title: "Write it first", edits } }),
  };
}

function secondPipes(name: string, span: Problem["span"]): Problem {
  return {
    code: "query/second-stages",
    severity: "error",
    message: `@${name} is the second saved query with stages`,
    hint: "name one of them, and write the stages of the other",
    span,
  };
}

function unknownName(name: string, span: Problem["span"], names: readonly string[]): Problem {
  const near = didYouMean(name, names);
  return {
    code: "query/unknown-saved-query",
    severity: "error",
    message: `tool.json has no saved query ${quote(name)}`,
    hint:
      near !== undefined
        ? `did you mean @${near}?`
        : names.length > 0
          ? `logs.queries has: ${names.join(", ")}`
          : 'name queries in tool.json: "logs": { "queries": { "slow": "duration > 1s" } }',
    span,
  };
}
