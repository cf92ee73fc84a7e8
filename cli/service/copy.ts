import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lockDirectory } from "../../logservice/events/lock.ts";
import { EVENTS_FOLDER, isServiceFolder } from "./data-folder.ts";

interface Wrong {
  readonly message: string;
  readonly hint?: string;
}

/** Copies a data directory into a new folder. Nothing stands there under its name before all of it does. */
export async function copyService(data: string, target: string): Promise<Wrong | undefined> {
  if (!isServiceFolder(data)) return { message: `${data} is no data directory of a log service` };
  if (!(await isFree(target))) return { message: `${target} is there already`, hint: "name a folder that is not" };
  await mkdir(join(data, EVENTS_FOLDER), { recursive: true });
  let unlock: () => Promise<void>;
  try {
    // A service that runs would change files while they are copied.
    unlock = await lockDirectory(join(data, EVENTS_FOLDER));
  } catch (error) {
    return { message: (error as Error).message, hint: "stop the service for as long as the backup takes" };
  }
  try {
    await copyWhole(data, target);
  } finally {
    await unlock();
  }
  return undefined;
}

/** Makes a data directory of a backup. */
export async function restoreService(backup: string, data: string): Promise<Wrong | undefined> {
  if (!isServiceFolder(backup)) return { message: `${backup} is no backup of a log service` };
  if (!(await isFree(data)))
    return { message: `${data} is there already`, hint: "name a folder that is not, or remove it" };
  await copyWhole(backup, data);
  return undefined;
}

async function isFree(folder: string): Promise<boolean> {
  return !existsSync(folder) || (await readdir(folder)).length === 0;
}

async function copyWhole(from: string, to: string): Promise<void> {
  const aside = join(dirname(to), `.${basename(to)}.${process.pid}`);
  try {
    await cp(from, aside, {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !/^lock(\.|$)/.test(basename(path)) || dirname(path) !== join(from, EVENTS_FOLDER),
    });
    await chmod(aside, 0o700);
    await rm(to, { recursive: true, force: true });
    await rename(aside, to);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw new Error(`cannot copy ${from} to ${to}`, { cause: error });
  }
}
