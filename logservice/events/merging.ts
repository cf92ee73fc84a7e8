import type { Contents } from "./contents.ts";
import { MAX_MERGED_EVENTS, mergeable } from "./duckdb/compaction.ts";
import type { Flusher } from "./duckdb/flusher.ts";
import { readSegment, type Segment } from "./duckdb/segments.ts";
import type { Settings } from "./settings.ts";

/** Makes large segments of small ones, and deletes those that are too old. */
export class Merging {
  readonly #settings: Settings;
  readonly #contents: Contents;
  readonly #flusher: Flusher;
  readonly #retention = new Map<string, number>();
  readonly counts = { merges: 0, expired: 0 };

  constructor(settings: Settings, contents: Contents, flusher: Flusher) {
    this.#settings = settings;
    this.#contents = contents;
    this.#flusher = flusher;
  }

  setRetention(project: string, days: number): void {
    if (days > 0) this.#retention.set(project, days);
    else this.#retention.delete(project);
  }

  async expire(): Promise<void> {
    for (const [project, days] of this.#retention) {
      const segments = this.#contents.projects.get(project);
      if (segments === undefined) continue;
      const oldest = BigInt(Math.floor(this.#settings.nowMs() - days * DAY_MS)) * 1_000_000n;
      const expired = segments.all.filter(({ last }) => last < oldest);
      if (expired.length === 0) continue;
      await segments.replace(expired, []);
      this.counts.expired += expired.length;
    }
  }

  /** Merges one run of small neighbours; false where there is none. */
  async mergeOne(): Promise<boolean> {
    for (const segments of this.#contents.projects.values()) {
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
      this.counts.merges++;
      return true;
    }
    return false;
  }
}

const DAY_MS = 24 * 3_600_000;
