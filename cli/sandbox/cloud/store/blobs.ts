// Bytes by their content: one file for each, named by its SHA-256, which is there before a record names it and removed
// after the last record that named it.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { StoredBytes } from "../stored-bytes.ts";
import { syncFolder } from "./folder.ts";

export class Blobs {
  readonly #folder: string;
  /** How many records name each. */
  readonly #uses = new Map<string, number>();
  readonly #files = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) this.#files.add(name);
  }

  read(sha256: string): Buffer {
    return readFileSync(join(this.#folder, sha256));
  }

  /** Writes those that have no file yet. They are safe when this resolves. */
  async write(all: Iterable<StoredBytes>): Promise<void> {
    let hasWritten = false;
    for (const one of all) {
      const { sha256 } = one;
      const isThere = this.#files.has(sha256);
      if (!isThere) await this.#writeFile(sha256, one.read());
      hasWritten ||= !isThere;
      this.#files.add(sha256);
      one.moveTo(() => this.read(sha256));
    }
    if (hasWritten) await syncFolder(this.#folder);
  }

  use(names: readonly string[], count: 1 | -1): void {
    for (const name of names) this.#uses.set(name, (this.#uses.get(name) ?? 0) + count);
  }

  /** Removes files that no record names: left over where one was killed, or named before. */
  removeUnused(): void {
    for (const name of this.#files) {
      if ((this.#uses.get(name) ?? 0) > 0) continue;
      rmSync(join(this.#folder, name), { force: true });
      this.#files.delete(name);
      this.#uses.delete(name);
    }
  }

  async #writeFile(name: string, bytes: Buffer): Promise<void> {
    const temporary = join(this.#folder, `${name}.new`);
    try {
      const file = await open(temporary, "w", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(this.#folder, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}
