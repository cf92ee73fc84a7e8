import type { Kysely, Selectable } from "kysely";
import type { AlertEpisode } from "../../schema/rpc.generated.ts";
import type { ProjectKey } from "../records/projects.ts";
import type { AlertRow, EpisodeRow, Tables } from "../records/tables.ts";
import { readAlertQuery } from "./alert-query.ts";
import { groupValuesOf, plainGroup } from "./group.ts";

type Db = Kysely<Tables>;

export interface EpisodesPage {
  /** Only those of this alert. */
  readonly alertId?: string | undefined;
  readonly limit: number;
  /** The last episode of the previous page. */
  readonly after?: Pick<AlertEpisode, "triggered_at" | "id"> | undefined;
}

/** A page of the episodes of a project, newest first. */
export async function listEpisodes(db: Db, project: ProjectKey, page: EpisodesPage): Promise<AlertEpisode[]> {
  const { alertId, limit, after } = page;
  let query = db
    .selectFrom("episodes")
    .selectAll()
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id);
  if (alertId !== undefined && alertId !== "") query = query.where("alert_id", "=", alertId);
  if (after !== undefined) {
    const { triggered_at, id } = after;
    query = query.where((where) =>
      where.or([
        where("triggered_at", "<", triggered_at),
        where.and([where("triggered_at", "=", triggered_at), where("id", "<", id)]),
      ]),
    );
  }
  const rows = await query.orderBy("triggered_at", "desc").orderBy("id", "desc").limit(limit).execute();
  return rows.map(episodeOf);
}

function episodeOf(row: Selectable<EpisodeRow>): AlertEpisode {
  const { id, alert_id, kind, group_key, value, reason, notification_id, triggered_at, resolved_at } = row;
  const { name, severity, query } = JSON.parse(row.alert) as AlertThen;
  const read = readAlertQuery(query);
  const group = plainGroup(groupValuesOf(read.ok ? read.value.columns : [], group_key));
  const about = { id, alert_id, name, severity: severity as AlertEpisode["severity"], kind, group, value };
  return { ...about, reason, notification_id, muted: row.is_told === 0, triggered_at, resolved_at };
}

/** An alert as it was when an episode began. */
type AlertThen = Pick<AlertRow, "name" | "query" | "severity" | "operator" | "threshold" | "interval">;

/** An episode that begins. */
export type NewEpisode = Pick<
  EpisodeRow,
  "id" | "group_key" | "kind" | "reason" | "triggered_at" | "value" | "is_told"
>;

export async function addEpisode(
  db: Db,
  alert: AlertThen & Pick<AlertRow, "id" | "team_id" | "project_id" | "notification_id">,
  episode: NewEpisode,
): Promise<void> {
  const { id, team_id, project_id, notification_id, name, query, severity, operator, threshold, interval } = alert;
  const then: AlertThen = { name, query, severity, operator, threshold, interval };
  await db
    .insertInto("episodes")
    .values({
      ...{ ...episode, team_id, project_id, alert_id: id, notification_id, resolved_at: null },
      alert: JSON.stringify(then),
    })
    .execute();
}

/** The episodes of an alert that were triggered and had not ended before a time, RFC 3339. */
export function episodesSince(db: Db, alertId: string, since: string) {
  return db
    .selectFrom("episodes")
    .select(["group_key", "triggered_at", "resolved_at"])
    .where("alert_id", "=", alertId)
    .where("kind", "=", "triggered")
    .where((where) => where.or([where("resolved_at", "is", null), where("resolved_at", ">=", since)]))
    .execute();
}

/** Notes that an episode is told, to the notification that its alert has now. */
export async function noteEpisodeTold(db: Db, id: string, notification_id: string): Promise<void> {
  await db.updateTable("episodes").set({ is_told: 1, notification_id }).where("id", "=", id).execute();
}

/** Ends an episode. The reason of a failure is kept. */
export async function endEpisode(db: Db, id: string, resolved_at: string, reason = ""): Promise<void> {
  await db
    .updateTable("episodes")
    .set({ resolved_at, ...(reason !== "" && { reason }) })
    .where("id", "=", id)
    .execute();
}

/** Removes the episodes that ended before a time. */
export async function removeOldEpisodes(db: Db, before: string): Promise<void> {
  await db.deleteFrom("episodes").where("resolved_at", "<", before).execute();
}
