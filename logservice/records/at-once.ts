import type { Kysely } from "kysely";

/** Makes changes of tables all or none: in a transaction, unless the whole migration is in one, as it is on PostgreSQL. */
export async function atOnce(db: Kysely<unknown>, change: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
  if (db.isTransaction) await change(db);
  else await db.transaction().execute(change);
}
