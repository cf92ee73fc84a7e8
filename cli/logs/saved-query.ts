import { didYouMean } from "../../grammar/did-you-mean.ts";
import type { Parsed, Problem } from "../../grammar/problem.ts";
import { quote } from "../../grammar/problem.ts";
import { andQueries, type Pipeline, parsePipeline, type Stage } from "../../grammar/query/index.ts";

/** The saved queries that a query begins with: `@slow @mine status >= 500` names two. */
export function namesSavedQuery(source: string): boolean {
  return SAVED.test(source);
}

// Before an operator it is the name of a field: @timestamp = "...". Operators of other query languages count, too.
const SAVED =
  /^\s*@([^\s()=<>!~,:"'@|]+)(?![^\s|])(?!\s*(?:[=<>~]|!=|(?:not\s+)?in\b|contains\b|NOT\s+IN\b|IN\b|CONTAINS\b|(?:i?like|matches|regexp?|between|is|startswith|endswith)\b(?!\s*[=<>~])))/i;

/**
 * Parses a query that may begin with saved ones, all combined by `and`; the stages of a saved one come before the typed
 * ones. `saved` is `logs.queries` of tool.json. Problems point into `source`. A saved query that does not parse is a problem
 * of tool.json: it is reported there.
 */
export function parseWithSaved(source: string, saved: Readonly<Record<string, string>>): Parsed<Pipeline> {
  const queries: Pipeline["query"][] = [];
  let stages: readonly Stage[] = [];
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
      if (stages.length > 0 && parsed.value.stages.length > 0) problems.push(secondStages(name, span));
      stages = [...stages, ...parsed.value.stages];
    }
    rest = rest.slice(match[0].length).replace(/^\s*(?:and\b|AND\b|&&)/, "");
  }
  // The part that was read is replaced by spaces, so that positions stay those of the whole.
  const own = parsePipeline(" ".repeat(source.length - rest.length) + rest, stages);
  if (!own.ok) problems.push(...own.problems);
  else queries.push(own.value.query);
  if (problems.length > 0 || !own.ok) return { ok: false, problems };
  return { ok: true, value: { source, query: queries.reduce(andQueries), stages: [...stages, ...own.value.stages] } };
}

function secondStages(name: string, span: Problem["span"]): Problem {
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
