import type { Kysely } from "kysely";
import type { Tables } from "../records/tables.ts";
import type { Grant } from "./grant.ts";

/** Removes the token of the command line or the session that a person asks with. Returns its hash, unless it was gone. */
export async function removeCredential(db: Kysely<Tables>, { kind, id, person }: Grant): Promise<string | undefined> {
  const table = kind === "session" ? "sessions" : "tokens";
  return db.transaction().execute(async (transaction) => {
    const row = await transaction.selectFrom(table).select("hash").where("id", "=", id).executeTakeFirst();
    await transaction.deleteFrom(table).where("id", "=", id).execute();
    // A sign-in that was just confirmed would open it again.
    if (person !== undefined) {
      const confirmed = transaction.deleteFrom("sign_ins").where("email_key", "=", person.emailKey);
      await confirmed.where("status", "=", "confirmed").execute();
    }
    return row?.hash;
  });
}
