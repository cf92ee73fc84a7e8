import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import { link, lstat, readlink, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NotAFile, readDataFile } from "../data-file.ts";
import { isDiskFull } from "./durable.ts";

/**
 * Takes a data directory for this process, until the returned function is called or the process ends. Rejects where
 * another living process has it, naming that one's pid.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, "lock");
  const temporaryPath = join(directory, `lock.${process.pid}.${randomUUID()}`);
  let waits = 0;
  const { mine, claim } = await newClaim(temporaryPath);
  const unlock = async () => {
    if ((await readOwner(path).catch(() => "")) === mine) await unlink(path);
  };
  try {
    for (;;) {
      try {
        await claim(path);
        return unlock;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const owner = await readOwner(path);
      if (owner === undefined) continue;
      const pid = livingOwner(owner);
      if (pid !== undefined) throw inUse(directory, pid);
      const claimant = await takeOver(path, owner, claim);
      if (claimant === "mine") return unlock;
      if (claimant !== undefined && ++waits > MOST_WAITS) throw inUse(directory, claimant);
    }
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

/** Whether a directory is still the one that was locked: `gone` if another has its name, or none; `taken` by other locks. */
export type FolderHold = "held" | "gone" | "taken";

/**
 * To be called by the process that has just locked the directory. The returned function takes two calls of the system. A
 * lock that is removed takes nothing away: what is written still reaches the directory.
 */
export function holdOf(directory: string): () => FolderHold {
  const path = join(directory, "lock");
  const options = { throwIfNoEntry: false };
  const isSame = (there: Stats | undefined, own: Stats | undefined) =>
    there?.ino === own?.ino && there?.dev === own?.dev;
  const [folder, lock] = [statSync(directory, options), lstatSync(path, options)];
  return () => {
    const there = lstatSync(path, options);
    // A file that is made after another one is gone may get the same number.
    if (there !== undefined && !(isSame(there, lock) && there.mtimeMs === lock?.mtimeMs)) return "taken";
    return isSame(statSync(directory, options), folder) ? "held" : "gone";
  };
}

interface Claim {
  /** The content of the lock if it is this process's. */
  readonly mine: string;
  /** Makes a lock that says so. Rejects with EEXIST if there is one. */
  readonly claim: (path: string) => Promise<void>;
}

/**
 * Unlike a write, a link either makes the whole file or fails. On a disk without a free byte the owner is the target of a
 * symbolic link, which leads nowhere: one of less than 60 bytes takes no block of its own (ext4, xfs, tmpfs).
 */
async function newClaim(temporaryPath: string): Promise<Claim> {
  const [pid, start, token] = [process.pid, startOf(process.pid), randomUUID()];
  try {
    const mine = `${JSON.stringify({ pid, start, token })}\n`;
    await writeFile(temporaryPath, mine);
    return { mine, claim: (path) => link(temporaryPath, path) };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const mine = `${pid}.${shortStart(start)}.${token.slice(0, 8)}`;
    return { mine, claim: (path) => symlink(mine, path) };
  }
}

/** The target of a lock that is a link, instead of the JSON of one that is a file. */
const SHORT_OWNER = /^(\d+)\.([\w-]+)\.[\w-]+$/;

const shortStart = (start: string | null) =>
  createHash("sha256").update(String(start)).digest("base64url").slice(0, 22);

/** The process that has a data directory; undefined if none has. */
export async function livingOwnerOf(directory: string): Promise<number | undefined> {
  const owner = await readOwner(join(directory, "lock"));
  return owner === undefined ? undefined : livingOwner(owner);
}

/** Undefined if the file is gone, or has just come. A link of others that leads nowhere would be met again and again. */
async function readOwner(path: string): Promise<string | undefined> {
  try {
    return await readDataFile(path, "utf8");
  } catch (error) {
    if (error instanceof NotAFile) {
      if ((await lstat(path)).isDirectory()) throw new NotAFile(path, ": move the folder away, a start makes the file");
      // A pipe is replaced as the file of a process that has ended is.
      return "";
    }
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const target = await readlink(path).catch(() => "");
    if (SHORT_OWNER.test(target)) return target;
    if ((await lstat(path).catch(() => undefined))?.isSymbolicLink() === true)
      throw new NotAFile(path, " but a link that leads nowhere: remove the link, a start makes the file");
    return undefined;
  }
}

const inUse = (directory: string, pid: number) =>
  new Error(`${directory} is in use by process ${pid}: stop that one, or start this one with another directory`);

/** How often a lock is looked at again while another process takes it over. That takes two calls of the system. */
const MOST_WAITS = 1000;

/**
 * Replaces the lock of a process that has ended by one of `claim`. The right to do that is itself a file, which one process
 * alone can make, and which becomes the new one: between reading a file and replacing it, another may be in its place. A
 * right whose process has ended is taken over in the same way. Returns "mine" if `own` is there now, the process that has
 * the right if it lives, and undefined if the file must be looked at again.
 */
async function takeOver(path: string, ended: string, claim: Claim["claim"]): Promise<"mine" | number | undefined> {
  const right = `${path}.${createHash("sha256").update(ended).digest("hex").slice(0, 16)}`;
  try {
    await claim(right);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const holder = await readOwner(right);
    if (holder === undefined) return undefined;
    const pid = livingOwner(holder);
    if (pid !== undefined) return pid;
    if ((await takeOver(right, holder, claim)) !== "mine") return undefined;
  }
  if ((await readOwner(path)) === ended) {
    await rename(right, path);
    return "mine";
  }
  await unlink(right);
  return undefined;
}

/** A process that has ended, but that its parent has not asked for (proc(5), the state Z or X), answers signals, too. */
function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^[ZX]$/.test(stat.charAt(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

function livingOwner(text: string): number | undefined {
  const short = SHORT_OWNER.exec(text);
  const owner = short === null ? parseOwner(text) : { pid: Number(short[1]), start: short[2] };
  // Zero and less stand for groups of processes, and for all of them.
  if (typeof owner?.pid !== "number" || !Number.isInteger(owner.pid) || owner.pid <= 1) return undefined;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is alive and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return undefined;
  }
  if (hasEnded(owner.pid)) return undefined;
  // After a reboot, or in a new container, the number may be another process's.
  const start = startOf(owner.pid);
  return (short === null ? start : shortStart(start)) === owner.start ? owner.pid : undefined;
}

function parseOwner(text: string): { readonly pid?: unknown; readonly start?: unknown } | null {
  try {
    return JSON.parse(text) as ReturnType<typeof parseOwner>;
  } catch {
    return null;
  }
}

/** When a process began, as Linux tells it (proc(5), field 22) with the boot; null where there is no /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // The name in parentheses may hold blanks and parentheses.
    return `${boot}/${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return null;
  }
}
