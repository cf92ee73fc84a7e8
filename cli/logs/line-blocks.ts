const LF = 0x0a;

/** Large enough that the calls do not count, small enough to stay in the cache. */
const READ_BYTES = 256 * 1024;

/** Past this a line is taken in pieces: a file without line ends must not fill the memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Whole lines: those between `start` and `end`, parted by LF, blank ones among them. `bytes[end]` is an LF too, whether or
 * not the input had one there, so that a reader of lines needs no other bound.
 */
export interface Block {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** A block without lines: what was there is read, and what follows comes while time passes. Told by identity. */
export const CAUGHT_UP: Block = { bytes: Buffer.from("\n"), start: 0, end: 0 };

/** Cuts an input into blocks of whole lines, in one buffer that is filled again and again. */
export class LineBlocks {
  #buffer: Buffer;
  readonly #readBytes: number;
  /** What was read and not handed out is from here ... */
  #start = 0;
  /** ... to here. */
  #end = 0;

  constructor(readBytes = READ_BYTES) {
    this.#readBytes = readBytes;
    this.#buffer = Buffer.allocUnsafeSlow(2 * readBytes + 1);
  }

  /** Where to read to. The last block must not be in use any more. */
  space(): Buffer {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    // One byte is kept for the LF behind a last line.
    if (this.#buffer.length - 1 - this.#end < this.#readBytes) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length);
      this.#buffer.copy(larger, 0, 0, this.#end);
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#end, this.#end + this.#readBytes);
  }

  /** After so many bytes were put into `space()`: the lines that are whole now. Use them before asking for space again. */
  filled(byteCount: number): Block | undefined {
    const last = this.#buffer.subarray(this.#end, this.#end + byteCount).lastIndexOf(LF);
    const end = this.#end + last;
    this.#end += byteCount;
    if (last < 0) return this.#end >= MAX_LINE_BYTES ? this.end() : undefined;
    const block = { bytes: this.#buffer, start: 0, end };
    this.#start = end + 1;
    return block;
  }

  /** The held back line at the end of the input. */
  end(): Block | undefined {
    if (this.#start === this.#end) return undefined;
    const block = { bytes: this.#buffer, start: this.#start, end: this.#end };
    // The byte is free: space() leaves it so.
    this.#buffer[this.#end] = LF;
    this.#start = this.#end;
    return block;
  }

  /** The same for bytes that somebody else has read. */
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
