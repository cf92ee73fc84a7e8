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
    return `It would have been triggered for ${episodes.length > 1 ? `almost all of the last 7 days (${number})` : "all of the last 7 days"}: choose another threshold.`;
  const lasts = episodes.some(({ resolved_at }) => resolved_at === null) ? " It would be triggered now." : "";
  return `It would have triggered ${number} in the last 7 days, for ${longDuration(triggeredMs)} in all.${lasts}`;
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
  /** The greatest count of a step. */
  readonly most: number;
}

interface StripOptions extends Times {
  /** So many steps were asked for at most; a step is an interval of the alert if the service counts in such steps. */
  readonly mostSteps: number;
  readonly mostBars: number;
  readonly intervalMs: number;
  readonly episodes: Preview["episodes"];
}

/** The strip is at least so many intervals wide. */
const LEAST_INTERVALS = 12;

/**
 * The events of a range by time, of all levels together, from the first event or episode on: as the greatest count of the
 * steps in each bar, so that it can be compared with a threshold.
 */
export function stripBars(points: readonly LevelPoint[], options: StripOptions) {
  const { startMs, stopMs, mostSteps, mostBars, intervalMs, episodes } = options;
  const { stepMs, starts } = histogramSteps(startMs, stopMs, mostSteps);
  const totals = new Map<number, number>();
  for (const { timestamp, count: eventCount } of points) {
    if (eventCount === 0) continue;
    const at = Date.parse(timestamp);
    totals.set(at, (totals.get(at) ?? 0) + eventCount);
  }
  const triggered = episodes.map(({ triggered_at }) => Date.parse(triggered_at));
  const first = Math.min(stopMs - LEAST_INTERVALS * intervalMs, ...totals.keys(), ...triggered);
  const times: Times = { startMs: Math.max(startMs, first), stopMs };
  const drawn = starts.filter((at) => at + stepMs > times.startMs);
  const perBar = Math.max(1, Math.ceil(drawn.length / mostBars));
  const bars: readonly StripBar[] = drawn
    .filter((_, i) => i % perBar === 0)
    .map((at, i) => {
      const own = drawn.slice(i * perBar, (i + 1) * perBar);
      return { startMs: at, most: Math.max(...own.map((step) => totals.get(step) ?? 0)) };
    });
  return { times, stepMs, barMs: stepMs * perBar, bars, most: bars.reduce((max, { most }) => Math.max(max, most), 0) };
}
