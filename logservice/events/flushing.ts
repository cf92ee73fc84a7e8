import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { closed } from "./accepting.ts";
import type { Contents } from "./contents.ts";
import { removeSegment } from "./duckdb/build.ts";
import { FLUSHER_JOBS, type Flusher } from "./duckdb/flusher.ts";
import { readSegment, type Segment, type Segments } from "./duckdb/segments.ts";
import { codeOf } from "./durable.ts";
import type { Journal } from "./journal/journal.ts";
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

/** What was made of a part, and the projects of it whose folders did not let it be done. */
interface Build {
  readonly built: readonly Built[];
  readonly failed: ReadonlyMap<string, Error>;
}

/**
 * Ends the journal's file when it is full, and makes segments of the ended ones: several at once, put in place in their
 * order. One that fails keeps the later ones waiting: `flushed` of a project says that everything before is in segments,
 * and a deletion must not be forgotten before the events that it deletes. A project whose folder cannot be written to
 * keeps nobody else waiting: its events stay in the journal, and no more are accepted.
 */
export class Flushing {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #journal: Journal;
  readonly #flusher: Flusher;
  readonly #seenKeys: SeenKeys;
  readonly #flushed: () => void;
  readonly #builds = new Map<NewestPart, Promise<Build>>();
  /** Projects whose folders cannot be written to, and why. */
  readonly #stuck = new Map<string, Error>();
  readonly #closing = new AbortController();
  /** Parts of which only events wait whose folders cannot be written to. */
  readonly #notBeforeMs = new WeakMap<NewestPart, number>();
  #retry: NodeJS.Timeout | undefined;
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
    const { ended } = this.#contents;
    for (const part of ended) this.#notBeforeMs.delete(part);
    while (ended.some((part) => this.#contents.parts.includes(part))) await this.#flushOldest();
  }

  /** What is in memory is stored at once if the file of the journal that is written to was removed, or cut. */
  async lookAtJournal(): Promise<void> {
    if (await this.#journal.look()) return;
    this.#settings.log(
      "error",
      "the journal's file was damaged while it is written: its events are stored from memory",
      {
        journal: this.#journal.current.path,
      },
    );
    await this.flush();
  }

  /** Why no event of a project can be stored just now. */
  stuckBy(project: string): Error | undefined {
    const isWaiting = this.#contents.ended.some(({ projects }) => projects.has(project));
    return isWaiting ? this.#stuck.get(project) : undefined;
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
    clearTimeout(this.#retry);
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
    for (let failures = 0; this.#next() !== undefined && !signal.aborted; ) {
      try {
        await this.#flushOldest();
        failures = 0;
      } catch (error) {
        if (error instanceof FolderStuck) continue;
        await pause(Math.min(RETRY_MS * 2 ** failures++, MAX_RETRY_MS), undefined, { signal, ref: false }).catch(
          () => {},
        );
      }
    }
    this.#work = undefined;
    // Those that wait for a folder are tried again later.
    if (this.#contents.ended.length > 0 && !signal.aborted) {
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.begin(), STUCK_RETRY_MS).unref();
    }
  }

  /** The oldest ended file of which something can be made now. */
  #next(): NewestPart | undefined {
    const nowMs = performance.now();
    return this.#contents.ended.find((part) => (this.#notBeforeMs.get(part) ?? 0) <= nowMs);
  }

  /** Whoever asks meanwhile gets the same. */
  #flushOldest(): Promise<void> {
    this.#oldest ??= this.#flushPart(this.#next() ?? this.#contents.ended[0]!).finally(() => {
      this.#oldest = undefined;
    });
    return this.#oldest;
  }

  async #flushPart(part: NewestPart): Promise<void> {
    try {
      this.#startBuilds();
      if (!this.#builds.has(part)) this.#startBuild(part);
      const build = await this.#builds.get(part)!.catch((error: unknown) => {
        this.#builds.delete(part);
        throw error;
      });
      await this.#putInPlace(part, build);
      this.#builds.delete(part);
    } catch (error) {
      if (error instanceof FolderStuck) this.#builds.delete(part);
      if (this.#closing.signal.aborted) throw error;
      this.counts.failures++;
      const said = { journal: part.file.path, error: String(error) };
      this.#settings.log("error", "events could not be made into segments; they stay in the journal", said);
      if (!(error instanceof FolderStuck) && !(await this.#journal.isAsWritten(part.file))) await this.#rewrite(part);
      throw error;
    }
    this.counts.flushes++;
    this.#startBuilds();
    this.#flushed();
  }

  #startBuilds(): void {
    if (this.#closing.signal.aborted) return;
    const nowMs = performance.now();
    const due = this.#contents.ended.filter((part) => (this.#notBeforeMs.get(part) ?? 0) <= nowMs);
    for (const part of due.slice(0, FLUSHER_JOBS)) if (!this.#builds.has(part)) this.#startBuild(part);
  }

  #startBuild(part: NewestPart): void {
    const build = this.#build(part);
    // Said when it is this part's turn; what was built stays built until it is in place.
    build.catch(() => {});
    this.#builds.set(part, build);
  }

  async #build(part: NewestPart): Promise<Build> {
    for (;;) {
      const failed = new Map<string, Error>();
      const shares: Share[] = [];
      for (const [project, newest] of part.projects) {
        const segments = this.#contents.segmentsOf(project);
        const pieces = piecesOf(newest).map((piece) => ({ ...piece, path: segments.newPath(piece.first, piece.last) }));
        const error = await this.#whyStuck(part, project, segments, pieces);
        if (error !== undefined) failed.set(project, error);
        else shares.push({ project, newest, segments, pieces, last: newest.lastSequence });
      }
      if (shares.length === 0) return { built: [], failed };
      try {
        const facts = await this.#flusher.run({
          kind: "flush",
          journalPath: part.file.path,
          shares: shares.flatMap(({ project, segments: { began }, pieces }) =>
            pieces.map(({ bytes, ...piece }) => ({ ...piece, project, began, eventBytes: bytes })),
          ),
        });
        const left = [...facts];
        const built = await Promise.all(
          shares.map(async (share) => ({
            ...share,
            built: await Promise.all(
              share.pieces.map(({ bytes, first, last }) =>
                readSegment(left.shift()!, { eventBytes: bytes, sequence: last, intervals: [[first, last]] }),
              ),
            ),
          })),
        );
        return { built, failed };
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        for (const { path } of shares.flatMap(({ pieces }) => pieces)) await removeSegment(path).catch(() => {});
        // Of a project that was deleted meanwhile the folder is gone; the others are made without it.
        if (!shares.every((share) => isCurrent(part, share))) continue;
        throw error;
      }
    }
  }

  /** Why no segment of a project can be made of a part now: its folder cannot be written to, or an older part waits. */
  async #whyStuck(part: NewestPart, project: string, segments: Segments, pieces: readonly { readonly path: string }[]) {
    const older = this.#contents.ended.slice(0, this.#contents.ended.indexOf(part));
    const stuck = this.#stuck.get(project);
    if (stuck !== undefined && older.some(({ projects }) => projects.has(project))) return stuck;
    try {
      if (segments.blocked !== undefined) throw new FolderStuck(segments.blocked);
      await this.#contents.makeFolder(segments);
      // The flusher writes over it.
      await (await open(`${pieces[0]!.path}.new`, "w")).close();
      return undefined;
    } catch (error) {
      if (!isOfFolder(error)) throw error;
      return error as Error;
    }
  }

  async #putInPlace(part: NewestPart, { built, failed }: Build): Promise<void> {
    const stuck = new Map(failed);
    const { ended } = this.#contents;
    const older = ended.slice(0, ended.indexOf(part));
    for (const share of built) {
      const { project, segments } = share;
      if (!isCurrent(part, share)) continue;
      try {
        const before = older.some(({ projects }) => projects.has(project));
        if (before) throw new FolderStuck(`events of ${project} that came before cannot be stored`);
        await segments.replace([], share.built, {
          flushed: share.last,
          onChange: () => {
            if (isCurrent(part, share)) removeFrom(part, project);
          },
        });
        this.#stuck.delete(project);
      } catch (error) {
        if (!isOfFolder(error)) throw error;
        stuck.set(project, error as Error);
        for (const { path } of share.built) await removeSegment(path).catch(() => {});
      }
    }
    await this.#seenKeys.save(part.file.begin, part.keys, this.#settings.nowMs());
    await this.#contents.removeDoomed();
    for (const [project, error] of stuck) {
      if (!part.projects.has(project)) continue;
      this.#stuck.set(project, error);
      this.#notBeforeMs.set(part, performance.now() + STUCK_RETRY_MS);
      throw error instanceof FolderStuck ? error : new FolderStuck(String(error), { cause: error });
    }
    // A deletion in this file may be of events in an older one that waits.
    if (part.drops > 0 && older.length > 0) {
      this.#notBeforeMs.set(part, performance.now() + STUCK_RETRY_MS);
      return;
    }
    await this.#contents.noteNewest();
    await this.#journal.remove(part.file);
    this.#contents.parts.splice(this.#contents.parts.indexOf(part), 1);
    this.#notBeforeMs.delete(part);
  }

  /** What is in memory takes the place of a file that was damaged on the disk; keys go into a file of their own. */
  async #rewrite(part: NewestPart): Promise<void> {
    const atMs = this.#settings.nowMs();
    await this.#seenKeys.save(part.file.begin, part.keys, atMs);
    const batches = [...part.projects].flatMap(([project, { chunks }]) =>
      chunks.map(({ lines: { firstSequence: sequence, body }, length: lines }) => ({
        frame: { sequence, project, lines, atMs, key: undefined, isDrop: false },
        body,
      })),
    );
    await this.#journal.rewrite(part.file, batches);
    this.#settings.log("warn", "a damaged file of the journal was written again from memory: nothing is lost", {
      journal: part.file.path,
    });
  }
}

/** The folder of a project does not let its events be stored; those of other projects are. */
class FolderStuck extends Error {
  override readonly name = "FolderStuck";
}

/** Whether an error is of one folder. A full disk and the like concern all projects. */
const isOfFolder = (error: unknown) =>
  error instanceof FolderStuck ||
  ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOENT", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EIO", "ELOOP"].includes(
    codeOf(error),
  );

/** Whether the project was not deleted since. */
const isCurrent = (part: NewestPart, { project, newest }: Share) => part.projects.get(project) === newest;

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** A folder that cannot be written to is mended by people. */
const STUCK_RETRY_MS = 5000;
