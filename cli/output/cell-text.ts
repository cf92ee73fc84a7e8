import { type Cell, jsonText, type RowColumn, type Table } from "../../grammar/query/index.ts";
import { BYTE_UNITS, humanBytes } from "../../grammar/units/bytes.ts";
import { DURATION_UNITS, humanDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";

/** More of a text than any cell shows, so that a long one is not measured to its end. */
const MOST_TEXT = 300;

/**
 * The cells of a column as texts that differ where the cells do: a text that looks like a value of another type in the same
 * column, or like no text at all, is quoted.
 */
export function columnTexts({ columns, stepMs }: Table, rows: Table["rows"], at: number): readonly string[] {
  const column = columns[at]!;
  const texts = rows.map((row) => cellText(row[at] ?? null, column, stepMs));
  const others = new Set(texts.filter((_, row) => typeof rows[row]![at] !== "string"));
  return texts.map((text, row) => {
    const cell = rows[row]![at];
    return typeof cell === "string" && (/^\s*$|^-$/.test(cell) || others.has(text)) ? `"${text}"` : text;
  });
}

export function cellText(cell: Cell, column: RowColumn, stepMs: number | undefined): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "number") return isComputed(column) ? computedText(cell, column) : exactText(cell, column);
  if (column.type === "time" && stepMs !== undefined && typeof cell === "string") return stepTimeText(cell, stepMs);
  const text = typeof cell === "string" ? cell : jsonText(cell);
  return visible(text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\u2026` : text);
}

/**
 * Whether a stage computed the numbers of a column. All other numbers are of the log, and two of them that differ must
 * not look the same.
 */
export const isComputed = ({ type, isGroup }: RowColumn) => type === "number" && !isGroup;

function computedText(value: number, { unit }: RowColumn): string {
  if (unit === "ms") return humanDuration(value);
  if (unit === "bytes") return humanBytes(value);
  return `${rounded(value)}${unit === "per second" ? "/s" : ""}`;
}

/**
 * At most three decimals, or four digits of what is below one. What is rounded to a whole number keeps its zeros, so that
 * it does not look exact.
 */
function rounded(value: number): string {
  if (Number.isInteger(value) || !Number.isFinite(value)) return String(value);
  const text = Math.abs(value) >= 1 ? value.toFixed(3) : value.toPrecision(4);
  return Number.isInteger(Number(text)) ? text : String(Number(text));
}

/** A number in its unit if nothing is lost by it, otherwise in the smallest unit. */
function exactText(value: number, { unit }: RowColumn): string {
  if (unit === "ms") return inUnit(value, humanDuration(value), DURATION_UNITS, "ms");
  if (unit === "bytes") return inUnit(value, humanBytes(value), BYTE_UNITS, " B");
  return `${value}${unit === "per second" ? "/s" : ""}`;
}

function inUnit(value: number, human: string, units: Readonly<Record<string, number>>, smallest: string): string {
  let total = 0;
  for (const [, count, unit = ""] of human.matchAll(/(\d[\d.]*(?:e\+\d+)?) ?([a-zA-Z]+)/g))
    total += Number(count) * units[unit.toLowerCase()]!;
  return total === Math.abs(value) ? human : `${value}${smallest}`;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** As much of a time as steps of that length need, in UTC as the steps are. Another time, of an entry, is shown in full. */
export function stepTimeText(time: string, stepMs: number): string {
  const [, day, clock] = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}\.\d{3})Z$/.exec(time) ?? [];
  if (day === undefined || clock === undefined) return visible(time);
  if (stepMs % DAY_MS === 0 && clock === "00:00:00.000") return day;
  const length = stepMs % 60_000 === 0 ? 5 : stepMs % 1000 === 0 ? 8 : 12;
  return /^[:.0]*$/.test(clock.slice(length)) ? `${day} ${clock.slice(0, length)}` : time;
}
