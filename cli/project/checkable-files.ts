import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readFailure } from "./read-failure.ts";

/** The language of a file, by its name: an error page, a saved query, a .toolignore, else a tool.json. */
export type FileLanguage = "config" | "query" | "template" | "ignore";

export function languageOf(name: string): FileLanguage {
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (base.endsWith(".logq")) return "query";
  if (base === ".toolignore") return "ignore";
  return /\.html?$/.test(base) ? "template" : "config";
}

/** A folder that cannot be listed; `message` is to be read after "cannot read NAME:". */
export class UnreadableFolder extends Error {
  override readonly name = "UnreadableFolder";
  readonly isNamedInUtf8: boolean;
  /** Relative to the folder that was asked for, which is empty. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    // Node reads names as UTF-8, and what it makes of others is no name that it finds again.
    const isNamedInUtf8 = !path.includes("\ufffd");
    super(isNamedInUtf8 ? readFailure(cause) : "its name is not UTF-8", { cause });
    this.isNamedInUtf8 = isNamedInUtf8;
    this.path = path;
  }
}

/** Folders with other people's code, and with the output of builds and tools. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", "vendor", "bower_components", "__pycache__", "target"]);

// A name may have line ends.
const CHECKED = /^(?:tool\.json|\.toolignore|.+\.(?:tool\.json|logq))$/s;

/**
 * The files below a folder that can be checked, as sorted paths relative to it: tool.json, *.tool.json, *.logq and
 * .toolignore. Error pages are checked with the tool.json that they belong to. Links to folders are not followed. Whatever
 * else has one of these names is in the list too, such as a link or a folder, as other commands would try to read it. Rejects with
 * an UnreadableFolder.
 */
export async function checkableFiles(folder: string): Promise<string[]> {
  const paths: string[] = [];
  await visit("");
  return paths.sort();

  async function visit(below: string) {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
      throw new UnreadableFolder(below, error);
    });
    for (const entry of entries) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (CHECKED.test(entry.name)) paths.push(path);
      else if (entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED.has(entry.name)) await visit(path);
    }
  }
}
