import { bothSql, SQL_FALSE, SQL_TRUE, type Sql, type SqlValue, sql } from "../../../../grammar/query/sql/condition.ts";
import { yieldToLoop } from "../../event-loop.ts";
import type { MemtableView } from "../../memtables.ts";
import type { Event } from "../../store.ts";
import type { Summary } from "../../summary/summary.ts";
import type { Columns } from "../connection-pool.ts";
import type { Segment } from "../segment.ts";
import { levelsOf } from "./level-queries.ts";
import {
  conditionOf,
  covers,
  eachInMemory,
  fromRows,
  groupBy,
  open,
  overlaps,
  type QueryContext,
  readEvents,
} from "./query-context.ts";

/** How selected events are aggregated: from summaries, by SQL, or one by one. */
export interface Aggregate extends Accumulator {
  readonly rows: (columns: Columns) => void;
}

export interface Accumulator extends Pick<Gathering<Statement>, "summary" | "event"> {
  /**
   * The statement after `select`, in which `%` is replaced by `from ... where ...`; the values before and after `%`; and the
   * events that it does not count right, which are then taken one by one. Undefined if SQL cannot tell.
   */
  readonly sql: (segment: Segment) => Statement | undefined;
}

export interface Statement {
  readonly text: string;
  readonly before: readonly SqlValue[];
  readonly after?: readonly SqlValue[];
  /** FALSE if all events count right. */
  readonly except: Sql;
}

/** A whole statement. */
export interface Select {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The statement for segments without an event that counts. */
export const NOTHING: Statement = { text: "", before: [], except: SQL_FALSE };

export async function aggregate(context: QueryContext, { rows, ...accumulator }: Aggregate): Promise<void> {
  const { pool, signal } = context;
  for (const { text, values } of await accumulate(context, accumulator)) await pool.run(text, values, signal, rows);
}

/** Accumulates what summaries tell, and single events, and returns the statements for the rest. */
export async function accumulate(
  context: QueryContext,
  { summary, sql: statement, event }: Accumulator,
): Promise<Select[]> {
  const ask = (segment: Segment) => {
    const said = statement(segment);
    return said === NOTHING ? "nothing" : said && { said, except: said.except };
  };
  const parts = await gather(context, { summary, ask, event });
  return parts.map(({ segments, said, counted }) => ({
    text: `select ${said.text.replace("%", () => `from ${fromRows(segments)} where ${counted.where}`)}`,
    values: [...said.before, ...counted.values, ...(said.after ?? [])],
  }));
}

export interface Gathering<Said> {
  /** Takes the events of some levels (by severity) from a summary. Returns false if the summary does not tell everything. */
  readonly summary: (summary: Summary, levels: readonly boolean[]) => boolean;
  /**
   * What SQL is to say of the events of a segment, and those of which it would be wrong: FALSE for none. `nothing` if no
   * event counts; undefined if SQL cannot tell.
   */
  readonly ask: (segment: Segment) => { readonly said: Said; readonly except: Sql } | "nothing" | undefined;
  readonly event: (stored: { readonly event: Event }) => void;
}

/** What is left to SQL: segments of which the same is asked, and the condition of the events that count. */
export interface Part<Said> {
  readonly segments: readonly Segment[];
  readonly said: Said;
  readonly counted: Sql;
}

/** Takes what summaries tell, and single events, and returns what is left to SQL. */
export async function gather<Said>(
  context: QueryContext,
  { summary, ask, event }: Gathering<Said>,
): Promise<Part<Said>[]> {
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
  await eachInMemory(context, event, unsummarized);
  used.isScanned = unsummarized.length > 0;
  const groups = groupBy(segments, (segment) => ({
    condition: conditionOf(context, segment),
    asked: context.isOneByOne ? undefined : ask(segment),
  }));
  const parts: Part<Said>[] = [];
  for (const { segments, asked: group } of groups) {
    const { condition, asked } = group;
    if (asked === "nothing" || condition.upper === SQL_FALSE) continue;
    await open(context, segments);
    const eachEvent = async (where: Sql) => {
      const isExact = condition.upper === condition.lower;
      await readEvents(context, segments, where, (stored) => {
        if (isExact || selection.selects(stored)) event(stored);
      });
      await yieldToLoop(signal);
    };
    if (asked === undefined) {
      await eachEvent(condition.upper);
      continue;
    }
    const { said, except } = asked;
    const counted = bothSql(condition.lower, not(except));
    if (condition.lower !== SQL_FALSE) parts.push({ segments, said, counted });
    const isExact = condition.upper === condition.lower;
    if (isExact && except === SQL_FALSE) continue;
    // Events between the bounds, and those that SQL does not count right.
    await eachEvent(isExact ? bothSql(condition.upper, except) : bothSql(condition.upper, not(counted)));
  }
  return parts;
}

const not = (a: Sql): Sql =>
  a === SQL_FALSE ? SQL_TRUE : a === SQL_TRUE ? SQL_FALSE : sql(`(not ${a.text})`, ...a.values);
