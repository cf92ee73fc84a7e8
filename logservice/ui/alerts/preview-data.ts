import type { LevelPoint, Operations } from "../../../schema/rpc.generated.ts";
import { histogramSteps } from "../../events/histogram-steps.ts";
import { count, longDuration } from "../kit/numbers.ts";

export type Preview = Operations["preview_alert"]["output"];

export interface Times {
  readonly startMs: number;
  readonly stopMs: number;
}

/** So many episodes are answered at most. */
const MOST = 1_000;
/** Triggered for all but this share of the time counts as all the time: the ends of a range cut intervals. */
const NEARLY_ALL = 0.98;

/** The outcome of a replay, in a sentence or two. */
export function previewWords({ episodes, intervals }: Preview, times: Times): string {
  if (intervals === 0) return "No interval of the last 7 days could be evaluated.";
  if (episodes.length === 0) return "It would never have triggered in the last 7 days.";
  if (episodes.length >= MOST)
    return `It would have triggered more than ${count(MOST)} times in the last 7 days: choose another threshold. The first ${count(MOST)} are shown.`;
  const spans = spansOf(episodes, times);
  const triggeredMs = spans.reduce((sum, { startMs, stopMs }) => sum + stopMs - startMs, 0);
  const share = triggeredMs / (times.stopMs - times.startMs);
  const number = timesText(episodes.length);
  if (share >= NEARLY_ALL)
    return `It would have been triggered all the time of the last 7 days${episodes.length > 1 ? ` (${number})` : ""}: choose another threshold.`;
  const lasts = episodes.some(({ resolved_at }) => resolved_at === null) ? " It would be triggered now." : "";
  return `It would have triggered ${number} in the last 7 days, for ${longDuration(triggeredMs)} in all.${lasts}`;
}

/** How many whole intervals of a range could not be evaluated, such as those with more than 100 groups. `interval` is in minutes. */
export function unevaluated({ intervals }: Preview, { startMs, stopMs }: Times, interval: number): number {
  const intervalMs = interval * 60_000;
  return Math.max(0, Math.floor(stopMs / intervalMs) - Math.ceil(startMs / intervalMs) - intervals);
}

const timesText = (number: number) => (number === 1 ? "once" : number === 2 ? "twice" : `${count(number)} times`);

/** The times at which at least one group is triggered, in order and without overlaps. */
export function spansOf(episodes: Preview["episodes"], { startMs, stopMs }: Times): readonly Times[] {
  const all = episodes
    .map(({ triggered_at, resolved_at }) => ({
      startMs: Math.max(startMs, Date.parse(triggered_at)),
      stopMs: Math.min(stopMs, resolved_at === null ? stopMs : Date.parse(resolved_at)),
    }))
    .filter((span) => span.stopMs > span.startMs)
    .sort((a, b) => a.startMs - b.startMs);
  const joined: Times[] = [];
  for (const span of all) {
    const last = joined.at(-1);
    if (last !== undefined && span.startMs <= last.stopMs)
      joined[joined.length - 1] = { startMs: last.startMs, stopMs: Math.max(last.stopMs, span.stopMs) };
    else joined.push(span);
  }
  return joined;
}

export interface StripBar {
  readonly startMs: number;
  readonly total: number;
}

/** The events of a range by time, of all levels together. */
export function stripBars(points: readonly LevelPoint[], { startMs, stopMs }: Times, most: number) {
  const { stepMs, starts } = histogramSteps(startMs, stopMs, most);
  const totals = new Map<number, number>();
  for (const { timestamp, count: eventCount } of points) {
    const at = Date.parse(timestamp);
    totals.set(at, (totals.get(at) ?? 0) + eventCount);
  }
  const bars: readonly StripBar[] = starts.map((at) => ({ startMs: at, total: totals.get(at) ?? 0 }));
  return { stepMs, bars, most: bars.reduce((max, { total }) => Math.max(max, total), 0) };
}
