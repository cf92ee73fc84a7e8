import { visible } from "../../grammar/visible-text.ts";
import { padEnd, shortened, widest } from "./display-width.ts";

/**
 * Rows as aligned columns below their heads, in which every character is seen. On a terminal no line is wider than that: the
 * widest column is cut, so that the others are seen.
 */
export function alignedTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  { color, isTerminal, columns }: { readonly color: boolean; readonly isTerminal: boolean; readonly columns: number },
): string {
  const cells = rows.map((row) => row.map(visible));
  const all = heads.map((head, i) => widest([head, ...cells.map((row) => row[i]!)]));
  const widths = isTerminal ? fitted(all, columns) : all;
  const line = (row: readonly string[]) => {
    const text = row
      .map((cell, i) => padEnd(shortened(cell, widths[i]!), widths[i]!))
      .join("  ")
      .trimEnd();
    return isTerminal ? shortened(text, columns) : text;
  };
  const head = line(heads);
  return [color ? `\u001b[2m${head}\u001b[0m` : head, ...cells.map(line)].join("\n");
}

/** A column that is narrower says nothing. */
const MIN_COLUMN = 12;

/** The widths with the widest one less, if all are too many. */
function fitted(widths: readonly number[], columns: number): readonly number[] {
  const most = Math.max(...widths);
  const excess = widths.reduce((sum, width) => sum + width + 2, -2) - columns;
  if (excess <= 0 || most <= MIN_COLUMN) return widths;
  return widths.with(widths.indexOf(most), Math.max(MIN_COLUMN, most - excess));
}
