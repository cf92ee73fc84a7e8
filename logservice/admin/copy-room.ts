import { constants } from "node:fs";
import { copyFile, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { OperatorError } from "../error.ts";
import { leastCopyBytes } from "../events/copy.ts";
import { unlessGone } from "../events/durable.ts";
import { RECORDS_FILE } from "../records/open.ts";
import { EVENTS_FOLDER } from "./data-directory.ts";

export interface CopyRoomOptions {
  /** For tests, which cannot fill a disk: the bytes that are free on the disk of a folder. */
  readonly freeBytes?: ((folder: string) => Promise<number>) | undefined;
}

/** The room that a copy needs at least, to be compared and said. */
export interface CopyRoom {
  /** Throws an OperatorError if that is clearly not there. */
  require(folder: string, options: CopyRoomOptions): Promise<void>;
  /** The error of a copy for which the disk had no room in the end. */
  error(cause: unknown): OperatorError;
}

/** `to` is the folder as people wrote it. */
export async function copyRoom(from: string, to: string): Promise<CopyRoom> {
  const records = await unlessGone(stat(join(from, RECORDS_FILE)));
  // The copy names files that cannot be read.
  const events = await leastCopyBytes(join(from, EVENTS_FOLDER)).catch(() => 0);
  const needed = events + (records?.size ?? 0);
  const hint = "make room there, or name a folder on another disk";
  return {
    async require(folder, { freeBytes = freeBytesOf }) {
      const free = await freeBytes(folder);
      if (free >= needed || (await sharesBlocks(join(from, RECORDS_FILE), folder))) return;
      throw new OperatorError(
        `no room for the copy: the disk of ${dirname(to)} has ${humanBytes(free)} free, and it takes at least ${humanBytes(needed)}`,
        { hint: `${hint}: nothing was copied` },
      );
    },
    error: (cause) =>
      new OperatorError(
        `no space left on the disk of ${dirname(to)}: the copy takes at least ${humanBytes(needed)} there`,
        { hint: `${hint}: nothing of the copy is left there`, cause },
      ),
  };
}

/** For users without rights of their own, as which a service should run. */
async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Whether copies in this folder share the blocks of their originals, as on btrfs and xfs: then they take next to none. */
async function sharesBlocks(file: string, folder: string): Promise<boolean> {
  const path = join(folder, "shares-blocks");
  try {
    await copyFile(file, path, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    await rm(path, { force: true });
  }
}
