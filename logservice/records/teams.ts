import type { Kysely } from "kysely";
import { RpcError } from "../error.ts";
import { FIRST_TEAM } from "./accounts-migration.ts";
import { changedAt } from "./row.ts";
import { isWholeMembership, putMembership } from "./row-sums.ts";
import type { MembershipRow, Role, Tables, TeamRow } from "./tables.ts";
import { endUnproven } from "./unproven.ts";

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

/** Names the team that a new installation begins with, before anything belongs to it. Returns its id. */
export async function nameFirstTeam(db: Db, name: string, now: string): Promise<string> {
  const id = slugOf(name);
  await db
    .updateTable("teams")
    .set({ id, name, updated_at: changedAt(now) })
    .where("id", "=", FIRST_TEAM)
    .execute();
  return id;
}

export function teamNamed(db: Db, id: string): Promise<TeamRow | undefined> {
  return db.selectFrom("teams").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The longest id of a team. */
const LONGEST = 40;

/**
 * Adds a team under its id, or one made from its name. Returns the id. The id of a team that was removed stays taken, since
 * the audit keeps what that team did.
 */
export async function addTeam(db: Db, { id = "", name }: { readonly id?: string; readonly name: string }, now: string) {
  const slug = id === "" ? slugOf(name) : id;
  if (slug === "")
    throw new RpcError("invalid", `id: is required: ${JSON.stringify(name)} has no letter or digit to make one from`);
  let free = slug;
  for (let number = 2; await isTaken(db, free); number++) {
    if (id !== "") throw new RpcError("conflict", `id: ${JSON.stringify(id)} is taken: send another, or none`);
    free = `${slug.slice(0, LONGEST - 8)}-${number}`;
  }
  await db.insertInto("teams").values({ id: free, name, created_at: now, updated_at: now }).execute();
  return free;
}

/** Whether the instance has more than one team. */
export async function hasSeveralTeams(db: Db): Promise<boolean> {
  return (await db.selectFrom("teams").select("id").limit(2).execute()).length > 1;
}

async function isTaken(db: Db, id: string): Promise<boolean> {
  if ((await teamNamed(db, id)) !== undefined) return true;
  return (
    (await db.selectFrom("audit").select("id").where("team_id", "=", id).limit(1).executeTakeFirst()) !== undefined
  );
}

/** The id that is made from a name; "" if the name has no letter or digit for one. */
export const slugOf = (name: string) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, "");

export async function renameTeam(db: Db, id: string, name: string, now: string): Promise<void> {
  await db
    .updateTable("teams")
    .set({ name, updated_at: changedAt(now) })
    .where("id", "=", id)
    .execute();
}

/** Removes a team without projects, with its members, invites and tokens. */
export async function removeTeam(db: Db, id: string): Promise<void> {
  await db.deleteFrom("tokens").where("team_id", "=", id).execute();
  await db.deleteFrom("teams").where("id", "=", id).execute();
}

/** Makes a person a member, or changes the role of one. `by` is the public id of what that person asks for it with, if so. */
export async function setRole(
  db: Db,
  member: Omit<MembershipRow, "created_at" | "sum">,
  now: string,
  by?: string,
): Promise<void> {
  const existing = await db
    .selectFrom("memberships")
    .selectAll()
    .where("team_id", "=", member.team_id)
    .where("user_id", "=", member.user_id)
    .executeTakeFirst();
  // Nothing of a damaged row is believed.
  const since = existing !== undefined && isWholeMembership(existing) ? existing.created_at : now;
  await putMembership(db, { ...member, created_at: since });
  await endUnproven(db, member.user_id, by);
}

/** Ends a membership. */
export async function removeMembership(db: Db, team: string, userId: string): Promise<void> {
  await db.deleteFrom("memberships").where("team_id", "=", team).where("user_id", "=", userId).execute();
  await endUnproven(db, userId);
}

export interface MemberOf {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: Role;
  readonly since: string;
}

/** The members of a team, sorted by address. One whose row is damaged has the lowest role, and no rights. */
export async function listMembers(db: Db, team: string): Promise<MemberOf[]> {
  const rows = await db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select(["users.id", "users.email", "users.email_key as emailKey"])
    .select(["memberships.role", "memberships.created_at as since", "memberships.sum"])
    .where("memberships.team_id", "=", team)
    .orderBy("users.email_key")
    .execute();
  return rows.map(({ sum, ...member }) => {
    const { id, role, since } = member;
    return isWholeMembership({ team_id: team, user_id: id, role, created_at: since, sum })
      ? member
      : { ...member, role: "member" as const };
  });
}

/** The id of the person who has been an owner of a team for the longest time; "" if it has none. */
export async function firstOwnerOf(db: Db, team: string): Promise<string> {
  const owners = await db
    .selectFrom("memberships")
    .selectAll()
    .where("team_id", "=", team)
    .where("role", "=", "owner")
    .orderBy("created_at")
    .orderBy("user_id")
    .execute();
  return owners.find(isWholeMembership)?.user_id ?? "";
}

/** Makes other changes of the members of a team wait for the end of this transaction. */
export async function lockTeam(db: Db, id: string): Promise<void> {
  await db
    .updateTable("teams")
    .set((row) => ({ name: row.ref("name") }))
    .where("id", "=", id)
    .execute();
}
