// Bytes that a value names without carrying them: archives, objects of buckets.
import { createHash } from "node:crypto";

export class StoredBytes {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly length: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.sha256 = createHash("sha256").update(bytes).digest("hex");
    this.length = bytes.length;
    this.#bytes = bytes;
  }

  read(): Buffer {
    return this.#bytes;
  }
}
