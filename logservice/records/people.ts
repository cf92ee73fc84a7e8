import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import { isWholeMembership } from "./row-sums.ts";
import type { Role, Tables, TeamRow, UserRow } from "./tables.ts";

type Db = Kysely<Tables>;

export interface PersonIn {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  /** In the team; undefined if there is none, or its row is damaged. */
  readonly role: Role | undefined;
}

/** A person, with the role in a team; undefined if there is no such person. */
export async function personIn(db: Db, userId: string, team: string): Promise<PersonIn | undefined> {
  const row = await db
    .selectFrom("users")
    .leftJoin("memberships", (on) =>
      on.onRef("memberships.user_id", "=", "users.id").on("memberships.team_id", "=", team),
    )
    .select(["users.id", "users.email", "users.email_key"])
    .select(["memberships.role", "memberships.created_at as since", "memberships.sum"])
    .where("users.id", "=", userId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id, email, email_key: emailKey, role, since, sum } = row;
  const isMember =
    role !== null && since !== null && isWholeMembership({ team_id: team, user_id: id, role, created_at: since, sum });
  return { id, email, emailKey, role: isMember ? role : undefined };
}

/** The person with this address, compared by its key. */
export function userOf(db: Db, emailKey: string): Promise<UserRow | undefined> {
  return db.selectFrom("users").selectAll().where("email_key", "=", emailKey).executeTakeFirst();
}

/** The person with this address, who is added if missing. */
export async function ensureUser(
  db: Db,
  { email, emailKey }: { readonly email: string; readonly emailKey: string },
  now: string,
): Promise<UserRow> {
  const existing = await userOf(db, emailKey);
  if (existing !== undefined) return existing;
  const row: UserRow = { id: `usr_${newId()}`, email, email_key: emailKey, created_at: now };
  await db.insertInto("users").values(row).execute();
  return row;
}

/** The person whom an OpenID provider calls so. */
export function userOfIdentity(db: Db, issuer: string, subject: string): Promise<UserRow | undefined> {
  return db
    .selectFrom("identities")
    .innerJoin("users", "users.id", "identities.user_id")
    .selectAll("users")
    .where("identities.issuer", "=", issuer)
    .where("identities.subject", "=", subject)
    .executeTakeFirst();
}

/** Links an identity of an OpenID provider to a person. One that is linked already stays where it is. */
export async function linkIdentity(
  db: Db,
  userId: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
  now: string,
): Promise<void> {
  await db
    .insertInto("identities")
    .values({ issuer, subject, user_id: userId, created_at: now })
    .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doNothing())
    .execute();
}

/** Whether the person with this address is in a team. */
export async function isInTeam(db: Db, emailKey: string): Promise<boolean> {
  const rows = await db
    .selectFrom("users")
    .innerJoin("memberships", "memberships.user_id", "users.id")
    .selectAll("memberships")
    .where("users.email_key", "=", emailKey)
    .execute();
  return rows.some(isWholeMembership);
}

export interface TeamOf extends Pick<TeamRow, "id" | "name" | "created_at"> {
  readonly role: Role;
}

/** The teams of a person, sorted by name. */
export async function teamsOf(db: Db, userId: string): Promise<TeamOf[]> {
  const rows = await db
    .selectFrom("memberships")
    .innerJoin("teams", "teams.id", "memberships.team_id")
    .select(["teams.id", "teams.name", "teams.created_at"])
    .select(["memberships.role", "memberships.created_at as since", "memberships.sum"])
    .where("memberships.user_id", "=", userId)
    .orderBy("teams.name")
    .orderBy("teams.id")
    .execute();
  return rows
    .filter(({ id, role, since, sum }) =>
      isWholeMembership({ team_id: id, user_id: userId, role, created_at: since, sum }),
    )
    .map(({ id, name, created_at, role }) => ({ id, name, created_at, role }));
}
