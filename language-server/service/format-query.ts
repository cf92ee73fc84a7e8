import { commentsIn, parsePipeline, printPipeline } from "../../grammar/query/index.ts";

/** Columns; a query with stages that is longer has each of them on a line. */
const LINE = 80;

/**
 * The text of a query file in its usual form, lines ended by `\n`, without one at the end: undefined if it is no query. What
 * was written over several lines stays so, with its comments and blank lines: they are how people group long queries.
 */
export function formattedQuery(text: string, query: string): string | undefined {
  const parsed = parsePipeline(query);
  if (!parsed.ok) return undefined;
  const canonical = printPipeline(parsed.value);
  const lines = text.split(/\r\n|\r|\n/);
  const isOnOneLine = query.trim().search(/[\r\n]/) < 0;
  if (isOnOneLine && commentsIn(text).length === 0) {
    return canonical.length <= LINE || parsed.value.pipes.length < 2 ? canonical : printPipeline(parsed.value, "\n");
  }
  const printed = inLines(lines, (line) => formattedLine(line));
  // Should a line alone mean something else than within the query, only blanks change.
  const again = parsePipeline(uncommented(printed));
  if (again.ok && printPipeline(again.value) === canonical) return printed;
  return inLines(lines, (line) => line.trimEnd());
}

const inLines = (lines: readonly string[], format: (line: string) => string) =>
  lines
    .map(format)
    .join("\n")
    .replace(/^\n+|\n+$/g, "");

function uncommented(text: string): string {
  let plain = text;
  for (const { start, end } of commentsIn(text).reverse()) plain = plain.slice(0, start) + plain.slice(end);
  return plain;
}

/** A line in its usual form, with its indentation, its first word and its comment. */
function formattedLine(line: string): string {
  const comment = commentsIn(line)[0];
  const code = comment === undefined ? line : line.slice(0, comment.start);
  const note = comment === undefined ? "" : line.slice(comment.start).trimEnd();
  const [, indent = "", joint = "", rest = ""] = /^([ \t]*)((?:(?:and|or|AND|OR)\b|&&|\|\||\|)[ \t]*)?(.*)$/.exec(
    code,
  )!;
  const end = note === "" ? "" : ` ${note}`;
  if (code.trim() === "") return note === "" ? "" : indent + note;
  if (rest.trim() === "") return code.trimEnd() + end;
  const word = WORDS[joint.trim().toLowerCase()] ?? "";
  const parsed = parsePipeline(word === "| " ? word + rest : rest);
  const printed = parsed.ok ? printPipeline(parsed.value).replace(/^\| /, "") : rest.trim();
  return indent + word + printed + end;
}

/** The words that a line may begin with, as they are usually written. */
const WORDS: Readonly<Record<string, string>> = {
  "&&": "and ",
  "|": "| ",
  "||": "or ",
  and: "and ",
  or: "or ",
};
