import type { EventEmitter } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import type { Clock } from "../../grammar/units/clock.ts";
import { type Block, CAUGHT_UP, LineBlocks } from "./line-blocks.ts";

/** Shorter than a person notices; a stat per file costs next to nothing. */
const POLL_MS = 100;
/** How often a followed glob is checked for new files. */
const GLOB_POLL_MS = 1000;
/** Small, as many files may be followed, each with its own buffer. */
const FOLLOWED_READ_BYTES = 64 * 1024;
/** A file with a NUL in its first bytes is binary. */
const BINARY_PROBE_BYTES = 4096;

/** The name of stdin in messages. */
export const STDIN = "stdin";

/** Called with the number of bytes read, compressed ones for a compressed file. */
export type OnRead = (byteCount: number) => void;

/** An input that cannot be read, or not to its end. What came before is shown. */
export class InputError extends Error {
  readonly hint: string | undefined;

  constructor(path: string, reason: string, hint?: string, cause?: unknown) {
    super(`cannot read ${JSON.stringify(path)}: ${reason}`, { cause });
    this.name = "InputError";
    this.hint = hint;
  }
}

/** A file to read once, from start to end. */
export interface PlainFile {
  /** As the user wrote it. */
  readonly name: string;
  readonly path: string;
}

/** An open file: of `size` bytes with random access, or a stream of unknown length. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Undefined if the file is compressed or not a regular file. */
  readonly size: number | undefined;
  readonly isGzip: boolean;
}

export async function openFile({ name, path }: PlainFile, signal: AbortSignal): Promise<OpenFile> {
  try {
    const handle = await openToRead(path, signal);
    try {
      const stats = await handle.stat();
      // Probing a FIFO would consume its data.
      if (!stats.isFile()) return { handle, size: undefined, isGzip: false };
      const isGzip = await startsAsGzip(handle);
      return { handle, size: isGzip ? undefined : stats.size, isGzip };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw new InputError(name, readFailureReason(error), undefined, error);
  }
}

/**
 * Opens a file or a FIFO. Opening a FIFO waits for a writer, reading waits for data: a thread is blocked, and the process
 * cannot exit before it. When the signal aborts, this process opens the other end and writes.
 */
export async function openToRead(path: string, signal: AbortSignal): Promise<FileHandle> {
  if (!(await stat(path)).isFIFO()) return open(path, "r");
  let isOpen = false;
  let end: number | undefined;
  const closeEnd = () => {
    if (end !== undefined) closeSync(end);
    end = undefined;
  };
  const release = () => {
    try {
      end = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      writeSync(end, "\n");
    } catch {
      // Gone, or full: then no thread is blocked.
    }
    // A thread that is still to open the FIFO finds the other end open.
    if (isOpen) closeEnd();
  };
  signal.addEventListener("abort", release, { once: true });
  if (signal.aborted) release();
  const handle = await open(path, "r").finally(() => {
    isOpen = true;
    closeEnd();
  });
  // FileHandle emits events, which its types leave out.
  (handle as unknown as EventEmitter).once("close", () => signal.removeEventListener("abort", release));
  return handle;
}

/** Larger than what the check for binary files looks at. */
const HEAD_BYTES = 64 * 1024;

/** The whole lines at the start of a file that has random access. Refuses a binary file. */
export async function readHead({ name }: PlainFile, { handle }: OpenFile): Promise<Block> {
  const bytes = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  refuseBinary(name, { bytes, start: 0, end: bytesRead });
  return { bytes, start: 0, end: bytes.lastIndexOf(LF, bytesRead - 1) };
}

const LF = 0x0a;

/** The lines of an open file from `offset`, which must be the start of a line. */
export async function* readOpenFile(
  { name }: PlainFile,
  { handle, isGzip }: OpenFile,
  onRead: OnRead,
  offset = 0,
): AsyncGenerator<Block> {
  const lines = new LineBlocks();
  let isFirst = offset === 0;
  const checked = (block: Block | undefined) => {
    if (block !== undefined && isFirst) refuseBinary(name, block);
    isFirst &&= block === undefined;
    return block;
  };
  try {
    if (isGzip) {
      for await (const chunk of gunzip(readInParts(handle, onRead))) {
        for (const block of lines.push(chunk)) {
          checked(block);
          yield block;
        }
      }
    } else {
      for (let at = offset; ; ) {
        // A position only if there is an offset: the file may be a FIFO, which has no positions.
        const { bytesRead } = await handle.read(lines.space(), { position: offset === 0 ? null : at });
        if (bytesRead === 0) break;
        at += bytesRead;
        onRead(bytesRead);
        const block = checked(lines.filled(bytesRead));
        if (block !== undefined) yield block;
      }
    }
  } catch (error) {
    if (error instanceof InputError || !isReadError(error)) throw error;
    // The last line is incomplete, and shown as far as it goes.
    const block = checked(lines.end());
    if (block !== undefined) yield block;
    throw new InputError(name, readFailureReason(error), undefined, error);
  }
  const block = checked(lines.end());
  if (block !== undefined) yield block;
}

/**
 * The lines of an open stream, such as stdin, decompressed if it is gzip. When the reader stops, so do the chunks.
 */
export async function* readStreamLines(name: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  const lines = new LineBlocks();
  let isFirst = true;
  const checked = (block: Block) => {
    if (isFirst) refuseBinary(name, block);
    isFirst = false;
    return block;
  };
  try {
    for await (const chunk of unpacked(chunks)) for (const block of lines.push(chunk)) yield checked(block);
  } catch (error) {
    if (error instanceof InputError || !isReadError(error)) throw error;
    // The last line is incomplete, and shown as far as it goes.
    const last = lines.end();
    if (last !== undefined) yield checked(last);
    throw new InputError(name, readFailureReason(error), undefined, error);
  }
  const last = lines.end();
  if (last !== undefined) yield checked(last);
}

/** The chunks, decompressed if the first two bytes, which may come one by one, are those of gzip. */
async function* unpacked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const all = chunks[Symbol.asyncIterator]();
  try {
    let head = Buffer.alloc(0);
    while (head.length < GZIP.length) {
      const { done, value } = await all.next();
      if (done) break;
      head = Buffer.concat([head, value]);
    }
    const parts = (async function* () {
      yield head;
      yield* { [Symbol.asyncIterator]: () => all };
    })();
    yield* head.subarray(0, GZIP.length).equals(GZIP) ? gunzip(inParts(parts)) : parts;
  } finally {
    await all.return?.();
  }
}

/** RFC 1952, section 2.3.1. */
const GZIP = Buffer.from([0x1f, 0x8b]);

/** Small enough to fit in memory when decompressed, up to a thousand times as much. */
const COMPRESSED_BYTES = 32 * 1024;

async function* readInParts(handle: FileHandle, onRead: OnRead): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const compressed = Buffer.allocUnsafe(COMPRESSED_BYTES);
    const { bytesRead } = await handle.read(compressed, 0, COMPRESSED_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    onRead(bytesRead);
    yield compressed.subarray(0, bytesRead);
  }
}

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += COMPRESSED_BYTES) yield chunk.subarray(at, at + COMPRESSED_BYTES);
  }
}

/**
 * Decompresses all members of a file, one after another, in another thread than the one that scans. What comes before
 * damaged data is yielded before the error is thrown; a stream that is piped or iterated would drop some of it.
 */
async function* gunzip(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  const plain: Buffer[] = [];
  let failure: Error | undefined;
  gunzip.on("data", (chunk: Buffer) => plain.push(chunk));
  const ended = new Promise<void>((resolve) => {
    gunzip.on("end", resolve);
    gunzip.on("error", (error) => {
      failure = error;
      resolve();
    });
  });
  try {
    for await (const part of parts) {
      await Promise.race([new Promise<void>((resolve) => gunzip.write(part, () => resolve())), ended]);
      yield* plain.splice(0);
      if (failure !== undefined) break;
    }
    if (failure === undefined) {
      gunzip.end();
      await ended;
      yield* plain.splice(0);
    }
    if (failure !== undefined) throw failure;
  } finally {
    gunzip.destroy();
  }
}

async function startsAsGzip(handle: FileHandle): Promise<boolean> {
  const probe = Buffer.alloc(GZIP.length);
  await handle.read(probe, 0, GZIP.length, 0);
  return probe.equals(GZIP);
}

function refuseBinary(name: string, { bytes, start, end }: Block): void {
  const probe = bytes.subarray(start, Math.min(end, start + BINARY_PROBE_BYTES));
  if (!probe.includes(0)) return;
  const isUtf16 = (probe[0] === 0xff && probe[1] === 0xfe) || (probe[0] === 0xfe && probe[1] === 0xff);
  const file = name === STDIN ? "" : ` ${name}`;
  throw isUtf16
    ? new InputError(name, "it is UTF-16 text", `convert it: iconv -f utf-16 -t utf-8${file} | tool logs --file -`)
    : new InputError(name, "it is a binary file", "logs are text, plain or compressed with gzip");
}

function isReadError(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === "read" || (typeof code === "string" && code.startsWith("Z_"));
}

/** The reason of a failure, in words. */
export function readFailureReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
      return "permission denied";
    case "EISDIR":
      return "it is a folder";
    case "ELOOP":
      return "its symbolic links lead in a circle";
    case "Z_BUF_ERROR":
      return "the gzip file is cut off";
    case "Z_DATA_ERROR":
      return `the gzip file is damaged (${message})`;
    default:
      return message;
  }
}

/**
 * Reads files to their ends and waits for more until the signal aborts: across rotation (the old file is read to its end
 * first), truncation, and files that appear later. Yields `CAUGHT_UP` when the ends are reached for the first time. A line
 * is held back until its line end is written. Compressed files are read once.
 */
export async function* followFiles(
  paths: () => Promise<readonly string[]>,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): AsyncGenerator<Block> {
  const files = new Map<string, TailedFile>();
  let listedAt = Number.NEGATIVE_INFINITY;
  let hasCaughtUp = false;
  try {
    while (!signal.aborted) {
      if (clock.monotonicMs() - listedAt > GLOB_POLL_MS) {
        listedAt = clock.monotonicMs();
        for (const path of await paths()) if (!files.has(path)) files.set(path, new TailedFile(path, signal));
      }
      for (const file of files.values()) yield* file.poll();
      if (!hasCaughtUp) yield CAUGHT_UP;
      hasCaughtUp = true;
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  } finally {
    for (const file of files.values()) await file.close();
  }
}

/** Reads `path.1`, then `path`. Both are opened first, so that a rotation meanwhile loses nothing. */
export async function* readRotated(
  path: string,
  { sinceMs, follow, signal, clock }: { sinceMs: number; follow: boolean; signal: AbortSignal; clock: Clock },
): AsyncGenerator<Block> {
  const current = new TailedFile(path, signal);
  const older = new TailedFile(`${path}.1`, signal);
  try {
    const isThere = await current.tryOpen();
    // Skipped if it was last written before the period.
    if ((await older.tryOpen()) && older.writtenMs >= sinceMs && !older.isSameFile(current)) {
      yield* older.read();
      yield* older.end();
    }
    if (follow) {
      yield* current.poll();
      yield CAUGHT_UP;
      while (!signal.aborted) {
        yield* current.poll();
        await clock.sleep(POLL_MS, signal).catch(() => undefined);
      }
    } else if (isThere) {
      yield* current.read();
      yield* current.end();
    }
  } finally {
    await older.close();
    await current.close();
  }
}

class TailedFile {
  writtenMs = 0;
  readonly #path: string;
  readonly #signal: AbortSignal;
  #handle: FileHandle | undefined;
  #offset = 0;
  #identity = "";
  #isGzip = false;
  #lines = new LineBlocks(FOLLOWED_READ_BYTES);

  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
  }

  async tryOpen(): Promise<boolean> {
    try {
      this.#handle = await openToRead(this.#path, this.#signal);
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
    const stats = await this.#handle.stat();
    this.#identity = `${stats.dev}:${stats.ino}`;
    this.#offset = 0;
    this.#isGzip = stats.isFile() && (await startsAsGzip(this.#handle));
    this.writtenMs = stats.mtimeMs;
    return true;
  }

  isSameFile(other: TailedFile): boolean {
    return this.#identity === other.#identity;
  }

  /** Everything that was not read yet. */
  async *read(): AsyncGenerator<Block> {
    if (this.#isGzip) {
      if (this.#handle === undefined || this.#offset > 0) return;
      this.#offset = 1;
      yield* readOpenFile(
        { name: this.#path, path: this.#path },
        { handle: this.#handle, size: undefined, isGzip: true },
        () => {},
      );
      return;
    }
    while (this.#handle !== undefined) {
      // Without a position, as a FIFO has none.
      const { bytesRead } = await this.#handle.read(this.#lines.space(), { position: null });
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      const block = this.#lines.filled(bytesRead);
      if (block !== undefined) yield block;
    }
  }

  *end(): Generator<Block> {
    const block = this.#lines.end();
    if (block !== undefined) yield block;
  }

  async *poll(): AsyncGenerator<Block> {
    if (this.#handle === undefined && !(await this.tryOpen())) return;
    yield* this.read();
    const now = await stat(this.#path).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    // During a rotation, after the old file is renamed, there is no file.
    if (now === undefined) return;
    if (`${now.dev}:${now.ino}` !== this.#identity) {
      // Read what was written between our last read and the renaming.
      yield* this.read();
      yield* this.end();
      await this.close();
      yield* this.poll();
    } else if (now.size < this.#offset) {
      yield* this.end();
      await this.close();
      yield* this.poll();
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
