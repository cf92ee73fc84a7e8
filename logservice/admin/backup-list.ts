import { createReadStream } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { crc32 } from "node:zlib";
import { readDataFile } from "../data-file.ts";
import { OperatorError } from "../error.ts";
import { printWithChecksum, readWithChecksum, unlessGone, writeDurably } from "../events/durable.ts";
import type { Loss } from "../events/store.ts";
import { LOST_AND_FOUND } from "./copy-target.ts";

/** The list of all files of a backup, with their sizes and checksums. Written last: without it a backup is not finished. */
export const BACKUP_LIST = "backup.json";
const VERSION = 1;

interface ListedFile {
  /** Below the backup. */
  readonly path: string;
  readonly bytes: number;
  /** CRC-32 of the file. */
  readonly sum: number;
}

interface StoredBackup {
  readonly version: number;
  readonly files: readonly ListedFile[];
}

export interface BackupFinding {
  /** Below the backup. */
  readonly file: string;
  readonly state: "missing" | "damaged" | "foreign";
  /** To be read after the file: "is missing". */
  readonly detail: string;
}

export interface BackupReport {
  /** False if an older version made the backup, which wrote no list: then only `file`s themselves tell that they are whole. */
  readonly isListed: boolean;
  readonly files: number;
  readonly bytes: number;
  readonly findings: readonly BackupFinding[];
  /** The events that the data lacked already when it was backed up, and nobody had accepted that. */
  readonly losses: readonly Loss[];
}

/** Lists the files of a finished copy. */
export async function writeBackupList(folder: string): Promise<void> {
  const files: ListedFile[] = [];
  for (const path of await filesBelow(folder)) files.push({ path, ...(await sumOf(join(folder, path))) });
  await writeDurably(join(folder, BACKUP_LIST), printWithChecksum({ version: VERSION, files } satisfies StoredBackup));
}

/** Compares the files of a backup with its list. Throws an OperatorError for a list of a newer version. */
export async function readBackup(folder: string): Promise<Omit<BackupReport, "losses">> {
  const path = join(folder, BACKUP_LIST);
  const there = await filesBelow(folder);
  const text = await unlessGone(readDataFile(path, "utf8")).catch(() => "");
  if (text === undefined) return { isListed: false, files: there.length, bytes: 0, findings: [] };
  const list = readWithChecksum(text) as StoredBackup | undefined;
  // The journal's list, in its place, has files, too.
  if (list === undefined || !list.files?.every?.(({ path }) => typeof path === "string")) {
    const finding = {
      file: BACKUP_LIST,
      state: "damaged",
      detail: "is damaged: nothing tells what belongs to it",
    } as const;
    return { isListed: true, files: there.length, bytes: 0, findings: [finding] };
  }
  if (list.version > VERSION)
    throw new OperatorError(`${folder} was made by a newer version of tool`, { hint: "upgrade tool" });
  const findings: BackupFinding[] = [];
  for (const listed of list.files) {
    const detail = await faultOf(folder, listed);
    if (detail !== undefined)
      findings.push({ file: listed.path, state: detail === "is missing" ? "missing" : "damaged", detail });
  }
  const paths = new Set(list.files.map((listed) => listed.path));
  for (const file of there.filter((one) => !paths.has(one)))
    findings.push({ file, state: "foreign", detail: "is not a file of the backup" });
  const bytes = list.files.reduce((sum, listed) => sum + listed.bytes, 0);
  return { isListed: true, files: list.files.length, bytes, findings };
}

/** The problem of a file, to be read after its name; undefined if it is as it was. */
async function faultOf(folder: string, listed: ListedFile): Promise<string | undefined> {
  try {
    const stats = await unlessGone(lstat(join(folder, listed.path)));
    if (stats === undefined) return "is missing";
    if (!stats.isFile()) return "is damaged: it is not a file";
    if (stats.size !== listed.bytes) return `is damaged: it has ${stats.size} bytes instead of ${listed.bytes}`;
    const { sum } = await sumOf(join(folder, listed.path));
    return sum === listed.sum ? undefined : "is damaged: its checksum is another one";
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  }
}

/** Paths of all but the list, and what the file system keeps at its root, which only root can read. */
async function filesBelow(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === BACKUP_LIST || entry.name === LOST_AND_FOUND) continue;
    if (!entry.isDirectory()) paths.push(entry.name);
    else paths.push(...(await filesIn(join(folder, entry.name))).map((path) => join(entry.name, path)));
  }
  return paths.sort();
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

async function sumOf(path: string): Promise<{ readonly bytes: number; readonly sum: number }> {
  let [bytes, sum] = [0, 0];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    sum = crc32(chunk, sum);
  }
  return { bytes, sum };
}
