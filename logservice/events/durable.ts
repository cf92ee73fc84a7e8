import { lstatSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { NotAFile, readDataFile } from "../data-file.ts";

/** Writes a temporary file, syncs it and renames it: a crash leaves either the old content or the new. */
export async function writeDurably(path: string, content: string | Buffer): Promise<void> {
  const temporaryPath = `${path}.new`;
  clearFilePlace(temporaryPath);
  const handle = await open(temporaryPath, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporaryPath, path);
  await syncDirectory(dirname(path));
}

/** Removes a pipe, a device or a link in the place of a file that is about to be written: it would be written to. */
export function clearFilePlace(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile() && !stats.isDirectory()) rmSync(path);
}

/** Whether there is a directory of that name itself, not only a link to one. */
export const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Makes names durable: a new file is not there after a power failure until its folder is written. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * A document with its checksum: JSON on one line, the CRC-32 of its bytes on the next. Two lines, so that a version that
 * knows no checksums cannot take it for its own.
 */
export function printWithChecksum(document: unknown): string {
  const json = JSON.stringify(document);
  return `${json}\n${sumLine(json)}`;
}

/** The document, or undefined if the text is not exactly what `printWithChecksum` wrote. */
export function readWithChecksum(text: string): unknown {
  const end = text.indexOf("\n");
  if (end < 0 || text.slice(end + 1) !== sumLine(text.slice(0, end))) return undefined;
  return JSON.parse(text.slice(0, end));
}

const sumLine = (json: string) => `{"sum":${crc32(json)}}\n`;

/** The error code of a failed call to the system: ENOENT, EACCES, EIO. */
export const errorCode = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? "");

/** Whether a call failed since there was no room on the disk, or none left for this user. */
export const isDiskFull = (error: unknown): boolean => /^(ENOSPC|EDQUOT)$/.test(errorCode(error));

/** Does what only makes later work easier: on a full disk it is left out. */
export async function unlessDiskFull(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isDiskFull(error)) throw error;
  });
}

/** Undefined if the file or folder is not there. */
export async function unlessGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** A directory has the name of a file that the store keeps. */
export class PlaceTaken extends Error {
  override readonly name = "PlaceTaken";
  constructor(path: string) {
    super(
      `${path} is a directory, but the store keeps a file there: move the directory away and put the file back from a backup, or start without it: it is made again`,
    );
  }
}

/** Throws PlaceTaken if a directory has the name of a file, or that under which the file is written. */
export function refuseDirectory(path: string): void {
  for (const one of [path, `${path}.new`]) if (isDirectory(one)) throw new PlaceTaken(one);
}

/** A newer version wrote this file: nothing of it may be touched. */
export class NewerVersion extends Error {
  override readonly name = "NewerVersion";
  constructor(path: string) {
    super(`${path} was written by a newer version of tool: start that version, or restore a backup of this one`);
  }
}

/**
 * Reads a file that keeps a list with its checksum and the version of its form. Undefined if there is none, or a damaged one:
 * another file of the store, in its place, has a right sum, but not this list. Throws NewerVersion and PlaceTaken.
 */
export async function readStoredList<Stored extends { readonly version: number }>(
  path: string,
  version: number,
  list: keyof Stored,
): Promise<{ readonly stored: Stored | undefined; readonly isDamaged: boolean }> {
  refuseDirectory(path);
  const text = await readDataFile(path, "utf8").catch((error: unknown) => (error instanceof NotAFile ? "" : undefined));
  const read = text === undefined ? undefined : (readWithChecksum(text) as Stored | undefined);
  if (read !== undefined && read.version > version) throw new NewerVersion(path);
  const stored = Array.isArray(read?.[list]) ? read : undefined;
  return { stored, isDamaged: text !== undefined && stored === undefined };
}
