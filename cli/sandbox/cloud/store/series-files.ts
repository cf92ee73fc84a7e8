// The files of a series: parts that are appended to, of which the oldest are removed when there is too much. A closed part
// says in its name from when to when its items are.

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../../../grammar/units/clock.ts";

/** The bounds of what a series may have on disk. */
export interface SeriesBounds {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** A part that is written no more. */
export interface ClosedPart {
  readonly fromMs: number;
  /** Nothing if it was removed meanwhile. */
  read(): string[];
}

interface Part {
  readonly name: string;
  readonly number: number;
  readonly bytes: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A part of this size is in memory; it is the unit in which the oldest is dropped, too. */
const PART_BYTES = 256 * 1024;

interface SeriesEffects {
  readonly report: (text: string) => void;
  readonly clock: Clock;
}

export class SeriesFiles {
  readonly #folder: string;
  readonly #bounds: SeriesBounds;
  readonly #report: SeriesEffects["report"];
  readonly #clock: Clock;
  /** Something cannot be read, which was said once. */
  #isDamaged = false;
  readonly #closed: Part[] = [];
  #number = 1;
  #descriptor: number | undefined;
  #bytes = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #toMs = Number.NEGATIVE_INFINITY;

  constructor(folder: string, bounds: SeriesBounds, { report, clock }: SeriesEffects) {
    this.#clock = clock;
    this.#folder = folder;
    this.#bounds = bounds;
    this.#report = report;
  }

  get bytes(): number {
    return this.#closed.reduce((sum, { bytes }) => sum + bytes, this.#bytes);
  }

  /** The texts of the part that is being written. What cannot be read is left where it is. */
  open(): string[] {
    for (const name of this.#tryRead(() => readdirSync(this.#folder)) ?? []) {
      const [, number = "", from, to, bytes = ""] = /^(\d+)(?:_(\d+)_(\d+)_(\d+))?\.log$/.exec(name) ?? [];
      if (number === "") continue;
      this.#number = Math.max(this.#number, Number(number) + (from === undefined ? 0 : 1));
      if (from === undefined) continue;
      const span = { fromMs: Number(from), toMs: Number(to) };
      this.#closed.push({ name, number: Number(number), bytes: Number(bytes), ...span });
    }
    this.#closed.sort((a, b) => a.number - b.number);
    const path = this.#path();
    const text = this.#tryRead(() => readFileSync(path));
    if (text === undefined) {
      this.#number += existsSync(path) ? 1 : 0;
      return [];
    }
    // The last line may have been cut by the end of the process.
    this.#bytes = text.lastIndexOf("\n") + 1;
    const lines = linesOf(text.subarray(0, this.#bytes));
    return lines;
  }

  /** Writes at once; true if a new part begins with the next. */
  append(texts: readonly string[], fromMs: number, toMs: number): boolean {
    const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
    if (this.#descriptor === undefined) {
      mkdirSync(this.#folder, { recursive: true });
      this.#descriptor = openSync(this.#path(), "a", 0o600);
      if (fstatSync(this.#descriptor).size > this.#bytes) ftruncateSync(this.#descriptor, this.#bytes);
    }
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    } catch (error) {
      // The part of it that was written is cut off before the next.
      this.end();
      throw error;
    }
    this.#bytes += bytes.length;
    this.extend(fromMs, toMs);
    if (this.#bytes < PART_BYTES) return false;
    this.#close();
    return true;
  }

  /** Says of which time the part that is being written is. */
  extend(fromMs: number, toMs: number): void {
    this.#fromMs = Math.min(this.#fromMs, fromMs);
    this.#toMs = Math.max(this.#toMs, toMs);
  }

  /** Closed parts that have something of this time, in the order in which they were written. */
  closedBetween(fromMs: number, toMs: number): ClosedPart[] {
    return this.#closed
      .filter((part) => part.toMs >= fromMs && part.fromMs < toMs)
      .map(({ name, fromMs: firstMs }) => ({
        fromMs: firstMs,
        read: () => linesOf(this.#tryRead(() => readFileSync(join(this.#folder, name))) ?? Buffer.alloc(0)),
      }));
  }

  clear(): void {
    this.end();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#closed.length = 0;
    this.#begin(1);
  }

  end(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #path(): string {
    return join(this.#folder, `${String(this.#number).padStart(8, "0")}.log`);
  }

  #begin(number: number): void {
    this.#number = number;
    this.#bytes = 0;
    this.#fromMs = Number.POSITIVE_INFINITY;
    this.#toMs = Number.NEGATIVE_INFINITY;
  }

  #close(): void {
    this.end();
    const [number, bytes] = [this.#number, this.#bytes];
    const [fromMs, toMs] = [Math.floor(Math.max(0, this.#fromMs)), Math.ceil(Math.max(0, this.#toMs))];
    const name = `${String(number).padStart(8, "0")}_${fromMs}_${toMs}_${bytes}.log`;
    renameSync(this.#path(), join(this.#folder, name));
    this.#closed.push({ name, number, bytes, fromMs, toMs });
    this.#begin(number + 1);
    const oldestMs = this.#clock.nowMs() - this.#bounds.maxAgeMs;
    while (this.#closed.length > 0 && (this.bytes > this.#bounds.maxBytes || this.#closed[0]!.toMs < oldestMs)) {
      rmSync(join(this.#folder, this.#closed.shift()!.name), { recursive: true, force: true });
    }
  }

  /** Undefined if there is nothing, or if it cannot be read. */
  #tryRead<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      if (!this.#isDamaged) {
        this.#report(`some log events or samples cannot be read and are left out: ${(error as Error).message}`);
      }
      this.#isDamaged = true;
      return undefined;
    }
  }
}

const linesOf = (bytes: Buffer) => bytes.toString().split("\n").filter(Boolean);
