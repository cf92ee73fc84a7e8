import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { copyEvents, wrongEvents } from "../../logservice/events/copy.ts";
import { syncDirectory } from "../../logservice/events/durable.ts";
import { copyRecords, wrongRecords } from "../../logservice/records/copy.ts";
import { EVENTS_FOLDER, lostEvents, restoreHint, type Wrong, wrongFolder } from "./data-folder.ts";
import { makePrivate } from "./private-files.ts";

export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Copies a data directory, or a backup of one, into a new folder, also while a service works there: the service writes its files so that they
 * can be read at any moment, and a copy from outside works as well when it hangs or is not there. Nothing stands under
 * the new name before all of it is durable and found whole. `progress` is told what is copied so far, file by file.
 */
export async function copyService(
  kind: "data directory" | "backup",
  from: string,
  to: string,
  progress: (copied: Copied) => void,
): Promise<Copied | Wrong> {
  const other = await wrongFolder(from, kind);
  if (other !== undefined) return other;
  if (!(await isFree(to)))
    return { message: `${to} already exists`, hint: "name a folder that does not exist yet, or remove this one" };
  const wrong = (await wrongRecords(from)) ?? (await lostEvents(from));
  if (wrong !== undefined) {
    return {
      message: wrong.message,
      hint: wrong.hint ?? (kind === "backup" ? "take another backup" : restoreHint(from)),
    };
  }
  const aside = join(dirname(to), `.${basename(to)}.${process.pid}`);
  let copied: Copied = { files: 0, bytes: 0 };
  try {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await copyEvents(join(from, EVENTS_FOLDER), join(aside, EVENTS_FOLDER), (bytes) => {
      copied = { files: copied.files + 1, bytes: copied.bytes + bytes };
      progress(copied);
    });
    // Behind the events, whose project is there before they are.
    await copyRecords(from, aside);
    const lacking = await wrongEvents(join(aside, EVENTS_FOLDER));
    if (lacking !== undefined) return { message: `${from} is incomplete: ${lacking.replaceAll(aside, from)}` };
    // A copied file has the permissions of its source.
    await makePrivate(aside);
    await syncDirectory(aside);
    await rm(to, { recursive: true, force: true });
    await rename(aside, to);
    await syncDirectory(dirname(to));
  } catch (error) {
    throw new Error(`cannot copy ${from} to ${to}`, { cause: error });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return copied;
}

async function isFree(folder: string): Promise<boolean> {
  return !existsSync(folder) || (await readdir(folder)).length === 0;
}
