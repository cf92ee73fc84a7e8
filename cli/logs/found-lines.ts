import type { Format } from "../argv.ts";
import { type LogText, logText, type TextState } from "../output/log-text.ts";
import { readEntryLine } from "./entry-line.ts";
import type { Found } from "./line-scan.ts";

/** How the lines that are wanted are shown. Plain data: it goes to other threads. */
export interface Shown {
  readonly format: Format;
  readonly color: boolean;
  readonly expand: boolean;
  readonly nowMs: number;
  /** Only their number is wanted. */
  readonly countOnly: boolean;
}

/** Collects lines as they are shown: text for people, or JSON lines, in which an entry stands byte for byte as it came. */
export class FoundLines {
  count = 0;
  readonly #shown: Shown;
  readonly #text: LogText;
  #limit = Number.POSITIVE_INFINITY;
  #bytes = Buffer.alloc(0);
  #byteCount = 0;
  #texts = "";
  /** A run of lines that stand one behind the other is copied at once. */
  #run: { bytes: Buffer; start: number; end: number } | undefined;

  constructor(shown: Shown) {
    this.#shown = shown;
    this.#text = logText(shown);
  }

  /** Takes so many lines and asks for no more. */
  set limit(limit: number) {
    this.#limit = limit;
  }

  get textState(): TextState {
    return this.#text.state();
  }

  set textState(state: TextState) {
    this.#text.restore(state);
  }

  readonly found: Found = (bytes, start, end, line) => {
    this.count++;
    const { format, countOnly } = this.#shown;
    if (countOnly) {
      // Nothing but the number.
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

  /** Must be called before the bytes of the last block are used again. */
  settle(): void {
    this.#endRun();
  }

  get size(): number {
    return this.#byteCount + this.#texts.length;
  }

  /** What was collected since the last time. */
  take(): Buffer | string {
    this.#endRun();
    const taken = this.#texts !== "" ? this.#texts : this.#bytes.subarray(0, this.#byteCount);
    this.#texts = "";
    // A writer may still hold what was taken.
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
