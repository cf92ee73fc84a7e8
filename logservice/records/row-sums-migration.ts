import type { Kysely, Migration } from "kysely";
import { membershipSum, type SummedTables, tokenSum } from "./row-sums.ts";

/** Gives the rows of tokens and memberships a checksum. */
export const ROW_SUMS: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    for (const table of ["tokens", "memberships"]) {
      if (tables.find(({ name }) => name === table)!.columns.some(({ name }) => name === "sum")) continue;
      await db.schema.alterTable(table).addColumn("sum", "bigint").execute();
    }
    // SQLite does not run a migration in one transaction: those that an interrupted one left have none yet.
    const records = db as Kysely<unknown> as Kysely<SummedTables>;
    for (const row of await records.selectFrom("tokens").selectAll().where("sum", "is", null).execute())
      await records
        .updateTable("tokens")
        .set({ sum: tokenSum(row) })
        .where("id", "=", row.id)
        .execute();
    for (const row of await records.selectFrom("memberships").selectAll().where("sum", "is", null).execute())
      await records
        .updateTable("memberships")
        .set({ sum: membershipSum(row) })
        .where("team_id", "=", row.team_id)
        .where("user_id", "=", row.user_id)
        .execute();
  },
};
