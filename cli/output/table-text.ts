import { printable } from "../../grammar/problem.ts";
import { type Cell, jsonText, type RowColumn, type Table } from "../../grammar/query/index.ts";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { humanDuration } from "../../grammar/units/duration.ts";

export interface TableTextOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly color: boolean;
}

/** A cell takes at most so much of the line, so that one long text does not push away the others. */
const MAX_CELL = 60;
const GAP = "  ";
const MIN_BAR = 10;
const MAX_BAR = 40;

/**
 * The rows as an aligned table for people, with units and with bars beside the first count: a line for the names of the
 * columns, one for each row, and a line end after each.
 */
export function tableText({ columns, rows, stepMs }: Table, { width, color }: TableTextOptions): string {
  const dim = (text: string) => (color && text !== "" ? `\u001b[2m${text}\u001b[0m` : text);
  const cells = rows.map((row) => row.map((cell, at) => cellText(cell, columns[at]!, stepMs)));
  const isRight = columns.map(({ type }, at) => type === "number" || rows.every((row) => typeof row[at] === "number"));
  const widths = columns.map(({ name }, at) =>
    Math.min(
      MAX_CELL,
      cells.reduce((most, row) => Math.max(most, row[at]!.length), name.length),
    ),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const short = shortened(text, widths[at]!);
        return isRight[at] ? short.padStart(widths[at]!) : short.padEnd(widths[at]!);
      })
      .join(GAP);
  const bars = barsOf(rows, columns, width - widths.reduce((sum, one) => sum + one + GAP.length, 0));
  const lines = [dim(line(columns.map(({ name }) => printable(name))).trimEnd())];
  for (const [at, row] of cells.entries()) {
    const bar = bars?.[at] ?? "";
    const text = line(row);
    lines.push(bar === "" ? text.trimEnd() : `${text}${GAP}${dim(bar)}`);
  }
  return lines.map((text) => `${text}\n`).join("");
}

/** The rows as JSON lines, an object each. */
export function tableJson({ columns, rows }: Table): string {
  const names = columns.map(({ name }, at) => `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  const line = (row: readonly Cell[]) => {
    let text = "";
    for (let at = 0; at < names.length; at++) {
      const cell = row[at] ?? null;
      text += names[at]! + (Number.isFinite(cell) ? String(cell) : JSON.stringify(cell));
    }
    return `${text}}\n`;
  };
  return rows.map(line).join("");
}

/** Text of at most so many columns. */
export const shortened = (text: string, width: number) =>
  text.length > width ? `${text.slice(0, Math.max(0, width - 3))}...`.slice(0, width) : text;

export function cellText(cell: Cell, { type, unit }: RowColumn, stepMs: number | undefined): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "number") {
    if (unit === "ms" && cell >= 0) return humanDuration(cell);
    if (unit === "bytes" && cell >= 0) return humanBytes(cell);
    return `${rounded(cell)}${unit === "per second" ? "/s" : ""}`;
  }
  if (type === "time" && stepMs !== undefined && typeof cell === "string") return timeText(cell, stepMs);
  return oneLine(typeof cell === "string" ? cell : jsonText(cell));
}

/** Whole numbers in full, others with six digits. */
const rounded = (value: number) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));

const DAY_MS = 24 * 60 * 60 * 1000;

/** As much of a time as steps of that length need, in UTC as the steps are. */
export function timeText(time: string, stepMs: number): string {
  const [day = "", clock = ""] = time.split("T");
  if (stepMs % DAY_MS === 0) return day;
  return `${day} ${stepMs % 60_000 === 0 ? clock.slice(0, 5) : stepMs % 1000 === 0 ? clock.slice(0, 8) : clock.slice(0, 12)}`;
}

const oneLine = (text: string) => (/[^ -~]/.test(text) ? printable(text).replaceAll("\n", "\u240a") : text);

const EIGHTHS = ["", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"];

/** Bars for the first column of numbers that are no groups, if there is room, more than one row, and nothing below zero. */
function barsOf(rows: Table["rows"], columns: readonly RowColumn[], room: number): readonly string[] | undefined {
  const at = columns.findIndex(({ type, isGroup }) => type === "number" && !isGroup);
  if (at < 0 || rows.length < 2 || room < MIN_BAR) return undefined;
  const values = rows.map((row) => row[at]);
  if (!values.every((value) => value === null || (typeof value === "number" && value >= 0))) return undefined;
  const greatest = values.reduce<number>(
    (most, value) => (typeof value === "number" ? Math.max(most, value) : most),
    0,
  );
  if (!(greatest > 0)) return undefined;
  const most = Math.min(room, MAX_BAR);
  return values.map((value) => {
    const eighths = typeof value === "number" ? Math.round((value / greatest) * most * 8) : 0;
    return "\u2588".repeat(eighths >> 3) + EIGHTHS[eighths & 7];
  });
}
