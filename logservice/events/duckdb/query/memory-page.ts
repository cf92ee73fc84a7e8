import { Yielder } from "../../event-loop.ts";
import type { MemtableView } from "../../memtables.ts";
import { comparePositions, type EventPosition, type PositionedEvent } from "../../order.ts";
import { positionOf, type QueryContext } from "./query-context.ts";
import type { PageBounds } from "./rows.ts";

/** The first positions, or the last if the sign is negative, in that order. */
export function firstOf<One extends EventPosition>(positions: One[], { sign, limit }: PageBounds): One[] {
  return positions.sort((a, b) => sign * comparePositions(a, b)).slice(0, limit);
}

/**
 * The events in memory that a page begins with. Only the times of a batch are known without parsing: those batches are
 * read that can hold an event of the page, from the wanted end on, however the batches of several senders interleave.
 */
export async function pageInMemory(context: QueryContext, bounds: PageBounds): Promise<PositionedEvent[]> {
  const matches: PositionedEvent[] = [];
  for (const view of context.memtables) matches.push(...(await pageOfView(context, view, bounds)));
  return firstOf(matches, bounds);
}

async function pageOfView(
  { selection, signal, used }: QueryContext,
  { events, length }: MemtableView,
  bounds: PageBounds,
): Promise<PositionedEvent[]> {
  const { sign, after, limit } = bounds;
  const { filter, selects } = selection;
  const [startMs, stopMs] = readRange(selection, bounds);
  const yielder = new Yielder();
  let page: PositionedEvent[] = [];
  // Events beyond this time come after a page that is full. Those of the same millisecond may come before its last.
  let endMs = sign * Number.POSITIVE_INFINITY;
  for (const batch of events.inOrder(sign)) {
    if (batch.eventsBefore >= length || batch.lastMs < startMs || batch.firstMs > stopMs) continue;
    if (sign * ((sign > 0 ? batch.firstMs : batch.lastMs) - endMs) > 0) break;
    used.isScanned = true;
    const { times } = batch.lines;
    const before = page.length;
    let lastMs: number | undefined;
    for (const index of batch.inOrder(sign, filter?.(batch.lines))) {
      const ms = times[index]!;
      if (sign * (ms - endMs) > 0) break;
      if (page.length - before >= limit && ms !== lastMs) break;
      lastMs = ms;
      if (ms < startMs || ms > stopMs) continue;
      const stored = batch.at(index);
      if (selects(stored)) {
        const event = positionOf(stored);
        if (after === undefined || sign * comparePositions(event, after) > 0) page.push(event);
      }
      if (yielder.isDue()) await yielder.rest(signal);
    }
    if (page.length > before && page.length >= limit) {
      page = firstOf(page, bounds);
      endMs = millisecondsOf(page.at(-1)!) + sign;
    }
    if (yielder.isDue()) await yielder.rest(signal);
  }
  return page;
}

/** The times of the selection that a page after a position can still hold. */
function readRange({ startMs, range }: QueryContext["selection"], { sign, after }: PageBounds): [number, number] {
  if (after === undefined) return [startMs, range.stopMs];
  const afterMs = millisecondsOf(after);
  return sign > 0 ? [Math.max(startMs, afterMs - 1), range.stopMs] : [startMs, Math.min(range.stopMs, afterMs + 1)];
}

/** To within a millisecond: the number of nanoseconds is rounded to 53 bits. */
const millisecondsOf = ({ nanoseconds }: EventPosition) => Math.floor(Number(nanoseconds) / 1_000_000);
