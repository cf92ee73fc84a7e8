// The figures of a region by metric and minute. The last hours are in memory, what came before is read again when asked for.
import { addTo, compacted, type Digest, emptyDigest, mergedDigests } from "./digest.ts";
import type { StoredSeries } from "./series.ts";

/** A metric is told apart by its namespace, its name and all of its dimensions. */
export interface Metric {
  readonly namespace: string;
  readonly name: string;
  /** As `name=value`, in any order. */
  readonly dimensions: readonly string[];
}

/** A minute as it is written; written again, the last one counts. */
export interface WrittenMinute extends Digest {
  readonly metric: string;
  /** The minute's begin. */
  readonly at: number;
}

const MINUTE_MS = 60_000;

/** The time whose figures are in memory at least: longer than most alarms look back. */
const RECENT_MS = 180 * MINUTE_MS;

interface Recent {
  readonly digest: Digest;
  isWritten: boolean;
}

export class MetricStore {
  readonly #written: StoredSeries<WrittenMinute>;
  readonly #nowMs: () => number;
  /** By minute, by metric. */
  readonly #recent = new Map<number, Map<string, Recent>>();
  /** From this minute on, memory has all that there is. */
  #completeFrom: number;
  #newest = 0;
  /** The figures that were read last, for the other metrics that are asked for in the same call. */
  #lastRead: { readonly range: string; readonly items: Map<string, WrittenMinute[]> } | undefined;

  constructor(written: StoredSeries<WrittenMinute>, nowMs: () => number) {
    this.#written = written;
    this.#nowMs = nowMs;
    this.#completeFrom = minuteOf(nowMs()) + MINUTE_MS;
  }

  add(metric: Metric, atMs: number, values: readonly number[], times: readonly number[] = []): void {
    const { digest } = this.#minute(this.#begun(atMs), keyOf(metric));
    for (const [i, value] of values.entries()) addTo(digest, value, times[i] ?? 1);
  }

  /** One value for each figure of the same dimensions. */
  addAll(
    { namespace, dimensions }: Omit<Metric, "name">,
    atMs: number,
    figures: Readonly<Record<string, number>>,
  ): void {
    const minute = this.#begun(atMs);
    const last = dimensionsKey(dimensions);
    for (const name in figures) addTo(this.#minute(minute, `${namespace} ${name} ${last}`).digest, figures[name]!);
  }

  /** Periods from `startMs` on in their order, each with what it holds; periods without figures are left out. */
  periods(metric: Metric, { startMs, endMs, periodMs }: PeriodRange): [beginMs: number, digest: Digest][] {
    // "The start time is rounded down to the minute."
    const start = minuteOf(startMs);
    const periods = new Map<number, Digest[]>();
    for (const [minute, digest] of this.#minutes(keyOf(metric), start, endMs)) {
      const begin = start + Math.floor((minute - start) / periodMs) * periodMs;
      periods.set(begin, [...(periods.get(begin) ?? []), digest]);
    }
    return [...periods].sort(([a], [b]) => a - b).map(([begin, digests]) => [begin, mergedDigests(digests)!]);
  }

  /** Writes the minutes that are over, and all of them at the end. */
  flush(isEnd = false): void {
    const now = this.#nowMs();
    const items: WrittenMinute[] = [];
    for (const [minute, metrics] of this.#recent) {
      if (!isEnd && minute + MINUTE_MS > now) continue;
      for (const [metric, recent] of metrics) {
        if (!recent.isWritten) items.push({ metric, at: minute, ...compacted(recent.digest) });
        recent.isWritten = true;
      }
      if (minute + RECENT_MS > now) continue;
      this.#recent.delete(minute);
      this.#completeFrom = Math.max(this.#completeFrom, minute + MINUTE_MS);
    }
    this.#written.append(items);
    this.#lastRead = undefined;
  }

  /** The minute of a time; with the first figure of a new one, those before it are written. */
  #begun(atMs: number): number {
    const minute = minuteOf(atMs);
    if (minute > this.#newest) {
      this.#newest = minute;
      this.flush();
    }
    return minute;
  }

  #minute(minute: number, metric: string): Recent {
    let metrics = this.#recent.get(minute);
    if (metrics === undefined) {
      metrics = new Map();
      this.#recent.set(minute, metrics);
    }
    let recent = metrics.get(metric);
    if (recent === undefined) {
      const before =
        minute < this.#completeFrom ? this.#read(metric, minute, minute + MINUTE_MS).get(minute) : undefined;
      recent = { digest: before ?? emptyDigest(), isWritten: false };
      metrics.set(metric, recent);
    }
    recent.isWritten = false;
    return recent;
  }

  #minutes(metric: string, startMs: number, endMs: number): Map<number, Digest> {
    const digests =
      startMs < this.#completeFrom ? this.#read(metric, startMs, Math.min(endMs, this.#completeFrom)) : new Map();
    for (const [minute, metrics] of this.#recent) {
      const recent = metrics.get(metric);
      if (recent !== undefined && minute >= startMs && minute < endMs) digests.set(minute, recent.digest);
    }
    return digests;
  }

  #read(metric: string, fromMs: number, toMs: number): Map<number, Digest> {
    const range = `${fromMs} ${toMs}`;
    if (this.#lastRead?.range !== range) {
      const items = new Map<string, WrittenMinute[]>();
      for (const item of this.#written.between(fromMs, toMs)) {
        const own = items.get(item.metric);
        if (own === undefined) items.set(item.metric, [item]);
        else own.push(item);
      }
      this.#lastRead = { range, items };
      queueMicrotask(() => {
        this.#lastRead = undefined;
      });
    }
    const digests = new Map<number, Digest>();
    for (const { metric: _, at, ...digest } of this.#lastRead.items.get(metric) ?? [])
      digests.set(at, { ...digest, values: [...digest.values], counts: [...digest.counts] });
    return digests;
  }
}

export interface PeriodRange {
  readonly startMs: number;
  /** Excluded. */
  readonly endMs: number;
  readonly periodMs: number;
}

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

const dimensionsKey = (dimensions: readonly string[]) => JSON.stringify(dimensions.toSorted());

const keyOf = ({ namespace, name, dimensions }: Metric) => `${namespace} ${name} ${dimensionsKey(dimensions)}`;
