import type { Format } from "../argv.ts";
import { type LogText, logText, type TextState } from "../output/log-text.ts";
import { type EntryLine, readEntryLine } from "./entry-line.ts";

/** How selected lines are shown. Plain data, as it is passed to other threads. */
export interface LineOptions {
  readonly format: Format;
  readonly color: boolean;
  readonly expand: boolean;
  readonly nowMs: number;
  /** Only the number of lines is needed. */
  readonly countOnly: boolean;
}

/** Collects the output: text for people, or JSON lines, in which an entry is kept byte for byte. */
export class FoundLines {
  count = 0;
  readonly #options: LineOptions;
  readonly #text: LogText;
  #limit = Number.POSITIVE_INFINITY;
  #bytes = Buffer.alloc(0);
  #byteCount = 0;
  #texts = "";
  /** Adjacent lines are copied together. */
  #run: { bytes: Buffer; start: number; end: number } | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#text = logText(options);
  }

  /** Stops after this many lines. */
  set limit(limit: number) {
    this.#limit = limit;
  }

  get textState(): TextState {
    return this.#text.state();
  }

  set textState(state: TextState) {
    this.#text.restore(state);
  }

  readonly onLine = (bytes: Buffer, start: number, end: number, line: EntryLine | undefined): boolean => {
    this.count++;
    const { format, countOnly } = this.#options;
    if (countOnly) {
      // Only counted.
    } else if (format === "text") {
      const { entry } = line ?? readEntryLine(bytes.toString("utf8", start, end));
      this.#texts += this.#text(entry);
    } else if (line !== undefined && !line.isEntry) {
      const { level, message, fields } = line.entry;
      this.#endRun();
      this.#add(Buffer.from(`${JSON.stringify({ level, message, fields })}\n`));
    } else if (this.#run !== undefined && this.#run.bytes === bytes && this.#run.end === start) {
      this.#run.end = end + 1;
    } else {
      this.#endRun();
      this.#run = { bytes, start, end: end + 1 };
    }
    return this.count < this.#limit;
  };

  /** Must be called before the buffer of the last block is reused. */
  settle(): void {
    this.#endRun();
  }

  get size(): number {
    return this.#byteCount + this.#texts.length;
  }

  /** Returns the output that was collected since the last call. */
  take(): Buffer | string {
    this.#endRun();
    const taken = this.#texts !== "" ? this.#texts : this.#bytes.subarray(0, this.#byteCount);
    this.#texts = "";
    // A new buffer, as a writer may still use the old one.
    if (this.#byteCount > 0) this.#bytes = Buffer.alloc(0);
    this.#byteCount = 0;
    return taken;
  }

  #endRun(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    this.#add(run.bytes.subarray(run.start, run.end));
  }

  #add(bytes: Uint8Array): void {
    const needed = this.#byteCount + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length, FIRST_BYTES));
      larger.set(this.#bytes.subarray(0, this.#byteCount));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#byteCount);
    this.#byteCount = needed;
  }
}

const FIRST_BYTES = 128 * 1024;
