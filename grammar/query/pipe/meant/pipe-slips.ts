import type { Problem } from "../../../problem.ts";
import { NO_MATCH, parsers } from "../../query-parser.generated.ts";
import * as problems from "../problems.ts";

/** A text often written in a stage; how our language writes it, or else why it has no such thing and what helps. */
type Slip = readonly [pattern: RegExp, write: string] | readonly [pattern: RegExp, message: string, hint: string];

const SLIPS: readonly Slip[] = [
  [/\s*;$/, ""],
  [/(?<=^(?:count|stats|timeseries)\s(?:.*\s)?by\s[^()]*)\s+as\s+\w+(?=\s*(?:,|$))/, ""],
  [/,(?=\s*by\s)/, ""],
  [/(?<=^top\s+\d+\s+)by\s+(?=\S+$)/, ""],
  [/(?<=^(?:stats\s+(?:\S+\s+as\s+)?)?(\w+(?:\([^()]*\))?)(?:\s*,.*)?\s+by\s.*\S)\s+(desc|asc)$/, " | sort $1 $2"],
  [/^group\s+by\b/, "count by"],
  [/(?<=^(?:count|stats|timeseries)\s(?:.*\s)?)(?:group\s+by|per|for\s+each)\b/, "by"],
  [/^count\s+(?:distinct|unique)\s+([^\s,]+)/, "stats distinct($1)"],
  [/(?<=^(?:top|limit)\s+)ten\b/, "10"],
  [/(?<=^(?:top|limit)\s+)five\b/, "5"],
  [/^count\s+by\s+(\d+[smhd])$/, "timeseries $1"],
  [/^timeseries\s+(.*?[^\s,])\s+(?:by\s+)?(\d+[smhd])(?=\s+by\s|$)/, "timeseries $2 $1"],
  [/^rate(?:\(\))?(?=\s|$)/, "stats rate()"],
  [/^(?:sum|avg|min|max|p\d[\d.]*|mean|average|median)(?=\()/, "stats $&"],
  [/^(sum|avg|min|max|p\d[\d.]*|mean|average|median)\s+([^\s(]+)(?=\s+by\s|$)/, "stats $1($2)"],
  [/(?<=^limit\s+\d+\s+)(?:offset|skip)\b.*/, "there is no offset", "leave it out"],
  [
    /(?<=^(?:stats|timeseries)\s.*)\b\w+\([\w.]+\s*(?:[<>!]=?|=|~)[^()]*\)/,
    "functions have no conditions",
    "write it before the stage: | where status >= 500 | count",
  ],
  [/(?<=^(?:stats|timeseries)\s.*\)\s*)[-+*/]/, "there is no arithmetic", "give both values: sum(size), count()"],
];

// Longer than what anyone writes by hand; bounds the time of the expressions.
const MAX_LENGTH = 300;

/** The first slip in the text of a stage from `start` on. What is written instead is always a stage. */
export function pipeSlip(source: string, start: number, end: number): Problem | undefined {
  const text = source.slice(start, end).trimEnd();
  for (const [pattern, write, hint] of text.length > MAX_LENGTH ? [] : SLIPS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const last = match.index + match[0].length;
    const at = { start: start + match.index, end: start + last };
    if (hint !== undefined) return problems.notPossible(at, write, hint);
    const mended = text.replace(pattern, write);
    if (parsers.Pipeline(`| ${mended}`) === NO_MATCH) continue;
    const written = mended.slice(match.index, mended.length - text.length + last);
    const wrongText = match[0].trim();
    const begin = at.start + match[0].indexOf(wrongText);
    const problem =
      written === ""
        ? problems.needlessWord(at, at.end, wrongText, /^\w*/.exec(text)![0])
        : problems.foreignForm(at, wrongText, written.trim(), written);
    return { ...problem, span: { start: begin, end: begin + wrongText.length } };
  }
  return undefined;
}
