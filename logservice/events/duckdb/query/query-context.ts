import type { Query } from "../../../../grammar/query/index.ts";
import { compilePredicate } from "../../../../grammar/query/index.ts";
import type { ColumnType, EventColumns } from "../../../../grammar/query/sql/columns.ts";
import { bothSql, type Sql, type SqlCondition, sql } from "../../../../grammar/query/sql/condition.ts";
import { querySql } from "../../../../grammar/query/sql/query-sql.ts";
import { type ColumnFilter, columnFilter } from "../../column-filter.ts";
import { Yielder } from "../../event-loop.ts";
import { canonicalTimestamp, firstNanosecond, nanosecondsOf } from "../../instant.ts";
import { generatedId, type StoredEvent } from "../../journal/line.ts";
import { type LineFilter, lineFilter } from "../../line-filter.ts";
import type { MemtableBatch } from "../../memtable.ts";
import type { MemtableView } from "../../memtables.ts";
import type { EventPosition, PositionedEvent } from "../../order.ts";
import type { Event, EventRange } from "../../store.ts";
import { allFields, type FieldSummary, isAbsent } from "../../summary/summary.ts";
import type { Columns, PoolSession, StatementRunner } from "../connection-pool.ts";
import type { LinePlace, QueryProcess } from "../engine/query-process.ts";
import type { Segment } from "../segment.ts";
import { fromFiles, ID } from "../segment-schema.ts";

/** One query: what it selects, the segments and memtables at one moment, and what reading them takes. */
export interface QueryContext {
  readonly selection: RangeSelection;
  readonly segments: readonly Segment[];
  readonly memtables: readonly MemtableView[];
  readonly pool: StatementRunner;
  /** Selects events instead of `selection.selects` if that may take long over a single one. */
  readonly process: QueryProcess | undefined;
  readonly session: PoolSession;
  readonly signal: AbortSignal;
  /** Throws SegmentsLost if a file is not what was written. */
  check(segments: readonly Segment[]): Promise<void>;
  readonly nowMs: number;
  /** Whether events are counted one by one, for which the engine needs little memory. */
  readonly isOneByOne: boolean;
  /** Updated while the query runs. */
  readonly used: { bytes: number; isScanned: boolean; readonly files: Set<string> };
}

/** A range as both sides test it. */
export interface RangeSelection {
  readonly range: EventRange;
  /** The earliest time that is answered: after the start of the range if older events have expired. */
  readonly startMs: number;
  readonly from: bigint;
  /** The first nanosecond after the range. */
  readonly to: bigint;
  readonly selects: (stored: { readonly event: StoredEvent["event"] }) => boolean;
  /** Tells of the lines of the newest events which may be selected, where the query can. */
  readonly filter: LineFilter | undefined;
  /** Selects the newest events by columns, where the query can. */
  readonly columns: ColumnFilter | undefined;
}

/** Events before `cutoffMs` have expired, whether they are still stored or not. */
export function selectionOf(range: EventRange, nowMs: number, cutoffMs: number = range.startMs): RangeSelection {
  const startMs = Math.max(range.startMs, cutoffMs);
  const predicate = range.query === undefined ? undefined : compilePredicate(range.query, { nowMs });
  return {
    range,
    startMs,
    from: firstNanosecond(startMs, "at-least"),
    to: firstNanosecond(range.stopMs, "above"),
    selects: predicate === undefined ? () => true : ({ event }) => predicate(event),
    filter: range.query === undefined ? undefined : lineFilter(range.query, nowMs),
    columns: columnFilter(range.query ?? NO_QUERY, nowMs),
  };
}

const NO_QUERY: Query = { source: "", expr: undefined };

export const overlaps = ({ first, last }: Segment, { from, to }: RangeSelection) => last >= from && first < to;
export const covers = ({ from, to }: RangeSelection, { first, last }: Segment) => first >= from && last < to;

export const segmentColumns = ({ columns, summary, eventBytes, events }: Segment): EventColumns => ({
  id: ID,
  typeOf(path) {
    const type = columns.get(JSON.stringify(path));
    if (type !== undefined) return type;
    if (isAbsent(summary, path)) return "absent";
    return eventBytes > LARGE_BYTES * events ? "unread" : undefined;
  },
  numbersOf: (path) => fieldOf(columns, summary, path, "number")?.numbers,
  textsOf(path) {
    const values = fieldOf(columns, summary, path, "string")?.values;
    // All are texts.
    return values === undefined ? undefined : new Set(values.keys() as Iterable<string>);
  },
});

/** The facts about a path that has a column of the type. */
function fieldOf(
  columns: Segment["columns"],
  summary: Segment["summary"],
  path: readonly (string | number)[],
  type: ColumnType,
): FieldSummary | undefined {
  const key = JSON.stringify(path);
  return columns.get(key) === type ? allFields(summary).get(key) : undefined;
}

// The engine reads the fields of 2,048 events as JSON at once, several times over: of 32 KiB each that takes its memory.
const LARGE_BYTES = 32 * 1024;

/** The selection as SQL over a segment: the query, and the range if the segment extends beyond it. */
export function segmentCondition({ selection, nowMs }: QueryContext, segment: Segment): SqlCondition {
  const query = selection.range.query ?? NO_QUERY;
  const bounds = querySql(query, { nowMs, columns: segmentColumns(segment), firstInstant: firstNanosecond });
  if (covers(selection, segment)) return bounds;
  const between = sql("(t >= ?::bigint and t < ?::bigint)", selection.from, selection.to);
  const within = (condition: Sql): Sql => bothSql(between, condition);
  const upper = within(bounds.upper);
  return { upper, lower: bounds.upper === bounds.lower ? upper : within(bounds.lower) };
}

/** Groups segments by a key; keys with the same JSON are the same. */
export function groupBy<Key>(
  segments: readonly Segment[],
  keyOf: (segment: Segment) => Key,
): { readonly segments: Segment[]; readonly key: Key }[] {
  const groups = new Map<string, { segments: Segment[]; key: Key }>();
  for (const segment of segments) {
    const key = keyOf(segment);
    const text = JSON.stringify(key, (_key, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { segments: [segment], key });
    else group.segments.push(segment);
  }
  return [...groups.values()];
}

/** Files that are read together: those of which all rows are asked, or one of which some are. */
export interface Scan {
  readonly segments: readonly Segment[];
  readonly from: string;
  /** "true" where all rows are asked. */
  readonly where: string;
}

/** Each by itself: of a range that is joined to others by "or" the engine reads every row group. */
export function scansOf(segments: readonly Segment[]): Scan[] {
  const whole = segments.filter(({ rows }) => rows === undefined);
  const parts = segments.flatMap((segment): Scan[] => {
    if (segment.rows === undefined) return [];
    const where = `file_row_number between ${segment.rows.join(" and ")}`;
    return [{ segments: [segment], from: fromFiles([segment]), where }];
  });
  return whole.length === 0 ? parts : [{ segments: whole, from: fromFiles(whole), where: "true" }, ...parts];
}

/** The events that are asked as one table. */
export function fromRows(segments: readonly Segment[]): string {
  const scans = scansOf(segments);
  if (scans.length === 1 && scans[0]!.where === "true") return scans[0]!.from;
  return `(${scans.map(({ from, where }) => `select * from ${from} where ${where}`).join(" union all by name ")})`;
}

/** Counts files as read. Before statements read them. */
export async function open(context: QueryContext, segments: readonly Segment[]): Promise<void> {
  const { used } = context;
  used.isScanned = true;
  for (const { path, bytes } of segments) {
    if (used.files.has(path)) continue;
    used.files.add(path);
    used.bytes += bytes;
  }
  await context.check(segments);
  await context.session.opens(segments);
}

/** The columns that a query is asked of; whether a message is cut is not one of them. */
const EVENT = `t, ${ID} as event_id, timestamp, level, message, fields`;

/** Reads the events of some segments that satisfy a condition. */
export async function readSegmentEvents(
  context: QueryContext,
  segments: readonly Segment[],
  { where, values }: Sql,
  take: (some: readonly { readonly event: Event }[]) => void | Promise<void>,
): Promise<void> {
  const { pool, signal } = context;
  await pool.run(`select ${EVENT} from ${fromRows(segments)} where ${where}`, values, signal, (columns) =>
    take(eventsOf(columns)),
  );
}

function eventsOf(columns: Columns): { readonly event: Event }[] {
  const [times, ids, timestamps, levels, messages, fields] = columns as [
    bigint[],
    string[],
    (string | null)[],
    string[],
    string[],
    string[],
  ];
  return times.map((nanoseconds, i) => {
    const row = { timestamp: timestamps[i]!, level: levels[i]!, message: messages[i]!, fields: fields[i]! };
    return { event: eventOfRow({ nanoseconds, id: ids[i]! }, row) };
  });
}

interface EventColumnValues {
  readonly timestamp: string | null;
  readonly level: string;
  readonly message: string;
  /** JSON. */
  readonly fields: string;
}

/** The event of a row. */
export const eventOfRow = (
  { nanoseconds, id }: EventPosition,
  { timestamp, level, message, fields }: EventColumnValues,
): Event => ({
  id,
  timestamp: timestamp ?? canonicalTimestamp(nanoseconds),
  level,
  message,
  fields: JSON.parse(fields),
});

export const positionOf = ({ event, sequence, hasOwnId }: StoredEvent): PositionedEvent => ({
  event,
  nanoseconds: BigInt(nanosecondsOf(event.timestamp)),
  id: hasOwnId ? event.id : generatedId(sequence),
});

/** Where an event is in the order of events. */
export const positionIn = (event: Event): EventPosition => ({
  nanoseconds: BigInt(nanosecondsOf(event.timestamp)),
  id: event.id,
});

/**
 * Calls `take` for the selected events in memory, in the order of acceptance. Yields to the event loop now and then:
 * predicates over a hundred thousand events take a while.
 */
export async function eachInMemory(
  context: QueryContext,
  take: (stored: StoredEvent) => void,
  views: readonly MemtableView[] = context.memtables,
): Promise<void> {
  const { selection, signal, used, process } = context;
  const { startMs } = selection;
  const { stopMs } = selection.range;
  const yielder = new Yielder();
  for (const { events, length } of views) {
    used.bytes += events.bytes;
    used.isScanned ||= length > 0;
    if (process !== undefined) {
      await eachByProcess(context, process, { events, length }, take);
      continue;
    }
    for (const batch of events.batches) {
      if (batch.eventsBefore >= length) break;
      if (batch.lastMs < startMs || batch.firstMs > stopMs) continue;
      const hits = selection.filter?.(batch.lines);
      const count = hits?.length ?? batch.length;
      for (let n = 0; n < count; n++) {
        const index = hits?.[n] ?? n;
        const ms = batch.lines.times[index]!;
        if (ms < startMs || ms > stopMs) continue;
        const stored = batch.at(index);
        if (selection.selects(stored)) take(stored);
        if (yielder.isDue()) await yielder.rest(signal);
      }
      if (yielder.isDue()) await yielder.rest(signal);
    }
  }
}

/** So many bytes are given to a process at once: it is not asked for each event. */
const PIECE_BYTES = 256 * 1024;

/** Calls `take` for the selected events of a memtable, which a process selects. */
async function eachByProcess(
  { selection, signal }: QueryContext,
  process: QueryProcess,
  { events, length }: MemtableView,
  take: (stored: StoredEvent) => void,
): Promise<void> {
  const { startMs, filter } = selection;
  const { stopMs } = selection.range;
  const yielder = new Yielder();
  let piece: LinePlace<MemtableBatch>[] = [];
  let bytes = 0;
  const flush = async () => {
    for (const { batch, index } of await process.select(piece)) take(batch.at(index));
    [piece, bytes] = [[], 0];
  };
  for (const batch of events.batches) {
    if (batch.eventsBefore >= length) break;
    if (batch.lastMs < startMs || batch.firstMs > stopMs) continue;
    const { times, starts } = batch.lines;
    const hits = filter?.(batch.lines);
    const count = hits?.length ?? batch.length;
    for (let n = 0; n < count; n++) {
      const index = hits?.[n] ?? n;
      const ms = times[index]!;
      if (ms < startMs || ms > stopMs) continue;
      piece.push({ batch, index });
      bytes += starts[index + 1]! - starts[index]!;
      if (bytes >= PIECE_BYTES) await flush();
    }
    if (yielder.isDue()) await yielder.rest(signal);
  }
  await flush();
}
