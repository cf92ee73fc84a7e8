import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "../grammar/entry.ts";
import { type Clock, systemClock } from "../grammar/units/clock.ts";
import { entryLine } from "./entries.ts";

/** One old file is kept next to it, so that a forgotten server uses at most twice this. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Entries that wait for a slow disk; beyond it they are dropped and counted, so that the proxy never waits for it. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

export interface DevelopmentLog {
  readonly path: string;
  /** Returns at once; the lines are appended in order. */
  write(entries: readonly Entry[]): void;
  /** Resolves when all is written. */
  close(): Promise<void>;
}

export interface DevelopmentLogOptions {
  /** The machine's by default. */
  readonly clock?: Clock;
  readonly maxFileBytes?: number;
  readonly maxPendingBytes?: number;
  /** The log could not be written (a full disk, a read-only folder): called once until a write succeeds again. */
  readonly onError?: (error: Error) => void;
}

/**
 * The log of `tool start`: `.tool/development.ndjson` below the project's directory, whole lines, appended. Readable by
 * its owner only (requests carry personal data) and ignored by Git. Nothing is made before the first entry.
 */
export function openDevelopmentLog(directory: string, options: DevelopmentLogOptions = {}): DevelopmentLog {
  const { maxFileBytes = MAX_FILE_BYTES, maxPendingBytes = MAX_PENDING_BYTES, onError, clock = systemClock } = options;
  const folder = join(directory, ".tool");
  const path = join(folder, "development.ndjson");

  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let file: FileHandle | undefined;
  let failed = false;

  return { path, write, close };

  function write(entries: readonly Entry[]): void {
    const lines = entries.map((entry) => `${entryLine(entry)}\n`).join("");
    const bytes = Buffer.from(lines);
    if (pendingBytes + bytes.length > maxPendingBytes) {
      dropped += entries.length;
      return;
    }
    pending.push(bytes);
    pendingBytes += bytes.length;
    writing ??= drain().finally(() => {
      writing = undefined;
    });
  }

  async function close(): Promise<void> {
    await writing;
    await file?.close();
    file = undefined;
  }

  async function drain(): Promise<void> {
    while (pending.length > 0) {
      const bytes = Buffer.concat([...pending, ...noteOfDropped()]);
      pending = [];
      pendingBytes = 0;
      try {
        await append(bytes);
        failed = false;
      } catch (error) {
        await file?.close().catch(() => {});
        file = undefined;
        if (!failed) onError?.(new Error(`cannot write ${path}: ${(error as Error).message}`, { cause: error }));
        failed = true;
      }
    }
  }

  function noteOfDropped(): Buffer[] {
    if (dropped === 0) return [];
    const entry: Entry = {
      timestamp: new Date(clock.nowMs()).toISOString(),
      level: "warn",
      message: "entries dropped because the disk was too slow",
      fields: { entries: dropped },
    };
    dropped = 0;
    return [Buffer.from(`${JSON.stringify(entry)}\n`)];
  }

  async function append(bytes: Buffer): Promise<void> {
    await reopenWhereMoved();
    const { size } = await file!.stat();
    if (size > 0 && size + bytes.length > maxFileBytes) {
      await file!.close();
      file = undefined;
      await rename(path, `${path}.1`);
      await reopenWhereMoved();
    }
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await file!.write(bytes, at);
      at += bytesWritten;
    }
  }

  /** The folder or the file may be deleted, or rotated by another `tool start`, while it is open here. */
  async function reopenWhereMoved(): Promise<void> {
    if (file !== undefined) {
      const [here, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
      if (there !== undefined && here.ino === there.ino && here.dev === there.dev) return;
      await file.close();
      file = undefined;
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    // A FIFO without a reader in its place is an error; waiting for one would outlast the process.
    file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
    await file.chmod(0o600);
  }
}
