import { statfs } from "node:fs/promises";
import type { Journal } from "./journal/journal.ts";
import type { Memtables } from "./memtables.ts";
import type { StoreSettings } from "./settings.ts";
import { StoreError } from "./store.ts";

/**
 * Decides whether a batch may be accepted. Events that wait to be flushed are in memory, so their number is limited: at the
 * limit a client waits a little, which slows it down to the speed of the disk, and is then refused.
 */
export class Backpressure {
  readonly #settings: StoreSettings;
  readonly #memtables: Memtables;
  readonly #journal: Journal;
  readonly #waiting = new Set<() => void>();
  #freeBytes = { bytes: Number.POSITIVE_INFINITY, written: 0, atMs: Number.NEGATIVE_INFINITY };
  #isFull = false;
  /** Number of batches that were refused. */
  refused = 0;

  constructor(settings: StoreSettings, memtables: Memtables, journal: Journal) {
    this.#settings = settings;
    this.#memtables = memtables;
    this.#journal = journal;
  }

  get hasCapacity(): boolean {
    const { events, bytes } = this.#memtables;
    const { waiting } = this.#journal;
    return (
      events + waiting.events < this.#settings.maxWaitingEvents &&
      bytes + waiting.bytes < this.#settings.maxWaitingBytes
    );
  }

  /** Resolves when `hasCapacity` may have become true; rejects with `unavailable` at `untilMs` of the clock's `monotonicMs`. */
  async wait(untilMs: number): Promise<void> {
    const leftMs = untilMs - this.#settings.clock.monotonicMs();
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
        timer.stop();
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = this.#settings.clock.after(leftMs, wake);
      this.#waiting.add(wake);
    });
  }

  /** To be called after a flush or a deletion, and when the store closes: waiting appends check again. */
  release(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Rejects with `unavailable` if the disk is full. */
  async checkDisk(): Promise<void> {
    if (!(await this.isDiskFull())) return;
    this.refused++;
    throw new StoreError("unavailable", "the disk is nearly full: nothing was stored; make room, then send it again", {
      retryAfterMs: 30_000,
    });
  }

  /** Whether the disk has less free space than the reserve. The first time, and when there is room again, it is logged. */
  async isDiskFull(): Promise<boolean> {
    const atMs = this.#settings.clock.monotonicMs();
    if (atMs - this.#freeBytes.atMs > FREE_CHECK_MS) {
      const { bavail, bsize } = await statfs(this.#settings.directory);
      this.#freeBytes = { bytes: bavail * bsize, written: this.#journal.counts.bytes, atMs };
    }
    // Bytes that were written since then take space, too.
    const since = this.#journal.counts.bytes - this.#freeBytes.written + this.#journal.waiting.bytes;
    const { reserveBytes, log } = this.#settings;
    const isFull = this.#freeBytes.bytes - since < reserveBytes;
    if (isFull !== this.#isFull) {
      this.#isFull = isFull;
      if (isFull)
        log("error", "the disk is full: nothing is stored until there is room, what is stored can be read", {
          freeBytes: this.#freeBytes.bytes,
          neededBytes: reserveBytes,
        });
      else log("info", "there is room on the disk again: events are stored", { freeBytes: this.#freeBytes.bytes });
    }
    return isFull;
  }
}

// Other programs write to the disk, too, but less than the reserve in this time.
const FREE_CHECK_MS = 250;
