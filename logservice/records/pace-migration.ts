import type { Kysely, Migration } from "kysely";

/** Lets an alert be evaluated less often than its interval says. */
export const PACE: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    if (tables.find(({ name }) => name === "alerts")!.columns.some(({ name }) => name === "pace")) return;
    await db.schema
      .alterTable("alerts")
      .addColumn("pace", "integer", (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
