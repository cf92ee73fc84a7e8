import {
  bothSql,
  type Condition,
  FALSE,
  type Sql,
  type SqlValue,
  sql,
  TRUE,
} from "../../../grammar/query/sql/condition.ts";
import { breathe } from "../pace.ts";
import type { Event } from "../store.ts";
import { levelsOf } from "./level-queries.ts";
import type { Columns } from "./readers.ts";
import type { Segment } from "./segments.ts";
import {
  conditionOf,
  covers,
  eachNewest,
  fromRows,
  groupBy,
  open,
  overlaps,
  readEvents,
  type Selection,
  type Source,
} from "./source.ts";
import type { Summary } from "./summary.ts";

/** How a number of all selected events is made: from summaries, by SQL, or of events one by one. */
export interface Aggregate extends Parts {
  readonly rows: (columns: Columns) => void;
}

export interface Parts {
  /** Takes the events of some levels (by severity) from a summary where that says everything; else false. */
  readonly summary: (summary: Summary, levels: readonly boolean[]) => boolean;
  /**
   * The statement behind `select`, in which `%` stands for `from ... where ...`; its values, those before `%` and those
   * behind it; and the events that it does not count right, which are then taken one by one. Undefined where SQL cannot.
   */
  readonly sql: (segment: Segment) => Statement | undefined;
  readonly event: (stored: { readonly event: Event }) => void;
}

export interface Statement {
  readonly text: string;
  readonly before: readonly SqlValue[];
  readonly behind?: readonly SqlValue[];
  /** FALSE where all events count right. */
  readonly except: Sql;
}

/** A whole statement. */
export interface Select {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Of segments that have no event that counts. */
export const NOTHING: Statement = { text: "", before: [], except: FALSE };

export async function aggregate(
  source: Source,
  selection: Selection,
  { rows, ...parts }: Aggregate,
  signal: AbortSignal,
): Promise<void> {
  for (const { text, values } of await divide(source, selection, parts, signal)) {
    await source.readers.run(text, values, signal, rows);
  }
}

/** Takes what summaries say and events one by one, and gives the statements that say the rest. */
export async function divide(
  source: Source,
  selection: Selection,
  { summary, sql: statement, event }: Parts,
  signal: AbortSignal,
): Promise<Select[]> {
  // Of all events, or of some levels.
  const levels = levelsOf(selection.range.query);
  const { startMs } = selection;
  const { stopMs } = selection.range;
  const asked: Source["newest"][number][] = [];
  for (const newest of source.newest) {
    const { list, length } = newest;
    const isCovered = () => levels !== undefined && list.firstMs >= startMs && list.lastMs <= stopMs;
    // Events that come meanwhile may be in the summary, too, and may lie elsewhere.
    if (isCovered()) await list.summarize(length, signal);
    if (!(isCovered() && summary(list.summary, levels!))) asked.push(newest);
  }
  const segments = source.segments
    .filter((segment) => overlaps(segment, selection))
    .filter((segment) => !(levels !== undefined && covers(selection, segment) && summary(segment.summary, levels)));
  await eachNewest(source, selection, signal, event, asked);
  source.used.isScanned = asked.length > 0;
  const groups = groupBy(segments, (segment) => ({
    condition: conditionOf(selection, segment, source.nowMs),
    said: source.isOneByOne ? undefined : statement(segment),
  }));
  const statements: Select[] = [];
  for (const { segments, asked } of groups) {
    const { condition, said } = asked;
    if (said === NOTHING || condition.upper === FALSE) continue;
    await open(source, segments);
    if (said === undefined) {
      await oneByOne(source, selection, segments, condition, condition.upper, signal, event);
      continue;
    }
    const counted = bothSql(condition.lower, not(said.except));
    if (condition.lower !== FALSE) {
      statements.push({
        text: `select ${said.text.replace("%", () => `from ${fromRows(segments)} where ${counted.where}`)}`,
        values: [...said.before, ...counted.values, ...(said.behind ?? [])],
      });
    }
    const isExact = condition.upper === condition.lower;
    if (isExact && said.except === FALSE) continue;
    // Between the bounds, and what SQL does not count right.
    const left = isExact ? bothSql(condition.upper, said.except) : bothSql(condition.upper, not(counted));
    await oneByOne(source, selection, segments, condition, left, signal, event);
  }
  return statements;
}

async function oneByOne(
  source: Source,
  selection: Selection,
  segments: readonly Segment[],
  { upper, lower }: Condition,
  where: Sql,
  signal: AbortSignal,
  take: Parts["event"],
): Promise<void> {
  const isExact = upper === lower;
  await readEvents(source, segments, `where ${where.where}`, where.values, signal, (placed) => {
    if (isExact || selection.selects(placed)) take(placed);
  });
  await breathe(signal);
}

const not = (a: Sql): Sql => (a === FALSE ? TRUE : a === TRUE ? FALSE : sql(`(not ${a.text})`, ...a.values));
