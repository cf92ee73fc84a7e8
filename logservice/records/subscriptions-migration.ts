import type { Kysely, Migration } from "kysely";

/** The subscription of each team, and which events of the provider were seen. */
export const SUBSCRIPTIONS: Migration = {
  async up(db: Kysely<unknown>) {
    const texts = ["customer_id", "subscription_id", "status", "past_due_since", "ends_at", "read_at", "created_at"];
    let table = db.schema
      .createTable("subscriptions")
      .ifNotExists()
      // No reference to the team: what is still paid for one that was removed must be found.
      .addColumn("team_id", "text", (column) => column.primaryKey())
      .addColumn("customer_number", "integer", (column) => column.notNull());
    for (const name of [...texts, "updated_at"]) table = table.addColumn(name, "text", (column) => column.notNull());
    await table.execute();
    const index = db.schema.createIndex("subscriptions_by_customer").ifNotExists();
    await index.on("subscriptions").column("customer_id").execute();
    await db.schema
      .createTable("billing_events")
      .ifNotExists()
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("at", "text", (column) => column.notNull())
      .execute();
  },
};
