import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { closed } from "./accepting.ts";
import type { Contents } from "./contents.ts";
import { removeSegment } from "./duckdb/build.ts";
import { FLUSHER_JOBS, type Flusher } from "./duckdb/flusher.ts";
import { readSegment, type Segment, type Segments } from "./duckdb/segments.ts";
import { type Journal, syncDirectory } from "./journal/journal.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import { type NewestEvents, type NewestPart, newPart, removeFrom } from "./newest.ts";
import { type Piece, piecesOf } from "./pieces.ts";
import type { Settings } from "./settings.ts";

/** The segments that a part's events of one project become. */
interface Share {
  readonly project: string;
  readonly newest: NewestEvents;
  readonly segments: Segments;
  readonly pieces: readonly (Piece & { readonly path: string })[];
  readonly last: number;
}

type Built = Share & { readonly built: readonly Segment[] };

/**
 * Ends the journal's file when it is full, and makes segments of the ended ones: several at once, put in place in their
 * order. One that fails keeps the later ones waiting: `flushed` of a project says that everything before is in segments,
 * and a deletion must not be forgotten before the events that it deletes.
 */
export class Flushing {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #journal: Journal;
  readonly #flusher: Flusher;
  readonly #seenKeys: SeenKeys;
  readonly #flushed: () => void;
  readonly #builds = new Map<NewestPart, Promise<readonly Built[]>>();
  readonly #closing = new AbortController();
  #rotation: Promise<void> | undefined;
  #nextRotationMs = 0;
  #oldest: Promise<void> | undefined;
  #work: Promise<void> | undefined;
  readonly counts = { flushes: 0, failures: 0 };

  /** `flushed` is called whenever a journal file has become segments. */
  constructor(
    settings: Settings,
    contents: Contents,
    journal: Journal,
    flusher: Flusher,
    seenKeys: SeenKeys,
    flushed: () => void,
  ) {
    this.#settings = settings;
    this.#contents = contents;
    this.#journal = journal;
    this.#flusher = flusher;
    this.#seenKeys = seenKeys;
    this.#flushed = flushed;
  }

  /** Resolves when everything that was accepted before is in segments; rejects where that fails, and is tried again later. */
  async flush(): Promise<void> {
    if (this.#closing.signal.aborted) throw closed();
    if (this.#contents.newestPart.events > 0) await this.#rotate();
    const last = this.#contents.ended.at(-1);
    while (last !== undefined && this.#contents.parts.includes(last)) await this.#flushOldest();
  }

  /** Goes on with ended files, if there are any. */
  begin(): void {
    this.#startBuilds();
    this.#work ??= this.#flushEnded();
  }

  /** Ends the journal's file where it is full, whatever else is under way. */
  rotateWhereFull(): void {
    const { events, bytes } = this.#contents.newestPart;
    if (events < this.#settings.flushEvents && bytes < this.#settings.flushBytes) return;
    if (this.#rotation !== undefined || performance.now() < this.#nextRotationMs) return;
    this.#rotate().then(
      // A group that was written meanwhile may have filled the new one, and nothing may come after it.
      () => this.rotateWhereFull(),
      (error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#nextRotationMs = performance.now() + RETRY_MS;
        this.#settings.log("error", "the journal's file could not be ended; it goes on", { error: String(error) });
      },
    );
  }

  /** Nothing is begun any more. */
  close(): void {
    this.#closing.abort();
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#rotation, this.#work, this.#oldest, ...this.#builds.values()]);
  }

  async #rotate(): Promise<void> {
    this.#rotation ??= this.#journal
      .rotate(
        () => this.#contents.sequence,
        () => this.#contents.parts.push(newPart(this.#journal.current)),
      )
      .finally(() => {
        this.#rotation = undefined;
      });
    await this.#rotation;
    this.begin();
  }

  async #flushEnded(): Promise<void> {
    // Behind the assignment to #work.
    await undefined;
    const { signal } = this.#closing;
    for (let failures = 0; this.#contents.ended.length > 0 && !signal.aborted; ) {
      try {
        await this.#flushOldest();
        failures = 0;
      } catch {
        await pause(Math.min(RETRY_MS * 2 ** failures++, MAX_RETRY_MS), undefined, { signal, ref: false }).catch(
          () => {},
        );
      }
    }
    this.#work = undefined;
  }

  /** Whoever asks meanwhile gets the same. */
  #flushOldest(): Promise<void> {
    this.#oldest ??= this.#flushPart(this.#contents.ended[0]!).finally(() => {
      this.#oldest = undefined;
    });
    return this.#oldest;
  }

  async #flushPart(part: NewestPart): Promise<void> {
    try {
      this.#startBuilds();
      const built = await this.#builds.get(part)!.catch((error: unknown) => {
        this.#builds.delete(part);
        throw error;
      });
      await this.#putInPlace(part, built);
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.counts.failures++;
        this.#settings.log("error", "events could not be made into segments; they stay in the journal", {
          journal: part.file.path,
          error: String(error),
        });
      }
      throw error;
    }
    this.counts.flushes++;
    this.#startBuilds();
    this.#flushed();
  }

  #startBuilds(): void {
    if (this.#closing.signal.aborted) return;
    for (const part of this.#contents.ended.slice(0, FLUSHER_JOBS)) {
      if (this.#builds.has(part)) continue;
      const build = this.#build(part);
      // Said when it is this part's turn; what was built stays built until it is in place.
      build.catch(() => {});
      this.#builds.set(part, build);
    }
  }

  async #build(part: NewestPart): Promise<readonly Built[]> {
    for (;;) {
      const shares = [...part.projects].map(([project, newest]): Share => {
        const segments = this.#contents.segmentsOf(project);
        const pieces = piecesOf(newest).map((piece) => ({ ...piece, path: segments.newPath(piece.last) }));
        return { project, newest, segments, pieces, last: newest.lastSequence };
      });
      if (shares.length === 0) return [];
      try {
        for (const { segments } of shares) await mkdir(segments.directory, { recursive: true });
        await syncDirectory(this.#contents.directory);
        const facts = await this.#flusher.run({
          kind: "flush",
          journalPath: part.file.path,
          shares: shares.flatMap(({ project, pieces }) =>
            pieces.map(({ first, last, events, path }) => ({ project, first, last, events, path })),
          ),
        });
        const left = [...facts];
        return await Promise.all(
          shares.map(async (share) => ({
            ...share,
            built: await Promise.all(share.pieces.map(({ bytes, last }) => readSegment(left.shift()!, bytes, last))),
          })),
        );
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        for (const { path } of shares.flatMap(({ pieces }) => pieces)) await removeSegment(path);
        // Of a project that was deleted meanwhile the folder is gone; the others are made without it.
        if (!shares.every((share) => isCurrent(part, share))) continue;
        throw error;
      }
    }
  }

  async #putInPlace(part: NewestPart, built: readonly Built[]): Promise<void> {
    for (const share of built) {
      if (!isCurrent(part, share)) continue;
      await share.segments.replace([], share.built, {
        flushed: share.last,
        onChange: () => {
          if (isCurrent(part, share)) removeFrom(part, share.project);
        },
      });
    }
    await this.#seenKeys.save(part.file.begin, part.keys, this.#settings.nowMs());
    await this.#contents.removeDoomed();
    await this.#journal.remove(part.file);
    this.#contents.parts.splice(this.#contents.parts.indexOf(part), 1);
    this.#builds.delete(part);
  }
}

/** Whether the project was not deleted since. */
const isCurrent = (part: NewestPart, { project, newest }: Share) => part.projects.get(project) === newest;

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
