import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Records } from "../open.ts";
import type { Tables } from "../tables.ts";
import { transact } from "../transact.ts";
import { FINGERPRINT } from "./open.ts";

/** All tables with the columns that their rows are read in the order of; those that others refer to come first. */
const TABLES = {
  teams: ["id"],
  users: ["id"],
  identities: ["issuer", "subject"],
  memberships: ["team_id", "user_id"],
  invites: ["id"],
  sign_ins: ["id"],
  sessions: ["hash"],
  projects: ["team_id", "id"],
  notifications: ["id"],
  alerts: ["id"],
  searches: ["id"],
  tokens: ["id"],
  alert_states: ["alert_id", "group_key"],
  episodes: ["id"],
  deliveries: ["id"],
  audit: ["id"],
  instance: ["key"],
  late_minutes: ["sequence"],
  lateness: ["events_key"],
  export_tickets: ["hash"],
  budgets: ["hash"],
  repeats: ["hash"],
  accepted_losses: ["id"],
  subscriptions: ["team_id"],
  billing_events: ["id"],
} as const satisfies { readonly [Table in keyof Tables]: readonly (keyof Tables[Table] & string)[] };

type TableName = keyof typeof TABLES;

/** The mark of records that were copied and that no service has run on yet: they may be copied again. */
const COPIED = "copied_at";

/** Rows of `instance` that are those of the database itself. */
const OWN_KEYS = [FINGERPRINT, COPIED];

/** Below the 65,535 parameters that a statement of PostgreSQL has at most. */
const PAGE_ROWS = 500;

export interface CopiedRows {
  readonly tables: number;
  readonly rows: number;
}

type Row = Record<string, unknown>;
type AnyDb = Kysely<Record<string, Record<string, unknown>>>;

/**
 * Replaces all rows of `to` by those of `from`, in one transaction, and compares both by counts and checksums before its end.
 * Returns undefined, and changes nothing, if `to` is in use or of another installation.
 */
export function copyRows(from: Records, to: Records, now: string): Promise<CopiedRows | undefined> {
  const source = from.db as unknown as AnyDb;
  return transact(to.db, async (transaction) => {
    if (!(await isFree(from.db, transaction))) return undefined;
    const target = transaction as unknown as AnyDb;
    const names = Object.keys(TABLES) as TableName[];
    for (const table of names.toReversed()) {
      const rows = target.deleteFrom(table);
      await (table === "instance" ? rows.where("key", "not in", OWN_KEYS) : rows).execute();
    }
    const sums = new Map<TableName, Sum>();
    for (const table of names) {
      const sum = new Sum();
      for await (const page of pagesOf(source, table)) {
        sum.add(page);
        await target.insertInto(table).values(page).execute();
      }
      sums.set(table, sum);
    }
    await countOn(transaction);
    for (const table of names) {
      const sum = new Sum();
      for await (const page of pagesOf(target, table)) sum.add(page);
      if (!sum.equals(sums.get(table)!)) throw new Error(`the rows of ${table} are not those that were copied`);
    }
    await transaction
      .insertInto("instance")
      .values({ key: COPIED, value: now })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: now }))
      .execute();
    return { tables: names.length, rows: [...sums.values()].reduce((all, { count }) => all + count, 0) };
  });
}

/** To be called when a service starts: from now on its records are not copied over. */
export async function noteInUse(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom("instance").where("key", "=", COPIED).execute();
}

/** Whether the records hold none, or a copy of the same installation that was never used. */
async function isFree(from: Kysely<Tables>, to: Kysely<Tables>): Promise<boolean> {
  const noteOf = async (db: Kysely<Tables>, key: string) =>
    (await db.selectFrom("instance").select("value").where("key", "=", key).executeTakeFirst())?.value;
  const id = await noteOf(to, "id");
  return id === undefined || (id === (await noteOf(from, "id")) && (await noteOf(to, COPIED)) !== undefined);
}

async function* pagesOf(db: AnyDb, table: TableName): AsyncGenerator<readonly Row[]> {
  for (let offset = 0; ; offset += PAGE_ROWS) {
    let query = db.selectFrom(table).selectAll();
    if (table === "instance") query = query.where("key", "not in", OWN_KEYS);
    for (const column of TABLES[table]) query = query.orderBy(column);
    const rows = await query.limit(PAGE_ROWS).offset(offset).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
  }
}

/** Numbers of late minutes go on after the greatest that any alert has seen. */
async function countOn(db: Kysely<Tables>): Promise<void> {
  const { last } = await db
    .selectFrom("late_minutes")
    .select(({ fn }) => fn.max("sequence").as("last"))
    .executeTakeFirstOrThrow();
  const { seen } = await db
    .selectFrom("alerts")
    .select(({ fn }) => fn.max("late_seen").as("seen"))
    .executeTakeFirstOrThrow();
  const number = Math.max(Number(last ?? 0), Number(seen ?? 0), 1);
  await db
    .selectNoFrom(({ fn, val }) =>
      fn("setval", [fn("pg_get_serial_sequence", [val("late_minutes"), val("sequence")]), val(number)]).as("last"),
    )
    .execute();
}

/** The count and the checksum of rows in their order. */
class Sum {
  count = 0;
  readonly #hash = createHash("sha256");
  #digest: string | undefined;

  add(rows: readonly Row[]): void {
    this.count += rows.length;
    for (const row of rows) this.#hash.update(JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  equals(other: Sum): boolean {
    return this.count === other.count && this.#hex() === other.#hex();
  }

  #hex(): string {
    this.#digest ??= this.#hash.digest("hex");
    return this.#digest;
  }
}
