import { bothSql, SQL_FALSE, SQL_TRUE, type Sql, type SqlValue, sql } from "../../../../grammar/query/sql/condition.ts";
import { yieldToLoop } from "../../event-loop.ts";
import type { MemtableView } from "../../memtables.ts";
import type { Event } from "../../store.ts";
import type { Summary } from "../../summary/summary.ts";
import type { Columns } from "../connection-pool.ts";
import type { Segment } from "../segment.ts";
import { levelsOf } from "./level-queries.ts";
import {
  covers,
  eachInMemory,
  fromRows,
  groupBy,
  open,
  overlaps,
  type QueryContext,
  readSegmentEvents,
  segmentCondition,
} from "./query-context.ts";

/** How selected events are aggregated: from summaries, by SQL, or one by one. */
export interface EventAggregate extends EventAccumulator {
  readonly rows: (columns: Columns) => void;
}

export interface EventAccumulator extends Pick<Gathering<StatementTemplate>, "summary" | "event"> {
  /**
   * The statement after `select`, in which `%` is replaced by `from ... where ...`; the values before and after `%`; and the
   * events that it does not count right, which are then taken one by one. Undefined if SQL cannot tell.
   */
  readonly sql: (segment: Segment) => StatementTemplate | undefined;
}

export interface StatementTemplate {
  readonly text: string;
  readonly before: readonly SqlValue[];
  readonly after?: readonly SqlValue[];
  /** FALSE if all events count right. */
  readonly except: Sql;
}

/** A whole statement. */
export interface SelectStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The statement for segments without an event that counts. */
export const NOTHING: StatementTemplate = { text: "", before: [], except: SQL_FALSE };

export async function aggregate(context: QueryContext, { rows, ...accumulator }: EventAggregate): Promise<void> {
  const { pool, signal } = context;
  for (const { text, values } of await accumulate(context, accumulator)) await pool.run(text, values, signal, rows);
}

/** Accumulates what summaries tell, and single events, and returns the statements for the rest. */
export async function accumulate(
  context: QueryContext,
  { summary, sql: statement, event }: EventAccumulator,
): Promise<SelectStatement[]> {
  const ask = (segment: Segment) => {
    const reading = statement(segment);
    return reading === NOTHING ? "nothing" : reading && { reading, except: reading.except };
  };
  const parts = await gather(context, { summary, ask, event });
  return parts.map(({ segments, reading, counted }) => ({
    text: `select ${reading.text.replace("%", () => `from ${fromRows(segments)} where ${counted.where}`)}`,
    values: [...reading.before, ...counted.values, ...(reading.after ?? [])],
  }));
}

export interface Gathering<Reading> {
  /** Takes the events of some levels (by severity) from a summary. Returns false if the summary does not tell everything. */
  readonly summary: (summary: Summary, levels: readonly boolean[]) => boolean;
  /**
   * The reading that SQL makes of a segment, and the condition of the events for which it would be wrong: FALSE for
   * none. `nothing` if no event counts; undefined if SQL cannot tell.
   */
  readonly ask: (segment: Segment) => { readonly reading: Reading; readonly except: Sql } | "nothing" | undefined;
  readonly event: (stored: { readonly event: Event }) => void;
  /** Takes the selected events of a memtable from its columns. Returns false if it took none: they are given one by one. */
  readonly memtable?: (view: MemtableView) => Promise<boolean>;
}

/**
 * The part of an aggregation that is left to SQL: segments with the same reading, and the condition of the events that
 * count.
 */
export interface SqlPart<Reading> {
  readonly segments: readonly Segment[];
  readonly reading: Reading;
  readonly counted: Sql;
}

/** Takes what summaries tell, and single events, and returns what is left to SQL. */
export async function gather<Reading>(
  context: QueryContext,
  { summary, ask, event, memtable }: Gathering<Reading>,
): Promise<SqlPart<Reading>[]> {
  const { selection, signal, used } = context;
  // Defined if the query selects all events, or those of some levels.
  const levels = levelsOf(selection.range.query);
  const { startMs } = selection;
  const { stopMs } = selection.range;
  const unsummarized: MemtableView[] = [];
  for (const view of context.memtables) {
    const { events, length } = view;
    const isCovered = () => levels !== undefined && events.firstMs >= startMs && events.lastMs <= stopMs;
    // Checked again afterwards: events that arrive meanwhile may be in the summary, and may be outside the range.
    if (isCovered()) await events.summarize(length, signal);
    if (!(isCovered() && summary(events.summary, levels!))) unsummarized.push(view);
  }
  const segments = context.segments
    .filter((segment) => overlaps(segment, selection))
    .filter((segment) => !(levels !== undefined && covers(selection, segment) && summary(segment.summary, levels)));
  const left: MemtableView[] = [];
  for (const view of unsummarized) {
    if (context.process === undefined && (await memtable?.(view))) used.bytes += view.events.bytes;
    else left.push(view);
  }
  await eachInMemory(context, event, left);
  used.isScanned = unsummarized.length > 0;
  const groups = groupBy(segments, (segment) => ({
    condition: segmentCondition(context, segment),
    plan: context.isOneByOne ? undefined : ask(segment),
  }));
  const parts: SqlPart<Reading>[] = [];
  for (const { segments, key } of groups) {
    const { condition, plan } = key;
    if (plan === "nothing" || condition.upper === SQL_FALSE) continue;
    await open(context, segments);
    const eachEvent = async (where: Sql) => {
      const isExact = condition.upper === condition.lower;
      await readSegmentEvents(context, segments, where, async (some) => {
        if (isExact) some.forEach(event);
        else if (context.process !== undefined) (await context.process.selectEvents(some)).forEach(event);
        else for (const stored of some) if (selection.selects(stored)) event(stored);
      });
      await yieldToLoop(signal);
    };
    if (plan === undefined) {
      await eachEvent(condition.upper);
      continue;
    }
    const { reading, except } = plan;
    const counted = bothSql(condition.lower, not(except));
    if (condition.lower !== SQL_FALSE) parts.push({ segments, reading, counted });
    const isExact = condition.upper === condition.lower;
    if (isExact && except === SQL_FALSE) continue;
    // Events between the bounds, and those that SQL does not count right.
    await eachEvent(isExact ? bothSql(condition.upper, except) : bothSql(condition.upper, not(counted)));
  }
  return parts;
}

const not = (a: Sql): Sql =>
  a === SQL_FALSE ? SQL_TRUE : a === SQL_TRUE ? SQL_FALSE : sql(`(not ${a.text})`, ...a.values);
