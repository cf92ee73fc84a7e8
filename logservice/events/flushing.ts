import { mkdir } from "node:fs/promises";
import { closed } from "./accepting.ts";
import type { Contents } from "./contents.ts";
import type { Flusher } from "./duckdb/flusher.ts";
import { readSegment } from "./duckdb/segments.ts";
import { type Journal, syncDirectory } from "./journal/journal.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import type { Merging } from "./merging.ts";
import { type NewestPart, newPart, removeFrom } from "./newest.ts";
import type { Settings } from "./settings.ts";

const FLUSH_BYTES = 128 * 1024 * 1024;

/** Makes segments of journal files, and what else the store does by itself: one thing at a time. */
export class Flushing {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #journal: Journal;
  readonly #flusher: Flusher;
  readonly #seenKeys: SeenKeys;
  readonly #merging: Merging;
  #queue: Promise<void> = Promise.resolve();
  #isFlushing = false;
  #isClosed = false;
  readonly counts = { flushes: 0, failures: 0 };

  constructor(
    settings: Settings,
    contents: Contents,
    journal: Journal,
    flusher: Flusher,
    seenKeys: SeenKeys,
    merging: Merging,
  ) {
    this.#settings = settings;
    this.#contents = contents;
    this.#journal = journal;
    this.#flusher = flusher;
    this.#seenKeys = seenKeys;
    this.#merging = merging;
  }

  /** Does something behind all that was asked for before. */
  after<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(() => {
      if (this.#isClosed) throw closed();
      return work();
    });
    this.#queue = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /** Resolves when everything that was accepted before is in segments. */
  flush(): Promise<void> {
    return this.after(() => this.#flushAll(true));
  }

  /** Begins with the files of before the last start, if there are any. */
  begin(): void {
    if (this.#contents.parts.length > 1) void this.after(() => this.#flushAll(false)).catch(() => {});
  }

  flushWhereFull(): void {
    const part = this.#contents.newestPart;
    if (this.#isFlushing || (part.events < this.#settings.flushEvents && part.bytes < FLUSH_BYTES)) return;
    this.#isFlushing = true;
    void this.flush()
      .catch(() => {})
      .finally(() => {
        this.#isFlushing = false;
        // More may have come meanwhile, and nothing more after it.
        if (!this.#isClosed) this.flushWhereFull();
      });
  }

  /** Nothing is begun any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#queue;
  }

  /** Makes segments of all journal files but the one that is written, which is ended first where `isWhole`. */
  async #flushAll(isWhole: boolean): Promise<void> {
    const { parts } = this.#contents;
    if (isWhole && this.#contents.newestPart.events > 0) {
      await this.#journal.rotate(
        () => this.#contents.sequence,
        () => parts.push(newPart(this.#journal.current)),
      );
    }
    let failure: unknown;
    // One that fails stays where it is and keeps the others from nothing.
    for (const part of parts.slice(0, -1)) {
      try {
        await this.#flushPart(part);
        this.counts.flushes++;
      } catch (error) {
        failure = error;
        if (this.#isClosed) break;
        this.counts.failures++;
        this.#settings.log("error", "events could not be made into segments; they stay in the journal", {
          journal: part.file.path,
          error: String(error),
        });
      }
    }
    if (failure !== undefined) throw failure;
    await this.#merging.expire();
    await this.#merging.mergeOne();
  }

  async #flushPart(part: NewestPart): Promise<void> {
    const shares = [...part.projects].map(([project, newest]) => {
      const segments = this.#contents.segmentsOf(project);
      const { events } = newest;
      const last = events.at(-1)!.sequence;
      const share = { project, fromSequence: events[0]!.sequence, events: events.length, path: segments.newPath(last) };
      return { share, newest, segments, last };
    });
    for (const { segments } of shares) await mkdir(segments.directory, { recursive: true });
    await syncDirectory(this.#contents.directory);
    const built =
      shares.length === 0
        ? []
        : await this.#flusher.run({
            kind: "flush",
            journalPath: part.file.path,
            shares: shares.map(({ share }) => share),
          });
    for (const [i, { share, newest, segments, last }] of shares.entries()) {
      // Deleted while it was made.
      if (part.projects.get(share.project) !== newest) continue;
      const segment = await readSegment(built[i]!, newest.bytes, last);
      await segments.replace([], [segment], last, () => {
        if (part.projects.get(share.project) === newest) removeFrom(part, share.project);
      });
    }
    await this.#seenKeys.save(part.file.begin, part.keys, this.#settings.nowMs());
    await this.#contents.removeDoomed();
    this.#contents.parts.splice(this.#contents.parts.indexOf(part), 1);
    await this.#journal.remove(part.file);
  }
}
