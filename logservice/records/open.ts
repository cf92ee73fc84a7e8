import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely, SqliteDialect } from "kysely";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { checkFile, isRecordsFull, RecordsError } from "./check.ts";
import { KEY_FILE, readKeyFile, readOrMakeKey } from "./key-file.ts";
import { migrateTables } from "./migrations.ts";
import { openSeal, SEAL_KEY_BYTES, type Seal } from "./seal.ts";
import { isShareable, openSqlite } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

/** The store of everything but events. */
export interface Records {
  readonly db: Kysely<Tables>;
  readonly seal: Seal;
  /** Whether other processes can open them meanwhile: not after a start on a full disk. */
  readonly isShared: boolean;
  /** A number that changes when another process changes the records; undefined if they may have changed since each look. */
  dataVersion(): number | undefined;
  /** Whether another file has their name by now, or none. Then changes throw RecordsReplaced. */
  isReplaced(): boolean;
  close(): Promise<void>;
}

export const RECORDS_FILE = "records.sqlite";

export interface OpenOptions {
  /** Whether a missing key is made again, as by default. Otherwise the records open without it, and so without secrets. */
  readonly makesKey?: boolean;
  readonly clock?: Clock;
}

/**
 * Opens the records of a data directory, which must exist, and creates missing files. Rejects with a RecordsError, before
 * anything is changed, if the file is damaged or of a newer version, and if its key cannot be read.
 */
export async function openRecords(
  directory: string,
  { makesKey = true, clock = systemClock }: OpenOptions = {},
): Promise<Records> {
  const path = join(directory, RECORDS_FILE);
  if (existsSync(path)) await checkFile(path, "r+");
  const isShared = await isShareable(path);
  const database = await openSqlite(path);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  try {
    const keyPath = join(directory, KEY_FILE);
    const key = makesKey ? await readOrMakeKey(keyPath) : ((await readKeyFile(keyPath)) ?? randomBytes(SEAL_KEY_BYTES));
    const seal = openSeal(key);
    await migrateTables(db as Kysely<unknown>, clock);
    const { dataVersion, isReplaced } = database;
    return { db, seal, isShared, dataVersion, isReplaced, close: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    if (!isRecordsFull((error as Error).cause)) throw error;
    throw new RecordsError(`${path} cannot be changed to this version: no space left on device`, {
      cause: error,
      hint: "make room on its disk, then start again: nothing was lost",
    });
  }
}
