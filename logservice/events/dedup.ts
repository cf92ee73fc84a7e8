import { type AppendOptions, type NewEvent, RECENT_KEYS_MS, StoreError } from "./store.ts";

/** Adds the newest client-supplied ids of a project's events in the engine's storage. */
export type IdLoader = (project: string, ids: RecentMap) => Promise<void>;

/** Recently seen ids and idempotency keys, by project: a retried event or batch counts once. */
export class Dedup {
  readonly #ids = new Map<string, RecentMap>();
  readonly #keys = new Map<string, RecentMap>();
  readonly #loads = new Map<string, Promise<void>>();
  readonly #load: IdLoader;
  readonly #nowMs: () => number;
  readonly #maxIds: number;

  /** `maxIds` is how many of the newest ids of a project are remembered at least. */
  constructor(load: IdLoader, nowMs: () => number, maxIds: number) {
    this.#load = load;
    this.#nowMs = nowMs;
    this.#maxIds = maxIds;
  }

  ids(project: string): RecentMap {
    return getOrAdd(this.#ids, project, () => new RecentMap(this.#maxIds, Number.POSITIVE_INFINITY, this.#nowMs()));
  }

  keys(project: string): RecentMap {
    return getOrAdd(this.#keys, project, () => new RecentMap(MAX_KEYS, RECENT_KEYS_MS, this.#nowMs()));
  }

  /** Whether a batch with that key was stored before. Throws `conflict` if it was another batch. */
  isRepeated(project: string, { idempotencyKey, digest = "" }: AppendOptions): boolean {
    const keys = this.keys(project);
    if (idempotencyKey === undefined || !keys.has(idempotencyKey)) return false;
    // Format 1 stored no digests.
    const before = keys.get(idempotencyKey) || digest;
    if (before === digest) return true;
    const key = JSON.stringify(idempotencyKey);
    throw new StoreError("conflict", `Idempotency-Key: ${key} was sent with another body: give each batch its own key`);
  }

  /** The events of a batch whose ids were not seen before, nor earlier in the batch. */
  newEvents(project: string, batch: readonly NewEvent[]): NewEvent[] {
    const ids = this.ids(project);
    const seen = new Set<string>();
    return batch.filter(({ id }) => {
      if (id === undefined) return true;
      if (ids.has(id) || seen.has(id)) return false;
      seen.add(id);
      return true;
    });
  }

  forget(project: string): void {
    this.#ids.delete(project);
    this.#keys.delete(project);
    this.#loads.delete(project);
  }

  /** Loads ids from before the last start, once. Those in the journal are known already; the rest is in storage. */
  async loadIds(project: string): Promise<void> {
    try {
      await getOrAdd(this.#loads, project, () => this.#load(project, this.ids(project)));
    } catch (error) {
      this.#loads.delete(project);
      throw error;
    }
  }
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Enough for a day at twelve batches a second; at a higher rate keys are remembered for less time. */
const MAX_KEYS = 1_000_000;

/** The newest entries that were added. Kept in two generations: when the newer one is full, the older one is dropped. */
export class RecentMap {
  #newer = new Map<string, string>();
  #older = new Map<string, string>();
  #beganMs: number;
  readonly #maxEntries: number;
  readonly #keepMs: number;

  constructor(maxEntries: number, keepMs: number, nowMs: number) {
    this.#maxEntries = maxEntries;
    this.#keepMs = keepMs;
    this.#beganMs = nowMs;
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  get(key: string): string | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** Adds what is older than everything that was added before, and is forgotten before that. */
  addOlder(keys: Iterable<string>): void {
    for (const key of keys) if (!this.#newer.has(key)) this.#older.set(key, "");
  }

  add(key: string, nowMs: number, value = ""): void {
    this.#newer.set(key, value);
    // If the clock was set back, entries are kept longer, never shorter.
    if (this.#newer.size >= this.#maxEntries || nowMs - this.#beganMs >= this.#keepMs) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#beganMs = nowMs;
    }
  }
}
