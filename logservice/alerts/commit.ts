import type { Kysely } from "kysely";
import { addDelivery } from "../records/deliveries.ts";
import type { Tables } from "../records/tables.ts";
import { addEpisode, endEpisode, noteEpisodeTold } from "./episodes.ts";
import { slotStopMs } from "./slots.ts";
import { type EvaluationState, FAILURE, type Transition } from "./state.ts";
import { type DueAlert, writeStates } from "./stored-states.ts";
import { type MessageFacts, messageOf } from "./tell.ts";

type Db = Kysely<Tables>;

/** The result of the evaluation of an alert, ready to be written. */
export interface Evaluation {
  readonly alert: DueAlert;
  readonly before: EvaluationState;
  readonly after: EvaluationState;
  /** The first slot that is not evaluated by it. */
  readonly nextSlot: number;
  /** One slot in so many is evaluated from now on. */
  readonly pace: number;
  /** The greatest number of a late minute that it saw, if it was for late events. */
  readonly lateSeen?: number;
  readonly transitions: readonly Transition[];
  /** The events that are told with a transition. */
  readonly samples: ReadonlyMap<Transition, MessageFacts["samples"]>;
}

/**
 * Writes an evaluation. It is dropped if the alert was changed, removed or evaluated since it was read: then nothing is
 * written. Returns how many deliveries were added, or undefined if it was dropped.
 */
export async function writeEvaluation(db: Db, evaluation: Evaluation, now: string): Promise<number | undefined> {
  const { alert, before, after, nextSlot, pace, transitions, samples, lateSeen = alert.late_seen } = evaluation;
  const changed = await db
    .updateTable("alerts")
    .set({
      next_slot: nextSlot,
      ...(alert.next_slot === 0 && { first_slot: nextSlot }),
      pace,
      late_seen: lateSeen,
      failures: after.failures,
      failure: after.failure,
      failing_episode_id: after.failing?.id ?? "",
      triggered: [...after.groups.values()].some(({ episode }) => episode !== undefined) ? 1 : 0,
      evaluated_at: now,
    })
    .where("id", "=", alert.id)
    .where("revision", "=", alert.revision)
    .where("next_slot", "=", alert.next_slot)
    .where("late_seen", "=", alert.late_seen)
    .executeTakeFirst();
  if (Number(changed.numUpdatedRows) === 0) return undefined;
  await writeStates(db, alert, before.groups, after.groups);
  let added = 0;
  for (const transition of transitions) {
    await writeEpisode(db, alert, transition);
    if (!transition.isTold) continue;
    await addDelivery(db, deliveryOf(alert, transition, samples.get(transition)), now);
    added++;
  }
  return added;
}

async function writeEpisode(db: Db, alert: DueAlert, transition: Transition): Promise<void> {
  const { kind, key, value, stop, episode, isNew, isTold, reason } = transition;
  if (kind === "resolved") return endEpisode(db, episode.id, stop);
  if (!isNew) return isTold ? noteEpisodeTold(db, episode.id, alert.notification_id) : undefined;
  const isFailure = key === FAILURE;
  const about = { id: episode.id, group_key: isFailure ? "" : key, reason, triggered_at: episode.since };
  await addEpisode(db, alert, {
    ...{ ...about, kind: isFailure ? "failed" : "triggered", value: value ?? 0, is_told: isTold ? 1 : 0 },
  });
}

function deliveryOf(alert: DueAlert, transition: Transition, samples: MessageFacts["samples"]) {
  const { kind, key, slot, value, episode, reason } = transition;
  const { id, team_id, project_id, notification_id, interval } = alert;
  const facts = {
    ...{ key, slot, value, episodeId: episode.id, since: episode.since, reason, isOver: kind === "resolved" },
    ...(samples && { samples }),
  };
  return {
    ...{ team_id, project_id, alert_id: id, notification_id, group_key: key, kind },
    slot: slotStopMs(slot, interval),
    message: messageOf(alert, facts),
  };
}
