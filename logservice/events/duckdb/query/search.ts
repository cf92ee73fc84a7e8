import { SQL_FALSE, type SqlCondition } from "../../../../grammar/query/sql/condition.ts";
import { Yielder } from "../../event-loop.ts";
import type { StoredEvent } from "../../journal/line.ts";
import type { MemtableView } from "../../memtables.ts";
import { comparePositions, type EventPosition, type PositionedEvent, printCursor, readPosition } from "../../order.ts";
import { PAGE_BYTES, pageFits } from "../../page.ts";
import type { SearchQuery } from "../../store.ts";
import type { Segment } from "../segment.ts";
import {
  eachByProcess,
  eachInMemory,
  groupBy,
  open,
  overlaps,
  positionOf,
  type QueryContext,
  type ReadingOrder,
  segmentCondition,
} from "./query-context.ts";
import { eventsAt, firstRows, type PageBounds, type SegmentRow, type SizedEvent } from "./rows.ts";

type Matches = readonly (SegmentRow | PositionedEvent)[];

/** A page of events. Segments are opened from the wanted end on, 1, 2, 4 ... at once, until no other can change the page. */
export async function search(
  context: QueryContext,
  { limit, order, cursor }: Pick<SearchQuery, "limit" | "order" | "cursor">,
): Promise<{ events: SizedEvent[]; cursor: string | undefined }> {
  const sign = order === "ascending" ? 1 : -1;
  const after = cursor === undefined ? undefined : readPosition(cursor);
  if (limit <= 0) return { events: [], cursor: undefined };
  // One more event tells whether there is another page.
  const matches = await find(context, { sign, after, limit: limit + 1 });
  const page: SizedEvent[] = [];
  let bytes = 0;
  for await (const event of eventsAt(context, matches.slice(0, limit))) {
    if (!pageFits(bytes, event.bytes)) break;
    page.push(event);
    bytes += event.bytes;
  }
  return { events: page, cursor: matches.length > page.length ? printCursor(page.at(-1)!) : undefined };
}

async function find(context: QueryContext, bounds: PageBounds): Promise<Matches> {
  const { selection, segments } = context;
  const { sign, after, limit } = bounds;
  let matches: Matches = await pageInMemory(context, bounds);
  const near = ({ first, last }: Segment) => (sign > 0 ? first : last);
  const waiting = segments
    .filter((segment) => overlaps(segment, selection) && !isBefore(segment, after, sign))
    .sort((a, b) => sign * (near(a) < near(b) ? -1 : near(a) > near(b) ? 1 : 0));
  for (let count = 1; waiting.length > 0; count *= 2) {
    const last = matches[limit - 1];
    const next = near(waiting[0]!);
    if (last !== undefined && (sign > 0 ? last.nanoseconds < next : last.nanoseconds > next)) break;
    const groups = groupBy(waiting.splice(0, count), (segment) => segmentCondition(context, segment));
    const pages = await Promise.all(
      groups
        .filter(({ key }) => key.upper !== SQL_FALSE)
        .map(async ({ key: condition, segments }) => {
          await open(context, segments);
          return pageOfSegments(context, segments, condition, bounds);
        }),
    );
    matches = firstOf([matches, ...pages].flat(), bounds);
  }
  return matches;
}

function firstOf<One extends EventPosition>(positions: One[], { sign, limit }: PageBounds): One[] {
  return positions.sort((a, b) => sign * comparePositions(a, b)).slice(0, limit);
}

/** Whether a page that begins after a position has passed a segment. */
function isBefore({ first, last }: Segment, after: EventPosition | undefined, sign: number): boolean {
  if (after === undefined) return false;
  return sign > 0 ? last < after.nanoseconds : first > after.nanoseconds;
}

async function pageInMemory(context: QueryContext, bounds: PageBounds): Promise<PositionedEvent[]> {
  const { sign, after } = bounds;
  const matches: PositionedEvent[] = [];
  for (const view of context.memtables) {
    const here: PositionedEvent[] = [];
    const take = (stored: StoredEvent) => {
      const event = positionOf(stored);
      if (after === undefined || sign * comparePositions(event, after) > 0) here.push(event);
    };
    const isFull = () => here.length >= bounds.limit;
    if (view.events.isOrdered) await readOrdered(context, view, { sign, take, isFull });
    else await eachInMemory(context, take, [view]);
    matches.push(...firstOf(here, bounds));
  }
  return firstOf(matches, bounds);
}

/** Reads events in the order of time from the wanted end on, until the page is full and the time changes. */
async function readOrdered(context: QueryContext, view: MemtableView, order: ReadingOrder): Promise<void> {
  const { selection, signal, used, process } = context;
  if (process !== undefined) {
    used.isScanned ||= view.length > 0;
    return eachByProcess(context, process, view, order);
  }
  const { events, length } = view;
  const { sign, take, isFull } = order;
  const { startMs, selects, filter } = selection;
  const { stopMs } = selection.range;
  const yielder = new Yielder();
  const batches = events.batches.filter(({ eventsBefore }) => eventsBefore < length);
  if (sign < 0) batches.reverse();
  let lastMs: number | undefined;
  for (const batch of batches) {
    if (batch.lastMs < startMs || batch.firstMs > stopMs) continue;
    if (isFull() && (sign > 0 ? batch.firstMs : batch.lastMs) !== lastMs) return;
    used.isScanned = true;
    const hits = filter?.(batch.lines);
    const count = hits?.length ?? batch.length;
    for (let read = 0; read < count; read++) {
      const n = sign > 0 ? read : count - 1 - read;
      const index = hits?.[n] ?? n;
      const ms = batch.lines.times[index]!;
      if (isFull() && ms !== lastMs) return;
      lastMs = ms;
      if (ms < startMs || ms > stopMs) continue;
      const stored = batch.at(index);
      if (selects(stored)) take(stored);
      if (yielder.isDue()) await yielder.rest(signal);
    }
    if (yielder.isDue()) await yielder.rest(signal);
  }
}

/** The first events of some segments. Rows between the bounds of the condition are read and given to the predicate. */
async function pageOfSegments(
  context: QueryContext,
  segments: readonly Segment[],
  { upper, lower }: SqlCondition,
  bounds: PageBounds,
): Promise<Matches> {
  if (upper === lower) return firstRows(context, segments, upper, bounds);
  const matches: PositionedEvent[] = [];
  let bytes = 0;
  let { after } = bounds;
  for (let limit = bounds.limit; ; limit = Math.min(limit * 4, MAX_ROWS)) {
    const rows = await firstRows(context, segments, upper, { ...bounds, after, limit });
    for await (const event of eventsAt(context, rows)) {
      if (!(await isSelected(context, event))) continue;
      matches.push(event);
      bytes += event.bytes;
      // No page takes more of these.
      if (matches.length >= bounds.limit || bytes > PAGE_BYTES) return matches;
    }
    if (rows.length < limit) return matches;
    after = rows.at(-1);
  }
}

async function isSelected({ selection, process }: QueryContext, one: SizedEvent): Promise<boolean> {
  return process === undefined ? selection.selects(one) : (await process.selectEvents([one])).length > 0;
}

/** Rows of one statement, of which only positions are read. */
const MAX_ROWS = 10_000;
