import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { compilePredicate, type Query } from "../../grammar/query/index.ts";
import { Accepting, closed } from "./accepting.ts";
import { Asking } from "./asking.ts";
import { Contents } from "./contents.ts";
import { openDuckDb } from "./duckdb/duckdb.ts";
import { Flusher } from "./duckdb/flusher.ts";
import { Inspector } from "./duckdb/inspector.ts";
import { Readers } from "./duckdb/readers.ts";
import { Segments } from "./duckdb/segments.ts";
import { codeOf } from "./durable.ts";
import { Flushing } from "./flushing.ts";
import { Journal } from "./journal/journal.ts";
import { JOURNAL_LIST, JournalList } from "./journal/journal-list.ts";
import { type Damage, putInOrder, type ReadJournal, readJournal } from "./journal/recovery.ts";
import { SeenKeys } from "./journal/seen-keys.ts";
import { Live, tailOf } from "./live.ts";
import { lockDirectory } from "./lock.ts";
import { Losses } from "./losses.ts";
import { Merging } from "./merging.ts";
import { newPart } from "./newest.ts";
import { FOLDER_LIST, FolderList, findFolders, finishRemoval, planFolders, refuseOthers } from "./project-folders.ts";
import { Remembered } from "./remembered.ts";
import { Flushed, nextSequence, restore } from "./restoring.ts";
import { Retention } from "./retention.ts";
import { Room } from "./room.ts";
import { Scrubbing } from "./scrubbing.ts";
import { type EventsStoreOptions, type Settings, settingsOf } from "./settings.ts";
import { SqlRunner } from "./sql/run-sql.ts";
import type { AppendOptions, EventsStore, NewEvent, TailItem } from "./store.ts";

export type { EventsStoreOptions } from "./settings.ts";

/** Opens the events store of a data directory: see EventsStore. Rejects where another process has it. */
export async function openEventsStore(options: EventsStoreOptions): Promise<EventsStore & Upkeep> {
  await mkdir(join(options.directory, "projects"), { recursive: true });
  const unlock = await lockDirectory(options.directory);
  try {
    const unlockAll = await lockFile(options.directory, unlock);
    return await DuckDbEventsStore.open(settingsOf(options), unlockAll);
  } catch (error) {
    await unlock();
    throw error;
  }
}

/**
 * A second lock, by the system: the number of a process tells nothing to one in another container. The engine locks a
 * database that it opens. On a full disk, or one that has no such locks, the first lock has to do.
 */
async function lockFile(directory: string, unlock: () => Promise<void>): Promise<() => Promise<void>> {
  const path = join(directory, "lock.duckdb");
  for (let tries = 1; ; tries++) {
    try {
      const instance = await openDuckDb(path, { threads: "1", memory_limit: "16MB" });
      return async () => {
        instance.closeSync();
        await unlock();
      };
    } catch (error) {
      if (/conflicting lock/i.test(String(error))) {
        throw new Error(
          `${directory} is in use by a process of another container: stop that one, or start this one with another directory`,
          { cause: error },
        );
      }
      // There is nothing in it.
      if (tries > 1) return unlock;
      for (const name of [path, `${path}.wal`]) await rm(name, { recursive: true, force: true });
    }
  }
}

/** What the store does by itself, on demand: for tests and backups. */
export interface Upkeep {
  /** Resolves when everything that was accepted before is in segments. */
  flush(): Promise<void>;
  /** Merges small segments and deletes old ones until nothing is left to do. */
  compact(): Promise<void>;
  /** Reads all files and holds them against their checksums. */
  scrub(): Promise<void>;
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
  readonly #scrubbing: Scrubbing;
  readonly #losses: Losses;
  readonly #live = new Live();
  readonly #retention = new Retention();
  readonly #sweep: NodeJS.Timeout;
  #isClosed = false;

  static async open(settings: Settings, unlock: () => Promise<void>): Promise<DuckDbEventsStore> {
    const { directory, log, nowMs } = settings;
    await refuseOthers(directory, settings.owner);
    const list = await JournalList.open(join(directory, JOURNAL_LIST));
    const journalFolder = join(directory, "journal");
    await mkdir(journalFolder, { recursive: true });
    const read = await readJournal(journalFolder, list);
    // Removes what a crash left.
    const spill = join(directory, "spill", "queries");
    await rm(spill, { recursive: true, force: true });
    const readers = await openReaders(spill);
    const flusher = new Flusher(join(directory, "spill", "flusher"));
    await flusher.open();
    try {
      const { folders, projects } = await openProjects(settings, read, new Inspector(readers), flusher);
      const held = heldIn(projects);
      const { damage, found } = await putInOrder(journalFolder, read, held, nowMs());
      tellJournal(log, damage, found);
      const sequence = nextSequence(projects.values(), read);
      const { journal, recovered } = await Journal.begin(journalFolder, sequence, list, read.files);
      const begun = { projects, part: newPart(journal.current), sequence };
      const contents = new Contents(join(directory, "projects"), folders, begun, { log, nowMs });
      const seenKeys = new SeenKeys(join(directory, "keys"), log);
      const opened = { journal, damage, readers, contents, seenKeys, flusher, losses: new Losses(list.losses) };
      const store = new DuckDbEventsStore(settings, unlock, opened);
      await store.#sql.open();
      await restore(recovered, contents, store.#remembered, seenKeys, nowMs());
      store.#flushing.begin();
      store.#scrubbing.begin();
      return store;
    } catch (error) {
      await flusher.close();
      await readers.close();
      throw error;
    }
  }

  private constructor(
    settings: Settings,
    unlock: () => Promise<void>,
    { journal, damage, readers, contents, seenKeys, flusher, losses }: Opened,
  ) {
    this.#settings = settings;
    this.#unlock = unlock;
    this.#journal = journal;
    this.#damage = damage;
    this.#readers = readers;
    this.#contents = contents;
    this.#seenKeys = seenKeys;
    this.#losses = losses;
    this.#remembered = new Remembered(readers, settings.nowMs);
    this.#room = new Room(settings, contents, journal);
    this.#flusher = flusher;
    this.#merging = new Merging(settings, contents, this.#flusher, this.#retention);
    this.#flushing = new Flushing(settings, contents, journal, this.#flusher, seenKeys, () => {
      this.#room.changed();
      this.#merging.consider();
    });
    this.#accepting = new Accepting(settings, contents, journal, this.#remembered, this.#live, this.#room, (project) =>
      this.#flushing.stuckBy(project),
    );
    this.#scrubbing = new Scrubbing(settings, contents, this.#flusher, new Inspector(readers), () =>
      this.#flushing.lookAtJournal(),
    );
    this.#sql = new SqlRunner(join(settings.directory, "sql"), settings.sqlLimits);
    this.#asking = new Asking(
      contents,
      readers,
      { sql: this.#sql, losses, retention: this.#retention, flush: () => this.#flushing.flush() },
      settings,
    );
    this.#sweep = setInterval(() => void this.compact().catch(() => {}), SWEEP_MS);
    this.#sweep.unref();
  }

  async append(project: string, batch: readonly NewEvent[], options: AppendOptions = {}): Promise<void> {
    await this.#accepting.append(project, batch, options);
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
      this.#contents.drops.set(project, sequence);
      this.#contents.forget(project);
      this.#remembered.forget(project);
      this.#seenKeys.forget(project);
      this.#live.end(project);
      this.#room.changed();
    });
    await this.#contents.removeDoomed();
  }

  setRetention(project: string, days: number): void {
    this.#retention.set(project, days);
  }

  expire(): Promise<void> {
    return this.#merging.expire();
  }

  heldProjects() {
    const held = new Set(
      [...this.#contents.projects.values()].filter(({ all }) => all.length > 0).map(({ project }) => project),
    );
    for (const { projects } of this.#contents.parts) for (const project of projects.keys()) held.add(project);
    return held;
  }

  losses() {
    return this.#losses.all(this.#contents.projects.values());
  }

  acceptLosses(ids: ReadonlySet<string>): void {
    this.#losses.accept(ids);
  }

  metrics() {
    const losses = this.losses().filter(({ isAccepted }) => !isAccepted);
    const setAside = [...this.#contents.projects.values()].map(({ counts }) => counts);
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
      missing_files: losses.length,
      missing_bytes: losses.reduce((sum, { bytes }) => sum + bytes, 0),
      quarantined_files_total: setAside.reduce((sum, counts) => sum + counts.setAside, 0),
      quarantined_bytes_total: setAside.reduce((sum, counts) => sum + counts.setAsideBytes, 0),
      scrubbed_files_total: this.#scrubbing.counts.files,
      scrubbed_bytes_total: this.#scrubbing.counts.bytes,
      scrub_oldest_seconds: Math.round(this.#scrubbing.oldestMs / 1000),
      damaged_segments_total: this.#scrubbing.counts.damaged,
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

  scrub(): Promise<void> {
    return this.#scrubbing.scrub();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#sweep);
    this.#accepting.close();
    this.#flushing.close();
    this.#merging.close();
    this.#scrubbing.close();
    this.#live.end();
    await this.#journal.close();
    // What the flusher is at is in the journal, and done again after the next start.
    await this.#flusher.close();
    await this.#sql.close();
    await this.#flushing.settled();
    await this.#merging.settled();
    // Only to know an older copy later.
    await this.#contents.noteNewest().catch(() => {});
    await this.#scrubbing.settled();
    await this.#readers.close();
    await this.#unlock();
  }
}

/** What a start has put together. */
interface Opened {
  readonly journal: Journal;
  readonly damage: Damage;
  readonly readers: Readers;
  readonly contents: Contents;
  readonly seenKeys: SeenKeys;
  readonly flusher: Flusher;
  readonly losses: Losses;
}

const openReaders = (spill: string) =>
  Readers.open(() =>
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

/** The segments of all projects, by name, after their folders were put in order. */
async function openProjects(
  { directory, log, nowMs, owner }: Settings,
  journal: ReadJournal,
  inspector: Inspector,
  flusher: Flusher,
): Promise<{ folders: FolderList; projects: Map<string, Segments> }> {
  const folder = join(directory, "projects");
  const { list, isKnown, isDamaged } = await FolderList.open(directory);
  const lists = [
    { file: FOLDER_LIST, isKnown, isDamaged },
    { file: JOURNAL_LIST, ...{ isKnown: journal.list.isKnown, isDamaged: journal.list.isDamaged } },
  ];
  for (const { file, isKnown, isDamaged } of lists) {
    // The first version had neither.
    if (isKnown || lists.every((one) => !one.isKnown && !one.isDamaged)) continue;
    const what = isDamaged ? "damaged" : "missing";
    log("error", `a list of files is ${what}: it is made again, but does not tell of files that are gone`, {
      file: join(directory, file),
    });
  }
  const found = await findFolders(folder, list.all, journal.drops, inspector, log);
  for (const one of found.removed) await finishRemoval(folder, one.folder, list);
  // A crash came after the folder was removed and before the list knew it. The journal forgets the deletion later.
  for (const [name, { project, began }] of [...list.all]) {
    if (!existsSync(join(folder, name)) && (journal.drops.get(project) ?? -1) >= began) await list.remove(name);
  }
  const options = { inspector, nowMs: nowMs(), isThorough: false };
  const projects = new Map<string, Segments>();
  for (const plan of await planFolders(folder, found, list.all, journal.framesOf, options)) {
    const rebuild = async (path: string, { bytes, sum }: { bytes: number; sum: number | undefined }) => {
      await flusher.run({ kind: "summary", path, segment: { bytes, sum: sum! } });
    };
    projects.set(plan.project, await Segments.open(plan, { log, nowMs }, rebuild));
  }
  const noted = list.add(found.claimed).then(() => (owner === undefined ? undefined : list.setOwner(owner)));
  await noted.catch((error: unknown) => {
    // On a full disk reading goes on; the next folder that is made needs the list.
    if (codeOf(error) !== "ENOSPC") throw error;
  });
  return { folders: list, projects };
}

/** What segments tell of batches that the journal does not have. */
function heldIn(projects: ReadonlyMap<string, Segments>) {
  const flushed = Math.max(0, ...[...projects.values()].map((one) => one.flushed));
  return {
    flushed,
    isHeld(project: string, interval: readonly [number, number]) {
      return new Flushed(projects.get(project)).has(interval);
    },
  };
}

function tellJournal(
  log: Settings["log"],
  { tornBytes, quarantined }: Damage,
  found: readonly { readonly id: string; readonly file: string; readonly reason: string }[],
): void {
  if (tornBytes > 0) log("warn", "the journal ended in half a batch, which was cut off", { bytes: tornBytes });
  for (const path of quarantined)
    log("error", "a journal file is damaged; its whole batches were kept, the file is here", { path });
  for (const { id, file, reason } of found)
    log("error", `events are missing: a file of the journal ${reason}`, { file, loss: id });
}

const NOTHING = Buffer.alloc(0);
const SWEEP_MS = 10 * 60_000;
