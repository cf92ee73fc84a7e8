import { HIDDEN } from "../hidden.ts";
import { escapeOf } from "./literals.ts";

/**
 * The query without characters that nobody sees: in texts and regular expressions they become escapes that mean the same,
 * elsewhere, where they mean nothing, they go. Blanks and tabs stay, and a line ends with a line feed. For boxes that show a query from anywhere:
 * one that turns its order around would look like another. Pure, linear, and for every text; the same again gives the same.
 */
export function visibleQuery(text: string): string {
  const source = text.replace(/\r\n?/g, "\n");
  if (!ODD.test(source)) return source;
  let written = "";
  let inside: "" | "text" | "regex" | "class" = "";
  for (let at = 0; at < source.length; at++) {
    const char = String.fromCodePoint(source.codePointAt(at)!);
    at += char.length - 1;
    if (char === "\n") inside = "";
    if (ODD.test(char)) {
      if (inside !== "") written += inside === "text" ? escapeOf(char) : `\\x{${char.codePointAt(0)!.toString(16)}}`;
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
      return char === "/" && /~[ \t\n]*\/$/.test(written) ? "regex" : "";
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
