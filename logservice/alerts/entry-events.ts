import type { Entry } from "../../grammar/entry.ts";
import {
  compilePredicate,
  lastInstantBefore,
  PipesRun,
  type Query,
  readTime,
  TooManyGroups,
} from "../../grammar/query/index.ts";
import { histogramSteps } from "../events/histogram-steps.ts";
import { StoreError } from "../events/store.ts";
import type { AlertEvents } from "./evaluate.ts";

interface TimedEntry {
  readonly timeMs: number;
  /** Undefined if entries are only counted. */
  readonly entry: Entry | undefined;
}

/**
 * Entries that were read elsewhere, such as those of a file, as an alert is evaluated on them: all calls are about the one
 * query of the alert, and only what it selects is kept.
 */
export class EntryEvents implements AlertEvents {
  readonly #selects: (entry: Entry) => boolean;
  readonly #keepsEntries: boolean;
  readonly #nowMs: number;
  readonly #entries: TimedEntry[] = [];
  #isSorted = true;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `nowMs` is what relative times of the query count back from. */
  constructor({ query, keepsEntries, nowMs }: { query: Query | undefined; keepsEntries: boolean; nowMs: number }) {
    this.#selects = query === undefined ? () => true : compilePredicate(query, { nowMs });
    this.#keepsEntries = keepsEntries;
    this.#nowMs = nowMs;
  }

  /** The times of the first and the last entry that were added, selected or not; undefined if none has a time. */
  get bounds(): { readonly firstMs: number; readonly lastMs: number } | undefined {
    return this.#firstMs > this.#lastMs ? undefined : { firstMs: this.#firstMs, lastMs: this.#lastMs };
  }

  /** Entries without a time are in no interval. They may come in any order. */
  add(entry: Entry): void {
    const timeMs = readTime(entry.timestamp);
    if (timeMs === undefined) return;
    this.#firstMs = Math.min(this.#firstMs, timeMs);
    this.#lastMs = Math.max(this.#lastMs, timeMs);
    if (!this.#selects(entry)) return;
    if (timeMs < (this.#entries.at(-1)?.timeMs ?? timeMs)) this.#isSorted = false;
    this.#entries.push({ timeMs, entry: this.#keepsEntries ? entry : undefined });
  }

  async count({ startMs, stopMs }: { startMs: number; stopMs: number }) {
    const { from, to } = this.#range(startMs, stopMs);
    return { count: to - from, stats: WHOLE };
  }

  async timeseries({ startMs, stopMs, maxPoints }: { startMs: number; stopMs: number; maxPoints: number }) {
    const { stepMs, starts } = histogramSteps(startMs, stopMs, maxPoints);
    const points = starts.map((at) => {
      const { from, to } = this.#range(Math.max(startMs, at), Math.min(stopMs, lastInstantBefore(at + stepMs)));
      return { timestamp: new Date(at).toISOString(), count: to - from };
    });
    return { stepMs, points, stats: WHOLE };
  }

  async aggregate({ startMs, stopMs, pipes, limit }: Parameters<AlertEvents["aggregate"]>[0]) {
    const run = new PipesRun({ pipes }, { nowMs: this.#nowMs, range: { fromMs: startMs, toMs: stopMs } });
    const { from, to } = this.#range(startMs, stopMs);
    try {
      for (const { entry } of this.#entries.slice(from, to)) run.push(entry!);
      const result = run.result();
      if (result.kind !== "table") throw new Error("the query of an alert has no stage that gives rows");
      const { columns, rows, notes } = result;
      return { columns, rows: rows.slice(0, limit), isTruncated: rows.length > limit, notes, stats: WHOLE };
    } catch (error) {
      if (!(error instanceof TooManyGroups)) throw error;
      throw new StoreError("bad_request", error.message, { cause: error });
    }
  }

  losses() {
    return [];
  }

  /** Places in the list of the entries of a closed range. */
  #range(startMs: number, stopMs: number): { readonly from: number; readonly to: number } {
    if (!this.#isSorted) {
      this.#entries.sort((a, b) => a.timeMs - b.timeMs);
      this.#isSorted = true;
    }
    return { from: this.#place((timeMs) => timeMs < startMs), to: this.#place((timeMs) => timeMs <= stopMs) };
  }

  /** How many entries, from the first on, have such a time. */
  #place(isBefore: (timeMs: number) => boolean): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#entries[middle]!.timeMs)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Nothing is missing of what was read. */
const WHOLE = { durationMs: 0, bytesProcessed: 0, answeredFromSummaries: false, missingBytes: 0 };
