import { copyFile, open } from "node:fs/promises";
import { join } from "node:path";
import { Kysely, SqliteDialect } from "kysely";
import { readDataFile } from "../data-file.ts";
import { checkFile, RecordsError } from "./check.ts";
import { EVENTS_POSITION } from "./instance.ts";
import { KEY_FILE } from "./key-file.ts";
import { RECORDS_FILE } from "./open.ts";
import { SEAL_KEY_BYTES } from "./seal.ts";
import { openDatabase, openSqlite } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

/** Copies a snapshot of the records of a data directory, with the key of their secrets, also while a service runs. */
export async function copyRecords(from: string, to: string): Promise<void> {
  const database = await openDatabase(join(from, RECORDS_FILE));
  try {
    // Reads in one transaction and writes a file that needs no WAL.
    database.prepare("vacuum into ?").run([join(to, RECORDS_FILE)]);
  } finally {
    database.close();
  }
  await forgetPosition(to);
  await copyFile(join(from, KEY_FILE), join(to, KEY_FILE));
  for (const name of [RECORDS_FILE, KEY_FILE]) {
    const handle = await open(join(to, name), "r+");
    await handle.sync().finally(() => handle.close());
  }
}

/** The records are copied after the events, so that the copy of these may not have come as far as they had then. */
async function forgetPosition(directory: string): Promise<void> {
  const database = await openDatabase(join(directory, RECORDS_FILE));
  try {
    database.prepare("delete from instance where key = ?").run([EVENTS_POSITION]);
  } finally {
    database.close();
  }
}

/**
 * Signs everybody out in a copy of the records: it may bring back a session or a token of the command line that was ended
 * since. What programs ask with stays, as they could not sign in again. Records from before there were people have nothing.
 */
export async function signEverybodyOut(directory: string): Promise<void> {
  const database = await openSqlite(join(directory, RECORDS_FILE));
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  try {
    const tables = await db.introspection.getTables();
    if (!tables.some(({ name }) => name === "sessions")) return;
    await db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom("sessions").execute();
      await transaction.deleteFrom("sign_ins").execute();
      await transaction.deleteFrom("tokens").where("kind", "=", "command").execute();
    });
  } finally {
    await db.destroy();
  }
}

/** The ids of the losses of events that the records of a folder have as accepted. Unlike opening them, this changes nothing. */
export async function acceptedIn(directory: string): Promise<ReadonlySet<string>> {
  const database = await openDatabase(join(directory, RECORDS_FILE));
  try {
    const tables = database.prepare("select name from sqlite_schema where name = 'accepted_losses'").all([]);
    // Records of the first versions have none.
    if (tables.length === 0) return new Set();
    const rows = database.prepare("select id from accepted_losses").all([]) as { id: string }[];
    return new Set(rows.map(({ id }) => id));
  } finally {
    database.close();
  }
}

/** Throws a RecordsError if the records of a folder are damaged. */
export async function checkRecords(directory: string): Promise<void> {
  await checkFile(join(directory, RECORDS_FILE), "r");
  const path = join(directory, KEY_FILE);
  const key = await readDataFile(path).catch(() => undefined);
  if (key?.length === SEAL_KEY_BYTES) return;
  throw new RecordsError(`${path} is missing or damaged`, { hint: "put the file back, or take another backup" });
}
