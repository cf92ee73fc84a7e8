import type { Kysely } from "kysely";
import { projectIdOf } from "../../schema/project-id.ts";
import type { Project, ProjectInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { compiledQuery } from "./compiled.ts";
import { changedAt, newId } from "./row.ts";
import type { ProjectRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** The columns that identify a project. */
export type ProjectKey = Pick<ProjectRow, "team_id" | "id">;

/** The columns of a project that clients see. */
const SHOWN = [
  "id",
  "name",
  "description",
  "location",
  "mode",
  "retention",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof ProjectRow)[];

export async function listProjects(db: Db, team: string): Promise<Project[]> {
  const rows = await db
    .selectFrom("projects")
    .select(SHOWN)
    .where("team_id", "=", team)
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows as Project[];
}

/** The project, or `not_found`. */
export async function getProject(db: Db, key: ProjectKey): Promise<Project> {
  const row = await ofKey(db, key).select(SHOWN).executeTakeFirst();
  if (row === undefined) throw missing(key);
  return row as Project;
}

/** The key under which the events store keeps the events of a project, or `not_found`. */
export async function eventsKeyOf(db: Db, key: ProjectKey): Promise<string> {
  const row = await ofKey(db, key).select("events_key").executeTakeFirst();
  if (row === undefined) throw missing(key);
  return row.events_key;
}

export type ProjectMode = Project["mode"];

/** The key of the events of a project and its mode, or `not_found`. */
export async function eventsPlaceOf(
  db: Db,
  key: ProjectKey,
): Promise<{ readonly key: string; readonly mode: ProjectMode }> {
  const row = await placeRow(db, key.team_id, key.id);
  if (row === undefined) throw missing(key);
  return { key: row.events_key, mode: row.mode as ProjectMode };
}

const placeRow = compiledQuery((db, team_id: string, id: string) =>
  ofKey(db, { team_id, id }).select(["events_key", "mode"]),
);

/** The days that the events of each project are kept, by the key of its events. */
export function listRetentions(db: Db): Promise<Pick<ProjectRow, "events_key" | "retention">[]> {
  return db.selectFrom("projects").select(["events_key", "retention"]).execute();
}

/** The id of each project by the key of its events, after its team's if there are several teams. */
export async function projectNames(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom("projects").select(["team_id", "id", "events_key"]).execute();
  const isOneTeam = new Set(rows.map(({ team_id }) => team_id)).size < 2;
  return new Map(rows.map(({ team_id, id, events_key }) => [events_key, isOneTeam ? id : `${team_id}/${id}`]));
}

/** Whether there is any project. */
export async function hasProjects(db: Db, team?: string): Promise<boolean> {
  let query = db.selectFrom("projects").select("id").limit(1);
  if (team !== undefined) query = query.where("team_id", "=", team);
  return (await query.executeTakeFirst()) !== undefined;
}

const ofKey = (db: Db, { team_id, id }: ProjectKey) =>
  db.selectFrom("projects").where("team_id", "=", team_id).where("id", "=", id);

/** Adds a project under its id, or one made from its name. Returns the id and the key of its events. */
export async function addProject(
  db: Db,
  team_id: string,
  project: ProjectInput,
  now: string,
): Promise<Pick<ProjectRow, "id" | "events_key">> {
  const taken = async (id: string) => (await ofKey(db, { team_id, id }).select("id").executeTakeFirst()) !== undefined;
  let { id = "" } = project;
  if (id === "") {
    const slug = projectIdOf(project.name);
    if (slug === undefined) {
      const name = JSON.stringify(project.name);
      throw new RpcError("invalid", `project.id: is required: ${name} has no letter or digit to make one from`);
    }
    id = slug;
    for (let number = 2; await taken(id); number++) id = `${slug}_${number}`;
  } else if (await taken(id)) {
    throw new RpcError("conflict", `project.id: ${JSON.stringify(id)} is taken: send another, or none`);
  }
  const events_key = await newEventsKey(db);
  await db
    .insertInto("projects")
    .values({ ...rowOf(project), team_id, id, events_key, created_at: now, updated_at: now })
    .execute();
  return { id, events_key };
}

/** A key that no project has or had, since a removed project of the same id may have left files. */
async function newEventsKey(db: Db): Promise<string> {
  for (;;) {
    const key = newId();
    const clash = await db
      .selectFrom("projects")
      .select("id")
      .where((where) => where.or([where("id", "=", key), where("events_key", "=", key)]))
      .executeTakeFirst();
    if (clash === undefined) return key;
  }
}

export async function updateProject(db: Db, key: ProjectKey, project: ProjectInput, now: string): Promise<void> {
  await db
    .updateTable("projects")
    .set({ ...rowOf(project), updated_at: changedAt(now) })
    .where("team_id", "=", key.team_id)
    .where("id", "=", key.id)
    .execute();
}

/** Removes a project with its alerts, notifications and searches. */
export async function removeProject(db: Db, { team_id, id }: ProjectKey): Promise<void> {
  await db.deleteFrom("projects").where("team_id", "=", team_id).where("id", "=", id).execute();
  // A later project of this id is another one.
  await db.deleteFrom("tokens").where("team_id", "=", team_id).where("project_id", "=", id).execute();
}

function missing({ id }: ProjectKey): RpcError {
  return new RpcError("not_found", `there is no project ${JSON.stringify(id)}`);
}

function rowOf(project: ProjectInput) {
  const { name, description = "", retention = 0, location = "", mode = "structured" } = project;
  return { name, description, retention, location, mode };
}
