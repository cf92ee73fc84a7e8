import { type AlertStep, type EvaluationState, type Rule, type Slot, stepAlert, type Transition } from "./state.ts";

/**
 * Moves an alert by the slots that are due, oldest first. After a downtime there are many: what happened in them is over, so
 * at most one trigger and one resolution of a group are told, with their true times. These are the end of what was told
 * before, and the trigger that lasts; or, if neither is there, the last trigger and its end.
 */
export function replay(rule: Rule, before: EvaluationState, slots: readonly Slot[], newId: () => string): AlertStep {
  const transitions: Transition[] = [];
  let state = before;
  for (const slot of slots) {
    const next = stepAlert(rule, state, slot, newId);
    state = next.state;
    transitions.push(...next.transitions);
  }
  return { state, transitions: slots.length > 1 ? withoutOldNews(transitions) : transitions };
}

/** The part that is told of transitions that are over: see replay. */
export function withoutOldNews(transitions: readonly Transition[]): Transition[] {
  const byKey = new Map<string, Transition[]>();
  for (const one of transitions) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  const news = new Set([...byKey.values()].flatMap(newsOf));
  return transitions.map((one) => ({ ...one, isTold: one.isTold && news.has(one) }));
}

/** Returns those transitions of one group that are told. */
function newsOf(transitions: readonly Transition[]): Transition[] {
  const changes = transitions.filter(({ kind }) => kind !== "repeated");
  const [first] = changes;
  const last = changes.findLast(({ kind }) => kind === "triggered" || kind === "failed");
  const ended = first?.kind === "resolved" && first.isTold ? first : undefined;
  if (last === undefined) {
    const repeated = transitions.findLast(({ kind }) => kind === "repeated");
    if (ended !== undefined) return [ended];
    return repeated === undefined ? [] : [repeated];
  }
  const end = changes.find(({ kind, episode }) => kind === "resolved" && episode.id === last.episode.id);
  if (end === undefined) return ended === undefined ? [last] : [ended, last];
  return ended === undefined ? [last, end] : [ended];
}
