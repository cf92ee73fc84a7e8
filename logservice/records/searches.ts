import type { Kysely } from "kysely";
import type { Search, SearchInput } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { changedAt, newId } from "./row.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export function listSearches(db: Db, projectId: string): Promise<Search[]> {
  return db
    .selectFrom("searches")
    .selectAll()
    .where("project_id", "=", projectId)
    .orderBy("name")
    .orderBy("id")
    .execute();
}

/** The search of this project, or `not_found`. */
export async function getSearch(db: Db, projectId: string, id: string): Promise<Search> {
  const row = await db
    .selectFrom("searches")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (row === undefined) throw new RpcError("not_found", `there is no search ${JSON.stringify(id)} in this project`);
  return row;
}

export async function addSearch(db: Db, search: SearchInput, now: string): Promise<string> {
  const id = newId();
  const { project_id, name, query } = search;
  await db.insertInto("searches").values({ id, project_id, name, query, created_at: now, updated_at: now }).execute();
  return id;
}

export async function updateSearch(db: Db, id: string, { name, query }: SearchInput, now: string): Promise<void> {
  await db
    .updateTable("searches")
    .set({ name, query, updated_at: changedAt(now) })
    .where("id", "=", id)
    .execute();
}

export async function removeSearch(db: Db, id: string): Promise<void> {
  await db.deleteFrom("searches").where("id", "=", id).execute();
}
