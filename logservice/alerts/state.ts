/**
 * Moves an alert by one slot: what it is after that, and what has changed. It takes what was found there, a number for each
 * group, or why nothing was. `newId` makes ids of episodes.
 */
export function stepAlert(rule: Rule, state: EvaluationState, slot: Slot, newId: () => string): AlertStep {
  return slot.outcome.ok
    ? evaluated(rule, state, { ...slot, values: slot.outcome.value }, newId)
    : failed(rule, state, { ...slot, reason: slot.outcome.problems.join("; ") }, newId);
}

/** The condition of an alert, and how it is evaluated. */
export interface Rule {
  readonly operator: string;
  readonly threshold: number;
  /** Slots in a row that breach before it is triggered, and that do not before it is resolved. */
  readonly for: number;
  readonly recover: number;
  /** Minutes after which it is told again; 0 is never. */
  readonly repeat: number;
  /** Length of a slot in minutes. */
  readonly interval: number;
  readonly isMuted: boolean;
  /** Whether a group without events has the value 0; otherwise it has none, which never breaches. */
  readonly isCount: boolean;
}

export interface EvaluationState {
  /** By the key of the group, "" without groups. Groups that are well are not in it. */
  readonly groups: ReadonlyMap<string, GroupState>;
  /** Failed evaluations in a row, and why the last one failed, or "". */
  readonly failures: number;
  readonly failure: string;
  /** The episode of the failure once it is one. */
  readonly failing: OpenEpisode | undefined;
}

export interface GroupState {
  /** Slots in a row that breach, and that do not, up to now. */
  readonly breaches: number;
  readonly recoveries: number;
  /** The last value. */
  readonly value: number;
  /** Undefined until it is triggered. */
  readonly episode: OpenEpisode | undefined;
}

export interface OpenEpisode {
  readonly id: string;
  /** When it began, RFC 3339: the end of its first slot. */
  readonly since: string;
  readonly isTold: boolean;
  /** The slot that was told last. */
  readonly toldSlot: number;
}

/** The outcome of a slot: the number of each group by its key, or why it could not be evaluated. */
export type SlotOutcome =
  | { readonly ok: true; readonly value: ReadonlyMap<string, number> }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      /** Whether it was stopped because it took too long. */
      readonly isOverTime?: boolean;
      /** Whether the store failed, which may be for a moment. */
      readonly isMomentary?: boolean;
    };

export interface Slot {
  readonly number: number;
  /** Its end, RFC 3339. */
  readonly stop: string;
  readonly outcome: SlotOutcome;
}

/** Something that may be told. */
export interface Transition {
  readonly kind: "triggered" | "resolved" | "repeated" | "failed";
  /** The group, or FAILURE. */
  readonly key: string;
  readonly slot: number;
  readonly stop: string;
  /** Null for failures. */
  readonly value: number | null;
  readonly episode: OpenEpisode;
  /** Whether the episode begins with it. */
  readonly isNew: boolean;
  readonly isTold: boolean;
  /** Why the query failed, or why the episode ended if not by its value; else "". */
  readonly reason: string;
}

export interface AlertStep {
  readonly state: EvaluationState;
  readonly transitions: readonly Transition[];
}

/** The key of transitions that are about failures. No group has it: their keys are "" or JSON of a list. */
export const FAILURE = "failure";

/** One failure may be a moment's; so many in a row are told. */
const TOLD_FAILURES = 3;

export const WELL: EvaluationState = { groups: new Map(), failures: 0, failure: "", failing: undefined };

type EvaluatedSlot = Slot & { readonly values: ReadonlyMap<string, number> };

function evaluated(rule: Rule, state: EvaluationState, slot: EvaluatedSlot, newId: () => string): AlertStep {
  const groups = new Map<string, GroupState>();
  const transitions: Transition[] = [];
  if (state.failing !== undefined) {
    // Also if it is muted by now: the end of what was told wakes nobody, and a pager would stay open without it.
    const { isTold } = state.failing;
    transitions.push({
      ...failureAt(slot, state.failing),
      kind: "resolved",
      isTold,
      reason: "it can be evaluated again",
    });
  }
  for (const key of new Set([...state.groups.keys(), ...slot.values.keys()])) {
    const value = slot.values.get(key) ?? (rule.isCount ? 0 : undefined);
    const { next, transition } = moved(rule, state.groups.get(key) ?? NEW_GROUP, { ...slot, key, value }, newId);
    if (next !== undefined) groups.set(key, next);
    if (transition !== undefined) transitions.push(transition);
  }
  return { state: { ...WELL, groups }, transitions };
}

const NEW_GROUP: GroupState = { breaches: 0, recoveries: 0, value: 0, episode: undefined };

/** A group in a slot; without a value it does not breach. */
type GroupSlot = Slot & { readonly key: string; readonly value: number | undefined };

function moved(rule: Rule, before: GroupState, slot: GroupSlot, newId: () => string): Moved {
  const isBreach = slot.value !== undefined && breaches(rule, slot.value);
  const value = slot.value ?? before.value;
  const counts = isBreach
    ? { breaches: before.breaches + 1, recoveries: 0, value }
    : { breaches: 0, recoveries: before.recoveries + 1, value };
  const { episode } = before;
  const { key, stop, number } = slot;
  const about = { key, slot: number, stop, value, reason: "" };
  if (episode === undefined) {
    if (!isBreach) return {};
    if (counts.breaches < rule.for) return { next: { ...counts, episode: undefined } };
    const newEpisode = { id: newId(), since: stop, isTold: !rule.isMuted, toldSlot: number };
    const transition = {
      ...about,
      kind: "triggered",
      episode: newEpisode,
      isNew: true,
      isTold: newEpisode.isTold,
    } as const;
    return { next: { ...counts, episode: newEpisode }, transition };
  }
  if (counts.recoveries >= rule.recover) {
    const { isTold } = episode;
    return { transition: { ...about, kind: "resolved", episode, isNew: false, isTold } };
  }
  const kind = dueKind(rule, episode, number);
  if (kind === undefined) return { next: { ...counts, episode } };
  const toldEpisode = { ...episode, isTold: true, toldSlot: number };
  const transition = { ...about, kind, episode: toldEpisode, isNew: false, isTold: true };
  return { next: { ...counts, episode: toldEpisode }, transition };
}

interface Moved {
  /** Absent if the group is well. */
  readonly next?: GroupState;
  readonly transition?: Transition;
}

/**
 * Decides what to tell of an episode that goes on: that it was triggered if nobody was told, or again after a while.
 */
function dueKind(rule: Rule, episode: OpenEpisode, slot: number): "triggered" | "repeated" | undefined {
  if (rule.isMuted) return undefined;
  if (!episode.isTold) return "triggered";
  const isDue = rule.repeat > 0 && (slot - episode.toldSlot) * rule.interval >= rule.repeat;
  return isDue ? "repeated" : undefined;
}

export function breaches({ operator, threshold }: Pick<Rule, "operator" | "threshold">, value: number): boolean {
  switch (operator) {
    case ">":
      return value > threshold;
    case ">=":
      return value >= threshold;
    case "<":
      return value < threshold;
    default:
      return value <= threshold;
  }
}

type Failed = Slot & { readonly reason: string };

/** Groups stay as they are: what is not known neither triggers nor resolves. */
function failed(rule: Rule, before: EvaluationState, slot: Failed, newId: () => string): AlertStep {
  const state = { ...before, failures: before.failures + 1, failure: slot.reason };
  if (state.failures < TOLD_FAILURES && before.failing === undefined) return { state, transitions: [] };
  if (before.failing !== undefined && (before.failing.isTold || rule.isMuted)) return { state, transitions: [] };
  const isNew = before.failing === undefined;
  const { id, since } = before.failing ?? { id: newId(), since: slot.stop };
  const failing = { id, since, isTold: !rule.isMuted, toldSlot: slot.number };
  const about = { ...failureAt(slot, failing), isNew, isTold: failing.isTold };
  return { state: { ...state, failing }, transitions: [{ ...about, kind: "failed", reason: slot.reason }] };
}

const failureAt = ({ number, stop }: Slot, episode: OpenEpisode) =>
  ({ key: FAILURE, slot: number, stop, value: null, episode, isNew: false }) as const;
