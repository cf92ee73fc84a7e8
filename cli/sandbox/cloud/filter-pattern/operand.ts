// The right side of a condition: a number, a text with wildcards at its ends, or a regular expression.
import type { PatternReader } from "./reader.ts";
import { parseRegex } from "./regex.ts";

export type PatternOperand =
  | { readonly kind: "number"; readonly value: number; readonly text: string }
  | { readonly kind: "text"; matches(text: string): boolean }
  | { readonly kind: "regex"; readonly regex: RegExp };

/** "An integer or a decimal with an optional + or - sign, or a number in scientific notation." */
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

export function parseOperand(reader: PatternReader, bare: RegExp): PatternOperand {
  if (reader.text[reader.at] === "%") return { kind: "regex", regex: parseRegex(reader) };
  const quoted = reader.quoted();
  if (quoted !== undefined) return { kind: "text", matches: textMatcher(quoted) };
  const text = reader.expect(bare, "a value");
  if (text === "null") throw reader.error("a value other than null (IS NULL)");
  if (NUMBER.test(text)) return { kind: "number", value: Number(text), text };
  return { kind: "text", matches: textMatcher(text) };
}

/** "*Event" ends in it, "Event*" begins with it, "*Event*" contains it; "Ev*ent" is the text itself. */
function textMatcher(text: string): (value: string) => boolean {
  const begins = text.startsWith("*");
  const ends = text.endsWith("*") && text !== "*";
  const part = text.slice(begins ? 1 : 0, ends ? -1 : undefined);
  if (begins && ends) return (value) => value.includes(part);
  if (begins) return (value) => value.endsWith(part);
  if (ends) return (value) => value.startsWith(part);
  return (value) => value === part;
}

export const COMPARISON = /!=|<=|>=|=|<|>/y;

/** The comparison of two numbers by an ordering; undefined for = and !=. */
export function ordering(operator: string): ((left: number, right: number) => boolean) | undefined {
  switch (operator) {
    case "<":
      return (left, right) => left < right;
    case ">":
      return (left, right) => left > right;
    case "<=":
      return (left, right) => left <= right;
    case ">=":
      return (left, right) => left >= right;
    default:
      return undefined;
  }
}
