import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isOutside, readEnd } from "../../language-server/node-directory.ts";
import { readProjectText } from "../../language-server/node-project-file.ts";
import type { Directory, DirectoryEntry } from "../../schema/index.ts";
import { readFailure } from "./read-failure.ts";

/**
 * The project's folder on disk, in the form that the checker uses. A file that cannot be read counts as absent, but with
 * `reasons`. With `sizes` the files of a static site are checked one by one.
 */
export function diskDirectory(
  root: string,
  { sizes = false, reasons = false }: { readonly sizes?: boolean; readonly reasons?: boolean } = {},
): Directory {
  return {
    kind(path) {
      const stat = attempt(() => statSync(resolve(root, path)));
      return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
    },
    read: (path) => attempt(() => readProjectText(resolve(root, path))),
    readEnd: (path, maxBytes) => attempt(() => readEnd(resolve(root, path), maxBytes)),
    list: (path) => listFolder(resolve(root, path)),
    leadsOutOf: (folder, path) => isOutside(resolve(root, folder), resolve(root, path)),
    ...(reasons && { unreadable: (path: string) => reasonOf(resolve(root, path)) }),
    ...(sizes && { size: (path: string) => attempt(() => statSync(resolve(root, path)).size) }),
  };
}

function reasonOf(path: string): string | undefined {
  try {
    readProjectText(path);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : readFailure(error);
  }
}

function listFolder(path: string): DirectoryEntry[] | undefined {
  const entries = attempt(() => readdirSync(path, { withFileTypes: true }));
  return entries?.flatMap((entry): DirectoryEntry[] => {
    const { name } = entry;
    if (entry.isDirectory()) return [{ name, kind: "directory" }];
    // A link to a folder is ignored, as in a deployment, so that nothing is listed twice.
    const isFile = entry.isSymbolicLink() ? attempt(() => statSync(join(path, name)))?.isFile() : entry.isFile();
    return isFile ? [{ name, kind: "file", ...(entry.isSymbolicLink() && { isLink: true as const }) }] : [];
  });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
