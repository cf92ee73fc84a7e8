import { didYouMean } from "../../did-you-mean.ts";
import type { Problem, Span } from "../../problem.ts";
import { levelOf } from "../levels.ts";
import { NUMBER_UNITS } from "../literals.ts";
import { parseQuery } from "../parse.ts";
import { GROUP_BY, PIPE_BEGIN, type PIPE_USES, PIPE_WORDS } from "../pipe-words.ts";
import * as queryProblems from "../problems.ts";
import { NO_MATCH, parsers } from "../query-parser.generated.ts";
import { type Token, tokenize } from "../tokens.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";
import { stepOf } from "./meant/foreign-functions.ts";
import { pipeSlip } from "./meant/pipe-slips.ts";
import { isOfFunctions } from "./pipe-facts.ts";
import * as problems from "./problems.ts";
import { wrongPartOf } from "./wrong-part.ts";

type PipeWord = keyof typeof PIPE_USES;

/**
 * Why the text between a bar and `end` is no stage: at least one problem. `isAfterTerm`: no stage comes before it, so that
 * the bar may stand for or.
 */
export function whatIsWrong(source: string, bar: Token, end: number, isAfterTerm: boolean): Problem[] {
  // Positions stay those of the whole.
  const tokens = tokenize(" ".repeat(bar.end) + source.slice(bar.end, end));
  const [first, ...rest] = tokens;
  if (first === undefined) return [problems.missingPipe(bar)];
  const slip = pipeSlip(source, first.start, end);
  if (slip !== undefined) return [slip];
  const word = PIPE_WORDS.find((one) => one === first.text);
  if (/^fields\s+\*$/.test(source.slice(first.start, end).trimEnd()))
    return [problems.needlessPipe({ start: bar.start, end })];
  if (word === undefined) return [notAPipe(source, isAfterTerm ? bar : undefined, { first, rest, end })];
  const starts = pipesIn(source, tokens, end)?.slice(1);
  if (starts !== undefined) return [withoutBars(source, starts, end)];
  if (word === "where") return inWhere(source, first, end);
  const one = glued(source, tokens, end);
  if (one !== undefined) return [one];
  const findings = isOfFunctions(word) ? inAggregates(word, rest) : [inPipe(word, first, rest) ?? []].flat();
  return findings.length > 0 ? findings : [wrongPartOf(source, tokens, word)];
}

/** A problem that any stage may have: a condition, an order, a parenthesis or comma that is left over. */
function glued(source: string, tokens: readonly Token[], end: number): Problem | undefined {
  const [first, next] = tokens as [Token, Token | undefined];
  const text = source.slice(first.start, end).trim();
  const isCompared = next?.kind === "compare" || next?.kind === "match";
  if (isCompared && parseQuery(text).ok) return problems.foreignForm(spanOf(tokens), text, `where ${text}`);
  // count by path order by count desc
  const order = tokens.findIndex(
    ({ text }, index) => index > 1 && text === "order" && tokens[index + 1]?.text === "by",
  );
  const isLast =
    order > 0 && /^order\s+by\s+\S+(?:\s+(?:asc|desc))?$/.test(source.slice(tokens[order]!.start, end).trim());
  if (isLast && parsers.Pipe(source, first.start, tokens[order]!.start) !== NO_MATCH)
    return problems.foreignForm(spanOf(tokens.slice(order, order + 2)), "order by", "| sort");
  const last = tokens.at(-1)!;
  if (last.kind === "comma")
    return problems.needlessWord({ start: tokens.at(-2)!.end, end: last.end }, last.end, ",", first.text);
  const open = tokens.filter(({ kind }) => kind === "open");
  const isClosed = open.length <= tokens.filter(({ kind }) => kind === "close").length;
  return isClosed ? undefined : queryProblems.unclosedParen(open.at(-1)!, last.end);
}

/** Where the stages of a text begin that has no bars between them: `count by path limit 10`. */
function pipesIn(
  source: string,
  tokens: readonly Token[],
  end: number,
  tries = { left: 2 * MOST_TRIES },
): number[] | undefined {
  const { start } = tokens[0]!;
  if (parsers.Pipe(source, start, end) !== NO_MATCH) return [start];
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (index < 2 || before?.kind === "comma" || before?.text === "by") continue;
    if (!PIPE_WORDS.some((word) => word === token.text)) continue;
    if (--tries.left < 0) break;
    // A word alone is a column.
    if (tokens.length === index + 1 || parsers.Pipe(source, start, token.start) === NO_MATCH) continue;
    const later = pipesIn(source, tokens.slice(index), end, tries);
    if (later !== undefined) return [start, ...later];
  }
  return undefined;
}

/** `starts`: of the stages that lack their bars. */
function withoutBars(source: string, starts: readonly number[], end: number): Problem {
  const [start = 0, next = end] = starts;
  const pipe = source.slice(start, next).trim();
  return problems.missingBar({ start, end: start + pipe.length }, pipe, starts);
}

const spanOf = (tokens: readonly Token[]): Span => ({ start: tokens[0]!.start, end: tokens.at(-1)!.end });

function inWhere(source: string, word: Token, end: number): Problem[] {
  const text = source.slice(word.end, end).trimEnd();
  if (text === "") return [problems.unfinishedPipe(word, "where", "a condition", "where")];
  // A column of rows may be named p99(duration): to the reader of queries it is a name of the same length.
  const names = new Map<string, string>();
  const named = text.replace(/\b(\w+(?:\.\d+)?)\(([\w@$.-]*)\)/g, (call, name: string, argument: string) => {
    if (functionOf(name) === undefined) return call;
    const plain = `${name}_${argument}_`.replace(/[^\w]/g, "_");
    names.set(plain, call);
    return plain;
  });
  const parsed = parseQuery(" ".repeat(word.end) + named);
  if (parsed.ok) return [problems.wrongPipe(word, "where")];
  const inOurs = (text: string) => [...names].reduce((one, [plain, call]) => one.replaceAll(plain, call), text);
  return parsed.problems.map((problem) => renamed(problem, inOurs));
}

/** A problem with other words in all that it says. */
function renamed(problem: Problem, rename: (text: string) => string): Problem {
  const { message, hint, fix } = problem;
  const edits = fix?.edits.map(({ span, text }) => ({ span, text: rename(text) }));
  return {
    ...problem,
    message: rename(message),
    ...(hint !== undefined && { hint: rename(hint) }),
    ...(fix !== undefined && { fix: { ...fix, title: rename(fix.title), edits: edits! } }),
  };
}

interface Text {
  readonly first: Token;
  readonly rest: readonly Token[];
  readonly end: number;
}

/** The first word is no stage's. `or`: the bar, if it may stand for or. */
function notAPipe(source: string, or: Token | undefined, { first, rest, end }: Text): Problem {
  const lower = first.text.toLowerCase();
  const own = PIPE_WORDS.find((word) => word === lower);
  if (own !== undefined) return problems.unknownPipe(first, first.text, "stage words are in lower case", own);
  const foreign = Object.hasOwn(FOREIGN_PIPES, lower) ? FOREIGN_PIPES[lower]! : undefined;
  if (foreign !== undefined) return problems.unknownPipe(first, first.text, foreign.hint, foreign.write);
  const near = didYouMean(first.text, PIPE_WORDS);
  const term = source.slice(first.start, end).trim();
  // One word alone is more likely a stage than a term, unless it is a level, or another word is before it: a | b
  const isName = (text: string) => /^[A-Za-z]\w*$/.test(text) && levelOf(text) === undefined;
  const isAlone = term.startsWith("@") || (isName(term) && !isName(source.slice(0, or?.start).trim()));
  const isCompared = rest.some(({ kind }) => kind === "compare" || kind === "match");
  if ((isCompared || (or !== undefined && near === undefined && !isAlone)) && parseQuery(term).ok) {
    if (or !== undefined) return problems.termAfterBar(or, term);
    return problems.foreignForm({ start: first.start, end: first.start + term.length }, term, `where ${term}`);
  }
  const nearForeign = near === undefined ? didYouMean(lower, Object.keys(FOREIGN_PIPES)) : undefined;
  const meant = nearForeign === undefined ? undefined : FOREIGN_PIPES[nearForeign]!;
  return problems.unknownPipe(first, first.text, meant?.hint, meant?.write);
}

interface ForeignPipe {
  readonly hint: string;
  /** The word that can take its place, the rest as it is. */
  readonly write?: string;
}

const to = (write: string): ForeignPipe => ({ hint: `write ${write}`, write });

/** First words of stages in other languages. */
const FOREIGN_PIPES: Readonly<Record<string, ForeignPipe>> = {
  summarize: to("stats"),
  aggregate: to("stats"),
  stat: to("stats"),
  filter: to("where"),
  search: to("where"),
  having: to("where"),
  head: to("limit"),
  take: to("limit"),
  first: to("limit"),
  tail: { hint: "write sort timestamp desc, and limit 10 after it" },
  last: { hint: "write sort timestamp desc, and limit 10 after it" },
  table: to("fields"),
  project: to("fields"),
  display: to("fields"),
  keep: to("fields"),
  select: to("fields"),
  columns: to("fields"),
  dedup: to("unique"),
  distinct: to("unique"),
  uniq: to("unique"),
  order: { hint: "write sort count desc" },
  group: { hint: "write count by path, or stats with functions" },
  timechart: to("timeseries"),
  bin: { hint: "write timeseries 5m" },
  bucket: { hint: "write timeseries 5m" },
  histogram: {
    hint: "write timeseries 5m for steps of time; for the spread of values p50(duration), p90(duration) and p99(duration) in stats",
  },
  rare: { hint: "write count by path, and sort count after it" },
  eval: { hint: "values cannot be computed; leave it out" },
  extend: { hint: "values cannot be computed; leave it out" },
  rename: { hint: "write as in stats: stats avg(duration) as mean" },
  parse: { hint: "fields are read from JSON; match a text with message ~ /.../" },
  json: { hint: "lines of JSON are read without it: leave it out" },
  logfmt: { hint: "only lines of JSON have fields: leave it out" },
  wc: { hint: "write count", write: "count" },
  grep: { hint: "write where message contains ..." },
  jq: { hint: "write fields path, status" },
  awk: { hint: "write fields path, status" },
  cut: { hint: "write fields path, status" },
  less: { hint: "leave it out, or pipe the command's output: tool logs ... | less" },
};

function inPipe(word: PipeWord, first: Token, rest: readonly Token[]): Problem | undefined {
  const [next, after] = rest;
  if (word === "count") {
    if (next === undefined) return undefined;
    if (next.kind === "open") {
      const isEmpty = after?.kind === "close" || after?.text === "*";
      const call = `count(${isEmpty ? "" : (after?.text ?? "")})`;
      const span = { start: first.start, end: closeOf(rest) };
      return problems.foreignForm(span, call, isEmpty ? "count" : `stats ${call}`);
    }
    if (next.text !== "by" && next.kind === "word") return problems.missingWord(next, next.text, "by");
    return inList(rest.slice(1));
  }
  if (word === "limit" || word === "top") {
    if (next === undefined) return word === "limit" ? problems.missingRowCount(first, word) : undefined;
    // The text after the number of a limit is no part of it.
    const isNumber = /^\d+$/.test(next.text);
    const wrong = word === "limit" ? rest : /^[-+.\d]/.test(next.text) && !isNumber ? [next] : undefined;
    if (wrong !== undefined)
      return problems.wrongRowCount(
        spanOf(wrong),
        wrong
          .map(({ text }) => text)
          .join(" ")
          .replaceAll(" ,", ","),
        word,
      );
    if (next.text === "by") return problems.needlessWord(next, after?.start ?? next.end, "by", word);
    if (word === "top" && after !== undefined && /^\d+$/.test(after.text) && rest.length === 2)
      return problems.foreignForm(spanOf(rest), `${next.text} ${after.text}`, `${after.text} ${next.text}`);
    const last = rest.at(-1)!;
    if (rest.length > 2 && rest.at(-2)!.text === "by" && last.text === "count")
      return problems.needlessWord({ start: rest.at(-3)!.end, end: last.end }, last.end, "by count", word);
    const comma = rest.find(({ kind }) => kind === "comma");
    if (comma !== undefined) {
      const isCounted = /^\d+$/.test(next.text);
      const columns = rest.slice(isCounted ? 1 : 0).map(({ kind, text }) => (kind === "comma" ? ", " : text));
      const write = `count by ${columns.join("")} | sort count desc | limit ${isCounted ? next.text : 10}`;
      return problems.oneField({ start: comma.start, end: last.end }, { start: first.start, end: last.end }, write);
    }
    return inList(rest.slice(/^\d/.test(next.text) ? 1 : 0));
  }
  if (word === "sort" && next !== undefined) {
    if (next.text === "by") return problems.needlessWord(next, after?.start ?? next.end, "by", word);
    const minus = /^([-+])(.+)$/.exec(next.text);
    if (minus !== null) return problems.foreignForm(next, next.text, minus[1] === "-" ? `${minus[2]} desc` : minus[2]!);
    const direction = rest.find(({ text }) => /^(?:ascending|descending|ASC|DESC)$/.test(text));
    if (direction !== undefined)
      return problems.foreignForm(
        direction,
        direction.text,
        direction.text.toLowerCase().startsWith("a") ? "asc" : "desc",
      );
  }
  return inList(rest);
}

/** Where the parenthesis that follows is closed. */
const closeOf = (rest: readonly Token[]) => rest.find(({ kind }) => kind === "close")?.end ?? rest[0]!.end;

/** Two columns side by side. */
function inList(rest: readonly Token[]): Problem | undefined {
  for (const [index, token] of rest.entries()) {
    const before = rest[index - 1];
    const name = token.kind === "string" ? /^"([A-Za-z_]\w*)"$/.exec(token.text)?.[1] : undefined;
    if (name !== undefined) return problems.foreignForm(token, token.text, name);
    const isWord = (one: Token | undefined) =>
      one?.kind === "word" && /^[^\d-]/.test(one.text) && !/^(?:asc|desc|as|by|having|order|limit)$/.test(one.text);
    if (isWord(token) && isWord(before))
      return problems.missingComma({ start: before!.end, end: token.end }, token.text);
  }
  return undefined;
}

function inAggregates(word: PipeWord, rest: readonly Token[]): Problem[] {
  const step = word === "timeseries" ? stepIn(rest) : undefined;
  if (step !== undefined) return [step];
  const findings = rest.flatMap((_, index) => inAggregate(rest, index) ?? []);
  const by = rest.findIndex(({ text }) => text === "by");
  const groups = findings.length > 0 || by < 0 ? undefined : inList(rest.slice(by + 1));
  return groups === undefined ? findings : [groups];
}

/** The problem of the word at `index` and of what follows it. */
function inAggregate(rest: readonly Token[], index: number): Problem | undefined {
  const [before, token, next] = [rest[index - 1], rest[index]!, rest[index + 1]];
  const { kind, text, start, end } = token;
  if (before?.text === "as" && /^"[A-Za-z_]\w*"$/.test(text))
    return problems.foreignForm(token, text, text.slice(1, -1));
  if (kind !== "word") return undefined;
  // quantile(0.99, duration), percentile(duration, 99)
  const percentile = /^(?:quantile|percentile|perc|pct|percentiles)$/i.test(text)
    ? percentileAt(rest, index)
    : undefined;
  if (percentile !== undefined) return problems.foreignForm(percentile.span, text, percentile.write);
  const isCall = next?.kind === "open";
  if (before?.kind === "close" && !/^(?:by|as|group)$/.test(text)) {
    if (isCall) return problems.missingComma({ start: before.end, end }, text);
    if (next === undefined || next.kind === "comma" || next.text === "by")
      return problems.missingWord(token, text, "as");
  }
  if (isCall && text === "count" && rest[index + 2]?.text === "*")
    return problems.foreignForm({ start, end: closeOf(rest.slice(index)) }, "count(*)", "count()");
  if (isCall && next.start > end && text !== "by")
    return problems.foreignForm({ start, end: next.end }, `${text} (`, `${text}(`);
  const begins = before === undefined || before.kind === "comma" || UNIT.test(before.text);
  const own = begins && !isCall ? functionOf(text) : undefined;
  return (
    own && problems.missingParentheses(token, text, next?.text !== "as" && FUNCTIONS[own.name].argument === "needed")
  );
}

/** `timeseries every 5m`, `timeseries 5 minutes`, `timeseries span=5m` */
function stepIn(rest: readonly Token[]): Problem | undefined {
  for (const length of [4, 3, 2, 1]) {
    const tokens = rest.slice(0, length);
    const text = tokens.map((token) => token.text).join(" ");
    const step = stepOf(text.replace(/^(?:by|every|each|per|span|interval|step)(?: =)? /, ""));
    if (tokens.length === length && step !== undefined && step !== text)
      return problems.foreignForm(spanOf(tokens), text, step);
  }
  return undefined;
}

const UNIT = new RegExp(`^\\d+(?:${Object.keys(NUMBER_UNITS).join("|")})$`);

function percentileAt(tokens: readonly Token[], at: number): { span: Span; write: string } | undefined {
  const inside = tokens.slice(at + 2, at + 5);
  if (tokens[at + 1]?.kind !== "open" || tokens[at + 5]?.kind !== "close" || inside[1]?.kind !== "comma")
    return undefined;
  const [a, , b] = inside as [Token, Token, Token];
  const [number, field] = /^[\d.]+$/.test(a.text) ? [a, b] : [b, a];
  if (!/^\d*\.?\d+$/.test(number.text) || field.kind !== "word") return undefined;
  const value = Number(number.text);
  const percent = value <= 1 ? Number((value * 100).toFixed(6)) : value;
  return {
    span: { start: tokens[at]!.start, end: tokens[at + 5]!.end },
    write: `p${percent}(${field.text})`,
  };
}

/** `count by path`, `error count by path`: a stage that lacks its bar. Undefined unless `mayLackBar` (parse.ts). */
export function findMissingBar(source: string): Problem | undefined {
  const operators = source.includes("||") ? tokenize(source).filter(({ text }) => text === "||") : [];
  for (const { start, end } of operators.slice(0, MOST_TRIES)) {
    if (parsers.Pipe(source, end, source.length) === NO_MATCH) continue;
    const pipe = source.slice(end).trim();
    if (/[\s(]/.test(pipe) && !isPlausible(source, source.indexOf(pipe, end)))
      return problems.pipeAfterOr({ start, end }, pipe);
  }
  const group = GROUP_BY.exec(source);
  if (group !== null) {
    const at = { start: group.index + group[0].search(/\S/), end: group.index + group[0].length - 1 };
    const isPipe = parsers.Pipeline(`| count by ${source.slice(at.end)}`) !== NO_MATCH;
    if (isPipe && parseQuery(source.slice(0, at.start)).ok)
      return problems.foreignForm(at, source.slice(at.start, at.end), "| count by");
  }
  let tries = 0;
  for (const match of source.matchAll(PIPE_BEGIN)) {
    if (++tries > MOST_TRIES) return undefined;
    const start = match.index + match[0].length - match[1]!.length;
    // `count`, `top` and the like alone are fields; so is what reads as a term.
    if (!/[\s(]/.test(source.slice(start).trim()) || isPlausible(source, start)) continue;
    // The end of the text, or another bar, which the caller has looked for.
    const starts = pipesIn(source, tokenize(" ".repeat(start) + source.slice(start)), source.length);
    if (starts === undefined || !parseQuery(source.slice(0, start)).ok) continue;
    return withoutBars(source, starts, source.length);
  }
  return undefined;
}

// Each reads the rest of the text; no query that a person wrote has more.
const MOST_TRIES = 4;

/** `where status = 500` is told by parseQuery; `top and path` are two terms. */
function isPlausible(source: string, start: number): boolean {
  const text = source.slice(start);
  if (/^\w+\s+(?:and|or|not|in|contains|exists|AND|OR|NOT)\b/.test(text)) return true;
  return /^where\b/.test(text) && source.slice(0, start).trim() === "";
}
