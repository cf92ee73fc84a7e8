const LF = 0x0a;

/** Past this a line is taken in pieces: a file without line ends must not fill the memory. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Cuts chunks of bytes into lines, holding back the last one until its line end comes. */
export class LineSplitter {
  #held: Buffer[] = [];
  #heldBytes = 0;

  /**
   * The lines that this chunk completes, without their LF; blank ones are left out. They point into the chunk: use
   * them before it is filled again.
   */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      add(lines, this.#join(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) {
      // A copy: the caller fills the same chunk again.
      this.#held.push(Buffer.from(chunk.subarray(start)));
      this.#heldBytes += chunk.length - start;
      if (this.#heldBytes >= MAX_LINE_BYTES) lines.push(...this.end());
    }
    return lines;
  }

  /** The held back line at the end of the input. */
  end(): Buffer[] {
    const lines: Buffer[] = [];
    add(lines, this.#join(Buffer.alloc(0)));
    return lines;
  }

  #join(rest: Buffer): Buffer {
    if (this.#heldBytes === 0) return rest;
    const line = Buffer.concat([...this.#held, rest]);
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}

function add(lines: Buffer[], line: Buffer): void {
  for (let i = 0; i < line.length; i++) {
    if (line[i]! > 0x20) {
      lines.push(line);
      return;
    }
  }
}
