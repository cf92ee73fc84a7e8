import type { Kysely } from "kysely";
import type { Alert, AlertInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import type { ProjectKey } from "./projects.ts";
import { changedAt, newId } from "./row.ts";
import type { AlertRow, Tables } from "./tables.ts";

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
  return rows.map(alertOf);
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
  return alertOf(row);
}

export async function addAlert(db: Db, team_id: string, alert: AlertInput, now: string): Promise<string> {
  const id = newId();
  await db
    .insertInto("alerts")
    .values({ ...rowOf(alert), ...NEW, team_id, id, created_at: now, updated_at: now })
    .execute();
  return id;
}

/** Changes an alert. If what it counts or compares has changed, it is no longer triggered. */
export async function updateAlert(db: Db, before: Alert, alert: AlertInput, now: string): Promise<void> {
  const row = rowOf(alert);
  const isReset = (["query", "operator", "threshold", "interval"] as const).some((key) => row[key] !== before[key]);
  await db
    .updateTable("alerts")
    .set({ ...row, updated_at: changedAt(now), ...(isReset && { triggered: 0 }) })
    .where("id", "=", before.id)
    .execute();
}

export async function removeAlert(db: Db, id: string): Promise<void> {
  await db.deleteFrom("alerts").where("id", "=", id).execute();
}

/** How many alerts use a notification. */
export async function countAlertsUsing(db: Db, notificationId: string): Promise<number> {
  const rows = await db.selectFrom("alerts").select("id").where("notification_id", "=", notificationId).execute();
  return rows.length;
}

/** What an alert has that was never evaluated. */
const NEW = {
  ...{ triggered: 0, revision: 0, next_slot: 0 },
  ...{ failures: 0, failure: "", failing_episode_id: "", evaluated_at: "" },
} as const;

function alertOf(row: AlertRow): Alert {
  const { team_id: _, revision: __, next_slot: ___, failures: ____, failing_episode_id, ...shown } = row;
  const state = failing_episode_id !== "" ? "failing" : row.triggered === 1 ? "triggered" : "ok";
  const { evaluated_at } = row;
  return {
    ...shown,
    muted: row.muted === 1,
    triggered: row.triggered === 1,
    state,
    evaluated_at: evaluated_at === "" ? null : evaluated_at,
  } as Alert;
}

function rowOf(alert: AlertInput) {
  const { project_id, name, description = "", query, severity, operator, notification_id } = alert;
  const { threshold = 0, limit = 10, interval = 5, muted = false, recover = 1, repeat = 0 } = alert;
  return {
    project_id,
    name,
    description,
    query,
    severity,
    operator,
    threshold,
    limit,
    interval,
    notification_id,
    muted: muted ? 1 : 0,
    for: alert.for ?? 1,
    recover,
    repeat,
  };
}
