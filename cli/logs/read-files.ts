import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { LineSplitter } from "./line-splitter.ts";

/** The lines of one read, in the order of the input. Use them before asking for the next. */
export type LineBatch = readonly Buffer[];

/** Large enough that the calls do not count, small enough to stay in the cache. */
const CHUNK_BYTES = 256 * 1024;
/** Below what a person notices; one stat per file and turn costs nothing. */
const POLL_MS = 100;
/** How often a followed glob is looked at again for new files. */
const GLOB_POLL_MS = 1000;

/** Reads files one after another to their ends. */
export async function* readFiles(paths: readonly string[]): AsyncGenerator<LineBatch> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const path of paths) {
    const file = new TailedFile(path);
    try {
      await file.open();
      yield* file.read(chunk);
      yield file.end();
    } finally {
      await file.close();
    }
  }
}

/**
 * Reads files to their ends and waits for more until the signal aborts: across rotation (the old file is read to its
 * end first), truncation, and files that appear later. A line is held back until its line end comes.
 */
export async function* followFiles(
  paths: () => Promise<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<LineBatch> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const files = new Map<string, TailedFile>();
  let listedAt = Number.NEGATIVE_INFINITY;
  try {
    while (!signal.aborted) {
      if (performance.now() - listedAt > GLOB_POLL_MS) {
        listedAt = performance.now();
        for (const path of await paths()) if (!files.has(path)) files.set(path, new TailedFile(path));
      }
      for (const file of files.values()) yield* file.poll(chunk);
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    for (const file of files.values()) await file.close();
  }
}

/** Reads `path.1`, then `path`; both are opened first, so that a rotation meanwhile moves nothing out of sight. */
export async function* readRotated(
  path: string,
  { sinceMs, follow, signal }: { sinceMs: number; follow: boolean; signal: AbortSignal },
): AsyncGenerator<LineBatch> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const current = new TailedFile(path);
  const older = new TailedFile(`${path}.1`);
  try {
    const isThere = await current.tryOpen();
    // Last written before the time asked for: nothing in it is newer.
    if ((await older.tryOpen()) && older.writtenMs >= sinceMs && !older.isSameFile(current)) {
      yield* older.read(chunk);
      yield older.end();
    }
    if (follow) {
      while (!signal.aborted) {
        yield* current.poll(chunk);
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    } else if (isThere) {
      yield* current.read(chunk);
      yield current.end();
    }
  } finally {
    await older.close();
    await current.close();
  }
}

class TailedFile {
  writtenMs = 0;
  readonly #path: string;
  #handle: FileHandle | undefined;
  #offset = 0;
  #identity = "";
  #lines = new LineSplitter();

  constructor(path: string) {
    this.#path = path;
  }

  async open(): Promise<void> {
    this.#handle = await open(this.#path, "r");
    const { dev, ino, mtimeMs } = await this.#handle.stat();
    this.#identity = `${dev}:${ino}`;
    this.#offset = 0;
    this.writtenMs = mtimeMs;
  }

  async tryOpen(): Promise<boolean> {
    try {
      await this.open();
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  isSameFile(other: TailedFile): boolean {
    return this.#identity === other.#identity;
  }

  /** What is there and was not read yet. */
  async *read(chunk: Buffer): AsyncGenerator<LineBatch> {
    while (this.#handle !== undefined) {
      // Without a position: a FIFO has none.
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      const lines = this.#lines.push(chunk.subarray(0, bytesRead));
      if (lines.length > 0) yield lines;
    }
  }

  end(): LineBatch {
    return this.#lines.end();
  }

  async *poll(chunk: Buffer): AsyncGenerator<LineBatch> {
    if (this.#handle === undefined && !(await this.tryOpen())) return;
    yield* this.read(chunk);
    const now = await stat(this.#path).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    // Between the renaming of the old file and the making of the new one there is none.
    if (now === undefined) return;
    if (`${now.dev}:${now.ino}` !== this.#identity) {
      // What was written between our read and the renaming.
      yield* this.read(chunk);
      yield this.end();
      await this.close();
      yield* this.poll(chunk);
    } else if (now.size < this.#offset) {
      yield this.end();
      await this.close();
      yield* this.poll(chunk);
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
