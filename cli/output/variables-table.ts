import type { StoredVariable } from "../platform/variables.ts";
import { padEnd, shortened, visible, widest } from "./display-width.ts";

const HEAD = ["NAME", "STAGE", "VALUE", "CHANGED", "BY", "DESCRIPTION"];
/** A value or a description takes at most so much of a line. */
const MAX_CELL = 48;
const GAP = "  ";

/** Variables as an aligned table. Encrypted ones have no value; values are shown on one line each. */
export function variablesTable(
  variables: readonly StoredVariable[],
  { color, isTerminal, columns }: { readonly color: boolean; readonly isTerminal: boolean; readonly columns: number },
): string {
  const dim = (text: string) => (color ? `\u001b[2m${text}\u001b[0m` : text);
  const rows = variables.map(
    ({ name, stage, isEncrypted, value = "", changedAt, changedBy = "-", description = "" }) => [
      name,
      stage,
      isEncrypted ? "(encrypted)" : shortened(visible(value), MAX_CELL),
      `${changedAt.slice(0, 10)} ${changedAt.slice(11, 16)} UTC`,
      changedBy,
      shortened(visible(description), MAX_CELL),
    ],
  );
  // A column that would be empty is not shown.
  const shown = HEAD.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== ""));
  const widths = HEAD.map((title, i) => widest([title, ...rows.map((row) => row[i]!)]));
  const line = (row: readonly string[]) => {
    const text = shown
      .map((i) => padEnd(row[i]!, widths[i]!))
      .join(GAP)
      .trimEnd();
    return isTerminal ? shortened(text, columns) : text;
  };
  return [dim(line(HEAD)), ...rows.map(line)].join("\n");
}
