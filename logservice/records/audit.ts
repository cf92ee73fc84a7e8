import type { Kysely } from "kysely";
import { newId } from "./id.ts";
import type { AuditRow, Tables } from "./tables.ts";

/** Writes down who changed what; in the transaction of the change, so that there is none without the other. */
export async function writeAudit(db: Kysely<Tables>, entry: Omit<AuditRow, "id">): Promise<void> {
  await db
    .insertInto("audit")
    .values({ ...entry, id: newId() })
    .execute();
}

/** The changes, oldest first. */
export function listAudit(db: Kysely<Tables>): Promise<AuditRow[]> {
  return db.selectFrom("audit").selectAll().orderBy("at").orderBy("id").execute();
}
