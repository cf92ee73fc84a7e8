import type { Level, LevelPoint } from "../../../schema/rpc.generated.ts";
import { histogramSteps } from "../../events/histogram-steps.ts";
import type { RowRange } from "../rows/rows.ts";

/** Counts by time and level, ready to be drawn. */
export interface Histogram {
  readonly steps: readonly HistogramStep[];
  readonly stepMs: number;
  /** Sums over all steps. */
  readonly byLevel: ReadonlyMap<Level, number>;
  readonly total: number;
}

export interface HistogramStep {
  /** Milliseconds since 1970; the first may be before the range. */
  readonly startMs: number;
  readonly byLevel: ReadonlyMap<Level, number>;
  readonly total: number;
}

/** Levels as they are stacked, the calm ones at the bottom. */
export const STACKED: readonly Level[] = [
  ...(["info", "notice", "debug", "warning", "error", "critical", "alert", "emergency"] as const),
];

/** What the points of `get_level_timeseries` say, with the steps that have no events. */
export function histogramOf(
  points: readonly LevelPoint[],
  { startMs, stopMs }: RowRange,
  mostSteps: number,
): Histogram {
  const counts = new Map<number, Map<Level, number>>();
  for (const { timestamp, level, count } of points) {
    const at = Date.parse(timestamp);
    const byLevel = counts.get(at) ?? new Map<Level, number>();
    byLevel.set(level, (byLevel.get(level) ?? 0) + count);
    counts.set(at, byLevel);
  }
  const { stepMs, starts } = histogramSteps(startMs, stopMs, mostSteps);
  const steps = starts.map((at) => {
    const byLevel = counts.get(at) ?? NONE;
    return { startMs: at, byLevel, total: sum(byLevel) };
  });
  return whole(steps, stepMs);
}

/** A histogram of other steps. */
export function whole(steps: readonly HistogramStep[], stepMs: number): Histogram {
  const byLevel = new Map<Level, number>();
  for (const step of steps)
    for (const [level, count] of step.byLevel) byLevel.set(level, (byLevel.get(level) ?? 0) + count);
  return { steps, stepMs, byLevel, total: sum(byLevel) };
}

/** A bar of a histogram: a step, or what the range has left of it. */
export interface Bar extends HistogramStep {
  readonly stopMs: number;
  /** Height as a share of the highest bar. */
  readonly height: number;
}

/** At most so many bars are drawn. */
const MOST_BARS = 60;

/**
 * The bars of a histogram. A range that ends now cuts off its first step, which makes one step too many: it is drawn with
 * the second as one bar. A wider bar is as much lower, so that equal areas are equal counts.
 */
export function barsOf({ steps, stepMs }: Histogram, { startMs, stopMs }: RowRange): readonly Bar[] {
  const isOneMore = steps.length === MOST_BARS + 1;
  const drawn = isOneMore ? [joined(steps[0]!, steps[1]!), ...steps.slice(2)] : steps;
  const wide = drawn.map((step, i) => {
    const end = step.startMs + stepMs * (isOneMore && i === 0 ? 2 : 1);
    const from = Math.max(step.startMs, startMs);
    // A step that the range cuts off stays as low as its count is: how dense it is says little.
    const share = Math.max(1, (end - from) / stepMs);
    return { step, from, end: Math.min(end, stopMs), size: step.total / share };
  });
  const most = wide.reduce((max, { size }) => Math.max(max, size), 0);
  return wide.map(({ step, from, end, size }) => ({
    ...{ ...step, startMs: from, stopMs: end },
    height: most === 0 ? 0 : size / most,
  }));
}

function joined(a: HistogramStep, b: HistogramStep): HistogramStep {
  const byLevel = new Map(a.byLevel);
  for (const [level, count] of b.byLevel) byLevel.set(level, (byLevel.get(level) ?? 0) + count);
  return { startMs: a.startMs, byLevel, total: a.total + b.total };
}

const NONE: ReadonlyMap<Level, number> = new Map();
const sum = (counts: ReadonlyMap<Level, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
