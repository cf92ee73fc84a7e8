import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The built files of the web UI. */
export interface UiFiles {
  /** Holds the folder `assets`. */
  readonly folder: string;
  /** Name of the script that the page loads first, below `assets`. */
  readonly script: string;
  readonly style: string;
  /** Scripts that the first one imports. */
  readonly preload: readonly string[];
}

/** Finds what the build has made; undefined if it was not built. */
export function uiFiles(): UiFiles | undefined {
  const here = import.meta.url;
  // In the bundle the address is the path of the command's file, in dist/bin/commands.
  const folder = here.startsWith("file:")
    ? join(dirname(fileURLToPath(here)), "../../bin/ui")
    : join(dirname(here), "../ui");
  const manifest = join(folder, "manifest.json");
  if (!existsSync(manifest)) return undefined;
  return { folder, ...(JSON.parse(readFileSync(manifest, "utf8")) as Omit<UiFiles, "folder">) };
}
