/** A file in an archive, with its content as stored. */
export interface ArchiveEntry {
  /** The path, separated by `/`; a folder's ends with `/`. */
  readonly name: string;
  /** Type and permissions as in stat(2): `0o100644`, `0o120777`. */
  readonly mode: number;
  /** CRC of the content before it was deflated. */
  readonly crc32: number;
  readonly unpackedBytes: number;
  readonly isDeflated: boolean;
  readonly data: Uint8Array;
}

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const ZIP64_END_BYTES = 56;
const ZIP64_LOCATOR_BYTES = 20;

/** The count in the end record has 16 bits, all set if the count is in the ZIP64 record instead. */
const MAX_COUNT = 0xffff;
/** Offsets and sizes have 32 bits, all set if they are in the ZIP64 record. */
const MAX_OFFSET = 0xffffffff;

/** 1980-01-01, the earliest date of the format. The time of building would make every archive different. */
const DATE = (0 << 9) | (1 << 5) | 1;
/** Version 2.0 of the format, with folders and deflate. "Made on Unix" makes the modes valid. */
const VERSION = 20;
const ZIP64_VERSION = 45;
const ON_UNIX = 3 << 8;
/** Bit 11: the name is UTF-8. Without it readers may assume another encoding. */
const UTF8 = 1 << 11;
const DEFLATED = 8;
const FOLDER_ATTRIBUTE = 0x10;

/**
 * An archive of the entries, sorted by the bytes of their names, so that the same entries in any order give the same bytes.
 * Source: PKWARE's APPNOTE 6.3.10. Throws a RangeError for 4 GB or more, far above what can be deployed.
 */
export function writeZip(entries: readonly ArchiveEntry[]): Buffer {
  const sorted = entries
    .map((entry) => ({ entry, name: Buffer.from(entry.name) }))
    .sort((a, b) => Buffer.compare(a.name, b.name));
  let centralAt = 0;
  let centralBytes = 0;
  for (const { entry, name } of sorted) {
    centralAt += LOCAL_BYTES + name.length + entry.data.length;
    centralBytes += CENTRAL_BYTES + name.length;
  }
  const isLarge = sorted.length >= MAX_COUNT;
  const largeBytes = isLarge ? ZIP64_END_BYTES + ZIP64_LOCATOR_BYTES : 0;
  if (centralAt + centralBytes >= MAX_OFFSET) throw new RangeError("an archive of more than 4 GB");

  const zip = Buffer.allocUnsafe(centralAt + centralBytes + largeBytes + END_BYTES);
  let at = 0;
  let central = centralAt;
  for (const { entry, name } of sorted) {
    const localAt = at;
    zip.writeUInt32LE(0x04034b50, at);
    writeAbout(zip, at + 4, entry, name);
    zip.set(name, at + LOCAL_BYTES);
    zip.set(entry.data, at + LOCAL_BYTES + name.length);
    at += LOCAL_BYTES + name.length + entry.data.length;

    zip.writeUInt32LE(0x02014b50, central);
    zip.writeUInt16LE(ON_UNIX | VERSION, central + 4);
    writeAbout(zip, central + 6, entry, name);
    // Comment, disk, attributes of text.
    zip.fill(0, central + 32, central + 38);
    zip.writeUInt32LE(((entry.mode << 16) | (entry.name.endsWith("/") ? FOLDER_ATTRIBUTE : 0)) >>> 0, central + 38);
    zip.writeUInt32LE(localAt, central + 42);
    zip.set(name, central + CENTRAL_BYTES);
    central += CENTRAL_BYTES + name.length;
  }
  if (isLarge) central = writeZip64End(zip, central, { count: sorted.length, centralAt, centralBytes });
  zip.writeUInt32LE(0x06054b50, central);
  zip.writeUInt32LE(0, central + 4);
  const count = Math.min(sorted.length, MAX_COUNT);
  zip.writeUInt16LE(count, central + 8);
  zip.writeUInt16LE(count, central + 10);
  zip.writeUInt32LE(centralBytes, central + 12);
  zip.writeUInt32LE(centralAt, central + 16);
  zip.writeUInt16LE(0, central + 20);
  return zip;
}

/** The 26 bytes that both headers of an entry share. */
function writeAbout(zip: Buffer, at: number, entry: ArchiveEntry, name: Buffer): void {
  zip.writeUInt16LE(VERSION, at);
  zip.writeUInt16LE(name.length === entry.name.length ? 0 : UTF8, at + 2);
  zip.writeUInt16LE(entry.isDeflated ? DEFLATED : 0, at + 4);
  zip.writeUInt16LE(0, at + 6);
  zip.writeUInt16LE(DATE, at + 8);
  zip.writeUInt32LE(entry.crc32, at + 10);
  zip.writeUInt32LE(entry.data.length, at + 14);
  zip.writeUInt32LE(entry.unpackedBytes, at + 18);
  zip.writeUInt16LE(name.length, at + 22);
  zip.writeUInt16LE(0, at + 24);
}

function writeZip64End(
  zip: Buffer,
  at: number,
  { count, centralAt, centralBytes }: { count: number; centralAt: number; centralBytes: number },
): number {
  zip.writeUInt32LE(0x06064b50, at);
  zip.writeBigUInt64LE(BigInt(ZIP64_END_BYTES - 12), at + 4);
  zip.writeUInt16LE(ON_UNIX | ZIP64_VERSION, at + 12);
  zip.writeUInt16LE(ZIP64_VERSION, at + 14);
  zip.writeBigUInt64LE(0n, at + 16);
  zip.writeBigUInt64LE(BigInt(count), at + 24);
  zip.writeBigUInt64LE(BigInt(count), at + 32);
  zip.writeBigUInt64LE(BigInt(centralBytes), at + 40);
  zip.writeBigUInt64LE(BigInt(centralAt), at + 48);
  const locator = at + ZIP64_END_BYTES;
  zip.writeUInt32LE(0x07064b50, locator);
  zip.writeUInt32LE(0, locator + 4);
  zip.writeBigUInt64LE(BigInt(at), locator + 8);
  zip.writeUInt32LE(1, locator + 16);
  return locator + ZIP64_LOCATOR_BYTES;
}
