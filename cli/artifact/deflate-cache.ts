import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

/** The content of a file in the form that it has in an archive. */
export interface PackedContent {
  readonly crc32: number;
  readonly unpackedBytes: number;
  readonly isDeflated: boolean;
  readonly data: Uint8Array;
}

export interface DeflateCache {
  /** `hash` is the SHA-256 of the content, one character for each byte. */
  get(hash: string): PackedContent | undefined;
  /** Stores these contents and removes all others. Does nothing if they are the same as before. */
  keep(used: ReadonlyMap<string, PackedContent>): void;
}

/** A project has one cache file: opening twelve thousand files would take longer than deflating them. */
const MAGIC = "tool deflated 1\n";
const HASH_BYTES = 32;
/** Hash, CRC of the content, its size, size of the data, method. Followed by the CRC of these and the data. */
const ABOUT_BYTES = HASH_BYTES + 4 + 4 + 4 + 1;
const HEAD_BYTES = ABOUT_BYTES + 4;

/** Limit for all projects together. The least recently built ones are removed first. */
const MAX_CACHE_BYTES = 1 << 30;
/** Age at which an incomplete file of a killed run is removed. */
const ABANDONED_MS = 3_600_000;

/**
 * The files that were deflated for earlier artifacts of a project. The cache cannot make an artifact wrong: each entry
 * has a checksum, the file is replaced as a whole, and errors of reading and writing are ignored.
 */
export function openDeflateCache(folder: string | undefined, project: string): DeflateCache {
  if (folder === undefined) return { get: () => undefined, keep() {} };
  const path = join(folder, project);
  const entries = readPack(path);
  return {
    get(hash) {
      const packed = entries.get(hash);
      if (packed === undefined || crc32(packed.data, crc32(packed.about)) === packed.entryCrc32) return packed;
      entries.delete(hash);
      return undefined;
    },
    keep(used) {
      if (used.size === entries.size && [...used.keys()].every((hash) => entries.has(hash))) return;
      try {
        mkdirSync(folder, { recursive: true });
        const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
        writeFileSync(temporary, packOf(used), { mode: 0o600 });
        renameSync(temporary, path);
        bound(folder, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      }
    },
  };
}

interface Kept extends PackedContent {
  readonly about: Uint8Array;
  readonly entryCrc32: number;
}

function readPack(path: string): Map<string, Kept> {
  const entries = new Map<string, Kept>();
  let pack: Buffer;
  try {
    pack = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return entries;
  }
  if (pack.toString("latin1", 0, MAGIC.length) !== MAGIC) return entries;
  for (let at = MAGIC.length; at + HEAD_BYTES <= pack.length; ) {
    const head = at + HASH_BYTES;
    const dataAt = at + HEAD_BYTES;
    const dataEnd = dataAt + pack.readUInt32LE(head + 8);
    if (dataEnd > pack.length) break;
    entries.set(pack.toString("latin1", at, head), {
      crc32: pack.readUInt32LE(head),
      unpackedBytes: pack.readUInt32LE(head + 4),
      isDeflated: pack[head + 12] === 1,
      about: pack.subarray(at, at + ABOUT_BYTES),
      entryCrc32: pack.readUInt32LE(at + ABOUT_BYTES),
      data: pack.subarray(dataAt, dataEnd),
    });
    at = dataEnd;
  }
  return entries;
}

function packOf(used: ReadonlyMap<string, PackedContent>): Buffer {
  let bytes = MAGIC.length;
  for (const { data } of used.values()) bytes += HEAD_BYTES + data.length;
  const pack = Buffer.allocUnsafe(bytes);
  let at = pack.write(MAGIC, "latin1");
  for (const [hash, { crc32: contentCrc32, unpackedBytes, isDeflated, data }] of used) {
    pack.write(hash, at, "latin1");
    const head = at + HASH_BYTES;
    pack.writeUInt32LE(contentCrc32, head);
    pack.writeUInt32LE(unpackedBytes, head + 4);
    pack.writeUInt32LE(data.length, head + 8);
    pack[head + 12] = isDeflated ? 1 : 0;
    pack.writeUInt32LE(crc32(data, crc32(pack.subarray(at, at + ABOUT_BYTES))), at + ABOUT_BYTES);
    pack.set(data, at + HEAD_BYTES);
    at += HEAD_BYTES + data.length;
  }
  return pack;
}

/** Removes the oldest files above the limit, never the one that was just written. */
function bound(folder: string, own: string): void {
  const files = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, bytes: stat.size, modifiedMs: stat.mtimeMs }] : [];
  });
  files.sort((a, b) => b.modifiedMs - a.modifiedMs);
  const newestMs = files[0]?.modifiedMs ?? 0;
  let bytes = 0;
  for (const file of files) {
    bytes += file.bytes;
    const isAbandoned = /\.\d+-[0-9a-f]{8}$/.test(file.path) && newestMs - file.modifiedMs > ABANDONED_MS;
    if (file.path !== own && (bytes > MAX_CACHE_BYTES || isAbandoned)) rmSync(file.path, { force: true });
  }
}
