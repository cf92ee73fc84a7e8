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
  ...(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const),
];

/** The histogram of the points of `get_level_timeseries`, with the steps that have no events. */
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

/**
 * The bars of a histogram. The range may cut off its first and its last step: such a bar is narrower, and as high as what it
 * counts, so that all bars have one scale.
 */
export function barsOf({ steps, stepMs }: Histogram, { startMs, stopMs }: RowRange): readonly Bar[] {
  const most = steps.reduce((max, { total }) => Math.max(max, total), 0);
  return steps.map((step) => ({
    ...step,
    startMs: Math.max(step.startMs, startMs),
    stopMs: Math.min(step.startMs + stepMs, stopMs),
    height: most === 0 ? 0 : step.total / most,
  }));
}

/** A bar with events is at least so high, in pixels. */
const LEAST_PX = 4;
/** Pixels of a single error among thousands of other events, in a bar of at least HIGH_PX. */
const LEAST_BAD_PX = 2;
const HIGH_PX = 16;

/**
 * The pixels of each level of a bar, by its events, where `roomPx` is the height of the highest bar. An error is seen, but
 * takes no other level's place.
 */
export function levelHeights({ byLevel, total, height }: Bar, roomPx: number): ReadonlyMap<Level, number> {
  const whole = Math.max(height * roomPx, LEAST_PX);
  const leastBad = whole < HIGH_PX ? 1 : LEAST_BAD_PX;
  const levels = STACKED.filter((level) => byLevel.get(level)).map((level) => {
    const share = byLevel.get(level)! / total;
    return { level, share, height: isBad(level) ? Math.max(share * whole, leastBad) : 0 };
  });
  const calm = levels.filter(({ level }) => !isBad(level)).reduce((sum, { share }) => sum + share, 0);
  // The others share what the errors leave, a pixel at least.
  const left = Math.max(1, whole - levels.reduce((sum, one) => sum + one.height, 0));
  return new Map(levels.map(({ level, share, height }) => [level, isBad(level) ? height : (share / calm) * left]));
}

/** Levels of which a single event must be seen. */
export const isBad = (level: Level) => ["error", "critical", "alert", "emergency"].includes(level);

const NONE: ReadonlyMap<Level, number> = new Map();
const sum = (counts: ReadonlyMap<Level, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
