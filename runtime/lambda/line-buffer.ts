/** Lines as they are written to a log or sent: UTF-8, each with its end. */
export interface Lines {
  readonly bytes: Buffer;
  readonly count: number;
}

/** A request of a usual app writes some 700 bytes. */
const FIRST_BYTES = 4 * 1024;
/** Room for a usual batch. What an exceptionally long line needed is not kept. */
const MAX_BYTES = 256 * 1024;

/**
 * Collects lines as bytes, outside of V8's heap. As strings that wait for a second they would survive collections, each of which
 * copies them: 20 KB more of each MB that a busy function allocates.
 */
export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #count = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  get count(): number {
    return this.#count;
  }

  add(line: string): void {
    const end = this.#length + Buffer.byteLength(line) + 1;
    if (end > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length));
      this.#bytes.copy(bytes, 0, 0, this.#length);
      this.#bytes = bytes;
    }
    this.#bytes.write(line, this.#length);
    this.#bytes[end - 1] = NEWLINE;
    this.#length = end;
    this.#count += 1;
  }

  /** The lines that begin at a byte. */
  textFrom(start: number): string {
    return this.#bytes.toString("utf8", start, this.#length);
  }

  /** Hands out all lines, and is empty then. */
  take(): Lines {
    const lines = { bytes: Buffer.from(this.#bytes.subarray(0, this.#length)), count: this.#count };
    if (this.#bytes.length > MAX_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#length = 0;
    this.#count = 0;
    return lines;
  }
}

const NEWLINE = 10;
