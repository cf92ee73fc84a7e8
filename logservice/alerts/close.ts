import type { Kysely } from "kysely";
import { addDelivery } from "../records/deliveries.ts";
import type { DeliveryKind, EpisodeRow, Tables } from "../records/tables.ts";
import { MINUTE_MS } from "./slots.ts";
import { FAILURE } from "./state.ts";
import { type DueAlert, toldAlert } from "./stored-states.ts";
import { messageOf } from "./tell.ts";

type Db = Kysely<Tables>;

/**
 * Ends the open episodes of an alert that is about to be changed or removed, and tells it to whom they were told: nobody
 * else would close what they opened there. Its states are not changed.
 */
export async function closeEpisodes(db: Db, alertId: string, reason: string, now: string): Promise<void> {
  await withOpenEpisodes(db, alertId, now, async (alert, open, mark) => {
    const { id, is_told } = open.row;
    await db.updateTable("episodes").set({ resolved_at: now, reason }).where("id", "=", id).execute();
    if (is_told === 1) await tell(db, alert, open, { kind: "resolved", mark, reason, now });
  });
}

/**
 * Closes the open episodes of an alert at its notification of before, and tells them to the new one, unless it is muted:
 * then they are told as soon as it is not.
 */
export async function retellEpisodes(
  db: Db,
  alertId: string,
  { notification_id, isMuted }: { readonly notification_id: string; readonly isMuted: boolean },
  now: string,
): Promise<void> {
  await withOpenEpisodes(db, alertId, now, async (alert, open, mark) => {
    const { id, is_told, kind, reason } = open.row;
    const wasTold = is_told === 1;
    if (wasTold) await tell(db, alert, open, { kind: "resolved", mark, reason: CHANGED_TARGET, now });
    const isTold = wasTold && !isMuted;
    await db
      .updateTable("episodes")
      .set({ notification_id, is_told: isTold ? 1 : 0 })
      .where("id", "=", id)
      .execute();
    if (!isTold) return;
    await tell(db, alert, { ...open, row: { ...open.row, notification_id } }, { kind, mark, reason, now });
  });
}

const CHANGED_TARGET = "the alert has another notification now";

interface OpenRow {
  readonly row: EpisodeRow;
  /** The key of its deliveries. */
  readonly key: string;
  /** The last value; null for failures. */
  readonly value: number | null;
}

async function withOpenEpisodes(
  db: Db,
  alertId: string,
  now: string,
  use: (alert: DueAlert, open: OpenRow, mark: number) => Promise<void>,
): Promise<void> {
  const alert = await toldAlert(db, alertId);
  if (alert === undefined) return;
  const states = await db
    .selectFrom("alert_states")
    .select(["episode_id", "value"])
    .where("alert_id", "=", alertId)
    .where("is_triggered", "=", 1)
    .execute();
  const values = new Map<string, number | null>(states.map(({ episode_id, value }) => [episode_id, value]));
  if (alert.failing_episode_id !== "") values.set(alert.failing_episode_id, null);
  if (values.size === 0) return;
  const mark = await markOfChange(db, alertId, Date.parse(now));
  for (const [id, value] of values) {
    const row = await db.selectFrom("episodes").selectAll().where("id", "=", id).executeTakeFirst();
    if (row === undefined) continue;
    await use(alert, { row, value, key: row.kind === "failed" ? FAILURE : row.group_key }, mark);
  }
}

/** A time for deliveries that no slot of this alert has made or will make: slots end at whole minutes. */
async function markOfChange(db: Db, alertId: string, nowMs: number): Promise<number> {
  const lastMs = await lastMark(db, alertId);
  const mark = Math.max(nowMs, lastMs + 1);
  return mark % MINUTE_MS === 0 ? mark + 1 : mark;
}

/** The greatest time that a delivery of an alert is named by; 0 if there is none. */
export async function lastMark(db: Db, alertId: string): Promise<number> {
  const { last } = await db
    .selectFrom("deliveries")
    .select((row) => row.fn.max("slot").as("last"))
    .where("alert_id", "=", alertId)
    .executeTakeFirstOrThrow();
  return Number(last ?? 0);
}

interface Telling {
  readonly kind: DeliveryKind;
  readonly mark: number;
  readonly reason: string;
  readonly now: string;
}

async function tell(db: Db, alert: DueAlert, { row, key, value }: OpenRow, telling: Telling): Promise<void> {
  const { kind, mark, reason, now } = telling;
  const { id: episodeId, notification_id, triggered_at: since } = row;
  const facts = {
    key,
    slot: Math.max(0, alert.next_slot - 1),
    value,
    episodeId,
    since,
    reason,
    isOver: kind === "resolved",
  };
  const { id: alert_id, team_id, project_id } = alert;
  await addDelivery(
    db,
    {
      ...{ team_id, project_id, alert_id, notification_id, group_key: key, kind, slot: mark },
      message: messageOf(alert, facts),
    },
    now,
  );
}
