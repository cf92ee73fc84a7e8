import { Yielder } from "../../event-loop.ts";
import type { StoredEvent } from "../../journal/line.ts";
import type { MemtableBatch } from "../../memtable.ts";
import type { MemtableView } from "../../memtables.ts";
import { comparePositions, type EventPosition, type PositionedEvent } from "../../order.ts";
import type { LinePlace } from "../engine/query-process.ts";
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

async function pageOfView(context: QueryContext, view: MemtableView, bounds: PageBounds): Promise<PositionedEvent[]> {
  const { selection, signal, used, process } = context;
  const { events, length } = view;
  const { sign, limit } = bounds;
  const { filter, selects } = selection;
  const passes = await columnTest(context, view);
  let readEvents = 0;
  const [startMs, stopMs] = readRange(selection, bounds);
  const yielder = new Yielder();
  const page = new GrowingPage(bounds);
  // A process is asked for many events at once, of several batches.
  let [piece, pieceBytes]: [MemtablePlace[], number] = [[], 0];
  const select = async () => {
    for (const { batch, index } of (await process?.select(piece)) ?? []) page.add(batch.at(index));
    [piece, pieceBytes] = [[], 0];
    page.cut();
  };
  for (const batch of events.inOrder(sign)) {
    if (batch.eventsBefore >= length || batch.lastMs < startMs || batch.firstMs > stopMs) continue;
    if (page.isBeyond(sign > 0 ? batch.firstMs : batch.lastMs)) break;
    used.isScanned = true;
    const { times, starts } = batch.lines;
    const before = page.length;
    let lastMs: number | undefined;
    for (const index of batch.inOrder(sign, passes === undefined ? filter?.(batch.lines) : undefined)) {
      const ms = times[index]!;
      if (page.isBeyond(ms)) break;
      if (process === undefined && page.length - before >= limit && ms !== lastMs) break;
      lastMs = ms;
      if (ms < startMs || ms > stopMs || passes?.(batch.eventsBefore + index) === false) continue;
      if (process === undefined) {
        readEvents++;
        const stored = batch.at(index);
        if (selects(stored)) page.add(stored);
      } else {
        piece.push({ batch, index });
        pieceBytes += starts[index + 1]! - starts[index]!;
        if (pieceBytes >= PIECE_BYTES) await select();
      }
      if (yielder.isDue()) await yielder.rest(signal);
    }
    if (page.length > before) page.cut();
    if (yielder.isDue()) await yielder.rest(signal);
  }
  await select();
  if (selection.columns !== undefined && readEvents > LONG_READ * length) {
    events.columns.noteLongRead(selection.columns.requests);
  }
  return page.events;
}

/** The part of the events in memory from which on a page is better read by columns, which are made of all of them. */
const LONG_READ = 0.25;

/** The query as a test of columns, if a page of its fields had to read many events before: few of them are selected. */
async function columnTest(
  { selection, signal, process }: QueryContext,
  { events, length }: MemtableView,
): Promise<((place: number) => boolean) | undefined> {
  const { columns: filter } = selection;
  if (filter === undefined || process !== undefined || !events.columns.wasLongRead(filter.requests)) return undefined;
  const columns = await events.columns.read(filter.requests, length, signal);
  return columns && filter.over(columns);
}

type MemtablePlace = LinePlace<MemtableBatch>;

/** So many bytes are given to a process at once: a page is full soon, and the process is not asked for each event. */
const PIECE_BYTES = 256 * 1024;

/** The events of a page that were read so far. */
class GrowingPage {
  events: PositionedEvent[] = [];
  readonly #bounds: PageBounds;
  /** Events beyond this time come after a page that is full. Those of the same millisecond may come before its last. */
  #endMs: number;

  constructor(bounds: PageBounds) {
    this.#bounds = bounds;
    this.#endMs = bounds.sign * Number.POSITIVE_INFINITY;
  }

  get length(): number {
    return this.events.length;
  }

  isBeyond(ms: number): boolean {
    return this.#bounds.sign * (ms - this.#endMs) > 0;
  }

  add(stored: StoredEvent): void {
    const { sign, after } = this.#bounds;
    const event = positionOf(stored);
    if (after === undefined || sign * comparePositions(event, after) > 0) this.events.push(event);
  }

  /** Leaves out what is too much. */
  cut(): void {
    const { sign, limit } = this.#bounds;
    if (this.events.length < limit) return;
    this.events = firstOf(this.events, this.#bounds);
    this.#endMs = millisecondsOf(this.events.at(-1)!) + sign;
  }
}

/** The times of the selection that a page after a position can still hold. */
function readRange({ startMs, range }: QueryContext["selection"], { sign, after }: PageBounds): [number, number] {
  if (after === undefined) return [startMs, range.stopMs];
  const afterMs = millisecondsOf(after);
  return sign > 0 ? [Math.max(startMs, afterMs - 1), range.stopMs] : [startMs, Math.min(range.stopMs, afterMs + 1)];
}

/** To within a millisecond: the number of nanoseconds is rounded to 53 bits. */
const millisecondsOf = ({ nanoseconds }: EventPosition) => Math.floor(Number(nanoseconds) / 1_000_000);
