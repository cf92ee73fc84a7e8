import { HIDDEN } from "../../../grammar/hidden.ts";

/** A part of a text: as it is, or a character that would not be seen, by its name. */
export interface VisiblePart {
  readonly text: string;
  readonly isOdd: boolean;
}

/**
 * A text from anybody, with what would not be seen made visible: control characters, those that turn the order of a text
 * around, and those without a width. A line feed is one only where it does not break the line.
 */
export function visibleParts(text: string, { keepsLines = false } = {}): readonly VisiblePart[] {
  // Most texts are plain, and lists have thousands of them.
  if (PLAIN.test(text) || !ODD.test(text)) return [{ text, isOdd: false }];
  const parts: VisiblePart[] = [];
  for (const part of text.split(SPLIT)) {
    if (part === "") continue;
    const isOdd = ODD.test(part) && part.length <= 2;
    if (!isOdd || (keepsLines && (part === "\n" || part === "\t" || part === "\r\n"))) {
      const last = parts.at(-1);
      if (last !== undefined && !last.isOdd) parts[parts.length - 1] = { text: last.text + part, isOdd: false };
      else parts.push({ text: part, isOdd: false });
    } else parts.push({ text: nameOf(part), isOdd: true });
  }
  return parts;
}

/** The same as one text, for names and titles, which have no parts. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join("");
}

/** The text to type as the name of a thing: its name, or its id if the name has characters that nobody can type. */
export function typeable(name: string, id: string): string {
  const text = name.trim();
  return text === "" || ODD.test(text) ? id : text;
}

/** Printable ASCII. */
const PLAIN = /^[ -~]*$/;
const ODD = new RegExp(`[${HIDDEN}]`, "u");
const SPLIT = new RegExp(`(\\r\\n|${ODD.source})`, "u");

const NAMES: Readonly<Record<string, string>> = {
  "\n": "↵",
  "\r\n": "↵",
  "\t": "⇥",
  "\r": "␍",
  "\0": "␀",
  "\u001b": "␛",
};

function nameOf(character: string): string {
  const named = NAMES[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
