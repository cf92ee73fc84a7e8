import type { Kysely } from "kysely";
import type { Search, SearchInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import type { ProjectKey } from "./projects.ts";
import { changedAt, newId } from "./row.ts";
import type { SearchRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export async function listSearches(db: Db, project: ProjectKey): Promise<Search[]> {
  const rows = await db
    .selectFrom("searches")
    .selectAll()
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows.map(searchOf);
}

/** The search of this project, or `not_found`. */
export async function getSearch(db: Db, project: ProjectKey, id: string): Promise<Search> {
  const row = await db
    .selectFrom("searches")
    .selectAll()
    .where("id", "=", id)
    .where("team_id", "=", project.team_id)
    .where("project_id", "=", project.id)
    .executeTakeFirst();
  if (row === undefined) throw new RpcError("not_found", `there is no search ${JSON.stringify(id)} in this project`);
  return searchOf(row);
}

export async function addSearch(db: Db, team_id: string, search: SearchInput, now: string): Promise<string> {
  const id = newId();
  const { project_id, name, query, managed_by = "" } = search;
  await db
    .insertInto("searches")
    .values({ id, team_id, project_id, name, query, managed_by, created_at: now, updated_at: now })
    .execute();
  return id;
}

export async function updateSearch(
  db: Db,
  id: string,
  { name, query, managed_by = "" }: SearchInput,
  now: string,
): Promise<void> {
  await db
    .updateTable("searches")
    .set({ name, query, managed_by, updated_at: changedAt(now) })
    .where("id", "=", id)
    .execute();
}

export async function removeSearch(db: Db, id: string): Promise<void> {
  await db.deleteFrom("searches").where("id", "=", id).execute();
}

function searchOf({ team_id: _, ...search }: SearchRow): Search {
  return search;
}
