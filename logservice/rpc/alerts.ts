import type { Kysely } from "kysely";
import type { AlertInput } from "../../schema/rpc.generated.ts";
import { isInstallationOwner } from "../access/installation-owner.ts";
import { checkAlertQuery } from "../alerts/alert-query.ts";
import { diskAlertProblem } from "../alerts/disk.ts";
import { listEpisodes } from "../alerts/episodes.ts";
import { plainGroup } from "../alerts/group.ts";
import { latenessOf } from "../alerts/lateness.ts";
import { previewAlert } from "../alerts/preview.ts";
import { addAlert, getAlert, listAlerts, removeAlert, updateAlert } from "../alerts/stored-alerts.ts";
import { testMessage } from "../alerts/test-message.ts";
import { RpcError } from "../error.ts";
import { refuseClaimed, refuseUnmanaging } from "../records/managed.ts";
import { getNotification } from "../records/notifications.ts";
import { eventsKeyOf, getProject } from "../records/projects.ts";
import type { Tables } from "../records/tables.ts";
import { refuseMore } from "../records/team-limits.ts";
import { firstOwnerOf, teamNamed } from "../records/teams.ts";
import { askerOf, type Call, changeRecords, type Handlers, projectOf } from "./call.ts";
import { pageOf, readCursor } from "./page-cursor.ts";
import { readChanged } from "./read-input.ts";
import { readRange } from "./read-range.ts";

export const alerts: Handlers<
  | "get_alerts"
  | "get_alert"
  | "add_alert"
  | "update_alert"
  | "remove_alert"
  | "test_alert"
  | "preview_alert"
  | "get_alert_episodes"
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
    let firstEvaluatedAt = "";
    const { targetId: id } = await changeRecords(service, call, async (db, now) => {
      await refuseMore(db, call.grant.team, "alerts", service.teamLimits);
      await check(db, call, alert);
      await refuseClaimed(db, "alerts", projectOf(call, alert.project_id), alert);
      const added = await addAlert(db, call.grant.team, alert, now);
      firstEvaluatedAt = added.first_evaluated_at;
      return { projectId: alert.project_id, targetId: added.id, detail: alert.name };
    });
    service.evaluator.changed();
    return { id, first_evaluated_at: firstEvaluatedAt };
  },

  async update_alert(service, { alert: change }, call) {
    await changeRecords(service, call, async (db, now) => {
      const project = projectOf(call, change.project_id);
      const before = await getAlert(db, project, change.id);
      refuseUnmanaging("alerts", before, change.managed_by, { releases: true });
      const alert = readChanged("AlertInput", "alert", before, change);
      if (alert.kind !== before.kind)
        throw new RpcError("invalid", "alert.kind: never changes: add another alert, and remove this one");
      await check(db, call, alert);
      await refuseClaimed(db, "alerts", project, { ...alert, id: change.id });
      await updateAlert(db, before, alert, now);
      return { projectId: change.project_id, targetId: change.id, detail: alert.name };
    });
    service.evaluator.changed();
    service.deliveries.kick();
    return undefined;
  },

  async remove_alert(service, { project_id, alert_id, managed_by }, call) {
    await changeRecords(service, call, async (db, now) => {
      const alert = await getAlert(db, projectOf(call, project_id), alert_id);
      await requireMayHave(db, call, alert.kind);
      refuseUnmanaging("alerts", alert, managed_by, { releases: false });
      await removeAlert(db, alert_id, now);
      return { projectId: project_id, targetId: alert_id, detail: alert.name };
    });
    service.deliveries.kick();
    return undefined;
  },

  async test_alert(service, { alert }, call) {
    const { records, events, testing, nowMs } = service;
    const key = projectOf(call, alert.project_id);
    await check(records.db, call, alert);
    const notification = await getNotification(records, key, alert.notification_id);
    const people = [call.grant.by, await firstOwnerOf(records.db, key.team_id)].filter((id) => id !== "");
    testing.take(call.grant.team, notification, people);
    const project = await getProject(records.db, key);
    const place = {
      team_id: key.team_id,
      team_name: (await teamNamed(records.db, key.team_id))?.name ?? key.team_id,
      project_name: project.name,
    };
    const tested = { alert, place, eventsKey: await eventsKeyOf(records.db, key) };
    const message = await testMessage(events, tested, nowMs(), call.signal);
    // Before it is sent, so that whoever sends many is seen.
    await changeRecords(service, call, async () => {
      return { projectId: alert.project_id, targetId: alert.id ?? "", detail: alert.name };
    });
    const outcome = await testing.send(notification, message, call.signal);
    if (outcome.kind !== "delivered") throw new RpcError("notification_failed", outcome.reason);
    return undefined;
  },

  async preview_alert({ records: { db }, events, nowMs }, { alert, start, stop }, call) {
    // Nobody is told, so it may be asked for before there is anybody to tell.
    if (alert.kind === "disk")
      throw new RpcError("invalid", "alert.kind: must be events: how full the disk was is not known");
    await checkMeasured(db, call, alert);
    const range = readRange({ start, stop });
    const { startMs } = range;
    const project = projectOf(call, alert.project_id);
    // Slots that are not over cannot be known, nor those whose events are not all here.
    const stopMs = Math.min(range.stopMs, nowMs() - (await latenessOf(db, project)) * 1000);
    const key = await eventsKeyOf(db, project);
    const preview = await previewAlert(events, key, alert, {
      ...{ startMs, stopMs, signal: call.signal },
      asker: askerOf(call),
    });
    return {
      episodes: preview.episodes.map(({ group, value, triggeredAt, resolvedAt }) => {
        return { group: plainGroup(group), value, triggered_at: triggeredAt, resolved_at: resolvedAt };
      }),
      intervals: preview.intervals,
      unevaluated: preview.unevaluated,
      missing_bytes: preview.missingBytes,
    };
  },

  async get_alert_episodes({ records: { db } }, { project_id, alert_id, limit = 100, cursor }, call) {
    const project = projectOf(call, project_id);
    await getProject(db, project);
    const after = readCursor(cursor);
    const page = { alertId: alert_id, limit: limit + 1, after: after && { triggered_at: after.at, id: after.id } };
    const episodes = await listEpisodes(db, project, page);
    const { rows, ...more } = pageOf(episodes, limit, ({ triggered_at: at, id }) => ({ at, id }));
    return { episodes: [...rows], ...more };
  },
};

/** Checks what the schema cannot express. */
async function check(db: Kysely<Tables>, call: Call, alert: AlertInput): Promise<void> {
  await checkMeasured(db, call, alert);
  const { project_id, notification_id } = alert;
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

async function checkMeasured(db: Kysely<Tables>, call: Call, alert: AlertInput): Promise<void> {
  const { project_id, kind, query = "" } = alert;
  await getProject(db, projectOf(call, project_id));
  await requireMayHave(db, call, kind);
  if (kind === "disk") {
    const problem = diskAlertProblem(alert);
    if (problem !== undefined) throw new RpcError("invalid", problem);
    return;
  }
  if (query === "") throw new RpcError("invalid", "alert.query: is required");
  const problems = checkAlertQuery(query);
  if (problems.length > 0) throw new RpcError("invalid", `alert.query: ${problems.join("; ")}`);
}

/** Throws `forbidden` unless whoever asks may have alerts of this kind. How full the disk is concerns all teams. */
async function requireMayHave(db: Kysely<Tables>, { grant }: Call, kind: AlertInput["kind"]): Promise<void> {
  if (kind !== "disk" || (await isInstallationOwner(db, grant))) return;
  throw new RpcError(
    "forbidden",
    "alerts of kind disk are for owners of the team that this installation began with: ask one of them, who does it in the web UI",
  );
}
