import type { Kysely } from "kysely";
import type { AlertInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { addAlert, getAlert, listAlerts, removeAlert, updateAlert } from "../records/alerts.ts";
import { addToOutbox } from "../records/outbox.ts";
import { getProject } from "../records/projects.ts";
import type { Tables } from "../records/tables.ts";
import { type Call, changeRecords, type Handlers, projectOf } from "./call.ts";
import { readChanged } from "./read-input.ts";
import { readQuery } from "./read-range.ts";

export const alerts: Handlers<
  "get_alerts" | "get_alert" | "add_alert" | "update_alert" | "remove_alert" | "test_alert"
> = {
  async get_alerts({ records: { db } }, { project_id }, call) {
    const project = projectOf(call, project_id);
    await getProject(db, project);
    return { alerts: await listAlerts(db, project) };
  },

  async get_alert({ records }, { project_id, alert_id }, call) {
    return { alert: await getAlert(records.db, projectOf(call, project_id), alert_id) };
  },

  async add_alert(service, { alert }, call) {
    const { targetId: id } = await changeRecords(service, call, "add_alert", async (db, now) => {
      await check(db, call, alert);
      return { projectId: alert.project_id, targetId: await addAlert(db, call.grant.team, alert, now) };
    });
    return { id };
  },

  async update_alert(service, { alert: change }, call) {
    await changeRecords(service, call, "update_alert", async (db, now) => {
      const before = await getAlert(db, projectOf(call, change.project_id), change.id);
      const alert = readChanged("AlertInput", "alert", before, change);
      await check(db, call, alert);
      await updateAlert(db, before, alert, now);
      return { projectId: change.project_id, targetId: change.id };
    });
    return undefined;
  },

  async remove_alert(service, { project_id, alert_id }, call) {
    await changeRecords(service, call, "remove_alert", async (db) => {
      await getAlert(db, projectOf(call, project_id), alert_id);
      await removeAlert(db, alert_id);
      return { projectId: project_id, targetId: alert_id };
    });
    return undefined;
  },

  async test_alert(service, { alert }, call) {
    const { records, deliveries, nowMs } = service;
    const project = projectOf(call, alert.project_id);
    await check(records.db, call, alert);
    const message = await testMessage(records.db, project, alert, nowMs());
    const notification = await getNotification(records, project, alert.notification_id);
    // In the audit before it is sent: whoever sends many is seen.
    await changeRecords(service, call, "test_alert", async () => ({
      projectId: alert.project_id,
      targetId: alert.id ?? "",
    }));
    const outcome = await deliveries.test({ team: call.grant.team, notification, message }, call.signal);
    if (outcome.kind !== "delivered") throw new RpcError("notification_failed", outcome.reason);
    return undefined;
  },

  async preview_alert({ records: { db }, events }, { alert, start, stop }, call) {
    await check(db, call, alert);
    const { startMs, stopMs } = readRange({ start, stop });
    const project = await getProject(db, projectOf(call, alert.project_id));
    const preview = await previewAlert(events, project.events_key, alert, { startMs, stopMs, signal: call.signal });
    return {
      episodes: preview.episodes.map(({ group, value, triggeredAt, resolvedAt }) => {
        return { group: [...group], value, triggered_at: triggeredAt, resolved_at: resolvedAt ?? null };
      }),
      intervals: preview.intervals,
      missing_bytes: preview.missingBytes,
    };
  },

  async get_alert_episodes({ records: { db } }, { project_id, alert_id, limit = 100, cursor }, call) {
    const project = projectOf(call, project_id);
    await getProject(db, project);
    const found = await findEpisodes(db, project, { alertId: alert_id, limit: limit + 1, after: readCursor(cursor) });
    const { rows, ...more } = pageOf(found, limit, ({ triggered_at: at, id }) => ({ at, id }));
    return { episodes: [...rows], ...more };
  },
};

/** Checks what the schema cannot express. */
async function check(
  db: Kysely<Tables>,
  call: Call,
  { project_id, query, notification_id }: AlertInput,
): Promise<void> {
  await getProject(db, projectOf(call, project_id));
  readQuery(query, "alert.query");
  const notification = await db
    .selectFrom("notifications")
    .select("id")
    .where("id", "=", notification_id)
    .where("team_id", "=", call.grant.team)
    .where("project_id", "=", project_id)
    .executeTakeFirst();
  if (notification === undefined) {
    throw new RpcError("invalid", "alert.notification_id: must be a notification of the same project");
  }
}
