import { readdirSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Directory } from "../../schema/index.ts";

/** The project's folder on disk, as the checker looks at it. What cannot be read is not there. */
export function diskDirectory(root: string): Directory {
  return {
    kind(path) {
      const stat = attempt(() => statSync(resolve(root, path)));
      return stat?.isFile() ? "file" : stat?.isDirectory() ? "directory" : undefined;
    },
    read: (path) => attempt(() => readFileSync(resolve(root, path), "utf8")),
    list: (path) => attempt(() => readdirSync(resolve(root, path))) ?? [],
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
