import type { Kysely, Selectable } from "kysely";
import type { AlertRow, Tables } from "../records/tables.ts";
import { LATENESS } from "./lateness.ts";
import type { EvaluationState, GroupState, OpenEpisode } from "./state.ts";
import type { ToldAlert } from "./tell.ts";

type Db = Kysely<Tables>;

/** An alert with what its evaluation needs of its project and its team. */
export interface DueAlert extends Selectable<AlertRow>, ToldAlert {
  /** The key of the events of its project. */
  readonly events_key: string;
  /** Whether the episode of its failure was told; null without one. */
  readonly failing_told: number | null;
  readonly failing_since: string | null;
  /** That of its project, in seconds. */
  readonly lateness: number;
}

/**
 * The alerts with a slot that has ended, and whose events should be here by a time in seconds since 1970, or that were never
 * evaluated; the latest first.
 */
export function dueAlerts(db: Db, beforeSeconds: number): Promise<DueAlert[]> {
  return alertRows(db)
    .where(({ eb, parens, fn, val }) => {
      const minutes = eb(parens(eb("alerts.next_slot", "+", 1)), "*", eb.ref("alerts.interval"));
      const stop = eb(parens(minutes), "*", 60);
      return eb(eb(stop, "+", fn.coalesce("lateness.seconds", val(LATENESS.others))), "<=", beforeSeconds);
    })
    .orderBy("alerts.next_slot")
    .execute();
}

/** The alerts of projects, by the keys of their events, that have not seen a late minute up to this number. */
export async function lateAlerts(db: Db, eventsKeys: readonly string[], sequence: number): Promise<DueAlert[]> {
  const alerts: DueAlert[] = [];
  for (let at = 0; at < eventsKeys.length; at += IDS_AT_ONCE) {
    const rows = await alertRows(db)
      .where("projects.events_key", "in", eventsKeys.slice(at, at + IDS_AT_ONCE))
      .where("alerts.kind", "=", "events")
      .where("alerts.late_seen", "<", sequence)
      .execute();
    alerts.push(...rows);
  }
  return alerts;
}

/** The alert as messages tell of it; undefined if it is gone. */
export function toldAlert(db: Db, id: string): Promise<DueAlert | undefined> {
  return alertRows(db).where("alerts.id", "=", id).executeTakeFirst();
}

const alertRows = (db: Db) =>
  db
    .selectFrom("alerts")
    .innerJoin("projects", (on) =>
      on.onRef("projects.team_id", "=", "alerts.team_id").onRef("projects.id", "=", "alerts.project_id"),
    )
    .innerJoin("teams", "teams.id", "alerts.team_id")
    .leftJoin("episodes", "episodes.id", "alerts.failing_episode_id")
    .leftJoin("lateness", "lateness.events_key", "projects.events_key")
    .selectAll("alerts")
    .select(["projects.events_key", "projects.name as project_name", "teams.name as team_name"])
    .select(["episodes.is_told as failing_told", "episodes.triggered_at as failing_since"])
    .select(({ fn, val }) => fn.coalesce("lateness.seconds", val<number>(LATENESS.others)).as("lateness"));

/** The groups of alerts that are not well, by the id of the alert. */
export async function readStates(
  db: Db,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, GroupState>>> {
  const states = new Map<string, Map<string, GroupState>>();
  for (let at = 0; at < alertIds.length; at += IDS_AT_ONCE) {
    const rows = await db
      .selectFrom("alert_states")
      .leftJoin("episodes", "episodes.id", "alert_states.episode_id")
      .selectAll("alert_states")
      .select("episodes.is_told")
      .where("alert_states.alert_id", "in", alertIds.slice(at, at + IDS_AT_ONCE))
      .execute();
    for (const row of rows) {
      const { breaches, recoveries, value } = row;
      const groups = states.get(row.alert_id) ?? new Map<string, GroupState>();
      const open = { id: row.episode_id, since: row.since, isTold: row.is_told === 1, toldSlot: row.told_slot };
      const episode: OpenEpisode | undefined = row.is_triggered === 1 ? open : undefined;
      states.set(row.alert_id, groups.set(row.group_key, { breaches, recoveries, value, episode }));
    }
  }
  return states;
}

/** Parameters of one statement: SQLite has a limit, and each number of them is a statement of its own. */
const IDS_AT_ONCE = 200;

/** Writes the groups of an alert that have changed. */
export async function writeStates(
  db: Db,
  { id, team_id, project_id }: Pick<AlertRow, "id" | "team_id" | "project_id">,
  before: EvaluationState["groups"],
  after: EvaluationState["groups"],
): Promise<void> {
  const gone = [...before.keys()].filter((key) => !after.has(key));
  if (gone.length > 0) {
    await db.deleteFrom("alert_states").where("alert_id", "=", id).where("group_key", "in", gone).execute();
  }
  for (const [group_key, state] of after) {
    if (before.get(group_key) === state) continue;
    const { breaches, recoveries, value, episode } = state;
    const row = {
      ...{ breaches, recoveries, value },
      is_triggered: episode === undefined ? 0 : 1,
      episode_id: episode?.id ?? "",
      since: episode?.since ?? "",
      told_slot: episode?.toldSlot ?? 0,
    };
    await db
      .insertInto("alert_states")
      .values({ ...row, team_id, project_id, alert_id: id, group_key })
      .onConflict((conflict) => conflict.columns(["alert_id", "group_key"]).doUpdateSet(row))
      .execute();
  }
}

/** Forgets all groups of an alert. */
export async function removeStates(db: Db, alertId: string): Promise<void> {
  await db.deleteFrom("alert_states").where("alert_id", "=", alertId).execute();
}
