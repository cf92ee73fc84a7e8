import { type Condition, FALSE } from "../../../grammar/query/sql/condition.ts";
import { comparePlaces, type Place, type PlacedEvent, printCursor, readCursor } from "../order.ts";
import { Pace } from "../pace.ts";
import { hasRoom, PAGE_BYTES } from "../page.ts";
import type { Page } from "../store.ts";
import type { StoredEvent } from "../stored.ts";
import { eventsAt, firstRows, type Row } from "./rows.ts";
import type { Segment } from "./segments.ts";
import { conditionOf, eachNewest, groupBy, open, overlaps, placeOf, type Selection, type Source } from "./source.ts";

/** A page of events. Segments are opened from the wanted end on, 1, 2, 4 ... at once, until no other can change the page. */
export async function search(
  source: Source,
  selection: Selection,
  { limit, order, cursor }: Page,
  signal: AbortSignal,
): Promise<{ events: PlacedEvent[]; cursor: string | undefined }> {
  const sign = order === "ascending" ? 1 : -1;
  const compare = (a: Place, b: Place) => sign * comparePlaces(a, b);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (limit <= 0) return { events: [], cursor: undefined };
  // One more says whether there is another page.
  const wanted = limit + 1;
  let found: (Row | PlacedEvent)[] = await newestPage(source, selection, wanted, sign, after, signal);
  const near = ({ first, last }: Segment) => (sign > 0 ? first : last);
  const waiting = source.segments
    .filter((segment) => overlaps(segment, selection) && !isBefore(segment, after, sign))
    .sort((a, b) => sign * (near(a) < near(b) ? -1 : near(a) > near(b) ? 1 : 0));
  for (let count = 1; waiting.length > 0; count *= 2) {
    const last = found[wanted - 1];
    const ahead = near(waiting[0]!);
    if (last !== undefined && (sign > 0 ? last.nanoseconds < ahead : last.nanoseconds > ahead)) break;
    const groups = groupBy(waiting.splice(0, count), (segment) => conditionOf(selection, segment, source.nowMs));
    const pages = await Promise.all(
      groups
        .filter(({ asked }) => asked.upper !== FALSE)
        .map(async ({ asked, segments }) => {
          await open(source, segments);
          return segmentsPage(source, selection, asked, segments, wanted, sign, after, signal);
        }),
    );
    found = [found, ...pages].flat().sort(compare).slice(0, wanted);
  }
  const page: PlacedEvent[] = [];
  let bytes = 0;
  for await (const placed of eventsAt(source, found.slice(0, limit), signal)) {
    if (!hasRoom(bytes, placed.bytes)) break;
    page.push(placed);
    bytes += placed.bytes;
  }
  return { events: page, cursor: found.length > page.length ? printCursor(page.at(-1)!) : undefined };
}

/** Whether a page that begins behind a place has passed a segment. */
function isBefore({ first, last }: Segment, after: Place | undefined, sign: number): boolean {
  if (after === undefined) return false;
  return sign > 0 ? last < after.nanoseconds : first > after.nanoseconds;
}

async function newestPage(
  source: Source,
  selection: Selection,
  wanted: number,
  sign: number,
  after: Place | undefined,
  signal: AbortSignal,
): Promise<PlacedEvent[]> {
  const compare = (a: Place, b: Place) => sign * comparePlaces(a, b);
  const isBehind = (place: Place) => after === undefined || compare(place, after) > 0;
  const found: PlacedEvent[] = [];
  for (const one of source.newest) {
    const here: PlacedEvent[] = [];
    const take = (stored: StoredEvent) => {
      const placed = placeOf(stored);
      if (isBehind(placed)) here.push(placed);
    };
    if (one.list.isOrdered) await inOrder(source, selection, one, wanted, sign, signal, take, here);
    else await eachNewest(source, selection, signal, take, [one]);
    here.sort(compare);
    found.push(...here.slice(0, wanted));
  }
  return found.sort(compare).slice(0, wanted);
}

/** A list in the order of time is read from its wanted end, until the page is full and the time another. */
async function inOrder(
  source: Source,
  { range: { stopMs }, startMs, selects, filter }: Selection,
  { list, length }: Source["newest"][number],
  wanted: number,
  sign: number,
  signal: AbortSignal,
  take: (stored: StoredEvent) => void,
  taken: readonly PlacedEvent[],
): Promise<void> {
  const pace = new Pace();
  const chunks = list.chunks.filter(({ begin }) => begin < length);
  if (sign < 0) chunks.reverse();
  let lastMs: number | undefined;
  for (const chunk of chunks) {
    if (chunk.lastMs < startMs || chunk.firstMs > stopMs) continue;
    if (taken.length >= wanted && (sign > 0 ? chunk.firstMs : chunk.lastMs) !== lastMs) return;
    source.used.isScanned = true;
    const places = filter?.(chunk.lines);
    const count = places?.length ?? chunk.length;
    for (let looked = 0; looked < count; looked++) {
      const n = sign > 0 ? looked : count - 1 - looked;
      const place = places?.[n] ?? n;
      const ms = chunk.lines.times[place]!;
      if (taken.length >= wanted && ms !== lastMs) return;
      lastMs = ms;
      if (ms < startMs || ms > stopMs) continue;
      const stored = chunk.at(place);
      if (selects(stored)) take(stored);
      if (pace.isDue()) await pace.rest(signal);
    }
    if (pace.isDue()) await pace.rest(signal);
  }
}

async function segmentsPage(
  source: Source,
  selection: Selection,
  { upper, lower }: Condition,
  segments: readonly Segment[],
  wanted: number,
  sign: number,
  after: Place | undefined,
  signal: AbortSignal,
): Promise<(Row | PlacedEvent)[]> {
  if (upper === lower) return firstRows(source, segments, upper, sign, after, wanted, signal);
  const found: PlacedEvent[] = [];
  let bytes = 0;
  let from = after;
  for (let limit = wanted; ; limit = Math.min(limit * 4, MOST_AT_ONCE)) {
    const rows = await firstRows(source, segments, upper, sign, from, limit, signal);
    for await (const placed of eventsAt(source, rows, signal)) {
      if (!selection.selects(placed)) continue;
      found.push(placed);
      bytes += placed.bytes;
      // No page takes more of these.
      if (found.length >= wanted || bytes > PAGE_BYTES) return found;
    }
    if (rows.length < limit) return found;
    from = rows.at(-1);
  }
}

// Of places only.
const MOST_AT_ONCE = 10_000;
