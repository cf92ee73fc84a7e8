import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { RecordsError, unreadable } from "../../logservice/records/check.ts";
import { openRecords, RECORDS_FILE, type Records } from "../../logservice/records/open.ts";
import { listProjects } from "../../logservice/records/projects.ts";

export interface Wrong {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** `restore` takes no folder that is there: what is left in a damaged one may be newer than the backup. */
export function restoreHint(folder: string): string {
  return `move ${folder} aside and restore a backup: tool service restore <backup> --data ${folder}`;
}

/** The folder of the data directory that the events store has to itself. */
export const EVENTS_FOLDER = "events";

/** Whether `tool service init` made it. */
export function isServiceFolder(folder: string): boolean {
  return existsSync(join(folder, RECORDS_FILE));
}

/** Why a folder cannot be the data directory, or backup, that is asked for; undefined if it has records. */
export async function wrongFolder(
  folder: string,
  kind: "data directory" | "backup",
  hint?: string,
): Promise<Wrong | undefined> {
  const path = join(folder, RECORDS_FILE);
  try {
    await stat(path);
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!/^(ENOENT|ENOTDIR)$/.test(code)) return unreadable(path, error);
  }
  const lost = await lostRecords(folder);
  if (lost !== undefined) return lost;
  if (kind === "backup" && !existsSync(folder)) return { message: `${folder} does not exist`, hint };
  return { message: `${folder} is not a ${kind} of a log service`, hint };
}

/** What is wrong with a folder that has events and no records: new records would not know those. */
export async function lostRecords(folder: string): Promise<Wrong | undefined> {
  const path = join(folder, RECORDS_FILE);
  if (existsSync(path) || !(await hasFiles(join(folder, EVENTS_FOLDER)))) return undefined;
  return { message: `${path} is missing, but there are events`, hint: restoreHint(folder) };
}

/** What is wrong with a folder whose records have projects but whose events are not there. */
export async function lostEvents(folder: string): Promise<Wrong | undefined> {
  const path = join(folder, EVENTS_FOLDER);
  if (existsSync(path)) return undefined;
  const records = await openServiceRecords(folder);
  if ("message" in records) return records;
  try {
    if ((await listProjects(records.db)).length === 0) return undefined;
  } finally {
    await records.close();
  }
  return {
    message: `${path} is missing`,
    hint: `${restoreHint(folder)}\nor create the empty folder to continue without the events`,
  };
}

/** Whether there is a file anywhere below that is not empty, but for the lock that a killed process leaves. */
async function hasFiles(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isFull = entry.isDirectory() ? await hasFiles(path) : entry.name !== "lock" && (await stat(path)).size > 0;
    if (isFull) return true;
  }
  return false;
}

/**
 * Makes the folder for its owner only: there are secrets in it. The events have their folder from the start, so that its
 * loss is noticed. Gives what is wrong if the system does not let it be made.
 */
export async function makeDataFolder(folder: string): Promise<Wrong | undefined> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(join(folder, EVENTS_FOLDER), { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    return notOpened(folder, error);
  }
}

/** What to say of a folder that could not be opened: the system's errors in words, others as they are. */
export function notOpened(folder: string, error: unknown): Wrong {
  const { code = "", path = folder, message } = error as NodeJS.ErrnoException;
  if (!/^E[A-Z]+$/.test(code)) return { message };
  const { message: text, hint } = unreadable(path, error);
  return { message: text, hint };
}

/** The records, or why they cannot be opened. */
export async function openServiceRecords(folder: string): Promise<Records | Wrong> {
  try {
    return await openRecords(folder);
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error;
    return { message: error.message, hint: error.hint ?? restoreHint(folder) };
  }
}
