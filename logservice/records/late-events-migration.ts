import type { Kysely, Migration } from "kysely";

/** Lets slots of alerts be evaluated again for events that came late. */
export const LATE_EVENTS: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    const columns = tables.find(({ name }) => name === "alerts")!.columns.map(({ name }) => name);
    for (const name of ["first_slot", "late_seen"]) {
      if (columns.includes(name)) continue;
      await db.schema
        .alterTable("alerts")
        .addColumn(name, "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
    }
    // Nobody knows since when an alert has compared what it compares now: nothing of before is evaluated again.
    await (db as Kysely<{ alerts: { first_slot: number; next_slot: number } }>)
      .updateTable("alerts")
      .set((row) => ({ first_slot: row.ref("next_slot") }))
      .where("first_slot", "=", 0)
      .execute();
    await db.schema
      .createTable("late_minutes")
      .ifNotExists()
      // Numbers are never given again, though rows are removed.
      .addColumn("sequence", "integer", (column) => column.primaryKey().autoIncrement())
      .addColumn("events_key", "text", (column) => column.notNull())
      .addColumn("minute", "bigint", (column) => column.notNull())
      .addColumn("due_ms", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("lateness")
      .ifNotExists()
      .addColumn("events_key", "text", (column) => column.primaryKey())
      .addColumn("seconds", "integer", (column) => column.notNull())
      .addColumn("seen_ms", "bigint", (column) => column.notNull())
      .execute();
  },
};
