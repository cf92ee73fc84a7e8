import { open } from "node:fs/promises";
import { errorCode } from "../durable.ts";
import { type MemtableWriter, ProjectUnwritable } from "../flush-scheduler.ts";
import type { SeenKeys } from "../journal/seen-keys.ts";
import type { Memtable, MemtableEvents } from "../memtable.ts";
import type { Memtables } from "../memtables.ts";
import { FLUSHER_JOBS, type Flusher } from "./flusher.ts";
import type { ProjectSegments } from "./projects.ts";
import { readSegment, type Segment } from "./segment.ts";
import { removeSegment } from "./segment-files.ts";
import { type SegmentRange, segmentRangesOf } from "./segment-ranges.ts";
import type { Segments } from "./segments.ts";

/** The segments that one project's events in a memtable become. */
interface ProjectFlush {
  readonly project: string;
  readonly events: MemtableEvents;
  readonly segments: Segments;
  readonly targets: readonly (SegmentRange & { readonly path: string })[];
  readonly lastSequence: number;
}

type BuiltProject = ProjectFlush & { readonly built: readonly Segment[] };

/** Segments of a memtable, and the projects whose folders cannot be written to. */
interface BuiltMemtable {
  readonly built: readonly BuiltProject[];
  readonly failed: ReadonlyMap<string, Error>;
}

interface SegmentWriterOptions {
  readonly memtables: Memtables;
  readonly projects: ProjectSegments;
  readonly flusher: Flusher;
  readonly seenKeys: SeenKeys;
  readonly nowMs: () => number;
}

/** Flushes memtables into segments. */
export class SegmentWriter implements MemtableWriter<BuiltMemtable> {
  readonly concurrency = FLUSHER_JOBS;
  readonly #options: SegmentWriterOptions;
  /** Projects whose folders cannot be written to, and why. */
  readonly #unwritable = new Map<string, Error>();

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Why no event of a project can be stored now. */
  writeErrorOf(project: string): Error | undefined {
    const isWaiting = this.#options.memtables.sealed.some(({ projects }) => projects.has(project));
    return isWaiting ? this.#unwritable.get(project) : undefined;
  }

  async build(memtable: Memtable, older: readonly Memtable[], signal: AbortSignal): Promise<BuiltMemtable> {
    for (;;) {
      const { flushes, failed } = await this.#plan(memtable, older);
      if (flushes.length === 0) return { built: [], failed };
      try {
        return { built: await this.#build(memtable, flushes), failed };
      } catch (error) {
        if (signal.aborted) throw error;
        for (const { path } of flushes.flatMap(({ targets }) => targets)) await removeSegment(path).catch(() => {});
        // The folder of a project that was deleted meanwhile is gone; the others are built without it.
        if (!flushes.every((flush) => isCurrent(memtable, flush))) continue;
        throw error;
      }
    }
  }

  async #plan(memtable: Memtable, older: readonly Memtable[]) {
    const failed = new Map<string, Error>();
    const flushes: ProjectFlush[] = [];
    for (const [project, events] of memtable.projects) {
      const segments = this.#options.projects.segmentsOf(project);
      const targets = segmentRangesOf(events).map((range) => ({
        ...range,
        path: segments.newPath(range.first, range.last),
      }));
      const flush = { project, events, segments, targets, lastSequence: events.lastSequence };
      const error = await this.#whyUnwritable(flush, older);
      if (error !== undefined) failed.set(project, error);
      else flushes.push(flush);
    }
    return { flushes, failed };
  }

  async #build(memtable: Memtable, flushes: readonly ProjectFlush[]): Promise<BuiltProject[]> {
    const facts = await this.#options.flusher.run({
      kind: "flush",
      journalPath: memtable.file.path,
      targets: flushes.flatMap(({ project, segments: { began }, targets }) =>
        targets.map(({ bytes, ...target }) => ({ ...target, project, began, eventBytes: bytes })),
      ),
    });
    const remaining = [...facts];
    return Promise.all(
      flushes.map(async (flush) => ({
        ...flush,
        built: await Promise.all(
          flush.targets.map(({ bytes, first, last }) =>
            readSegment(remaining.shift()!, { eventBytes: bytes, sequence: last, intervals: [[first, last]] }),
          ),
        ),
      })),
    );
  }

  /** Why no segment of a project can be written now: its folder does not let it, or an older memtable waits. */
  async #whyUnwritable({ project, segments, targets }: ProjectFlush, older: readonly Memtable[]) {
    const failure = this.#unwritable.get(project);
    if (failure !== undefined && older.some(({ projects }) => projects.has(project))) return failure;
    try {
      if (segments.blocked !== undefined) throw new ProjectUnwritable(segments.blocked);
      await this.#options.projects.makeFolder(segments);
      // The flusher overwrites it.
      await (await open(`${targets[0]!.path}.new`, "w")).close();
      return undefined;
    } catch (error) {
      if (!isOfFolder(error)) throw error;
      return error as Error;
    }
  }

  async install(memtable: Memtable, { built, failed }: BuiltMemtable, older: readonly Memtable[]): Promise<void> {
    const { seenKeys, projects, nowMs } = this.#options;
    const unwritable = new Map(failed);
    for (const flush of built) {
      if (!isCurrent(memtable, flush)) continue;
      const error = await this.#installProject(memtable, flush, older);
      if (error !== undefined) unwritable.set(flush.project, error);
    }
    await seenKeys.save(memtable.file.begin, memtable.keys, nowMs());
    await projects.removeDeleted();
    for (const [project, error] of unwritable) {
      if (!memtable.projects.has(project)) continue;
      this.#unwritable.set(project, error);
      throw error instanceof ProjectUnwritable ? error : new ProjectUnwritable(String(error), { cause: error });
    }
  }

  /** Adds the segments of one project to its manifest. Returns why its folder does not let it. */
  async #installProject(memtable: Memtable, flush: BuiltProject, older: readonly Memtable[]) {
    const { project, segments, built, lastSequence } = flush;
    try {
      const isWaiting = older.some(({ projects }) => projects.has(project));
      if (isWaiting) throw new ProjectUnwritable(`events of ${project} that came before cannot be stored`);
      await segments.replace([], built, {
        flushed: lastSequence,
        onChange: () => {
          if (isCurrent(memtable, flush)) memtable.remove(project);
        },
      });
      this.#unwritable.delete(project);
      return undefined;
    } catch (error) {
      if (!isOfFolder(error)) throw error;
      for (const { path } of built) await segments.abandon(path).catch(() => {});
      return error as Error;
    }
  }

  /** Only to recognize a folder that lacks some of it later. */
  beforeRemoval(): Promise<void> {
    return this.#options.projects.noteHeld();
  }
}

/** Whether an error concerns one folder. A full disk and the like concern all projects. */
const isOfFolder = (error: unknown) =>
  error instanceof ProjectUnwritable ||
  ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOENT", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EIO", "ELOOP"].includes(
    errorCode(error),
  );

/** Whether the project was not deleted since. */
const isCurrent = (memtable: Memtable, { project, events }: ProjectFlush) => memtable.projects.get(project) === events;
