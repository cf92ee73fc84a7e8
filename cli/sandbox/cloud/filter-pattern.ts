// Filter patterns of CloudWatch Logs by their documentation ("Filter pattern syntax for metric filters, subscription
// filters, filter log events, and Live Tail"): what FilterLogEvents selects. What the page leaves open is decided for
// the reading that matches less, so that a match can be relied on.
import { parseFieldsPattern } from "./filter-pattern/fields.ts";
import { parseJsonPattern } from "./filter-pattern/json.ts";
import { type Matcher, PatternReader, PatternSyntaxError } from "./filter-pattern/reader.ts";
import { parseRegex } from "./filter-pattern/regex.ts";

/** "filterPattern: Length Constraints: Maximum length of 1024." */
const MAX_CHARACTERS = 1024;

export type FilterPattern =
  | { readonly ok: true; matches(message: string): boolean }
  /** The one text that the service would say in its InvalidParameterException. */
  | { readonly ok: false; readonly problems: readonly [string] };

export function parseFilterPattern(text: string): FilterPattern {
  try {
    return { ok: true, matches: parse(text) };
  } catch (error) {
    if (error instanceof PatternSyntaxError) return { ok: false, problems: [error.message] };
    throw error;
  }
}

function parse(text: string): Matcher {
  if ([...text].length > MAX_CHARACTERS) {
    throw new PatternSyntaxError(`filterPattern must have length less than or equal to ${MAX_CHARACTERS}`);
  }
  const pattern = text.trim();
  if (pattern.startsWith("{")) return parseJsonPattern(pattern);
  if (pattern.startsWith("[")) return parseFieldsPattern(pattern);
  if (pattern.startsWith("%")) {
    const reader = new PatternReader(pattern);
    const regex = parseRegex(reader);
    reader.end();
    return (message) => regex.test(message);
  }
  return parseTerms(pattern);
}

type Sign = "" | "?" | "-";

/** All plain terms and none of the excluded; the optional ones count only if there is nothing else. */
function parseTerms(pattern: string): Matcher {
  const reader = new PatternReader(pattern);
  const terms: Record<Sign, string[]> = { "": [], "?": [], "-": [] };
  reader.space();
  while (!reader.atEnd) {
    const sign = (reader.take(/[?-]/y) ?? "") as Sign;
    terms[sign].push(reader.quoted() ?? reader.expect(/\w+/y, "a term"));
    if (reader.take(/\s+/y) === undefined && !reader.atEnd) throw reader.error("a space");
  }
  const { "": all, "?": any, "-": none } = terms;
  if (all.length + none.length === 0) return (message) => any.length === 0 || any.some((one) => message.includes(one));
  return (message) => all.every((one) => message.includes(one)) && !none.some((one) => message.includes(one));
}
