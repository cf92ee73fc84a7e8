import {
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  DEFAULT_MIGRATION_TABLE,
  type Kysely,
  type Migration,
  Migrator,
} from "kysely";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { accountsMigration } from "./accounts-migration.ts";
import { ALERTING } from "./alerting-migration.ts";
import { APP_TOKENS } from "./app-tokens-migration.ts";
import { BUDGETS } from "./budgets-migration.ts";
import { EXPORT_TICKETS } from "./export-tickets-migration.ts";
import { LATE_EVENTS } from "./late-events-migration.ts";
import { MANAGED } from "./managed-migration.ts";
import { NUMBERS } from "./numbers-migration.ts";
import { PACE } from "./pace-migration.ts";
import { REPEATS } from "./repeats-migration.ts";
import { ROW_SUMS } from "./row-sums-migration.ts";
import { SUBSCRIPTIONS } from "./subscriptions-migration.ts";
import type { Tables } from "./tables.ts";
import { UNPROVEN } from "./unproven-migration.ts";
import { WATCHED_DISK } from "./watched-disk-migration.ts";

/** How often a migration is tried that another process does at the same time, and the pause before each further try. */
const TRIES = 20;
const PAUSE_MS = 250;

/** Migrates the tables to this version. Each migration runs once, in the order of their names; none is ever edited. */
export async function migrateTables(db: Kysely<unknown>, clock: Clock): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrationsBy(clock) } });
  for (let tries = 1; ; tries++) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (tries === TRIES || !isConflict(error))
      throw new Error("the records cannot be migrated to this version", { cause: error });
    await clock.sleep(PAUSE_MS);
  }
}

/** Whether another process did the same at the same time, such as `tool service token` beside a start after an upgrade. */
function isConflict(error: unknown): boolean {
  const text = error instanceof Error ? error.message : String(error);
  return /UNIQUE constraint failed: kysely_migration|duplicate column name|already exists|is locked/.test(text);
}

/** The table with the names of the migrations that have run. */
export const MIGRATION_TABLE = DEFAULT_MIGRATION_TABLE;

export function isKnownMigration(name: string): boolean {
  return Object.hasOwn(migrationsBy(systemClock), name);
}

/** All migrations by their name. The times of rows that they add are those of `clock`. */
const migrationsBy = (clock: Clock): Record<string, Migration> => ({
  "2026-01-records": {
    async up(db: Kysely<unknown>) {
      const text = (table: string, columns: readonly string[]) => {
        let builder = db.schema.createTable(table) as CreateTableBuilder<string, string>;
        for (const name of columns) {
          builder = builder.addColumn(name, "text", (column) =>
            name === "id" ? column.primaryKey() : column.notNull(),
          );
        }
        return builder;
      };
      const times = ["created_at", "updated_at"];
      await text("projects", ["id", "name", "description", "location", "mode", ...times])
        .addColumn("retention", "integer", (column) => column.notNull())
        .execute();
      await text("notifications", [
        "id",
        "project_id",
        "type",
        "name",
        "email_addresses",
        "sms_numbers",
        "slack_webhook_url",
        "slack_channel",
        "webhook_url",
        "pagerduty_service_key",
        ...times,
      ])
        .addForeignKeyConstraint("notifications_project", ["project_id"], "projects", ["id"], (on) =>
          on.onDelete("cascade"),
        )
        .execute();
      await text("alerts", [
        "id",
        "project_id",
        "name",
        "description",
        "query",
        "severity",
        "operator",
        "notification_id",
        ...times,
      ])
        .addColumn("threshold", "bigint", (column) => column.notNull())
        .addColumn("limit", "integer", (column) => column.notNull())
        .addColumn("interval", "integer", (column) => column.notNull())
        .addColumn("muted", "integer", (column) => column.notNull())
        .addColumn("triggered", "integer", (column) => column.notNull())
        .addForeignKeyConstraint("alerts_project", ["project_id"], "projects", ["id"], (on) => on.onDelete("cascade"))
        .execute();
      await text("searches", ["id", "project_id", "name", "query", ...times])
        .addForeignKeyConstraint("searches_project", ["project_id"], "projects", ["id"], (on) => on.onDelete("cascade"))
        .execute();
      for (const table of ["notifications", "alerts", "searches"]) {
        await db.schema.createIndex(`${table}_by_project`).on(table).column("project_id").execute();
      }
      await text("tokens", ["id", "hash", "description", "scopes", "created_at"])
        .addColumn("last_used_at", "text")
        .addUniqueConstraint("tokens_hash", ["hash"])
        .execute();
      await text("audit", ["id", "at", "actor", "operation", "project_id", "target_id"]).execute();
      await text("outbox", ["id", "kind", "project_id", "notification_id", "payload", "created_at"])
        .addForeignKeyConstraint("outbox_project", ["project_id"], "projects", ["id"], (on) => on.onDelete("cascade"))
        .execute();
      await db.schema
        .createTable("instance")
        .addColumn("key", "text", (column) => column.primaryKey())
        .addColumn("value", "text", (column) => column.notNull())
        .execute();
    },
  },
  // SQLite does not run a migration in one transaction: the process may have ended after any step.
  "2026-11-events": {
    async up(db: Kysely<unknown>) {
      const tables = await db.introspection.getTables();
      const columns = tables.find(({ name }) => name === "projects")!.columns;
      if (!columns.some(({ name }) => name === "events_key")) {
        const empty = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo("");
        await db.schema.alterTable("projects").addColumn("events_key", "text", empty).execute();
      }
      // The events of existing projects are stored under the id.
      await (db as Kysely<Pick<Tables, "projects">>)
        .updateTable("projects")
        .set((row) => ({ events_key: row.ref("id") }))
        .where("events_key", "=", "")
        .execute();
      const index = db.schema.createIndex("projects_events_key").ifNotExists().unique();
      await index.on("projects").column("events_key").execute();
      await db.schema
        .createTable("accepted_losses")
        .ifNotExists()
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("at", "text", (column) => column.notNull())
        .execute();
    },
  },
  "2026-11-refusals": {
    async up(db: Kysely<unknown>) {
      const tables = await db.introspection.getTables();
      const columns = tables.find(({ name }) => name === "audit")!.columns.map(({ name }) => name);
      for (const [name, before] of [
        ["address", ""],
        // Refusals were not written before.
        ["result", "done"],
      ] as const) {
        const column = (builder: ColumnDefinitionBuilder) => builder.notNull().defaultTo(before);
        if (!columns.includes(name)) await db.schema.alterTable("audit").addColumn(name, "text", column).execute();
      }
      await db.schema.createIndex("audit_by_time").ifNotExists().on("audit").columns(["at", "id"]).execute();
    },
  },
  "2026-11-teams": accountsMigration(clock),
  "2026-11-unproven": UNPROVEN,
  ...LATER,
});

const LATER = {
  "2026-12-alerting": ALERTING,
  "2026-12-pace": PACE,
  "2026-12-phone-numbers": NUMBERS,
  "2026-12-row-sums": ROW_SUMS,
  "2026-12-watched-disk": WATCHED_DISK,
  // Kysely runs them in the order of their names.
  "2027-01-subscriptions": SUBSCRIPTIONS,
  "2027-02-app-tokens": APP_TOKENS,
  "2027-03-late-events": LATE_EVENTS,
  "2027-04-managed": MANAGED,
  "2027-05-export-tickets": EXPORT_TICKETS,
  "2027-06-budgets": BUDGETS,
  "2027-07-repeats": REPEATS,
} satisfies Record<string, Migration>;
