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
    await changeRecords(service, call, "test_alert", async (db) => {
      await check(db, call, alert);
      const { project_id, notification_id } = alert;
      const team_id = call.grant.team;
      const message = { kind: "test_alert", team_id, project_id, notification_id, payload: JSON.stringify(alert) };
      await addToOutbox(db, message, service.nowMs());
      return { projectId: project_id, targetId: alert.id ?? "" };
    });
    return undefined;
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
