import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { OperatorError } from "../error.ts";
import { RecordsAway } from "../records/away.ts";
import { isRecordsFull, RecordsError, unreadableFile } from "../records/check.ts";
import { instanceId } from "../records/instance.ts";
import { KEY_FILE } from "../records/key-file.ts";
import { type OpenOptions, openRecords, RECORDS_FILE, type Records } from "../records/open.ts";
import { openPostgresRecords } from "../records/postgres/open.ts";
import { type PostgresPlace, placeName } from "../records/postgres/place.ts";
import { hasProjects } from "../records/projects.ts";

/** The folder of the data directory that the events store has to itself. */
export const EVENTS_FOLDER = "events";

/** Where the records of a data directory are that are not in it. */
export interface RecordsPlace {
  readonly postgres: PostgresPlace;
  /** The file with the key of their secrets; the one in the data directory unless told otherwise. */
  readonly keyFile: string | undefined;
}

/** Names the database that has the records, so that nobody takes a data directory without records for a damaged one. */
const ELSEWHERE_FILE = "records-elsewhere";

export type DirectoryKind = "data directory" | "backup";

/** `restore` takes no folder that exists: what is left in a damaged one may be newer than the backup. */
export function restoreHint(folder: string): string {
  return `move ${folder} aside and restore a backup: tool service restore <backup> --data ${folder}`;
}

/** Whether the folder has records, as every data directory and every backup does. */
export function hasRecords(folder: string): boolean {
  return existsSync(join(folder, RECORDS_FILE));
}

/** Throws an OperatorError if the folder cannot be the data directory of a service that has its records there. */
export async function requireDataDirectory(folder: string, records?: RecordsPlace): Promise<void> {
  if (records === undefined) return requireDirectory(folder, "data directory", { mayBeCreated: true });
  await refuseTwoRecords(folder);
  if ([ELSEWHERE_FILE, EVENTS_FOLDER].some((name) => existsSync(join(folder, name)))) return;
  await refuseNoFolder(folder, "name the folder of the data");
  throw new OperatorError(`${folder} is not a data directory of a log service`, { mayBeCreated: true });
}

/** Throws an OperatorError if a folder has records of its own although others are named. */
export async function refuseTwoRecords(folder: string): Promise<void> {
  if (!hasRecords(folder)) return;
  throw new OperatorError(`${folder} has its records in ${RECORDS_FILE}, not in PostgreSQL`, {
    hint: "leave out --records and TOOL_RECORDS, or name the data directory of another service",
  });
}

/** Throws an OperatorError if the records of a folder are in a database. */
export async function refuseElsewhere(folder: string): Promise<void> {
  const place = await readFile(join(folder, ELSEWHERE_FILE), "utf8").catch(() => undefined);
  if (place === undefined) return;
  throw new OperatorError(`the records of ${folder} are in ${place.trim()}`, {
    hint: "give its address by --records, or in TOOL_RECORDS; a backup of them is made by pg_dump",
  });
}

/** Notes in a data directory that its records are in a database. */
export async function noteElsewhere(folder: string, { postgres }: RecordsPlace): Promise<void> {
  await writeFile(join(folder, ELSEWHERE_FILE), `${placeName(postgres)}\n`, { mode: 0o600 }).catch((error: unknown) => {
    throw operatorErrorOf(folder, error);
  });
}

/** Throws an OperatorError if the folder cannot be the data directory, or the backup, to copy. */
export async function requireDirectory(
  folder: string,
  kind: DirectoryKind,
  { mayBeCreated = false } = {},
): Promise<void> {
  const path = join(folder, RECORDS_FILE);
  try {
    await stat(path);
    return;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!/^(ENOENT|ENOTDIR)$/.test(code)) throw operatorErrorOf(path, error);
  }
  await refuseElsewhere(folder);
  await refuseLostRecords(folder);
  if (kind === "backup" && !existsSync(folder)) throw new OperatorError(`${folder} does not exist`);
  throw new OperatorError(`${folder} is not a ${kind} of a log service`, { mayBeCreated });
}

/** Throws an OperatorError if something other than a folder has the name. */
async function refuseNoFolder(path: string, hint: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats !== undefined && !stats.isDirectory()) throw new OperatorError(`${path} is not a folder`, { hint });
}

/** Throws an OperatorError if the folder has events and no records: new records would not know those. */
export async function refuseLostRecords(folder: string): Promise<void> {
  await refuseNoFolder(folder, "name the folder of the data, or one that does not exist yet");
  await refuseNoFolder(join(folder, EVENTS_FOLDER), "move it away: the service keeps a folder there");
  if (hasRecords(folder) || !(await hasFiles(join(folder, EVENTS_FOLDER)))) return;
  const path = join(folder, RECORDS_FILE);
  throw new OperatorError(`${path} is missing, but there are events`, { hint: restoreHint(folder) });
}

/** Throws an OperatorError if the records have projects but the folder of their events is missing. */
export async function refuseLostEvents(folder: string, records?: RecordsPlace): Promise<void> {
  const path = join(folder, EVENTS_FOLDER);
  await refuseNoFolder(path, `move it away and put the folder back, or ${restoreHint(folder)}`);
  if (existsSync(path)) return;
  if (!(await withRecords(folder, ({ db }) => hasProjects(db), { makesKey: false, records }))) return;
  throw new OperatorError(`${path} is missing`, {
    hint: `${restoreHint(folder)}\nor create the empty folder to continue without the events`,
  });
}

/** Whether there is a file at any depth that is not empty, except for the lock that a killed process leaves. */
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
 * Makes the folder for its owner only: it will hold secrets. The folder of the events is made at once, so that its loss is
 * noticed. Throws an OperatorError if the system refuses.
 */
export async function makeDirectory(folder: string): Promise<void> {
  try {
    await makeFolders(join(folder, EVENTS_FOLDER));
  } catch (error) {
    throw operatorErrorOf(folder, error);
  }
}

/**
 * Makes a folder and those above it that are missing, for their owner only. Node's own recursive mkdir tries for ever where
 * a system refuses new folders with ENOENT, as Linux does in /proc.
 */
export async function makeFolders(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      // Made by another process meanwhile.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/**
 * Returns the error to report for a folder that could not be opened: errors of the system in words, others as they are.
 */
export function operatorErrorOf(folder: string, cause: unknown): OperatorError {
  const { code = "", path = folder, message } = cause as NodeJS.ErrnoException;
  if (!/^E[A-Z]+$/.test(code)) return new OperatorError(message, { cause });
  const { message: text, hint } = unreadableFile(path, cause);
  return new OperatorError(text, { hint, cause });
}

/** How records are opened, and where, if they are not in their folder. */
export interface OpenPlaceOptions extends OpenOptions {
  readonly records?: RecordsPlace | undefined;
  /** Whether a database without records gets its tables here, and is filled by whoever opens it. */
  readonly mayBeEmpty?: boolean;
}

/** Runs `use` with the records of a folder, which are closed in the end. Throws an OperatorError if the disk is full. */
export async function withRecords<T>(
  folder: string,
  use: (records: Records) => Promise<T>,
  options?: OpenPlaceOptions,
): Promise<T> {
  const records = await openServiceRecords(folder, options);
  try {
    return await use(records);
  } catch (error) {
    if (error instanceof RecordsAway) throw awayError(error);
    if (!isRecordsFull(error)) throw error;
    throw new OperatorError(`no space left on the disk of ${folder}: nothing was changed`, {
      hint: "make room there, then try again",
      cause: error,
    });
  } finally {
    await records.close();
  }
}

const awayError = (error: RecordsAway) =>
  new OperatorError(`${error.message}: ${error.reason}`, { hint: error.advice, cause: error });

/** Opens the records. Throws an OperatorError if they are damaged, or cannot be reached. */
export async function openServiceRecords(
  folder: string,
  { records, mayBeEmpty = false, ...options }: OpenPlaceOptions = {},
): Promise<Records> {
  try {
    if (records === undefined) return await openRecords(folder, options);
    const { postgres, keyFile = join(folder, KEY_FILE) } = records;
    const opened = await openPostgresRecords(postgres, keyFile, options);
    if (mayBeEmpty || (await instanceId(opened.db)) !== undefined) return opened;
    await opened.close();
    throw new RecordsError(`${placeName(postgres)} has no records of a service`, {
      hint: "tool service init makes them, tool service migrate copies those of a data directory",
    });
  } catch (error) {
    if (error instanceof RecordsAway) throw awayError(error);
    if (!(error instanceof RecordsError)) throw error;
    const hint = error.hint ?? (records === undefined ? restoreHint(folder) : undefined);
    throw new OperatorError(error.message, { hint, cause: error });
  }
}
