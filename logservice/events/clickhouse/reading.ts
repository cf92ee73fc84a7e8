import { compilePredicate, type Query, readsOf } from "../../../grammar/query/index.ts";
import { SQL_FALSE, type Sql, type SqlCondition } from "../../../grammar/query/sql/condition.ts";
import { Yielder } from "../event-loop.ts";
import { firstNanosecond } from "../instant.ts";
import type { Event, EventRange } from "../store.ts";
import type { ClickHouseConnection, Row } from "./connection.ts";
import { instantLiteral, sqlLiteral } from "./literal.ts";
import { clickHouseCondition } from "./query-sql.ts";
import { EVENT_COLUMNS, eventOfColumns } from "./rows.ts";
import { EVENTS_TABLE } from "./schema.ts";

/** One query: what it selects, and what reading it took. */
export interface Reading {
  readonly connection: ClickHouseConnection;
  readonly range: EventRange;
  /** The earliest time that is answered: after the start of the range if older events have expired. */
  readonly startMs: number;
  /** The condition of the project and the range. */
  readonly within: string;
  readonly condition: SqlCondition;
  /** Whether the condition reads `fields`, of which it knows nothing where they are not `readable`. */
  readonly readsFields: boolean;
  readonly selects: (event: Event) => boolean;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Updated while the query runs. */
  readonly used: { bytes: number };
}

interface ReadingOptions {
  readonly connection: ClickHouseConnection;
  readonly range: EventRange & { readonly signal: AbortSignal };
  readonly nowMs: number;
  /** Milliseconds since 1970 before which the project's events have expired. */
  readonly cutoffMs: number | undefined;
}

export function readingOf({ connection, range, nowMs, cutoffMs = range.startMs }: ReadingOptions): Reading {
  const { project, stopMs, query = NO_QUERY, signal } = range;
  const startMs = Math.max(range.startMs, cutoffMs);
  const [from, to] = [firstNanosecond(startMs, "at-least"), firstNanosecond(stopMs, "above")].map(instantLiteral);
  return {
    connection,
    range,
    startMs,
    within: `project = ${sqlLiteral(project)} and timestamp >= ${from} and timestamp < ${to}`,
    condition: clickHouseCondition(query, nowMs),
    readsFields: readsOf(query).fields.size > 0,
    selects: compilePredicate(query, { nowMs }),
    nowMs,
    signal,
    used: { bytes: 0 },
  };
}

const NO_QUERY: Query = { source: "", expr: undefined };

/** Whether SQL decides about every event that it can read. */
export const isExact = ({ condition }: Reading) => condition.upper === condition.lower;

/** The events that may be selected. */
export function candidates({ within, condition, readsFields }: Reading): string {
  const { text } = condition.upper;
  return `${within} and ${readsFields && text !== "true" ? `(not readable or ${text})` : text}`;
}

/** Selected events as SQL divides them. */
export interface Division {
  /** Those that SQL counts right. */
  readonly counted: string;
  /** Those about which the predicate decides, and those that SQL counts wrong; undefined if there are none. */
  readonly others: string | undefined;
}

/** `except` are events that SQL would count wrong, by an expression of their fields. */
export function divide({ within, condition, readsFields }: Reading, except: Sql = SQL_FALSE): Division {
  const { upper, lower } = condition;
  const isWhole = upper === lower && except === SQL_FALSE;
  if (isWhole && !readsFields) return { counted: `${within} and ${lower.text}`, others: undefined };
  const counted = except === SQL_FALSE ? lower.text : `(${lower.text} and not ${except.text})`;
  return {
    counted: `${within} and readable and ${counted}`,
    others: `${within} and (not readable${isWhole ? "" : ` or (${upper.text} and not ${counted})`})`,
  };
}

/** Runs a SELECT of this query. */
export async function select(
  { connection, signal, used }: Reading,
  text: string,
  take: Parameters<ClickHouseConnection["select"]>[2],
): Promise<void> {
  const { readBytes } = await connection.select(text, signal, take);
  used.bytes += readBytes;
}

/** The rows of a SELECT that gives few. */
export async function selectAll(reading: Reading, text: string): Promise<Row[]> {
  const all: Row[] = [];
  await select(reading, text, (rows) => {
    for (const row of rows) all.push(row);
  });
  return all;
}

/** Calls `take` for the selected events among those of a condition, in any order, without holding up other work. */
export async function eachEvent(reading: Reading, where: string, take: (event: Event) => void): Promise<void> {
  const yielder = new Yielder();
  await select(reading, `SELECT ${EVENT_COLUMNS} FROM ${EVENTS_TABLE} WHERE ${where}`, async (rows) => {
    for (const row of rows) {
      const event = eventOfColumns(row);
      if (reading.selects(event)) take(event);
      if (yielder.isDue()) await yielder.rest(reading.signal);
    }
  });
}
