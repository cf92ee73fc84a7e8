// A collection of a service: values by key, and which of them may have changed since they were last written.

/** Where values are between two runs. */
export interface Backing {
  keys(): Iterable<string>;
  /** The value as it was written last. */
  load(key: string): unknown;
  /** Nothing that is got now is changed. */
  readonly isReading: boolean;
  /** Something may have changed that is not written yet. */
  changed(): void;
}

/** In the place of a value that was not needed yet. */
const UNREAD = Symbol("unread");

/**
 * A value is plain: objects, lists, Maps, Sets, Dates, bytes and `StoredBytes`. Whoever gets one may change it until the
 * next commit; code that keeps one longer calls `touch` when it changes it.
 */
export class Collection<T> {
  readonly #values = new Map<string, T | typeof UNREAD>();
  readonly #backing: Backing | undefined;
  #touched = new Set<string>();

  constructor(backing?: Backing) {
    this.#backing = backing;
    for (const key of backing?.keys() ?? []) this.#values.set(key, UNREAD);
  }

  get size(): number {
    return this.#values.size;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): T | undefined {
    const value = this.#read(key);
    if (value !== undefined) this.#got(key);
    return value;
  }

  set(key: string, value: T): this {
    this.#values.set(key, value);
    this.touch(key);
    return this;
  }

  delete(key: string): boolean {
    const isThere = this.#values.delete(key);
    if (isThere) this.touch(key);
    return isThere;
  }

  /** The first value that fits; only this one may be changed. */
  find(isWanted: (value: T, key: string) => boolean): T | undefined {
    for (const key of this.#values.keys()) {
      const value = this.#read(key)!;
      if (!isWanted(value, key)) continue;
      this.#got(key);
      return value;
    }
    return undefined;
  }

  /** All values that fit; only these may be changed. */
  filter(isWanted: (value: T, key: string) => boolean): T[] {
    const matches: T[] = [];
    for (const key of this.#values.keys()) {
      const value = this.#read(key)!;
      if (!isWanted(value, key)) continue;
      this.#got(key);
      matches.push(value);
    }
    return matches;
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  *values(): Generator<T> {
    for (const [, value] of this) yield value;
  }

  *[Symbol.iterator](): Generator<[string, T]> {
    for (const key of this.#values.keys()) yield [key, this.get(key)!];
  }

  /** Says that the value may be another than at the last commit. */
  touch(key: string): void {
    if (this.#backing === undefined) return;
    this.#touched.add(key);
    this.#backing.changed();
  }

  /** The value without saying that it may change: for who writes it down. */
  peek(key: string): T | undefined {
    return this.#read(key);
  }

  /** The keys of the values that may have changed since this was called last. */
  takeTouched(): string[] {
    const touched = [...this.#touched];
    this.#touched = new Set();
    return touched;
  }

  /** These are as they were written last, and all are in the order in which they were written first. */
  revert(keys: ReadonlySet<string>): void {
    const before = new Map(this.#values);
    this.#values.clear();
    for (const key of this.#backing?.keys() ?? []) {
      const value = keys.has(key) ? undefined : before.get(key);
      this.#values.set(key, value ?? UNREAD);
    }
  }

  #got(key: string): void {
    if (this.#backing?.isReading === false) this.touch(key);
  }

  #read(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value !== UNREAD) return value;
    const loaded = this.#backing?.load(key) as T;
    this.#values.set(key, loaded);
    return loaded;
  }
}
