import type { CreateTableBuilder, Kysely, Migration } from "kysely";
import type { Clock } from "../../grammar/units/clock.ts";
import { atOnce } from "./at-once.ts";
import type { Tables } from "./tables.ts";

/** The team of everything that was there before there were teams. `tool service init` gives a new directory's another id. */
export const FIRST_TEAM = "owner";

/**
 * Gives every record a team. The key of a project becomes (team, id), so the tables that refer to it are made again. All of
 * it is one transaction, which is possible for tables, too: after a crash it has happened or it has not.
 */
export const accountsMigration = (clock: Clock): Migration => ({
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables();
    if (tables.some(({ name }) => name === "teams")) return;
    await atOnce(db, async (transaction) => {
      await addAccounts(transaction);
      const now = new Date(clock.nowMs()).toISOString();
      await (transaction as Kysely<unknown> as Kysely<Tables>)
        .insertInto("teams")
        .values({ id: FIRST_TEAM, name: "First team", created_at: now, updated_at: now })
        .execute();
      await moveProjects(transaction);
      await extendTokens(transaction);
    });
  },
});

type Builder = CreateTableBuilder<string, string>;

/** A table of texts that are never null. */
function texts(db: Kysely<unknown>, table: string, columns: readonly string[]): Builder {
  let builder = db.schema.createTable(table) as Builder;
  for (const name of columns) builder = builder.addColumn(name, "text", (column) => column.notNull());
  return builder;
}

async function addAccounts(db: Kysely<unknown>): Promise<void> {
  const times = ["created_at", "updated_at"];
  await texts(db, "users", ["id", "email", "email_key", "created_at"])
    .addPrimaryKeyConstraint("users_key", ["id"])
    .addUniqueConstraint("users_email", ["email_key"])
    .execute();
  await texts(db, "identities", ["issuer", "subject", "user_id", "created_at"])
    .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
    .addForeignKeyConstraint("identities_user", ["user_id"], "users", ["id"], (on) => on.onDelete("cascade"))
    .execute();
  await texts(db, "teams", ["id", "name", ...times])
    .addPrimaryKeyConstraint("teams_key", ["id"])
    .execute();
  await texts(db, "memberships", ["team_id", "user_id", "role", "created_at"])
    .addPrimaryKeyConstraint("memberships_key", ["team_id", "user_id"])
    .addForeignKeyConstraint("memberships_team", ["team_id"], "teams", ["id"], (on) => on.onDelete("cascade"))
    .addForeignKeyConstraint("memberships_user", ["user_id"], "users", ["id"], (on) => on.onDelete("cascade"))
    .execute();
  await texts(db, "invites", ["id", "team_id", "email", "email_key", "role", "created_by", "created_at", "expires_at"])
    .addColumn("mailed_at", "text")
    .addPrimaryKeyConstraint("invites_key", ["id"])
    .addUniqueConstraint("invites_email", ["team_id", "email_key"])
    .addForeignKeyConstraint("invites_team", ["team_id"], "teams", ["id"], (on) => on.onDelete("cascade"))
    .execute();
  const who = ["email", "email_key", "secret_hash", "code", "device", "address", "team_id", "identity"];
  await texts(db, "sign_ins", ["id", "kind", ...who, "status", "created_at", "expires_at"])
    .addColumn("tries_left", "integer", (column) => column.notNull())
    .addColumn("mailed_at", "text")
    .addPrimaryKeyConstraint("sign_ins_key", ["id"])
    .execute();
  await texts(db, "sessions", ["hash", "id", "user_id", "device", "address", "created_at", "last_used_at"])
    .addPrimaryKeyConstraint("sessions_key", ["hash"])
    .addForeignKeyConstraint("sessions_user", ["user_id"], "users", ["id"], (on) => on.onDelete("cascade"))
    .execute();
  for (const [table, column] of [
    ["memberships", "user_id"],
    ["sign_ins", "email_key"],
    ["sessions", "user_id"],
  ] as const)
    await db.schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
}

/** The columns of text and of numbers of each table that refers to projects. */
const OF_PROJECTS: Readonly<Record<string, { readonly text: readonly string[]; readonly numbers: readonly string[] }>> =
  {
    notifications: {
      text: [
        ...["id", "project_id", "type", "name", "email_addresses", "sms_numbers", "slack_webhook_url"],
        ...["slack_channel", "webhook_url", "pagerduty_service_key", "created_at", "updated_at"],
      ],
      numbers: [],
    },
    alerts: {
      text: [
        ...["id", "project_id", "name", "description", "query", "severity", "operator", "notification_id"],
        ...["created_at", "updated_at"],
      ],
      numbers: ["threshold", "limit", "interval", "muted", "triggered"],
    },
    searches: { text: ["id", "project_id", "name", "query", "created_at", "updated_at"], numbers: [] },
    outbox: { text: ["id", "kind", "project_id", "notification_id", "payload", "created_at"], numbers: [] },
  };

async function moveProjects(db: Kysely<unknown>): Promise<void> {
  const text = ["id", "events_key", "name", "description", "location", "mode", "created_at", "updated_at"];
  await texts(db, "new_projects", ["team_id", ...text])
    .addColumn("retention", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("projects_key", ["team_id", "id"])
    .addForeignKeyConstraint("projects_team", ["team_id"], "teams", ["id"])
    .execute();
  await copy(db, "projects", [...text, "retention"]);
  for (const [table, { text, numbers }] of Object.entries(OF_PROJECTS)) {
    let builder = texts(db, `new_${table}`, ["team_id", ...text]);
    // A threshold may be as large as float64 holds exactly.
    for (const name of numbers)
      builder = builder.addColumn(name, name === "threshold" ? "bigint" : "integer", (column) => column.notNull());
    await builder
      .addPrimaryKeyConstraint(`${table}_key`, ["id"])
      .addForeignKeyConstraint(`${table}_project`, ["team_id", "project_id"], "new_projects", ["team_id", "id"], (on) =>
        on.onDelete("cascade"),
      )
      .execute();
    await copy(db, table, [...text, ...numbers]);
    await db.schema.dropTable(table).execute();
  }
  await db.schema.dropTable("projects").execute();
  // References follow the names.
  for (const table of ["projects", ...Object.keys(OF_PROJECTS)])
    await db.schema.alterTable(`new_${table}`).renameTo(table).execute();
  await db.schema.createIndex("projects_events_key").unique().on("projects").column("events_key").execute();
  for (const table of ["notifications", "alerts", "searches"])
    await db.schema.createIndex(`${table}_by_project`).on(table).columns(["team_id", "project_id"]).execute();
}

async function copy(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  const any = db as Kysely<Record<string, Record<string, unknown>>>;
  await any
    .insertInto(`new_${table}`)
    .columns(["team_id", ...columns])
    .expression(
      any
        .selectFrom(table)
        .select((row) => [row.val(FIRST_TEAM).as("team_id"), ...columns.map((one) => row.ref(one).as(one))]),
    )
    .execute();
}

async function extendTokens(db: Kysely<unknown>): Promise<void> {
  for (const [table, column, before] of [
    ["tokens", "team_id", FIRST_TEAM],
    ["tokens", "kind", "api"],
    ["tokens", "created_by", ""],
    ["audit", "team_id", FIRST_TEAM],
    ["audit", "detail", ""],
  ] as const)
    await db.schema
      .alterTable(table)
      .addColumn(column, "text", (builder) => builder.notNull().defaultTo(before))
      .execute();
  await db.schema.alterTable("tokens").addColumn("expires_at", "text").execute();
  await db.schema.createIndex("tokens_by_team").on("tokens").columns(["team_id", "created_by"]).execute();
  // Refusals of unknown tokens belong to nobody.
  await (db as Kysely<Tables>).updateTable("audit").set({ team_id: "" }).where("actor", "=", "").execute();
  await db.schema.createIndex("audit_by_team").on("audit").columns(["team_id", "at", "id"]).execute();
}
