import type { Kysely } from "kysely";
import { writeAudit } from "../records/audit.ts";
import { type PersonIn, teamsOf } from "../records/people.ts";
import type { Tables } from "../records/tables.ts";
import { transact } from "../records/transact.ts";
import type { Grant } from "./grant.ts";

/** Removes the token of the command line or the session that a person asks with. Returns its hash, unless it was gone. */
export async function removeCredential(
  db: Kysely<Tables>,
  { kind, id, person, team }: Grant,
  { at, address }: { readonly at: string; readonly address: string },
): Promise<string | undefined> {
  const table = kind === "session" ? "sessions" : "tokens";
  return transact(db, async (transaction) => {
    const row = await transaction.selectFrom(table).select("hash").where("id", "=", id).executeTakeFirst();
    await transaction.deleteFrom(table).where("id", "=", id).execute();
    // A sign-in that was just confirmed would open it again.
    if (person !== undefined) {
      const confirmed = transaction.deleteFrom("sign_ins").where("email_key", "=", person.emailKey);
      await confirmed.where("status", "=", "confirmed").execute();
    }
    // A token is of one team; a session is of all that the person is in.
    const only = kind === "session" ? undefined : team;
    if (row !== undefined && person !== undefined)
      await noteSignOut(transaction, person, { at, address, target: id, team: only });
    return row?.hash;
  });
}

/** Writes into the audit of a team, or of all teams of a person, that they signed out. `target` is the session or token. */
export async function noteSignOut(
  db: Kysely<Tables>,
  { id, email }: Pick<PersonIn, "id" | "email">,
  {
    at,
    address,
    target,
    team,
  }: { readonly at: string; readonly address: string; readonly target: string; readonly team?: string | undefined },
): Promise<void> {
  const teams = team === undefined ? (await teamsOf(db, id)).map((one) => one.id) : [team];
  const what = { operation: "sign_out", project_id: "", target_id: target, result: "done" } as const;
  for (const team_id of teams.length === 0 ? [""] : teams)
    await writeAudit(db, { ...what, at, team_id, actor: email, address });
}
