import type { CreateTableBuilder, Kysely, Migration } from "kysely";
import { atOnce } from "./at-once.ts";

/** Gives alerts a state, episodes and deliveries. All of it is one transaction: after a crash it has happened or not. */
export const ALERTING: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    if (tables.some(({ name }) => name === "deliveries")) return;
    await atOnce(db, async (transaction) => {
      for (const [name, before] of NUMBERS)
        await transaction.schema
          .alterTable("alerts")
          .addColumn(name, "bigint", (column) => column.notNull().defaultTo(before))
          .execute();
      for (const name of ["failure", "failing_episode_id", "evaluated_at"])
        await transaction.schema
          .alterTable("alerts")
          .addColumn(name, "text", (column) => column.notNull().defaultTo(""))
          .execute();
      await addStates(transaction);
      await addEpisodes(transaction);
      await addDeliveries(transaction);
      await transaction.schema
        .alterTable("notifications")
        .addColumn("webhook_secrets", "text", (column) => column.notNull().defaultTo(""))
        .execute();
      // It held nothing but test messages, which nobody delivered.
      await transaction.schema.dropTable("outbox").execute();
    });
  },
};

/** The new columns of alerts, and what they are for alerts that are there already. */
const NUMBERS = [
  ["for", 1],
  ["recover", 1],
  ["repeat", 0],
  ["revision", 0],
  ["next_slot", 0],
  ["failures", 0],
] as const;

/** A table of texts that are never null, of a project. */
function ofProject(db: Kysely<unknown>, table: string, columns: readonly string[]) {
  let builder = db.schema.createTable(table) as CreateTableBuilder<string, string>;
  for (const name of ["team_id", "project_id", ...columns])
    builder = builder.addColumn(name, "text", (column) => column.notNull());
  return builder.addForeignKeyConstraint(
    `${table}_project`,
    ["team_id", "project_id"],
    "projects",
    ["team_id", "id"],
    (on) => on.onDelete("cascade"),
  );
}

async function addStates(db: Kysely<unknown>): Promise<void> {
  await ofProject(db, "alert_states", ["alert_id", "group_key", "episode_id", "since"])
    .addColumn("is_triggered", "integer", (column) => column.notNull())
    .addColumn("breaches", "integer", (column) => column.notNull())
    .addColumn("recoveries", "integer", (column) => column.notNull())
    .addColumn("value", "real", (column) => column.notNull())
    .addColumn("told_slot", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("alert_states_key", ["alert_id", "group_key"])
    .addForeignKeyConstraint("alert_states_alert", ["alert_id"], "alerts", ["id"], (on) => on.onDelete("cascade"))
    .execute();
}

async function addEpisodes(db: Kysely<unknown>): Promise<void> {
  const text = ["id", "alert_id", "group_key", "kind", "notification_id", "alert", "reason", "triggered_at"];
  await ofProject(db, "episodes", text)
    .addColumn("resolved_at", "text")
    .addColumn("value", "real", (column) => column.notNull())
    .addColumn("is_told", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("episodes_key", ["id"])
    .execute();
  const index = db.schema.createIndex("episodes_by_time").on("episodes");
  await index.columns(["team_id", "project_id", "triggered_at", "id"]).execute();
}

async function addDeliveries(db: Kysely<unknown>): Promise<void> {
  const text = ["id", "alert_id", "notification_id", "episode_id", "group_key", "kind", "message", "status"];
  await ofProject(db, "deliveries", [...text, "failure", "created_at", "due_at"])
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .addColumn("slot", "bigint", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("finished_at", "text")
    .addPrimaryKeyConstraint("deliveries_key", ["id"])
    .addUniqueConstraint("deliveries_sequence", ["sequence"])
    .addUniqueConstraint("deliveries_transition", ["alert_id", "group_key", "slot", "kind"])
    .execute();
  const byTime = db.schema.createIndex("deliveries_by_time").on("deliveries");
  await byTime.columns(["team_id", "project_id", "created_at", "id"]).execute();
  // All that is asked of what waits: messages are long, and there may be thousands.
  const byStatus = db.schema.createIndex("deliveries_by_status").on("deliveries");
  await byStatus.columns(["status", "notification_id", "sequence", "team_id", "attempts", "due_at"]).execute();
}
