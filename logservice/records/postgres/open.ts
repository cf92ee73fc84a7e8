import { randomBytes } from "node:crypto";
import { DEFAULT_MIGRATION_TABLE, Kysely, type KyselyConfig } from "kysely";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { RecordsAway } from "../away.ts";
import { RecordsError } from "../check.ts";
import { readKeyFile, readOrMakeKey } from "../key-file.ts";
import { isKnownMigration, migrateTables } from "../migrations.ts";
import type { OpenOptions, Records } from "../open.ts";
import { openSeal, SEAL_KEY_BYTES, type Seal } from "../seal.ts";
import type { Tables } from "../tables.ts";
import { RecordsDialect } from "./dialect.ts";
import { type PostgresPlace, placeName } from "./place.ts";
import { openPool, WrongEncoding } from "./pool.ts";

/**
 * Opens the records of a database, and creates missing tables. Rejects with a RecordsError if the database cannot be used, if
 * it is of a newer version, and if the key is another one than that of the other processes.
 */
export async function openPostgresRecords(
  place: PostgresPlace,
  keyPath: string,
  { makesKey = true, clock = systemClock }: OpenOptions = {},
): Promise<Records> {
  await prepareTables(place, clock);
  const db = await connect(place, clock);
  try {
    const seal = await sealOf(db, keyPath, makesKey);
    return {
      ...{ db, seal, isShared: true },
      // Whether others have changed them is not known without asking.
      dataVersion: () => undefined,
      isReplaced: () => false,
      close: () => db.destroy(),
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function connect<T = Tables>(place: PostgresPlace, clock: Clock, isForMigrations = false): Promise<Kysely<T>> {
  const pool = await openPool({ ...place, clock, isForMigrations });
  const config: KyselyConfig = { dialect: new RecordsDialect({ pool }) };
  return new Kysely<T>(config);
}

/** Brings the tables to this version. */
async function prepareTables(place: PostgresPlace, clock: Clock): Promise<void> {
  const db = await connect<unknown>(place, clock, true);
  try {
    await refuseForeign(place, db);
    await migrateTables(db, clock);
  } catch (error) {
    throw readable(place, error);
  } finally {
    await db.destroy();
  }
}

async function refuseForeign(place: PostgresPlace, db: Kysely<unknown>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  // Extensions have views.
  const names = new Set(tables.filter(({ isView }) => !isView).map(({ name }) => name));
  const foreign = new RecordsError(`${placeName(place)} has tables of another program`, {
    hint: "make a database of its own for the records",
  });
  const hasOthers = (await db.introspection.getTables()).some(({ isView }) => !isView);
  if (!names.has(DEFAULT_MIGRATION_TABLE)) {
    if (names.size === 0) return;
    throw foreign;
  }
  const rows = await (db as Kysely<Record<typeof DEFAULT_MIGRATION_TABLE, { name: string }>>)
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select("name")
    .execute();
  // Another program may be built on Kysely, too.
  if (hasOthers && !rows.some(({ name }) => isKnownMigration(name))) throw foreign;
  if (rows.every(({ name }) => isKnownMigration(name))) return;
  throw new RecordsError(`${placeName(place)} was written by a newer version of tool`, { hint: "upgrade tool" });
}

/** Where the fingerprint of the key is in the records. */
export const FINGERPRINT = "key_fingerprint";

/** Opens the key, which is the same for all processes: others could not read what this one seals, nor accept its links. */
async function sealOf(db: Kysely<Tables>, keyPath: string, makesKey: boolean): Promise<Seal> {
  const noted = await fingerprint(db);
  const there = await readKeyFile(keyPath);
  if (there === undefined && noted !== undefined && makesKey)
    throw new RecordsError(`${keyPath} is missing: the secrets in the records are sealed by a key`, {
      hint: "copy the file from another process, or put it back from a backup",
    });
  const key = there ?? (makesKey ? await readOrMakeKey(keyPath) : randomBytes(SEAL_KEY_BYTES));
  const seal = openSeal(key);
  const own = seal.sign("", FINGERPRINT);
  if (noted === undefined && makesKey)
    await db
      .insertInto("instance")
      .values({ key: FINGERPRINT, value: own })
      .onConflict((conflict) => conflict.column("key").doNothing())
      .execute();
  const all = noted ?? (await fingerprint(db));
  if (all === undefined || all === own || there === undefined) return seal;
  throw new RecordsError(`${keyPath} is not the key of these records`, {
    hint: "copy the file from another process, or put it back from a backup: all processes need the same key",
  });
}

async function fingerprint(db: Kysely<Tables>): Promise<string | undefined> {
  return (await db.selectFrom("instance").select("value").where("key", "=", FINGERPRINT).executeTakeFirst())?.value;
}

/** The error in words that say what to do. */
function readable(place: PostgresPlace, error: unknown): unknown {
  if (error instanceof RecordsError) return error;
  const cause = causeOf(error);
  const { code, message } = cause as { code?: unknown; message: string };
  const name = placeName(place);
  const said = (text: string, hint: string) => new RecordsError(`${name} ${text}`, { cause: error, hint });
  if (cause instanceof WrongEncoding)
    return said(message, "make another one: createdb --encoding UTF8 --template template0 NAME");
  const uncoded = DRIVER_ERRORS.find(({ pattern }) => pattern.test(message));
  if (code === undefined && uncoded !== undefined) return said(uncoded.text, uncoded.hint);
  switch (code) {
    case "28P01":
      return said(`does not let ${place.user} in: ${message}`, GIVE_PASSWORD);
    case "28000":
      return said(
        `does not let ${place.user} in: ${message}`,
        "let the user in at the server: by ALTER ROLE or in its pg_hba.conf",
      );
    case "25006":
      return said(
        `cannot be changed: ${message}`,
        "name the server that takes changes, or set default_transaction_read_only to off for the user and the database",
      );
    case "3F000":
      return said(
        `cannot be changed by ${place.user}: ${message}`,
        "make a schema for the records, and name it in the search_path of the user",
      );
    case "53300":
      return said(
        `has no connection left: ${message}`,
        "allow more at the server: max_connections, or the CONNECTION LIMIT of the user or the database",
      );
    case "3D000":
      return said("does not exist", `make it: createdb --encoding UTF8 ${place.database}`);
    case "42501":
      return said(
        `cannot be changed by ${place.user}: ${message}`,
        `let it make tables: GRANT CREATE ON SCHEMA public TO ${place.user}`,
      );
    case "53100":
      return said("cannot be changed to this version: no space left on its disk", "make room there, then start again");
    default:
      if (error instanceof RecordsAway || code !== undefined)
        return said(
          `cannot be opened: ${message || String(code)}`,
          "look whether the server runs and can be reached from here",
        );
      return error;
  }
}

const GIVE_PASSWORD = "give the password by --records-password FILE, or in TOOL_RECORDS_PASSWORD";

/** The errors of the driver that a setting mends; they have no codes. */
const DRIVER_ERRORS: readonly { readonly pattern: RegExp; readonly text: string; readonly hint: string }[] = [
  { pattern: /^SASL: .*client password must be/, text: "asks for a password", hint: GIVE_PASSWORD },
  {
    pattern: /^The server does not support SSL connections/,
    text: "takes no encrypted connections",
    hint: "have its server take them, or add ?sslmode=disable to the address if nobody can listen in between",
  },
];

/** The innermost error, which is that of the server or the network. */
function causeOf(error: unknown): Error {
  const { cause } = error as Error;
  return cause instanceof Error ? causeOf(cause) : (error as Error);
}
