import type { Sql } from "../../../../grammar/query/sql/condition.ts";
import type { EventPosition, PositionedEvent } from "../../order.ts";
import { bytesOf } from "../../page.ts";
import type { Segment } from "../segment.ts";
import { fromFiles, ID, TRUNCATED } from "../segment-schema.ts";
import { eventOfRow, type QueryContext, scansOf } from "./query-context.ts";

/** A page: the first `limit` events after a position. */
export interface PageBounds {
  /** 1 from the oldest on, -1 from the newest on. */
  readonly sign: 1 | -1;
  readonly after: EventPosition | undefined;
  readonly limit: number;
}

/** The row of an event in a segment. */
export interface SegmentRow extends EventPosition {
  readonly segment: Segment;
  readonly row: number;
}

/** An event that was looked at, with its length as JSON. */
export interface SizedEvent extends PositionedEvent {
  readonly bytes: number;
}

/**
 * The first rows of a condition. Only positions are read: a page's events
 * are few, or large, and the fields of a row group are unpacked all at once.
 */
export async function firstRows(
  { pool, signal }: QueryContext,
  segments: readonly Segment[],
  { where, values }: Sql,
  { sign, after, limit }: PageBounds,
): Promise<SegmentRow[]> {
  const direction = sign > 0 ? "asc" : "desc";
  const beyond = sign > 0 ? ">" : "<";
  // The first part says nothing new, but of a row group as a whole.
  const isAfter = `t ${beyond}= ?::bigint and (t ${beyond} ?::bigint or ${ID} ${beyond} ?)`;
  const scans = scansOf(segments);
  const selects = scans.map(
    (
      scan,
      number,
    ) => `select t, ${ID} as event_id, ${number} as scan, file_index::integer as file, file_row_number::double as row
      from ${scan.from} where ${scan.where} and ${where}${after === undefined ? "" : ` and ${isAfter}`}`,
  );
  const each = [...values, ...(after === undefined ? [] : [after.nanoseconds, after.nanoseconds, after.id])];
  const rows: SegmentRow[] = [];
  await pool.run(
    `${selects.join(" union all ")} order by t ${direction}, event_id ${direction} limit ${limit}`,
    scans.flatMap(() => each),
    signal,
    (columns) => {
      const [times, ids, numbers, files, rowNumbers] = columns as [bigint[], string[], number[], number[], number[]];
      for (let i = 0; i < times.length; i++) {
        const segment = scans[numbers[i]!]!.segments[files[i]!]!;
        rows.push({ nanoseconds: times[i]!, id: ids[i]!, segment, row: rowNumbers[i]! });
      }
    },
  );
  return rows;
}

/** Reads the events of rows in their order, a bounded number of bytes ahead. Events that were read already pass through. */
export async function* eventsAt(
  context: QueryContext,
  positions: readonly (SegmentRow | PositionedEvent | SizedEvent)[],
): AsyncGenerator<SizedEvent> {
  // A hundred are asked for most often. How large they are is known of the first ones.
  let size = FIRST_ROWS;
  let [read, bytes] = [0, 0];
  for (let from = 0; from < positions.length; from += size) {
    if (read > 0) size = Math.min(Math.max(1, Math.floor((AHEAD_BYTES * read) / bytes)), MOST_ROWS);
    const some = positions.slice(from, from + size);
    const events = await readRows(context, some.filter(isRow));
    for (const one of some) {
      const sized = isRow(one) ? events.get(one)! : "bytes" in one ? one : sizedOf(one);
      read++;
      bytes += sized.bytes;
      yield sized;
    }
  }
}

const FIRST_ROWS = 128;
const MOST_ROWS = 2048;
const AHEAD_BYTES = 4 * 1024 * 1024;

const isRow = (one: SegmentRow | PositionedEvent): one is SegmentRow => "row" in one;

const sizedOf = (placed: PositionedEvent): SizedEvent => ({
  ...placed,
  bytes: bytesOf(placed.event, JSON.stringify(placed.event.fields)),
});

async function readRows(
  { pool, signal }: QueryContext,
  rows: readonly SegmentRow[],
): Promise<Map<SegmentRow, SizedEvent>> {
  const bySegment = new Map<Segment, Map<number, SegmentRow>>();
  for (const row of rows) {
    const here = bySegment.get(row.segment) ?? new Map<number, SegmentRow>();
    bySegment.set(row.segment, here.set(row.row, row));
  }
  const events = new Map<SegmentRow, SizedEvent>();
  await Promise.all(
    [...bySegment].map(([segment, here]) => {
      const numbers = [...here.keys()].sort((a, b) => a - b);
      const [first, last] = [numbers[0]!, numbers.at(-1)!];
      const truncated = segment.hasTruncated ? `, ${TRUNCATED}` : "";
      const among = last - first < numbers.length ? "" : ` and file_row_number in (${numbers.join(", ")})`;
      return pool.run(
        `select file_row_number::double, timestamp, level, message, fields${truncated} from ${fromFiles([segment])}
          where file_row_number between ${first} and ${last}${among}`,
        [],
        signal,
        (columns) => {
          const [rowNumbers, timestamps, levels, messages, fields, cut] = columns as [
            number[],
            (string | null)[],
            string[],
            string[],
            string[],
            (boolean | null)[]?,
          ];
          for (let i = 0; i < rowNumbers.length; i++) {
            const row = here.get(rowNumbers[i]!)!;
            const { nanoseconds, id } = row;
            const values = { timestamp: timestamps[i]!, level: levels[i]!, message: messages[i]!, fields: fields[i]! };
            const whole = eventOfRow(row, values);
            const event = cut?.[i] === true ? { ...whole, truncated: true as const } : whole;
            events.set(row, { event, nanoseconds, id, bytes: bytesOf(event, fields[i]!) });
          }
        },
      );
    }),
  );
  return events;
}
