import type { Kysely } from "kysely";
import { teamsOf } from "./people.ts";
import { removeSessionsOf } from "./sessions.ts";
import { endLinksOf, endSignInsOf } from "./sign-ins.ts";
import type { Tables } from "./tables.ts";

/**
 * Ends what lets somebody in as a person on the word of another one: links that were handed over, and the sessions and tokens
 * that came of them. To be called when the person gets into a team or another role there: whoever handed the link over may
 * have kept it, and must not come in with more than they could give. `except` is the public id of what the person asks with.
 */
export async function endUnproven(db: Kysely<Tables>, userId: string, except = ""): Promise<void> {
  const { email_key } = await db
    .selectFrom("users")
    .select("email_key")
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
  await endLinksOf(db, email_key);
  await db
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .where("unproven", "=", 1)
    .where("id", "!=", except)
    .execute();
  await db
    .deleteFrom("tokens")
    .where("created_by", "=", userId)
    .where("kind", "=", "command")
    .where("unproven", "=", 1)
    .where("id", "!=", except)
    .execute();
}

/** Ends the sessions and sign-ins of a person who is in no team any more, and could otherwise add one. */
export async function endIfTeamless(
  db: Kysely<Tables>,
  { id, emailKey }: { readonly id: string; readonly emailKey: string },
): Promise<void> {
  if ((await teamsOf(db, id)).length > 0) return;
  await removeSessionsOf(db, id);
  await endSignInsOf(db, emailKey);
}
