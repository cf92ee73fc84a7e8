import type { Event, Level } from "../../../schema/rpc.generated.ts";
import { type Histogram, type HistogramStep, whole } from "./histogram-data.ts";

/** A histogram with events that have arrived since, up to now. Steps that have left the range are gone. */
export function grown(before: Histogram, events: readonly Event[], nowMs: number, rangeMs: number): Histogram {
  const { stepMs } = before;
  const counts = new Map<number, Map<Level, number>>();
  for (const { timestamp, level } of events) {
    const at = Math.floor(Date.parse(timestamp) / stepMs) * stepMs;
    const byLevel = counts.get(at) ?? new Map<Level, number>();
    byLevel.set(level, (byLevel.get(level) ?? 0) + 1);
    counts.set(at, byLevel);
  }
  const oldSteps = new Map(before.steps.map((step) => [step.startMs, step]));
  const steps: HistogramStep[] = [];
  for (let at = Math.floor((nowMs - rangeMs) / stepMs) * stepMs; at <= nowMs; at += stepMs) {
    const old = oldSteps.get(at);
    const added = counts.get(at);
    if (added === undefined) {
      steps.push(old ?? { startMs: at, byLevel: new Map(), total: 0 });
      continue;
    }
    const byLevel = new Map(old?.byLevel);
    let total = old?.total ?? 0;
    for (const [level, count] of added) {
      byLevel.set(level, (byLevel.get(level) ?? 0) + count);
      total += count;
    }
    steps.push({ startMs: at, byLevel, total });
  }
  return whole(steps, stepMs);
}
