import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ColumnType } from "../../../grammar/query/sql/columns.ts";
import { syncDirectory } from "../journal/journal.ts";
import { readBeside, removeSegment, type SegmentFacts, summaryPath } from "./build.ts";
import type { Summary } from "./summary.ts";
import { filterPath } from "./text-filter.ts";

/** A file of events, which never changes. */
export interface Segment {
  readonly path: string;
  readonly events: number;
  /** Of the file. */
  readonly bytes: number;
  /** Of the part of the file that says where everything is. */
  readonly footerBytes: number;
  /** Of its events as JSON. */
  readonly eventBytes: number;
  /** The first and last nanosecond. */
  readonly first: bigint;
  readonly last: bigint;
  /** The last sequence: segments are made of neighbours. */
  readonly sequence: number;
  /** The types of the paths that have a column, by the JSON of the path. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly summary: Summary;
  /** Where not all rows are asked: the first and the last number. */
  readonly rows?: readonly [first: number, last: number];
}

export interface Manifest {
  readonly version: 1;
  /** All events up to this sequence are in the segments; what the journal holds of them is there twice. */
  readonly flushed: number;
  readonly segments: readonly (Omit<SegmentFacts, "path"> & {
    readonly file: string;
    readonly eventBytes: number;
    readonly sequence: number;
  })[];
}

/** The segments of one project: a folder whose manifest says which of its files count. */
export class Segments {
  readonly directory: string;
  /** The sequence that was next when the folder was made: a deletion of a later one means this folder. */
  readonly began: number;
  #segments: readonly Segment[] = [];
  #flushed = 0;
  #made = 0;
  /** How many readers each file has, and those that go when the last one is done. */
  readonly #readers = new Map<string, number>();
  readonly #doomed = new Set<string>();
  #isDeleted = false;
  #change: Promise<void> = Promise.resolve();

  private constructor(directory: string, began: number) {
    this.directory = directory;
    this.began = began;
  }

  static empty(directory: string, began: number): Segments {
    return new Segments(directory, began);
  }

  static async open(directory: string, began: number): Promise<Segments> {
    const opened = new Segments(directory, began);
    const text = await readFile(join(directory, MANIFEST), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    const manifest = text === undefined ? undefined : (JSON.parse(text) as Manifest);
    opened.#flushed = manifest?.flushed ?? 0;
    opened.#segments = await Promise.all(
      (manifest?.segments ?? []).map(({ file, ...facts }) =>
        readSegment({ ...facts, path: join(directory, file) }, facts.eventBytes, facts.sequence),
      ),
    );
    await opened.#removeOrphans();
    return opened;
  }

  get all(): readonly Segment[] {
    return this.#segments;
  }

  get flushed(): number {
    return this.#flushed;
  }

  /** A name that no file of the folder has. */
  newPath(sequence: number): string {
    return join(
      this.directory,
      `${String(sequence).padStart(16, "0")}-${Date.now().toString(36)}-${this.#made++}.parquet`,
    );
  }

  /**
   * Puts segments in place of others, at once and durably, behind all changes before. `onChange` runs with the change,
   * before anybody can look. False where the project was deleted: nothing is changed then.
   */
  replace(
    removed: readonly Segment[],
    added: readonly Segment[],
    { flushed, onChange = () => {} }: { flushed?: number; onChange?: () => void } = {},
  ): Promise<boolean> {
    return this.#behindOthers(async () => {
      if (this.#isDeleted) return false;
      const next = [...this.#segments.filter((one) => !removed.includes(one)), ...added];
      await mkdir(this.directory, { recursive: true });
      await this.#writeManifest(next, flushed ?? this.#flushed);
      this.#segments = next;
      this.#flushed = flushed ?? this.#flushed;
      onChange();
      for (const { path } of removed) this.#discard(path);
      return true;
    });
  }

  /** The project is deleted: nothing is added any more. */
  delete(): void {
    this.#isDeleted = true;
  }

  /** Removes the folder of a deleted project; no change that was under way makes it anew. */
  removeFolder(): Promise<void> {
    return this.#behindOthers(() => rm(this.directory, { recursive: true, force: true, maxRetries: 5 }));
  }

  #behindOthers<Result>(change: () => Promise<Result>): Promise<Result> {
    const done = this.#change.then(change);
    this.#change = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /** The segments as they are now; their files stay until `release`. */
  hold(): { segments: readonly Segment[]; release: () => void } {
    const segments = this.#segments;
    for (const { path } of segments) this.#readers.set(path, (this.#readers.get(path) ?? 0) + 1);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      for (const { path } of segments) {
        const left = this.#readers.get(path)! - 1;
        if (left > 0) this.#readers.set(path, left);
        else {
          this.#readers.delete(path);
          if (this.#doomed.delete(path)) void removeSegment(path);
        }
      }
    };
    return { segments, release };
  }

  async #writeManifest(segments: readonly Segment[], flushed: number): Promise<void> {
    const manifest: Manifest = {
      version: 1,
      flushed,
      segments: segments.map(({ path, events, bytes, eventBytes, first, last, sequence }) => ({
        file: basename(path),
        events,
        bytes,
        eventBytes,
        first: String(first),
        last: String(last),
        sequence,
      })),
    };
    const path = join(this.directory, MANIFEST);
    const handle = await open(`${path}.new`, "w");
    try {
      await handle.writeFile(JSON.stringify(manifest));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.new`, path);
    await syncDirectory(this.directory);
  }

  #discard(path: string): void {
    if (this.#readers.has(path)) this.#doomed.add(path);
    else void removeSegment(path);
  }

  /** What a crash left between a file and its manifest. */
  async #removeOrphans(): Promise<void> {
    const kept = new Set(
      this.#segments.flatMap(({ path }) => [path, summaryPath(path), filterPath(path)].map((one) => basename(one))),
    );
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names) {
      if (name !== MANIFEST && !kept.has(name)) await rm(join(this.directory, name), { force: true });
    }
  }
}

export const MANIFEST = "manifest.json";

/** A segment with what its summary says. */
export async function readSegment(facts: SegmentFacts, eventBytes: number, sequence: number): Promise<Segment> {
  return {
    path: facts.path,
    events: facts.events,
    bytes: facts.bytes,
    eventBytes,
    first: BigInt(facts.first),
    last: BigInt(facts.last),
    sequence,
    footerBytes: await footerBytesOf(facts.path, facts.bytes),
    ...(await readBeside(facts.path)),
  };
}

/** As Parquet says it in the last 8 bytes: the length, then its mark. 0 where the file is not what it should be, or gone. */
async function footerBytesOf(path: string, fileBytes: number): Promise<number> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return 0;
  try {
    const end = Buffer.alloc(8);
    await handle.read(end, 0, end.length, Math.max(0, fileBytes - end.length));
    return end.toString("latin1", 4) === "PAR1" ? end.readUInt32LE(0) : 0;
  } finally {
    await handle.close();
  }
}
