import { unionOf } from "../intervals.ts";
import type { Memtables } from "../memtables.ts";
import type { Retention } from "../retention.ts";
import type { StoreSettings } from "../settings.ts";
import { DAMAGED_INPUT } from "./build.ts";
import { MAX_MERGED_BYTES, MAX_MERGED_EVENTS, mergeOrder, pickRun } from "./compaction-picker.ts";
import { isOutOfMemory } from "./duckdb.ts";
import type { Flusher } from "./flusher.ts";
import type { ProjectSegments } from "./projects.ts";
import { readSegment, type Segment } from "./segment.ts";
import { removeSegment } from "./segment-files.ts";
import type { Segments } from "./segments.ts";

interface CompactorOptions {
  readonly settings: StoreSettings;
  readonly memtables: Memtables;
  readonly projects: ProjectSegments;
  readonly flusher: Flusher;
  readonly retention: Retention;
}

/**
 * Makes large segments of small ones, and deletes those that are too old: one thing at a time, beside the flushes. Merges
 * wait until there is nothing to flush, but not for ever: a project of many segments is slow to ask.
 */
export class Compactor {
  readonly #settings: StoreSettings;
  readonly #memtables: Memtables;
  readonly #projects: ProjectSegments;
  readonly #flusher: Flusher;
  readonly #retention: Retention;
  #queue: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #isClosed = false;
  /** When projects whose last merge failed are tried again. Others come first. */
  readonly #retryAtMs = new WeakMap<Segments, number>();
  /** Segments whose merge ran out of memory: they stay as they are. */
  readonly #tooLarge = new WeakSet<Segment>();
  readonly counts = { merges: 0, failures: 0, expired: 0 };

  constructor({ settings, memtables, projects, flusher, retention }: CompactorOptions) {
    this.#settings = settings;
    this.#memtables = memtables;
    this.#projects = projects;
    this.#flusher = flusher;
    this.#retention = retention;
  }

  /** Resolves when nothing is left to merge or to delete. */
  compact(): Promise<void> {
    return this.#serialize(async () => {
      await this.#expire();
      while (await this.#mergeOne(() => true));
    });
  }

  /** To be called after a flush: starts a merge if one is due. */
  consider(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    void this.#serialize(async () => {
      this.#isScheduled = false;
      await this.#expire();
      const isDue = (segments: Segments) =>
        this.#settings.clock.monotonicMs() >= (this.#retryAtMs.get(segments) ?? Number.NEGATIVE_INFINITY) &&
        (this.#memtables.sealed.length === 0 || segments.all.length > MANY_SEGMENTS);
      if (await this.#mergeOne(isDue)) this.consider();
    }).catch((error: unknown) => {
      if (this.#isClosed) return;
      this.counts.failures++;
      this.#settings.log("error", "segments could not be merged; they stay as they are", { error: String(error) });
    });
  }

  /** Starts nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when nothing is in progress. */
  settled(): Promise<void> {
    return this.#queue;
  }

  /** Resolves when expired segments are deleted. */
  expire(): Promise<void> {
    return this.#serialize(() => this.#expire());
  }

  async #expire(): Promise<void> {
    for (const project of this.#retention.projects) {
      const segments = this.#projects.get(project);
      if (segments === undefined) continue;
      const cutoff = BigInt(this.#retention.cutoffMs(project, this.#settings.clock.nowMs()) ?? 0) * 1_000_000n;
      if (segments.leave(cutoff)) await this.#projects.noteLeft(segments);
      await segments.expireLosses(cutoff);
      const expired = segments.all.filter(({ last }) => last < cutoff);
      if (expired.length === 0) continue;
      if (await segments.replace(expired, [])) this.counts.expired += expired.length;
    }
  }

  /** Merges one run of small neighbours. Returns false if there is none. */
  async #mergeOne(isDue: (segments: Segments) => boolean): Promise<boolean> {
    for (const segments of this.#projects.values()) {
      if (this.#isClosed || !isDue(segments)) continue;
      const run = pickRun(segments.all, MAX_MERGED_EVENTS, MAX_MERGED_BYTES, this.#tooLarge);
      if (run === undefined) continue;
      await this.#merge(segments, run);
      return true;
    }
    return false;
  }

  async #merge(segments: Segments, run: readonly Segment[]): Promise<void> {
    const total = (of: (segment: Segment) => number) => run.reduce((sum, segment) => sum + of(segment), 0);
    const sequence = Math.max(...run.map((one) => one.sequence));
    const hasIntervals = run.every(({ intervals }) => intervals !== undefined);
    const intervals = hasIntervals ? unionOf(run.flatMap(({ intervals }) => intervals!)) : undefined;
    const path = segments.newPath(Math.min(...run.map((one) => one.intervals?.[0]?.[0] ?? one.sequence)), sequence);
    const eventBytes = total((one) => one.eventBytes);
    const { segments: inputs, isSorted } = mergeOrder(run);
    this.#retryAtMs.set(segments, this.#settings.clock.monotonicMs() + RETRY_MS);
    let mergedSegment: Segment;
    try {
      const [facts] = await this.#flusher.run({
        kind: "merge",
        inputs: inputs.map(({ path, bytes, integrity: { sum } }) => ({ path, bytes, sum })),
        path,
        events: total(({ events }) => events),
        isSorted,
        origin: { ...segments.identity, eventBytes, sequence, intervals },
      });
      mergedSegment = await readSegment(facts!, { eventBytes, sequence, intervals });
    } catch (error) {
      if (this.#isClosed) throw error;
      await removeSegment(path);
      if (!this.#projects.values().includes(segments)) return; // Deleted meanwhile.
      if (isOutOfMemory(error)) for (const segment of run) this.#tooLarge.add(segment);
      if (await this.#loseDamaged(segments, run, String(error))) {
        this.#retryAtMs.delete(segments);
        return;
      }
      throw error;
    }
    if (await segments.replace(run, [mergedSegment])) this.counts.merges++;
    else await removeSegment(path);
    this.#retryAtMs.delete(segments);
  }

  /** Whether one of the segments turned out to be damaged; the others can be merged without it. */
  async #loseDamaged(segments: Segments, run: readonly Segment[], error: string): Promise<boolean> {
    let isAny = error.includes(DAMAGED_INPUT);
    for (const segment of run) {
      const fault = await segments.examine(segment);
      if (fault === undefined) continue;
      await segments.markLost(segment, fault);
      isAny = true;
    }
    return isAny;
  }

  #serialize(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(() => (this.#isClosed ? undefined : work()));
    this.#queue = done.catch(() => {});
    return done;
  }
}

/** Newest-first searches open few of them either way; all other queries read them all. */
const MANY_SEGMENTS = 30;
const RETRY_MS = 60_000;
