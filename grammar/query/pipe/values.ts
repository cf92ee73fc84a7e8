// Values of groups and columns: JSON values with their type, so that 5 and "5" are two. Missing and null are one.
import { deepJson } from "../../deep-json.ts";

/** The value of a row in a column. Never undefined: a missing value is null. */
export type Cell = unknown;

/** A text that is the same for equal values only. */
export function keyOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `s${value}`;
    case "number":
      return `n${value === 0 ? 0 : value}`;
    case "boolean":
      return value ? "t" : "f";
    default:
      return value === undefined || value === null ? "-" : `j${jsonText(value)}`;
  }
}

/** null < false < true < numbers < texts by code point < lists and objects by their JSON text. */
export function compareCells(a: unknown, b: unknown): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === NUMBER) return (a as number) - (b as number);
  if (rankA === TEXT) return compareTexts(a as string, b as string);
  return rankA === OTHER ? compareTexts(jsonText(a), jsonText(b)) : 0;
}

const [NULL, FALSE, TRUE, NUMBER, TEXT, OTHER] = [0, 1, 2, 3, 4, 5] as const;

function rankOf(value: unknown): number {
  switch (typeof value) {
    case "number":
      return NUMBER;
    case "string":
      return TEXT;
    case "boolean":
      return value ? TRUE : FALSE;
    default:
      return value === undefined || value === null ? NULL : OTHER;
  }
}

/** By code point, as UTF-8 bytes order: UTF-16 units would put U+FF5E after U+1F600. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitA !== unitB) return placeOf(unitA) - placeOf(unitB);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs come after all other units. */
const placeOf = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** A list or an object as JSON without blanks, members in the order of their names: the same for equal values. */
export const jsonText = (value: unknown): string => deepJson(value, sorted);

/** The value with the members of objects in the order of their names: equal values are printed the same. */
export const canonicalValue = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? JSON.parse(jsonText(value)) : value;

const sorted = (object: object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => compareTexts(a, b)));
