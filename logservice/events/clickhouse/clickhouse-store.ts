import { compilePredicate, TooManyGroups, valueOfSum, withLeading } from "../../../grammar/query/index.ts";
import type { Clock } from "../../../grammar/units/clock.ts";
import { Dedup } from "../dedup.ts";
import { byLevel, inAll } from "../histogram.ts";
import { Retention } from "../retention.ts";
import { type EventRange, type EventsQuery, type EventsStore, RECENT_IDS, type Stats, StoreError } from "../store.ts";
import { Tails } from "../tail.ts";
import type { ClickHouseConnection } from "./connection.ts";
import { eventIds } from "./event-ids.ts";
import { instantLiteral, sqlLiteral } from "./literal.ts";
import { runStages } from "./pipeline.ts";
import { type Reading, readingOf, selectAll } from "./reading.ts";
import { EVENTS_TABLE } from "./schema.ts";
import { searchPage } from "./search.ts";
import { countIn, dayUsage, discoveredIn, numbersIn, stepCounts } from "./statistics.ts";
import { topValuesOf } from "./top-values.ts";
import { Writer } from "./writer.ts";

/** The events of all projects in a table of ClickHouse. Several processes may use it at once. */
export class ClickHouseEvents implements Omit<EventsStore, "sql"> {
  readonly #connection: ClickHouseConnection;
  readonly #clock: Clock;
  readonly #retention = new Retention();
  readonly #tails = new Tails();
  readonly #dedup: Dedup;
  readonly #writer: Writer;
  readonly #held: Set<string>;

  /** `node` is a short text that no other process has; `held` are the projects that have events. */
  constructor(
    connection: ClickHouseConnection,
    clock: Clock,
    { node, held }: { node: string; held: Iterable<string> },
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#held = new Set(held);
    const nowMs = () => clock.nowMs();
    this.#dedup = new Dedup(
      async (project, ids) => {
        const reading = this.#reading(wholeOf(project));
        const newest = `SELECT id FROM ${EVENTS_TABLE} WHERE ${reading.within} ORDER BY timestamp DESC, id DESC LIMIT ${RECENT_IDS}`;
        ids.addOlder((await selectAll(reading, newest)).map(([id]) => id as string));
      },
      nowMs,
      RECENT_IDS,
    );
    const nextId = eventIds(node, nowMs);
    this.#writer = new Writer({ connection, dedup: this.#dedup, tails: this.#tails, nowMs, nextId });
  }

  append: EventsStore["append"] = async (project, batch, options = {}) => {
    await this.#writer.append(project, batch, options);
    if (batch.length > 0) this.#held.add(project);
  };

  search: EventsStore["search"] = (query) => this.#run(query, (reading) => searchPage(reading, query));

  count: EventsStore["count"] = (query) => this.#run(query, async (reading) => ({ count: await countIn(reading) }));

  timeseries: EventsStore["timeseries"] = (query) =>
    this.#run(query, async (reading) => {
      const result = await stepCounts(reading, query.maxPoints);
      return { stepMs: result.stepMs, points: inAll(result) };
    });

  levelTimeseries: EventsStore["levelTimeseries"] = (query) =>
    this.#run(query, async (reading) => {
      const result = await stepCounts(reading, query.maxPoints);
      return { stepMs: result.stepMs, points: byLevel(result) };
    });

  discoveredFields: EventsStore["discoveredFields"] = (query) =>
    this.#run(query, async (reading) => ({ fields: await discoveredIn(reading) }));

  stringFieldStats: EventsStore["stringFieldStats"] = (query) =>
    this.#run(query, async (reading) => {
      const { field, limit } = query;
      return { values: await topValuesOf(reading, { field, type: "string", limit }) };
    });

  booleanFieldStats: EventsStore["booleanFieldStats"] = (query) =>
    this.#run(query, async (reading) => {
      const values = await topValuesOf(reading, { field: query.field, type: "boolean", limit: 2 });
      return { values: values.map((one) => ({ ...one, value: one.value === "true" })) };
    });

  numericFieldStats: EventsStore["numericFieldStats"] = (query) =>
    this.#run(query, async (reading) => {
      const result = await numbersIn(reading, query.field);
      return result.count === 0
        ? { min: null, avg: null, max: null }
        : { min: result.min, avg: valueOfSum(result) / result.count, max: result.max };
    });

  aggregate: EventsStore["aggregate"] = (request) => {
    const all = { source: "", query: request.query ?? { source: "", expr: undefined }, pipes: request.pipes };
    const { query, pipes } = withLeading(all);
    return this.#run({ ...request, query }, async (reading) => {
      try {
        return await runStages(reading, { pipes, limit: request.limit });
      } catch (error) {
        if (error instanceof TooManyGroups) throw new StoreError("bad_request", `${error.message}: ${error.hint}`);
        throw error;
      }
    });
  };

  projectStats: EventsStore["projectStats"] = async (project) => {
    const reading = this.#reading(wholeOf(project), Number.NEGATIVE_INFINITY);
    const text = `SELECT toFloat64(sum(bytes)), toFloat64(count()) FROM ${EVENTS_TABLE} WHERE ${reading.within}`;
    const [[bytesTotal, eventsTotal]] = (await selectAll(reading, text)) as [[number, number]];
    return { bytesTotal, eventsTotal, missingBytes: 0 };
  };

  usage: EventsStore["usage"] = async ({ project, startMs, stopMs, signal }) => {
    const [first, last] = [startMs, stopMs].map((ms) => Math.floor(ms / DAY_MS) * DAY_MS);
    const days = { project, startMs: first!, stopMs: last! + DAY_MS - 1e-3, query: undefined, signal };
    return dayUsage(this.#reading(days, Number.NEGATIVE_INFINITY));
  };

  /** Other processes write to the same table: nothing here could be the older copy of it. */
  position(): number {
    return 0;
  }

  isReplaced(): boolean {
    return false;
  }

  disk: EventsStore["disk"] = async () => {
    const text = "SELECT toFloat64(sum(unreserved_space)), toFloat64(sum(total_space)) FROM system.disks";
    const [[freeBytes, totalBytes]] = (await selectAll(this.#reading(wholeOf("")), text)) as [[number, number]];
    return { freeBytes, totalBytes, isFull: freeBytes <= 0 };
  };

  tail: EventsStore["tail"] = (project, query, afterId) => {
    const selects = query === undefined ? () => true : compilePredicate(query, { nowMs: this.#clock.nowMs() });
    // Nothing is in memory, so nothing tells how many came since.
    return this.#tails.read(project, selects, afterId === undefined ? [] : [{ dropped: null }]);
  };

  deleteProject: EventsStore["deleteProject"] = async (project) => {
    await this.#writer.inTurn(project, async () => {
      await this.#connection.command(`DELETE FROM ${EVENTS_TABLE} WHERE project = ${sqlLiteral(project)}`);
      this.#dedup.forget(project);
      this.#held.delete(project);
    });
    this.#tails.end(project);
  };

  setRetention(project: string, days: number): void {
    this.#retention.set(project, days);
  }

  /** Not by whole partitions: another process may just be adding late events of another project to one. */
  async expire(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    for (const project of this.#retention.projects) {
      const cutoff = instantLiteral(BigInt(this.#retention.cutoffMs(project, nowMs)!) * 1_000_000n);
      const text = `DELETE FROM ${EVENTS_TABLE} WHERE project = ${sqlLiteral(project)} and timestamp < ${cutoff}`;
      await this.#writer.inTurn(project, () => this.#connection.command(text));
    }
  }

  heldProjects(): ReadonlySet<string> {
    return this.#held;
  }

  losses(): readonly never[] {
    return [];
  }

  acceptLosses(): void {}

  metrics(): Readonly<Record<string, number>> {
    const { inserts, events } = this.#writer.written;
    return { clickhouse_inserts_total: inserts, clickhouse_inserted_events_total: events };
  }

  async close(): Promise<void> {
    this.#tails.end();
    await this.#writer.close();
    await this.#connection.close();
  }

  async #run<Result>(
    query: EventsQuery,
    work: (reading: Reading) => Promise<Result>,
  ): Promise<Result & { stats: Stats }> {
    query.signal.throwIfAborted();
    const beganMs = this.#clock.monotonicMs();
    const reading = this.#reading(query);
    const result = await work(reading);
    query.signal.throwIfAborted();
    const durationMs = this.#clock.monotonicMs() - beganMs;
    const bytesProcessed = reading.used.bytes;
    return { ...result, stats: { durationMs, bytesProcessed, answeredFromSummaries: false, missingBytes: 0 } };
  }

  #reading(range: EventRange & { signal: AbortSignal }, cutoffMs?: number): Reading {
    const nowMs = this.#clock.nowMs();
    const cutoff = cutoffMs ?? this.#retention.cutoffMs(range.project, nowMs);
    return readingOf({ connection: this.#connection, range, nowMs, cutoffMs: cutoff });
  }
}

const DAY_MS = 86_400_000;

const wholeOf = (project: string) => ({
  ...{ project, startMs: Number.NEGATIVE_INFINITY, stopMs: Number.POSITIVE_INFINITY },
  ...{ query: undefined, signal: new AbortController().signal },
});
