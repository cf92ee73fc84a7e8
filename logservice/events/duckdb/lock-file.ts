import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openDuckDb } from "./duckdb.ts";

/**
 * A second lock, by the system: the number of a process tells nothing to one in another container. The engine locks a
 * database that it opens. On a full disk, or one that has no such locks, the first lock has to do.
 */
export async function lockFile(directory: string, unlock: () => Promise<void>): Promise<() => Promise<void>> {
  const path = join(directory, "lock.duckdb");
  for (let tries = 1; ; tries++) {
    try {
      const instance = await openDuckDb(path, { threads: "1", memory_limit: "16MB" });
      return async () => {
        instance.closeSync();
        await unlock();
      };
    } catch (error) {
      if (/conflicting lock/i.test(String(error))) {
        throw new Error(
          `${directory} is in use by a process of another container: stop that one, or start this one with another directory`,
          { cause: error },
        );
      }
      // There is nothing in it.
      if (tries > 1) return unlock;
      for (const name of [path, `${path}.wal`]) await rm(name, { recursive: true, force: true });
    }
  }
}
