import { constants, type FileHandle, mkdir, open, rm, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode, isDiskFull, syncDirectory, writeDurably } from "../durable.ts";
import { StoreError } from "../store.ts";
import { isWholeJournal } from "./check-file.ts";
import { encodeFrame, type Frame } from "./frame.ts";
import { type JournalFile, journalFile } from "./journal-file.ts";
import type { JournalList } from "./journal-list.ts";
import type { RecoveredFile } from "./recovery.ts";

/**
 * Holds accepted batches until they are in segments. A batch is durable when `write` resolves: all batches that wait
 * while one fdatasync runs share the next. `rotate` begins a new file, and `remove` deletes one.
 */
export class Journal {
  readonly #directory: string;
  readonly #list: JournalList;
  #handle: FileHandle;
  #file: JournalFile;
  #length = 0;
  #waiting: Waiting[] = [];
  #rotations: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  /** Empty files that the list on the disk may name: they stay until one without them is durable. */
  readonly #unsure = new Set<string>();
  /** Whether the list on the disk may lack the active file, as after a start on a full disk. */
  #isUnlisted = false;
  /** Why there is no file to write to: the active one is gone, and no other can be begun. */
  #detached: Error | undefined;
  #position = 0;
  readonly counts = { syncs: 0, batches: 0, bytes: 0, failures: 0 };
  /** Totals of the batches that are not durable yet. */
  readonly waiting = { events: 0, bytes: 0 };

  private constructor(directory: string, file: JournalFile, handle: FileHandle, list: JournalList) {
    this.#directory = directory;
    this.#file = file;
    this.#handle = handle;
    this.#list = list;
    this.#position = file.begin;
  }

  /** Begins a new file beside those that are there; gives these, but for an empty one of that number. */
  static async begin(
    directory: string,
    sequence: number,
    list: JournalList,
    files: readonly RecoveredFile[],
  ): Promise<{ journal: Journal; recovered: readonly RecoveredFile[] }> {
    const file = journalFile(directory, sequence);
    // A file of that number is empty: otherwise the next sequence would be higher.
    const recovered = files.filter(({ begin }) => begin !== file.begin);
    const handle = await openEmpty(file.path);
    await syncDirectory(directory);
    const lengths = recovered.map(({ begin, bytes }) => [begin, bytes] as const);
    const journal = new Journal(directory, file, handle, list);
    // On a full disk the list stays as it was until the first batch is written.
    await list.replace([...lengths, [file.begin, undefined]], list.losses).catch((error: unknown) => {
      if (!isDiskFull(error)) throw error;
      journal.#isUnlisted = true;
    });
    return { journal, recovered };
  }

  /** Everything that is durable is before this sequence, and no start gives one of those again. */
  get position(): number {
    return this.#position;
  }

  get current(): JournalFile {
    return this.#file;
  }

  /** `durable` is called in the order of the writes, before the promise resolves. */
  write(frame: Omit<Frame, "bytes">, body: Buffer, durable: () => void): Promise<void> {
    const failure = this.#failure ?? this.#detached;
    if (failure !== undefined) return Promise.reject(unavailable(failure));
    const head = encodeFrame(frame, body);
    const bytes = head.length + body.length;
    this.#count(bytes, frame.lines);
    return new Promise((resolve, reject) => {
      const end = frame.sequence + Math.max(1, frame.lines);
      this.#waiting.push({ head, body, bytes, events: frame.lines, end, durable, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /**
   * Begins a new file after the group that is being written, however many batches wait for the next one. `then` runs with
   * the change, before anything is written to the new file.
   */
  rotate(nextSequence: () => number, then: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rotations.push(() => this.#rotate(nextSequence(), then).then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async remove(file: JournalFile): Promise<void> {
    await this.#list.remove(file.begin);
    await this.#removeUnsure();
    await rm(file.path, { force: true });
    await syncDirectory(this.#directory);
  }

  /** Records the length of the active file. Returns false if it was removed, replaced or truncated. */
  async check(): Promise<boolean> {
    const [file, length] = [this.#file, this.#length];
    const isThere = await this.#isThere(length);
    // Another one was begun meanwhile.
    if (file !== this.#file) return true;
    // It was away and is back, as it was: nothing was written since.
    if (isThere) this.#detached = undefined;
    if (isThere && length > 0) await this.#list.note(file.begin, length);
    return isThere;
  }

  async #isThere(length: number): Promise<boolean> {
    const { path } = this.#file;
    const { ino } = await this.#handle.stat();
    const there = await stat(path).catch(() => undefined);
    return there !== undefined && there.ino === ino && there.size >= length;
  }

  /** Whether a complete file is there with its length and its contents intact. */
  async isAsWritten(file: JournalFile): Promise<boolean> {
    try {
      return (await stat(file.path)).size === this.#list.files.get(file.begin) && (await isWholeJournal(file.path));
    } catch {
      return false;
    }
  }

  /** Rewrites a complete file from batches that are in memory. */
  async rewrite(
    file: JournalFile,
    batches: readonly { readonly frame: Omit<Frame, "bytes">; readonly body: Buffer }[],
  ) {
    const buffers = batches.flatMap(({ frame, body }) => [encodeFrame(frame, body), body]);
    // The length is unknown until the new file is there.
    await this.#list.end(file.begin, undefined);
    await this.#makeDirectory();
    await writeDurably(file.path, Buffer.concat(buffers));
    await this.#list.end(
      file.begin,
      buffers.reduce((sum, { length }) => sum + length, 0),
    );
  }

  /** The list of a folder that another process has is that one's. */
  async close({ isTaken = false } = {}): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    // If the length were unknown, a truncated file would be taken for what a crash left.
    if (!isTaken) await this.#list.end(this.#file.begin, this.#length).catch(() => {});
    await this.#handle.close();
  }

  async #run(): Promise<void> {
    for (;;) {
      const rotation = this.#rotations.shift();
      if (rotation !== undefined) await rotation();
      else if (this.#waiting.length > 0) await this.#writeGroup(this.#waiting.splice(0, takeable(this.#waiting)));
      else break;
    }
    this.#running = undefined;
  }

  async #rotate(begin: number, then: () => void): Promise<void> {
    const next = journalFile(this.#directory, begin);
    const handle = await this.#beginFile(next).catch(async (error: Error) => {
      // Data that are written to a file without a name are gone with this process.
      if (!(await this.#isThere(0).catch(() => false))) {
        this.#detached = error;
        this.#refuse(this.#waiting.splice(0), error);
      }
      throw error;
    });
    const before = this.#handle;
    [this.#handle, this.#file, this.#length] = [handle, next, 0];
    this.#detached = undefined;
    this.#isUnlisted = false;
    then();
    // Everything in it is durable.
    await before.close().catch(() => {});
  }

  async #beginFile(next: JournalFile): Promise<FileHandle> {
    await this.#makeDirectory();
    const isUnsure = this.#unsure.has(next.path);
    const handle = isUnsure ? await openEmpty(next.path) : await open(next.path, "wx");
    try {
      await syncDirectory(this.#directory);
    } catch (error) {
      await handle.close();
      if (!isUnsure) await unlink(next.path);
      throw error;
    }
    try {
      await this.#list.rotate(this.#file.begin, this.#length, next.begin);
    } catch (error) {
      // The new list may be there all the same: if its folder could not be synced, or the process ends now.
      this.#unsure.add(next.path);
      await handle.close();
      throw error;
    }
    this.#unsure.delete(next.path);
    await this.#removeUnsure();
    return handle;
  }

  /** To be called when the list is durable: it names none of them. */
  async #removeUnsure(): Promise<void> {
    for (const path of this.#unsure) {
      await rm(path, { force: true });
      this.#unsure.delete(path);
    }
  }

  /** The folder may have been removed; if the one that it was in is gone as well, nothing can be written. */
  async #makeDirectory(): Promise<void> {
    try {
      await mkdir(this.#directory);
    } catch (error) {
      if (errorCode(error) === "EEXIST") return;
      throw error;
    }
    await syncDirectory(dirname(this.#directory));
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#commit(group);
    } catch (error) {
      this.counts.failures++;
      await this.#undo(error as Error);
      this.#refuse(group, error as Error);
      return;
    }
    for (const { bytes, events, end, durable, resolve } of group) {
      this.#count(-bytes, -events);
      this.#position = Math.max(this.#position, end);
      durable();
      resolve();
    }
  }

  #refuse(group: readonly Waiting[], cause: Error): void {
    for (const { bytes, events, reject } of group) {
      this.#count(-bytes, -events);
      reject(unavailable(cause));
    }
  }

  #count(bytes: number, events: number): void {
    this.waiting.bytes += bytes;
    this.waiting.events += events;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    if (this.#isUnlisted) await this.#list.end(this.#file.begin, undefined);
    this.#isUnlisted = false;
    const length = group.reduce((sum, { bytes }) => sum + bytes, 0);
    // Not joined, which would copy each event once more.
    let left: Buffer[] = group.flatMap(({ head, body }) => [head, body]);
    for (let written = 0; written < length; ) {
      const { bytesWritten } = await this.#handle.writev(left, this.#length + written);
      written += bytesWritten;
      if (written < length) left = [Buffer.concat(left).subarray(bytesWritten)];
    }
    await this.#handle.datasync();
    this.#length += length;
    this.counts.syncs++;
    this.counts.batches += group.length;
    this.counts.bytes += length;
  }

  /**
   * Cuts off what a failed write left. After a failed sync it is unknown what the disk holds, and truncating may fail, too:
   * then nothing more is accepted, since a batch that was refused must not come back at the next start.
   */
  async #undo(cause: Error): Promise<void> {
    try {
      await this.#handle.truncate(this.#length);
      await this.#handle.datasync();
    } catch (error) {
      this.#failure = new Error("the journal cannot be written any more; restart the service", {
        cause: error ?? cause,
      });
      this.#refuse(this.#waiting.splice(0), this.#failure);
    }
  }
}

/** Opens a file that is new or empty. One that holds anything is never emptied. */
async function openEmpty(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT);
  if ((await handle.stat()).size === 0) return handle;
  await handle.close();
  throw new Error(`${path} is not empty, and cannot be begun again: move it away`);
}

interface Waiting {
  readonly head: Buffer;
  readonly body: Buffer;
  /** Size of both. */
  readonly bytes: number;
  readonly events: number;
  /** The sequence after its last. */
  readonly end: number;
  readonly durable: () => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** How many of them one write takes: a group no larger than what a disk writes in some milliseconds, but always one. */
function takeable(waiting: readonly Waiting[]): number {
  let bytes = 0;
  let count = 0;
  for (const one of waiting) {
    bytes += one.bytes;
    if (bytes > MAX_GROUP_BYTES) break;
    count++;
  }
  return Math.max(1, count);
}

const MAX_GROUP_BYTES = 16 * 1024 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: nothing was stored; make room, then send it again",
  EDQUOT: "the disk is full: nothing was stored; make room, then send it again",
  EROFS: "the data directory is on a file system that is read-only: nothing was stored",
};

const unavailable = (cause: Error & { code?: string }) =>
  new StoreError(
    "unavailable",
    REASONS[cause.code ?? ""] ?? "the events could not be written: nothing was stored; try again",
    { cause, retryAfterMs: 5000 },
  );
