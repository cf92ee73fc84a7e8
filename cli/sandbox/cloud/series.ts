// What only ever grows at its end: events of a log group, samples of metrics.
import { decode, encode } from "./store/codec.ts";
import type { SeriesFiles } from "./store/series-files.ts";

export class Series<T> {
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
      // What a function wrote is no reason to end; it is said once.
      if (!this.#isBroken) this.#report(`log events and samples are not kept: ${(error as Error).message}`);
      this.#isBroken = true;
    }
  }

  /** In the order in which they came, those of `fromMs` and later and before `toMs`. */
  between(fromMs: number, toMs: number): T[] {
    const own = this.#load();
    const isWanted = (item: T) => {
      const at = this.#timeOf(item);
      return at >= fromMs && at < toMs;
    };
    const found: T[] = [];
    for (const texts of this.#files?.closedBetween(fromMs, toMs) ?? []) {
      for (const item of this.#itemsOf(texts)) if (isWanted(item)) found.push(item);
    }
    for (const item of own) if (isWanted(item)) found.push(item);
    return found;
  }

  clear(): void {
    this.#files?.clear();
    this.#items = [];
    this.#bytes = 0;
  }

  /** What is still appended is lost. */
  close(): void {
    this.#isClosed = true;
    this.#files?.end();
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
