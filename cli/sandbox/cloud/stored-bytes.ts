// Bytes that a value names without carrying them: archives, objects of buckets.
import { createHash } from "node:crypto";

export class StoredBytes {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly length: number;
  #read: () => Buffer;

  constructor(sha256: string, length: number, read: () => Buffer) {
    this.sha256 = sha256;
    this.length = length;
    this.#read = read;
  }

  static of(bytes: Buffer): StoredBytes {
    return new StoredBytes(createHash("sha256").update(bytes).digest("hex"), bytes.length, () => bytes);
  }

  read(): Buffer {
    return this.#read();
  }

  /** From now on they are read from there, and are not in memory. */
  moveTo(read: () => Buffer): void {
    this.#read = read;
  }
}
