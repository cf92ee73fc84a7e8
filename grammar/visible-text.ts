// How texts of others are printed on a terminal: names of files and of people, values, answers.
import { printable } from "./problem.ts";

/**
 * A text as one line in which everything is seen: control characters as their pictures, and what has no width or reverses
 * the reading order as a replacement character, unless a script or an emoji needs it where it is.
 */
export function visible(text: string): string {
  if (!/[^ -~]/.test(text)) return text;
  const line = printable(text).replace(/[\t\n]/g, (char) => (char === "\t" ? "\u2409" : "\u240a"));
  return isSimple(line)
    ? line
    : line.replace(NEEDED_OR_HIDDEN, (match, hidden) => (hidden === undefined ? match : "\ufffd"));
}

/** Sequences of emoji, joiners and selectors of scripts; or, captured, what else is not seen. */
const NEEDED_OR_HIDDEN = new RegExp(
  [
    "\\u{1f3f4}[\\u{e0061}-\\u{e007a}]{1,6}\\u{e007f}",
    "\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?(?:\\u200d\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?)*",
    "(?<=[\\p{M}\\p{Script=Arabic}])[\\u200c\\u200d](?=\\p{L})",
    "(?<=\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]",
    "(?<=[^\\ufe00-\\ufe0f])[\\ufe00-\\ufe0f]",
    "([\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb\\p{Cs}])",
  ].join("|"),
  "gu",
);

/** Texts of Latin letters, which nearly all are, without the cost of Unicode classes. */
const isSimple = (text: string) => !/[^\u0000-\u00ac\u00ae-\u02ff\u2026\u2400-\u2426\ufffd]/.test(text);
