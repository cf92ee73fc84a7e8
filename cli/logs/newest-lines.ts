import type { EntryLine } from "./entry-line.ts";
import type { OnLine } from "./line-scan.ts";

/** Keeps the last `limit` lines that were found. */
export class NewestLines {
  readonly #limit: number;
  readonly #lines: [bytes: Buffer, line: EntryLine | undefined][] = [];
  #next = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  readonly onLine: OnLine = (bytes, start, end, line) => {
    // A copy, with its LF, as the block's buffer is reused.
    this.#lines[this.#next] = [Buffer.from(bytes.subarray(start, end + 1)), line];
    this.#next = (this.#next + 1) % this.#limit;
    return true;
  };

  /** In the order in which they were found. */
  lines(): [bytes: Buffer, line: EntryLine | undefined][] {
    return [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)];
  }
}
