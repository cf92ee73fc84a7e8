import { SQL_FALSE, type SqlCondition } from "../../../../grammar/query/sql/condition.ts";
import { type EventPosition, type PositionedEvent, printCursor, readPosition } from "../../order.ts";
import { PAGE_BYTES, pageFits } from "../../page.ts";
import type { SearchQuery } from "../../store.ts";
import type { Segment } from "../segment.ts";
import { firstOf, pageInMemory } from "./memory-page.ts";
import { groupBy, open, overlaps, type QueryContext, segmentCondition } from "./query-context.ts";
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

/** Whether a page that begins after a position has passed a segment. */
function isBefore({ first, last }: Segment, after: EventPosition | undefined, sign: number): boolean {
  if (after === undefined) return false;
  return sign > 0 ? last < after.nanoseconds : first > after.nanoseconds;
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
