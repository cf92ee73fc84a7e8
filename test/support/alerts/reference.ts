// What an alert tells, by looking at its whole history again for each slot: slow, plain, and without the state machine.
import type { Rule, SlotOutcome } from "../../../logservice/alerts/state.ts";

export interface Past {
  readonly outcome: SlotOutcome;
  readonly isMuted: boolean;
}

export interface Expected {
  /** Slot, kind, group, value and the beginning of the episode. */
  readonly told: string[];
  readonly triggered: string[];
  readonly isFailing: boolean;
}

export function referenceOf(rule: Rule, history: readonly Past[], stopOf: (slot: number) => string): Expected {
  const found = history.flatMap(({ outcome }) => (outcome.ok ? [...outcome.value.keys()] : []));
  const groups = [...new Set(found)].map((key) => ({ key, ...groupOf(rule, history, key, stopOf) }));
  const failures = failuresOf(history, stopOf);
  return {
    told: [...groups.flatMap(({ told }) => told), ...failures.told],
    triggered: groups.flatMap(({ key, isOpen }) => (isOpen ? [key] : [])),
    isFailing: failures.isOpen,
  };
}

interface Told {
  readonly told: string[];
  readonly isOpen: boolean;
}

/** Failed slots are as if they were not there: a group is looked at in the others alone. */
function groupOf(rule: Rule, history: readonly Past[], key: string, stopOf: (slot: number) => string): Told {
  const told: string[] = [];
  const seen: boolean[] = [];
  let open: { since: string; toldAt: number | undefined } | undefined;
  for (const [slot, { outcome, isMuted }] of history.entries()) {
    if (!outcome.ok) continue;
    const value = outcome.value.get(key);
    // A group that is not there counts nothing, but only if there was something to look after.
    const isKnown = value !== undefined || open !== undefined || seen.at(-1) === true;
    const number = value ?? (rule.isCount && isKnown ? 0 : undefined);
    seen.push(number !== undefined && compares(rule, number));
    const shown = number ?? lastValue(history, key, slot, rule);
    const say = (kind: string, since: string) => told.push(`${slot} ${kind} ${key} ${shown} ${since}`);
    if (open === undefined) {
      if (seen.length < rule.for || seen.slice(-rule.for).includes(false)) continue;
      open = { since: stopOf(slot), toldAt: isMuted ? undefined : slot };
      if (!isMuted) say("triggered", open.since);
      seen.splice(0, seen.length, true);
      continue;
    }
    if (seen.length >= rule.recover && !seen.slice(-rule.recover).includes(true)) {
      if (open.toldAt !== undefined) say("resolved", open.since);
      open = undefined;
      continue;
    }
    if (isMuted) continue;
    if (open.toldAt === undefined) {
      say("triggered", open.since);
      open.toldAt = slot;
    } else if (rule.repeat > 0 && (slot - open.toldAt) * rule.interval >= rule.repeat) {
      say("repeated", open.since);
      open.toldAt = slot;
    }
  }
  return { told, isOpen: open !== undefined };
}

/** The last number that was known before a slot. */
function lastValue(history: readonly Past[], key: string, slot: number, rule: Rule): number {
  if (rule.isCount) return 0;
  const values = history.slice(0, slot).map(({ outcome }) => (outcome.ok ? outcome.value.get(key) : undefined));
  return values.findLast((value) => value !== undefined) ?? 0;
}

function failuresOf(history: readonly Past[], stopOf: (slot: number) => string): Told {
  const told: string[] = [];
  let inRow = 0;
  let open: { since: string; isTold: boolean } | undefined;
  for (const [slot, { outcome, isMuted }] of history.entries()) {
    inRow = outcome.ok ? 0 : inRow + 1;
    if (outcome.ok) {
      if (open?.isTold) told.push(`${slot} resolved failure null ${open.since}`);
      open = undefined;
      continue;
    }
    if (inRow < 3) continue;
    open ??= { since: stopOf(slot), isTold: false };
    if (open.isTold || isMuted) continue;
    told.push(`${slot} failed failure null ${open.since}`);
    open.isTold = true;
  }
  return { told, isOpen: open !== undefined };
}

function compares({ operator, threshold }: Rule, value: number): boolean {
  if (operator === ">") return value > threshold;
  if (operator === ">=") return !(value < threshold);
  return operator === "<" ? value < threshold : !(value > threshold);
}
