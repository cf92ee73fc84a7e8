// Events whose numbers follow from the time alone: every process makes the same ones, and the test knows what alerts tell.
import { stepAlert, type Transition, WELL } from "../../../logservice/alerts/state.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import type { AlertRow } from "../../../logservice/records/tables.ts";
import { randomOf } from "../random.ts";
import { BEGIN_MS, MINUTE_MS } from "./world.ts";

export const LEVELS = ["error", "warn", "info"] as const;
/** Minutes that have events. */
export const MINUTES = 500;
export const FIRST_SLOT = BEGIN_MS / MINUTE_MS;

/** The number of events of a level in a slot of a minute. */
export const countAt = (level: string, slot: number) =>
  slot < FIRST_SLOT + MINUTES ? randomOf(slot * 31 + level.charCodeAt(0)).below(5) : 0;

export async function fill(events: EventsStore, project: string): Promise<void> {
  for (const level of LEVELS) {
    const batch = Array.from({ length: MINUTES }, (_, minute) =>
      Array.from({ length: countAt(level, FIRST_SLOT + minute) }, (_, i) => ({
        timestamp: new Date((FIRST_SLOT + minute) * MINUTE_MS + i * 11_000).toISOString(),
        ...{ level, message: `${level} ${i}`, fields: {} },
      })),
    );
    await events.append(project, batch.flat());
  }
}

/** All that happens to an alert from its first slot up to the one that is evaluated next. */
export function happened(alert: AlertRow, firstSlot: number): Transition[] {
  const { operator, threshold, interval, recover, repeat } = alert;
  const rule = { operator, threshold, interval, recover, repeat, for: alert.for, isMuted: false, isCount: true };
  const transitions: Transition[] = [];
  let state = WELL;
  for (let number = firstSlot; number < alert.next_slot; number++) {
    const outcome = { ok: true, value: new Map([["", countAt(alert.query, number)]]) } as const;
    const stop = new Date((number + 1) * MINUTE_MS).toISOString();
    const next = stepAlert(rule, state, { number, stop, outcome }, () => `e${number}`);
    state = next.state;
    transitions.push(...next.transitions);
  }
  return transitions;
}
