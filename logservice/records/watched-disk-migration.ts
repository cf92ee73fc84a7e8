import type { Kysely, Migration } from "kysely";

/** Lets an alert measure something else than events. */
export const WATCHED_DISK: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    if (tables.find(({ name }) => name === "alerts")!.columns.some(({ name }) => name === "kind")) return;
    await db.schema
      .alterTable("alerts")
      .addColumn("kind", "text", (column) => column.notNull().defaultTo("events"))
      .execute();
  },
};
