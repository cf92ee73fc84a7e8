import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely, SqliteDialect } from "kysely";
import { checkFile } from "./check.ts";
import { KEY_FILE, readOrMakeKey } from "./key-file.ts";
import { migrate } from "./migrations.ts";
import { openSeal, type Seal } from "./seal.ts";
import { openSqlite } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

/** Everything but events: what the operations read and change. */
export interface Records {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
  /** Changes when another process changed the records. */
  dataVersion(): number;
  close(): Promise<void>;
}

export const RECORDS_FILE = "records.sqlite";

/**
 * Opens the records of a data directory, which is there; makes what is not there yet. Rejects with a RecordsError if
 * the file is damaged or of a newer version, before anything is changed, and if its key cannot be read.
 */
export async function openRecords(directory: string): Promise<Records> {
  const path = join(directory, RECORDS_FILE);
  if (existsSync(path)) await checkFile(path, "r+");
  const database = await openSqlite(path);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  try {
    const seal = openSeal(await readOrMakeKey(join(directory, KEY_FILE)));
    await migrate(db as Kysely<unknown>);
    return { db, seal, dataVersion: () => database.dataVersion(), close: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
