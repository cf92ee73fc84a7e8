import type { Kysely } from "kysely";
import { personIn, teamsOf } from "../records/people.ts";
import { noteSessionUsed, sessionOf } from "../records/sessions.ts";
import type { SessionRow, Tables } from "../records/tables.ts";
import type { Grant } from "./grant.ts";
import { ROLE_SCOPES } from "./roles.ts";
import { unlessBusy } from "./tokens.ts";

/** The last use of a session is stored to the minute, since each write is synced to the disk. */
const USED_STEP_MS = 60_000;

/**
 * The grant of the session with this hash in a team: the named one, else the only one of the person. Undefined if there
 * is no such session, or it has ended.
 */
export async function sessionGrantOf(
  db: Kysely<Tables>,
  hash: string,
  { team: requestedTeam, nowMs }: { readonly team: string | undefined; readonly nowMs: number },
): Promise<Grant | undefined> {
  const session = await useSession(db, hash, nowMs);
  if (session === undefined) return undefined;
  const teams = await teamsOf(db, session.user_id);
  const team =
    teams.find(({ id }) => id === requestedTeam) ??
    (requestedTeam === undefined && teams.length === 1 ? teams[0] : undefined);
  const person = await personIn(db, session.user_id, team?.id ?? "");
  if (person === undefined) return undefined;
  return {
    id: session.id,
    kind: "session",
    team: team?.id ?? "",
    actor: person.email,
    person,
    by: person.id,
    scopes: person.role === undefined ? new Set() : ROLE_SCOPES[person.role],
  };
}

/** The session with this hash, if it has not ended. Notes that it is used, so that it does not end for being idle. */
export async function useSession(db: Kysely<Tables>, hash: string, nowMs: number): Promise<SessionRow | undefined> {
  const session = await sessionOf(db, hash, nowMs);
  if (session === undefined) return undefined;
  // Not by a clock that is back for a moment: with the right time, the session would have ended long ago.
  if (Math.floor(nowMs / USED_STEP_MS) > Math.floor(Date.parse(session.last_used_at) / USED_STEP_MS))
    await unlessBusy(noteSessionUsed(db, hash, new Date(nowMs).toISOString()));
  return session;
}
