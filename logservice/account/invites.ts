import type { Kysely } from "kysely";
import { isAbove } from "../access/roles.ts";
import { RpcError } from "../error.ts";
import { inviteOf, useInvite } from "../records/invites.ts";
import type { Records } from "../records/open.ts";
import { personIn, teamsOf, userOf } from "../records/people.ts";
import type { InviteRow, Tables, UserRow } from "../records/tables.ts";
import { setRole } from "../records/teams.ts";
import { idOfLink } from "./links.ts";

export interface FoundInvite {
  readonly invite: InviteRow;
  /**
   * Whether the link alone lets its holder in: it was handed over by the person that invites, not mailed, and the invited one
   * is in no team yet. Otherwise whoever invites somebody would come into the teams that this person has joined since.
   */
  readonly isEnough: boolean;
}

/** The invite that a link leads to. Throws `not_found`. */
export async function inviteOfLink({ db, seal }: Records, link: string, now: string): Promise<FoundInvite> {
  for (const purpose of ["invite", "join"] as const) {
    const id = idOfLink(seal, purpose, link);
    const invite = id === undefined ? undefined : await inviteOf(db, id, now);
    if (invite !== undefined) return { invite, isEnough: purpose === "join" && (await isStranger(db, invite)) };
  }
  throw ENDED;
}

const ENDED = new RpcError(
  "not_found",
  "this invite has ended, was used or was replaced by a newer one: ask for another one",
);

async function isStranger(db: Kysely<Tables>, { email_key }: InviteRow): Promise<boolean> {
  const user = await userOf(db, email_key);
  return user === undefined || (await teamsOf(db, user.id)).length === 0;
}

/**
 * Makes the invited person a member; one that is keeps a higher role. `by` is the public id of what the person asks with, if
 * anything. Throws `forbidden` for anybody else, and `not_found` if the invite has ended since it was read.
 */
export async function acceptInvite(
  db: Kysely<Tables>,
  { id, team_id, email_key, role }: InviteRow,
  user: Pick<UserRow, "id" | "email_key">,
  { now, by }: { readonly now: string; readonly by?: string | undefined },
): Promise<void> {
  if (user.email_key !== email_key)
    throw new RpcError("forbidden", "this invite is for another address: sign in with that one");
  if (!(await useInvite(db, id))) throw ENDED;
  const before = (await personIn(db, user.id, team_id))?.role;
  if (before === undefined || isAbove(role, before)) await setRole(db, { team_id, user_id: user.id, role }, now, by);
}
