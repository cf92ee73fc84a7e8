import { TooManyGroups, valueOfSum, withLeading } from "../../../../grammar/query/index.ts";
import { SERVICE } from "../../../turns/turns.ts";
import { errorCode } from "../../durable.ts";
import { byLevel, inAll } from "../../histogram.ts";
import type { Memtables } from "../../memtables.ts";
import type { Retention } from "../../retention.ts";
import type { StoreSettings } from "../../settings.ts";
import { hasSlowWhere, mayBeSlow } from "../../slow-query.ts";
import {
  type EventsQuery,
  type EventsStore,
  type ProjectStats,
  type SqlQuery,
  type SqlResult,
  type Stats,
  StoreError,
  tooMuch,
} from "../../store.ts";
import type { ConnectionPool, PoolSession } from "../connection-pool.ts";
import { isOutOfMemory } from "../duckdb.ts";
import type { KillableEngines } from "../engine/killable-engines.ts";
import { QueryProcess } from "../engine/query-process.ts";
import { DAMAGED_JOURNAL } from "../load-lines.ts";
import type { Losses } from "../losses.ts";
import type { ProjectSegments } from "../projects.ts";
import { type Segment, SegmentsLost } from "../segment.ts";
import type { Segments } from "../segments.ts";
import type { SqlRunner } from "../sql/run-sql.ts";
import { discovered } from "./discovered.ts";
import { Narrowing } from "./narrow.ts";
import { runPipes } from "./pipeline/run.ts";
import { type QueryContext, selectionOf } from "./query-context.ts";
import { search } from "./search.ts";
import { countEvents, histogram, numbers } from "./statistics.ts";
import { topValues } from "./top-values.ts";
import { usageOf } from "./usage.ts";

interface QueryEngineOptions {
  readonly settings: StoreSettings;
  readonly memtables: Memtables;
  readonly projects: ProjectSegments;
  readonly pool: ConnectionPool;
  readonly engines: KillableEngines;
  readonly sql: SqlRunner;
  readonly losses: Losses;
  readonly retention: Retention;
  /** Flushes what is in memory. */
  readonly flush: () => Promise<void>;
}

/** Runs queries, each over the segments and memtables as they are when it begins. */
export class QueryEngine {
  readonly #options: QueryEngineOptions;
  readonly #narrowing: Narrowing;

  constructor(options: QueryEngineOptions) {
    this.#options = options;
    this.#narrowing = new Narrowing(options.pool, (path) =>
      options.settings.log("warn", "a segment's filter is damaged; the segment is read without it", { path }),
    );
  }

  search: EventsStore["search"] = (query) =>
    this.#run(query, async (context) => {
      const { events, cursor } = await search(context, query);
      return { events: events.map(({ event }) => event), cursor };
    });

  count: EventsStore["count"] = (query) => this.#run(query, async (context) => ({ count: await countEvents(context) }));

  timeseries: EventsStore["timeseries"] = (query) =>
    this.#run(query, async (context) => {
      const result = await histogram(context, query.maxPoints);
      return { stepMs: result.stepMs, points: inAll(result) };
    });

  levelTimeseries: EventsStore["levelTimeseries"] = (query) =>
    this.#run(query, async (context) => {
      const result = await histogram(context, query.maxPoints);
      return { stepMs: result.stepMs, points: byLevel(result) };
    });

  discoveredFields: EventsStore["discoveredFields"] = (query) =>
    this.#run(query, async (context) => ({ fields: await discovered(context) }));

  stringFieldStats: EventsStore["stringFieldStats"] = (query) =>
    this.#run(query, async (context) => {
      const { field, limit } = query;
      return { values: await topValues(context, { field, type: "string", limit }) };
    });

  booleanFieldStats: EventsStore["booleanFieldStats"] = (query) =>
    this.#run(query, async (context) => {
      const values = await topValues(context, { field: query.field, type: "boolean", limit: 2 });
      return { values: values.map((one) => ({ ...one, value: one.value === "true" })) };
    });

  numericFieldStats: EventsStore["numericFieldStats"] = (query) =>
    this.#run(query, async (context) => {
      const result = await numbers(context, query.field);
      return result.count === 0
        ? { min: null, avg: null, max: null }
        : { min: result.min, avg: valueOfSum(result) / result.count, max: result.max };
    });

  aggregate: EventsStore["aggregate"] = (request) => {
    const all = { source: "", query: request.query ?? { source: "", expr: undefined }, pipes: request.pipes };
    const { query, pipes } = withLeading(all);
    const isSlow = mayBeSlow(query.expr) || pipes.some(hasSlowWhere);
    const selecting = { ...request, query: query.expr === undefined ? undefined : query, isSlow };
    return this.#run(selecting, async (context) => {
      try {
        return await runPipes(context, { pipes, limit: request.limit });
      } catch (error) {
        if (error instanceof TooManyGroups) throw new StoreError("bad_request", `${error.message}: ${error.hint}`);
        throw error;
      }
    });
  };

  async sql({ project, text, signal }: SqlQuery): Promise<SqlResult> {
    signal.throwIfAborted();
    const { projects, memtables, losses, flush } = this.#options;
    const { clock } = this.#options.settings;
    const beganMs = clock.monotonicMs();
    for (let tries = 1; ; tries++) {
      const stored = projects.get(project);
      const snapshot = stored?.snapshot();
      const segments = snapshot?.segments ?? [];
      try {
        await stored?.check(segments);
        const missingBytes = losses.bytesOf(project, snapshot?.losses ?? []);
        const journalRanges = memtables.journalRangesOf(project);
        const resultsJson = await this.#options.sql.run(
          { text, segments, journalRanges, fromMs: this.#cutoffMs(project) },
          signal,
        );
        const bytesProcessed = segments.reduce((sum, { bytes }) => sum + bytes, 0);
        const durationMs = clock.monotonicMs() - beganMs;
        return { resultsJson, stats: { durationMs, bytesProcessed, answeredFromSummaries: false, missingBytes } };
      } catch (error) {
        // A journal file was flushed before it was linked: its events are in segments now.
        const isJournal = String(error).includes(DAMAGED_JOURNAL);
        // SQL reads the journal's files. All other queries have their events in memory.
        if (isJournal && tries < MOST_TRIES) await flush().catch(() => {});
        const isAgain = isJournal || errorCode(error) === "ENOENT" || error instanceof SegmentsLost;
        if (isAgain) await stored?.checkAll();
        if (!isAgain && stored !== undefined && UNREADABLE.test(String(error))) {
          if (await markDamaged(stored, segments)) continue;
        }
        if (!isAgain || tries >= MOST_TRIES) throw error;
      } finally {
        snapshot?.release();
      }
    }
  }

  projectStats(project: string): ProjectStats {
    const { projects, memtables, losses } = this.#options;
    const stored = projects.get(project);
    let [bytesTotal, eventsTotal] = [0, 0];
    for (const segment of stored?.all ?? []) {
      bytesTotal += segment.eventBytes;
      eventsTotal += segment.events;
    }
    for (const { events } of memtables.viewsOf(project)) {
      bytesTotal += events.bytes;
      eventsTotal += events.length;
    }
    return { bytesTotal, eventsTotal, missingBytes: losses.bytesOf(project, stored?.losses ?? []) };
  }

  usage: EventsStore["usage"] = async ({ project, ...query }) => {
    // Both at one moment: events that are flushed meanwhile would be in neither.
    const segments = this.#options.projects.get(project)?.all ?? [];
    return usageOf(segments, this.#options.memtables.viewsOf(project), query);
  };

  async #run<Result>(
    query: EventsQuery & { readonly isSlow?: boolean },
    work: (context: QueryContext) => Promise<Result>,
  ): Promise<Result & { stats: Stats }> {
    query.signal.throwIfAborted();
    const { clock } = this.#options.settings;
    const beganMs = clock.monotonicMs();
    for (let tries = 1; ; tries++) {
      try {
        const { result, used, missingBytes } = await this.#try(query, work);
        const durationMs = clock.monotonicMs() - beganMs;
        return {
          ...result,
          stats: { durationMs, bytesProcessed: used.bytes, answeredFromSummaries: !used.isScanned, missingBytes },
        };
      } catch (error) {
        // Again without the files that turned out to be damaged or gone: it is seldom one alone.
        if (!(error instanceof SegmentsLost) || tries >= MOST_TRIES) throw error;
        await this.#options.projects.get(query.project)?.checkAll();
      }
    }
  }

  /** A query that may take long over a single text is answered by a process, which ends with its signal. */
  #processOf(query: EventsQuery & { readonly isSlow?: boolean }, nowMs: number): QueryProcess | undefined {
    const { query: selecting = { source: "", expr: undefined }, isEvaluation, asker = SERVICE, signal } = query;
    if (!(query.isSlow ?? mayBeSlow(selecting.expr))) return undefined;
    const lane = isEvaluation === true ? "alerts" : "people";
    return new QueryProcess(this.#options.engines, { query: selecting, nowMs }, { lane, asker, signal });
  }

  async #try<Result>(
    query: EventsQuery & { readonly isSlow?: boolean },
    work: (context: QueryContext) => Promise<Result>,
  ) {
    const { projects, memtables, pool, losses, settings } = this.#options;
    const { project, asker = SERVICE, signal } = query;
    this.#options.engines.see(asker);
    const shared = pool.runnerOf(asker);
    // Both at one moment: events that are flushed meanwhile would be in neither.
    const stored = projects.get(project);
    const snapshot = stored?.snapshot();
    const views = memtables.viewsOf(project);
    const nowMs = settings.clock.nowMs();
    const process = this.#processOf(query, nowMs);
    // The engine of the process reads the files, and keeps nothing of them.
    const session = process === undefined ? pool.begin() : NO_SESSION;
    const used: QueryContext["used"] = { bytes: 0, isScanned: false, files: new Set() };
    const selection = selectionOf(query, nowMs, this.#cutoffMs(project, nowMs));
    try {
      const context: QueryContext = {
        selection,
        segments: await this.#narrowing.narrow(snapshot?.segments ?? [], selection, signal, shared),
        memtables: views,
        pool: process ?? shared,
        process,
        session,
        signal,
        check: async (segments) => stored?.check(segments),
        nowMs,
        isOneByOne: false,
        used,
      };
      const result = await work(context)
        .catch((error: unknown) => {
          if (!isOutOfMemory(error)) throw error;
          // Large values, of which the engine holds some thousands at a time. Nothing of the first try is kept.
          return work({ ...context, isOneByOne: true });
        })
        .catch(async (error: unknown) => {
          signal.throwIfAborted();
          if (isOutOfMemory(error)) throw tooMuch(error);
          const read = context.segments.filter(({ path }) => used.files.has(path));
          throw stored !== undefined && (await markDamaged(stored, read)) ? new SegmentsLost() : error;
        });
      return { result, used, missingBytes: losses.bytesOf(project, snapshot?.losses ?? [], selection) };
    } finally {
      session.end();
      process?.end();
      snapshot?.release();
    }
  }

  /** Milliseconds since 1970 before which a project's events have expired; undefined if it keeps everything. */
  #cutoffMs(project: string, nowMs = this.#options.settings.clock.nowMs()): number | undefined {
    return this.#options.retention.cutoffMs(project, nowMs);
  }
}

const NO_SESSION: PoolSession = { opens: async () => {}, end() {} };

/** After a failure of the engine: marks the damaged segments among those that it read as lost. False if there is none. */
async function markDamaged(stored: Segments, read: readonly Segment[]): Promise<boolean> {
  let isAny = false;
  for (const segment of read) {
    const fault = await stored.examine(segment);
    if (fault === undefined) continue;
    await stored.markLost(segment, fault);
    isAny = true;
  }
  return isAny;
}

/** Matches the messages of the engine about a damaged file, among all its messages about statements. */
const UNREADABLE = /failed to read|parquet|invalid string encoding|zstd|corrupt|no magic bytes|\bIO Error\b/i;

/** After each all files are looked at, so that a second one is nearly always the last. */
const MOST_TRIES = 4;
