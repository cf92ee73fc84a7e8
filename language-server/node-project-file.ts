import { readFileSync, statSync } from "node:fs";

/** The code of the error for a pipe or a device, beside those of the system. */
export const NOT_A_FILE = "ENOTFILE";

/** Paths of files and pipes that a shell has opened already: `<(...)` and stdin. */
const OPENED = /^\/(?:dev\/(?:fd\/\d+|stdin)|proc\/[^/]+\/fd\/\d+)$/;

/**
 * Throws an error with the code NOT_A_FILE for a pipe or a device, as opening it may wait for ever, or reading it may never
 * end. Everything else is left to the system, which says itself that there is a folder.
 */
export function requireProjectFile(path: string): void {
  const stats = statSync(path);
  if (stats.isFile() || stats.isDirectory() || OPENED.test(path)) return;
  throw Object.assign(new Error("it is not a file"), { code: NOT_A_FILE });
}

/** The text of a file of a project. Throws as `requireProjectFile` and the system do. */
export function readProjectText(path: string): string {
  requireProjectFile(path);
  return readFileSync(path, "utf8");
}
