import type { Kysely } from "kysely";
import { sessionOf } from "../records/sessions.ts";
import type { Tables } from "../records/tables.ts";
import { tokenRowOf } from "./tokens.ts";

/**
 * The tokens and sessions of these hashes that still work, with the teams of their persons. What was registered after the
 * list was made is looked up by its own exchange.
 */
export async function credentialsLeft(
  db: Kysely<Tables>,
  hashes: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, { readonly teams: ReadonlySet<string> }>> {
  const left = new Map<string, { readonly teams: ReadonlySet<string> }>();
  const teams = new Map<string, Set<string>>();
  const teamsOf = async (user: string) => {
    if (!teams.has(user)) {
      const rows = await db.selectFrom("memberships").select("team_id").where("user_id", "=", user).execute();
      teams.set(user, new Set(rows.map(({ team_id }) => team_id)));
    }
    return teams.get(user)!;
  };
  for (const hash of hashes) {
    const token = await tokenRowOf(db, hash, nowMs);
    const user = token === undefined ? (await sessionOf(db, hash, nowMs))?.user_id : token.created_by;
    if (token === undefined && user === undefined) continue;
    left.set(hash, { teams: user === undefined || user === "" ? new Set() : await teamsOf(user) });
  }
  return left;
}
