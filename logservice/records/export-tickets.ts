import type { Kysely } from "kysely";
import type { ExportTicketRow, Tables } from "./tables.ts";
import { transact } from "./transact.ts";

/** Adds a ticket, and removes those that are over, and the oldest of its holder beyond `most`. */
export function addExportTicket(
  db: Kysely<Tables>,
  row: Omit<ExportTicketRow, "number">,
  { most, lastsMs }: { readonly most: number; readonly lastsMs: number },
): Promise<void> {
  return transact(db, async (db) => {
    await db
      .deleteFrom("export_tickets")
      .where((where) =>
        where.or([where("made_ms", "<=", row.made_ms - lastsMs), where("made_ms", ">=", row.made_ms + lastsMs)]),
      )
      .execute();
    const own = await db
      .selectFrom("export_tickets")
      .select(["hash", "number"])
      .where("holder", "=", row.holder)
      .orderBy("number", "desc")
      .execute();
    const spare = own.slice(most - 1).map(({ hash }) => hash);
    if (spare.length > 0) await db.deleteFrom("export_tickets").where("hash", "in", spare).execute();
    const number = (own[0]?.number ?? 0) + 1;
    await db
      .insertInto("export_tickets")
      .values({ ...row, number })
      .execute();
  });
}

type Key = Pick<ExportTicketRow, "hash" | "holder">;

/** Removes a ticket, and returns it; undefined if there is none of this holder. */
export function takeExportTicket(db: Kysely<Tables>, { hash, holder }: Key): Promise<ExportTicketRow | undefined> {
  return db
    .deleteFrom("export_tickets")
    .where("hash", "=", hash)
    .where("holder", "=", holder)
    .returningAll()
    .executeTakeFirst();
}

/** The same ticket without removing it. */
export function findExportTicket(db: Kysely<Tables>, { hash, holder }: Key): Promise<ExportTicketRow | undefined> {
  return db
    .selectFrom("export_tickets")
    .selectAll()
    .where("hash", "=", hash)
    .where("holder", "=", holder)
    .executeTakeFirst();
}
