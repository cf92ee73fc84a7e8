import { copyFile, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkFile, RecordsError } from "./check.ts";
import { KEY_FILE } from "./key-file.ts";
import { RECORDS_FILE } from "./open.ts";
import { SEAL_KEY_BYTES } from "./seal.ts";
import { openDatabase } from "./sqlite.ts";

/** Copies the records of a data directory, as they are at one moment, with the key of their secrets; also beside a service. */
export async function copyRecords(from: string, to: string): Promise<void> {
  const database = await openDatabase(join(from, RECORDS_FILE));
  try {
    // One transaction that reads, and a file without a log beside it.
    database.prepare("vacuum into ?").run([join(to, RECORDS_FILE)]);
  } finally {
    database.close();
  }
  await copyFile(join(from, KEY_FILE), join(to, KEY_FILE));
  for (const name of [RECORDS_FILE, KEY_FILE]) {
    const handle = await open(join(to, name), "r+");
    await handle.sync().finally(() => handle.close());
  }
}

/** Throws a RecordsError if the records of a folder are damaged. */
export async function checkRecords(directory: string): Promise<void> {
  await checkFile(join(directory, RECORDS_FILE), "r");
  const path = join(directory, KEY_FILE);
  const key = await readFile(path).catch(() => undefined);
  if (key?.length === SEAL_KEY_BYTES) return;
  throw new RecordsError(`${path} is missing or damaged`, { hint: "put the file back, or take another backup" });
}
