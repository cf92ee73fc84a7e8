// Reads zip archives as the platform does: by their central directory, with the modes of Unix.
import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { inflateRaw, inflateRawSync } from "node:zlib";

export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  /** 0: the archive does not say. */
  readonly mode: number;
  read(): Promise<Buffer>;
}

export const END = 0x06054b50;
export const CENTRAL = 0x02014b50;
export const LOCAL = 0x04034b50;
const DEFLATED = 8;
const inflate = promisify(inflateRaw);

/** Files that are written at a time: as many as Node has threads for them. */
const AT_A_TIME = 4;

/** The size of a file that is unpacked in less time than a thread takes to be asked. */
const AT_ONCE_BYTES = 16 * 1024;

/** A few milliseconds, most of them for pages of the archive that are not in memory. */
const ENTRIES_AT_ONCE = 200;

/** Throws if it is no archive, or if the name of an entry leads out of the folder or through a link. */
export function readZip(archive: Buffer): ArchiveEntry[] {
  const entries = [...entriesOf(archive)];
  checkNames(entries);
  return entries;
}

/** As `readZip`, and lets others work between some entries and the next. */
async function readLargeZip(archive: Buffer): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  for (const entry of entriesOf(archive)) {
    entries.push(entry);
    if (entries.length % ENTRIES_AT_ONCE === 0) await setImmediate();
  }
  checkNames(entries);
  return entries;
}

function* entriesOf(archive: Buffer): Generator<ArchiveEntry> {
  let end = archive.length - 22;
  while (end >= 0 && archive.readUInt32LE(end) !== END) end -= 1;
  if (end < 0) throw new Error("no end of a zip archive");
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== CENTRAL) throw new Error("no entry of a zip archive");
    const method = archive.readUInt16LE(at + 10);
    const compressedSize = archive.readUInt32LE(at + 20);
    const size = archive.readUInt32LE(at + 24);
    const nameLength = archive.readUInt16LE(at + 28);
    const restLength = archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    const local = archive.readUInt32LE(at + 42);
    if (archive.readUInt32LE(local) !== LOCAL) throw new Error("no file of a zip archive");
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(begin, begin + compressedSize);
    yield {
      name: archive.toString("utf8", at + 46, at + 46 + nameLength),
      size,
      mode: archive.readUInt32LE(at + 38) >>> 16,
      // No more than what the limit of unpacked bytes was compared with.
      read: async () => {
        if (method !== DEFLATED || size === 0) return bytes.subarray(0, size);
        // One piece: joining many of a large file would hold all else up.
        const options = { maxOutputLength: size, chunkSize: Math.max(size, 64) };
        return size > AT_ONCE_BYTES ? inflate(bytes, options) : inflateRawSync(bytes, options);
      },
    };
    at += 46 + nameLength + restLength;
  }
}

function checkNames(entries: readonly ArchiveEntry[]): void {
  const links = new Set(entries.filter(isLink).map(({ name }) => name));
  for (const { name } of entries) {
    if (leadsOut(name)) throw new Error(`the entry ${name} is outside`);
    if (links.size === 0) continue;
    for (let folder = posix.dirname(name); folder !== "."; folder = posix.dirname(folder)) {
      if (links.has(folder)) throw new Error(`the entry ${name} is below a link`);
    }
  }
}

const isLink = ({ mode }: ArchiveEntry) => (mode & 0o170000) === 0o120000;

/** A path from the folder, of which no step may leave it. */
function leadsOut(path: string): boolean {
  const normal = posix.normalize(path);
  return posix.isAbsolute(path) || normal === ".." || normal.startsWith("../") || path.includes("\0");
}

/**
 * Into a folder that may have the files of other archives, which these cover. Rejects if a link leads out of the folder.
 * Links are made last, so that nothing is written through one.
 */
export async function unpack(archive: Buffer, directory: string): Promise<void> {
  const root = await realpath(directory);
  const entries = await readLargeZip(archive);
  const folders = new Map<string, Promise<void>>();
  const makeFolder = (name: string) => {
    const folder = folders.get(name) ?? makeOwnFolder(join(root, name));
    folders.set(name, folder);
    return folder;
  };
  const files = entries.filter((entry) => !isLink(entry)).values();
  const write = async () => {
    for (const entry of files) {
      const name = posix.normalize(entry.name);
      if (name.endsWith("/")) {
        await makeFolder(name.slice(0, -1));
        continue;
      }
      await makeFolder(posix.dirname(name));
      const bytes = await entry.read();
      await covering(join(root, name), (path) =>
        writeFile(path, bytes, { flag: "wx", mode: entry.mode & 0o777 || 0o644 }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, write));
  for (const entry of entries.filter(isLink)) {
    const name = posix.normalize(entry.name);
    // Without steps up after steps down, which would be others if one of these is a link.
    const target = posix.normalize((await entry.read()).toString());
    if (posix.isAbsolute(target) || leadsOut(posix.join(posix.dirname(name), target))) {
      throw new Error(`the link ${entry.name} leads outside`);
    }
    await makeFolder(posix.dirname(name));
    await covering(join(root, name), (path) => symlink(target, path));
  }
}

/** Rejects if another archive has a link on the way. */
async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  if ((await realpath(path)) !== path) throw new Error(`the folder ${path} is below a link`);
}

async function covering(path: string, make: (path: string) => Promise<void>): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    await rm(path, { recursive: true });
    await make(path);
  }
}
