import type { Kysely } from "kysely";
import { newId } from "./row.ts";
import type { SessionRow, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** A session ends when it was not used for this long ... */
const IDLE_MS = 12 * 3_600_000;
/** ... and in any case after this time. */
export const SESSION_MS = 30 * 24 * 3_600_000;

/** Adds a session and removes those that have ended. */
export async function addSession(
  db: Db,
  session: Pick<SessionRow, "hash" | "user_id" | "device" | "address" | "unproven">,
  nowMs: number,
): Promise<SessionRow> {
  const time = (ms: number) => new Date(ms).toISOString();
  await db
    .deleteFrom("sessions")
    .where((where) =>
      where.or([
        where("last_used_at", "<=", time(nowMs - IDLE_MS)),
        where("created_at", "<=", time(nowMs - SESSION_MS)),
      ]),
    )
    .execute();
  const row: SessionRow = { ...session, id: `ses_${newId()}`, created_at: time(nowMs), last_used_at: time(nowMs) };
  await db.insertInto("sessions").values(row).execute();
  return row;
}

/** The session with this hash, if it has not ended. */
export function sessionOf(db: Db, hash: string, nowMs: number): Promise<SessionRow | undefined> {
  return db
    .selectFrom("sessions")
    .selectAll()
    .where("hash", "=", hash)
    .where("last_used_at", ">", new Date(nowMs - IDLE_MS).toISOString())
    .where("created_at", ">", new Date(nowMs - SESSION_MS).toISOString())
    .executeTakeFirst();
}

export async function noteSessionUsed(db: Db, hash: string, now: string): Promise<void> {
  await db.updateTable("sessions").set({ last_used_at: now }).where("hash", "=", hash).execute();
}

export async function removeSession(db: Db, hash: string): Promise<void> {
  await db.deleteFrom("sessions").where("hash", "=", hash).execute();
}

/** Ends all sessions of a person. */
export async function removeSessionsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom("sessions").where("user_id", "=", userId).execute();
}
