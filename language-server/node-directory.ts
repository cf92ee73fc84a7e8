import { closeSync, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Directory } from "../schema/index.ts";
import { readProjectText, requireProjectFile } from "./node-project-file.ts";

/** The folder at an address that ends with a slash, as it is on disk; undefined for documents that are on none. */
export function directoryOf(uri: string): Directory | undefined {
  const folder = uri.startsWith("file:") ? attempt(() => fileURLToPath(uri)) : undefined;
  if (folder === undefined) return undefined;
  return {
    kind(path) {
      const stat = attempt(() => statSync(`${folder}${path}`));
      return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
    },
    read: (path) => attempt(() => readProjectText(`${folder}${path}`)),
    readEnd: (path, maxBytes) => attempt(() => readEnd(`${folder}${path}`, maxBytes)),
    list: (path) =>
      attempt(() => readdirSync(`${folder}${path}`, { withFileTypes: true }))?.map((entry) => ({
        name: entry.name,
        kind: entry.isDirectory() ? "directory" : "file",
      })),
    leadsOutOf: (top, path) => isOutside(`${folder}${top}`, `${folder}${path}`),
  };
}

/** Whether what a path names, once links are followed, is outside a folder; false if one of them is not there. */
export function isOutside(folder: string, path: string): boolean {
  const top = attempt(() => realpathSync(folder));
  const target = attempt(() => realpathSync(path));
  if (top === undefined || target === undefined || target === top) return false;
  return !target.startsWith(top.endsWith(sep) ? top : top + sep);
}

/** The last bytes of a file as text. Throws as the system does. */
export function readEnd(path: string, maxBytes: number): string {
  requireProjectFile(path);
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(file);
  }
}

/** Undefined if the system says no; a mistake of ours is thrown. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
