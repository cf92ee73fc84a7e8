import type { AlertInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import type { EventsQuery } from "../events/store.ts";
import type { AlertMessage } from "../records/alert-message.ts";
import { readAlertQuery } from "./alert-query.ts";
import type { AlertEvents } from "./evaluate.ts";
import { groupValuesOf } from "./group.ts";
import { isTouched, openLosses, readSlots } from "./read-slots.ts";
import { firstSlotFrom, slotAt, slotStartMs, slotStopMs } from "./slots.ts";
import { type EvaluationState, type Rule, stepAlert, WELL } from "./state.ts";

export interface PreviewedEpisode {
  readonly group: AlertMessage["group"];
  readonly value: number;
  /** RFC 3339: the ends of intervals. Null if it lasts to the end of the range. */
  readonly triggeredAt: string;
  readonly resolvedAt: string | null;
}

export interface AlertPreview {
  /** Oldest first, at most MOST_EPISODES. */
  readonly episodes: readonly PreviewedEpisode[];
  /** How many intervals were evaluated. */
  readonly intervals: number;
  /** How many could not be. */
  readonly unevaluated: number;
  readonly missingBytes: number;
}

/** From `startMs` to `stopMs` in milliseconds since 1970, and who asks until when. */
interface PreviewRange extends Pick<EventsQuery, "startMs" | "stopMs" | "signal" | "asker"> {}

/** The most intervals of a range: a week of minutes. */
const MOST_INTERVALS = 10_080;
const MOST_EPISODES = 1_000;

/**
 * Replays an alert over the whole intervals of a range, whose stop is not part of it and not in the future. Intervals that
 * cannot be evaluated, such as those with missing events, are left out. Throws `invalid` if there are more than
 * MOST_INTERVALS or the query is not one of an alert; rejects with the reason of the signal.
 */
export async function previewAlert(
  events: AlertEvents,
  project: string,
  alert: AlertInput,
  { startMs, stopMs, signal, asker }: PreviewRange,
): Promise<AlertPreview> {
  const { interval = 5 } = alert;
  const read = readAlertQuery(alert.query ?? "");
  if (!read.ok) throw new RpcError("invalid", `alert.query: ${read.problems.join("; ")}`);
  const query = read.value;
  const first = firstSlotFrom(startMs, interval);
  const last = slotAt(stopMs, interval) - 1;
  if (last - first >= MOST_INTERVALS) {
    const message = `stop: must be at most ${MOST_INTERVALS} intervals after start: send a shorter range`;
    throw new RpcError("invalid", message);
  }
  const outcomes = await readSlots(events, { project, query, interval, asker }, { first, last }, signal);
  const rule: Rule = {
    ...{ operator: alert.operator, threshold: alert.threshold ?? 0, interval, repeat: 0, isMuted: false },
    ...{ for: alert.for ?? 1, recover: alert.recover ?? 1, isCount: query.isCount },
  };
  const episodes = new Map<string, PreviewedEpisode>();
  let state: EvaluationState = WELL;
  let intervals = 0;
  let ids = 0;
  outcomes.forEach((outcome, at) => {
    if (!outcome.ok) return;
    intervals++;
    const slot = { number: first + at, stop: new Date(slotStopMs(first + at, interval)).toISOString(), outcome };
    const next = stepAlert(rule, state, slot, () => String(ids++));
    state = next.state;
    for (const { kind, key, value, stop, episode } of next.transitions) {
      const existing = episodes.get(episode.id);
      if (kind === "resolved" && existing !== undefined) episodes.set(episode.id, { ...existing, resolvedAt: stop });
      if (kind !== "triggered") continue;
      const group = groupValuesOf(query.columns, key);
      episodes.set(episode.id, { group, value: value ?? 0, triggeredAt: stop, resolvedAt: null });
    }
  });
  const range = { startMs: slotStartMs(first, interval), stopMs: slotStopMs(last, interval) };
  const missingBytes = openLosses(events, project)
    .filter((loss) => last >= first && isTouched(loss, range.startMs, range.stopMs))
    .reduce((sum, { bytes }) => sum + Math.max(1, bytes), 0);
  const unevaluated = outcomes.length - intervals;
  return { episodes: [...episodes.values()].slice(0, MOST_EPISODES), intervals, unevaluated, missingBytes };
}
