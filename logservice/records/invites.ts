import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { InviteRow, Role, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

const KEPT_MS = 7 * 24 * 3_600_000;

/** Invites an address into a team. An earlier invite of it ends. */
export async function addInvite(
  db: Db,
  invite: Pick<InviteRow, "team_id" | "email" | "email_key" | "role" | "created_by">,
  nowMs: number,
): Promise<InviteRow> {
  await removeInvite(db, invite.team_id, invite.email_key);
  const row: InviteRow = {
    ...invite,
    id: `inv_${newId()}`,
    created_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + KEPT_MS).toISOString(),
    mailed_at: null,
  };
  await db.insertInto("invites").values(row).execute();
  return row;
}

/** The invites of a team that have not ended, sorted by address. */
export function listInvites(db: Db, team: string, now: string): Promise<InviteRow[]> {
  return db
    .selectFrom("invites")
    .selectAll()
    .where("team_id", "=", team)
    .where("expires_at", ">", now)
    .orderBy("email_key")
    .execute();
}

/** The invite of this id, if it has not ended. */
export function inviteOf(db: Db, id: string, now: string): Promise<InviteRow | undefined> {
  return db.selectFrom("invites").selectAll().where("id", "=", id).where("expires_at", ">", now).executeTakeFirst();
}

/** The invites of an address that have not ended. */
export function invitesOf(db: Db, emailKey: string, now: string): Promise<InviteRow[]> {
  return db.selectFrom("invites").selectAll().where("email_key", "=", emailKey).where("expires_at", ">", now).execute();
}

/** The invites whose mail is not sent yet. */
export function unmailedInvites(db: Db, now: string): Promise<InviteRow[]> {
  return db.selectFrom("invites").selectAll().where("mailed_at", "is", null).where("expires_at", ">", now).execute();
}

export async function noteInviteMailed(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable("invites").set({ mailed_at: now }).where("id", "=", id).execute();
}

/** Ends an invite because it is accepted. Returns whether it was still there. */
export async function useInvite(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom("invites").where("id", "=", id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Ends the invite of an address. Returns whether there was one. */
export async function removeInvite(db: Db, team: string, emailKey: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("invites")
    .where("team_id", "=", team)
    .where("email_key", "=", emailKey)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Ends the invites into a team that a person made with one of these roles. */
export async function removeInvitesBy(
  db: Db,
  { team, userId, roles }: { readonly team: string; readonly userId: string; readonly roles: readonly Role[] },
): Promise<void> {
  await db
    .deleteFrom("invites")
    .where("team_id", "=", team)
    .where("created_by", "=", userId)
    .where("role", "in", roles)
    .execute();
}
