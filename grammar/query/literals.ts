import { HIDDEN } from "../hidden.ts";
import { BYTE_UNITS } from "../units/bytes.ts";
import { DURATION_UNITS } from "../units/duration.ts";
import { scaleDecimal } from "../units/scale.ts";
import type { NumberUnit } from "./ast.ts";

/**
 * The literal text between the wildcards of a quoted string. `raw` has no quotes around it. With `stars` false a star is
 * a character as any other. An escape that the language lacks stands for its character; check.ts reports it.
 */
export function decodeString(raw: string, stars: boolean): string[] {
  const chunks: string[] = [];
  let chunk = "";
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at]!;
    if (char === "*" && stars) {
      chunks.push(chunk);
      chunk = "";
    } else if (char !== "\\") {
      chunk += char;
    } else {
      const { text, length } = readEscape(raw, at);
      chunk += text;
      at += length - 1;
    }
  }
  chunks.push(chunk);
  return chunks;
}

/** The escape at a backslash: what it stands for, how long it is, and whether the language has it. */
export function readEscape(raw: string, at: number): { text: string; length: number; isKnown: boolean } {
  const char = String.fromCodePoint(raw.codePointAt(at + 1) ?? 0x5c);
  if (char === '"' || char === "\\" || char === "*") return { text: char, length: 2, isKnown: true };
  if (char === "n") return { text: "\n", length: 2, isKnown: true };
  if (char === "t") return { text: "\t", length: 2, isKnown: true };
  if (char === "u") {
    const hex = /^[0-9a-fA-F]{4}/.exec(raw.slice(at + 2, at + 6))?.[0];
    if (hex !== undefined) return { text: String.fromCharCode(Number.parseInt(hex, 16)), length: 6, isKnown: true };
  }
  return { text: char, length: 1 + char.length, isKnown: false };
}

/** Text between quotes that `decodeString` reads back as these chunks. */
export function encodeString(chunks: readonly string[], stars: boolean): string {
  return chunks.map((chunk) => chunk.replace(stars ? ESCAPED : ESCAPED_BUT_STARS, escapeOf)).join("*");
}

/** The value of a number literal in bytes, in milliseconds or without a unit. Infinite if it exceeds every JSON number. */
export function readNumber(text: string): { value: number; unit: NumberUnit | undefined } {
  const unit = /[a-z]+$/.exec(text)?.[0] as NumberUnit | undefined;
  if (unit === undefined) return { value: Number(text), unit };
  return { value: scaleDecimal(text.slice(0, -unit.length), NUMBER_UNITS[unit]), unit };
}

/** Bytes or milliseconds of each unit. */
export const NUMBER_UNITS: Readonly<Record<NumberUnit, number>> = {
  ...BYTE_UNITS,
  ms: DURATION_UNITS.ms,
  s: DURATION_UNITS.s,
  m: DURATION_UNITS.m,
  h: DURATION_UNITS.h,
  d: DURATION_UNITS.d,
};

export const isTimeUnit = (unit: NumberUnit): boolean => Object.hasOwn(DURATION_UNITS, unit);

// Line ends would end the string; other control characters, byte order marks, directional marks and halves of surrogate
// pairs are legal but cannot be seen or do not survive as UTF-8.
const INVISIBLE = `${HIDDEN}\\p{Cf}\\p{Cs}\\u00a0`;
const ESCAPED = new RegExp(`["\\\\*${INVISIBLE}]`, "gu");
const ESCAPED_BUT_STARS = new RegExp(`["\\\\${INVISIBLE}]`, "gu");

/** How a text writes a character that it could not have as it is. */
export function escapeOf(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  if (char === '"' || char === "\\" || char === "*") return `\\${char}`;
  return [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
}
