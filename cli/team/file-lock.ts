import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Clock } from "../../grammar/units/clock.ts";

/** A lock that another process holds for too long. */
export class FileLockedError extends Error {
  override readonly name = "FileLockedError";
}

/** A change of a small file takes milliseconds; a slow disk is as slow as this. */
const WAIT_MS = 10_000;
const POLL_MS = 20;
/** A lock of this age was left by a process of another machine or container, whose id says nothing here. */
const MAX_AGE_MS = 30_000;
/** A process may be killed after it has created the lock and before it has written its id into it. */
const EMPTY_MS = 2_000;

/**
 * Runs work that must not run in two processes at once. The lock is a file with the id of its process; one that was left by a
 * process that is gone is replaced. The work is synchronous, so that it is short and no signal handler runs within it.
 * `isHeld` tells whether the lock is still ours, for a last look before the work is made visible.
 */
export async function withFileLock<T>(path: string, work: (isHeld: () => boolean) => T, clock: Clock): Promise<T> {
  const own = `${process.pid} ${randomBytes(8).toString("hex")}`;
  const beganMs = clock.monotonicMs();
  while (!isTaken(path, own)) {
    removeIfLeft(path, clock.nowMs());
    if (clock.monotonicMs() - beganMs > WAIT_MS) throw new FileLockedError(`${path} is held by another process`);
    await clock.sleep(POLL_MS);
  }
  const isHeld = () => contentOf(path) === own;
  try {
    return work(isHeld);
  } finally {
    if (isHeld()) rmSync(path, { force: true });
  }
}

function isTaken(path: string, own: string): boolean {
  try {
    writeFileSync(path, own, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // A process that took it for a left one has put it back.
    return contentOf(path) === own;
  }
}

function removeIfLeft(path: string, nowMs: number): void {
  const content = contentOf(path);
  if (content === undefined || !isLeft(path, content, nowMs)) return;
  // Renamed first: another process may have replaced it meanwhile, and its lock is put back.
  const aside = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    renameSync(path, aside);
    if (contentOf(aside) !== content) linkSync(aside, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isLeft(path: string, content: string, nowMs: number): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: nowMs };
  const ageMs = nowMs - mtimeMs;
  const pid = Number(content.split(" ")[0]);
  if (!Number.isInteger(pid) || pid <= 1) return ageMs > EMPTY_MS;
  return ageMs > MAX_AGE_MS || !isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function contentOf(path: string): string | undefined {
  try {
    // Opening a pipe would wait for whoever writes to it. What is no file is nobody's lock.
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
