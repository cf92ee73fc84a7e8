// What a service keeps: values by key, and which of them may have changed since they were last written.

/**
 * A value is plain: objects, lists, Maps, Sets, Dates, bytes and `StoredBytes`. Whoever gets one may change it until the
 * next commit; code that keeps one longer calls `touch` when it changes it.
 */
export class Collection<T> {
  readonly #values = new Map<string, T>();
  readonly #touched = new Set<string>();

  get size(): number {
    return this.#values.size;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found !== undefined) this.touch(key);
    return found;
  }

  set(key: string, value: T): this {
    this.#values.set(key, value);
    this.touch(key);
    return this;
  }

  delete(key: string): boolean {
    this.touch(key);
    return this.#values.delete(key);
  }

  /** The first value that fits; only this one may be changed. */
  find(isWanted: (value: T, key: string) => boolean): T | undefined {
    for (const [key, value] of this.#values) {
      if (!isWanted(value, key)) continue;
      this.touch(key);
      return value;
    }
    return undefined;
  }

  /** All values that fit; only these may be changed. */
  filter(isWanted: (value: T, key: string) => boolean): T[] {
    const found: T[] = [];
    for (const [key, value] of this.#values) {
      if (!isWanted(value, key)) continue;
      this.touch(key);
      found.push(value);
    }
    return found;
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  *values(): Generator<T> {
    for (const [, value] of this) yield value;
  }

  *[Symbol.iterator](): Generator<[string, T]> {
    for (const entry of this.#values) {
      this.touch(entry[0]);
      yield entry;
    }
  }

  /** Says that the value may be another than at the last commit. */
  touch(key: string): void {
    this.#touched.add(key);
  }
}
