import { copyFile, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { KEY_FILE, RECORDS_FILE } from "./open.ts";
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

/** What is wrong with the records of a folder that no service uses; undefined where they are whole. */
export async function wrongRecords(directory: string): Promise<string | undefined> {
  const path = join(directory, RECORDS_FILE);
  try {
    const database = await openDatabase(path);
    try {
      const [row] = database.prepare("pragma integrity_check(1)").all([]) as { integrity_check: string }[];
      if (row?.integrity_check !== "ok") return `${path} is damaged: ${row?.integrity_check}`;
    } finally {
      database.close();
    }
  } catch (error) {
    return `${path} is damaged: ${(error as Error).message}`;
  }
  const key = await readFile(join(directory, KEY_FILE)).catch(() => undefined);
  if (key?.length !== SEAL_KEY_BYTES) return `${join(directory, KEY_FILE)} is missing or damaged`;
  return undefined;
}
