import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import type { Drawing } from "../../address/view.ts";

/** The drawings that are possible for a result. */
export function drawingsOf(result: AggregateResponse): ReadonlySet<Drawing> {
  const numbers = numberColumns(result);
  const drawings = new Set<Drawing>(["table"]);
  if (numbers.length === 0 || result.rows.length === 0) return drawings;
  if (timeColumn(result) >= 0) drawings.add("lines");
  else if (result.columns.length > numbers.length) drawings.add("bars");
  return drawings;
}

/** The drawing that fits a result best. */
export function drawingOf(result: AggregateResponse): Drawing {
  const possible = drawingsOf(result);
  if (possible.has("lines")) return "lines";
  return possible.has("bars") && result.columns.length === 2 ? "bars" : "table";
}

const timeColumn = ({ columns }: AggregateResponse) => columns.findIndex(({ type }) => type === "time");

/** The places of the columns of numbers. */
export const numberColumns = ({ columns }: AggregateResponse): number[] =>
  columns.flatMap(({ type }, at) => (type === "number" ? [at] : []));

/** The places of the columns that rows are grouped by, but the time. */
export const groupColumns = ({ columns }: AggregateResponse): number[] =>
  columns.flatMap(({ type }, at) => (type === "number" || type === "time" ? [] : [at]));

/** A group of a result: the fields that it is grouped by, each with its value. */
export type ResultGroup = readonly (readonly [field: string, value: unknown])[];

/** The group of a row; undefined if the rows are no groups. */
export function groupOfRow({ columns }: AggregateResponse, row: readonly unknown[]): ResultGroup | undefined {
  const group = columns.flatMap(({ type, name }, at) =>
    type === "value" || type === "level" ? [[name, row[at]] as const] : [],
  );
  return group.length > 0 ? group : undefined;
}

/** One line over time. Times are milliseconds since 1970; a missing value is a gap. */
export interface LineSeries {
  readonly name: string;
  readonly values: (number | null)[];
}

/** So many lines can be told apart. */
const MOST_SERIES = 12;

/** The lines of a result over time: one for each group and column of numbers, those with most first. */
export function seriesOf(
  result: AggregateResponse,
  range?: { readonly startMs: number; readonly stopMs: number },
): {
  readonly times: number[];
  readonly series: LineSeries[];
  readonly left: number;
  /** Whether a step is left out that the range cuts off: it would look as if the traffic stopped. */
  readonly isCut: boolean;
} {
  const at = timeColumn(result);
  const groups = groupColumns(result);
  const numbers = numberColumns(result);
  const all = [...new Set(result.rows.map((row) => Date.parse(String(row[at]))))].sort((a, b) => a - b);
  const times = range === undefined ? all : wholeSteps(all, range);
  const place = new Map(times.map((time, i) => [time, i]));
  const byName = new Map<string, LineSeries>();
  for (const row of result.rows) {
    const group = groups.map((column) => cellText(row[column])).join(", ");
    for (const column of numbers) {
      const own = result.columns[column]!.name;
      const name = group === "" ? own : numbers.length === 1 ? group : `${group}: ${own}`;
      const one = byName.get(name) ?? { name, values: new Array<number | null>(times.length).fill(null) };
      byName.set(name, one);
      const value = row[column];
      const step = place.get(Date.parse(String(row[at])));
      if (step !== undefined) one.values[step] = typeof value === "number" ? value : null;
    }
  }
  const size = ({ values }: LineSeries) => values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  const sorted = [...byName.values()].sort((a, b) => size(b) - size(a));
  return {
    times,
    series: sorted.slice(0, MOST_SERIES),
    left: Math.max(0, sorted.length - MOST_SERIES),
    isCut: times.length < all.length,
  };
}

/** A line of fewer steps is shown as it is. */
const LEAST_STEPS = 4;

/** The steps that are whole in a range; each is named by its beginning. */
function wholeSteps(times: number[], { startMs, stopMs }: { readonly startMs: number; readonly stopMs: number }) {
  if (times.length < LEAST_STEPS) return times;
  const stepMs = Math.min(...times.slice(1).map((time, i) => time - times[i]!));
  return times.filter((time) => time >= startMs && time + stepMs <= stopMs + 1);
}

/** The text of a cell without a value. */
export const NONE_TEXT = "(none)";

/** A cell as a text. The text that says that there is none has quotes. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return NONE_TEXT;
  return typeof value === "string" && value !== NONE_TEXT ? value : JSON.stringify(value);
}
