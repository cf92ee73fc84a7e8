import type { Kysely } from "kysely";
import { projectIdOf } from "../../schema/project-id.ts";
import type { Project, ProjectInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { changedAt, newId } from "./row.ts";
import type { ProjectRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** What clients see of a project. */
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

export async function listProjects(db: Db): Promise<Project[]> {
  const rows = await db.selectFrom("projects").select(SHOWN).orderBy("name").orderBy("id").execute();
  return rows as Project[];
}

/** The project, or `not_found`. */
export async function getProject(db: Db, id: string): Promise<Project> {
  const row = await db.selectFrom("projects").select(SHOWN).where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw missing(id);
  return row as Project;
}

/** The name under which the events store keeps the events of a project, or `not_found`. */
export async function eventsKeyOf(db: Db, id: string): Promise<string> {
  const row = await db.selectFrom("projects").select("events_key").where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw missing(id);
  return row.events_key;
}

export type ProjectMode = Project["mode"];

/** The same, and what events of the project are. */
export async function eventsPlaceOf(db: Db, id: string): Promise<{ readonly key: string; readonly mode: ProjectMode }> {
  const row = await db.selectFrom("projects").select(["events_key", "mode"]).where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw missing(id);
  return { key: row.events_key, mode: row.mode as ProjectMode };
}

/** The days that the events of each project are kept, by the store's name for it. */
export function listRetentions(db: Db): Promise<Pick<ProjectRow, "events_key" | "retention">[]> {
  return db.selectFrom("projects").select(["events_key", "retention"]).execute();
}

/** The id of each project by the key of its events. */
export async function projectNames(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom("projects").select(["id", "events_key"]).execute();
  return new Map(rows.map(({ id, events_key }) => [events_key, id]));
}

/** Adds it under the id that was sent, or one that is made of its name; answers the id and the key of its events. */
export async function addProject(
  db: Db,
  project: ProjectInput,
  now: string,
): Promise<Pick<ProjectRow, "id" | "events_key">> {
  const taken = async (id: string) =>
    (await db.selectFrom("projects").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
  let { id = "" } = project;
  if (id === "") {
    const slug = projectIdOf(project.name);
    if (slug === undefined) {
      const name = JSON.stringify(project.name);
      throw new RpcError("invalid", `project.id: is required: ${name} has no letter or digit to make one of`);
    }
    id = slug;
    for (let number = 2; await taken(id); number++) id = `${slug}_${number}`;
  } else if (await taken(id)) {
    throw new RpcError("conflict", `project.id: ${JSON.stringify(id)} is taken: send another, or none`);
  }
  const events_key = await newEventsKey(db);
  await db
    .insertInto("projects")
    .values({ ...rowOf(project), id, events_key, created_at: now, updated_at: now })
    .execute();
  return { id, events_key };
}

/** Never that of an earlier project: what a removed one of the same id may have left is not the new one's. */
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

export async function updateProject(db: Db, id: string, project: ProjectInput, now: string): Promise<void> {
  await db
    .updateTable("projects")
    .set({ ...rowOf(project), updated_at: changedAt(now) })
    .where("id", "=", id)
    .execute();
}

/** With its alerts, notifications and searches. */
export async function removeProject(db: Db, id: string): Promise<void> {
  await db.deleteFrom("projects").where("id", "=", id).execute();
}

function missing(id: string): RpcError {
  return new RpcError("not_found", `there is no project ${JSON.stringify(id)}`);
}

function rowOf(project: ProjectInput) {
  const { name, description = "", retention = 0, location = "", mode = "structured" } = project;
  return { name, description, retention, location, mode };
}
