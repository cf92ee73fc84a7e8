import type { Kysely } from "kysely";
import type { Alert, AlertInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import type { ProjectKey } from "../records/projects.ts";
import { changedAt, newId } from "../records/row.ts";
import type { AlertRow, Tables } from "../records/tables.ts";
import { transact } from "../records/transact.ts";
import { closeEpisodes, lastMark, retellEpisodes } from "./close.ts";
import { keptThreshold } from "./disk.ts";
import { latenessOf } from "./lateness.ts";
import { evaluatedAtMs, firstSlotFrom, MINUTE_MS } from "./slots.ts";
import { removeStates } from "./stored-states.ts";

type Db = Kysely<Tables>;

export async function listAlerts(db: Db, project: ProjectKey): Promise<Alert[]> {
  const rows = await db
    .selectFrom("alerts")
    .selectAll()
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .orderBy("name")
    .orderBy("id")
    .execute();
  const lateness = await latenessOf(db, project);
  return rows.map((row) => alertOf(row, lateness));
}

/** The alert, or `not_found`, also if it belongs to another project. */
export async function getAlert(db: Db, project: ProjectKey, id: string): Promise<Alert> {
  const row = await db
    .selectFrom("alerts")
    .selectAll()
    .where("id", "=", id)
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .executeTakeFirst();
  if (row === undefined) throw new RpcError("not_found", `there is no alert ${JSON.stringify(id)} in this project`);
  return alertOf(row, await latenessOf(db, project));
}

/** Returns the id, and when it will be evaluated first, RFC 3339. */
export async function addAlert(
  db: Db,
  team_id: string,
  alert: AlertInput,
  now: string,
): Promise<{ readonly id: string; readonly first_evaluated_at: string }> {
  const id = newId();
  const row = rowOf(alert);
  // Events from before it was added may be of another time of the project: the first slot is one that begins afterwards.
  const next_slot = firstSlotFrom(Date.parse(now), row.interval);
  await db
    .insertInto("alerts")
    .values({
      ...row,
      ...NEW,
      next_slot,
      first_slot: next_slot,
      late_seen: 0,
      team_id,
      id,
      created_at: now,
      updated_at: now,
    })
    .execute();
  const lateness = await latenessOf(db, { team_id, id: row.project_id });
  return { id, first_evaluated_at: timeOf(evaluatedAtMs({ id, interval: row.interval, lateness }, next_slot)) };
}

const timeOf = (ms: number) => new Date(ms).toISOString();

/**
 * Changes an alert. If what it counts or compares has changed, it is evaluated as a new one, and what it had told is closed.
 * If it has another notification, what is open is closed at the old one and told to the new one.
 */
export async function updateAlert(db: Db, before: Alert, alert: AlertInput, now: string): Promise<void> {
  const row = rowOf(alert);
  const { id } = before;
  const isReset = (["query", "operator", "threshold", "interval"] as const).some((key) => row[key] !== before[key]);
  if (isReset) await closeEpisodes(db, id, "closed by a change of the alert", now);
  const first = isReset ? await firstSlotAfterReset(db, id, row.interval, now) : undefined;
  const reset = first !== undefined && { ...NEW, next_slot: first, first_slot: first };
  await db
    .updateTable("alerts")
    .set((alerts) => ({
      ...{ ...row, ...reset, updated_at: changedAt(now)(alerts) },
      // An evaluation under way is of the alert before the change, whatever changed: what it finds is dropped.
      revision: alerts("revision", "+", 1),
    }))
    .where("id", "=", id)
    .execute();
  if (isReset) await removeStates(db, id);
  else if (row.notification_id !== before.notification_id) {
    const { notification_id, muted } = row;
    await retellEpisodes(db, id, { notification_id, isMuted: muted === 1 }, now);
  }
}

/** Removes an alert, and closes what it had told. Its episodes are kept for a while. */
export async function removeAlert(db: Db, id: string, now: string): Promise<void> {
  await closeEpisodes(db, id, "closed: the alert was removed", now);
  await db.deleteFrom("alerts").where("id", "=", id).execute();
}

/** After a clock was set back, slots that were told already are not evaluated again. */
async function firstSlotAfterReset(db: Db, id: string, interval: number, now: string): Promise<number> {
  const nowMs = Date.parse(now);
  const toldMs = await lastMark(db, id);
  // A clock that was wrong by more had better not silence the alert until then.
  return firstSlotFrom(toldMs - nowMs < DAY_MS ? Math.max(nowMs, toldMs) : nowMs, interval);
}

const DAY_MS = 24 * 3_600_000;

/**
 * Has alerts begin anew that wait for a time more than a day ahead: a clock was wrong, and they would be silent until then.
 * What was told of that time gives its place in it back.
 */
export async function beginAheadAnew(db: Db, nowMs: number): Promise<void> {
  const latest = Math.floor((nowMs + DAY_MS) / MINUTE_MS);
  await transact(db, async (transaction) => {
    const ahead = await transaction
      .selectFrom("alerts")
      .select(["id", "interval"])
      .where((where) => {
        // One that is evaluated seldom may wait for longer.
        const slot = where.parens(where(where("next_slot", "-", where.ref("pace")), "+", 1));
        return where(where(slot, "*", where.ref("interval")), ">", latest);
      })
      .execute();
    for (const { id, interval } of ahead) {
      const next_slot = firstSlotFrom(nowMs, interval);
      await transaction.updateTable("alerts").set({ next_slot, first_slot: next_slot }).where("id", "=", id).execute();
      await transaction
        .updateTable("deliveries")
        .set((row) => ({ slot: row("slot", "*", -1) }))
        .where("alert_id", "=", id)
        .where("slot", ">", nowMs)
        .execute();
    }
  });
}

/** The names of the alerts that use a notification. */
export async function alertsUsing(db: Db, notificationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("alerts")
    .select("name")
    .where("notification_id", "=", notificationId)
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

/** The columns of an alert that was never evaluated. */
const NEW = {
  triggered: 0,
  revision: 0,
  failures: 0,
  failure: "",
  failing_episode_id: "",
  evaluated_at: "",
  pace: 1,
} as const;

function alertOf(row: AlertRow, lateness: number): Alert {
  const { team_id: _, revision: __, next_slot, failures: ____, failing_episode_id, pace, ...others } = row;
  const { first_slot: _____, late_seen: ______, ...fields } = others;
  const state = failing_episode_id !== "" ? "failing" : row.triggered === 1 ? "triggered" : "ok";
  const { evaluated_at } = row;
  // Alerts of before there was an evaluation begin with a slot that nobody has chosen yet.
  const isNew = evaluated_at === "" && next_slot > 0;
  return {
    ...fields,
    muted: row.muted === 1,
    triggered: row.triggered === 1,
    state,
    evaluated_every: row.interval * pace,
    first_evaluated_at: isNew ? timeOf(evaluatedAtMs({ ...row, lateness }, next_slot)) : null,
    evaluated_at: evaluated_at === "" ? null : evaluated_at,
  } as Alert;
}

function rowOf(alert: AlertInput) {
  const {
    project_id,
    name,
    description = "",
    kind = "events",
    query = "",
    severity,
    operator,
    notification_id,
  } = alert;
  const { limit = 10, interval = 5, muted = false, recover = 1, repeat = 0, managed_by = "" } = alert;
  return {
    project_id,
    name,
    description,
    kind,
    query,
    severity,
    operator,
    threshold: keptThreshold(alert),
    limit,
    interval,
    notification_id,
    muted: muted ? 1 : 0,
    for: alert.for ?? 1,
    recover,
    repeat,
    managed_by,
  };
}
