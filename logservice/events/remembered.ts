import type { Readers } from "./duckdb/readers.ts";
import { type Segment, type Segments, SegmentsLost } from "./duckdb/segments.ts";
import { fromFiles } from "./duckdb/source.ts";
import { type Recent, recentIds, recentKeys } from "./recent.ts";
import { RECENT_IDS } from "./store.ts";

/** Ids and keys of batches that were seen, by project: what makes a retry count once. */
export class Remembered {
  readonly #ids = new Map<string, Recent>();
  readonly #keys = new Map<string, Recent>();
  readonly #idsLoading = new Map<string, Promise<void>>();
  readonly #readers: Readers;
  readonly #nowMs: () => number;

  constructor(readers: Readers, nowMs: () => number) {
    this.#readers = readers;
    this.#nowMs = nowMs;
  }

  ids(project: string): Recent {
    return this.#recent(this.#ids, project, recentIds);
  }

  keys(project: string): Recent {
    return this.#recent(this.#keys, project, recentKeys);
  }

  forget(project: string): void {
    this.#ids.delete(project);
    this.#keys.delete(project);
    this.#idsLoading.delete(project);
  }

  /** Ids of before the last start: what is in the journal is known, the rest stands in the newest segments. */
  async loadIds(project: string, from: Segments | undefined): Promise<void> {
    if (from === undefined) return;
    const { segments, release } = from.hold();
    try {
      this.#idsLoading.set(project, this.#idsLoading.get(project) ?? this.#readIds(from, segments, this.ids(project)));
      await this.#idsLoading.get(project);
    } catch (error) {
      this.#idsLoading.delete(project);
      throw error;
    } finally {
      release();
    }
  }

  /** A segment that cannot be read is left out: a retry of events that are lost may as well store them again. */
  async #readIds(from: Segments, segments: readonly Segment[], ids: Recent): Promise<void> {
    let left = RECENT_IDS;
    const never = new AbortController().signal;
    const newest = [...segments].sort((a, b) => b.sequence - a.sequence);
    const reading = this.#readers.begin();
    try {
      for (const segment of newest) {
        if (left <= 0) break;
        left -= segment.events;
        const statement = `select id from ${fromFiles([segment])} where id is not null`;
        const nowMs = this.#nowMs();
        try {
          await from.check([segment]);
          await reading.opens([segment]);
          await this.#readers.run(statement, [], never, ([found]) => {
            for (const id of found as string[]) ids.add(id, nowMs);
          });
        } catch (error) {
          if (error instanceof SegmentsLost) continue;
          const fault = await from.examine(segment);
          if (fault === undefined) throw error;
          await from.lose(segment, fault);
        }
      }
    } finally {
      reading.end();
    }
  }

  #recent(all: Map<string, Recent>, project: string, make: (nowMs: number) => Recent): Recent {
    let recent = all.get(project);
    if (recent === undefined) {
      recent = make(this.#nowMs());
      all.set(project, recent);
    }
    return recent;
  }
}
