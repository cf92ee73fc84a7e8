import { constants } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError } from "../error.ts";
import { livingOwnerOf } from "../events/lock.ts";
import { copyRecords } from "../records/copy.ts";
import { KEY_FILE } from "../records/key-file.ts";
import { type CopiedRows, copyRows } from "../records/postgres/copy-rows.ts";
import { placeName } from "../records/postgres/place.ts";
import {
  EVENTS_FOLDER,
  openServiceRecords,
  operatorErrorOf,
  type RecordsPlace,
  requireDataDirectory,
} from "./data-directory.ts";

/**
 * Copies the records of a data directory into a database, all or none of them. The directory is not changed: a snapshot of the
 * records is read, which is brought to this version first. Throws an OperatorError if a service runs there, or the database has
 * other records.
 */
export async function migrateRecords(from: string, records: RecordsPlace, nowMs: number): Promise<CopiedRows> {
  await requireDataDirectory(from);
  const pid = await livingOwnerOf(join(from, EVENTS_FOLDER));
  if (pid !== undefined)
    throw new OperatorError(`the service runs there (process ${pid})`, {
      hint: "stop it first: what it changes meanwhile would be missing",
    });
  const keyFile = records.keyFile ?? join(from, KEY_FILE);
  if (records.keyFile !== undefined) await copyKey(join(from, KEY_FILE), records.keyFile);
  const snapshot = await mkdtemp(join(tmpdir(), "tool-migrate-"));
  try {
    await copyRecords(from, snapshot);
    const source = await openServiceRecords(snapshot);
    try {
      const target = await openServiceRecords(from, { records: { ...records, keyFile }, mayBeEmpty: true });
      try {
        const copied = await copyRows(source, target, new Date(nowMs).toISOString());
        if (copied !== undefined) return copied;
        throw new OperatorError(`${placeName(records.postgres)} has the records of a service already`, {
          hint: "name a database without any",
        });
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  } finally {
    await rm(snapshot, { recursive: true, force: true });
  }
}

/** The secrets stay sealed by the key that they are sealed by. A file that is there is compared when the records are opened. */
async function copyKey(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw operatorErrorOf(to, error);
  });
}
