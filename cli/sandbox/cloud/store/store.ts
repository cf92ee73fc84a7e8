// A folder with the state of an account: the journal of its records, the bytes that these name, and the files of series.

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../../../grammar/units/clock.ts";
import type { StoredBytes } from "../stored-bytes.ts";
import { Blobs } from "./blobs.ts";
import { syncFolderNow } from "./folder.ts";
import { batch, header, type JournalChange, type PlacedRecord, parseJournal } from "./journal.ts";
import { type SeriesBounds, SeriesFiles } from "./series-files.ts";

/** Gets what was found and mended. */
type Report = (text: string) => void;

/** A smaller journal is left as it is, whatever of it is out of date. */
const COMPACTED_BYTES = 4 * 1024 * 1024;

const DAY_MS = 86_400_000;

/** The space and the age that series of a service may have on disk; 64 MB without end are usual. */
const SERIES_BOUNDS: Readonly<Record<string, SeriesBounds>> = {
  monitoring: { maxBytes: 64 * 1024 * 1024, maxAgeMs: 30 * DAY_MS },
};
const USUAL_BOUNDS: SeriesBounds = { maxBytes: 64 * 1024 * 1024, maxAgeMs: Number.POSITIVE_INFINITY };

/** By key, where the value is. */
type Keys = Map<string, PlacedRecord>;

/** Throws a `StoreProblem` if the folder's state cannot be used. */
export function openStore(folder: string, report: Report, clock: Clock): StateStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "journal");
  rmSync(`${path}.new`, { force: true });
  const file = readOrMake(path);
  const { records, number, length } = parseJournal(file, path);
  if (length < file.length) {
    report(
      `${path}: the last ${file.length - length} bytes are not whole and are cut off: nobody was told that they are kept`,
    );
  }
  const store = new StateStore(folder, report, { clock, number, length });
  for (const record of records) store.place(record);
  store.blobs.removeUnused();
  return store;
}

function readOrMake(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    writeFileSync(`${path}.new`, header(), { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    syncFolderNow(dirname(path));
    return header();
  }
}

export class StateStore {
  readonly blobs: Blobs;
  readonly #folder: string;
  readonly #path: string;
  readonly #report: Report;
  readonly #clock: Clock;
  readonly #collections = new Map<string, Keys>();
  #descriptor: number;
  #handle: FileHandle | undefined;
  #number: number;
  #length: number;
  /** A journal of this length is written anew; after a failure a longer one. */
  #compactedAt = COMPACTED_BYTES;
  /** How much of the journal is in force. */
  #liveBytes = 0;

  constructor(
    folder: string,
    report: Report,
    { clock, number, length }: { clock: Clock; number: number; length: number },
  ) {
    this.#clock = clock;
    this.#folder = folder;
    this.#path = join(folder, "journal");
    this.#report = report;
    this.blobs = new Blobs(join(folder, "blobs"), report);
    this.#descriptor = openSync(this.#path, "r");
    this.#number = number;
    this.#length = length;
  }

  /** Names of collections that have something. */
  collections(): string[] {
    return [...this.#collections].flatMap(([name, { size }]) => (size > 0 ? [name] : []));
  }

  keys(collection: string): IterableIterator<string> {
    return (this.#collections.get(collection) ?? new Map<string, PlacedRecord>()).keys();
  }

  /** The text that is stored as the value; undefined if there is none. */
  read(collection: string, key: string): string | undefined {
    const record = this.#collections.get(collection)?.get(key);
    return record && this.#bytesAt(record).toString();
  }

  /** Takes what the journal has into account. */
  place(record: PlacedRecord): void {
    const keys: Keys = this.#collections.get(record.collection) ?? new Map();
    this.#collections.set(record.collection, keys);
    const before = keys.get(record.key);
    if (before !== undefined) {
      this.blobs.use(before.bytes, -1);
      this.#liveBytes -= before.length ?? 0;
    }
    if (record.length === undefined) {
      keys.delete(record.key);
      return;
    }
    this.blobs.use(record.bytes, 1);
    this.#liveBytes += record.length;
    keys.set(record.key, record);
  }

  /**
   * Writes all or nothing: it is safe when this resolves, and as before when it rejects. One at a time. `bytes` are what the
   * values name.
   */
  async commit(changes: readonly JournalChange[], bytes: Iterable<StoredBytes>): Promise<void> {
    const { bytes: lines, records } = batch(changes, this.#number + 1, this.#length);
    try {
      await this.blobs.write(bytes);
      await this.#append(lines);
    } catch (error) {
      this.blobs.removeUnused();
      throw error;
    }
    this.#number += 1;
    this.#length += lines.length;
    for (const record of records) this.place(record);
    this.blobs.removeUnused();
    if (this.#length > this.#compactedAt && this.#length > 2 * this.#liveBytes) await this.compact();
  }

  /** Writes the journal anew, without what is out of date. If that fails the old one stays. */
  async compact(): Promise<void> {
    const temporary = `${this.#path}.new`;
    const all = [...this.#collections.values()].flatMap((keys) => [...keys.values()]);
    const changes = all.map((one) => ({ ...one, value: this.#bytesAt(one).toString() }));
    const begin = header();
    const { bytes, records } = batch(changes, 1, begin.length);
    try {
      const file = await open(temporary, "w", 0o600);
      try {
        await writeAll(file, Buffer.concat([begin, bytes]), 0);
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#replace(temporary);
    } catch (error) {
      await rm(temporary, { force: true });
      this.#compactedAt = 2 * this.#length;
      this.#report(`${this.#path} grows, because it cannot be written anew: ${(error as Error).message}`);
      return;
    }
    this.#compactedAt = COMPACTED_BYTES;
    [this.#number, this.#length] = [records.length > 0 ? 1 : 0, begin.length + bytes.length];
    for (const record of records) this.place(record);
  }

  /** Without a wait in between, so that nobody reads meanwhile; a file that is open cannot be replaced everywhere. */
  async #replace(temporary: string): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    closeSync(this.#descriptor);
    try {
      renameSync(temporary, this.#path);
    } finally {
      this.#descriptor = openSync(this.#path, "r");
    }
    syncFolderNow(this.#folder);
  }

  series(service: string, name: string): SeriesFiles {
    // Names are longer than a file's may be.
    const short = createHash("sha256").update(`${service} ${name}`).digest("hex").slice(0, 32);
    const folder = join(this.#folder, "series", short);
    return new SeriesFiles(folder, SERIES_BOUNDS[service] ?? USUAL_BOUNDS, {
      report: this.#report,
      clock: this.#clock,
    });
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    closeSync(this.#descriptor);
  }

  async #append(lines: Buffer): Promise<void> {
    if (this.#handle === undefined) {
      this.#handle = await open(this.#path, "r+");
      // A batch that is not whole must not be read again.
      await this.#handle.truncate(this.#length);
    }
    try {
      await writeAll(this.#handle, lines, this.#length);
      await this.#handle.datasync();
    } catch (error) {
      await this.#handle.truncate(this.#length);
      throw error;
    }
  }

  #bytesAt({ at, length = 0 }: PlacedRecord): Buffer {
    const bytes = Buffer.alloc(length);
    for (let done = 0; done < length; ) {
      const count = readSync(this.#descriptor, bytes, done, length - done, at + done);
      if (count === 0) throw new Error(`${this.#path} is shorter than it was`);
      done += count;
    }
    return bytes;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
