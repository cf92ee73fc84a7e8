import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import { personIn } from "../records/people.ts";
import type { Tables } from "../records/tables.ts";
import type { Grant } from "./grant.ts";

/**
 * Throws if what a request was granted has ended since: its credential, or the role of its person. To be called in the
 * transaction of a change, which may have waited for the one that ended it.
 */
export async function requireStillGranted(db: Kysely<Tables>, { kind, id, team, person }: Grant): Promise<void> {
  const table = kind === "session" ? "sessions" : "tokens";
  const row = await db.selectFrom(table).select("id").where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new RpcError("unauthorized", "this token or session has ended");
  if (person === undefined || team === "") return;
  const role = (await personIn(db, person.id, team))?.role;
  if (role === undefined) throw new RpcError("unauthorized", "you were removed from this team");
  if (role !== person.role)
    throw new RpcError("forbidden", `your role in this team is ${role} since a moment ago: send the request again`);
}
