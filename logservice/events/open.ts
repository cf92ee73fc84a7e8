import { mkdir, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { compilePredicate, type Query } from "../../grammar/query/index.ts";
import { MAX_MERGED_EVENTS, mergeable } from "./duckdb/compaction.ts";
import { openDuckDb } from "./duckdb/duckdb.ts";
import { Flusher } from "./duckdb/flusher.ts";
import { Readers } from "./duckdb/readers.ts";
import { search } from "./duckdb/search.ts";
import { readSegment, type Segment, Segments } from "./duckdb/segments.ts";
import { fromFiles, type Source, selectionOf } from "./duckdb/source.ts";
import { byLevel, count, discovered, histogram, numbers, top, values } from "./duckdb/statistics.ts";
import { Journal, type RecoveredFile, syncDirectory } from "./journal/journal.ts";
import { SeenKeys } from "./journal/seen-keys.ts";
import { Live, MAX_WAITING } from "./live.ts";
import { lockDirectory } from "./lock.ts";
import { addToPart, type NewestPart, newPart } from "./newest.ts";
import { compareText } from "./order.ts";
import { type Recent, recentIds, recentKeys } from "./recent.ts";
import { SQL_LIMITS, type SqlLimits, SqlRunner } from "./sql/run-sql.ts";
import {
  type EventsStore,
  type NewEvent,
  PROJECT_NAME,
  type Range,
  RECENT_IDS,
  StoreError,
  type TailItem,
} from "./store.ts";
import { acceptEvent, readEventLine, type StoredEvent } from "./stored.ts";

export interface EventsStoreOptions {
  /** Made where it is missing. One process at a time. */
  readonly directory: string;
  readonly nowMs?: () => number;
  /** A line about what went wrong by itself: a torn tail, a failed flush. */
  readonly log?: (level: "info" | "warn" | "error", message: string, fields: Record<string, unknown>) => void;
  /** Events in a journal file before it is made into segments. */
  readonly flushEvents?: number;
  /** Free bytes of the disk below which nothing is accepted: what a flush and a merge need at least. */
  readonly reserveBytes?: number;
  /** Events that wait to be flushed before new ones are refused. */
  readonly maxWaitingEvents?: number;
  readonly sqlLimits?: SqlLimits;
}

/** A segment of a hundred thousand events is made in a second or two, and its events in memory are some 100 MB. */
const FLUSH_EVENTS = 100_000;
const FLUSH_BYTES = 128 * 1024 * 1024;
const RESERVE_BYTES = 256 * 1024 * 1024;
/** Four files behind: memory would go on growing, and the disk is slower than what comes in. */
const MAX_WAITING_EVENTS = 500_000;

/** Opens the events store of a data directory: see EventsStore. Rejects where another process has it. */
export async function openEventsStore(options: EventsStoreOptions): Promise<EventsStore & Upkeep> {
  await mkdir(join(options.directory, "projects"), { recursive: true });
  const unlock = await lockDirectory(options.directory);
  try {
    return await DuckDbEventsStore.open(options, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** What the store does by itself, on demand: for tests and backups. */
export interface Upkeep {
  /** Resolves when everything that was accepted before is in segments. */
  flush(): Promise<void>;
  /** Merges small segments and deletes old ones until nothing is left to do. */
  compact(): Promise<void>;
}

class DuckDbEventsStore implements EventsStore, Upkeep {
  readonly #options: Required<EventsStoreOptions>;
  readonly #unlock: () => Promise<void>;
  readonly #journal: Journal;
  readonly #readers: Readers;
  readonly #flusher = new Flusher();
  readonly #live = new Live();
  readonly #sql: SqlRunner;
  readonly #seenKeys: SeenKeys;
  readonly #projects: Map<string, Segments>;
  readonly #retention = new Map<string, number>();
  readonly #ids = new Map<string, Recent>();
  readonly #keys = new Map<string, Recent>();
  /** Batches that are being written, by project and key, and ids likewise: a retry waits for the first try's end. */
  readonly #idsLoading = new Map<string, Promise<void>>();
  /** Folders of deleted projects. */
  readonly #doomed = new Set<string>();
  readonly #writing = new Map<string, Promise<void>>();
  /** The newest file is the last. */
  readonly #parts: NewestPart[];
  #sequence: number;
  #upkeep: Promise<void> = Promise.resolve();
  #isFlushing = false;
  #isClosed = false;
  #freeBytes = { bytes: Number.POSITIVE_INFINITY, atMs: Number.NEGATIVE_INFINITY };
  readonly #sweep: NodeJS.Timeout;
  readonly #counts = { flushes: 0, failedFlushes: 0, merges: 0, expired: 0, refused: 0, tornBytes: 0, quarantined: 0 };

  static async open(given: EventsStoreOptions, unlock: () => Promise<void>): Promise<DuckDbEventsStore> {
    const options = {
      nowMs: Date.now,
      log: () => {},
      flushEvents: FLUSH_EVENTS,
      reserveBytes: RESERVE_BYTES,
      maxWaitingEvents: MAX_WAITING_EVENTS,
      sqlLimits: SQL_LIMITS,
      ...given,
    };
    const projects = new Map<string, Segments>();
    const folder = join(options.directory, "projects");
    for (const name of await readdir(folder)) {
      const [project = "", began] = name.split("~");
      if (!PROJECT_NAME.test(project) || began === undefined) continue;
      const segments = await Segments.open(join(folder, name), Number(began));
      const other = projects.get(project);
      // Two of a name: the project was deleted and made anew, and the older folder was about to go.
      const [older, newer] =
        other !== undefined && other.began > segments.began ? [segments, other] : [other, segments];
      projects.set(project, newer);
      if (older !== undefined) await rm(older.directory, { recursive: true, force: true });
    }
    let sequence = 1 + Math.max(0, ...[...projects.values()].map(({ flushed, began }) => Math.max(flushed, began)));
    const { journal, recovered, damage } = await Journal.open(join(options.directory, "journal"), (files) => {
      for (const { begin, batches } of files) {
        sequence = Math.max(sequence, begin);
        for (const { frame } of batches) sequence = Math.max(sequence, frame.sequence + Math.max(1, frame.lines));
      }
      return sequence;
    });
    if (damage.tornBytes > 0)
      options.log("warn", "the journal ended in half a batch, which was cut off", { bytes: damage.tornBytes });
    for (const path of damage.quarantined)
      options.log("error", "a journal file is damaged; its whole batches were kept, the file is here", { path });
    const engine = await openDuckDb(":memory:", {
      threads: "2",
      memory_limit: "512MB",
      autoinstall_known_extensions: "false",
      allocator_flush_threshold: "8MB",
      allocator_bulk_deallocation_flush_threshold: "16MB",
    });
    const store = new DuckDbEventsStore(options, unlock, journal, new Readers(engine), projects, sequence);
    store.#counts.tornBytes = damage.tornBytes;
    store.#counts.quarantined = damage.quarantined.length;
    await store.#sql.open();
    await store.#restore(recovered);
    return store;
  }

  private constructor(
    options: Required<EventsStoreOptions>,
    unlock: () => Promise<void>,
    journal: Journal,
    readers: Readers,
    projects: Map<string, Segments>,
    sequence: number,
  ) {
    this.#options = options;
    this.#unlock = unlock;
    this.#journal = journal;
    this.#readers = readers;
    this.#projects = projects;
    this.#sequence = sequence;
    this.#sql = new SqlRunner(join(options.directory, "sql"), options.sqlLimits);
    this.#seenKeys = new SeenKeys(join(options.directory, "keys"));
    this.#parts = [newPart(journal.current)];
    this.#sweep = setInterval(() => void this.compact().catch(() => {}), SWEEP_MS);
    this.#sweep.unref();
  }

  async append(
    project: string,
    batch: readonly NewEvent[],
    { idempotencyKey }: { idempotencyKey?: string | undefined } = {},
  ): Promise<void> {
    const ids = this.#recent(this.#ids, project, recentIds);
    const keys = this.#recent(this.#keys, project, recentKeys);
    if (batch.some(({ id }) => id !== undefined)) await this.#loadIds(project, ids);
    await this.#checkRoom();
    for (;;) {
      // Another try of the same batch may be on its way to the disk: this one's answer depends on that one's end.
      const ahead = this.#ahead(project, batch, idempotencyKey);
      if (ahead === undefined) break;
      await ahead.catch(() => {});
    }
    // From here to the journal nothing waits: what is new now is new when it is written.
    if (this.#isClosed) throw closed();
    if (idempotencyKey !== undefined && keys.has(idempotencyKey)) return;
    const seen = new Set<string>();
    const fresh = batch.filter(({ id }) => {
      if (id === undefined) return true;
      if (ids.has(id) || seen.has(id)) return false;
      seen.add(id);
      return true;
    });
    if (fresh.length === 0) return;

    const nowMs = this.#options.nowMs();
    const first = this.#sequence;
    this.#sequence += fresh.length;
    const accepted = fresh.map((event, i) => acceptEvent(project, event, first + i));
    const frame = {
      sequence: first,
      project,
      lines: fresh.length,
      atMs: nowMs,
      key: idempotencyKey,
      isDrop: false,
    };
    const done = this.#journal.write(frame, accepted.map(({ line }) => line).join(""), () => {
      if (idempotencyKey !== undefined) keys.add(idempotencyKey, nowMs);
      for (const { stored } of accepted) this.#take(project, stored, ids, nowMs);
    });
    await this.#whileWriting(project, fresh, idempotencyKey, done);
    this.#flushWhereFull();
  }

  search: EventsStore["search"] = (range, page, signal) =>
    this.#ask(range, signal, async (source) => {
      const { events, cursor } = await search(source, selectionOf(range, source.nowMs), page, signal);
      return { events: events.map(({ event }) => event), cursor };
    });

  count: EventsStore["count"] = (range, signal) =>
    this.#ask(range, signal, async (source) => ({
      count: await count(source, selectionOf(range, source.nowMs), signal),
    }));

  timeseries: EventsStore["timeseries"] = (range, maxPoints, signal) =>
    this.#ask(range, signal, async (source) => {
      const { stepMs, starts, counts } = await histogram(source, selectionOf(range, source.nowMs), maxPoints, signal);
      const points = starts.map((start, i) => ({
        timestamp: new Date(start).toISOString(),
        count: counts[i]!.reduce((sum, events) => sum + events, 0),
      }));
      return { stepMs, points };
    });

  levelTimeseries: EventsStore["levelTimeseries"] = (range, maxPoints, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await histogram(source, selectionOf(range, source.nowMs), maxPoints, signal);
      return { stepMs: found.stepMs, points: byLevel(found) };
    });

  discoveredFields: EventsStore["discoveredFields"] = (range, signal) =>
    this.#ask(range, signal, async (source) => ({
      fields: await discovered(source, selectionOf(range, source.nowMs), signal),
    }));

  stringFieldStats: EventsStore["stringFieldStats"] = (range, field, limit, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await values(source, selectionOf(range, source.nowMs), field, "string", signal);
      return { values: top(found, limit, (a, b) => compareText(a as string, b as string)) as never };
    });

  booleanFieldStats: EventsStore["booleanFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await values(source, selectionOf(range, source.nowMs), field, "boolean", signal);
      return { values: top(found, 2, (a, b) => Number(a) - Number(b)) as never };
    });

  numericFieldStats: EventsStore["numericFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await numbers(source, selectionOf(range, source.nowMs), field, signal);
      return found.count === 0
        ? { min: null, avg: null, max: null }
        : { min: found.min, avg: found.sum / found.count, max: found.max };
    });

  async sql(project: string, text: string, signal: AbortSignal) {
    signal.throwIfAborted();
    const beganMs = performance.now();
    for (let tries = 1; ; tries++) {
      const held = this.#projects.get(project)?.hold();
      try {
        const segments = held?.segments ?? [];
        const pieces = this.#parts.flatMap(({ file, projects }) => {
          const events = projects.get(project)?.events ?? [];
          if (events.length === 0) return [];
          const [first, last] = [events[0]!.sequence, events.at(-1)!.sequence];
          return [{ path: file.path, project, first, last, events: events.length }];
        });
        const paths = segments.map(({ path }) => path);
        const results = await this.#sql.run(text, paths, pieces, signal);
        const bytesProcessed = segments.reduce((sum, { bytes }) => sum + bytes, 0);
        return { results, stats: { durationMs: performance.now() - beganMs, bytesProcessed, cacheHit: false } };
      } catch (error) {
        // A journal file became segments before it was linked: its events are there now.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 3) throw error;
      } finally {
        held?.release();
      }
    }
  }

  async projectStats(project: string) {
    let [bytesTotal, eventsTotal] = [0, 0];
    for (const segment of this.#projects.get(project)?.all ?? []) {
      bytesTotal += segment.eventBytes;
      eventsTotal += segment.events;
    }
    for (const { projects } of this.#parts) {
      const newest = projects.get(project);
      bytesTotal += newest?.bytes ?? 0;
      eventsTotal += newest?.events.length ?? 0;
    }
    return { bytesTotal, eventsTotal };
  }

  tail(project: string, query: Query | undefined, afterId?: string): AsyncIterableIterator<TailItem> {
    const predicate = query === undefined ? undefined : compilePredicate(query, { nowMs: this.#options.nowMs() });
    const selects = predicate ?? (() => true);
    const before: TailItem[] = [];
    if (afterId !== undefined) {
      const newest = this.#parts.flatMap(({ projects }) => projects.get(project)?.events ?? []);
      const at = newest.findLastIndex(({ event }) => event.id === afterId);
      const missed = newest.slice(at + 1).filter(({ event }) => selects(event));
      const shown = missed.slice(-MAX_WAITING);
      if (at < 0) before.push({ dropped: null });
      else if (shown.length < missed.length) before.push({ dropped: missed.length - shown.length });
      before.push(...shown.map(({ event }) => ({ event })));
    }
    return this.#live.read(project, selects, before);
  }

  async drop(project: string): Promise<void> {
    if (this.#isClosed) throw closed();
    const sequence = this.#sequence++;
    const frame = { sequence, project, lines: 0, atMs: this.#options.nowMs(), key: undefined, isDrop: true };
    await this.#journal.write(frame, "", () => this.#forget(project));
    await this.#afterUpkeep(() => this.#removeDoomed());
  }

  setRetention(project: string, days: number): void {
    if (days > 0) this.#retention.set(project, days);
    else this.#retention.delete(project);
  }

  metrics() {
    const segments = [...this.#projects.values()].flatMap(({ all }) => all);
    return {
      journal_syncs_total: this.#journal.counts.syncs,
      journal_batches_total: this.#journal.counts.batches,
      journal_bytes_total: this.#journal.counts.bytes,
      journal_failures_total: this.#journal.counts.failures,
      journal_torn_bytes_total: this.#counts.tornBytes,
      journal_quarantined_total: this.#counts.quarantined,
      flushes_total: this.#counts.flushes,
      flush_failures_total: this.#counts.failedFlushes,
      merges_total: this.#counts.merges,
      expired_segments_total: this.#counts.expired,
      refused_batches_total: this.#counts.refused,
      newest_events: this.#waitingEvents(),
      segments: segments.length,
      segment_bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#sweep);
    this.#live.end();
    await this.#journal.close();
    // What the flusher is at is in the journal, and done again after the next start.
    await this.#flusher.close();
    await this.#sql.close();
    await this.#upkeep.catch(() => {});
    await this.#readers.close();
    await this.#unlock();
  }

  flush(): Promise<void> {
    return this.#afterUpkeep(() => this.#flushAll(true));
  }

  compact(): Promise<void> {
    return this.#afterUpkeep(async () => {
      await this.#expire();
      while (await this.#mergeOne());
    });
  }

  // Accepting

  /** The batch, or the event, that must end before this one can be judged. */
  #ahead(project: string, batch: readonly NewEvent[], key: string | undefined): Promise<void> | undefined {
    if (this.#writing.size === 0) return undefined;
    const ofKey = key === undefined ? undefined : this.#writing.get(keyName(project, key));
    if (ofKey !== undefined) return ofKey;
    for (const { id } of batch) {
      const ofId = id === undefined ? undefined : this.#writing.get(idName(project, id));
      if (ofId !== undefined) return ofId;
    }
    return undefined;
  }

  async #whileWriting(
    project: string,
    batch: readonly NewEvent[],
    key: string | undefined,
    done: Promise<void>,
  ): Promise<void> {
    const names = batch.flatMap(({ id }) => (id === undefined ? [] : [idName(project, id)]));
    if (key !== undefined) names.push(keyName(project, key));
    for (const name of names) this.#writing.set(name, done);
    try {
      await done;
    } finally {
      for (const name of names) this.#writing.delete(name);
    }
  }

  #take(project: string, stored: StoredEvent, ids: Recent, nowMs: number): void {
    if (stored.hasOwnId) ids.add(stored.event.id, nowMs);
    addToPart(this.#parts.at(-1)!, project, stored);
    this.#live.publish(project, stored.event);
  }

  #recent(all: Map<string, Recent>, project: string, make: (nowMs: number) => Recent): Recent {
    let recent = all.get(project);
    if (recent === undefined) {
      recent = make(this.#options.nowMs());
      all.set(project, recent);
    }
    return recent;
  }

  /** Refuses before anything is accepted: a half-written batch would have to be taken back. */
  async #checkRoom(): Promise<void> {
    if (this.#isClosed) throw closed();
    if (this.#waitingEvents() >= this.#options.maxWaitingEvents) {
      this.#counts.refused++;
      throw new StoreError("unavailable", "more events come in than can be stored: nothing was accepted; try again", {
        retryAfterMs: 2000,
      });
    }
    const atMs = performance.now();
    if (atMs - this.#freeBytes.atMs > FREE_CHECK_MS) {
      const { bavail, bsize } = await statfs(this.#options.directory);
      this.#freeBytes = { bytes: bavail * bsize, atMs };
    }
    if (this.#freeBytes.bytes - this.#journal.waitingBytes < this.#options.reserveBytes) {
      this.#counts.refused++;
      throw new StoreError(
        "unavailable",
        "the disk is nearly full: nothing was stored; make room, then send it again",
        {
          retryAfterMs: 30_000,
        },
      );
    }
  }

  #waitingEvents(): number {
    return this.#parts.reduce((sum, { events }) => sum + events, 0);
  }

  // Starting

  /** Brings back what the journal holds and the segments do not. */
  async #restore(recovered: readonly RecoveredFile[]): Promise<void> {
    const parts: NewestPart[] = [];
    const nowMs = this.#options.nowMs();
    for (const [project, key, atMs] of await this.#seenKeys.load(nowMs)) {
      this.#recent(this.#keys, project, recentKeys).add(key, atMs);
    }
    for (const { batches, ...file } of recovered) {
      const part = newPart(file);
      for (const { frame, body } of batches) {
        const { project, sequence, key, isDrop } = frame;
        if (isDrop) {
          for (const one of [...parts, part]) removeFrom(one, project);
          this.#ids.delete(project);
          this.#keys.delete(project);
          // Segments of before the deletion, which the crash left.
          const segments = this.#projects.get(project);
          if (segments !== undefined && segments.began <= sequence) {
            this.#projects.delete(project);
            this.#doomed.add(segments.directory);
          }
          continue;
        }
        if (key !== undefined) {
          this.#recent(this.#keys, project, recentKeys).add(key, frame.atMs);
          part.keys.push([project, key, frame.atMs]);
        }
        const flushed = this.#projects.get(project)?.flushed ?? 0;
        const ids = this.#recent(this.#ids, project, recentIds);
        for (const line of body.toString().split("\n")) {
          if (line === "") continue;
          const { stored } = readEventLine(line);
          if (stored.hasOwnId) ids.add(stored.event.id, nowMs);
          if (stored.sequence > flushed) addToPart(part, project, stored);
        }
      }
      parts.push(part);
    }
    this.#parts.unshift(...parts);
    if (parts.length > 0) void this.#afterUpkeep(() => this.#flushAll(false)).catch(() => {});
  }

  // Reading

  async #ask<Result>(
    range: Range,
    signal: AbortSignal,
    work: (source: Source) => Promise<Result>,
  ): Promise<Result & { stats: { durationMs: number; bytesProcessed: number; cacheHit: boolean } }> {
    signal.throwIfAborted();
    const beganMs = performance.now();
    const held = this.#projects.get(range.project)?.hold();
    const source: Source = {
      segments: held?.segments ?? [],
      newest: this.#parts.flatMap(({ projects }) => {
        const list = projects.get(range.project);
        return list === undefined ? [] : [{ list, length: list.events.length }];
      }),
      readers: this.#readers,
      nowMs: this.#options.nowMs(),
      used: { bytes: 0, isScanned: false },
    };
    try {
      const result = await work(source);
      const durationMs = performance.now() - beganMs;
      return {
        ...result,
        stats: { durationMs, bytesProcessed: source.used.bytes, cacheHit: !source.used.isScanned },
      };
    } finally {
      held?.release();
    }
  }

  // Upkeep: one thing at a time

  #afterUpkeep<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#upkeep.then(() => {
      if (this.#isClosed) throw closed();
      return work();
    });
    this.#upkeep = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  #flushWhereFull(): void {
    const part = this.#parts.at(-1)!;
    if (this.#isFlushing || (part.events < this.#options.flushEvents && part.bytes < FLUSH_BYTES)) return;
    this.#isFlushing = true;
    void this.#afterUpkeep(() => this.#flushAll(true))
      .catch(() => {})
      .finally(() => {
        this.#isFlushing = false;
        // More may have come meanwhile, and nothing more after it.
        if (!this.#isClosed) this.#flushWhereFull();
      });
  }

  /** Makes segments of all journal files but the one that is written, which is ended first where `isWhole`. */
  async #flushAll(isWhole: boolean): Promise<void> {
    if (isWhole && this.#parts.at(-1)!.events > 0) {
      await this.#journal.rotate(
        () => this.#sequence,
        () => this.#parts.push(newPart(this.#journal.current)),
      );
    }
    let failure: unknown;
    // One that fails stays where it is and keeps the others from nothing.
    for (const part of this.#parts.slice(0, -1)) {
      try {
        await this.#flushPart(part);
        this.#counts.flushes++;
      } catch (error) {
        failure = error;
        if (this.#isClosed) break;
        this.#counts.failedFlushes++;
        this.#options.log("error", "events could not be made into segments; they stay in the journal", {
          journal: part.file.path,
          error: String(error),
        });
      }
    }
    if (failure !== undefined) throw failure;
    await this.#expire();
    await this.#mergeOne();
  }

  async #flushPart(part: NewestPart): Promise<void> {
    const shares = [...part.projects].map(([project, newest]) => {
      const segments = this.#segmentsOf(project);
      const { events } = newest;
      const last = events.at(-1)!.sequence;
      const share = { project, fromSequence: events[0]!.sequence, events: events.length, path: segments.newPath(last) };
      return { share, newest, segments, last };
    });
    for (const { segments } of shares) await mkdir(segments.directory, { recursive: true });
    await syncDirectory(join(this.#options.directory, "projects"));
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
    await this.#seenKeys.save(part.file.begin, part.keys, this.#options.nowMs());
    await this.#removeDoomed();
    this.#parts.splice(this.#parts.indexOf(part), 1);
    await this.#journal.remove(part.file);
  }

  #segmentsOf(project: string): Segments {
    let segments = this.#projects.get(project);
    if (segments === undefined) {
      const began = this.#sequence;
      segments = Segments.empty(join(this.#options.directory, "projects", `${project}~${began}`), began);
      this.#projects.set(project, segments);
    }
    return segments;
  }

  async #expire(): Promise<void> {
    for (const [project, days] of this.#retention) {
      const segments = this.#projects.get(project);
      if (segments === undefined) continue;
      const oldest = BigInt(Math.floor(this.#options.nowMs() - days * DAY_MS)) * 1_000_000n;
      const expired = segments.all.filter(({ last }) => last < oldest);
      if (expired.length === 0) continue;
      await segments.replace(expired, []);
      this.#counts.expired += expired.length;
    }
  }

  /** Merges one run of small neighbours; false where there is none. */
  async #mergeOne(): Promise<boolean> {
    for (const segments of this.#projects.values()) {
      const run = mergeable(segments.all, MAX_MERGED_EVENTS);
      if (run === undefined) continue;
      const total = (of: (segment: Segment) => number) => run.reduce((sum, segment) => sum + of(segment), 0);
      const sequence = Math.max(...run.map((one) => one.sequence));
      const [facts] = await this.#flusher.run({
        kind: "merge",
        paths: run.map(({ path }) => path),
        path: segments.newPath(sequence),
        events: total(({ events }) => events),
      });
      const eventBytes = total((one) => one.eventBytes);
      await segments.replace(run, [await readSegment(facts!, eventBytes, sequence)]);
      this.#counts.merges++;
      return true;
    }
    return false;
  }

  #forget(project: string): void {
    for (const part of this.#parts) removeFrom(part, project);
    this.#ids.delete(project);
    this.#keys.delete(project);
    this.#idsLoading.delete(project);
    const segments = this.#projects.get(project);
    if (segments !== undefined) this.#doomed.add(segments.directory);
    this.#projects.delete(project);
    this.#live.end(project);
  }

  /** The folders of deleted projects go before the journal forgets the deletion. */
  async #removeDoomed(): Promise<void> {
    for (const directory of this.#doomed) {
      await rm(directory, { recursive: true, force: true });
      this.#doomed.delete(directory);
    }
    await syncDirectory(join(this.#options.directory, "projects"));
  }

  /** Ids of before the last start: what is in the journal is known, the rest stands in the newest segments. */
  async #loadIds(project: string, ids: Recent): Promise<void> {
    const held = this.#projects.get(project)?.hold();
    if (held === undefined) return;
    const { segments, release } = held;
    try {
      this.#idsLoading.set(project, this.#idsLoading.get(project) ?? this.#readIds(segments, ids));
      await this.#idsLoading.get(project);
    } finally {
      release();
    }
  }

  async #readIds(segments: readonly Segment[], ids: Recent): Promise<void> {
    let left = RECENT_IDS;
    const never = new AbortController().signal;
    const newest = [...segments].sort((a, b) => b.sequence - a.sequence);
    for (const segment of newest) {
      if (left <= 0) break;
      left -= segment.events;
      const statement = `select id from ${fromFiles([segment])} where id is not null`;
      const nowMs = this.#options.nowMs();
      await this.#readers.run(statement, [], never, ([found]) => {
        for (const id of found as string[]) ids.add(id, nowMs);
      });
    }
  }
}

const SWEEP_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
// Between two looks at the disk a fast one takes less than the reserve.
const FREE_CHECK_MS = 250;

const closed = () => new StoreError("unavailable", "the service is shutting down; try again", { retryAfterMs: 1000 });
const keyName = (project: string, key: string) => `k ${project} ${key}`;
const idName = (project: string, id: string) => `i ${project} ${id}`;

function removeFrom(part: NewestPart, project: string): void {
  const newest = part.projects.get(project);
  if (newest === undefined) return;
  part.projects.delete(project);
  part.events -= newest.events.length;
  part.bytes -= newest.bytes;
}
