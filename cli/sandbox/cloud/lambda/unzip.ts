// Reads zip archives as the platform does: by their central directory, with the modes of Unix.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { inflateRawSync } from "node:zlib";
import type { StoredBytes } from "../stored-bytes.ts";

export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  /** 0: the archive does not say. */
  readonly mode: number;
  read(): Buffer;
}

export const END = 0x06054b50;
export const CENTRAL = 0x02014b50;
export const LOCAL = 0x04034b50;
const DEFLATED = 8;

/** Throws where it is no archive. */
export function readZip(archive: Buffer): ZipEntry[] {
  let end = archive.length - 22;
  while (end >= 0 && archive.readUInt32LE(end) !== END) end -= 1;
  if (end < 0) throw new Error("no end of a zip archive");
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== CENTRAL) throw new Error("no entry of a zip archive");
    const method = archive.readUInt16LE(at + 10);
    const compressedSize = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const restLength = archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    const local = archive.readUInt32LE(at + 42);
    if (archive.readUInt32LE(local) !== LOCAL) throw new Error("no file of a zip archive");
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(begin, begin + compressedSize);
    entries.push({
      name: archive.toString("utf8", at + 46, at + 46 + nameLength),
      size: archive.readUInt32LE(at + 24),
      mode: archive.readUInt32LE(at + 38) >>> 16,
      read: () => (method === DEFLATED ? inflateRawSync(bytes) : bytes),
    });
    at += 46 + nameLength + restLength;
  }
  return entries;
}

export function unpack(archive: StoredBytes, directory: string): void {
  for (const entry of readZip(archive.read())) {
    const path = join(directory, normalize(`/${entry.name}`));
    if (entry.name.endsWith("/")) {
      mkdirSync(path, { recursive: true });
      continue;
    }
    mkdirSync(dirname(path), { recursive: true });
    if ((entry.mode & 0o170000) === 0o120000) symlinkSync(entry.read().toString(), path);
    else {
      writeFileSync(path, entry.read());
      chmodSync(path, entry.mode & 0o777 || 0o644);
    }
  }
}
