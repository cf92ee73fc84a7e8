import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RECENT_KEYS_MS } from "../store.ts";
import { syncDirectory } from "./journal.ts";

/** Project, key and when it was seen. */
export type SeenKey = readonly [string, string, number];

/** Idempotency keys of journal files that are gone: one file for each of those, for as long as keys are remembered. */
export class SeenKeys {
  readonly #directory: string;
  readonly #forgotten = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async load(nowMs: number): Promise<SeenKey[]> {
    const found: SeenKey[] = [];
    for (const name of await this.#files()) {
      for (const key of await this.#read(name)) if (nowMs - key[2] < RECENT_KEYS_MS) found.push(key);
    }
    return found;
  }

  /** The keys of a deleted project go with the next `save`, before the journal forgets the deletion. */
  forget(project: string): void {
    this.#forgotten.add(project);
  }

  /** Resolves when they are durable. Saving the same file's keys again changes nothing. */
  async save(begin: number, keys: readonly SeenKey[], nowMs: number): Promise<void> {
    const forgotten = [...this.#forgotten];
    for (const name of forgotten.length > 0 ? await this.#files() : []) {
      const all = await this.#read(name);
      const kept = all.filter(([project]) => !forgotten.includes(project));
      if (kept.length < all.length) await this.#write(name, kept);
    }
    for (const project of forgotten) this.#forgotten.delete(project);
    if (keys.length > 0) {
      await mkdir(this.#directory, { recursive: true });
      // The time in the name says when the file may go without opening it.
      const lastMs = keys.reduce((last, [, , atMs]) => Math.max(last, atMs), 0);
      await this.#write(`${begin}-${lastMs}.ndjson`, keys);
    }
    for (const name of await this.#files()) {
      const lastMs = Number(name.slice(name.indexOf("-") + 1, name.indexOf(".")));
      if (nowMs - lastMs > RECENT_KEYS_MS) await rm(join(this.#directory, name), { force: true });
    }
  }

  async #read(name: string): Promise<SeenKey[]> {
    const lines = (await readFile(join(this.#directory, name), "utf8")).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SeenKey);
  }

  async #write(name: string, keys: readonly SeenKey[]): Promise<void> {
    const path = join(this.#directory, name);
    const handle = await open(`${path}.new`, "w");
    try {
      await handle.writeFile(keys.map((key) => `${JSON.stringify(key)}\n`).join(""));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.new`, path);
    await syncDirectory(this.#directory);
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => /^\d+-\d+\.ndjson$/.test(name)).sort();
  }
}
