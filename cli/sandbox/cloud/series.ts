// Series, which only ever grow at their end: events of a log group, samples of metrics.
import { setImmediate } from "node:timers/promises";
import { decode, encode } from "./store/codec.ts";
import type { SeriesFiles } from "./store/series-files.ts";

/** More than this is not kept in memory if it cannot be written. */
const MAX_UNWRITTEN = 10_000;

export class StoredSeries<T> {
  readonly #timeOf: (item: T) => number;
  readonly #files: SeriesFiles | undefined;
  readonly #report: (text: string) => void;
  /** All items, or with files those of the part that is being written; undefined until it was read. */
  #items: T[] | undefined;
  #bytes = 0;
  #isBroken = false;
  #isClosed = false;

  constructor(timeOf: (item: T) => number, files: SeriesFiles | undefined, report: (text: string) => void) {
    this.#timeOf = timeOf;
    this.#files = files;
    this.#report = report;
  }

  /** How much is kept, about. */
  get bytes(): number {
    this.#load();
    return this.#files?.bytes ?? this.#bytes;
  }

  /** On disk when this returns, though a loss of power may take the newest. */
  append(items: readonly T[]): void {
    if (items.length === 0 || this.#isClosed) return;
    const own = this.#load();
    const texts = items.map((item) => encode(item).text);
    for (const item of items) own.push(item);
    for (const text of texts) this.#bytes += text.length;
    if (this.#files === undefined) return;
    const times = items.map(this.#timeOf);
    try {
      const isFull = this.#files.append(texts, Math.min(...times), Math.max(...times));
      if (isFull) this.#items = [];
      this.#isBroken = false;
    } catch (error) {
      // Output of a function that cannot be kept is no reason to end; the problem is reported once.
      if (!this.#isBroken) this.#report(`log events and samples are not kept: ${(error as Error).message}`);
      this.#isBroken = true;
      if (own.length > MAX_UNWRITTEN) own.splice(0, own.length - MAX_UNWRITTEN / 2);
    }
  }

  /** In the order in which they came, those of `fromMs` and later and before `toMs`. */
  between(fromMs: number, toMs: number): T[] {
    const own = this.#load();
    const items: T[] = [];
    for (const part of this.#files?.closedBetween(fromMs, toMs) ?? []) {
      for (const item of this.#within(this.#itemsOf(part.read()), fromMs, toMs)) items.push(item);
    }
    for (const item of this.#within(own, fromMs, toMs)) items.push(item);
    return items;
  }

  /**
   * The same in the order of their times, some at a time, as they were when it was asked: what one part has is read when it
   * is asked for, and others work in between. `compare` is for items of one time.
   */
  async *sorted(fromMs: number, toMs: number, compare: (a: T, b: T) => number): AsyncGenerator<T[]> {
    const inOrder = (a: T, b: T) => this.#timeOf(a) - this.#timeOf(b) || compare(a, b);
    let waiting = this.#within(this.#load(), fromMs, toMs);
    const parts = (this.#files?.closedBetween(fromMs, toMs) ?? []).sort((a, b) => a.fromMs - b.fromMs);
    for (const [i, part] of parts.entries()) {
      for (const item of this.#within(this.#itemsOf(part.read()), fromMs, toMs)) waiting.push(item);
      // The items that are before all that was not read yet.
      const untilMs = parts[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      const ready = waiting.filter((item) => this.#timeOf(item) < untilMs);
      if (ready.length > 0) {
        waiting = waiting.filter((item) => this.#timeOf(item) >= untilMs);
        yield ready.sort(inOrder);
      }
      await setImmediate();
    }
    if (waiting.length > 0) yield waiting.sort(inOrder);
  }

  clear(): void {
    this.#files?.clear();
    this.#items = [];
    this.#bytes = 0;
  }

  /** Items that are still appended are lost. */
  close(): void {
    this.#isClosed = true;
    this.#files?.end();
  }

  #within(items: readonly T[], fromMs: number, toMs: number): T[] {
    return items.filter((item) => {
      const at = this.#timeOf(item);
      return at >= fromMs && at < toMs;
    });
  }

  #load(): T[] {
    if (this.#items !== undefined) return this.#items;
    const items = this.#itemsOf(this.#files?.open() ?? []);
    for (const item of items) this.#files?.extend(this.#timeOf(item), this.#timeOf(item));
    this.#items = items;
    return items;
  }

  /** A line that a loss of power left in pieces is none. */
  #itemsOf(texts: readonly string[]): T[] {
    return texts.flatMap((text) => {
      try {
        return [decode(text, noBytes) as T];
      } catch {
        return [];
      }
    });
  }
}

function noBytes(): never {
  throw new Error("a series carries its bytes");
}
