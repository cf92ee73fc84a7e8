import { mkdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { compilePredicate, type Query } from "../../../grammar/query/index.ts";
import type { Clock, Timer } from "../../../grammar/units/clock.ts";
import { SERVICE, type TurnTaker } from "../../turns/turns.ts";
import { Appender } from "../append.ts";
import { Backpressure } from "../backpressure.ts";
import { Dedup } from "../dedup.ts";
import { isDiskFull } from "../durable.ts";
import { FlushScheduler } from "../flush-scheduler.ts";
import { deletion } from "../journal/frame.ts";
import { Journal } from "../journal/journal.ts";
import { JOURNAL_LIST, JournalList } from "../journal/journal-list.ts";
import { readJournalFiles } from "../journal/recovery.ts";
import { type JournalDamage, repairJournal } from "../journal/repair.ts";
import { SeenKeys } from "../journal/seen-keys.ts";
import type { FolderHold } from "../lock.ts";
import { olderLoss, UnnotedLoss } from "../loss.ts";
import type { Memtable } from "../memtable.ts";
import { Memtables } from "../memtables.ts";
import { replayJournal } from "../replay.ts";
import { Retention } from "../retention.ts";
import { SelectingTail } from "../selecting-tail.ts";
import type { StoreSettings } from "../settings.ts";
import { mayBeSlow } from "../slow-query.ts";
import {
  type AppendOptions,
  type DiskRoom,
  type EventsStore,
  folderReplaced,
  type NewEvent,
  storeClosed,
  type TailItem,
} from "../store.ts";
import { openTail, Tails } from "../tail.ts";
import { Compactor } from "./compactor.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { openDuckDb } from "./duckdb.ts";
import { KillableEngines } from "./engine/killable-engines.ts";
import { selectInProcess } from "./engine/select-in-process.ts";
import { refuseOthers } from "./find-folders.ts";
import { SegmentWriter } from "./flush.ts";
import { nextSequence, replayTarget } from "./flushed.ts";
import { Flusher } from "./flusher.ts";
import { Inspector } from "./inspector.ts";
import { idLoader } from "./load-ids.ts";
import { Losses } from "./losses.ts";
import { flushedBatches, logJournalDamage, openProjects } from "./open-projects.ts";
import { ProjectSegments } from "./projects.ts";
import { QueryEngine } from "./query/query-engine.ts";
import { Scrubber } from "./scrubber.ts";
import { SqlRunner } from "./sql/run-sql.ts";

/** The work that the store does on its own, on demand: for tests and backups. */
export interface Upkeep {
  /** Resolves when everything that was accepted before is in segments. */
  flush(): Promise<void>;
  /** Merges small segments and deletes expired ones until nothing is left to do. */
  compact(): Promise<void>;
  /** Verifies the checksums of all files. */
  scrub(): Promise<void>;
}

/** The parts that are opened before the store. */
interface Opened {
  readonly journal: Journal;
  readonly damage: JournalDamage;
  readonly pool: ConnectionPool;
  readonly memtables: Memtables;
  readonly projects: ProjectSegments;
  readonly seenKeys: SeenKeys;
  readonly flusher: Flusher;
  readonly losses: Losses;
}

interface FolderLock {
  readonly unlock: () => Promise<void>;
  readonly hold: () => FolderHold;
}

/** The events store of one machine: a journal, memtables, and segments that DuckDB reads. */
export class DuckDbEventsStore implements EventsStore, Upkeep {
  readonly #settings: StoreSettings;
  readonly #lock: FolderLock;
  readonly #opened: Opened;
  readonly #dedup: Dedup;
  readonly #backpressure: Backpressure;
  readonly #appender: Appender;
  readonly #flushes: FlushScheduler<unknown>;
  readonly #compactor: Compactor;
  readonly #queries: QueryEngine;
  readonly #sql: SqlRunner;
  readonly #engines: KillableEngines;
  readonly #scrubber: Scrubber;
  readonly #tails = new Tails();
  readonly #retention = new Retention();
  readonly #sweep: Timer;
  /** The memtable that was active at the last sweeps, and when that was first seen. */
  #seenActive: { readonly memtable: Memtable; readonly atMs: number } | undefined;
  #isClosed = false;
  /** Whether another process has a folder of the same name. What was accepted is in the own one, wherever that is now. */
  #isTaken = false;

  static async open(settings: StoreSettings, lock: FolderLock): Promise<DuckDbEventsStore> {
    const { directory, log, clock } = settings;
    const nowMs = () => clock.nowMs();
    await refuseOthers(directory, settings.owner);
    const list = await JournalList.open(join(directory, JOURNAL_LIST));
    const journalFolder = join(directory, "journal");
    await mkdir(journalFolder, { recursive: true });
    const read = await readJournalFiles(journalFolder, list);
    const spill = join(directory, "spill", "queries");
    // A crash may have left files there.
    await rm(spill, { recursive: true, force: true });
    const pool = await openPool(spill, clock);
    const flusher = new Flusher(join(directory, "spill", "flusher"), clock);
    await flusher.open();
    try {
      const { folders, segments } = await openProjects(settings, read, new Inspector(pool), flusher);
      const damage = await repairJournal(journalFolder, read, flushedBatches(segments), nowMs());
      const next = nextSequence(segments.values(), read);
      const older = olderLoss(next, settings.position, nowMs());
      // Before a file of the journal with a higher number hides it.
      if (older !== undefined) {
        await list.addLoss(older).catch((error: unknown) => {
          throw isDiskFull(error) ? new UnnotedLoss(directory, error) : error;
        });
      }
      logJournalDamage(settings, damage, list.losses);
      // No sequence of the events that may be missing is given again: they may be put back.
      const sequence = Math.max(next, settings.position ?? 0);
      const { journal, recovered: files } = await Journal.begin(journalFolder, sequence, list, read.files);
      const memtables = new Memtables(journal.current, sequence);
      const options = { directory: join(directory, "projects"), folders, memtables, log, nowMs };
      const projects = new ProjectSegments(segments, options);
      const seenKeys = new SeenKeys(join(directory, "keys"), log);
      const losses = new Losses(list.losses);
      const opened = { journal, damage, pool, memtables, projects, seenKeys, flusher, losses };
      const store = new DuckDbEventsStore(settings, lock, opened);
      await store.#sql.open();
      await store.#engines.open();
      const target = replayTarget(projects);
      await replayJournal({ files, memtables, dedup: store.#dedup, seenKeys, target, nowMs: nowMs() });
      // Logs it if nothing can be stored.
      await store.#backpressure.isDiskFull();
      store.#flushes.begin();
      store.#scrubber.begin();
      return store;
    } catch (error) {
      await flusher.close();
      await pool.close();
      throw error;
    }
  }

  private constructor(settings: StoreSettings, lock: FolderLock, opened: Opened) {
    const { journal, pool, memtables, projects, seenKeys, flusher, losses } = opened;
    const { clock } = settings;
    const nowMs = () => clock.nowMs();
    this.#settings = settings;
    this.#lock = lock;
    this.#opened = opened;
    this.#dedup = new Dedup(idLoader(projects, pool, settings.recentIds), nowMs, settings.recentIds);
    this.#backpressure = new Backpressure(settings, memtables, journal);
    this.#compactor = new Compactor({ settings, memtables, projects, flusher, retention: this.#retention });
    const writer = new SegmentWriter({ memtables, projects, flusher, seenKeys, nowMs });
    const checkFolder = () => {
      if (this.#look() === "taken") throw folderReplaced();
    };
    const flushed = () => {
      this.#backpressure.release();
      this.#compactor.consider();
    };
    this.#flushes = new FlushScheduler({ settings, memtables, journal, seenKeys, writer, checkFolder, flushed });
    this.#appender = new Appender({
      settings,
      memtables,
      journal,
      dedup: this.#dedup,
      tails: this.#tails,
      backpressure: this.#backpressure,
      writeErrorOf: (project) => writer.writeErrorOf(project),
    });
    this.#scrubber = new Scrubber({
      settings,
      projects,
      flusher,
      inspector: new Inspector(pool),
      checkJournal: async () => {
        if (this.#look() !== "taken") await this.#flushes.checkJournal();
      },
    });
    this.#sql = new SqlRunner(join(settings.directory, "sql"), settings.sqlLimits, clock);
    this.#engines = new KillableEngines(join(settings.directory, "spill", "processes"), clock);
    this.#queries = new QueryEngine({
      settings,
      memtables,
      projects,
      pool,
      engines: this.#engines,
      sql: this.#sql,
      losses,
      retention: this.#retention,
      flush: () => this.#flushes.flush(),
    });
    this.#sweep = clock.every(SWEEP_MS, () => void this.#tidy().catch(() => {}), { isBackground: true });
  }

  /** Flushes what is in the journal for long, since only whole segments expire, and removes expired ones. */
  async #tidy(): Promise<void> {
    const { memtables } = this.#opened;
    const { active } = memtables;
    const nowMs = this.#settings.clock.nowMs();
    const hasExpired = ([project, { firstMs }]: readonly [string, { readonly firstMs: number }]) =>
      firstMs < (this.#retention.cutoffMs(project, nowMs) ?? Number.NEGATIVE_INFINITY);
    if (active.events > 0) {
      if (this.#seenActive?.memtable !== active) this.#seenActive = { memtable: active, atMs: nowMs };
      // A flush that fails is logged, and tried again.
      if (nowMs - this.#seenActive.atMs >= MOST_UNFLUSHED_MS || [...active.projects].some(hasExpired)) {
        await this.#flushes.flush().catch(() => {});
      }
    }
    await this.compact();
  }

  isReplaced(): boolean {
    return this.#look() !== "held";
  }

  /** Also stops all that writes to the folder once another process has it. */
  #look(): FolderHold {
    const hold = this.#isTaken ? "taken" : this.#lock.hold();
    if (hold === "taken" && !this.#isTaken) {
      this.#isTaken = true;
      this.#flushes.close();
      this.#compactor.close();
      this.#scrubber.close();
      const { directory, log } = this.#settings;
      log("error", "another process has a folder of this name: nothing is written to it", { path: directory });
    }
    return hold;
  }

  async append(project: string, batch: readonly NewEvent[], options: AppendOptions = {}): Promise<void> {
    if (this.isReplaced()) throw folderReplaced();
    await this.#appender.append(project, batch, options);
    this.#flushes.rotateIfFull();
  }

  search: EventsStore["search"] = (query) => this.#queries.search(query);
  count: EventsStore["count"] = (query) => this.#queries.count(query);
  timeseries: EventsStore["timeseries"] = (query) => this.#queries.timeseries(query);
  levelTimeseries: EventsStore["levelTimeseries"] = (query) => this.#queries.levelTimeseries(query);
  discoveredFields: EventsStore["discoveredFields"] = (query) => this.#queries.discoveredFields(query);
  stringFieldStats: EventsStore["stringFieldStats"] = (query) => this.#queries.stringFieldStats(query);
  booleanFieldStats: EventsStore["booleanFieldStats"] = (query) => this.#queries.booleanFieldStats(query);
  numericFieldStats: EventsStore["numericFieldStats"] = (query) => this.#queries.numericFieldStats(query);
  aggregate: EventsStore["aggregate"] = (query) => this.#queries.aggregate(query);
  sql: EventsStore["sql"] = (query) => this.#queries.sql(query);
  projectStats: EventsStore["projectStats"] = async (project) => this.#queries.projectStats(project);
  usage: EventsStore["usage"] = (query) => this.#queries.usage(query);

  position(): number {
    return this.#opened.journal.position;
  }

  async disk(): Promise<DiskRoom> {
    const { bavail, blocks, bsize } = await statfs(this.#settings.directory);
    return {
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      isFull: await this.#backpressure.isDiskFull(),
    };
  }

  tail(
    project: string,
    query: Query | undefined,
    afterId?: string,
    asker: TurnTaker = SERVICE,
  ): AsyncIterableIterator<TailItem> {
    const { clock } = this.#settings;
    const nowMs = clock.nowMs();
    const memtables = this.#opened.memtables.viewsOf(project).map(({ events }) => events);
    const question = { project, memtables, afterId };
    if (query !== undefined && mayBeSlow(query.expr)) {
      const all = openTail(this.#tails, { ...question, selects: () => true });
      return new SelectingTail(all, selectInProcess(this.#engines, { query, nowMs }, { asker, clock }));
    }
    const predicate = query === undefined ? undefined : compilePredicate(query, { nowMs });
    return openTail(this.#tails, { ...question, selects: predicate ?? (() => true) });
  }

  async deleteProject(project: string): Promise<void> {
    if (this.#isClosed) throw storeClosed();
    if (this.isReplaced()) throw folderReplaced();
    const { journal, memtables, projects, seenKeys } = this.#opened;
    const sequence = memtables.takeSequences(1);
    const { frame, body } = deletion(project, sequence, this.#settings.clock.nowMs());
    await journal.write(frame, body, () => {
      projects.deletions.set(project, sequence);
      memtables.forget(project);
      memtables.active.deletions.push({ project, sequence });
      projects.forget(project);
      this.#dedup.forget(project);
      seenKeys.forget(project);
      this.#tails.end(project);
      this.#backpressure.release();
    });
    await projects.removeDeleted();
  }

  setRetention(project: string, days: number): void {
    this.#retention.set(project, days);
  }

  expire(): Promise<void> {
    return this.#compactor.expire();
  }

  heldProjects() {
    const { projects, memtables } = this.#opened;
    const stored = projects.values().filter(({ all }) => all.length > 0);
    return new Set([
      ...stored.map(({ project }) => project),
      ...memtables.all.flatMap((memtable) => [...memtable.projects.keys()]),
    ]);
  }

  losses() {
    return this.#opened.losses.all(this.#opened.projects.values());
  }

  acceptLosses(ids: ReadonlySet<string>): void {
    this.#opened.losses.accept(ids);
  }

  metrics() {
    const { journal, damage, memtables, projects } = this.#opened;
    const losses = this.losses().filter(({ isAccepted }) => !isAccepted);
    const quarantined = projects.values().map(({ counts }) => counts);
    const segments = projects.values().flatMap(({ all }) => all);
    return {
      journal_syncs_total: journal.counts.syncs,
      journal_batches_total: journal.counts.batches,
      journal_bytes_total: journal.counts.bytes,
      journal_failures_total: journal.counts.failures,
      journal_torn_bytes_total: damage.tornBytes,
      journal_quarantined_total: damage.quarantined.length,
      flushes_total: this.#flushes.counts.flushes,
      flush_failures_total: this.#flushes.counts.failures,
      merges_total: this.#compactor.counts.merges,
      merge_failures_total: this.#compactor.counts.failures,
      expired_segments_total: this.#compactor.counts.expired,
      refused_batches_total: this.#backpressure.refused,
      newest_events: memtables.events,
      newest_bytes: memtables.bytes,
      newest_column_bytes: memtables.columnBudget.bytes,
      newest_parsed_bytes: memtables.columnBudget.parsedEvents.bytes,
      newest_lines_parsed_total: memtables.columnBudget.linesParsed,
      missing_files: losses.length,
      missing_bytes: losses.reduce((sum, { bytes }) => sum + bytes, 0),
      quarantined_files_total: quarantined.reduce((sum, counts) => sum + counts.quarantined, 0),
      quarantined_bytes_total: quarantined.reduce((sum, counts) => sum + counts.quarantinedBytes, 0),
      scrubbed_files_total: this.#scrubber.counts.files,
      scrubbed_bytes_total: this.#scrubber.counts.bytes,
      scrub_oldest_seconds: Math.round(this.#scrubber.longestUncheckedMs / 1000),
      damaged_segments_total: this.#scrubber.counts.damaged,
      segments: segments.length,
      segment_bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  flush(): Promise<void> {
    return this.#flushes.flush();
  }

  compact(): Promise<void> {
    return this.#compactor.compact();
  }

  scrub(): Promise<void> {
    return this.#scrubber.scrub();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { journal, flusher, projects, pool } = this.#opened;
    this.#sweep.stop();
    this.#appender.close();
    // The journal is all that will be left of what is in memory.
    const isTaken = this.#look() === "taken";
    if (!isTaken) {
      await this.#flushes.restoreJournal().catch((error: unknown) => {
        this.#settings.log("error", "the journal could not be checked at the end", { error: String(error) });
      });
    }
    this.#flushes.close();
    this.#compactor.close();
    this.#scrubber.close();
    this.#tails.end();
    await journal.close({ isTaken });
    // An unfinished flush is still in the journal, and done again after the next start.
    await flusher.close();
    await this.#sql.close();
    await this.#engines.close();
    await this.#flushes.settled();
    await this.#compactor.settled();
    // Only to recognize a folder that lacks some of it later.
    if (!isTaken) await projects.noteHeld().catch(() => {});
    await this.#scrubber.settled();
    await pool.close();
    await this.#lock.unlock();
  }
}

const openPool = (spill: string, clock: Clock) =>
  ConnectionPool.open(
    () =>
      openDuckDb(":memory:", {
        threads: "2",
        memory_limit: "512MB",
        temp_directory: spill,
        max_temp_directory_size: "2GB",
        autoinstall_known_extensions: "false",
        allocator_flush_threshold: "8MB",
        allocator_bulk_deallocation_flush_threshold: "16MB",
      }),
    clock,
  );

const SWEEP_MS = 10 * 60_000;
/** Events of a quiet service are in the journal, and in memory, for no longer than about that. */
const MOST_UNFLUSHED_MS = 24 * 3_600_000;
