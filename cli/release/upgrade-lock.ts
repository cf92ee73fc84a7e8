import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseError } from "./error.ts";

/** Enough to take over the lock of a process that was killed, and to see that another took it over first. */
const TRIES = 4;

/**
 * Runs work that changes a library: the folder of the versions. The lock is a file with the id of the process, the same that
 * install.sh takes. Throws a `ReleaseError` at once if another process works there.
 */
export async function withUpgradeLock<T>(library: string, work: () => Promise<T>): Promise<T> {
  const path = join(library, ".lock");
  const own = `${process.pid}\n`;
  for (let tries = 1; !isTaken(path, own); tries++) {
    const owner = ownerOf(path);
    if (owner === undefined) continue;
    if (tries >= TRIES || isAtWork(owner)) {
      throw new ReleaseError(
        `another installation or upgrade is at work (process ${owner || "unknown"})`,
        `wait for it; if there is none, remove ${path}`,
      );
    }
    takeAway(path, owner);
  }
  try {
    return await work();
  } finally {
    if (ownerOf(path) === own.trim()) rmSync(path, { force: true });
  }
}

function isTaken(path: string, own: string): boolean {
  try {
    writeFileSync(path, own, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Removes the lock of a process that was killed, unless another process has taken it over since it was read. */
function takeAway(path: string, owner: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return;
  }
  const taken = ownerOf(aside);
  if (taken !== undefined && taken !== owner) putBack(aside, path);
  // The next owner may have removed it.
  rmSync(aside, { force: true });
}

function putBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    // A third process has the lock by now, or its next owner has removed what was set aside.
    if (!["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

function ownerOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}

/** One without an id has just been made. */
function isAtWork(owner: string): boolean {
  if (!/^\d+$/.test(owner)) return true;
  try {
    process.kill(Number(owner), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
