import type { Kysely } from "kysely";
import type { Role, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export interface PersonIn {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  /** In the team; undefined if there is none. */
  readonly role: Role | undefined;
}

/** A person, with the role in a team; undefined if there is no such person. */
export async function personIn(db: Db, userId: string, team: string): Promise<PersonIn | undefined> {
  const row = await db
    .selectFrom("users")
    .leftJoin("memberships", (on) =>
      on.onRef("memberships.user_id", "=", "users.id").on("memberships.team_id", "=", team),
    )
    .select(["users.id", "users.email", "users.email_key", "memberships.role"])
    .where("users.id", "=", userId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { id: row.id, email: row.email, emailKey: row.email_key, role: row.role ?? undefined };
}
