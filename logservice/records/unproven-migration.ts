import type { Kysely, Migration } from "kysely";

/** Says which sign-ins, sessions and tokens came of a link that another person handed over, and finds the audit of a person. */
export const UNPROVEN: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    for (const table of ["sign_ins", "sessions", "tokens"]) {
      if (tables.find(({ name }) => name === table)!.columns.some(({ name }) => name === "unproven")) continue;
      await db.schema
        .alterTable(table)
        .addColumn("unproven", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    }
    await db.schema.createIndex("audit_by_actor").ifNotExists().on("audit").columns(["actor", "operation"]).execute();
  },
};
