import { readFile, stat } from "node:fs/promises";

/** Thrown for the name of a file that something else has: a pipe, a device, a folder, a link that leads in a circle. */
export class NotAFile extends Error {
  override readonly name = "NotAFile";
  constructor(path: string, remedy = "") {
    super(`${path} is not a file${remedy}`);
  }
}

/**
 * Throws NotAFile if something else than a file has that name; other errors of the system as they are. Everything below the
 * data directory is looked at so before it is opened: opening a pipe waits for whoever writes to it, and reading a device may
 * never end.
 */
export async function requireFile(path: string): Promise<void> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ELOOP" ? new NotAFile(path) : error;
  });
  if (!stats.isFile()) throw new NotAFile(path);
}

/** Reads a file of the data directory. Throws NotAFile. */
export function readDataFile(path: string, encoding: "utf8"): Promise<string>;
export function readDataFile(path: string): Promise<Buffer>;
export async function readDataFile(path: string, encoding?: "utf8"): Promise<string | Buffer> {
  await requireFile(path);
  return readFile(path, encoding);
}
