import type { Kysely, Migration } from "kysely";

/** Budgets that all processes of the service share. */
export const BUDGETS: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("budgets")
      .ifNotExists()
      .addColumn("hash", "text", (column) => column.primaryKey().notNull())
      .addColumn("full_ms", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("budgets_by_time").ifNotExists().on("budgets").column("full_ms").execute();
  },
};
