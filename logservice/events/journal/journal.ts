import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../store.ts";
import { encodeFrame, type Frame, type FrameAndBody, readFrames } from "./frame.ts";

export interface JournalFile {
  readonly path: string;
  /** The number in its name: the sequence that was next when it began. */
  readonly begin: number;
}

export interface RecoveredFile extends JournalFile {
  readonly batches: readonly FrameAndBody[];
}

/** What was found in files that a crash or a bad disk left. */
export interface Damage {
  readonly tornBytes: number;
  readonly quarantined: readonly string[];
}

/**
 * Where accepted batches lie until they are in segments. A batch is durable when `write` resolves: all batches that wait
 * while one fdatasync runs share the next. Files are begun anew by `rotate` and deleted by `remove`.
 */
export class Journal {
  readonly #directory: string;
  #handle: FileHandle;
  #file: JournalFile;
  #length = 0;
  #waiting: Waiting[] = [];
  #rotations: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  readonly counts = { syncs: 0, batches: 0, bytes: 0, failures: 0 };
  /** Of batches that are not durable yet. */
  readonly waiting = { events: 0, bytes: 0 };

  private constructor(directory: string, file: JournalFile, handle: FileHandle) {
    this.#directory = directory;
    this.#file = file;
    this.#handle = handle;
  }

  /** Opens the folder and begins a new file; `recovered` are the older ones, in order, mended where they were damaged. */
  static async open(
    directory: string,
    nextSequence: (recovered: readonly RecoveredFile[]) => number,
  ): Promise<{ journal: Journal; recovered: RecoveredFile[]; damage: Damage }> {
    await mkdir(directory, { recursive: true });
    const { recovered, damage } = await recover(directory);
    const file = fileOf(directory, nextSequence(recovered));
    // A file of that number that is there has no events: else the next sequence were higher.
    const journal = new Journal(directory, file, await open(file.path, "w"));
    await syncDirectory(directory);
    return { journal, recovered: recovered.filter(({ begin }) => begin !== file.begin), damage };
  }

  get current(): JournalFile {
    return this.#file;
  }

  /** `durable` is called in the order of the writes, before the promise resolves. */
  write(frame: Omit<Frame, "bytes">, body: Buffer, durable: () => void): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(unavailable(this.#failure));
    const head = encodeFrame(frame, body);
    const bytes = head.length + body.length;
    this.#count(bytes, frame.lines);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ head, body, bytes, events: frame.lines, durable, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /**
   * Begins a new file behind the group that is being written, however many wait for the next one. `then` runs with the
   * change, before anything is written to the new file.
   */
  rotate(nextSequence: () => number, then: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rotations.push(() => this.#rotate(nextSequence(), then).then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async remove(file: JournalFile): Promise<void> {
    await rm(file.path, { force: true });
    await syncDirectory(this.#directory);
  }

  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
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
    const next = fileOf(this.#directory, begin);
    const handle = await open(next.path, "wx");
    try {
      await syncDirectory(this.#directory);
    } catch (error) {
      await handle.close();
      await unlink(next.path);
      throw error;
    }
    const before = this.#handle;
    [this.#handle, this.#file, this.#length] = [handle, next, 0];
    then();
    // Everything in it is durable.
    await before.close().catch(() => {});
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
    for (const { bytes, events, durable, resolve } of group) {
      this.#count(-bytes, -events);
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
    const length = group.reduce((sum, { bytes }) => sum + bytes, 0);
    // As they are: to join them would copy each event once more.
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
   * Cuts off what a failed write left. After a failed sync nobody knows what the disk holds, and cutting may fail as well:
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

interface Waiting {
  readonly head: Buffer;
  readonly body: Buffer;
  /** Of both. */
  readonly bytes: number;
  readonly events: number;
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

const unavailable = (cause: Error & { code?: string }) =>
  new StoreError(
    "unavailable",
    cause.code === "ENOSPC" || cause.code === "EDQUOT"
      ? "the disk is full: nothing was stored; make room, then send it again"
      : "the events could not be written: nothing was stored; try again",
    { cause, retryAfterMs: 5000 },
  );

export const isJournalFile = (name: string) => /^\d{16}\.ndjson$/.test(name);

const fileOf = (directory: string, begin: number): JournalFile => ({
  path: join(directory, `${String(begin).padStart(16, "0")}.ndjson`),
  begin,
});

async function recover(directory: string): Promise<{ recovered: RecoveredFile[]; damage: Damage }> {
  const names = (await readdir(directory)).filter(isJournalFile).sort();
  const recovered: RecoveredFile[] = [];
  const quarantined: string[] = [];
  let tornBytes = 0;
  for (const name of names) {
    const path = join(directory, name);
    const text = await readFile(path);
    const batches: FrameAndBody[] = [];
    let isBad = false;
    for (const piece of readFrames(text)) {
      if ("whole" in piece) batches.push(piece.whole);
      else if ("bad" in piece) isBad = true;
      else {
        tornBytes += text.length - piece.torn;
        await truncate(path, piece.torn);
      }
    }
    if (isBad) quarantined.push(await quarantine(directory, name, batches));
    recovered.push({ path, begin: Number(name.slice(0, 16)), batches });
  }
  return { recovered, damage: { tornBytes, quarantined } };
}

/** Keeps a damaged file for people to look at and puts one with its whole batches in its place. */
async function quarantine(directory: string, name: string, batches: readonly FrameAndBody[]): Promise<string> {
  const folder = join(directory, "quarantine");
  await mkdir(folder, { recursive: true });
  const path = join(directory, name);
  const kept = join(folder, `${name}.${Date.now()}`);
  const aside = `${path}.mended`;
  const handle = await open(aside, "w");
  for (const { frame, body } of batches) {
    await handle.write(encodeFrame(frame, body));
    await handle.write(body);
  }
  await handle.sync();
  await handle.close();
  await writeCopy(path, kept);
  await rename(aside, path);
  await syncDirectory(folder);
  await syncDirectory(directory);
  return kept;
}

async function writeCopy(from: string, to: string): Promise<void> {
  const handle = await open(to, "w");
  await handle.writeFile(await readFile(from));
  await handle.sync();
  await handle.close();
}

/** Makes names durable: a new file is not there after a power failure until its folder is written. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
