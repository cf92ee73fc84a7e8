import type { Kysely, Migration } from "kysely";

/** Tickets for exports, which any process of the service can be shown. */
export const EXPORT_TICKETS: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("export_tickets")
      .ifNotExists()
      .addColumn("hash", "text", (column) => column.primaryKey().notNull())
      .addColumn("holder", "text", (column) => column.notNull())
      .addColumn("number", "bigint", (column) => column.notNull())
      .addColumn("made_ms", "bigint", (column) => column.notNull())
      .addColumn("export", "text", (column) => column.notNull())
      .execute();
  },
};
