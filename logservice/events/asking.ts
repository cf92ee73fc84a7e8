import type { Contents } from "./contents.ts";
import { discovered } from "./duckdb/discovered.ts";
import { isOutOfMemory } from "./duckdb/duckdb.ts";
import { Narrowing } from "./duckdb/narrow.ts";
import type { Readers } from "./duckdb/readers.ts";
import { search } from "./duckdb/search.ts";
import { type Source, selectionOf } from "./duckdb/source.ts";
import { byLevel, count, histogram, numbers } from "./duckdb/statistics.ts";
import { topValues } from "./duckdb/top-values.ts";
import type { Settings } from "./settings.ts";
import type { SqlRunner } from "./sql/run-sql.ts";
import { type EventsStore, type ProjectStats, type Range, type SqlResult, type Stats, tooMuch } from "./store.ts";

/** Answers, each of the segments and the newest events together, as they are when it is asked. */
export class Asking {
  readonly #contents: Contents;
  readonly #readers: Readers;
  readonly #sql: SqlRunner;
  readonly #nowMs: () => number;
  readonly #narrowing: Narrowing;

  constructor(contents: Contents, readers: Readers, sql: SqlRunner, { nowMs, log }: Settings) {
    this.#narrowing = new Narrowing(readers, (path) =>
      log("warn", "a filter of texts is damaged; its segment is read without it", { path }),
    );
    this.#contents = contents;
    this.#readers = readers;
    this.#sql = sql;
    this.#nowMs = nowMs;
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
    this.#ask(range, signal, async (source) => ({
      values: await topValues(source, selectionOf(range, source.nowMs), field, "string", limit, signal),
    }));

  booleanFieldStats: EventsStore["booleanFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await topValues(source, selectionOf(range, source.nowMs), field, "boolean", 2, signal);
      return { values: found.map((one) => ({ ...one, value: one.value === "true" })) };
    });

  numericFieldStats: EventsStore["numericFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await numbers(source, selectionOf(range, source.nowMs), field, signal);
      return found.count === 0
        ? { min: null, avg: null, max: null }
        : { min: found.min, avg: found.sum / found.count, max: found.max };
    });

  async sql(project: string, text: string, signal: AbortSignal): Promise<SqlResult> {
    signal.throwIfAborted();
    const beganMs = performance.now();
    for (let tries = 1; ; tries++) {
      const held = this.#contents.projects.get(project)?.hold();
      try {
        const segments = held?.segments ?? [];
        const paths = segments.map(({ path }) => path);
        const results = await this.#sql.run(text, paths, this.#contents.piecesOf(project), signal);
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

  projectStats(project: string): ProjectStats {
    let [bytesTotal, eventsTotal] = [0, 0];
    for (const segment of this.#contents.projects.get(project)?.all ?? []) {
      bytesTotal += segment.eventBytes;
      eventsTotal += segment.events;
    }
    for (const { list } of this.#contents.newestOf(project)) {
      bytesTotal += list.bytes;
      eventsTotal += list.length;
    }
    return { bytesTotal, eventsTotal };
  }

  async #ask<Result>(
    range: Range,
    signal: AbortSignal,
    work: (source: Source) => Promise<Result>,
  ): Promise<Result & { stats: Stats }> {
    signal.throwIfAborted();
    const beganMs = performance.now();
    // Both at one moment: what becomes a segment meanwhile would be in neither.
    const held = this.#contents.projects.get(range.project)?.hold();
    const newest = this.#contents.newestOf(range.project);
    const nowMs = this.#nowMs();
    const reading = this.#readers.begin();
    try {
      const source: Source = {
        segments: await this.#narrowing.narrow(held?.segments ?? [], selectionOf(range, nowMs), signal),
        newest,
        readers: this.#readers,
        reading,
        nowMs,
        isOneByOne: false,
        used: { bytes: 0, isScanned: false, files: new Set() },
      };
      const result = await work(source)
        .catch((error: unknown) => {
          if (!isOutOfMemory(error)) throw error;
          // Large values, of which the engine holds some thousands at a time. Nothing of the first try is kept.
          return work({ ...source, isOneByOne: true });
        })
        .catch((error: unknown) => {
          throw isOutOfMemory(error) ? tooMuch(error) : error;
        });
      const durationMs = performance.now() - beganMs;
      return {
        ...result,
        stats: { durationMs, bytesProcessed: source.used.bytes, cacheHit: !source.used.isScanned },
      };
    } finally {
      reading.end();
      held?.release();
    }
  }
}
