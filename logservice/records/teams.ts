import type { Kysely } from "kysely";
import type { Tables, TeamRow } from "./tables.ts";

type Db = Kysely<Tables>;

/** The teams, oldest first. */
export function listTeams(db: Db): Promise<TeamRow[]> {
  return db.selectFrom("teams").selectAll().orderBy("created_at").orderBy("id").execute();
}

/** The team that the installation began with, or the oldest that is left; "" if there is none. */
export async function firstTeam(db: Db): Promise<string> {
  const row = await db.selectFrom("teams").select("id").orderBy("created_at").orderBy("id").limit(1).executeTakeFirst();
  return row?.id ?? "";
}
