import { CAME_LATE } from "../notify/condition.ts";
import type { Slots } from "./read-slots.ts";
import { withoutOldNews } from "./replay.ts";
import { slotStartMs, slotStopMs } from "./slots.ts";
import {
  type AlertStep,
  type EvaluationState,
  type GroupState,
  type Rule,
  type Slot,
  stepAlert,
  type Transition,
  WELL,
} from "./state.ts";

/** An episode of an alert that was triggered, as it is stored. */
export interface StoredEpisode {
  readonly group_key: string;
  readonly triggered_at: string;
  readonly resolved_at: string | null;
}

/** Slots in a row that are evaluated again, oldest first. */
export interface LateSlots {
  readonly slots: readonly Slot[];
  /** The numbers of those that got events. The others are read to know what came before and after. */
  readonly late: ReadonlySet<number>;
  /** Whether the last of them is the last slot that was evaluated. */
  readonly isUpToNow: boolean;
}

/**
 * Moves an alert by slots that were evaluated without events that came late. Only a trigger that was missed is news: nothing
 * that is triggered is resolved by it, and an episode that is there already is not made again, nor one that touches it. A group
 * that was triggered and is well by now has both told, with their true times; where its end is not in the slots, it is
 * triggered now, and the next slots resolve it as any other.
 */
export function reconsider(
  rule: Rule,
  before: EvaluationState,
  { ranges, episodes }: { readonly ranges: readonly LateSlots[]; readonly episodes: readonly StoredEpisode[] },
  newId: () => string,
): AlertStep {
  const groups = new Map<string, GroupState>(before.groups);
  const stored = [...episodes];
  const transitions: Transition[] = [];
  for (const range of ranges) {
    const { missed, last } = missedBy(rule, range, newId);
    for (const one of missed) {
      const { triggered, resolved } = one;
      const { key, value, episode: begun } = triggered;
      if (stored.some((episode) => episode.group_key === key && isTouching(one, episode, rule.interval))) continue;
      if (resolved === undefined) stored.push({ group_key: key, triggered_at: begun.since, resolved_at: null });
      // Whoever was told that it is triggered looks already.
      const isTold = !rule.isMuted && groups.get(key)?.episode === undefined;
      const episode = { ...begun, isTold };
      transitions.push({ ...triggered, episode, isTold, reason: CAME_LATE });
      if (resolved !== undefined) transitions.push({ ...resolved, episode, isTold });
      else groups.set(key, { breaches: rule.for, recoveries: 0, value: value ?? 0, episode });
    }
    if (range.isUpToNow) takeBreaches(groups, last.groups);
  }
  return { state: { ...before, groups }, transitions: withoutOldNews(transitions) };
}

/** Slots in a row that breach are more by now, where nothing is triggered. */
function takeBreaches(groups: Map<string, GroupState>, again: EvaluationState["groups"]): void {
  for (const [key, group] of again) {
    const before = groups.get(key);
    if (before?.episode !== undefined || group.episode !== undefined) continue;
    if (group.breaches > (before?.breaches ?? 0)) groups.set(key, group);
  }
}

interface Missed {
  readonly triggered: Transition;
  /** Absent if it lasts to the end of the slots. */
  readonly resolved: Transition | undefined;
  /** The first of the slots in a row that triggered it. */
  readonly firstSlot: number;
}

/** Replays the slots, and returns the episodes that begin with late ones. */
function missedBy(
  rule: Rule,
  { slots, late }: Pick<LateSlots, "slots" | "late">,
  newId: () => string,
): { readonly missed: readonly Missed[]; readonly last: EvaluationState } {
  const missed = new Map<string, Missed>();
  const begun = new Map<string, number>();
  let state: EvaluationState = WELL;
  for (const slot of slots) {
    // A slot that cannot be evaluated now says nothing, and was told if it lasted.
    if (!slot.outcome.ok) continue;
    const next = stepAlert({ ...rule, repeat: 0, isMuted: false }, state, slot, newId);
    state = next.state;
    for (const [key, { breaches }] of state.groups) if (breaches === 1) begun.set(key, slot.number);
    for (const transition of next.transitions) {
      const { key, episode } = transition;
      const own = missed.get(episode.id);
      if (transition.kind === "resolved") {
        if (own !== undefined) missed.set(episode.id, { ...own, resolved: transition });
        continue;
      }
      const firstSlot = begun.get(key) ?? slot.number;
      const isLate = [...late].some((number) => number >= firstSlot && number <= slot.number);
      if (isLate) missed.set(episode.id, { triggered: transition, resolved: undefined, firstSlot });
    }
  }
  return { missed: [...missed.values()], last: state };
}

/** Whether an episode that is stored is the same, or so near that nobody would tell them apart. */
function isTouching({ resolved, firstSlot }: Missed, episode: StoredEpisode, interval: number): boolean {
  const startMs = slotStartMs(firstSlot, interval);
  const stopMs = resolved === undefined ? Number.POSITIVE_INFINITY : slotStopMs(resolved.slot, interval);
  const endedMs = episode.resolved_at === null ? Number.POSITIVE_INFINITY : Date.parse(episode.resolved_at);
  return Date.parse(episode.triggered_at) <= stopMs && endedMs >= startMs;
}

/** The slots to read for late ones: with as many before and after as may decide what those have triggered. */
export function rangesAround(
  late: readonly number[],
  rule: { readonly for: number; readonly recover: number },
  { first, last }: Slots,
): Slots[] {
  const ranges: { first: number; last: number }[] = [];
  for (const slot of [...late].sort((a, b) => a - b)) {
    const from = Math.max(first, slot - rule.for + 1);
    const to = Math.min(last, slot + rule.for - 1 + rule.recover);
    const before = ranges.at(-1);
    if (before !== undefined && from <= before.last + 1) before.last = Math.max(before.last, to);
    else ranges.push({ first: from, last: to });
  }
  return ranges;
}
