// Which part of a stage is wrong, if nothing more precise can be said of it.
import type { Problem, Span } from "../../problem.ts";
import { PIPE_USES } from "../pipe-words.ts";
import { NO_MATCH, parsers } from "../query-parser.generated.ts";
import type { Token } from "../tokens.ts";
import { functionOf } from "./functions.ts";
import * as problems from "./problems.ts";

/** Each is tried with each ending below; a stage that is right so far is told apart by its form as a whole. */
const MOST_PARTS = 24;

/** Things that may follow a part that is right, each with a text that does. */
const WANTED = [
  ["a field", " x"],
  ["a function", " count()"],
  ["a field", " x)"],
  ["a parenthesis", ")"],
  ["its parentheses", "(x)"],
  ["its parentheses", "()"],
] as const;

/** The first part of a stage that cannot be there, or what is missing at its end. `tokens`: those of the stage. */
export function wrongPartOf(source: string, tokens: readonly Token[], word: keyof typeof PIPE_USES): Problem {
  const { start } = tokens[0]!;
  const isRight = (end: number, rest: string) =>
    parsers.Pipe(source.slice(0, end) + rest, start, end + rest.length) !== NO_MATCH;
  const wantedAfter = ({ end }: Token) => WANTED.find(([, rest]) => isRight(end, rest))?.[0];
  const usual = `write ${word} as in: ${PIPE_USES[word]}`;
  let wanted: string | undefined = wantedAfter(tokens[0]!);
  for (let at = 1; at < Math.min(tokens.length, MOST_PARTS); at++) {
    const [before, token] = [tokens[at - 1]!, tokens[at]!];
    const next = wantedAfter(token);
    if (next !== undefined || isRight(token.end, "")) {
      wanted = next;
      continue;
    }
    const nested = nestedAt(source, tokens, at);
    if (nested !== undefined) return nested;
    if (before.text === "as") wanted = "a name";
    const isNaming = token.text === "as" && word !== "stats" && word !== "timeseries";
    const hint = isNaming
      ? "columns keep their names here; functions are named in stats: stats avg(duration) as mean"
      : wanted === "a parenthesis"
        ? "a function takes one field: there are no conditions and no arithmetic"
        : wanted === undefined
          ? usual
          : `write ${wanted} there, as in: ${PIPE_USES[word]}`;
    return problems.wrongPart(token, token.text, before.text, hint);
  }
  const last = tokens.at(-1)!;
  const isName = last.text === "as" && tokens.length > 1;
  if (wanted !== undefined && tokens.length <= MOST_PARTS)
    return problems.unfinishedPipe(last, last.text, isName ? "a name" : wanted, word);
  return problems.wrongPipe({ start, end: last.end }, word);
}

/** A function inside of another: the parenthesis that opens it is the first that cannot be there. */
function nestedAt(source: string, tokens: readonly Token[], at: number): Problem | undefined {
  const [outer, open, inner, innerOpen] = tokens.slice(Math.max(0, at - 3), at + 1);
  if (innerOpen?.kind !== "open" || open?.kind !== "open") return undefined;
  if (outer === undefined || inner === undefined || functionOf(outer.text) === undefined) return undefined;
  const close = tokens.slice(at).find(({ kind }) => kind === "close");
  const span: Span = { start: inner.start, end: close?.end ?? innerOpen.end };
  return problems.nestedCall(span, source.slice(span.start, span.end), outer.text);
}
