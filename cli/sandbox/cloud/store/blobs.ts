// Bytes by their content: one file for each, named by its SHA-256, which is there before a record names it and removed
// after the last record that named it.
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AwsError } from "../protocol/error.ts";
import type { StoredBytes } from "../stored-bytes.ts";
import { syncFolder } from "./folder.ts";

/** The error codes of a file that cannot be read; other failures pass by themselves. */
const UNREADABLE = /^(EACCES|EIO|EISDIR|ELOOP|ENOENT|ENOTDIR|EPERM)$/;

/** The error that a user gets, without a path of the machine. */
class Damage extends AwsError {
  constructor() {
    super(
      "SandboxCodeDamaged",
      "the code of this version is damaged or missing in the sandbox: tool stack delete --sandbox, then deploy again, makes it anew",
      502,
    );
  }
}

export class Blobs {
  readonly #folder: string;
  readonly #report: (text: string) => void;
  /** How many records name each. */
  readonly #uses = new Map<string, number>();
  readonly #files = new Set<string>();
  /** Files that were what their names say when they were read or written, and files of which it was said that they are not. */
  readonly #whole = new Set<string>();
  readonly #reported = new Set<string>();

  constructor(folder: string, report: (text: string) => void) {
    this.#folder = folder;
    this.#report = report;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) this.#files.add(name);
  }

  /** Throws an `AwsError` for the user if the file is not what it was. */
  read(sha256: string): Buffer {
    const path = join(this.#folder, sha256);
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      if (!UNREADABLE.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
      throw this.#damage(sha256, `${path} cannot be read: ${(error as Error).message}`);
    }
    if (this.#whole.has(sha256)) return bytes;
    if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
      throw this.#damage(sha256, `${path} is damaged: its content is not what its name says`);
    }
    this.#whole.add(sha256);
    return bytes;
  }

  /** Whether the file is what its name says, which is not taken from memory. Another answer is reported. */
  check(sha256: string): boolean {
    this.#whole.delete(sha256);
    try {
      this.read(sha256);
      return true;
    } catch (error) {
      if (error instanceof Damage) return false;
      throw error;
    }
  }

  /** Writes those that have no file yet, or one that is not what it should be. They are safe when this resolves. */
  async write(all: Iterable<StoredBytes>): Promise<void> {
    let hasWritten = false;
    for (const one of all) {
      const { sha256 } = one;
      if (!this.#isWhole(one)) hasWritten = (await this.#writeAnew(one)) || hasWritten;
      this.#files.add(sha256);
      one.moveTo(() => this.read(sha256));
    }
    if (hasWritten) await syncFolder(this.#folder);
  }

  use(names: readonly string[], count: 1 | -1): void {
    for (const name of names) this.#uses.set(name, (this.#uses.get(name) ?? 0) + count);
  }

  /** Removes files that no record names: left over when one was killed, or named before. */
  removeUnused(): void {
    for (const name of this.#files) {
      if ((this.#uses.get(name) ?? 0) > 0) continue;
      try {
        rmSync(join(this.#folder, name), { recursive: true, force: true });
      } catch (error) {
        // It is in nobody's way.
        this.#report((error as Error).message);
      }
      this.#files.delete(name);
      this.#uses.delete(name);
      this.#whole.delete(name);
      this.#reported.delete(name);
    }
  }

  /** The length is enough for a file that was whole once: archives are large, and named by many changes. */
  #isWhole({ sha256, length }: StoredBytes): boolean {
    if (!this.#files.has(sha256)) return false;
    try {
      if (this.#whole.has(sha256)) {
        const stats = lstatSync(join(this.#folder, sha256));
        if (stats.isFile() && stats.size === length) return true;
        this.#whole.delete(sha256);
      }
      this.read(sha256);
      return true;
    } catch (error) {
      if (error instanceof Damage || (error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  /** False if the file that is damaged is all that there is: a change of something else does not fail for that. */
  async #writeAnew(one: StoredBytes): Promise<boolean> {
    const { sha256 } = one;
    let bytes: Buffer;
    try {
      bytes = one.read();
    } catch (error) {
      if (error instanceof Damage && (this.#uses.get(sha256) ?? 0) > 0) return false;
      throw error;
    }
    await this.#writeFile(sha256, bytes);
    this.#whole.add(sha256);
    this.#reported.delete(sha256);
    return true;
  }

  #damage(sha256: string, text: string): Damage {
    if (!this.#reported.has(sha256)) this.#report(text);
    this.#reported.add(sha256);
    return new Damage();
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
      const path = join(this.#folder, name);
      // A folder cannot be replaced.
      if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) await rm(path, { recursive: true, force: true });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}
