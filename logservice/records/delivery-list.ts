import type { Kysely } from "kysely";
import type { Delivery } from "../../schema/rpc.generated.ts";
import type { AlertMessage } from "./alert-message.ts";
import type { ProjectKey } from "./projects.ts";
import type { DeliveryRow, DeliveryStatus, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** A delivery with the values of its group as they were measured. */
export interface ListedDelivery extends Omit<Delivery, "group"> {
  readonly group: AlertMessage["group"];
}

export interface DeliveryFilter {
  readonly alertId?: string | undefined;
  readonly notificationId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly limit: number;
  /** The last one of the previous page. */
  readonly after: { readonly at: string; readonly id: string } | undefined;
}

/** A page of the deliveries of a project, newest first. */
export async function findDeliveries(db: Db, project: ProjectKey, filter: DeliveryFilter): Promise<ListedDelivery[]> {
  const { alertId, notificationId, status, limit, after } = filter;
  let query = db
    .selectFrom("deliveries")
    .selectAll()
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id);
  if (alertId) query = query.where("alert_id", "=", alertId);
  if (notificationId) query = query.where("notification_id", "=", notificationId);
  if (status !== undefined) query = query.where("status", "=", status);
  if (after !== undefined) {
    query = query.where((where) =>
      where.or([
        where("created_at", "<", after.at),
        where.and([where("created_at", "=", after.at), where("id", "<", after.id)]),
      ]),
    );
  }
  const rows = await query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
  return rows.map(deliveryOf);
}

function deliveryOf(row: DeliveryRow): ListedDelivery {
  const { id, alert_id, notification_id, episode_id, kind, status, attempts, failure } = row;
  const { created_at, due_at, finished_at, message } = row;
  const { alert, group } = JSON.parse(message) as AlertMessage;
  const head = { id, alert_id, alert_name: alert.name, notification_id, episode_id, group, kind };
  return { ...head, status, attempts, failure, created_at, due_at, finished_at };
}
