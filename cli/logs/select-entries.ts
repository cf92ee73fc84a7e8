import type { Entry } from "../../grammar/entry.ts";
import type { Format } from "../argv.ts";
import type { Output } from "../io.ts";
import { logText } from "../output/log-text.ts";
import { readEntryLine } from "./entry-line.ts";
import type { Source } from "./sources.ts";

export interface Selection {
  /** Undefined: every entry. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  readonly untilMs: number | undefined;
  readonly format: Format;
  readonly expand: boolean;
  readonly nowMs: number;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Small writes cost a system call each; larger ones gain nothing and make a pipe's reader wait. */
const BATCH_BYTES = 64 * 1024;
const LF = 0x0a;

/**
 * Reads a source to its end (or the signal) and writes the entries selected: text for people, or JSON lines, in which
 * an entry stands byte for byte as it came. Memory stays the same however long the input is.
 */
export async function selectEntries(source: Source, selection: Selection): Promise<void> {
  const { matches, untilMs, format, output, signal } = selection;
  const { sinceMs } = source;
  const isBound = sinceMs !== undefined || untilMs !== undefined;
  const batch = new WriteBatch(output);
  const text = logText({ color: output.color, expand: selection.expand, nowMs: selection.nowMs });

  for await (const lines of source.lines(signal)) {
    for (const line of lines) {
      const { entry, isEntry } = readEntryLine(line.toString());
      if (isBound && !isWithin(entry.timestamp, sinceMs, untilMs)) continue;
      if (matches !== undefined && !matches(entry)) continue;
      if (format === "text") batch.addText(text(entry));
      else if (isEntry) batch.addLine(line);
      else {
        const { level, message, fields } = entry;
        batch.addText(`${JSON.stringify({ level, message, fields })}\n`);
      }
      if (batch.isFull) await batch.write();
      if (signal.aborted) break;
    }
    if (source.live) await batch.write();
    if (signal.aborted) break;
  }
  await batch.write();
}

/** An entry without a time is in no period. */
function isWithin(timestamp: string, sinceMs: number | undefined, untilMs: number | undefined): boolean {
  const timeMs = Date.parse(timestamp);
  return timeMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && timeMs < (untilMs ?? Number.POSITIVE_INFINITY);
}

class WriteBatch {
  readonly #output: Output;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  get isFull(): boolean {
    return this.#bytes >= BATCH_BYTES;
  }

  addText(text: string): void {
    this.#add(Buffer.from(text));
  }

  /** Copies the line: a few matches must not keep the chunks alive that they came in. */
  addLine(line: Buffer): void {
    const copy = Buffer.allocUnsafe(line.length + 1);
    line.copy(copy);
    copy[line.length] = LF;
    this.#add(copy);
  }

  #add(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }

  async write(): Promise<void> {
    if (this.#bytes === 0) return;
    const all = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    await this.#output.write(all);
  }
}
