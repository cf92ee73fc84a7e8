import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { NotAFile, readDataFile } from "../../data-file.ts";
import { errorCode, writeDurably } from "../durable.ts";
import type { Log } from "../settings.ts";
import { RECENT_KEYS_MS } from "../store.ts";

/** Project, key, when it was seen, and the digest of its batch. */
export type SeenKey = readonly [project: string, key: string, atMs: number, digest?: string];

/** Idempotency keys of journal files that are gone: one file for each of those, for as long as keys are remembered. */
export class SeenKeys {
  readonly #directory: string;
  readonly #log: Log;
  readonly #forgotten = new Set<string>();

  constructor(directory: string, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  async load(nowMs: number): Promise<SeenKey[]> {
    if ((await stat(this.#directory).catch(() => undefined))?.isFile()) {
      const file = `${this.#directory}.damaged`;
      await rename(this.#directory, file);
      this.#log("warn", "a file is in the place of the folder of idempotency keys; it was renamed", { file });
    }
    const keys: SeenKey[] = [];
    for (const name of await this.#files()) {
      for (const key of await this.#read(name)) if (nowMs - key[2] < RECENT_KEYS_MS) keys.push(key);
    }
    return keys;
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
      const rest = all.filter(([project]) => !forgotten.includes(project));
      if (rest.length < all.length) await this.#write(name, rest);
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

  /**
   * The keys of a file. One that is damaged is renamed: at worst a batch that is sent again is stored again, which is
   * better than a service that does not start.
   */
  async #read(name: string): Promise<SeenKey[]> {
    const path = join(this.#directory, name);
    try {
      const keys = await keysIn(path);
      if (keys !== undefined) return keys;
      await rename(path, `${path}.damaged`);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      this.#log("warn", "a file of idempotency keys cannot be read: a batch sent again may count twice", {
        file: path,
        error: String(error),
      });
      return [];
    }
    this.#log("warn", "a file of idempotency keys is damaged: a batch sent again may count twice", {
      file: `${path}.damaged`,
    });
    return [];
  }

  async #write(name: string, keys: readonly SeenKey[]): Promise<void> {
    const lines = keys.map((key) => `${JSON.stringify(key)}\n`).join("");
    await writeDurably(join(this.#directory, name), `${lines}{"sum":${crc32(lines)}}\n`);
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => /^\d+-\d+\.ndjson$/.test(name)).sort();
  }
}

export const isWholeKeys = async (path: string): Promise<boolean> =>
  (await keysIn(path).catch(() => undefined)) !== undefined;

/** Undefined if they are not what was written. */
async function keysIn(path: string): Promise<SeenKey[] | undefined> {
  try {
    return readKeys(await readDataFile(path, "utf8"));
  } catch (error) {
    if (error instanceof NotAFile) return undefined;
    throw error;
  }
}

/** Undefined if they are not what was written. Format 1 had no sum in the last line. */
function readKeys(text: string): SeenKey[] | undefined {
  const end = text.lastIndexOf('{"sum":');
  const lines = end < 0 ? text : text.slice(0, end);
  if (end >= 0 && text.slice(end) !== `{"sum":${crc32(lines)}}\n`) return undefined;
  try {
    const keys = lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as SeenKey);
    return keys.every(isKey) && (end >= 0 || lines.endsWith("\n")) ? keys : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

const isKey = (key: unknown) =>
  Array.isArray(key) && typeof key[0] === "string" && typeof key[1] === "string" && typeof key[2] === "number";
