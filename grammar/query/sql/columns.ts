/** The type of every value at a path, in all events of a table: texts, numbers or booleans and nothing else. */
export type ColumnType = "string" | "number" | "boolean";

/**
 * The columns of a table of events. Fixed are `t` (nanoseconds since 1970), `severity` (0 to 7), `message` (never NULL) and
 * `fields` (the fields as JSON text, valid UTF-8); `id` is an expression that is never NULL. A path with a column of its
 * own holds only values of that column's type: the column is NULL where the path is missing.
 */
export interface EventColumns {
  readonly id: string;
  /**
   * Undefined if the path has to be read from `fields`; "absent" if no event of the table has anything at the path;
   * "unread" if SQL must not read `fields`.
   */
  typeOf(path: readonly (string | number)[]): ColumnType | "absent" | "unread" | undefined;
  /** The least and the greatest number of a column, if they are known: SQL need not look for numbers outside of them. */
  numbersOf?(path: readonly (string | number)[]): { readonly min: number; readonly max: number } | undefined;
  /** Every text of a column, where they are known. */
  textsOf?(path: readonly (string | number)[]): ReadonlySet<string> | undefined;
}

/** The quoted name of the column of a path. Only paths that `canBeColumn` have one. */
export function sqlColumnOf(path: readonly (string | number)[], type: ColumnType): string {
  return `"${type}:${path.join(".")}"`;
}

/** Keys of plain characters: their names need no escapes and joined by dots they say one path only. */
export function canBeColumn(path: readonly (string | number)[]): boolean {
  return path.every((key) => typeof key === "string" && /^[A-Za-z0-9_@$-]{1,64}$/.test(key));
}

/**
 * The path as DuckDB's JSON functions read it, for a bound value. Undefined for keys that they cannot name: a star is a
 * wildcard even in quotes, and an empty key is refused.
 */
export function jsonPath(path: readonly (string | number)[]): string | undefined {
  let text = "$";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (key === "" || /["\\*\u0000-\u001f\u007f]|[\ud800-\udfff]/.test(key)) return undefined;
    else text += `."${key}"`;
  }
  return path.length === 0 ? undefined : text;
}
