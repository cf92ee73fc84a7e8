import { comparePositions, type EventPosition, printCursor, readPosition } from "../order.ts";
import { pageFits } from "../page.ts";
import type { Event, SearchQuery } from "../store.ts";
import { instantLiteral, sqlLiteral } from "./literal.ts";
import { candidates, isExact, type Reading, select, selectAll } from "./reading.ts";
import { EVENT_COLUMNS, eventOfColumns } from "./rows.ts";
import { EVENTS_TABLE } from "./schema.ts";

interface Place extends EventPosition {
  /** Size of the event as JSON. */
  readonly bytes: number;
}

interface Page {
  readonly events: readonly Event[];
  readonly cursor: string | undefined;
}

/**
 * First the places of events that may be selected, by columns that take few bytes, then those events. If the predicate has
 * to decide, more of them are looked at each time, until the page is full.
 */
export async function searchPage(reading: Reading, query: SearchQuery): Promise<Page> {
  const { limit, order } = query;
  const page: Event[] = [];
  let held = 0;
  let last: Place | undefined;
  let after = query.cursor === undefined ? undefined : readPosition(query.cursor);
  const cut = (): Page => ({ events: page, cursor: last && printCursor(last) });
  for (let most = limit + 1; ; most = Math.min(most * 4, MOST_PLACES)) {
    const places = await placesAfter(reading, { order, after, most });
    for (const some of portionsOf(places)) {
      // The page is full, and nothing has to be read to know it.
      if (isExact(reading) && !reading.readsFields && page.length >= limit) return cut();
      const events = await eventsAt(reading, some);
      for (const place of some) {
        const event = events.get(keyOf(place))?.pop();
        if (event === undefined || !reading.selects(event)) continue;
        if (page.length >= limit || !pageFits(held, place.bytes)) return cut();
        page.push(event);
        held += place.bytes;
        last = place;
      }
    }
    if (places.length < most) return { events: page, cursor: undefined };
    after = places.at(-1);
  }
}

/** The most places that are read at once. */
const MOST_PLACES = 20_000;

interface PlacesQuestion extends Pick<SearchQuery, "order"> {
  readonly after: EventPosition | undefined;
  readonly most: number;
}

async function placesAfter(reading: Reading, { order, after, most }: PlacesQuestion): Promise<Place[]> {
  const [direction, sign] = order === "ascending" ? ["ASC", ">"] : ["DESC", "<"];
  const rows = await selectAll(
    reading,
    `SELECT toString(toUnixTimestamp64Nano(timestamp)), id, bytes FROM ${EVENTS_TABLE}
WHERE ${candidates(reading)}${after === undefined ? "" : ` and ${isBeyond(after, sign!)}`}
ORDER BY timestamp ${direction}, id ${direction} LIMIT ${most}`,
  );
  return rows.map((row) => {
    const [nanoseconds, id, bytes] = row as [string, string, number];
    return { nanoseconds: BigInt(nanoseconds), id, bytes };
  });
}

/** The first comparison is for the index, which is of times and ids. */
function isBeyond({ nanoseconds, id }: EventPosition, sign: string): string {
  const at = instantLiteral(nanoseconds);
  const isStorable = nanoseconds >= FIRST_INT64 && nanoseconds <= LAST_INT64;
  // A cursor may be anything that looks like one.
  if (!isStorable) return nanoseconds < 0n === (sign === ">") ? "true" : "false";
  return `timestamp ${sign}= ${at} and (timestamp ${sign} ${at} or id ${sign} ${sqlLiteral(id.replace(/\p{Cs}/gu, "\ufffd"))})`;
}

const FIRST_INT64 = -(2n ** 63n);
const LAST_INT64 = 2n ** 63n - 1n;

/** Parts of the places whose events are no more than a page holds. */
function* portionsOf(places: readonly Place[]): Iterable<readonly Place[]> {
  for (let from = 0, to = 0; from < places.length; from = to) {
    for (let bytes = 0; to < places.length && pageFits(bytes, places[to]!.bytes); to++) bytes += places[to]!.bytes;
    yield places.slice(from, to);
  }
}

const keyOf = ({ nanoseconds, id }: EventPosition) => `${nanoseconds} ${id}`;

/** The events at some places, by those. */
async function eventsAt(reading: Reading, places: readonly Place[]): Promise<Map<string, Event[]>> {
  const events = new Map<string, Event[]>();
  const sorted = [places[0]!, places.at(-1)!].sort(comparePositions);
  const [from, to] = sorted.map(({ nanoseconds }) => instantLiteral(nanoseconds));
  const list = places.map(({ nanoseconds, id }) => `(${nanoseconds}, ${sqlLiteral(id)})`).join(", ");
  await select(
    reading,
    `SELECT ${EVENT_COLUMNS} FROM ${EVENTS_TABLE} WHERE project = ${sqlLiteral(reading.range.project)}
and timestamp >= ${from} and timestamp <= ${to} and (toUnixTimestamp64Nano(timestamp), id) in (${list})`,
    (rows) => {
      for (const row of rows) {
        const key = `${row[0]} ${row[1]}`;
        const here = events.get(key);
        if (here === undefined) events.set(key, [eventOfColumns(row)]);
        else here.push(eventOfColumns(row));
      }
    },
  );
  return events;
}
