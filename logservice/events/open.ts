import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DuckDbEventsStore, type Upkeep } from "./duckdb/duckdb-store.ts";
import { lockFile } from "./duckdb/lock-file.ts";
import { holdOf, lockDirectory } from "./lock.ts";
import { type EventsStoreOptions, storeSettings } from "./settings.ts";
import type { EventsStore } from "./store.ts";

export type { Upkeep } from "./duckdb/duckdb-store.ts";
export type { EventsStoreOptions } from "./settings.ts";

/** Opens the events store of a data directory: see EventsStore. Rejects if another process has it. */
export async function openEventsStore(options: EventsStoreOptions): Promise<EventsStore & Upkeep> {
  const { directory } = options;
  await mkdir(join(directory, "projects"), { recursive: true });
  const unlock = await lockDirectory(directory);
  try {
    const unlockAll = await lockFile(directory, unlock);
    return await DuckDbEventsStore.open(storeSettings(options), { unlock: unlockAll, hold: holdOf(directory) });
  } catch (error) {
    await unlock();
    throw error;
  }
}
