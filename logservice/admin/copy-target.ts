import { type Dirent, existsSync } from "node:fs";
import { link, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { OperatorError } from "../error.ts";
import { errorCode, syncDirectory, unlessGone } from "../events/durable.ts";
import { livingOwnerOf, lockDirectory } from "../events/lock.ts";
import { RECORDS_FILE } from "../records/open.ts";
import { EVENTS_FOLDER, hasRecords, makeFolders, operatorErrorOf } from "./data-directory.ts";

/** The place of a copy that is being made. */
export interface CopyTarget {
  /** An empty folder on the disk of the target, to be filled. */
  readonly folder: string;
  /** Gives the folder its name. Throws an OperatorError if something has that name by now: that stays as it is. */
  take(): Promise<void>;
  /** Removes what is not taken. */
  drop(): Promise<void>;
}

export interface CopyTargetOptions {
  /** For tests, which cannot mount. */
  readonly isMountPoint?: ((folder: string) => Promise<boolean>) | undefined;
}

/** File systems of the ext family have it at their root: a volume that holds nothing else is empty, and it stays there. */
export const LOST_AND_FOUND = "lost+found";

/**
 * Returns the path of a new folder, links followed, and removes what copies of processes that ended left there. Throws an
 * OperatorError if something other than an empty folder has the name.
 */
export async function requireFree(to: string, warn: (message: string) => void): Promise<string> {
  const place = await placeOf(to);
  const pid = await livingOwnerOf(join(place, EVENTS_FOLDER)).catch(() => undefined);
  if (pid !== undefined) {
    throw new OperatorError(`${to} is the data directory of a service that is running (process ${pid})`, {
      hint: "name another folder, or stop that service and move its folder aside: nothing was changed",
    });
  }
  for (const folder of [dirname(place), place]) await removeLeftovers(folder, prefixOf(place), warn);
  const stats = await unlessGone(stat(place));
  if (stats !== undefined && !(stats.isDirectory() && (await namesIn(place)).length === 0)) throw taken(to, place);
  return place;
}

/**
 * Makes a folder for a copy, which gets the name `place` as a whole. A mount point cannot be replaced, nor can a folder whose
 * parent refuses new files, nor may `lost+found` be moved: there the work is done within it.
 */
export async function openCopyTarget(
  place: string,
  { isMountPoint = isMounted }: CopyTargetOptions = {},
): Promise<CopyTarget> {
  const prefix = prefixOf(place);
  const exists = existsSync(place);
  const isWithin = exists && (existsSync(join(place, LOST_AND_FOUND)) || (await isMountPoint(place)));
  await makeFolders(dirname(place));
  const work = await mkdtemp(join(isWithin ? place : dirname(place), prefix)).catch((error: unknown) => {
    if (!exists || !/^(EACCES|EPERM|EROFS)$/.test(errorCode(error))) throw error;
    return mkdtemp(join(place, prefix));
  });
  const drop = () => rm(work, { recursive: true, force: true });
  const folder = join(work, "copy");
  try {
    // Beside the copy, so that it is not part of it.
    await lockDirectory(work);
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    await drop();
    throw error;
  }
  const take = dirname(work) === place ? () => fill(place, work) : () => replace(place, folder);
  return {
    folder,
    drop,
    async take() {
      await take().catch((error: unknown) => {
        throw TAKEN.test(errorCode(error)) ? takenMeanwhile(place) : error;
      });
    },
  };
}

/** The names in a folder, but for the folder that its file system keeps there. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => !(entry.name === LOST_AND_FOUND && entry.isDirectory())).map(({ name }) => name);
}

/** How the system says that something else has the name of a folder that is to be moved there. */
const TAKEN = /^(EEXIST|ENOTEMPTY|ENOTDIR)$/;

const TAKEN_HINT = "name a folder that does not exist yet, or remove this one";

/** A data directory may hold what is newer than the copy: nobody is told to remove it. */
const taken = (path: string, place: string) =>
  new OperatorError(`${path} already exists`, {
    hint: hasRecords(place) ? "name a folder that does not exist yet, or move this one aside" : TAKEN_HINT,
  });

const takenMeanwhile = (path: string) =>
  new OperatorError(`${path} was made by another process meanwhile, and is left as it is`, { hint: TAKEN_HINT });

const prefixOf = (place: string) => `.${basename(place)}.`;

/** The path that links lead to. */
async function placeOf(to: string): Promise<string> {
  const path = resolve(to);
  const stats = await unlessGone(lstat(path)).catch((error: unknown) => {
    throw operatorErrorOf(path, error);
  });
  if (stats?.isSymbolicLink() !== true) return path;
  return realpath(path).catch((error: unknown) => {
    throw new OperatorError(`${to} is a link that leads nowhere`, {
      hint: "make the folder that it leads to, or remove the link",
      cause: error,
    });
  });
}

/** Neither call removes or replaces anything but an empty folder. */
async function replace(place: string, folder: string): Promise<void> {
  await unlessGone(rmdir(place));
  await rename(folder, place);
  await syncDirectory(dirname(place));
}

/** The records come last: without them a folder is neither a data directory nor a backup. */
async function fill(place: string, work: string): Promise<void> {
  if ((await namesIn(place)).some((name) => name !== basename(work))) throw takenMeanwhile(place);
  const copy = join(work, "copy");
  const names = (await readdir(copy, { withFileTypes: true })).sort((a, b) => rank(a) - rank(b));
  const done: string[] = [];
  try {
    for (const one of names) {
      await moveNew(one, join(copy, one.name), join(place, one.name));
      done.push(one.name);
    }
    await syncDirectory(place);
  } catch (error) {
    if (done.length === 0) throw error;
    throw new OperatorError(`${place} could not be filled (${errorCode(error)}): it holds a part of the copy`, {
      hint: `remove ${done.map((name) => join(place, name)).join(" and ")}, then copy again`,
      cause: error,
    });
  }
}

const rank = (entry: Dirent) => (entry.name === RECORDS_FILE ? 2 : entry.isDirectory() ? 0 : 1);

/** Moves a file or folder. Rejects with EEXIST or ENOTEMPTY if there is another. */
async function moveNew(entry: Dirent, from: string, to: string): Promise<void> {
  if (entry.isDirectory()) return rename(from, to);
  // Renaming a file replaces another. Some disks have no links.
  await link(from, to).catch(async (error: unknown) => {
    if (errorCode(error) === "EEXIST" || existsSync(to)) throw error;
    await rename(from, to);
  });
}

/** Removes what copies of processes that ended left, and says what may be of one. */
async function removeLeftovers(folder: string, prefix: string, warn: (message: string) => void): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    // Six characters are mkdtemp's; older versions wrote the number of the process.
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    if (!/^([A-Za-z0-9]{6}|\d+)$/.test(entry.name.slice(prefix.length))) continue;
    const path = join(folder, entry.name);
    const isOurs = existsSync(join(path, "lock"));
    if (isOurs && (await livingOwnerOf(path).catch(() => 0)) === undefined)
      await rm(path, { recursive: true, force: true });
    else if (!isOurs) warn(`${path} may be left of a copy that was interrupted: remove it if none is being made`);
  }
}

/** Whether another disk, or another folder, is mounted there. */
async function isMounted(folder: string): Promise<boolean> {
  const path = await realpath(folder);
  if ((await stat(path)).dev !== (await stat(dirname(path))).dev) return true;
  // A folder may be mounted on the disk that it is on (proc(5), /proc/pid/mountinfo, field 5).
  const mounts = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const unescaped = (path = "") =>
    path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return mounts.split("\n").some((line) => unescaped(line.split(" ")[4]) === path);
}
