import { randomBytes } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Kysely, SqliteDialect } from "kysely";
import { migrate } from "./migrations.ts";
import { openSeal, SEAL_KEY_BYTES, type Seal } from "./seal.ts";
import { openSqlite } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

/** Everything but events: what the operations read and change. */
export interface Records {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
  close(): Promise<void>;
}

export const RECORDS_FILE = "records.sqlite";
export const KEY_FILE = "secrets.key";

/** Opens the records of a data directory, which is there; makes what is not there yet. */
export async function openRecords(directory: string): Promise<Records> {
  const seal = openSeal(await readOrMakeKey(join(directory, KEY_FILE)));
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: await openSqlite(join(directory, RECORDS_FILE)) }),
  });
  await migrate(db as Kysely<unknown>);
  return { db, seal, close: () => db.destroy() };
}

/** The key lies in a file of its own, for its owner only, so that a copy of the records alone opens nothing. */
async function readOrMakeKey(path: string): Promise<Buffer> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readFile(path);
  }
  try {
    const key = randomBytes(SEAL_KEY_BYTES);
    await file.writeFile(key);
    // A lost key would be noticed when the first notification is told.
    await file.sync();
    return key;
  } finally {
    await file.close();
  }
}
