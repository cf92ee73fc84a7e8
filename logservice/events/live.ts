import { lastIndexOf } from "./lines.ts";
import type { NewestEvents } from "./newest.ts";
import type { Event, TailItem } from "./store.ts";

/** How many events wait for a reader of a tail before it misses some: about a second of a busy project. */
export const MAX_WAITING = 10_000;

/** Readers of new events. Each has a queue of its own; one that is slow loses events and is told how many. */
export class Live {
  readonly #readers = new Map<string, Set<LiveReader>>();

  /** `before` are items that come ahead of all new ones. */
  read(
    project: string,
    selects: (event: Event) => boolean,
    before: readonly TailItem[],
  ): AsyncIterableIterator<TailItem> {
    const readers = this.#readers.get(project) ?? new Set();
    this.#readers.set(project, readers);
    const reader = new LiveReader(selects, before, () => {
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

/** Reads from behind the event `afterId`, as far as that one is among the newest. */
export function tailOf(
  live: Live,
  project: string,
  selects: (event: Event) => boolean,
  newest: readonly NewestEvents[],
  afterId: string | undefined,
): AsyncIterableIterator<TailItem> {
  const before = afterId === undefined ? [] : itemsBehind(afterId, selects, newest);
  return live.read(project, selects, before);
}

/** The last events behind an id, or of all where it is not there, and how many are left out before them. */
function itemsBehind(
  id: string,
  selects: (event: Event) => boolean,
  newest: readonly NewestEvents[],
): readonly TailItem[] {
  const chunks = newest.flatMap((list) => list.chunks);
  const found = chunks.findLastIndex(({ lines }) => lastIndexOf(lines, id) >= 0);
  const shown: TailItem[] = [];
  let missed = 0;
  for (let c = chunks.length - 1; c >= Math.max(found, 0); c--) {
    const chunk = chunks[c]!;
    const last = c === found ? lastIndexOf(chunk.lines, id) : -1;
    for (let i = chunk.length - 1; i > last; i--) {
      // How many there were before is not known without the id.
      if (found < 0 && shown.length >= MAX_WAITING) break;
      const { event } = chunk.at(i);
      if (!selects(event)) continue;
      if (shown.length < MAX_WAITING) shown.push({ event });
      else missed++;
    }
  }
  if (found < 0) shown.push({ dropped: null });
  else if (missed > 0) shown.push({ dropped: missed });
  return shown.reverse();
}

class LiveReader implements AsyncIterableIterator<TailItem> {
  readonly #selects: (event: Event) => boolean;
  readonly #ended: () => void;
  readonly #waiting: TailItem[];
  #missed = 0;
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(selects: (event: Event) => boolean, before: readonly TailItem[], ended: () => void) {
    this.#selects = selects;
    this.#waiting = [...before];
    this.#ended = ended;
  }

  push(event: Event): void {
    if (!this.#selects(event)) return;
    if (this.#waiting.length >= MAX_WAITING) this.#missed++;
    else {
      // What was missed stands where it was missed.
      if (this.#missed > 0) this.#waiting.push({ dropped: this.#missed });
      this.#missed = 0;
      this.#waiting.push({ event });
    }
    this.#wake?.();
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next(): Promise<IteratorResult<TailItem>> {
    while (!this.#isOver) {
      const item = this.#waiting.shift();
      if (item !== undefined) return { value: item, done: false };
      if (this.#missed > 0) {
        const dropped = this.#missed;
        this.#missed = 0;
        return { value: { dropped }, done: false };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<TailItem>> {
    this.#isOver = true;
    this.#ended();
    this.#wake?.();
    return { value: undefined, done: true };
  }
}
