import { visible } from "../../grammar/visible-text.ts";
import type { StoredVariable } from "../platform/variables.ts";
import { padEnd, shortened, widest } from "./display-width.ts";

/** The columns, with how much of each stays on a narrow terminal, and which is left out first if even that is too much. */
const COLUMNS = [
  { head: "NAME", least: 16, leftOut: undefined },
  { head: "STAGE", least: 10, leftOut: undefined },
  { head: "VALUE", least: 12, leftOut: undefined },
  { head: "CHANGED", least: 20, leftOut: 3 },
  { head: "BY", least: 10, leftOut: 1 },
  { head: "DESCRIPTION", least: 12, leftOut: 2 },
] as const;
/** Cut before the others, in this order. */
const SOFT = [5, 2, 4, 0, 1];
const GAP = "  ";

/** Variables as an aligned table. On a terminal no line is wider than that; other readers get all of every text. */
export function variablesTable(
  variables: readonly StoredVariable[],
  {
    color,
    isTerminal,
    columns: width,
  }: { readonly color: boolean; readonly isTerminal: boolean; readonly columns: number },
): string {
  const dim = (text: string) => (color ? `\u001b[2m${text}\u001b[0m` : text);
  const rows = variables.map((one) => [
    one.name,
    one.stage,
    one.isEncrypted ? "(encrypted)" : valueText(one.value ?? ""),
    `${one.changedAt.slice(0, 10)} ${one.changedAt.slice(11, 16)} UTC`,
    one.changedBy ?? "-",
    visible(one.description ?? ""),
  ]);
  const natural = COLUMNS.map(({ head }, i) => widest([head, ...rows.map((row) => row[i]!)]));
  // A column that would be empty is not shown.
  const filled = COLUMNS.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== ""));
  const fitted = isTerminal ? fit(filled, natural, width) : { columns: filled, widths: natural };
  const line = (row: readonly string[]) => {
    const cells = fitted.columns.map((i) => padEnd(shortened(row[i]!, fitted.widths[i]!), fitted.widths[i]!));
    const text = cells.join(GAP).trimEnd();
    return isTerminal ? shortened(text, width) : text;
  };
  return [dim(line(COLUMNS.map(({ head }) => head))), ...rows.map(line)].join("\n");
}

/** Blanks at the ends, and nothing at all, are seen by the quotes. */
function valueText(value: string): string {
  const text = visible(value);
  return value === "" || value.trim() !== value ? JSON.stringify(text) : text;
}

/** The columns that have room, and how wide each may be. */
function fit(filled: readonly number[], natural: readonly number[], width: number) {
  for (const rank of [0, 1, 2, 3]) {
    const columns = filled.filter((i) => (COLUMNS[i]!.leftOut ?? 4) > rank);
    const widths = [...natural];
    const excess = () => columns.reduce((sum, i) => sum + widths[i]!, GAP.length * (columns.length - 1)) - width;
    for (const i of SOFT) {
      const least = Math.min(widths[i]!, COLUMNS[i]!.least);
      if (columns.includes(i)) widths[i] = Math.max(least, widths[i]! - Math.max(0, excess()));
    }
    if (excess() <= 0 || rank === 3) return { columns, widths };
  }
  throw new Error("unreachable");
}
