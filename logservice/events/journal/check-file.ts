import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { requireFile } from "../../data-file.ts";
import { frameHead } from "./frame.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Whether each byte of a journal file is part of an intact batch. Reads it in chunks: it may be large. */
export async function isWholeJournal(path: string): Promise<boolean> {
  await requireFile(path);
  const handle = await open(path, "r");
  try {
    let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    /** Bytes of the body that are still to come, its sum so far and what it has to be. */
    let [left, sum, expected] = [0, 0, 0];
    for (;;) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled);
      if (bytesRead === 0) return filled === 0 && left === 0;
      filled += bytesRead;
      let at = 0;
      while (at < filled) {
        if (left > 0) {
          const end = Math.min(filled, at + left);
          sum = crc32(buffer.subarray(at, end), sum);
          left -= end - at;
          at = end;
          if (left === 0 && sum !== expected) return false;
          continue;
        }
        const head = frameHead(buffer.subarray(at, filled));
        if (head === "unfinished") break;
        if (head === undefined || (head.bytes === 0 && head.sum !== head.headSum)) return false;
        [left, sum, expected] = [head.bytes, head.headSum, head.sum];
        at += head.length;
      }
      buffer.copyWithin(0, at, filled);
      filled -= at;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } finally {
    await handle.close();
  }
}
