import type { Cell, RowColumn, Table } from "../../grammar/query/index.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { cellText, shortened, type TableTextOptions, timeText } from "./table-text.ts";

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
function stepsOf({ columns, rows }: Table): { times: string[]; series: Series[] } | undefined {
  if (columns[0]?.type !== "time" || !columns[0].isGroup) return undefined;
  const times: string[] = [];
  for (const [time] of rows) if (typeof time === "string" && time !== times.at(-1)) times.push(time);
  const perStep = rows.length / times.length;
  if (!Number.isInteger(perStep) || times.some((time, at) => at > 0 && time <= times[at - 1]!)) return undefined;
  const groups = columns.findIndex(({ isGroup }) => !isGroup);
  const drawn = columns.slice(groups);
  if (groups < 1 || drawn.some(({ type, isGroup }) => type !== "number" || isGroup)) return undefined;
  const series: Series[] = [];
  for (let group = 0; group < perStep; group++) {
    const own = times.map((_, step) => rows[step * perStep + group]!);
    const cells = own[0]!.slice(1, groups);
    const isSame = own.every((row, step) => row[0] === times[step] && cells.every((cell, at) => row[at + 1] === cell));
    if (!isSame) return undefined;
    const names = cells.map((cell, at) => cellText(cell, columns[at + 1]!, undefined));
    for (const [at, column] of drawn.entries()) {
      const label = [...names, ...(drawn.length > 1 || names.length === 0 ? [column.name] : [])].join(" ");
      series.push({ label, column, values: own.map((row) => numberOrNull(row[groups + at])) });
    }
  }
  return { times, series };
}

const numberOrNull = (cell: Cell) => (typeof cell === "number" ? cell : null);

/** How many steps are drawn as one, and how many columns of the terminal each takes. */
function fitted(stepCount: number, room: number): { readonly stepsEach: number; readonly wide: number } {
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

/** What a column of the chart stands for. */
const stepText = (stepMs: number, stepsEach: number) =>
  stepsEach === 1
    ? `steps of ${humanDuration(stepMs)}`
    : `the greatest of ${stepsEach} steps of ${humanDuration(stepMs)} each`;

function columnChart({ column, label, values }: Series, drawing: Drawing): string | undefined {
  const { width, color, times, stepMs } = drawing;
  const most = greatest(values) ?? 0;
  const top = cellText(most, column, undefined);
  const gutter = Math.max(top.length, 1) + 1;
  const room = width - gutter;
  if (room < FEWEST_COLUMNS) return undefined;
  const { stepsEach, wide } = fitted(times.length, room);
  const drawn = greatestOfEach(values, stepsEach);
  const peak = times[values.indexOf(most)];
  const title = [
    label,
    stepText(stepMs, stepsEach),
    ...(most > 0 ? [`most ${top} at ${timeText(peak!, stepMs)}`] : []),
  ];
  const lines = [dimmed(shortened(title.join(", "), width), color)];
  for (let line = CHART_LINES - 1; line >= 0; line--) {
    const axis = line === CHART_LINES - 1 ? top : line === 0 ? "0" : "";
    const blocks = drawn.map((value) => blockOf(value, most, CHART_LINES, line).repeat(wide)).join("");
    lines.push(`${dimmed(axis.padStart(gutter - 1), color)} ${blocks}`.trimEnd());
  }
  lines.push(dimmed(" ".repeat(gutter) + timeAxis(drawing, stepsEach, wide), color));
  return lines.map((text) => `${text}\n`).join("");
}

/** The part of a value that is in a line of the chart, 0 the lowest. What is more than 0 is seen. */
function blockOf(value: number | null, most: number, lineCount: number, line: number): string {
  if (value === null || value === 0 || most === 0) return " ";
  const eighths = Math.max(1, Math.round((value / most) * lineCount * 8)) - line * 8;
  return BLOCKS[Math.max(0, Math.min(8, eighths))]!;
}

/** Times below the columns that they begin, the first one with its day, and as many others as there is room for. */
function timeAxis({ times, stepMs }: Drawing, stepsEach: number, wide: number): string {
  const room = Math.ceil(times.length / stepsEach) * wide;
  const begin = timeText(times[0]!, stepMs);
  const first = begin.length <= room ? begin : shortened(begin.split(" ").at(-1)!, room);
  let axis = first;
  const labels = 4;
  for (let label = 1; label < labels; label++) {
    const at = Math.floor((label * room) / labels / wide);
    const column = at * wide;
    const time = timeText(times[at * stepsEach]!, stepMs);
    // The day is only told again when it is another one.
    const [day, clock] = time.split(" ");
    const text = clock !== undefined && begin.startsWith(day!) ? clock : time;
    if (column < axis.length + GAP.length || column + text.length > room) continue;
    axis = axis.padEnd(column) + text;
  }
  return axis;
}

function lineCharts(series: readonly Series[], drawing: Drawing): string | undefined {
  const { width, color, times, stepMs } = drawing;
  const label = Math.min(MOST_LABEL, Math.floor(width / 3), longest(series.map((one) => one.label)));
  // A narrow terminal has room for the greatest value, or for the lines alone.
  const [facts, room] = [2, 1, 0]
    .map((count) => factsOf(series, count))
    .map((texts): [readonly string[], number] => [texts, width - label - longest(texts) - 2 * GAP.length])
    .find(([, left], at) => at === 2 || left >= FEWEST_COLUMNS)!;
  if (room < FEWEST_COLUMNS) return undefined;
  const { stepsEach, wide } = fitted(times.length, room);
  const scales = scalesOf(series);
  const lines = series.map(({ label: name, column, values }, at) => {
    const most = scales.get(column.name)!;
    const blocks = greatestOfEach(values, stepsEach).map((value) => blockOf(value, most, 1, 0).repeat(wide));
    const line = `${shortened(name, label).padEnd(label)}${GAP}${blocks.join("")}`;
    return `${line}${GAP}${dimmed(facts[at]!, color)}`.trimEnd();
  });
  const title = `${[...scales.keys()].join(", ")}, ${stepText(stepMs, stepsEach)}`;
  const axis = " ".repeat(label + GAP.length) + timeAxis(drawing, stepsEach, wide);
  const all = [dimmed(shortened(title, width), color), ...lines, dimmed(axis, color)];
  return all.map((text) => `${text}\n`).join("");
}

const longest = (texts: readonly string[]) => texts.reduce((most, { length }) => Math.max(most, length), 0);

/** The first of: the greatest value of each series; its sum if it counts, otherwise its last value. */
function factsOf(series: readonly Series[], count: number): readonly string[] {
  const facts = series.map(({ column, values }) => {
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0);
    const last = values.findLast((value) => value !== null) ?? null;
    const shown = (value: Cell) => cellText(value, column, undefined);
    const isCount = /^count(?:$|\()/.test(column.name);
    return [`max ${shown(greatest(values))}`, isCount ? `sum ${shown(sum)}` : `last ${shown(last)}`].slice(0, count);
  });
  const first = longest(facts.map(([text = ""]) => text));
  return facts.map((texts) => texts.map((text, at) => (at === 0 ? text.padEnd(first) : text)).join(GAP));
}

/** By the name of the column: its greatest value. Series of one column have one scale, so that they can be compared. */
function scalesOf(series: readonly Series[]): ReadonlyMap<string, number> {
  const scales = new Map<string, number>();
  for (const { column, values } of series)
    scales.set(column.name, Math.max(scales.get(column.name) ?? 0, greatest(values) ?? 0));
  return scales;
}
