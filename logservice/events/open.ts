import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { compilePredicate, type Query } from "../../grammar/query/index.ts";
import { Accepting, closed } from "./accepting.ts";
import { Asking } from "./asking.ts";
import { Contents } from "./contents.ts";
import { openDuckDb } from "./duckdb/duckdb.ts";
import { Flusher } from "./duckdb/flusher.ts";
import { Readers } from "./duckdb/readers.ts";
import { Flushing } from "./flushing.ts";
import { type Damage, Journal } from "./journal/journal.ts";
import { SeenKeys } from "./journal/seen-keys.ts";
import { Live, tailOf } from "./live.ts";
import { lockDirectory } from "./lock.ts";
import { Merging } from "./merging.ts";
import { newPart } from "./newest.ts";
import { Remembered } from "./remembered.ts";
import { nextSequence, openProjects, restore } from "./restoring.ts";
import { Room } from "./room.ts";
import { type EventsStoreOptions, type Settings, settingsOf } from "./settings.ts";
import { SqlRunner } from "./sql/run-sql.ts";
import type { AppendOptions, EventsStore, NewEvent, TailItem } from "./store.ts";

export type { EventsStoreOptions } from "./settings.ts";

/** Opens the events store of a data directory: see EventsStore. Rejects where another process has it. */
export async function openEventsStore(options: EventsStoreOptions): Promise<EventsStore & Upkeep> {
  await mkdir(join(options.directory, "projects"), { recursive: true });
  const unlock = await lockDirectory(options.directory);
  try {
    return await DuckDbEventsStore.open(settingsOf(options), unlock);
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

/** Joins the parts of the store. */
class DuckDbEventsStore implements EventsStore, Upkeep {
  readonly #settings: Settings;
  readonly #unlock: () => Promise<void>;
  readonly #journal: Journal;
  readonly #damage: Damage;
  readonly #readers: Readers;
  readonly #contents: Contents;
  readonly #remembered: Remembered;
  readonly #seenKeys: SeenKeys;
  readonly #room: Room;
  readonly #accepting: Accepting;
  readonly #flusher: Flusher;
  readonly #flushing: Flushing;
  readonly #merging: Merging;
  readonly #asking: Asking;
  readonly #sql: SqlRunner;
  readonly #live = new Live();
  readonly #sweep: NodeJS.Timeout;
  #isClosed = false;

  static async open(settings: Settings, unlock: () => Promise<void>): Promise<DuckDbEventsStore> {
    const { directory, log } = settings;
    const projects = await openProjects(join(directory, "projects"));
    const { journal, recovered, damage } = await Journal.open(join(directory, "journal"), (files) =>
      nextSequence(projects, files),
    );
    if (damage.tornBytes > 0)
      log("warn", "the journal ended in half a batch, which was cut off", { bytes: damage.tornBytes });
    for (const path of damage.quarantined)
      log("error", "a journal file is damaged; its whole batches were kept, the file is here", { path });
    // Removes what a crash left.
    const spill = join(directory, "spill", "queries");
    await rm(spill, { recursive: true, force: true });
    const readers = await Readers.open(() =>
      openDuckDb(":memory:", {
        threads: "2",
        memory_limit: "512MB",
        temp_directory: spill,
        max_temp_directory_size: "2GB",
        autoinstall_known_extensions: "false",
        allocator_flush_threshold: "8MB",
        allocator_bulk_deallocation_flush_threshold: "16MB",
      }),
    );
    const part = newPart(journal.current);
    const contents = new Contents(join(directory, "projects"), projects, part, journal.current.begin);
    const seenKeys = new SeenKeys(join(directory, "keys"));
    const store = new DuckDbEventsStore(settings, unlock, journal, damage, readers, contents, seenKeys);
    await store.#sql.open();
    await store.#flusher.open();
    await restore(recovered, contents, store.#remembered, seenKeys, settings.nowMs());
    store.#flushing.begin();
    return store;
  }

  private constructor(
    settings: Settings,
    unlock: () => Promise<void>,
    journal: Journal,
    damage: Damage,
    readers: Readers,
    contents: Contents,
    seenKeys: SeenKeys,
  ) {
    this.#settings = settings;
    this.#unlock = unlock;
    this.#journal = journal;
    this.#damage = damage;
    this.#readers = readers;
    this.#contents = contents;
    this.#seenKeys = seenKeys;
    this.#remembered = new Remembered(readers, settings.nowMs);
    this.#room = new Room(settings, contents, journal);
    this.#accepting = new Accepting(settings, contents, journal, this.#remembered, this.#live, this.#room);
    this.#flusher = new Flusher(join(settings.directory, "spill", "flusher"));
    this.#merging = new Merging(settings, contents, this.#flusher);
    this.#flushing = new Flushing(settings, contents, journal, this.#flusher, seenKeys, () => {
      this.#room.changed();
      this.#merging.consider();
    });
    this.#sql = new SqlRunner(join(settings.directory, "sql"), settings.sqlLimits);
    this.#asking = new Asking(contents, readers, this.#sql, settings);
    this.#sweep = setInterval(() => void this.compact().catch(() => {}), SWEEP_MS);
    this.#sweep.unref();
  }

  async append(project: string, batch: readonly NewEvent[], { idempotencyKey }: AppendOptions = {}): Promise<void> {
    await this.#accepting.append(project, batch, idempotencyKey);
    this.#flushing.rotateWhereFull();
  }

  search: EventsStore["search"] = (...question) => this.#asking.search(...question);
  count: EventsStore["count"] = (...question) => this.#asking.count(...question);
  timeseries: EventsStore["timeseries"] = (...question) => this.#asking.timeseries(...question);
  levelTimeseries: EventsStore["levelTimeseries"] = (...question) => this.#asking.levelTimeseries(...question);
  discoveredFields: EventsStore["discoveredFields"] = (...question) => this.#asking.discoveredFields(...question);
  stringFieldStats: EventsStore["stringFieldStats"] = (...question) => this.#asking.stringFieldStats(...question);
  booleanFieldStats: EventsStore["booleanFieldStats"] = (...question) => this.#asking.booleanFieldStats(...question);
  numericFieldStats: EventsStore["numericFieldStats"] = (...question) => this.#asking.numericFieldStats(...question);
  sql: EventsStore["sql"] = (...question) => this.#asking.sql(...question);
  projectStats: EventsStore["projectStats"] = async (project) => this.#asking.projectStats(project);

  tail(project: string, query: Query | undefined, afterId?: string): AsyncIterableIterator<TailItem> {
    const predicate = query === undefined ? undefined : compilePredicate(query, { nowMs: this.#settings.nowMs() });
    const newest = this.#contents.newestOf(project).map(({ list }) => list);
    return tailOf(this.#live, project, predicate ?? (() => true), newest, afterId);
  }

  async drop(project: string): Promise<void> {
    if (this.#isClosed) throw closed();
    const sequence = this.#contents.take(1);
    const frame = { sequence, project, lines: 0, atMs: this.#settings.nowMs(), key: undefined, isDrop: true };
    await this.#journal.write(frame, NOTHING, () => {
      this.#contents.forget(project);
      this.#remembered.forget(project);
      this.#seenKeys.forget(project);
      this.#live.end(project);
      this.#room.changed();
    });
    await this.#contents.removeDoomed();
  }

  setRetention(project: string, days: number): void {
    this.#merging.setRetention(project, days);
  }

  metrics() {
    const segments = [...this.#contents.projects.values()].flatMap(({ all }) => all);
    return {
      journal_syncs_total: this.#journal.counts.syncs,
      journal_batches_total: this.#journal.counts.batches,
      journal_bytes_total: this.#journal.counts.bytes,
      journal_failures_total: this.#journal.counts.failures,
      journal_torn_bytes_total: this.#damage.tornBytes,
      journal_quarantined_total: this.#damage.quarantined.length,
      flushes_total: this.#flushing.counts.flushes,
      flush_failures_total: this.#flushing.counts.failures,
      merges_total: this.#merging.counts.merges,
      merge_failures_total: this.#merging.counts.failures,
      expired_segments_total: this.#merging.counts.expired,
      refused_batches_total: this.#room.refused,
      newest_events: this.#contents.waitingEvents,
      segments: segments.length,
      segment_bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  flush(): Promise<void> {
    return this.#flushing.flush();
  }

  compact(): Promise<void> {
    return this.#merging.compact();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#sweep);
    this.#accepting.close();
    this.#flushing.close();
    this.#merging.close();
    this.#live.end();
    await this.#journal.close();
    // What the flusher is at is in the journal, and done again after the next start.
    await this.#flusher.close();
    await this.#sql.close();
    await this.#flushing.settled();
    await this.#merging.settled();
    await this.#readers.close();
    await this.#unlock();
  }
}

const NOTHING = Buffer.alloc(0);
const SWEEP_MS = 10 * 60_000;
