import type { Kysely } from "kysely";
import type { LateMinuteRow, Tables } from "../records/tables.ts";

type Db = Kysely<Tables>;

/** A minute of a project that got late events. */
export type LateMinute = Pick<LateMinuteRow, "events_key" | "minute"> & { readonly sequence: number };

/** Events that come later than that have nothing evaluated again. */
export const MOST_LATE_MS = 3_600_000;

/** The time in which late events are gathered: slots are evaluated again once for all of them. */
export const GATHER_MS = 60_000;

/** Notes minutes of a project that got late events. Until GATHER_MS later the note stands for all others of these minutes. */
export async function addLateMinutes(db: Db, events_key: string, minutes: readonly number[], nowMs: number) {
  const due_ms = nowMs + GATHER_MS;
  await db
    .insertInto("late_minutes")
    .values(minutes.map((minute) => ({ events_key, minute, due_ms })))
    .execute();
}

/**
 * The late minutes whose time to gather is over, of those after a number, up to the first one whose time is not: whoever has seen
 * a number has seen those before it, though a clock that was set back gives later ones an earlier time. One that is farther ahead
 * than it takes to gather is of such a clock, and waits no longer.
 */
export function dueLateMinutes(db: Db, after: number, nowMs: number): Promise<LateMinute[]> {
  const mostMs = nowMs + GATHER_MS;
  return db
    .selectFrom("late_minutes")
    .select(["sequence", "events_key", "minute"])
    .where("sequence", ">", after)
    .where((where) => where.or([where("due_ms", "<=", nowMs), where("due_ms", ">", mostMs)]))
    .where(({ eb, fn, val, selectFrom }) => {
      const waiting = selectFrom("late_minutes")
        .select(({ fn }) => fn.min("sequence").as("first"))
        .where("sequence", ">", after)
        .where("due_ms", ">", nowMs)
        .where("due_ms", "<=", mostMs);
      return eb("sequence", "<", fn.coalesce(waiting, val(Number.MAX_SAFE_INTEGER)));
    })
    .orderBy("sequence")
    .execute();
}

/** Removes what nobody waits for any more, also what a clock that was ahead has left. */
export async function removeOldLateMinutes(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom("late_minutes")
    .where((where) => where.or([where("due_ms", "<", nowMs - MOST_LATE_MS), where("due_ms", ">", nowMs + GATHER_MS)]))
    .execute();
  await db
    .deleteFrom("lateness")
    .where("events_key", "not in", (projects) => projects.selectFrom("projects").select("events_key"))
    .execute();
}
