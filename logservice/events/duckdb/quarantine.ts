import { mkdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { clearFilePlace, isDirectory, syncDirectory } from "../durable.ts";
import { stampOf } from "./integrity.ts";
import { QUARANTINE } from "./manifest.ts";

/** Moves a file into the quarantine of its folder; undefined if there is none of that name. */
export async function quarantineFile(
  from: string,
): Promise<{ readonly path: string; readonly bytes: number } | undefined> {
  const folder = join(dirname(from), QUARANTINE);
  await mkdir(folder, { recursive: true });
  let path = join(folder, basename(from));
  for (let number = 2; stampOf(path) !== undefined; number++) path = join(folder, `${basename(from)}.${number}`);
  const bytes = stampOf(from)?.size;
  if (bytes === undefined) return undefined;
  await rename(from, path);
  await syncDirectory(folder);
  await syncDirectory(dirname(from));
  return { path, bytes };
}

/** Makes way for a file that is about to be written: a directory of its name goes to quarantine. */
export async function clearPlace(path: string): Promise<void> {
  for (const one of [path, `${path}.new`]) if (isDirectory(one)) await quarantineFile(one);
  clearFilePlace(`${path}.new`);
}
