import { deepJson } from "../../grammar/deep-json.ts";
import type { Cell, Table } from "../../grammar/query/index.ts";
import { visible } from "../../grammar/visible-text.ts";
import { columnTexts, isComputed } from "./cell-text.ts";
import { displayWidth, padEnd, padStart, shortened, widest } from "./display-width.ts";

export interface TableTextOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly color: boolean;
  /** Default true. Other readers than terminals get all columns, however wide. */
  readonly isTerminal?: boolean;
}

/** A cell takes at most so much of the line, so that one long text does not push away the others. */
const MAX_CELL = 60;
/** A column of texts is made so narrow before others are left out. */
const MIN_CELL = 8;
const GAP = "  ";
const MIN_BAR = 10;
const MAX_BAR = 40;

/**
 * The rows as an aligned table for people, with units and with bars of the first computed number: a line for the names of
 * the columns, one for each row, and a line end after each. No line is wider than the terminal: long texts are cut, then
 * the last columns are left out and counted below.
 */
export function tableText(table: Table, { width, color, isTerminal = true }: TableTextOptions): string {
  const dim = (text: string) => (color && text !== "" ? `\u001b[2m${text}\u001b[0m` : text);
  const all = table.columns.map((_, at) => shapeOf(table, at));
  const shapes = isTerminal ? fitted(all, width) : all;
  const left = all.length - shapes.length;
  const bars = left > 0 ? undefined : barsOf(table, width - totalWidth(shapes) - GAP.length);
  const lines = [dim(lineOf(shapes.map(inColumn("name")), bars?.name ?? ""))];
  for (const row of table.rows.keys()) {
    const bar = bars?.texts[row] ?? "";
    lines.push(lineOf(shapes.map(inColumn(row)), dim(bar)));
  }
  if (left > 0)
    lines.push(dim(shortened(`${left} more ${left === 1 ? "column" : "columns"}; --format json shows all`, width)));
  return lines.map((text) => `${text}\n`).join("");
}

const lineOf = (cells: readonly string[], bar: string) => [...cells, bar].join(GAP).trimEnd();

/** The rows as JSON lines, an object each. */
export function tableJson({ columns, rows }: Table): string {
  const names = columns.map(({ name }, at) => `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  const line = (row: readonly Cell[]) => {
    let text = "";
    for (let at = 0; at < names.length; at++) {
      const cell = row[at] ?? null;
      text += names[at]! + (Number.isFinite(cell) ? String(cell) : deepJson(cell));
    }
    return `${text}}\n`;
  };
  return rows.map(line).join("");
}

/** As far as the fraction and the zone of a time, of which a part would say nothing. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]{5,18}(?:Z|[+-][\d:]{5})?)?$/;

/** A column as it is printed. */
interface Shape {
  readonly name: string;
  readonly texts: readonly string[];
  readonly isRight: boolean;
  readonly width: number;
  /** How narrow it may become: numbers and times are never cut. */
  readonly least: number;
}

function shapeOf(table: Table, at: number): Shape {
  const { columns, rows } = table;
  const column = columns[at]!;
  const texts = columnTexts(table, rows, at);
  const name = nameOf(table, at);
  const isUncut = (text: string, row: number) =>
    column.type === "time" ? TIME.test(text) : typeof rows[row]![at] === "number";
  const uncut = widest(texts.filter(isUncut));
  const width = Math.max(uncut, Math.min(MAX_CELL, Math.max(displayWidth(name), widest(texts))));
  const isRight = column.type === "number" || rows.every((row) => typeof row[at] === "number");
  return { name, texts, isRight, width, least: Math.max(uncut, Math.min(MIN_CELL, width)) };
}

/** Steps are of UTC, while entries are printed in local time. */
const nameOf = (table: Table, at: number) =>
  `${visible(table.columns[at]!.name)}${isStepTime(table, at) ? " (UTC)" : ""}`;

const isStepTime = ({ columns, rows, stepMs }: Table, at: number) =>
  columns[at]!.type === "time" &&
  stepMs !== undefined &&
  rows.every((row) => typeof row[at] !== "string" || row[at].endsWith("Z"));

const inColumn =
  (row: number | "name") =>
  ({ name, texts, isRight, width }: Shape): string => {
    const text = shortened(row === "name" ? name : texts[row]!, width);
    return isRight ? padStart(text, width) : padEnd(text, width);
  };

const totalWidth = (shapes: readonly Shape[]) =>
  shapes.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);

/** As many columns as fit, at least one, the widest texts made narrower first, then the names of numbers. */
function fitted(all: readonly Shape[], width: number): readonly Shape[] {
  const shapes = all.slice(0, Math.max(1, fittingCount(all, width)));
  for (let over = totalWidth(shapes) - width; over > 0; over--) {
    const at = widestOf(shapes, false) ?? widestOf(shapes, true);
    if (at === undefined) break;
    shapes[at] = { ...shapes[at]!, width: shapes[at]!.width - 1 };
  }
  return shapes;
}

function fittingCount(all: readonly Shape[], width: number): number {
  let used = -GAP.length;
  const at = all.findIndex(({ least }) => {
    used += least + GAP.length;
    return used > width;
  });
  return at < 0 ? all.length : at;
}

/** The place of the widest column of texts, or of numbers, that may become narrower. */
function widestOf(shapes: readonly Shape[], isRight: boolean): number | undefined {
  let best: number | undefined;
  for (const [at, shape] of shapes.entries()) {
    if (shape.isRight !== isRight || shape.width <= shape.least) continue;
    if (best === undefined || shape.width > shapes[best]!.width) best = at;
  }
  return best;
}

const EIGHTHS = ["", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"];

interface Bars {
  /** The column that they show, if there are others that they could show. */
  readonly name: string;
  readonly texts: readonly string[];
}

/** Bars for the first column of numbers that are no groups, if there is room, more than one row, and nothing below zero. */
function barsOf({ rows, columns }: Table, room: number): Bars | undefined {
  const at = columns.findIndex(isComputed);
  if (at < 0 || rows.length < 2 || room < MIN_BAR) return undefined;
  const values = rows.map((row) => row[at]);
  if (!values.every((value) => value === null || (typeof value === "number" && value >= 0))) return undefined;
  const greatest = values.reduce<number>(
    (most, value) => (typeof value === "number" ? Math.max(most, value) : most),
    0,
  );
  if (!(greatest > 0)) return undefined;
  const most = Math.min(room, MAX_BAR);
  const texts = values.map((value) => {
    const eighths = typeof value === "number" ? Math.round((value / greatest) * most * 8) : 0;
    return "\u2588".repeat(eighths >> 3) + EIGHTHS[eighths & 7];
  });
  const isOnly = columns.filter(isComputed).length === 1;
  return { name: isOnly ? "" : shortened(visible(columns[at]!.name), most), texts };
}
