import type { Kysely, Migration } from "kysely";

/** Marks what the tool.json of an app holds. */
export const MANAGED: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    for (const [table, column] of [
      ["alerts", "managed_by"],
      ["notifications", "managed_by"],
      ["notifications", "secret_hash"],
      ["searches", "managed_by"],
    ] as const) {
      // SQLite does not run a migration in one transaction: the process may have ended after any step.
      if (tables.find(({ name }) => name === table)!.columns.some(({ name }) => name === column)) continue;
      await db.schema
        .alterTable(table)
        .addColumn(column, "text", (text) => text.notNull().defaultTo(""))
        .execute();
    }
  },
};
