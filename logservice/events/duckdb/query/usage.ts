import { LEVELS, type Level } from "../../../../grammar/query/index.ts";
import { Yielder } from "../../event-loop.ts";
import type { MemtableView } from "../../memtables.ts";
import type { DayUsage, UsageQuery } from "../../store.ts";
import type { Summary } from "../../summary/summary.ts";
import type { Segment } from "../segment.ts";

const DAY_MINUTES = 1_440;
const DAY_MS = 86_400_000;

/**
 * The events of each day and their bytes, from the summaries: no file of events is read. The bytes of a file are shared out
 * among its days by their events. What is in memory only is in the journal, as it was sent.
 */
export async function usageOf(
  segments: readonly Segment[],
  views: readonly MemtableView[],
  { startMs, stopMs, signal }: Omit<UsageQuery, "project">,
): Promise<readonly DayUsage[]> {
  const [firstDay, lastDay] = [Math.floor(startMs / DAY_MS), Math.floor(stopMs / DAY_MS)];
  const sums = new Map<number, { counts: number[]; bytes: number; storedBytes: number }>();
  const add = (days: DayCounts, events: number, bytes: number, storedBytes: number): void => {
    for (const [day, counts] of days) {
      if (day < firstDay || day > lastDay) continue;
      const share = counts.reduce((sum, count) => sum + count, 0) / events;
      const sum = sums.get(day) ?? { counts: LEVELS.map(() => 0), bytes: 0, storedBytes: 0 };
      for (const [severity, count] of counts.entries()) sum.counts[severity]! += count;
      sum.bytes += bytes * share;
      sum.storedBytes += storedBytes * share;
      sums.set(day, sum);
    }
  };
  const yielder = new Yielder();
  for (const { summary, events, bytes, eventBytes } of segments) {
    const days = OF_SEGMENTS.get(summary) ?? daysOf(summary);
    OF_SEGMENTS.set(summary, days);
    add(days, events, eventBytes, bytes);
    if (yielder.isDue()) await yielder.rest(signal);
  }
  for (const { events, length } of views) {
    await events.summarize(length, signal);
    const { bytes, summary } = events;
    add(daysOf(summary), summary.events, bytes, bytes);
  }
  signal.throwIfAborted();
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([day, { counts, bytes, storedBytes }]) => ({
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      events: counts.reduce((sum, count) => sum + count, 0),
      bytes: Math.round(bytes),
      storedBytes: Math.round(storedBytes),
      levels: Object.fromEntries(LEVELS.flatMap((level, at) => (counts[at] ? [[level, counts[at]]] : []))) as Partial<
        Record<Level, number>
      >,
    }));
}

/** By day since 1970: how many events of each severity. */
type DayCounts = ReadonlyMap<number, readonly number[]>;

/** A segment never changes. */
const OF_SEGMENTS = new WeakMap<Summary, DayCounts>();

function daysOf({ minutes }: Summary): DayCounts {
  const days = new Map<number, number[]>();
  for (const [minute, counts] of minutes) {
    const day = Math.floor(minute / DAY_MINUTES);
    const sum = days.get(day) ?? LEVELS.map(() => 0);
    for (const [severity, count] of counts.entries()) sum[severity]! += count;
    days.set(day, sum);
  }
  return days;
}
