// The rows of groups that summaries give, without a look at any event.
import { type Cell, LEVELS, type Target } from "../../../../../grammar/query/index.ts";
import {
  emptyField,
  eventsOfLevels,
  type FieldSummary,
  type Fields,
  fieldsOfLevels,
  hasInside,
  minutesOfLevels,
  type Summary,
} from "../../../summary/summary.ts";
import { pathKey } from "../field-values.ts";
import type { GroupPlan } from "./plan.ts";

/** Events of a group: how many, and what is known of each input. */
export interface SummaryRow {
  readonly cells: readonly Cell[];
  readonly events: number;
  readonly inputs: readonly SummaryNumbers[];
}

export interface SummaryNumbers {
  /** Numbers of an input of numbers, otherwise values. */
  readonly count: number;
  readonly sum: number | null;
  /** The part that the sum has lost: see ExactSum. */
  readonly lost: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly leftOut: number;
}

const MINUTE_MS = 60_000;

/** Gives what a summary tells of the events of some levels (by severity); undefined if that is not all. */
export type SummaryReader = (summary: Summary, levels: readonly boolean[]) => SummaryRow[] | undefined;

/** `firstMs` is where the first step begins. */
export function summaryReader(plan: GroupPlan, by: readonly Target[], firstMs: number): SummaryReader {
  const { inputs, aggregates, stepMs, isUnique } = plan;
  if (isUnique) return () => undefined;
  const [only] = by;
  const isByLevel = only?.at === "entry" && only.name === "level";
  const targets = [...inputs.map(({ target }) => target), ...(isByLevel ? [] : by)];
  // Summaries know nothing of an event's own properties but its level.
  const isSummarized =
    aggregates.every(({ kind }) => SUMMARIZED.has(kind.name)) && targets.every((place) => pathKey(place));
  if (!isSummarized || by.length > 1 || (stepMs !== undefined && stepMs % MINUTE_MS !== 0)) return () => undefined;
  if (only !== undefined && !isByLevel) {
    return stepMs === undefined && inputs.length === 0
      ? (summary, levels) => valuesOf(only, summary, levels)
      : () => undefined;
  }
  const nothing = inputs.map(() => NO_NUMBERS);
  return (summary, levels) => {
    const rows = eventsBy({ isByLevel, stepMs, firstMs }, summary, levels).map((row) => ({ ...row, inputs: nothing }));
    if (inputs.length === 0) return rows;
    if (stepMs !== undefined) return undefined;
    const inputRows = inputsBy(plan, isByLevel, summary, levels);
    return inputRows && [...rows, ...inputRows];
  };
}

const SUMMARIZED: ReadonlySet<string> = new Set(["count", "rate", "sum", "avg", "min", "max"]);
export const NO_NUMBERS: SummaryNumbers = { count: 0, sum: null, lost: 0, min: null, max: null, leftOut: 0 };

/** Events by the step of time and the level, as far as that is asked. */
function eventsBy(
  grouping: { readonly isByLevel: boolean; readonly stepMs: number | undefined; readonly firstMs: number },
  summary: Summary,
  levels: readonly boolean[],
): Pick<SummaryRow, "cells" | "events">[] {
  const { isByLevel, stepMs, firstMs } = grouping;
  const counts = new Map<string, { cells: Cell[]; events: number }>();
  for (const [minute, ofLevels] of minutesOfLevels(summary, levels)) {
    const step = stepMs === undefined ? [] : [Math.floor((minute * MINUTE_MS - firstMs) / stepMs)];
    for (const [level, events] of ofLevels.entries()) {
      if (events === 0) continue;
      const cells = [...step, ...(isByLevel ? [LEVELS[level]!] : [])];
      const key = cells.join(" ");
      const existing = counts.get(key);
      if (existing === undefined) counts.set(key, { cells, events });
      else existing.events += events;
    }
  }
  return [...counts.values()];
}

/** The inputs of events of each level, with no events of their own. */
function inputsBy(
  { inputs }: GroupPlan,
  isByLevel: boolean,
  summary: Summary,
  levels: readonly boolean[],
): SummaryRow[] | undefined {
  // Older summaries do not tell levels apart.
  if (fieldsOfLevels(summary, levels) === undefined) return undefined;
  const rows: SummaryRow[] = [];
  for (const [severity, fields] of summary.fields) {
    if (severity < 0 ? isByLevel : !levels[severity]) {
      if (severity < 0) return undefined;
      continue;
    }
    const numbers = inputs.map(({ target, use }) => {
      const field = plainField(target, summary, fields);
      return field === undefined
        ? undefined
        : use === "number"
          ? numbersOf(field)
          : { ...NO_NUMBERS, count: field.present };
    });
    if (!numbers.every((one) => one !== undefined)) return undefined;
    rows.push({ cells: isByLevel ? [LEVELS[severity]!] : [], events: 0, inputs: numbers as SummaryNumbers[] });
  }
  return rows;
}

/** Undefined if the sum is not known to its last digit. */
function numbersOf({ present, number, numbers }: FieldSummary): SummaryNumbers | undefined {
  const { count, sum, lost, min, max } = numbers;
  if (count === 0) return { ...NO_NUMBERS, leftOut: present };
  return Number.isFinite(lost) ? { count, sum, lost, min, max, leftOut: present - number } : undefined;
}

/** Groups of the texts and truths of a field, and of the events that have none. */
function valuesOf(place: Target, summary: Summary, levels: readonly boolean[]): SummaryRow[] | undefined {
  const levelFields = fieldsOfLevels(summary, levels);
  if (levelFields === undefined) return undefined;
  const rows: SummaryRow[] = [];
  let missing = eventsOfLevels(summary, levels);
  for (const fields of levelFields) {
    const field = plainField(place, summary, fields);
    if (field?.values === undefined || field.number > 0) return undefined;
    for (const [value, events] of field.values) rows.push({ cells: [value], events, inputs: [] });
    missing -= field.present;
  }
  if (missing > 0) rows.push({ cells: [null], events: missing, inputs: [] });
  return rows;
}

/** The summary of a field, if that holds no lists, objects or nulls. */
function plainField(place: Target, summary: Summary, fields: Fields): FieldSummary | undefined {
  const key = pathKey(place);
  if (key === undefined || place.at !== "fields" || hasInside(summary, place.path)) return undefined;
  const field = fields.get(key) ?? ABSENT;
  return field.plain === field.present ? field : undefined;
}

const ABSENT = emptyField([]);
