// What only ever grows at its end: events of a log group, samples of metrics.

export class Series<T> {
  readonly #timeOf: (item: T) => number;
  #items: T[] = [];
  #bytes = 0;

  constructor(timeOf: (item: T) => number) {
    this.#timeOf = timeOf;
  }

  /** How much is kept, about. */
  get bytes(): number {
    return this.#bytes;
  }

  append(items: readonly T[]): void {
    for (const item of items) {
      this.#items.push(item);
      this.#bytes += JSON.stringify(item).length;
    }
  }

  /** In the order in which they came, those of `fromMs` and later and before `toMs`. */
  between(fromMs: number, toMs: number): T[] {
    return this.#items.filter((item) => {
      const at = this.#timeOf(item);
      return at >= fromMs && at < toMs;
    });
  }

  clear(): void {
    this.#items = [];
    this.#bytes = 0;
  }
}
