import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Directory, DirectoryEntry } from "../../schema/index.ts";

/**
 * The project's folder on disk, as the checker looks at it. What cannot be read is not there. `sizes`: the files of a
 * static site are looked at one by one.
 */
export function diskDirectory(root: string, { sizes = false }: { readonly sizes?: boolean } = {}): Directory {
  return {
    kind(path) {
      const stat = attempt(() => statSync(resolve(root, path)));
      return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
    },
    read: (path) => attempt(() => readFileSync(resolve(root, path), "utf8")),
    ...(sizes && { list: (path: string) => listFolder(resolve(root, path)) }),
  };
}

function listFolder(path: string): DirectoryEntry[] {
  const entries = attempt(() => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry): DirectoryEntry[] => {
    const { name } = entry;
    if (entry.isDirectory()) return [{ name, kind: "directory", bytes: 0 }];
    // A link to a folder is no folder, as in a deployment: nothing is looked at twice.
    const stat = attempt(() => statSync(join(path, name)));
    return stat?.isFile() ? [{ name, kind: "file", bytes: stat.size }] : [];
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
