// Makes small archives of stored files: inline code of a template, and what tests deploy.
import { crc32 } from "node:zlib";
import { CENTRAL, END, LOCAL } from "./unzip.ts";

export interface ZipFile {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

export function zipOf(files: Readonly<Record<string, string | ZipFile>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, file] of Object.entries(files)) {
    const { bytes, mode } = typeof file === "string" ? { bytes: Buffer.from(file), mode: 0o644 } : file;
    // The fields that both records of a file have: version, flags, method, time, checksum, sizes, lengths.
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(crc32(bytes), 10);
    head.writeUInt32LE(bytes.length, 14);
    head.writeUInt32LE(bytes.length, 18);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([word(LOCAL), head, Buffer.from(name), bytes]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    // Made on Unix, so that the modes count.
    centrals.push(Buffer.concat([word(CENTRAL), Buffer.from([20, 3]), head, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(locals.length, 4);
  end.writeUInt16LE(locals.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, word(END), end]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
