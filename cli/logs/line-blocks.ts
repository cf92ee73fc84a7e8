const LF = 0x0a;

/** Large enough that the number of calls does not matter, small enough to stay in the CPU's cache. */
const READ_BYTES = 256 * 1024;

/** A longer line is split: a file without line ends must not fill the memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Whole lines: those between `start` and `end`, separated by LF, including blank ones. `bytes[end]` is an LF too, even if
 * the input had none there, so that a reader of lines needs no other bound.
 */
export interface Block {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** An empty block between the existing lines and those that are written from now on. Compared by identity. */
export const CAUGHT_UP: Block = { bytes: Buffer.from("\n"), start: 0, end: 0 };

/** Splits an input into blocks of whole lines, in one buffer that is reused. */
export class LineBlocks {
  #buffer: Buffer;
  readonly #readBytes: number;
  /** Start of what was read and not yielded. */
  #start = 0;
  /** End of what was read and not yielded. */
  #end = 0;

  constructor(readBytes = READ_BYTES) {
    this.#readBytes = readBytes;
    this.#buffer = Buffer.allocUnsafeSlow(2 * readBytes + 1);
  }

  /** The space to read into. The last block must not be in use any more. */
  space(): Buffer {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    // One byte is kept for the LF after the last line.
    if (this.#buffer.length - 1 - this.#end < this.#readBytes) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length);
      this.#buffer.copy(larger, 0, 0, this.#end);
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#end, this.#end + this.#readBytes);
  }

  /** Called after bytes were written to `space()`: the lines that are complete now. Use them before the next `space()`. */
  filled(byteCount: number): Block | undefined {
    const last = this.#buffer.subarray(this.#end, this.#end + byteCount).lastIndexOf(LF);
    const end = this.#end + last;
    this.#end += byteCount;
    if (last < 0) return this.#end >= MAX_LINE_BYTES ? this.end() : undefined;
    const block = { bytes: this.#buffer, start: 0, end };
    this.#start = end + 1;
    return block;
  }

  /** The last line of the input, if it has no line end. */
  end(): Block | undefined {
    if (this.#start === this.#end) return undefined;
    const block = { bytes: this.#buffer, start: this.#start, end: this.#end };
    // space() keeps this byte free.
    this.#buffer[this.#end] = LF;
    this.#start = this.#end;
    return block;
  }

  /** The same for bytes that were read into another buffer. */
  *push(chunk: Uint8Array): Generator<Block> {
    for (let at = 0; at < chunk.length; ) {
      const space = this.space();
      const part = chunk.subarray(at, at + space.length);
      space.set(part);
      at += part.length;
      const block = this.filled(part.length);
      if (block !== undefined) yield block;
    }
  }
}
