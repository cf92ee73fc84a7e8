import type { Event, TailItem } from "./store.ts";
import type { TailReader } from "./tail.ts";

/** So many events are tested at once, and of these bytes: a busy project needs no more, and a piece is over soon. */
const PIECE_EVENTS = 500;
const PIECE_BYTES = 256 * 1024;

/** Those of some events that the query of a tail selects, in their order. Rejects with why that cannot be had. */
export type SelectEvents = (events: readonly Event[], signal: AbortSignal) => Promise<readonly Event[]>;

/**
 * A tail whose query may take long over a single text: events are tested elsewhere, a piece at a time, and not by whoever
 * adds them. It reads all events; of those that were dropped before they were tested, nobody knows whether it selects them.
 */
export class SelectingTail implements AsyncIterableIterator<TailItem> {
  readonly #all: TailReader;
  readonly #select: SelectEvents;
  readonly #ending = new AbortController();
  #items: TailItem[] = [];

  constructor(all: TailReader, select: SelectEvents) {
    this.#all = all;
    this.#select = select;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next(): Promise<IteratorResult<TailItem>> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return { value: item, done: false };
      const piece = await this.#all.take(PIECE_EVENTS, PIECE_BYTES);
      if (piece.length === 0) return { value: undefined, done: true };
      try {
        this.#items = await this.#selected(piece);
      } catch (error) {
        // A tail that was ended meanwhile ends as any other.
        if (this.#ending.signal.aborted) return { value: undefined, done: true };
        await this.return();
        throw error;
      }
    }
  }

  async return(): Promise<IteratorResult<TailItem>> {
    this.#ending.abort();
    this.#items = [];
    return this.#all.return();
  }

  async #selected(piece: readonly TailItem[]): Promise<TailItem[]> {
    const events = piece.flatMap((item) => ("event" in item ? [item.event] : []));
    const selected = new Set(events.length === 0 ? [] : await this.#select(events, this.#ending.signal));
    return piece.flatMap((item): TailItem[] => {
      if ("dropped" in item) return [{ dropped: null }];
      return selected.has(item.event) ? [item] : [];
    });
  }
}
