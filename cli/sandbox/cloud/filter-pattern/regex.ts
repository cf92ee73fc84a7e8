// %regular expressions% of filter patterns: the subset that the page lists.
import { type PatternReader, PatternSyntaxError } from "./reader.ts";

/** "There is a limit of 2 regex for each filter pattern when creating a delimited or JSON filter pattern." */
export const MAX_REGEXES = 2;

/** Alphanumeric, the supported symbols and operators; a space is in the page's own example. */
const ALLOWED = /^[A-Za-z0-9 :_#=@/;,\-^$?[\]{}|\\*+.]+$/;

/** \d \s \w with their opposites, \xhh, and what is not alphanumeric. */
const ESCAPE = /\\(?:[dDsSwW]|x[0-9A-Fa-f]{2}|[^A-Za-z0-9])/g;

/** Reads from one % to the next. */
export function parseRegex(reader: PatternReader): RegExp {
  const source = reader.expect(/%[^%]+%/y, "%a regular expression%").slice(1, -1);
  if (!ALLOWED.test(source)) throw new PatternSyntaxError(`Invalid character(s) in regular expression ${source}`);
  if (source.replaceAll(ESCAPE, "").includes("\\")) {
    throw new PatternSyntaxError(`Invalid escape in regular expression ${source}`);
  }
  try {
    // "." is any character, and {,n} leaves its lower bound out.
    return new RegExp(withLowerBounds(source), "s");
  } catch {
    throw new PatternSyntaxError(`Invalid regular expression ${source}`);
  }
}

function withLowerBounds(source: string): string {
  return source.replaceAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\{,(?=\d+\})/g, (part) =>
    part === "{," ? "{0," : part,
  );
}
