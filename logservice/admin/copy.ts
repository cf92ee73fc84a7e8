import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { OperatorError } from "../error.ts";
import { copyEvents, DamagedEvents, damagedLists, lossesIn, wrongEvents } from "../events/copy.ts";
import { syncDirectory } from "../events/durable.ts";
import type { Loss } from "../events/store.ts";
import { isRecordsFull, RecordsError } from "../records/check.ts";
import { acceptedIn, checkRecords, copyRecords, signEverybodyOut } from "../records/copy.ts";
import { BACKUP_LIST, type BackupReport, readBackup, writeBackupList } from "./backup-list.ts";
import { type CopyRoomOptions, copyRoom } from "./copy-room.ts";
import { type CopyTargetOptions, openCopyTarget, requireFree } from "./copy-target.ts";
import {
  type DirectoryKind,
  EVENTS_FOLDER,
  refuseLostEvents,
  requireDirectory,
  restoreHint,
} from "./data-directory.ts";
import { makePrivate } from "./private-files.ts";

/** How much was copied of the events. */
export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

export interface CopyOptions {
  /** The kind of `from`. */
  readonly kind: DirectoryKind;
  readonly from: string;
  /** A folder that does not exist yet, or is empty; a link to one is followed. */
  readonly to: string;
  /** Called after each file with what is copied so far. */
  readonly progress: (copied: Copied) => void;
  /** Takes what is noticed besides: of a backup that an older version made, or what an interrupted copy left. */
  readonly warn?: (message: string) => void;
  readonly isMountPoint?: CopyTargetOptions["isMountPoint"];
  readonly freeBytes?: CopyRoomOptions["freeBytes"];
}

/**
 * Copies a data directory, or a backup of one, into a new folder, also while a service works there: the service writes its
 * files so that they can be read at any moment, and a copy from outside works even if the service hangs or does not run.
 * The new folder appears under its name only when all of it is durable and was found whole.
 */
export async function copyDataDirectory(options: CopyOptions): Promise<Copied> {
  const { kind, from, to, progress, warn = () => {} } = options;
  // The list names files that are gone.
  const isListed = kind === "backup" && existsSync(join(from, BACKUP_LIST));
  if (!isListed) await requireDirectory(from, kind);
  const place = await requireFree(to, warn);
  if (isInside(to, from) || isInside(place, await realpath(from))) {
    const hint = `name a folder outside of ${from}: what is lost with one would be lost with both`;
    throw new OperatorError(`${to} is inside of the ${kind} itself`, { hint });
  }
  if (kind === "backup") await requireListed(from, to, warn);
  await requireWhole(kind, { from, to });
  const room = await copyRoom(from, to);
  const failed = (error: unknown) =>
    isRecordsFull(error) ? room.error(error) : new Error(`cannot copy ${from} to ${to}`, { cause: error });
  const target = await openCopyTarget(place, options).catch((error: unknown) => {
    throw error instanceof OperatorError ? error : failed(error);
  });
  const temporaryPath = target.folder;
  let copied: Copied = { files: 0, bytes: 0 };
  try {
    await room.require(temporaryPath, options);
    // The copy has its own.
    for (const name of await damagedLists(join(from, EVENTS_FOLDER)))
      warn(`${join(from, EVENTS_FOLDER, name)} is damaged: files that are gone may not be missed, in the copy either`);
    await copyEvents(join(from, EVENTS_FOLDER), join(temporaryPath, EVENTS_FOLDER), (bytes) => {
      copied = { files: copied.files + 1, bytes: copied.bytes + bytes };
      progress(copied);
    });
    // After the events: a project is in the records before it has events.
    await copyRecords(from, temporaryPath);
    for (const text of await lackingIn(temporaryPath)) warn(`${from} ${text}`);
    if (kind === "backup") await signEverybodyOut(temporaryPath);
    const lacking = await wrongEvents(join(temporaryPath, EVENTS_FOLDER));
    if (lacking !== undefined) {
      const hint = kind === "backup" ? damagedHint(to) : repairHint(from);
      throw new OperatorError(`${from} is incomplete: ${lacking.replaceAll(temporaryPath, from)}`, { hint });
    }
    // A copied file has the permissions of its source.
    await makePrivate(temporaryPath);
    if (kind === "data directory") await writeBackupList(temporaryPath);
    await syncDirectory(temporaryPath);
    await target.take();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (error instanceof DamagedEvents) {
      const hint = kind === "backup" ? damagedHint(to) : repairHint(from);
      throw new OperatorError(error.message, { hint, cause: error });
    }
    throw failed(error);
  } finally {
    await target.drop();
  }
  return copied;
}

/** The events that a whole copy lacks, as they were lost before and nobody accepted that: a sentence, to be read after its name. */
async function lackingIn(folder: string): Promise<string[]> {
  const losses = await openLosses(folder);
  const [first] = losses;
  if (first === undefined) return [];
  const what = losses.every(({ isPossible }) => isPossible) ? "may lack events" : "lacks events that were lost";
  const which = losses.length === 1 ? `loss ${first.id}` : `${losses.length} losses, the first ${first.id}`;
  return [`${what} (${which}), and so does the copy: tool service check --data <dir> says which`];
}

/** The losses that nobody accepted; all of them if the records cannot be opened, as on a disk that takes no files. */
async function openLosses(folder: string): Promise<Loss[]> {
  const accepted = await acceptedIn(folder).catch(() => new Set<string>());
  const losses = await lossesIn(join(folder, EVENTS_FOLDER), accepted);
  return losses.filter(({ isAccepted }) => !isAccepted);
}

/** Throws an OperatorError if a backup is not as it was made. */
async function requireListed(from: string, to: string, warn: (message: string) => void): Promise<void> {
  const { isListed, findings } = await readBackup(from);
  const [first, ...more] = findings;
  if (first !== undefined) {
    const others = more.length === 0 ? "" : ` (and ${more.length} more: tool service check --backup ${from})`;
    const message = `${join(from, first.file)} ${first.detail}${others}`;
    throw new OperatorError(first.state === "missing" ? `${from} is incomplete: ${message}` : message, {
      hint: damagedHint(to),
    });
  }
  if (!isListed)
    warn(`${from} has no list of its files, as those of older versions: a file that is gone may not be missed`);
}

/** The remedy for damaged events of a data directory. */
const repairHint = (from: string) =>
  `tool service check --repair --data ${from} says what is lost and sets aside what is damaged: then back it up again`;

/** The remedy for a damaged backup. */
const damagedHint = (to: string) =>
  `restore another one: tool service restore <backup> --data ${to}\nor, if the service still has its data, back it up again: tool service backup <folder> --data <dir>`;

/**
 * Reads all files of a backup, and says which are not as they were. Throws an OperatorError if the folder is none, or if an
 * older version made it and it is damaged.
 */
export async function checkBackup(folder: string): Promise<BackupReport> {
  if (existsSync(join(folder, BACKUP_LIST))) {
    const report = await readBackup(folder);
    // The damaged file may be the one that tells of them.
    return { ...report, losses: report.findings.length === 0 ? await openLosses(folder) : [] };
  }
  await requireDirectory(folder, "backup");
  const report = await readBackup(folder);
  await requireWhole("backup", { from: folder, to: "<dir>" });
  const lacking = await wrongEvents(join(folder, EVENTS_FOLDER)).catch((error: Error) => error.message);
  if (lacking !== undefined)
    throw new OperatorError(`${folder} is incomplete: ${lacking}`, { hint: damagedHint("<dir>") });
  return { ...report, losses: await openLosses(folder) };
}

async function requireWhole(kind: DirectoryKind, { from, to }: { from: string; to: string }): Promise<void> {
  try {
    await checkRecords(from);
    await refuseLostEvents(from);
  } catch (error) {
    if (!(error instanceof RecordsError || error instanceof OperatorError)) throw error;
    const hint = error.hint ?? (kind === "backup" ? damagedHint(to) : restoreHint(from));
    throw new OperatorError(error.message, { hint, cause: error });
  }
}

function isInside(path: string, folder: string): boolean {
  const below = relative(resolve(folder), resolve(path));
  return below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}
