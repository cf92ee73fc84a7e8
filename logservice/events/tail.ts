import { lastIndexOf } from "./journal/batch-lines.ts";
import type { MemtableEvents } from "./memtable.ts";
import type { Event, TailItem } from "./store.ts";

/** Events queued for a reader before some are dropped: about a second of a busy project. */
export const MAX_WAITING = 10_000;

/** Readers of new events. Each has a queue of its own; a slow reader loses events and is told how many. */
export class Tails {
  readonly #readers = new Map<string, Set<TailReader>>();

  /** `before` are items that come before all new ones. */
  read(project: string, selects: (event: Event) => boolean, before: readonly TailItem[]): TailReader {
    const readers = this.#readers.get(project) ?? new Set();
    this.#readers.set(project, readers);
    const reader = new TailReader(selects, before, () => {
      readers.delete(reader);
      if (readers.size === 0 && this.#readers.get(project) === readers) this.#readers.delete(project);
    });
    readers.add(reader);
    return reader;
  }

  publish(project: string, event: Event): void {
    const readers = this.#readers.get(project);
    if (readers === undefined) return;
    for (const reader of readers) reader.push(event);
  }

  isRead(project: string): boolean {
    return this.#readers.has(project);
  }

  /** Ends the readers of a project, or all. */
  end(project?: string): void {
    for (const [name, readers] of [...this.#readers]) {
      if (project === undefined || name === project) for (const reader of [...readers]) void reader.return();
    }
  }
}

export interface TailQuestion {
  readonly project: string;
  /** The events that are read. It is asked by whoever adds an event, which it must not hold up. */
  readonly selects: (event: Event) => boolean;
  /** The events that the project has in memory, the oldest first. */
  readonly memtables: readonly MemtableEvents[];
  /** The tail begins after this event if it is still in memory. Undefined begins with new events. */
  readonly afterId: string | undefined;
}

export function openTail(tails: Tails, { project, selects, memtables, afterId }: TailQuestion): TailReader {
  const before = afterId === undefined ? [] : itemsAfter(afterId, selects, memtables);
  return tails.read(project, selects, before);
}

/** The last events after an id, or of all if it is not in memory, and how many were dropped before them. */
function itemsAfter(
  id: string,
  selects: (event: Event) => boolean,
  memtables: readonly MemtableEvents[],
): readonly TailItem[] {
  const batches = memtables.flatMap((events) => events.batches);
  const batchIndex = batches.findLastIndex(({ lines }) => lastIndexOf(lines, id) >= 0);
  const items: TailItem[] = [];
  let dropped = 0;
  for (let b = batches.length - 1; b >= Math.max(batchIndex, 0); b--) {
    const batch = batches[b]!;
    const last = b === batchIndex ? lastIndexOf(batch.lines, id) : -1;
    for (let i = batch.length - 1; i > last; i--) {
      // Without the id it is not known how many there were before.
      if (batchIndex < 0 && items.length >= MAX_WAITING) break;
      const { event } = batch.at(i);
      if (!selects(event)) continue;
      if (items.length < MAX_WAITING) items.push({ event });
      else dropped++;
    }
  }
  if (batchIndex < 0) items.push({ dropped: null });
  else if (dropped > 0) items.push({ dropped });
  return items.reverse();
}

export class TailReader implements AsyncIterableIterator<TailItem> {
  readonly #selects: (event: Event) => boolean;
  readonly #ended: () => void;
  readonly #waiting: TailItem[];
  #dropped = 0;
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(selects: (event: Event) => boolean, before: readonly TailItem[], ended: () => void) {
    this.#selects = selects;
    this.#waiting = [...before];
    this.#ended = ended;
  }

  push(event: Event): void {
    if (!this.#selects(event)) return;
    if (this.#waiting.length >= MAX_WAITING) this.#dropped++;
    else {
      // In the place of the events that were dropped.
      if (this.#dropped > 0) this.#waiting.push({ dropped: this.#dropped });
      this.#dropped = 0;
      this.#waiting.push({ event });
    }
    this.#wake?.();
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next(): Promise<IteratorResult<TailItem>> {
    const [item] = await this.take(1, Number.POSITIVE_INFINITY);
    return item === undefined ? { value: undefined, done: true } : { value: item, done: false };
  }

  /** Takes what waits, the oldest first: so many items, of so many bytes as JSON but for the last. Empty at the end. */
  async take(most: number, mostBytes: number): Promise<TailItem[]> {
    while (!this.#isOver) {
      const items = this.#takeWaiting(most, mostBytes);
      if (items.length > 0) return items;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return [];
  }

  #takeWaiting(most: number, mostBytes: number): TailItem[] {
    const items: TailItem[] = [];
    for (let bytes = 0; items.length < most && bytes < mostBytes; ) {
      const item = this.#waiting.shift();
      if (item === undefined) break;
      items.push(item);
      if (most > 1) bytes += JSON.stringify(item).length;
    }
    if (items.length > 0 || this.#dropped === 0) return items;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return [{ dropped }];
  }

  async return(): Promise<IteratorResult<TailItem>> {
    this.#isOver = true;
    this.#ended();
    this.#wake?.();
    return { value: undefined, done: true };
  }
}
