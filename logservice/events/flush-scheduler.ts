import type { Timer } from "../../grammar/units/clock.ts";
import { deletion } from "./journal/frame.ts";
import type { Journal } from "./journal/journal.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import { Memtable } from "./memtable.ts";
import type { Memtables } from "./memtables.ts";
import type { StoreSettings } from "./settings.ts";
import { storeClosed } from "./store.ts";

/** Writes memtables to the engine's own storage. */
export interface MemtableWriter<Built> {
  /** Number of memtables that are built at once. */
  readonly concurrency: number;
  /** Prepares what `install` makes visible. `older` are the memtables that are not flushed yet and come before. */
  build(memtable: Memtable, older: readonly Memtable[], signal: AbortSignal): Promise<Built>;
  /** Makes the events durable and visible, in the order of the memtables. Throws ProjectUnwritable. */
  install(memtable: Memtable, built: Built, older: readonly Memtable[]): Promise<void>;
  /** Called when everything of a memtable is installed, before its journal file is removed. */
  beforeRemoval(): Promise<void>;
}

/** The events of a project cannot be written now; those of other projects are. */
export class ProjectUnwritable extends Error {
  override readonly name = "ProjectUnwritable";
}

interface FlushSchedulerOptions<Built> {
  readonly settings: StoreSettings;
  readonly memtables: Memtables;
  readonly journal: Journal;
  readonly seenKeys: SeenKeys;
  readonly writer: MemtableWriter<Built>;
  /** Called before anything is installed. Throws if another process has the folder by now. */
  readonly checkFolder: () => void;
  /** Called after each flush of a memtable. */
  readonly flushed: () => void;
}

/**
 * Seals the active memtable with its journal file when the file is full, and flushes the sealed ones: several are built at
 * once, and installed in their order. One that fails keeps the later ones waiting: `flushed` of a project says that all
 * earlier events are in segments, and a deletion must not be forgotten before the events that it deletes. A project that
 * cannot be written to does not delay others: its events stay in the journal, and no more are accepted.
 */
export class FlushScheduler<Built> {
  readonly #options: FlushSchedulerOptions<Built>;
  readonly #builds = new Map<Memtable, Promise<Built>>();
  readonly #closing = new AbortController();
  /** When to retry memtables that wait for projects that cannot be written to. */
  readonly #retryAtMs = new WeakMap<Memtable, number>();
  #retry: Timer | undefined;
  #rotation: Promise<void> | undefined;
  #nextRotationMs = Number.NEGATIVE_INFINITY;
  #oldest: Promise<void> | undefined;
  #check: Promise<boolean> | undefined;
  #work: Promise<void> | undefined;
  readonly counts = { flushes: 0, failures: 0 };

  constructor(options: FlushSchedulerOptions<Built>) {
    this.#options = options;
  }

  /** Resolves when everything accepted before is flushed. Rejects if that fails; it is then tried again later. */
  async flush(): Promise<void> {
    const { memtables } = this.#options;
    if (this.#closing.signal.aborted) throw storeClosed();
    if (memtables.active.events > 0) await this.#rotate();
    const { sealed } = memtables;
    for (const memtable of sealed) this.#retryAtMs.delete(memtable);
    while (sealed.some((memtable) => memtables.all.includes(memtable))) await this.#flushOldest();
  }

  /**
   * Begins another file if the journal's active one was removed or truncated, and writes the complete ones that are gone
   * again from memory. Flushes them, too.
   */
  async checkJournal(): Promise<void> {
    if (await this.restoreJournal()) await this.flush();
  }

  /** The same without the flush. Resolves to whether anything was damaged. */
  restoreJournal(): Promise<boolean> {
    this.#check ??= this.#restoreJournal().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  async #restoreJournal(): Promise<boolean> {
    const { journal, memtables, settings } = this.#options;
    if (await journal.check()) return false;
    settings.log("error", "the active journal file was damaged; its events are being flushed from memory", {
      journal: journal.current.path,
    });
    // The next file needs a number of its own.
    if (memtables.sequence === journal.current.begin) memtables.takeSequences(1);
    const before = this.#oldest?.catch(() => {});
    // No flush removes a file that is being rewritten.
    await this.#exclusively(async () => {
      await Promise.all([this.#rotate(), before]);
      for (const memtable of memtables.sealed) {
        if (!(await journal.isAsWritten(memtable.file))) await this.#rewrite(memtable);
      }
    });
    return true;
  }

  /** Continues with the sealed memtables, if there are any. */
  begin(): void {
    this.#startBuilds();
    this.#work ??= this.#flushSealed();
  }

  /** Seals the active memtable if it is full, whatever else is in progress. */
  rotateIfFull(): void {
    const { memtables, settings } = this.#options;
    const { events, bytes } = memtables.active;
    if (events < settings.flushEvents && bytes < settings.flushBytes) return;
    if (this.#rotation !== undefined || settings.clock.monotonicMs() < this.#nextRotationMs) return;
    this.#rotate().then(
      // A group that was written meanwhile may have filled the new file, and may be the last one.
      () => this.rotateIfFull(),
      (error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#nextRotationMs = settings.clock.monotonicMs() + RETRY_MS;
        settings.log("error", "cannot rotate the journal; writing continues to the current file", {
          error: String(error),
        });
      },
    );
  }

  /** Starts nothing more. */
  close(): void {
    this.#closing.abort();
    this.#retry?.stop();
  }

  /** Resolves when nothing is in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#rotation, this.#work, this.#oldest, ...this.#builds.values()]);
  }

  async #rotate(): Promise<void> {
    const { journal, memtables } = this.#options;
    this.#rotation ??= journal
      .rotate(
        () => memtables.sequence,
        () => memtables.all.push(new Memtable(journal.current, memtables.columnBudget)),
      )
      .finally(() => {
        this.#rotation = undefined;
      });
    await this.#rotation;
    this.begin();
  }

  async #flushSealed(): Promise<void> {
    // Runs after the assignment to #work.
    await undefined;
    const { signal } = this.#closing;
    const { clock } = this.#options.settings;
    for (let failures = 0; this.#next() !== undefined && !signal.aborted; ) {
      try {
        await this.#flushOldest();
        failures = 0;
      } catch (error) {
        if (error instanceof ProjectUnwritable) continue;
        const pauseMs = Math.min(RETRY_MS * 2 ** failures++, MAX_RETRY_MS);
        await clock.sleep(pauseMs, signal, { isBackground: true }).catch(() => {});
      }
    }
    this.#work = undefined;
    // Those that wait for a folder are tried again later.
    if (this.#options.memtables.sealed.length > 0 && !signal.aborted) {
      this.#retry?.stop();
      this.#retry = clock.after(UNWRITABLE_RETRY_MS, () => this.begin(), { isBackground: true });
    }
  }

  /** The sealed memtables whose turn has come, the oldest first. */
  #due(): Memtable[] {
    const { memtables, settings } = this.#options;
    const nowMs = settings.clock.monotonicMs();
    return memtables.sealed.filter((memtable) => (this.#retryAtMs.get(memtable) ?? nowMs) <= nowMs);
  }

  #next(): Memtable | undefined {
    return this.#due()[0];
  }

  /** Concurrent callers share one flush. */
  #flushOldest(): Promise<void> {
    return this.#oldest ?? this.#exclusively(() => this.#flushOne(this.#next() ?? this.#options.memtables.sealed[0]!));
  }

  #exclusively(work: () => Promise<void>): Promise<void> {
    const done = work().finally(() => {
      if (this.#oldest === done) this.#oldest = undefined;
    });
    this.#oldest = done;
    return done;
  }

  async #flushOne(memtable: Memtable): Promise<void> {
    const { journal, settings, flushed } = this.#options;
    try {
      this.#startBuilds();
      if (!this.#builds.has(memtable)) this.#startBuild(memtable);
      const built = await this.#builds.get(memtable)!.catch((error: unknown) => {
        this.#builds.delete(memtable);
        throw error;
      });
      await this.#install(memtable, built);
      this.#builds.delete(memtable);
    } catch (error) {
      const isUnwritable = error instanceof ProjectUnwritable;
      if (isUnwritable) {
        this.#builds.delete(memtable);
        this.#retryAtMs.set(memtable, this.#options.settings.clock.monotonicMs() + UNWRITABLE_RETRY_MS);
      }
      if (this.#closing.signal.aborted) throw error;
      this.counts.failures++;
      settings.log("error", "flush failed; its events stay in the journal and the flush is retried", {
        journal: memtable.file.path,
        error: String(error),
      });
      if (!isUnwritable && !(await journal.isAsWritten(memtable.file))) await this.#rewrite(memtable);
      throw error;
    }
    this.counts.flushes++;
    this.#startBuilds();
    flushed();
  }

  #startBuilds(): void {
    if (this.#closing.signal.aborted) return;
    for (const memtable of this.#due().slice(0, this.#options.writer.concurrency))
      if (!this.#builds.has(memtable)) this.#startBuild(memtable);
  }

  #startBuild(memtable: Memtable): void {
    const build = this.#options.writer.build(memtable, this.#olderThan(memtable), this.#closing.signal);
    // A failure is reported when it is this memtable's turn. A finished build is kept until then.
    build.catch(() => {});
    this.#builds.set(memtable, build);
  }

  async #install(memtable: Memtable, built: Built): Promise<void> {
    const { memtables, journal, writer, checkFolder } = this.#options;
    checkFolder();
    const older = this.#olderThan(memtable);
    await writer.install(memtable, built, older);
    // A deletion in this file may be of events in an older one that waits.
    if (memtable.deletions.length > 0 && older.length > 0) {
      this.#retryAtMs.set(memtable, this.#options.settings.clock.monotonicMs() + UNWRITABLE_RETRY_MS);
      return;
    }
    await writer.beforeRemoval();
    await journal.remove(memtable.file);
    memtables.all.splice(memtables.all.indexOf(memtable), 1);
    this.#retryAtMs.delete(memtable);
  }

  #olderThan(memtable: Memtable): readonly Memtable[] {
    const { sealed } = this.#options.memtables;
    return sealed.slice(0, sealed.indexOf(memtable));
  }

  /** Replaces a journal file that was damaged on the disk by one from memory. Keys are saved to a file of their own. */
  async #rewrite(memtable: Memtable): Promise<void> {
    const { settings, seenKeys, journal } = this.#options;
    const atMs = settings.clock.nowMs();
    await seenKeys.save(memtable.file.begin, memtable.keys, atMs);
    // The events in memory were accepted after them.
    const deletions = memtable.deletions.map(({ project, sequence }) => deletion(project, sequence, atMs));
    const batches = [...memtable.projects].flatMap(([project, { batches }]) =>
      batches.map(({ lines: { firstSequence: sequence, body }, length: lines }) => ({
        frame: { sequence, project, lines, atMs, key: undefined, isDeletion: false },
        body,
      })),
    );
    await journal.rewrite(memtable.file, [...deletions, ...batches]);
    settings.log("warn", "a damaged journal file was rewritten from memory: nothing is lost", {
      journal: memtable.file.path,
    });
  }
}

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** A folder that cannot be written to stays so until an operator repairs it. */
const UNWRITABLE_RETRY_MS = 5000;
