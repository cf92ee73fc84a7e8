import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Directory } from "../schema/index.ts";

/** The folder at an address that ends with a slash, as it is on disk; undefined for documents that are on none. */
export function directoryOf(uri: string): Directory | undefined {
  const folder = uri.startsWith("file:") ? attempt(() => fileURLToPath(uri)) : undefined;
  if (folder === undefined) return undefined;
  return {
    kind(path) {
      const stat = attempt(() => statSync(`${folder}${path}`));
      return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
    },
    read: (path) => attempt(() => readFileSync(`${folder}${path}`, "utf8")),
    list: (path) =>
      attempt(() => readdirSync(`${folder}${path}`, { withFileTypes: true }))?.map((entry) => ({
        name: entry.name,
        kind: entry.isDirectory() ? "directory" : "file",
      })),
  };
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
