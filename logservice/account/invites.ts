import type { Kysely } from "kysely";
import { isAbove } from "../access/roles.ts";
import { RpcError } from "../error.ts";
import { inviteOf, removeInvite } from "../records/invites.ts";
import type { Records } from "../records/open.ts";
import { personIn, teamsOf, userOf } from "../records/people.ts";
import { endLinksOf } from "../records/sign-ins.ts";
import type { InviteRow, Tables, UserRow } from "../records/tables.ts";
import { setRole } from "../records/teams.ts";
import { idOfLink } from "./links.ts";

export interface FoundInvite {
  readonly invite: InviteRow;
  /** Whether the link alone lets its holder in: it was handed over by the person that invites, not mailed. */
  readonly isEnough: boolean;
}

/** The invite that a link leads to. Throws `not_found`. */
export async function inviteOfLink({ db, seal }: Records, link: string, now: string): Promise<FoundInvite> {
  for (const purpose of ["invite", "join"] as const) {
    const id = idOfLink(seal, purpose, link);
    const invite = id === undefined ? undefined : await inviteOf(db, id, now);
    if (invite === undefined) continue;
    // Nobody comes in as a person of other teams by a link of this one, also if they joined those later.
    const user = await userOf(db, invite.email_key);
    const isOfOthers = user !== undefined && (await teamsOf(db, user.id)).some(({ id }) => id !== invite.team_id);
    return { invite, isEnough: purpose === "join" && !isOfOthers };
  }
  throw new RpcError(
    "not_found",
    "this invite has ended, was used or was replaced by a newer one: ask for another one",
  );
}

/** Makes the invited person a member; one that is keeps a higher role. Throws `forbidden` for anybody else. */
export async function acceptInvite(
  db: Kysely<Tables>,
  { team_id, email_key, role }: InviteRow,
  user: Pick<UserRow, "id" | "email_key">,
  now: string,
): Promise<void> {
  if (user.email_key !== email_key)
    throw new RpcError("forbidden", "this invite is for another address: sign in with that one");
  const before = (await personIn(db, user.id, team_id))?.role;
  if (before === undefined || isAbove(role, before)) {
    await setRole(db, { team_id, user_id: user.id, role }, now);
    // They were made for whom the person was before.
    await endLinksOf(db, email_key);
  }
  await removeInvite(db, team_id, email_key);
}
