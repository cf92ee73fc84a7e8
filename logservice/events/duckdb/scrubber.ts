import type { Timer } from "../../../grammar/units/clock.ts";
import { unionOf } from "../intervals.ts";
import type { StoreSettings } from "../settings.ts";
import { isWholeFilter, LEAST_FILTERED } from "./bloom-filter.ts";
import type { Flusher } from "./flusher.ts";
import type { Inspector } from "./inspector.ts";
import type { Pace } from "./integrity.ts";
import type { ProjectSegments } from "./projects.ts";
import { isUntouched, type Segment } from "./segment.ts";
import type { Segments } from "./segments.ts";
import { type FileChecksum, readSidecar } from "./sidecar.ts";

/** Each file is read as a whole once in this time, so that bit rot is found by then. */
const SCRUB_MS = 24 * 3_600_000;
/** Files that were removed or written to are noticed within this time, even if no query reads them. */
const LOOK_MS = 2000;
/** Reads a terabyte in less than a day; a query or a flush hardly notices it. */
const BYTES_PER_SECOND = 32 * 1024 * 1024;
/** Pause between two files, so that reading comes in no bursts. */
const PAUSE_MS = 100;
/** The most intervals of a segment that a manifest lists; beyond that, the segment's rows are read where they are needed. */
const MOST_INTERVALS = 10_000;

interface ScrubberOptions {
  readonly settings: StoreSettings;
  readonly projects: ProjectSegments;
  readonly flusher: Flusher;
  readonly inspector: Inspector;
  /** Does the same for the journal. */
  readonly checkJournal: () => Promise<void>;
}

/**
 * Regularly reads all files and verifies their checksums, rebuilds damaged summaries and filters, and adds what segments
 * of format 1 lack.
 */
export class Scrubber {
  readonly #settings: StoreSettings;
  readonly #projects: ProjectSegments;
  readonly #flusher: Flusher;
  readonly #inspector: Inspector;
  readonly #checkJournal: () => Promise<void>;
  /** Segments of too many intervals. */
  readonly #scattered = new Set<string>();
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #work: Promise<void> = Promise.resolve();
  #lookedMs = Number.NEGATIVE_INFINITY;
  readonly counts = { files: 0, bytes: 0, damaged: 0, rebuilt: 0 };

  constructor({ settings, projects, flusher, inspector, checkJournal }: ScrubberOptions) {
    this.#settings = settings;
    this.#projects = projects;
    this.#flusher = flusher;
    this.#inspector = inspector;
    this.#checkJournal = checkJournal;
  }

  begin(): void {
    this.#schedule(PAUSE_MS);
  }

  /** Reads every file, however recently it was read before. */
  async scrub(): Promise<void> {
    await this.#serialize(async () => {
      for (const segments of this.#projects.values()) {
        const read = new Set<string>();
        // A merge may add a segment meanwhile.
        for (;;) {
          const segment = segments.all.find(({ path }) => !read.has(path));
          if (segment === undefined) break;
          read.add(segment.path);
          await this.#read(segments, segment);
        }
        await segments.save();
      }
    });
  }

  close(): void {
    this.#closing.abort();
    this.#timer?.stop();
  }

  async settled(): Promise<void> {
    await this.#work.catch(() => {});
  }

  /** The longest time for which a segment has not been read as a whole, in milliseconds; 0 if there are no segments. */
  get longestUncheckedMs(): number {
    let longest = 0;
    const nowMs = this.#settings.clock.nowMs();
    for (const { all } of this.#projects.values()) {
      for (const { integrity } of all) longest = Math.max(longest, nowMs - integrity.checkedMs);
    }
    return longest;
  }

  #schedule(afterMs: number): void {
    if (this.#closing.signal.aborted) return;
    const step = () => {
      this.#serialize(() => this.#step())
        .catch((error: unknown) => {
          if (this.#closing.signal.aborted) return false;
          this.#settings.log("error", "a file could not be checked", { error: String(error) });
          return false;
        })
        .then((isMore) => this.#schedule(isMore ? PAUSE_MS : LOOK_MS));
    };
    this.#timer = this.#settings.clock.after(afterMs, step, { isBackground: true });
  }

  /** Reads one file, and from time to time checks all for changes. Resolves to whether there is more to do. */
  async #step(): Promise<boolean> {
    const { clock } = this.#settings;
    if (clock.monotonicMs() - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = clock.monotonicMs();
      await this.#look();
    }
    const due = this.#due();
    if (due === undefined) return false;
    await this.#read(due.segments, due.segment, { bytesPerSecond: BYTES_PER_SECOND, clock });
    // Once for all files of a project that are due.
    if (this.#due()?.segments !== due.segments) await due.segments.save().catch(() => {});
    return true;
  }

  async #look(): Promise<void> {
    await this.#checkJournal();
    for (const segments of this.#projects.values()) {
      await segments.mendManifest();
      const touched = segments.all.filter((segment) => segment.integrity.sum !== undefined && !isUntouched(segment));
      for (const segment of touched) {
        const fault = await segments.examine(segment);
        if (fault !== undefined) await this.#markLost(segments, segment, fault);
      }
      if (this.#closing.signal.aborted) return;
    }
  }

  #due(): { segments: Segments; segment: Segment } | undefined {
    const nowMs = this.#settings.clock.nowMs();
    for (const segments of this.#projects.values()) {
      for (const segment of segments.all) {
        const { checkedMs } = segment.integrity;
        // A clock that was ahead has left times in the future.
        const isOld = nowMs - checkedMs >= SCRUB_MS || checkedMs > nowMs;
        if (isOld || this.#lacks(segment)) return { segments, segment };
      }
    }
    return undefined;
  }

  async #read(segments: Segments, segment: Segment, pace?: Pace): Promise<void> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const isIncomplete = this.#lacks(segment);
    const snapshot = segments.snapshot();
    try {
      if (!snapshot.segments.includes(segment)) return;
      const fault = await segments.examine(segment, { pace, signal });
      this.counts.files++;
      this.counts.bytes += segment.bytes;
      if (fault !== undefined) return await this.#markLost(segments, segment, fault);
      await this.#mendDerived(segment, isIncomplete);
      if (isIncomplete) await this.#complete(segments, segment);
    } finally {
      snapshot.release();
    }
  }

  #markLost(segments: Segments, segment: Segment, fault: Parameters<Segments["markLost"]>[1]): Promise<void> {
    this.counts.damaged++;
    return segments.markLost(segment, fault);
  }

  /** Whether a segment is of format 1, or was merged from such segments. */
  #lacks(segment: Segment): boolean {
    return (
      segment.integrity.sum === undefined || (segment.intervals === undefined && !this.#scattered.has(segment.path))
    );
  }

  /** Finds out which flushes a segment holds. */
  async #complete(segments: Segments, segment: Segment): Promise<void> {
    const union = unionOf((await this.#inspector.describe(segment.path)).intervals);
    if (union.length > MOST_INTERVALS) this.#scattered.add(segment.path);
    await segments.exchange(segment, union.length > MOST_INTERVALS ? segment : { ...segment, intervals: union });
  }

  /** Rebuilds the summary and the filter if they are damaged, missing or of format 1. */
  async #mendDerived(segment: Segment, isExpected: boolean): Promise<void> {
    const file = this.#checksumOf(segment);
    const sidecar = await readSidecar(segment.path).catch(() => undefined);
    const isSummary = sidecar?.segment?.sum === file.sum && sidecar.segment.bytes === file.bytes;
    const isFilter =
      segment.events < LEAST_FILTERED || (await isWholeFilter(segment.path, file, await this.#inspector.engine()));
    for (const [kind, isWhole] of [
      ["summary", isSummary],
      ["filter", isFilter],
    ] as const) {
      if (isWhole) continue;
      if (!isExpected)
        this.#settings.log("info", `a ${kind} is being rebuilt from its segment`, { file: segment.path });
      const error = await this.#rebuild(kind, segment.path, file);
      if (error === undefined) this.counts.rebuilt++;
      else this.#settings.log("warn", `a ${kind} cannot be written`, { file: segment.path, error });
    }
  }

  /** Returns why it could not be written. */
  async #rebuild(kind: "summary" | "filter", path: string, segment: FileChecksum): Promise<string | undefined> {
    if (kind === "summary") return (await this.#flusher.rebuildSummary(path, segment)).error;
    await this.#flusher.run({ kind, path, segment });
    return undefined;
  }

  #checksumOf({ bytes, integrity }: Segment) {
    return { bytes, sum: integrity.sum! };
  }

  #serialize<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#work.then(work);
    this.#work = done.then(
      () => {},
      () => {},
    );
    return done;
  }
}
