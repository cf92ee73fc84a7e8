import type { Kysely, Migration } from "kysely";

/** Binds tokens to a project and a stage. */
export const APP_TOKENS: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    const { columns } = tables.find(({ name }) => name === "tokens")!;
    for (const column of ["project_id", "stage"]) {
      if (columns.some(({ name }) => name === column)) continue;
      await db.schema
        .alterTable("tokens")
        .addColumn(column, "text", (text) => text.notNull().defaultTo(""))
        .execute();
    }
  },
};
