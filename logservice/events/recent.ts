import { RECENT_IDS, RECENT_KEYS_MS } from "./store.ts";

/** Ids and keys that were seen, the newest of them. In two halves: when the newer one is full, the older one is let go. */
export class Recent {
  #newer = new Map<string, string>();
  #older = new Map<string, string>();
  #beganMs: number;
  readonly #most: number;
  readonly #keepMs: number;

  constructor(most: number, keepMs: number, nowMs: number) {
    this.#most = most;
    this.#keepMs = keepMs;
    this.#beganMs = nowMs;
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  /** What was noted with a key. */
  noteOf(key: string): string | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  add(key: string, nowMs: number, note = ""): void {
    this.#newer.set(key, note);
    // A clock that was set back makes it keep longer, never shorter.
    if (this.#newer.size >= this.#most || nowMs - this.#beganMs >= this.#keepMs) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#beganMs = nowMs;
    }
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }
}

export const recentIds = (nowMs: number) => new Recent(RECENT_IDS, Number.POSITIVE_INFINITY, nowMs);

/** So many batches come in a day at twelve a second; more are remembered for less time. */
const MOST_KEYS = 1_000_000;

export const recentKeys = (nowMs: number) => new Recent(MOST_KEYS, RECENT_KEYS_MS, nowMs);
