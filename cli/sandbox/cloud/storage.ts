// An account's collections and series: in memory only, or also in a folder, where what an operation changed is written
// before it is answered.
import type { Clock, Timer } from "../../../grammar/units/clock.ts";
import { Collection } from "./collection.ts";
import { AwsError } from "./protocol/error.ts";
import { StoredSeries } from "./series.ts";
import { decode, encode } from "./store/codec.ts";
import type { JournalChange } from "./store/journal.ts";
import type { StateStore } from "./store/store.ts";
import type { StoredBytes } from "./stored-bytes.ts";

/** Changes that no operation waits for are written after so long, many at once. */
const IDLE_COMMIT_MS = 20;

/** So long after a full disk the work that nobody waits for is tried again. */
const RETRY_MS = 1_000;

interface Batch {
  readonly changes: JournalChange[];
  readonly bytes: StoredBytes[];
}

export class Storage {
  readonly #store: StateStore | undefined;
  readonly #report: (text: string) => void;
  readonly #collections = new Map<string, Collection<unknown>>();
  readonly #series = new Map<string, StoredSeries<unknown>>();
  #isReading = false;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  /** The write that is under way, and the one that takes what came since. */
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** How often the state went back to what is written: whoever waits for a write of before has lost. */
  #reverts = 0;
  #closed: Promise<void> | undefined;
  /** Called when the state went back, with the time after which work is tried again. */
  onRevert: (retryMs: number) => void = () => {};

  constructor(store: StateStore | undefined, report: (text: string) => void, clock: Clock) {
    this.#clock = clock;
    this.#store = store;
    this.#report = report;
  }

  /** The names of what was stored. */
  stored(): string[] {
    return this.#store?.collections() ?? [];
  }

  /** Whether bytes that a record names are in the folder as they were written. */
  isWhole({ sha256 }: StoredBytes): boolean {
    return this.#store?.blobs.check(sha256) ?? true;
  }

  collection<T>(name: string): Collection<T> {
    const collection = this.#collections.get(name) ?? new Collection<unknown>(this.#backingOf(name));
    this.#collections.set(name, collection);
    return collection as Collection<T>;
  }

  series<T>(service: string, name: string, timeOf: (item: T) => number): StoredSeries<T> {
    const key = `${service} ${name}`;
    const existing = this.#series.get(key) as StoredSeries<T> | undefined;
    if (existing !== undefined) return existing;
    const series = new StoredSeries<T>(timeOf, this.#store?.series(service, name), this.#report);
    this.#series.set(key, series as unknown as StoredSeries<unknown>);
    return series;
  }

  /** Runs work that does not change what it gets from collections before it first waits. */
  reading<T>(work: () => T): T {
    const before = this.#isReading;
    this.#isReading = true;
    try {
      return work();
    } finally {
      this.#isReading = before;
    }
  }

  /** The changes of `work` are safe when this resolves. Rejects with an `AwsError` if they cannot be written. */
  async changing<T>(work: () => T): Promise<Awaited<T>> {
    const reverts = this.#reverts;
    const result = await work();
    await this.commit();
    if (reverts !== this.#reverts) throw storageFull("the changes of another call could not be written");
    return result;
  }

  /**
   * Resolves when all that was changed so far is safe. Rejects with an `AwsError` if it cannot be written; then all that
   * was not safe is as before.
   */
  commit(): Promise<void> {
    if (this.#store === undefined) return Promise.resolve();
    if (this.#current === undefined && this.#next === undefined) return this.#begin();
    // All that come during a write are written together after it.
    this.#next ??= this.#current!.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.commit().catch((error: Error) => this.#report(error.message));
    this.#timer?.stop();
    for (const series of this.#series.values()) series.close();
    await this.#store?.close();
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const writing = this.#write().finally(() => {
      if (this.#current === writing) this.#current = undefined;
    });
    this.#current = writing;
    return writing;
  }

  async #write(): Promise<void> {
    this.#timer?.stop();
    this.#timer = undefined;
    const { changes, bytes } = this.#changes();
    if (changes.length === 0) return;
    try {
      await this.#store!.commit(changes, bytes);
    } catch (error) {
      this.#revert(changes);
      throw storageFull((error as Error).message);
    }
  }

  #changes(): Batch {
    const changes: JournalChange[] = [];
    const bytes: StoredBytes[] = [];
    for (const [name, collection] of this.#collections) {
      for (const key of collection.takeTouched()) {
        const value = collection.peek(key);
        const before = this.#store!.read(name, key);
        if (value === undefined) {
          if (before !== undefined) changes.push({ collection: name, key, bytes: [], value: undefined });
          continue;
        }
        const { text, bytes: storedBytes } = encode(value);
        if (text === before) continue;
        changes.push({
          collection: name,
          key,
          bytes: [...new Set(storedBytes.map(({ sha256 }) => sha256))],
          value: text,
        });
        bytes.push(...storedBytes);
      }
    }
    return { changes, bytes };
  }

  /** Later changes are founded on these, and go with them. */
  #revert(changes: readonly JournalChange[]): void {
    this.#reverts += 1;
    for (const [name, collection] of this.#collections) {
      const own = changes.flatMap(({ collection, key }) => (collection === name ? [key] : []));
      const keys = new Set([...own, ...collection.takeTouched()]);
      if (keys.size > 0) collection.revert(keys);
    }
    this.onRevert(RETRY_MS);
  }

  #backingOf(name: string) {
    const store = this.#store;
    if (store === undefined) return undefined;
    const storage = this;
    return {
      keys: () => store.keys(name),
      load: (key: string) => decode(store.read(name, key)!, (sha256) => store.blobs.read(sha256)),
      get isReading() {
        return storage.#isReading;
      },
      changed: () => storage.#commitSoon(),
    };
  }

  #commitSoon(): void {
    // Output of functions while they end is not waited for.
    if (this.#timer !== undefined || this.#closed !== undefined) return;
    this.#timer = this.#clock.after(IDLE_COMMIT_MS, () => {
      this.#timer = undefined;
      this.commit().catch((error: Error) => this.#report(error.message));
    });
  }
}

/** Clients do not try again by themselves at this status. */
function storageFull(why: string): AwsError {
  return new AwsError(
    "SandboxStorageFull",
    `The sandbox cannot write its state, and nothing of this was kept: ${why}. Make room on the disk and try again.`,
    507,
  );
}
