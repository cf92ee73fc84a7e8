import type { Kysely, Migration } from "kysely";

/** Keeps which numbers of a notification are confirmed, and the codes that were sent to the others. */
export const NUMBERS: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    if (tables.find(({ name }) => name === "notifications")!.columns.some(({ name }) => name === "number_states"))
      return;
    await db.schema
      .alterTable("notifications")
      .addColumn("number_states", "text", (column) => column.notNull().defaultTo("[]"))
      .execute();
  },
};
