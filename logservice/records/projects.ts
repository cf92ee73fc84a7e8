import type { Kysely } from "kysely";
import { projectIdOf } from "../../schema/project-id.ts";
import type { Project, ProjectInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../rpc/error.ts";
import { changedAt } from "./changed-at.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export async function listProjects(db: Db): Promise<Project[]> {
  const rows = await db.selectFrom("projects").selectAll().orderBy("name").orderBy("id").execute();
  return rows as Project[];
}

/** The project, or `not_found`. */
export async function getProject(db: Db, id: string): Promise<Project> {
  const row = await db.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new RpcError("not_found", `there is no project ${JSON.stringify(id)}`);
  return row as Project;
}

/** Adds it under the id that was sent, or one that is made of its name; answers the id. */
export async function addProject(db: Db, project: ProjectInput, now: string): Promise<string> {
  const taken = async (id: string) =>
    (await db.selectFrom("projects").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
  let { id = "" } = project;
  if (id === "") {
    const slug = projectIdOf(project.name);
    id = slug;
    for (let number = 2; await taken(id); number++) id = `${slug}_${number}`;
  } else if (await taken(id)) {
    throw new RpcError("conflict", `project.id: ${JSON.stringify(id)} is taken: send another, or none`);
  }
  await db
    .insertInto("projects")
    .values({ ...rowOf(project), id, created_at: now, updated_at: now })
    .execute();
  return id;
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

function rowOf(project: ProjectInput) {
  const { name, description = "", retention = 0, location = "", mode = "structured" } = project;
  return { name, description, retention, location, mode };
}
