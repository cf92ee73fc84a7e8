import type { Entry } from "../grammar/entry.ts";
// Not by the doors of their folders: the parser of queries, and all that summaries need, would come with them.
import { leadingLevel, leadingStatus } from "../grammar/query/leading-level.ts";
import { isOwnForm, loggedTime, readLoggerLine } from "../grammar/query/loggers.ts";
import { parseTimestamp } from "../grammar/query/timestamp.ts";
import { readAccessLine } from "../grammar/summary/access-line.ts";
import { levelOfStatus } from "./entries.ts";

/**
 * Longer lines are split into entries of this size: a program that never writes a newline must not fill the memory,
 * and log stores refuse much longer entries.
 */
const MAX_LINE_BYTES = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** Cuts a stream of bytes into lines of text, across writes. A line ends at LF or CRLF; invalid UTF-8 is replaced. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(onLine: (line: string) => void, maxBytes = MAX_LINE_BYTES) {
    this.#onLine = onLine;
    this.#maxBytes = maxBytes;
  }

  write(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(LF, start);
      const end = newline === -1 ? chunk.length : newline;
      const room = this.#maxBytes - this.#heldBytes;
      if (end - start > room) {
        this.#hold(chunk.subarray(start, start + room));
        this.#splitLongLine();
        start += room;
        continue;
      }
      this.#hold(chunk.subarray(start, end));
      if (newline === -1) return;
      this.#emit();
      start = newline + 1;
    }
  }

  /** Emits what was written after the last newline. */
  end(): void {
    if (this.#heldBytes > 0) this.#emit();
  }

  #hold(part: Buffer): void {
    if (part.length === 0) return;
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #take(): Buffer {
    const line = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }

  #emit(): void {
    const line = this.#take();
    this.#onLine(line.toString("utf8", 0, line.at(-1) === CR ? line.length - 1 : line.length));
  }

  /** Cuts in front of a character that is not complete yet, so that it survives the cut. */
  #splitLongLine(): void {
    const line = this.#take();
    let cut = line.length;
    let lead = line.length - 1;
    while (lead > line.length - 4 && (line[lead]! & 0xc0) === 0x80) lead--;
    if (characterBytes(line[lead]!) > line.length - lead && lead > 0) cut = lead;
    this.#onLine(line.toString("utf8", 0, cut));
    this.#hold(line.subarray(cut));
  }
}

/** Bytes of the UTF-8 character that a lead byte begins. */
function characterBytes(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

export interface OutputOptions {
  /** The level of a line that is plain text. */
  readonly level: string;
  /** Whether such a line may say another one itself. */
  readonly readsLevel?: boolean | undefined;
  readonly nowMs: () => number;
  readonly times?: EntryTimes | undefined;
}

/** Whose time an entry has: `own`, its line's, if that says one (default); `now`, the time at which the line came. */
export type EntryTimes = "own" | "now";

/**
 * The entry that a line of an app's output stands for. A JSON object is structured if it is a line of a logger that grammar
 * knows, or has a string `level` and `message`: level, message and time are its own, its `fields` and all other members are
 * the fields. Anything else is text, as is an object that nests too deep. A blank line is no entry.
 */
export function entryOfLine(line: string, options: OutputOptions): Entry | undefined {
  if (line.trim() === "") return undefined;
  return (
    structured(line, options) ?? {
      timestamp: iso(options.nowMs()),
      level: levelOfText(line, options),
      message: line,
      fields: {},
    }
  );
}

/**
 * Many servers and loggers write everything to stderr. A line of an access log has the level that our own entry of such a
 * response has, as has what a server remarks on one; a line that begins with a level has that.
 */
function levelOfText(line: string, { level, readsLevel }: OutputOptions): string {
  if (!readsLevel) return level;
  const access = readAccessLine(line);
  if (access !== undefined) return levelOfStatus(Number(access.status));
  const status = leadingStatus(line);
  return status === undefined ? (leadingLevel(line) ?? level) : levelOfStatus(status);
}

function structured(line: string, { nowMs, times }: OutputOptions): Entry | undefined {
  // Most lines are text: do not pay for an exception on each of them.
  if (!/^\s*\{/.test(line)) return undefined;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (line.length > 2 * MAX_LEVELS && isDeeper(value, MAX_LEVELS)) return undefined;
  if (isOwnForm(value)) {
    // The same as below, sooner.
    const { level, message, timestamp, fields } = value as unknown as Entry;
    const own = timestamp === undefined ? undefined : loggedTime(timestamp);
    if (timestamp === undefined || own !== undefined) {
      return { timestamp: own === undefined || times === "now" ? iso(nowMs()) : own, level, message, fields };
    }
  }
  const record = readLoggerLine(value) ?? ofUnknownLevel(value);
  if (record === undefined) return undefined;
  const { level, message, timestamp, others } = record;
  const { fields, ...rest } = others;
  return {
    timestamp: timestamp === undefined || times === "now" ? iso(nowMs()) : timestamp,
    level,
    message,
    fields: isObject(fields) ? { ...rest, ...fields } : others,
  };
}

/** JSON.parse takes any depth, JSON.stringify recurses and would end the process: an app may print what a client sent. */
const MAX_LEVELS = 100;

/** Whether objects and lists are in more than so many others. Looks no deeper than that. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** Our own form at an unknown level: every level is kept. */
function ofUnknownLevel(value: Record<string, unknown>) {
  const { level, message, ...others } = value;
  if (typeof level !== "string" || typeof message !== "string") return undefined;
  const { timestamp, ...untimed } = others;
  const isTime = typeof timestamp === "string" && parseTimestamp(timestamp) !== undefined;
  return { level, message, timestamp: isTime ? timestamp : undefined, others: isTime ? untimed : others };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const iso = (ms: number) => new Date(ms).toISOString();
