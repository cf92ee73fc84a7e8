// The first events in an order of their fields: of each kind of segment as many as are wanted, and those in memory.
import {
  columnOf,
  readOfField,
  type SortKey,
  type SortOrder,
  sortOrder,
  type Target,
  target,
} from "../../../../../grammar/query/index.ts";
import { comparePositions, type PositionedEvent } from "../../../order.ts";
import { type Event, tooMuch } from "../../../store.ts";
import { ID } from "../../segment-schema.ts";
import { gather, type SqlPart } from "../aggregate.ts";
import { positionIn, type QueryContext, scansOf } from "../query-context.ts";
import { eventsAt, type SegmentRow } from "../rows.ts";
import { type ColumnSource, type SegmentSources, sourcesOf } from "./sources.ts";

/** As many large events are more than is read at once. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Events among which the first `most` by the keys are, in the order of their positions. */
export async function topEvents(
  context: QueryContext,
  keys: readonly SortKey[],
  most: number,
): Promise<readonly PositionedEvent[]> {
  const inputs = keys.map(({ column }) => ({ use: "key" as const, column, target: target(column) }));
  const first = new FirstEvents(keys, most);
  const parts = await gather<SegmentSources>(context, {
    summary: () => false,
    ask: (segment) => sourcesOf(segment, { by: [], inputs }),
    event: ({ event }) => first.add(event),
  });
  const events = [...first.events];
  let bytes = 0;
  for (const part of parts) {
    for await (const event of eventsAt(context, await firstOfPart(context, part, { keys, most }))) {
      events.push(event);
      bytes += event.bytes;
      if (bytes > MOST_BYTES) throw tooMuch();
    }
  }
  return events.sort(comparePositions);
}

interface Ordered {
  readonly keys: readonly SortKey[];
  readonly most: number;
}

/** The rows of the first events of some segments. */
async function firstOfPart(
  { pool, signal }: QueryContext,
  { segments, reading, counted }: SqlPart<SegmentSources>,
  { keys, most }: Ordered,
): Promise<SegmentRow[]> {
  const jsons = reading.jsons.map((_, at) => `, json_extract(fields, ?)::varchar as j${at}`).join("");
  const order = reading.inputs.flatMap((source, at) => {
    const { column, direction: written } = keys[at]!;
    const direction = written === "desc" ? "desc nulls last" : "asc nulls first";
    return orderSql(source, target(column)).map((text) => ({ text, direction }));
  });
  const keyColumns = order.map(({ text }, at) => `, ${text} as k${at}`).join("");
  const scans = scansOf(segments);
  const selects = scans.map(
    ({ from, where }, number) => `select t, ${ID} as event_id, ${number} as scan, file, row${keyColumns}
      from (select *, file_index::integer as file, file_row_number::double as row${jsons} from ${from}
        where ${where} and ${counted.where})`,
  );
  const by = [...order.map(({ direction }, at) => `k${at} ${direction}`), "t", "event_id"].join(", ");
  const rows: SegmentRow[] = [];
  await pool.run(
    `select t, event_id, scan, file, row from (${selects.join(" union all ")}) order by ${by} limit ${most}`,
    scans.flatMap(() => [...reading.jsons, ...counted.values]),
    signal,
    (columns) => {
      const [times, ids, numbers, files, rowNumbers] = columns as [bigint[], string[], number[], number[], number[]];
      for (let at = 0; at < times.length; at++) {
        const segment = scans[numbers[at]!]!.segments[files[at]!]!;
        rows.push({ nanoseconds: times[at]!, id: ids[at]!, segment, row: rowNumbers[at]! });
      }
    },
  );
  return rows;
}

/**
 * The expressions that order values as the language does: levels are their severity, and of JSON the type is first, then the
 * value of that type.
 */
function orderSql({ type, text }: ColumnSource, place: Target): string[] {
  // SQL reads microseconds of a text, and not nanoseconds.
  if (place.at === "entry" && place.name === "timestamp") return ["t"];
  switch (type) {
    case "absent":
      return [];
    case "json":
      return [
        `case when ${text} is null then 0 when ${text} = 'false' then 1 when ${text} = 'true' then 2
          when starts_with(${text}, '"') then 4 else 3 end`,
        `try_cast(${text} as double)`,
        `case when starts_with(${text}, '"') then json_extract_string(${text}::json, '$') end`,
      ];
    default:
      return [text];
  }
}

interface Candidate extends PositionedEvent {
  readonly cells: readonly unknown[];
}

/** Keeps the first of what is added. */
class FirstEvents {
  readonly #keys: readonly SortKey[];
  readonly #reads: readonly ((event: Event) => unknown)[];
  readonly #orders: readonly SortOrder[];
  readonly #most: number;
  #events: Candidate[] = [];

  constructor(keys: readonly SortKey[], most: number) {
    this.#keys = keys;
    this.#reads = keys.map(({ column }) => readOfField(column));
    this.#orders = keys.map(({ column }) => sortOrder(columnOf(column, { kind: "events" }).type));
    this.#most = most;
  }

  add(event: Event): void {
    this.#events.push({
      event,
      ...positionIn(event),
      cells: this.#reads.map((read, at) => this.#orders[at]!.key(read(event))),
    });
    // Sorting what is wanted costs little then for each.
    if (this.#events.length < 2 * this.#most + 1000) return;
    this.#events = this.#events.sort((a, b) => this.#compare(a, b)).slice(0, this.#most);
  }

  get events(): readonly PositionedEvent[] {
    return this.#events.sort((a, b) => this.#compare(a, b)).slice(0, this.#most);
  }

  #compare(a: Candidate, b: Candidate): number {
    for (const [at, { direction }] of this.#keys.entries()) {
      const order = this.#orders[at]!.compare(a.cells[at], b.cells[at]);
      if (order !== 0) return direction === "desc" ? -order : order;
    }
    return comparePositions(a, b);
  }
}
