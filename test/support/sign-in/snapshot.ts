// The records that signing in changes, to see that nothing has changed.
import type { Records } from "../../../logservice/records/open.ts";

const TABLES = ["users", "identities", "teams", "memberships", "invites", "sign_ins", "sessions", "projects"] as const;

/** Every row of them, and which tokens there are. When a mail was sent and a session was used is left out. */
export async function snapshotOf({ db }: Records): Promise<Readonly<Record<string, unknown>>> {
  const snapshot: Record<string, unknown> = {};
  for (const table of TABLES) {
    const rows: object[] = await db.selectFrom(table).selectAll().execute();
    snapshot[table] = rows.map((row) => ({ ...row, mailed_at: null, last_used_at: null }));
  }
  snapshot.tokens = await db.selectFrom("tokens").select(["id", "hash", "created_by"]).execute();
  return snapshot;
}
