import type { Sql } from "../../../grammar/query/sql/condition.ts";
import type { Place, PlacedEvent } from "../order.ts";
import { bytesOf } from "../page.ts";
import type { Segment } from "./segments.ts";
import { TRUNCATED } from "./sidecar.ts";
import { eventOf, fromFiles, ID, type Source, scansOf } from "./source.ts";

/** Where an event stands in a segment. */
export interface Row extends Place {
  readonly segment: Segment;
  readonly row: number;
}

/** An event that was looked at, with its length as JSON. */
export interface SizedEvent extends PlacedEvent {
  readonly bytes: number;
}

/**
 * The first rows of a condition, by `sign` from the oldest (1) or the newest (-1) on. Only places are read: a page's events
 * are few, or large, and the fields of a row group are unpacked all at once.
 */
export async function firstRows(
  source: Source,
  segments: readonly Segment[],
  { where, values }: Sql,
  sign: number,
  after: Place | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<Row[]> {
  const direction = sign > 0 ? "asc" : "desc";
  const beyond = sign > 0 ? ">" : "<";
  // The first part says nothing new, but of a row group as a whole.
  const behind = `t ${beyond}= ?::bigint and (t ${beyond} ?::bigint or ${ID} ${beyond} ?)`;
  const scans = scansOf(segments);
  const selects = scans.map(
    (
      scan,
      number,
    ) => `select t, ${ID} as event_id, ${number} as scan, file_index::integer as file, file_row_number::double as row
      from ${scan.from} where ${scan.where} and ${where}${after === undefined ? "" : ` and ${behind}`}`,
  );
  const each = [...values, ...(after === undefined ? [] : [after.nanoseconds, after.nanoseconds, after.id])];
  const rows: Row[] = [];
  await source.readers.run(
    `${selects.join(" union all ")} order by t ${direction}, event_id ${direction} limit ${limit}`,
    scans.flatMap(() => each),
    signal,
    (columns) => {
      const [times, ids, numbers, files, found] = columns as [bigint[], string[], number[], number[], number[]];
      for (let i = 0; i < times.length; i++) {
        const segment = scans[numbers[i]!]!.segments[files[i]!]!;
        rows.push({ nanoseconds: times[i]!, id: ids[i]!, segment, row: found[i]! });
      }
    },
  );
  return rows;
}

/** Reads the events of places in their order, a bounded number of bytes ahead. Events that are there already pass. */
export async function* eventsAt(
  source: Source,
  places: readonly (Row | PlacedEvent | SizedEvent)[],
  signal: AbortSignal,
): AsyncGenerator<SizedEvent> {
  // A hundred are asked for most often. How large they are is known of the first ones.
  let size = FIRST_ROWS;
  let [read, bytes] = [0, 0];
  for (let from = 0; from < places.length; from += size) {
    if (read > 0) size = Math.min(Math.max(1, Math.floor((AHEAD_BYTES * read) / bytes)), MOST_ROWS);
    const some = places.slice(from, from + size);
    const events = await readRows(source, some.filter(isRow), signal);
    for (const place of some) {
      const sized = isRow(place) ? events.get(place)! : "bytes" in place ? place : sizedOf(place);
      read++;
      bytes += sized.bytes;
      yield sized;
    }
  }
}

const FIRST_ROWS = 128;
const MOST_ROWS = 2048;
const AHEAD_BYTES = 4 * 1024 * 1024;

const isRow = (place: Row | PlacedEvent): place is Row => "row" in place;

const sizedOf = (placed: PlacedEvent): SizedEvent => ({
  ...placed,
  bytes: bytesOf(placed.event, JSON.stringify(placed.event.fields)),
});

async function readRows(source: Source, rows: readonly Row[], signal: AbortSignal): Promise<Map<Row, SizedEvent>> {
  const bySegment = new Map<Segment, Map<number, Row>>();
  for (const row of rows) {
    const here = bySegment.get(row.segment) ?? new Map<number, Row>();
    bySegment.set(row.segment, here.set(row.row, row));
  }
  const events = new Map<Row, SizedEvent>();
  await Promise.all(
    [...bySegment].map(([segment, here]) => {
      const numbers = [...here.keys()].sort((a, b) => a - b);
      const [first, last] = [numbers[0]!, numbers.at(-1)!];
      const truncated = segment.hasTruncated ? `, ${TRUNCATED}` : "";
      const among = last - first < numbers.length ? "" : ` and file_row_number in (${numbers.join(", ")})`;
      return source.readers.run(
        `select file_row_number::double, timestamp, level, message, fields${truncated} from ${fromFiles([segment])}
          where file_row_number between ${first} and ${last}${among}`,
        [],
        signal,
        (columns) => {
          const [found, timestamps, levels, messages, fields, cut] = columns as [
            number[],
            (string | null)[],
            string[],
            string[],
            string[],
            (boolean | null)[]?,
          ];
          for (let i = 0; i < found.length; i++) {
            const row = here.get(found[i]!)!;
            const { nanoseconds, id } = row;
            const whole = eventOf(row, timestamps[i]!, levels[i]!, messages[i]!, fields[i]!);
            const event = cut?.[i] === true ? { ...whole, truncated: true as const } : whole;
            events.set(row, { event, nanoseconds, id, bytes: bytesOf(event, fields[i]!) });
          }
        },
      );
    }),
  );
  return events;
}
