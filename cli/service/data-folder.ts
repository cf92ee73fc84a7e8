import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openRecords, RECORDS_FILE, type Records } from "../../logservice/records/open.ts";

/** Of the data directory; the events store has all below it to itself. */
export const EVENTS_FOLDER = "events";

/** Whether `tool service init` made it. */
export function isServiceFolder(folder: string): boolean {
  return existsSync(join(folder, RECORDS_FILE));
}

/** For its owner only: there are secrets in it. */
export async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

export function openServiceRecords(folder: string): Promise<Records> {
  return openRecords(folder);
}
