import { visible } from "../../grammar/visible-text.ts";
import { padEnd, shortened, widest } from "./display-width.ts";

/** Rows as aligned columns below their heads, in which every character is seen. On a terminal no line is wider than that. */
export function alignedTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  { color, isTerminal, columns }: { readonly color: boolean; readonly isTerminal: boolean; readonly columns: number },
): string {
  const cells = rows.map((row) => row.map(visible));
  const widths = heads.map((head, i) => widest([head, ...cells.map((row) => row[i]!)]));
  const line = (row: readonly string[]) => {
    const text = row
      .map((cell, i) => padEnd(cell, widths[i]!))
      .join("  ")
      .trimEnd();
    return isTerminal ? shortened(text, columns) : text;
  };
  const head = line(heads);
  return [color ? `\u001b[2m${head}\u001b[0m` : head, ...cells.map(line)].join("\n");
}
