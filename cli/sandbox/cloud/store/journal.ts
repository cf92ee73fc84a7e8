// The file of records: what each collection has under each key, as it was written last. Records are written in batches;
// one that is not there to its end is as if it had never been.
//
// A line is a record: checksum, number of the batch, "+" or at the batch's end ".", collection, key, hashes of the bytes
// that the value names, value; separated by tabs. Without a value the key is gone.
import { crc32 } from "node:zlib";
import { StoreProblem } from "./problem.ts";

const FORMAT = 1;

export interface JournalChange {
  readonly collection: string;
  readonly key: string;
  /** SHA-256 of the bytes that the value names. */
  readonly bytes: readonly string[];
  /** Undefined if the key is gone. */
  readonly value: string | undefined;
}

/** A record and where its value is in the file. */
export interface PlacedRecord {
  readonly collection: string;
  readonly key: string;
  readonly bytes: readonly string[];
  readonly at: number;
  /** Undefined if the key is gone. */
  readonly length: number | undefined;
}

const TAB = 9;
const NEWLINE = 10;

/** The first line of a file. */
export function header(): Buffer {
  return Buffer.from(line(`0\t.\t"format"\t"${FORMAT}"\t\t`));
}

/** The lines of a batch, and where each value is when they begin at `at`. */
export function batch(
  changes: readonly JournalChange[],
  number: number,
  at: number,
): { bytes: Buffer; records: PlacedRecord[] } {
  const records: PlacedRecord[] = [];
  const lines: Buffer[] = [];
  let position = at;
  for (const [i, { collection, key, bytes, value }] of changes.entries()) {
    const end = i === changes.length - 1 ? "." : "+";
    const fields = [number, end, JSON.stringify(collection), JSON.stringify(key), bytes.join(",")];
    const own = Buffer.from(line(`${fields.join("\t")}\t${value ?? ""}`));
    const length = value === undefined ? undefined : Buffer.byteLength(value);
    records.push({ collection, key, bytes, at: position + own.length - 1 - (length ?? 0), length });
    lines.push(own);
    position += own.length;
  }
  return { bytes: Buffer.concat(lines), records };
}

const line = (text: string) => `${crc32(text).toString(16).padStart(8, "0")}\t${text}\n`;

export interface JournalContents {
  readonly records: PlacedRecord[];
  /** Number of the last whole batch. */
  readonly number: number;
  /** Where the last whole batch ends. */
  readonly length: number;
}

/** Parses the contents of a file. Throws a `StoreProblem` if something in the middle is not what was written. */
export function parseJournal(file: Buffer, path: string): JournalContents {
  const first = readLine(file, 0);
  const format = first?.collection === "format" ? Number(first.key) : undefined;
  if (format === undefined) {
    throw new StoreProblem(`${path} does not begin as a sandbox's state. ${REMEDY}`);
  }
  if (format > FORMAT) {
    throw new StoreProblem(
      `${path} was written by a newer version of the tool (format ${format}, this one reads ${FORMAT}). Update the tool, or make a new sandbox with \`tool sandbox reset\`.`,
    );
  }
  const records: PlacedRecord[] = [];
  let [number, length, at] = [0, first!.end, first!.end];
  let pending: PlacedRecord[] = [];
  while (at < file.length) {
    const record = readLine(file, at);
    // One of another batch was there before a write that failed.
    if (record?.number !== number + 1) {
      checkTail(file, at, number + 1, path);
      break;
    }
    at = record.end;
    pending.push(record);
    if (!record.isEnd) continue;
    // One by one: a spread of many would be too many arguments.
    for (const one of pending) records.push(one);
    pending = [];
    number = record.number;
    length = at;
  }
  return { records, number, length };
}

const REMEDY =
  "Nothing was changed: repair the disk and restore the file from a copy, or make a new sandbox with `tool sandbox reset`, which removes it.";

/** After a line that is damaged only the rest of its own batch may follow, which nobody was told of. */
function checkTail(file: Buffer, at: number, number: number, path: string): void {
  // At every byte, because it may be a line's end that is damaged.
  for (let next = at + 1; next < file.length; next += 1) {
    const later = readLine(file, next);
    if (later !== undefined && later.number > number) {
      throw new StoreProblem(`${path} is damaged at byte ${at}, and whole records follow. ${REMEDY}`);
    }
  }
}

function readLine(
  file: Buffer,
  at: number,
): (PlacedRecord & { number: number; isEnd: boolean; end: number }) | undefined {
  if (file[at + 8] !== TAB) return undefined;
  const newline = file.indexOf(NEWLINE, at);
  if (newline - at < 20) return undefined;
  const text = file.subarray(at + 9, newline);
  if (file.toString("latin1", at, at + 8) !== crc32(text).toString(16).padStart(8, "0")) return undefined;
  const fields: string[] = [];
  let from = 0;
  for (let i = 0; i < 5; i += 1) {
    const tab = text.indexOf(TAB, from);
    if (tab === -1) return undefined;
    fields.push(text.toString("utf8", from, tab));
    from = tab + 1;
  }
  const [number = "", end = "", collection = "", key = "", bytes = ""] = fields;
  const length = text.length - from;
  return {
    collection: JSON.parse(collection) as string,
    key: JSON.parse(key) as string,
    bytes: bytes === "" ? [] : bytes.split(","),
    at: at + 9 + from,
    length: length === 0 ? undefined : length,
    number: Number(number),
    isEnd: end === ".",
    end: newline + 1,
  };
}
