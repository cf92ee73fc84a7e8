import type { Kysely, Migration } from "kysely";

/** Answers of requests that may come again, to any process of the service. */
export const REPEATS: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("repeats")
      .ifNotExists()
      .addColumn("hash", "text", (column) => column.primaryKey().notNull())
      .addColumn("made_ms", "bigint", (column) => column.notNull())
      .addColumn("answer", "text", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("repeats_by_time").ifNotExists().on("repeats").column("made_ms").execute();
  },
};
