import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, lstat, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Takes a data directory for this process, until the returned function is called or the process ends. Rejects where
 * another living process has it, naming that one's pid.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, "lock");
  const mine = `${JSON.stringify({ pid: process.pid, start: startOf(process.pid), token: randomUUID() })}\n`;
  const temporaryPath = join(directory, `lock.${process.pid}.${randomUUID()}`);
  await writeFile(temporaryPath, mine);
  try {
    for (;;) {
      try {
        // Unlike a write, a link either makes the whole file or fails.
        await link(temporaryPath, path);
        return async () => {
          if ((await readFile(path, "utf8").catch(() => "")) === mine) await unlink(path);
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const owner = await readOwner(path);
      if (owner === undefined) continue;
      const pid = livingOwner(owner);
      if (pid !== undefined) {
        throw new Error(
          `${directory} is in use by the process ${pid}: stop that one, or start this one with another directory`,
        );
      }
      await removeStale(path, owner);
    }
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

/** The process that has a data directory; undefined if none has. */
export async function livingOwnerOf(directory: string): Promise<number | undefined> {
  const owner = await readOwner(join(directory, "lock"));
  return owner === undefined ? undefined : livingOwner(owner);
}

/** Undefined if the file is gone. Anything else that is there in its place would be met again and again. */
async function readOwner(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    if ((await lstat(path).catch(() => undefined)) !== undefined) throw error;
    return undefined;
  }
}

/** Between reading and removing another process may have taken the directory: what was moved away is looked at again. */
async function removeStale(path: string, owner: string): Promise<void> {
  const away = `${path}.${process.pid}.${randomUUID()}`;
  try {
    await rename(path, away);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if ((await readFile(away, "utf8")) !== owner) await link(away, path).catch(() => {});
  await unlink(away);
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
  let owner: { pid?: unknown; start?: unknown } | null;
  try {
    owner = JSON.parse(text) as typeof owner;
  } catch {
    return undefined;
  }
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
  return startOf(owner.pid) === owner.start ? owner.pid : undefined;
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
