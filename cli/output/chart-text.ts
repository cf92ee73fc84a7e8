import type { Cell, RowColumn, Table } from "../../grammar/query/index.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";
import { cellText, columnTexts, stepTimeText } from "./cell-text.ts";
import { displayWidth, padEnd, shortened, widest } from "./display-width.ts";
import type { TableTextOptions } from "./table-text.ts";

/** Fewer steps are read faster as a table. */
const FEWEST_STEPS = 13;
/** Narrower, a chart says nothing. */
const FEWEST_COLUMNS = 12;
const CHART_LINES = 8;
/** A step is drawn at most so wide. */
const MOST_STEP_COLUMNS = 3;
const MOST_LABEL = 30;
const GAP = "  ";

const BLOCKS = [" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"];

/** One of the lines that are drawn: a number, or null, for each step. */
interface Series {
  /** The groups, and the name of the column if there are several. */
  readonly label: string;
  /** The column and the groups, for a heading. */
  readonly title: readonly string[];
  readonly column: RowColumn;
  readonly values: readonly (number | null)[];
}

/**
 * The rows of `timeseries` as a chart of blocks that fits the width: one series as columns with both axes, several as a line
 * each with its greatest value and its sum, or its last one. Undefined for rows that a table shows better: few steps, values
 * below zero or that are no numbers, a narrow terminal, rows that later stages have put into another order.
 */
export function chartText(table: Table, options: TableTextOptions): string | undefined {
  const steps = stepsOf(table);
  if (steps === undefined || table.stepMs === undefined) return undefined;
  const { times, series } = steps;
  if (times.length < FEWEST_STEPS || series.length === 0) return undefined;
  if (!series.every(({ values }) => values.every((value) => value === null || value >= 0))) return undefined;
  const drawing: Drawing = { times, stepMs: table.stepMs, ...options };
  return series.length === 1 ? columnChart(series[0]!, drawing) : lineCharts(series, drawing);
}

interface Drawing extends TableTextOptions {
  readonly times: readonly string[];
  readonly stepMs: number;
}

/** Undefined unless the rows are those of each group for each step, the steps in their order. */
function stepsOf(table: Table): { times: string[]; series: Series[] } | undefined {
  const { columns, rows } = table;
  if (columns[0]?.type !== "time" || !columns[0].isGroup) return undefined;
  const times: string[] = [];
  for (const [time] of rows) if (typeof time === "string" && time !== times.at(-1)) times.push(time);
  const perStep = rows.length / times.length;
  if (!Number.isInteger(perStep) || times.some((time, at) => at > 0 && time <= times[at - 1]!)) return undefined;
  const groups = columns.findIndex(({ isGroup }) => !isGroup);
  const drawn = columns.slice(groups);
  if (groups < 1 || drawn.some(({ type, isGroup }) => type !== "number" || isGroup)) return undefined;
  const series: Series[] = [];
  const texts = columns.slice(0, groups).map((_, at) => columnTexts(table, rows.slice(0, perStep), at));
  for (let group = 0; group < perStep; group++) {
    const own = times.map((_, step) => rows[step * perStep + group]!);
    const cells = own[0]!.slice(1, groups);
    const isSame = own.every((row, step) => row[0] === times[step] && cells.every((cell, at) => row[at + 1] === cell));
    if (!isSame) return undefined;
    const names = cells.map((_, at) => texts[at + 1]![group]!);
    for (const [at, column] of drawn.entries()) {
      const name = visible(column.name);
      const label = [...names, ...(drawn.length > 1 || names.length === 0 ? [name] : [])].join(" ");
      const title = [name, ...names.map((text, place) => `${visible(columns[place + 1]!.name)}: ${text}`)];
      series.push({ label, title, column, values: own.map((row) => numberOrNull(row[groups + at])) });
    }
  }
  return { times, series };
}

const numberOrNull = (cell: Cell) => (typeof cell === "number" ? cell : null);

/** How many steps are drawn as one, and how many columns of the terminal each takes. */
interface Fitted {
  readonly stepsEach: number;
  readonly wide: number;
}

function fitted(stepCount: number, room: number): Fitted {
  const stepsEach = Math.ceil(stepCount / room);
  return { stepsEach, wide: Math.min(MOST_STEP_COLUMNS, Math.floor(room / Math.ceil(stepCount / stepsEach))) };
}

/** The greatest of each so many values: a peak must not vanish. */
function greatestOfEach(values: readonly (number | null)[], stepsEach: number): (number | null)[] {
  return Array.from({ length: Math.ceil(values.length / stepsEach) }, (_, at) =>
    greatest(values.slice(at * stepsEach, (at + 1) * stepsEach)),
  );
}

const greatest = (values: readonly (number | null)[]): number | null =>
  values.reduce((most, value) => (most === null || (value !== null && value > most) ? value : most), null);

const dimmed = (text: string, color: boolean) => (color && text !== "" ? `\u001b[2m${text}\u001b[0m` : text);

/** The time that a column of the chart stands for. Steps are of UTC, while entries are printed in local time. */
const stepText = (stepMs: number, stepsEach: number) =>
  stepsEach === 1
    ? `steps of ${humanDuration(stepMs)} (UTC)`
    : `the greatest of ${stepsEach} steps of ${humanDuration(stepMs)} (UTC)`;

/** The parts with commas between them, in as many lines as they need. */
function heading(parts: readonly string[], { width, color }: TableTextOptions): string[] {
  const lines: string[] = [];
  for (const [at, part] of parts.entries()) {
    const text = at < parts.length - 1 ? `${part},` : part;
    const longer = `${lines.at(-1) ?? ""} ${text}`;
    if (at > 0 && displayWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines.map((line) => dimmed(shortened(line, width), color));
}

function columnChart(series: Series, drawing: Drawing): string | undefined {
  const { column, title, values } = series;
  const { width, color, times, stepMs } = drawing;
  const most = greatest(values);
  if (most === null || most === 0) return emptyChart(series, drawing);
  const top = cellText(most, column, undefined);
  const gutter = top.length + 1;
  const room = width - gutter;
  if (room < FEWEST_COLUMNS) return undefined;
  const { stepsEach, wide } = fitted(times.length, room);
  const drawn = greatestOfEach(values, stepsEach);
  const peak = stepTimeText(times[values.indexOf(most)]!, stepMs);
  const lines = heading([...title, stepText(stepMs, stepsEach), `most ${top} at ${peak}`], drawing);
  for (let line = CHART_LINES - 1; line >= 0; line--) {
    const axis = line === CHART_LINES - 1 ? top : line === 0 ? "0" : "";
    const blocks = drawn.map((value) => blockOf(value, most, CHART_LINES, line).repeat(wide)).join("");
    lines.push(`${dimmed(axis.padStart(gutter - 1), color)} ${blocks}`.trimEnd());
  }
  lines.push(dimmed(" ".repeat(gutter) + timeAxis(drawing, { stepsEach, wide }, room), color));
  return lines.map((text) => `${text}\n`).join("");
}

/** Instead of lines without anything in them. */
function emptyChart({ title, values }: Series, drawing: Drawing): string {
  const { times, stepMs } = drawing;
  const what = greatest(values) === null ? "no values" : "all 0";
  const period = `${stepTimeText(times[0]!, stepMs)} to ${stepTimeText(times.at(-1)!, stepMs)}`;
  return heading([...title, stepText(stepMs, 1), what, period], drawing)
    .map((text) => `${text}\n`)
    .join("");
}

/** The part of a value that is in a line of the chart, 0 the lowest. What is more than 0 is seen. */
function blockOf(value: number | null, most: number, lineCount: number, line: number): string {
  if (value === null || value === 0 || most === 0) return " ";
  const eighths = Math.max(1, Math.round((value / most) * lineCount * 8)) - line * 8;
  return BLOCKS[Math.max(0, Math.min(8, eighths))]!;
}

/**
 * Times below the columns that they begin: the first one with its day, the last one at the right end, and as many between
 * them as there is room for. Below few columns it may be longer than they are, and then says so.
 */
function timeAxis({ times, stepMs }: Drawing, { stepsEach, wide }: Fitted, space: number): string {
  const room = Math.ceil(times.length / stepsEach) * wide;
  const begin = stepTimeText(times[0]!, stepMs);
  const [beginDay] = begin.split(" ");
  // The day is only told again when it is another one.
  const text = (at: number) => {
    const time = stepTimeText(times[at]!, stepMs);
    const [day, clock] = time.split(" ");
    return clock !== undefined && day === beginDay ? clock : time;
  };
  const end = text(times.length - 1);
  if (begin.length + GAP.length + end.length > room) return shortAxis(begin, end, { room, space });
  const last = room - end.length;
  let axis = begin;
  const labels = 4;
  for (let label = 1; label < labels; label++) {
    const at = Math.floor((label * room) / labels / wide);
    const time = text(at * stepsEach);
    const column = at * wide;
    if (column < axis.length + GAP.length || column + time.length + GAP.length > last) continue;
    axis = axis.padEnd(column) + time;
  }
  return axis.padEnd(last) + end;
}

/** The first and the last time in words if there is space for it, otherwise as much of them as the columns have room for. */
function shortAxis(begin: string, end: string, { room, space }: { room: number; space: number }): string {
  const words = `${begin} to ${end}`;
  if (words.length <= space) return words;
  const [first, last] = [begin, end].map((time) => time.split(" ").at(-1)!) as [string, string];
  return first.length + last.length < room ? first.padEnd(room - last.length) + last : shortened(first, room);
}

function lineCharts(series: readonly Series[], drawing: Drawing): string | undefined {
  const { width, color, times } = drawing;
  const label = Math.min(MOST_LABEL, Math.floor(width / 3), widest(series.map((one) => one.label)));
  // A narrow terminal has room for the greatest value, or for the lines alone.
  const [facts, room] = [2, 1, 0]
    .map((count) => factsOf(series, count))
    .map((texts): [readonly string[], number] => [texts, width - label - widest(texts) - 2 * GAP.length])
    .find(([, left], at) => at === 2 || left >= FEWEST_COLUMNS)!;
  if (room < FEWEST_COLUMNS) return undefined;
  const { stepsEach, wide } = fitted(times.length, room);
  const scales = scalesOf(series);
  const lines = series.map(({ label: name, column, values }, at) => {
    const most = scales.get(column.name)!;
    const blocks = greatestOfEach(values, stepsEach).map((value) => blockOf(value, most, 1, 0).repeat(wide));
    const line = `${padEnd(shortened(name, label), label)}${GAP}${blocks.join("")}`;
    return `${line}${GAP}${dimmed(facts[at]!, color)}`.trimEnd();
  });
  const axis = " ".repeat(label + GAP.length) + timeAxis(drawing, { stepsEach, wide }, width - label - GAP.length);
  const all = [...heading(lineTitle(series, drawing, stepsEach), drawing), ...lines, dimmed(axis, color)];
  return all.map((text) => `${text}\n`).join("");
}

/** The columns, the scale that rows share, and the steps. */
function lineTitle(series: readonly Series[], { stepMs }: Drawing, stepsEach: number): string[] {
  const scales = scalesOf(series);
  const names = [...scales.keys()].map(visible);
  const [first] = series;
  const isShared = series.length > scales.size;
  const one = `one scale up to ${cellText(scales.get(first!.column.name)!, first!.column, undefined)}`;
  const scale = !isShared ? [] : scales.size === 1 ? [one] : ["one scale for each column"];
  return [...names, ...scale, stepText(stepMs, stepsEach)];
}

/** The first of: the greatest value of each series; its sum if it counts, otherwise its last value. */
function factsOf(series: readonly Series[], count: number): readonly string[] {
  const facts = series.map(({ column, values }) => {
    if (greatest(values) === null) return ["no values"].slice(0, count);
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0);
    const last = values.findLast((value) => value !== null) ?? null;
    const textOf = (value: Cell) => cellText(value, column, undefined);
    const isCount = /^count(?:$|\()/.test(column.name);
    return [`max ${textOf(greatest(values))}`, isCount ? `sum ${textOf(sum)}` : `last ${textOf(last)}`].slice(0, count);
  });
  const first = widest(facts.map(([text = ""]) => text));
  return facts.map((texts) => texts.map((text, at) => (at === 0 ? text.padEnd(first) : text)).join(GAP));
}

/** By the name of the column: its greatest value. Series of one column have one scale, so that they can be compared. */
function scalesOf(series: readonly Series[]): ReadonlyMap<string, number> {
  const scales = new Map<string, number>();
  for (const { column, values } of series)
    scales.set(column.name, Math.max(scales.get(column.name) ?? 0, greatest(values) ?? 0));
  return scales;
}
