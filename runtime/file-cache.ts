import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "../grammar/units/clock.ts";

/** The whole cache. The smallest function has 128 MB, and most of that is the app's. */
export const MAX_CACHE_BYTES = 32 * 1024 * 1024;

/** Larger files are streamed. Scripts of a megabyte are common, and a cached file is compressed only once. */
export const MAX_CACHED_FILE_BYTES = 1024 * 1024;

/** Size of an entry besides the content. */
const ENTRY_BYTES = 1024;

/** File times have a resolution: of two changes within it only one shows. On old file systems it is a second. */
const TICK_MS = 20;
const COARSE_TICK_MS = 2_000;

/** 64 bits: enough that no two versions of a file will ever have the same. */
const DIGEST_DIGITS = 16;

/** One file at one time. */
export interface FileVersion {
  /** Real: no link is left in it. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly mark: Mark;
}

/** Changes when a file does, also if its size and its modification time are the same. */
type Mark = Pick<Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs">;

/** A file that a request was answered with, and its precompressed siblings by coding. */
export interface CachedFile {
  readonly plain: FileVersion;
  readonly siblings: ReadonlyMap<string, FileVersion>;
  /** By their real path. */
  readonly contents: Map<string, Buffer>;
}

/**
 * Files by requested path, each with what must be unchanged for the entry to be valid. Every lookup asks the file system
 * again, so that an edit is served at once.
 */
export class FileCache {
  readonly #entries = new Map<string, { file: CachedFile; watched: readonly Watched[]; bytes: number }>();
  /** The contents of those versions that were requested. */
  readonly #digests = new WeakMap<FileVersion, string>();
  readonly #clock: Clock;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Size of contents and entries, which is bounded. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined if it is not cached or has changed. */
  get(path: string): CachedFile | undefined {
    const entry = this.#entries.get(path);
    if (entry === undefined) return undefined;
    this.#remove(path);
    if (!entry.watched.every(({ path, mark }) => isSame(mark, look(path)))) return undefined;
    // Last in order: the least recently used goes first.
    this.#put(path, entry);
    return entry.file;
  }

  /** `absent`: siblings that would change the answer if they were there. */
  set(path: string, file: CachedFile, absent: readonly string[]): void {
    this.#remove(path);
    const versions = [file.plain, ...file.siblings.values()];
    if (versions.some((version) => !isSettled(version.mark, this.#clock.nowMs()))) return;
    const watched = [
      { path, mark: file.plain.mark },
      ...[...file.siblings.values()].map(({ path, mark }) => ({ path, mark })),
      ...absent.map((path) => ({ path, mark: undefined })),
    ];
    this.#put(path, { file, watched, bytes: ENTRY_BYTES + sizeOf(file) });
  }

  /** Forgets all files: what may be served has changed. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** The bytes of a version, from the cache or, if they fit into it, from the file; undefined for a large file. */
  async content(path: string, file: CachedFile, version: FileVersion): Promise<Buffer | undefined> {
    const cached = file.contents.get(version.path);
    if (cached !== undefined) return cached;
    if (version.bytes > MAX_CACHED_FILE_BYTES) return undefined;
    const handle = await openVersion(version);
    if (handle === undefined) return undefined;
    try {
      const content = await handle.readFile();
      if (content.length !== version.bytes) return undefined;
      file.contents.set(version.path, content);
      const entry = this.#entries.get(path);
      if (entry?.file === file) {
        this.#remove(path);
        this.#put(path, { ...entry, bytes: entry.bytes + content.length });
      }
      return content;
    } finally {
      await handle.close();
    }
  }

  /** A hash of a version's bytes, computed once; undefined if the file has changed. */
  async digest(path: string, file: CachedFile, version: FileVersion): Promise<string | undefined> {
    const cached = this.#digests.get(version);
    if (cached !== undefined) return cached;
    const hash = createHash("sha256");
    const content = await this.content(path, file, version);
    if (content !== undefined) hash.update(content);
    else {
      const handle = await openVersion(version);
      if (handle === undefined) return undefined;
      for await (const chunk of handle.createReadStream()) hash.update(chunk);
    }
    const digest = hash.digest("hex").slice(0, DIGEST_DIGITS);
    this.#digests.set(version, digest);
    return digest;
  }

  #put(path: string, entry: { file: CachedFile; watched: readonly Watched[]; bytes: number }): void {
    this.#entries.set(path, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_CACHE_BYTES) break;
      this.#remove(oldest);
    }
  }

  #remove(path: string): void {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    this.#entries.delete(path);
    this.#bytes -= entry.bytes;
  }
}

interface Watched {
  readonly path: string;
  /** Undefined: there was no such file. */
  readonly mark: Mark | undefined;
}

/** Follows links. Synchronous: the kernel answers in two microseconds, the way through the thread pool takes fifty. */
export function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A file that exists, at this time. */
export function versionOf(path: string): FileVersion | undefined {
  const stats = look(path);
  if (!stats?.isFile()) return undefined;
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  return { path, bytes: size, modifiedMs: mtimeMs, mark: { dev, ino, size, mtimeMs, ctimeMs } };
}

/** The day that archives give all files which shall not depend on when they were built, in whatever time zone. */
const ARCHIVE_DAY_MS = Date.UTC(1980, 0, 1);
const DAY_MS = 24 * 3_600_000;

/** Whether the time of a file says something about its content. */
export function isDated({ modifiedMs }: FileVersion): boolean {
  return Math.abs(modifiedMs - ARCHIVE_DAY_MS) > DAY_MS;
}

/** Undefined if it is gone, unreadable or has changed. */
export async function openVersion(version: FileVersion): Promise<FileHandle | undefined> {
  const handle = await open(version.path).catch(() => undefined);
  if (handle === undefined || isSame(version.mark, await handle.stat())) return handle;
  await handle.close();
  return undefined;
}

function isSame(mark: Mark | undefined, stats: Stats | undefined): boolean {
  if (mark === undefined || stats === undefined) return mark === undefined && stats === undefined;
  return (
    mark.mtimeMs === stats.mtimeMs &&
    mark.ctimeMs === stats.ctimeMs &&
    mark.size === stats.size &&
    mark.ino === stats.ino &&
    mark.dev === stats.dev
  );
}

/** A change from now on will show. */
function isSettled(mark: Mark, nowMs: number): boolean {
  const tickMs = mark.ctimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return nowMs - Math.max(mark.ctimeMs, mark.mtimeMs) > tickMs;
}

function sizeOf(file: CachedFile): number {
  return [...file.contents.values()].reduce((sum, { length }) => sum + length, 0);
}
