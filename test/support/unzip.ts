// Reads an archive by its directory, and nothing of the code that writes ours.
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";

export interface Unzipped {
  readonly name: string;
  /** As stat(2) has it. */
  readonly mode: number;
  readonly content: Buffer;
}

/** The entries in the archive's order. Throws where the end is no end of an archive, or a checksum is wrong. */
export function unzip(zip: Buffer): Unzipped[] {
  const end = zip.length - 22;
  if (zip.readUInt32LE(end) !== 0x06054b50) throw new Error("no end of an archive");
  const entries: Unzipped[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error(`no entry at ${at}`);
    const [method, crc, bytes] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20)];
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, nameEnd);
    const local = zip.readUInt32LE(at + 42);
    const dataAt = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(dataAt, dataAt + bytes);
    const content = method === 8 ? inflateRawSync(data) : data;
    if (crc32(content) !== crc) throw new Error(`${name} is damaged`);
    entries.push({ name, mode: zip.readUInt32LE(at + 38) >>> 16, content });
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}

/** As the platform lays a deployment out: the times are the archive's, 1980-01-01. */
export function unpack(zip: Buffer, directory: string): void {
  const time = new Date("1980-01-01T00:00:00Z");
  for (const { name, mode, content } of unzip(zip)) {
    const path = join(directory, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (name.endsWith("/")) continue;
    if ((mode & 0o170000) === 0o120000) symlinkSync(content.toString(), path);
    else {
      writeFileSync(path, content);
      chmodSync(path, mode & 0o777);
      utimesSync(path, time, time);
    }
  }
}
