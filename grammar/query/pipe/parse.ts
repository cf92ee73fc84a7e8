import type { Parsed, Problem } from "../../problem.ts";
import type { ReadPipeline } from "../actions.ts";
import type { Pipe, Pipeline } from "../ast.ts";
import { MAX_QUERY_LENGTH } from "../bounds.ts";
import { foreignQueryProblem, MAX_FOREIGN_LENGTH, mend } from "../meant/foreign-query.ts";
import { deepest, parseQuery } from "../parse.ts";
import { GROUP_BY, PIPE_BEGIN } from "../pipe-words.ts";
import * as queryProblems from "../problems.ts";
import { NO_MATCH, parsers } from "../query-parser.generated.ts";
import { type Token, tokenize } from "../tokens.ts";
import { checkPipes } from "./check.ts";
import { findMissingBar, whatIsWrong } from "./diagnose.ts";
import { foreignPipeline } from "./meant/foreign-pipeline.ts";
import * as problems from "./problems.ts";

/**
 * Parses a log query that may have stages: `status >= 500 | count by path`. Never throws, whatever the text. A text without
 * a bar is what `parseQuery` says of it. `before`: the stages of a saved query, which come first.
 * Source: the specification's "Log query language", settled in README.md.
 */
export function parsePipeline(source: string, before: readonly Pipe[] = []): Parsed<Pipeline> {
  const read = readPipeline(source, before);
  if (read.ok || source.length > MAX_FOREIGN_LENGTH) return read;
  const parse = (text: string) => readPipeline(text, before);
  const foreign = foreignPipeline(source, parse);
  // Slips that lead to a query one by one say more than the whole does.
  if (foreign?.isCertain) return failed([foreign.problem]);
  if (mend(source, parse) !== undefined) return read;
  const whole = foreign?.problem ?? (source.includes("|") ? foreignQueryProblem(source, parseQuery) : undefined);
  // Where the other language has stages, too, each is told by itself.
  return whole === undefined || (foreign === undefined && whole.message.includes("in stages")) ? read : failed([whole]);
}

/** As `parsePipeline`, but each slip by itself. */
function readPipeline(source: string, before: readonly Pipe[]): Parsed<Pipeline> {
  if (source.length > MAX_QUERY_LENGTH) return failed([queryProblems.tooLong(source.length, MAX_QUERY_LENGTH)]);
  if (!source.includes("|")) return withoutPipes(source);
  const bars = barsOf(source);
  if (bars.length === 0) return withoutPipes(source);
  const tooDeep = deepest(source);
  if (tooDeep !== undefined) return failed([tooDeep]);
  // The query is checked by itself.
  const selected = parseQuery(source.slice(0, bars[0]!.start).trimEnd());
  const read = bars.length > MAX_PIPES ? NO_MATCH : readPipes(source, bars);
  if (read === NO_MATCH || !selected.ok)
    return failed(wrong({ source, bars, before }, selected.ok ? [] : selected.problems));
  const query = { source, expr: selected.value.expr };
  const { pipes } = read as ReadPipeline;
  const findings = wrongNames(source, pipes, before);
  return findings.length > 0 ? failed(findings.slice(0, MAX_PROBLEMS)) : { ok: true, value: { source, query, pipes } };
}

/** More would be no query that a person wrote. */
const MAX_PIPES = 64;

/** The most problems of stages that are told: more would tell a person nothing. */
const MAX_PROBLEMS = 5;

function withoutPipes(source: string): Parsed<Pipeline> {
  const bar = mayLackBar(source) ? findMissingBar(source) : undefined;
  if (bar !== undefined) return failed([bar]);
  const query = parseQuery(source);
  return query.ok ? { ok: true, value: { source, query: query.value, pipes: [] } } : query;
}

/** Most texts do not: then the code that knows more is not even read. */
const mayLackBar = (source: string) =>
  source.includes("||") || GROUP_BY.test(source) || source.search(PIPE_BEGIN) !== -1;

/** The stages in the order of the text, or NO_MATCH. The query before them is read by `parseQuery`. */
function readPipes(source: string, bars: readonly Token[]): ReadPipeline | typeof NO_MATCH {
  const read = parsers.Pipeline(" ".repeat(bars[0]!.start) + source.slice(bars[0]!.start));
  return read as ReadPipeline | typeof NO_MATCH;
}

/** The bars that begin stages: not those of texts, expressions and `||`. */
function barsOf(source: string): Token[] {
  // Loki's operators are told by parseQuery.
  return tokenize(source).filter(
    ({ kind, text, end }) => kind === "other" && text === "|" && !/[=~]/.test(source[end] ?? ""),
  );
}

/** The problems of stages that the grammar accepts: to it, `where a = 1 count by b` has terms only. */
function wrongNames(source: string, pipes: readonly Pipe[], before: readonly Pipe[]): readonly Problem[] {
  let findings = checkPipes({ source, pipes }, before);
  for (const { kind, word, span } of pipes) {
    const others = findings.filter((one) => one.span.start < word.end || one.span.start >= span.end);
    if (kind !== "where" || others.length === findings.length) continue;
    const bar = findMissingBar(" ".repeat(word.end) + source.slice(word.end, span.end));
    if (bar !== undefined) findings = [...others, bar];
  }
  return findings;
}

/** The problems of the query, if it has any, and of each stage. */
function wrong(
  { source, bars, before }: { source: string; bars: readonly Token[]; before: readonly Pipe[] },
  ofQuery: readonly Problem[],
): Problem[] {
  if (bars.length > MAX_PIPES) {
    const { start, end } = bars[MAX_PIPES]!;
    return [problems.tooManyPipes({ start, end }, MAX_PIPES)];
  }
  // count by path | sort count
  const bar = ofQuery.length === 0 ? undefined : findMissingBar(source.slice(0, bars[0]!.start));
  const findings: Problem[] = [];
  const isTerm = source.slice(0, bars[0]!.start).trim() !== "";
  let read: readonly Pipe[] = [];
  for (const [index, bar] of bars.entries()) {
    const end = bars[index + 1]?.start ?? source.length;
    const pipe = parsers.Pipe(source, bar.end, end);
    if (pipe === NO_MATCH) findings.push(...whatIsWrong(source, bar, end, isTerm && read.length === 0));
    // The names that later stages may use depend on all before them.
    else if (read.length === index) read = [...read, pipe as Pipe];
  }
  findings.push(...wrongNames(source, read, before));
  findings.sort((a, b) => a.span.start - b.span.start);
  return [...(bar === undefined ? ofQuery : [bar]), ...findings.slice(0, MAX_PROBLEMS)];
}

const failed = (findings: readonly Problem[]): { readonly ok: false; readonly problems: readonly Problem[] } => ({
  ok: false,
  problems: findings,
});
