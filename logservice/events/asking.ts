import type { Contents } from "./contents.ts";
import { DAMAGED_JOURNAL } from "./duckdb/build.ts";
import { discovered } from "./duckdb/discovered.ts";
import { isOutOfMemory } from "./duckdb/duckdb.ts";
import { Narrowing } from "./duckdb/narrow.ts";
import type { Readers } from "./duckdb/readers.ts";
import { search } from "./duckdb/search.ts";
import { type Segment, type Segments, SegmentsLost } from "./duckdb/segments.ts";
import { type Source, selectionOf } from "./duckdb/source.ts";
import { byLevel, count, histogram, numbers } from "./duckdb/statistics.ts";
import { topValues } from "./duckdb/top-values.ts";
import { codeOf } from "./durable.ts";
import type { Losses } from "./losses.ts";
import type { Retention } from "./retention.ts";
import type { Settings } from "./settings.ts";
import type { SqlRunner } from "./sql/run-sql.ts";
import { stepTime } from "./steps.ts";
import { type EventsStore, type ProjectStats, type Range, type SqlResult, type Stats, tooMuch } from "./store.ts";

interface Helpers {
  readonly sql: SqlRunner;
  readonly losses: Losses;
  readonly retention: Retention;
  /** Makes segments of what is in memory. */
  readonly flush: () => Promise<void>;
}

/** Answers, each of the segments and the newest events together, as they are when it is asked. */
export class Asking {
  readonly #contents: Contents;
  readonly #readers: Readers;
  readonly #sql: SqlRunner;
  readonly #losses: Losses;
  readonly #retention: Retention;
  readonly #flush: () => Promise<void>;
  readonly #nowMs: () => number;
  readonly #narrowing: Narrowing;

  constructor(
    contents: Contents,
    readers: Readers,
    { sql, losses, retention, flush }: Helpers,
    { nowMs, log }: Settings,
  ) {
    this.#losses = losses;
    this.#retention = retention;
    this.#flush = flush;
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
      const { events, cursor } = await search(source, source.selection, page, signal);
      return { events: events.map(({ event }) => event), cursor };
    });

  count: EventsStore["count"] = (range, signal) =>
    this.#ask(range, signal, async (source) => ({
      count: await count(source, source.selection, signal),
    }));

  timeseries: EventsStore["timeseries"] = (range, maxPoints, signal) =>
    this.#ask(range, signal, async (source) => {
      const { stepMs, starts, counts } = await histogram(source, source.selection, maxPoints, signal);
      const points = starts.map((start, i) => ({
        timestamp: stepTime(start),
        count: counts[i]!.reduce((sum, events) => sum + events, 0),
      }));
      return { stepMs, points };
    });

  levelTimeseries: EventsStore["levelTimeseries"] = (range, maxPoints, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await histogram(source, source.selection, maxPoints, signal);
      return { stepMs: found.stepMs, points: byLevel(found) };
    });

  discoveredFields: EventsStore["discoveredFields"] = (range, signal) =>
    this.#ask(range, signal, async (source) => ({
      fields: await discovered(source, source.selection, signal),
    }));

  stringFieldStats: EventsStore["stringFieldStats"] = (range, field, limit, signal) =>
    this.#ask(range, signal, async (source) => ({
      values: await topValues(source, source.selection, field, "string", limit, signal),
    }));

  booleanFieldStats: EventsStore["booleanFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await topValues(source, source.selection, field, "boolean", 2, signal);
      return { values: found.map((one) => ({ ...one, value: one.value === "true" })) };
    });

  numericFieldStats: EventsStore["numericFieldStats"] = (range, field, signal) =>
    this.#ask(range, signal, async (source) => {
      const found = await numbers(source, source.selection, field, signal);
      return found.count === 0
        ? { min: null, avg: null, max: null }
        : { min: found.min, avg: found.sum / found.count, max: found.max };
    });

  async sql(project: string, text: string, signal: AbortSignal): Promise<SqlResult> {
    signal.throwIfAborted();
    const beganMs = performance.now();
    for (let tries = 1; ; tries++) {
      const of = this.#contents.projects.get(project);
      const held = of?.hold();
      try {
        const segments = held?.segments ?? [];
        await of?.check(segments);
        const missingBytes = this.#losses.bytesOf(project, held?.losses ?? []);
        const resultsJson = await this.#sql.run(
          {
            text,
            segments,
            pieces: this.#contents.piecesOf(project),
            fromMs: this.#retention.oldestMs(project, this.#nowMs()),
          },
          signal,
        );
        const bytesProcessed = segments.reduce((sum, { bytes }) => sum + bytes, 0);
        const durationMs = performance.now() - beganMs;
        return { resultsJson, stats: { durationMs, bytesProcessed, cacheHit: false, missingBytes } };
      } catch (error) {
        // A journal file became segments before it was linked: its events are there now.
        const isJournal = String(error).includes(DAMAGED_JOURNAL);
        // SQL reads the journal's files, where all else has their events in memory.
        if (isJournal && tries < MOST_TRIES) await this.#flush().catch(() => {});
        const isAgain = isJournal || codeOf(error) === "ENOENT" || error instanceof SegmentsLost;
        if (isAgain) await of?.checkAll();
        if (!isAgain && of !== undefined && UNREADABLE.test(String(error))) {
          if (await this.#loseDamaged(of, held?.segments ?? [])) continue;
        }
        if (!isAgain || tries >= MOST_TRIES) throw error;
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
    const missingBytes = this.#losses.bytesOf(project, this.#contents.projects.get(project)?.losses ?? []);
    return { bytesTotal, eventsTotal, missingBytes };
  }

  async #ask<Result>(
    range: Range,
    signal: AbortSignal,
    work: (source: Source) => Promise<Result>,
  ): Promise<Result & { stats: Stats }> {
    signal.throwIfAborted();
    const beganMs = performance.now();
    for (let tries = 1; ; tries++) {
      try {
        const { result, used, missingBytes } = await this.#try(range, signal, work);
        const durationMs = performance.now() - beganMs;
        return {
          ...result,
          stats: { durationMs, bytesProcessed: used.bytes, cacheHit: !used.isScanned, missingBytes },
        };
      } catch (error) {
        // Again without what was found to be damaged, or gone: it is seldom one file alone.
        if (!(error instanceof SegmentsLost) || tries >= MOST_TRIES) throw error;
        await this.#contents.projects.get(range.project)?.checkAll();
      }
    }
  }

  async #try<Result>(range: Range, signal: AbortSignal, work: (source: Source) => Promise<Result>) {
    // Both at one moment: what becomes a segment meanwhile would be in neither.
    const of = this.#contents.projects.get(range.project);
    const held = of?.hold();
    const newest = this.#contents.newestOf(range.project);
    const nowMs = this.#nowMs();
    const reading = this.#readers.begin();
    const used: Source["used"] = { bytes: 0, isScanned: false, files: new Set() };
    const selection = selectionOf(range, nowMs, this.#retention.oldestMs(range.project, nowMs));
    try {
      const source: Source = {
        selection,
        segments: await this.#narrowing.narrow(held?.segments ?? [], selection, signal),
        newest,
        readers: this.#readers,
        reading,
        check: async (segments) => of?.check(segments),
        nowMs,
        isOneByOne: false,
        used,
      };
      const result = await work(source)
        .catch((error: unknown) => {
          if (!isOutOfMemory(error)) throw error;
          // Large values, of which the engine holds some thousands at a time. Nothing of the first try is kept.
          return work({ ...source, isOneByOne: true });
        })
        .catch(async (error: unknown) => {
          signal.throwIfAborted();
          if (isOutOfMemory(error)) throw tooMuch(error);
          const read = source.segments.filter(({ path }) => used.files.has(path));
          throw of !== undefined && (await this.#loseDamaged(of, read)) ? new SegmentsLost() : error;
        });
      return { result, used, missingBytes: this.#losses.bytesOf(range.project, held?.losses ?? [], selection) };
    } finally {
      reading.end();
      held?.release();
    }
  }

  /** The engine failed: whether that comes of a file that it read. */
  async #loseDamaged(of: Segments, read: readonly Segment[]): Promise<boolean> {
    let isLost = false;
    for (const segment of read) {
      const fault = await of.examine(segment);
      if (fault === undefined) continue;
      await of.lose(segment, fault);
      isLost = true;
    }
    return isLost;
  }
}

/** What the engine says of a file that is not what it should be, among all that it says of statements. */
const UNREADABLE = /failed to read|parquet|invalid string encoding|zstd|corrupt|no magic bytes|\bIO Error\b/i;

/** After each all files are looked at, so that a second one is nearly always the last. */
const MOST_TRIES = 4;
