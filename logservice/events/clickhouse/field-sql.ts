import { hasBytes, sqlLiteral } from "./literal.ts";

/** A value below `fields` as expressions, all of which read the JSON once. */
export interface FieldSql {
  /** The value as JSON: empty if it is missing. */
  readonly raw: string;
  /** The value if it is a number, else NULL: texts are in quotation marks and lists in brackets, and neither reads as one. */
  readonly number: string;
  readonly isText: string;
  /** The decoded text, where `isText`. */
  readonly text: string;
  readonly isList: string;
}

/** Undefined for paths that ClickHouse's functions cannot name: an index would also count the members of an object. */
export function fieldSql(path: readonly (string | number)[]): FieldSql | undefined {
  if (!path.every((key) => typeof key === "string" && hasBytes(key))) return undefined;
  const raw = `JSONExtractRaw(fields, ${path.map(sqlLiteral).join(", ")})`;
  return {
    raw,
    number: `toFloat64OrNull(${raw})`,
    isText: `startsWith(${raw}, '"')`,
    text: `JSONExtractString(${raw})`,
    isList: `startsWith(${raw}, '[')`,
  };
}
