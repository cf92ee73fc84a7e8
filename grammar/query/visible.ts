import { HIDDEN } from "../hidden.ts";
import { escapeOf } from "./literals.ts";
import { printQuery } from "./print.ts";
import { conditionEnd, readPipeline } from "./read.ts";

/**
 * The query without characters that nobody sees: in texts, regular expressions and names they become escapes that mean the
 * same, elsewhere, where they mean nothing, they go. Blanks and tabs stay, and a line ends with a line feed. For boxes that
 * show a query from anywhere: one that turns its order around would look like another. Pure, and for every text; the same
 * again gives the same.
 */
export function visibleQuery(text: string): string {
  const source = text.replace(/\r\n?/g, "\n");
  if (!ODD.test(source)) return source;
  const escaped = withEscapes(source);
  return ODD.test(escaped) ? quoted(escaped).replace(EVERY_ODD, "") : escaped;
}

/** Names and words have letters that are blank: they are written in quotes. */
function quoted(source: string): string {
  const read = BLANK_LETTER.test(source) ? readPipeline(source) : undefined;
  if (read?.query.expr === undefined) return source;
  return `${printQuery(read.query)}${read.stages.length > 0 ? " " : ""}${source.slice(conditionEnd(read))}`;
}

/** What is in quotes or in a regular expression has no hidden characters; the rest is as it was. */
function withEscapes(source: string): string {
  let written = "";
  let inside: "" | "text" | "regex" | "class" = "";
  for (let at = 0; at < source.length; at++) {
    const char = String.fromCodePoint(source.codePointAt(at)!);
    at += char.length - 1;
    if (char === "\n") inside = "";
    if (ODD.test(char)) {
      if (inside === "") written += char;
      else written += inside === "text" ? escapeOf(char) : `\\x{${char.codePointAt(0)!.toString(16)}}`;
    } else if (char === "\\" && inside !== "") {
      const next = source.codePointAt(at + 1);
      const escaped = next === undefined ? "" : String.fromCodePoint(next);
      // A backslash before a hidden one escapes nothing: that becomes an escape itself.
      if (ODD.test(escaped) || escaped === "") continue;
      if (escaped === "\n") inside = "";
      written += char + escaped;
      at += escaped.length;
    } else {
      written += char;
      inside = nextState(inside, char, written);
    }
  }
  return written;
}

function nextState(inside: "" | "text" | "regex" | "class", char: string, written: string): typeof inside {
  switch (inside) {
    case "":
      if (char === '"') return "text";
      // Only there a regular expression begins; elsewhere a path does.
      return char === "/" && /~[ \t\n]*\/$/.test(written.slice(-64)) ? "regex" : "";
    case "text":
      return char === '"' ? "" : inside;
    case "regex":
      return char === "/" ? "" : char === "[" ? "class" : inside;
    case "class":
      return char === "]" && !/\[\^?\]$/.test(written) ? "regex" : inside;
  }
}

/** Hidden, and no blank that a query may have. */
const ODD = new RegExp(`(?![\\t\\n])[${HIDDEN}]`, "u");
const EVERY_ODD = new RegExp(ODD.source, "gu");
const BLANK_LETTER = new RegExp(`(?=[\\p{L}\\p{M}])[${HIDDEN}]`, "u");
