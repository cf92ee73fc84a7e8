import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { KEY_FILE } from "../records/key-file.ts";
import { RECORDS_FILE } from "../records/open.ts";
import { EVENTS_FOLDER } from "./data-directory.ts";

/** Permissions of the group and of others. */
const OTHERS = 0o077;

/**
 * Takes the permissions of all but the owner from the files of a data directory or a backup, which an older version may
 * have made for everybody. The directory itself, which may be a mount point, and files that are not the service's stay as
 * they are. Gives the first path whose permissions this user may not change.
 */
export async function makePrivate(folder: string): Promise<string | undefined> {
  const files = [RECORDS_FILE, `${RECORDS_FILE}-wal`, `${RECORDS_FILE}-shm`, KEY_FILE].map((name) =>
    join(folder, name),
  );
  let refusedPath: string | undefined;
  for (const path of [...files, join(folder, EVENTS_FOLDER)]) refusedPath = (await makeOnePrivate(path)) ?? refusedPath;
  return refusedPath;
}

async function makeOnePrivate(path: string): Promise<string | undefined> {
  let refusedPath: string | undefined;
  try {
    const stats = await lstat(path);
    // The target of a link may be anybody's.
    if (stats.isSymbolicLink()) return undefined;
    if ((stats.mode & OTHERS) !== 0) await chmod(path, stats.mode & 0o7777 & ~OTHERS);
    if (!stats.isDirectory()) return undefined;
    for (const name of await readdir(path)) refusedPath = (await makeOnePrivate(join(path, name))) ?? refusedPath;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file may go while a service works there; a file system may have no permissions.
    if (code === "EPERM" || code === "EACCES" || code === "EROFS") return path;
    if (code !== "ENOENT" && code !== "ENOTSUP") throw error;
  }
  return refusedPath;
}
