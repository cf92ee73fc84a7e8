import { signal } from "@preact/signals";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import type { Event } from "../../../schema/rpc.generated.ts";

/** The operations by which rows are read. Times are milliseconds since 1970, ranges closed, events newest first. */
export interface RowReader {
  events(
    range: RowRange,
    page: { readonly limit: number; readonly cursor: string | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly events: readonly Event[]; readonly cursor: string | undefined }>;
  /** Counts by the steps of a range, at most so many, and how long one is; steps without events may be absent. */
  steps(range: RowRange, most: number, signal: AbortSignal): Promise<{ steps: readonly RowStep[]; stepMs: number }>;
  /** Told of what went wrong, and of undefined once reading goes well again. */
  failed(error: unknown): void;
  /** By which it waits before it reads again; the browser's if there is none. */
  readonly clock?: Clock;
}

export interface RowRange {
  readonly startMs: number;
  readonly stopMs: number;
}

export interface RowStep {
  readonly startMs: number;
  readonly count: number;
}

/** A part of the time range: its events once they were read, or its own parts. */
interface Part extends RowRange {
  count: number;
  parts?: Part[];
  events?: Event[];
  /** For the next events of a part that cannot be divided; undefined at its end. */
  cursor?: string | undefined;
  isWhole: boolean;
  isReading: boolean;
  /** When it was last looked at, for which events are kept. */
  used: number;
}

/** Parts with more events are divided before they are read. */
const MOST_READ = 500;
/** How long to wait before a part is read again that could not be read: it is looked at with each drawing. */
const RETRY_MS = 3_000;
/** Into so many parts at most, and into fewer if those would be small: each is a request. */
const DIVISIONS = 100;
/** Steps are whole seconds: shorter parts are read page after page. */
const LEAST_MS = 1_000;
/** So many events are kept, some megabytes; those that were not looked at for longest go first. */
const MOST_KEPT = 5_000;

/**
 * The events of a time range as numbered rows, newest first or oldest first, of which only those are read that are looked at. Counts by
 * time say in which part of the range a row is: any of a million is found by two or three requests.
 */
export class Rows {
  /** Whether the rows begin with the oldest event. */
  isOldestFirst = false;
  /** Grows with each change. */
  readonly version = signal(0);
  readonly #reader: RowReader;
  readonly #root: Part;
  readonly #over = new AbortController();
  #isFailing = false;
  #clock = 0;
  #kept = 0;

  /** `steps` divide the range; without them it is one part with the events known so far, and `total` rows. */
  constructor(range: RowRange, steps: readonly RowStep[], stepMs: number, reader: RowReader) {
    this.#reader = reader;
    const count = steps.reduce((sum, step) => sum + step.count, 0);
    this.#root = partOf(range, count);
    this.#root.parts = partsOf(range, steps, stepMs);
  }

  get total(): number {
    return this.#root.count;
  }

  /** Ends what is being read. */
  close(): void {
    this.#over.abort();
  }

  /** The newest events of the range as they are known already: rows that need not be read. */
  seed(events: readonly Event[], isAll: boolean): void {
    this.#spread(this.#root, events, isAll);
    this.version.value++;
  }

  /** Gives events, the newest of a part, to the parts of it. */
  #spread(whole: Part, events: readonly Event[], isAll: boolean): void {
    const oldestMs = isAll ? Number.NEGATIVE_INFINITY : Date.parse(events.at(-1)?.timestamp ?? "");
    let at = 0;
    for (const part of whole.parts!) {
      const own: Event[] = [];
      while (at < events.length && Date.parse(events[at]!.timestamp) >= part.startMs) own.push(events[at++]!);
      if (part.startMs <= oldestMs || Number.isNaN(oldestMs)) {
        // It may have more events, which are read when they are looked at.
        if (own.length > 0) this.#keep(part, own);
        if (own.length > part.count) this.#correct(part, own.length + 1);
        break;
      }
      this.#keep(part, own);
      part.isWhole = true;
      this.#correct(part, own.length);
    }
  }

  /** The event of a row; undefined while it is being read. */
  at(row: number): Event | undefined {
    const place = this.#find(this.#turned(row));
    if (place === undefined) return undefined;
    const { part, offset } = place;
    part.used = ++this.#clock;
    const event = part.events?.[offset];
    if (event === undefined && !part.isWhole) void this.#read(part, offset);
    return event;
  }

  /** The event of a row if it was read; nothing is read for it. */
  peek(row: number): Event | undefined {
    const place = this.#find(this.#turned(row));
    return place?.part.events?.[place.offset];
  }

  /** The events that were read and not forgotten since. */
  get readEvents(): readonly Event[] {
    const events: Event[] = [];
    const walk = (part: Part): void => {
      if (part.events !== undefined) events.push(...part.events);
      part.parts?.forEach(walk);
    };
    walk(this.#root);
    return events;
  }

  /** The row with which the events of a range begin, one of the parts that were given; the nearest row if it has none. */
  rowIn({ startMs, stopMs }: RowRange): number {
    const row = this.isOldestFirst ? this.total - this.#newerThan(startMs - 1) : this.#newerThan(stopMs);
    return this.#within(row);
  }

  #within(row: number): number {
    return Math.max(0, Math.min(row, this.total - 1));
  }

  /** A row as it is counted from the newest event, or the other way around. */
  #turned(row: number): number {
    return this.isOldestFirst ? this.total - 1 - row : row;
  }

  /** How many events are newer than a time. */
  #newerThan(timeMs: number): number {
    let row = 0;
    let parts = this.#root.parts!;
    for (;;) {
      const at = parts.findIndex((part) => part.startMs <= timeMs);
      const before = at < 0 ? parts : parts.slice(0, at);
      row += before.reduce((sum, part) => sum + part.count, 0);
      const part = parts[at];
      if (part === undefined || part.stopMs < timeMs) break;
      if (part.parts !== undefined) {
        parts = part.parts;
        continue;
      }
      const within = part.events?.findIndex((event) => Date.parse(event.timestamp) <= timeMs) ?? 0;
      row += within < 0 ? part.events!.length : within;
      break;
    }
    return row;
  }

  /** The row of an event, once the part of its time was read; undefined before, and if there is none. */
  async rowOf(id: string, timeMs: number): Promise<number | undefined> {
    for (;;) {
      const row = this.#within(this.#newerThan(timeMs));
      const part = this.#find(row)?.part;
      if (part === undefined || this.#over.signal.aborted) return undefined;
      const within = part.events?.findIndex((event) => event.id === id) ?? -1;
      if (within >= 0) return this.#turned(this.#firstOf(part) + within);
      if (part.isWhole) return undefined;
      const before = part.events?.length ?? -1;
      await this.#read(part, part.events?.length ?? 0);
      if (part.parts === undefined && (part.events?.length ?? -1) === before && !part.isWhole) return undefined;
    }
  }

  /** Whether an event is among those that were read. */
  has({ id, timestamp }: Event): boolean {
    const timeMs = Date.parse(timestamp);
    let part: Part | undefined = this.#root;
    while (part?.parts !== undefined)
      part = part.parts.find(({ startMs, stopMs }) => startMs <= timeMs && timeMs <= stopMs);
    return part?.events?.some((one) => one.id === id && one.timestamp === timestamp) ?? false;
  }

  #find(row: number): { readonly part: Part; readonly offset: number } | undefined {
    if (row < 0 || row >= this.total) return undefined;
    let part = this.#root;
    let offset = row;
    while (part.parts !== undefined) {
      const next = part.parts.find((one) => {
        if (offset < one.count) return true;
        offset -= one.count;
        return false;
      });
      if (next === undefined) return undefined;
      part = next;
    }
    return { part, offset };
  }

  #firstOf(wanted: Part): number {
    let row = 0;
    const walk = (part: Part): boolean => {
      if (part === wanted) return true;
      if (part.parts === undefined) {
        row += part.count;
        return false;
      }
      return part.parts.some(walk);
    };
    walk(this.#root);
    return row;
  }

  async #read(part: Part, offset: number): Promise<void> {
    if (part.isReading) return;
    part.isReading = true;
    const { signal } = this.#over;
    try {
      // One of which only the first events are known, without a cursor to go on from, is divided too.
      if (part.count > MOST_READ && part.stopMs - part.startMs >= LEAST_MS && part.cursor === undefined) {
        await this.#divide(part, signal);
        this.#wentWell();
        return;
      }
      do {
        const { events, cursor } = await this.#reader.events(
          part,
          { limit: MOST_READ, cursor: part.isWhole ? undefined : part.cursor },
          signal,
        );
        // Without a cursor it is read from its beginning, over what was known of it.
        const earlierEvents = part.cursor === undefined ? [] : (part.events ?? []);
        part.cursor = cursor;
        part.isWhole = cursor === undefined;
        this.#keep(part, [...earlierEvents, ...events]);
        const read = part.events!.length;
        // Events that have arrived since they were counted must have rows, too, or the oldest would have none.
        if (part.isWhole) this.#correct(part, read);
        else if (read >= part.count) this.#correct(part, read + 1);
      } while (!part.isWhole && part.events!.length <= offset);
      this.#forget(part);
      this.#wentWell();
    } catch (error) {
      if (signal.aborted) return;
      this.#isFailing = true;
      this.#reader.failed(error);
      await (this.#reader.clock ?? systemClock).sleep(RETRY_MS);
    } finally {
      part.isReading = false;
      if (!signal.aborted) this.version.value++;
    }
  }

  #wentWell(): void {
    if (this.#isFailing) this.#reader.failed(undefined);
    this.#isFailing = false;
  }

  async #divide(part: Part, signal: AbortSignal): Promise<void> {
    const most = Math.max(2, Math.min(DIVISIONS, Math.ceil(part.count / (MOST_READ / 2))));
    const { steps, stepMs } = await this.#reader.steps(part, most, signal);
    const events = part.events ?? [];
    this.#kept -= events.length;
    delete part.events;
    part.parts = partsOf(part, steps, stepMs);
    if (events.length > 0) this.#spread(part, events, false);
    this.#recount(
      part,
      part.parts.reduce((sum, { count }) => sum + count, 0),
    );
  }

  #keep(part: Part, events: Event[]): void {
    this.#kept += events.length - (part.events?.length ?? 0);
    part.events = events;
    part.used = ++this.#clock;
  }

  /** Events have arrived or expired since they were counted. */
  #correct(part: Part, count: number): void {
    if (count !== part.count) this.#recount(part, count);
  }

  #recount(part: Part, count: number): void {
    const change = count - part.count;
    const walk = (one: Part): boolean => {
      if (one !== part && !(one.parts?.some(walk) ?? false)) return false;
      one.count += change;
      return true;
    };
    walk(this.#root);
  }

  #forget(but: Part): void {
    if (this.#kept <= MOST_KEPT) return;
    const read: Part[] = [];
    const walk = (part: Part): void => {
      if (part.events !== undefined && part !== but) read.push(part);
      part.parts?.forEach(walk);
    };
    walk(this.#root);
    read.sort((a, b) => a.used - b.used);
    for (const part of read) {
      if (this.#kept <= MOST_KEPT / 2) return;
      this.#kept -= part.events!.length;
      delete part.events;
      part.cursor = undefined;
      part.isWhole = false;
    }
  }
}

function partOf({ startMs, stopMs }: RowRange, count: number): Part {
  return { startMs, stopMs, count, isWhole: false, isReading: false, used: 0 };
}

/** The parts of a range, newest first. The steps may begin before it. */
function partsOf({ startMs, stopMs }: RowRange, steps: readonly RowStep[], stepMs: number): Part[] {
  return steps
    .filter(({ count }) => count > 0)
    .map((step) =>
      partOf(
        { startMs: Math.max(step.startMs, startMs), stopMs: Math.min(step.startMs + stepMs - 1, stopMs) },
        step.count,
      ),
    )
    .reverse();
}
