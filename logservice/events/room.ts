import { statfs } from "node:fs/promises";
import type { Contents } from "./contents.ts";
import type { Journal } from "./journal/journal.ts";
import type { Settings } from "./settings.ts";
import { StoreError } from "./store.ts";

/**
 * Whether a batch may be accepted. What waits to be flushed lies in memory, so there is an end to it: a client then waits
 * a little, which slows it down to what the disk takes, before it is refused.
 */
export class Room {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #journal: Journal;
  readonly #waiting = new Set<() => void>();
  #freeBytes = { bytes: Number.POSITIVE_INFINITY, written: 0, atMs: Number.NEGATIVE_INFINITY };
  /** Batches. */
  refused = 0;

  constructor(settings: Settings, contents: Contents, journal: Journal) {
    this.#settings = settings;
    this.#contents = contents;
    this.#journal = journal;
  }

  get isThere(): boolean {
    const { waitingEvents, waitingBytes } = this.#contents;
    const { events, bytes } = this.#journal.waiting;
    return (
      waitingEvents + events < this.#settings.maxWaitingEvents && waitingBytes + bytes < this.#settings.maxWaitingBytes
    );
  }

  /** Resolves when `isThere` may have become true; rejects with `unavailable` once `untilMs` of performance.now() is over. */
  async wait(untilMs: number): Promise<void> {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) {
      this.refused++;
      throw new StoreError(
        "unavailable",
        "events arrive faster than they can be stored: nothing was accepted; try again",
        {
          retryAfterMs: 2000,
        },
      );
    }
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, leftMs);
      this.#waiting.add(wake);
    });
  }

  /** Something was flushed or deleted, or nothing will be any more: who waits looks again. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Rejects with `unavailable` where the disk has less than the reserve. */
  async checkDisk(): Promise<void> {
    const atMs = performance.now();
    if (atMs - this.#freeBytes.atMs > FREE_CHECK_MS) {
      const { bavail, bsize } = await statfs(this.#settings.directory);
      this.#freeBytes = { bytes: bavail * bsize, written: this.#journal.counts.bytes, atMs };
    }
    // What came since then is on the disk, too.
    const since = this.#journal.counts.bytes - this.#freeBytes.written + this.#journal.waiting.bytes;
    if (this.#freeBytes.bytes - since >= this.#settings.reserveBytes) return;
    this.refused++;
    throw new StoreError("unavailable", "the disk is nearly full: nothing was stored; make room, then send it again", {
      retryAfterMs: 30_000,
    });
  }
}

// Others write there, too: in so long less than the reserve.
const FREE_CHECK_MS = 250;
