import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../durable.ts";
import type { Memtables } from "../memtables.ts";
import type { FolderList, FolderNote } from "./folder-list.ts";
import { folderName } from "./folder-name.ts";
import { Segments, type SegmentsOptions } from "./segments.ts";

interface ProjectsOptions extends SegmentsOptions {
  /** Holds a folder for each project. */
  readonly directory: string;
  /** Lists those folders. */
  readonly folders: FolderList;
  readonly memtables: Memtables;
}

/** The segments of all projects, and the folders that they are in. */
export class ProjectSegments {
  readonly all: Map<string, Segments>;
  /** Sequence of the last deletion of each project. */
  readonly deletions = new Map<string, number>();
  /** Deleted projects whose folders are still there. */
  readonly #deleted = new Set<Segments>();
  readonly #options: ProjectsOptions;

  constructor(projects: Map<string, Segments>, options: ProjectsOptions) {
    this.all = projects;
    this.#options = options;
  }

  get(project: string): Segments | undefined {
    return this.all.get(project);
  }

  values(): readonly Segments[] {
    return [...this.all.values()];
  }

  /** The project's segments; created if it has none. */
  segmentsOf(project: string): Segments {
    let segments = this.all.get(project);
    if (segments === undefined) {
      const { directory, memtables } = this.#options;
      const identity = { project, began: memtables.sequence };
      segments = new Segments(join(directory, folderName(identity)), identity, this.#options);
      this.all.set(project, segments);
    }
    return segments;
  }

  /** Creates the folder of a project durably, if it is not there. */
  async makeFolder(segments: Segments): Promise<void> {
    const { directory, folders, memtables } = this.#options;
    const made = await mkdir(segments.directory, { recursive: true });
    if (made !== undefined) await syncDirectory(directory);
    if (made !== undefined) await segments.save();
    // Not before: a listed folder counts as lost if it is not there, or has no manifest.
    const after = this.deletions.get(segments.project);
    const first = memtables.journalRangesOf(segments.project)[0]?.first;
    await folders.add([{ folder: folderName(segments), ...segments.identity, after, first }]);
    // The project may have been deleted meanwhile: a folder that is listed but not there would count as lost.
    if (segments.isDeleted) await this.#remove(segments);
  }

  /** Notes what the segments of each project hold, so that a folder that lacks some of it is recognized. */
  noteHeld(): Promise<void> {
    return this.#options.folders.note(this.values().flatMap(noteOf));
  }

  /** The same for a project whose oldest events are about to go. */
  noteLeft(segments: Segments): Promise<void> {
    return this.#options.folders.note(noteOf(segments));
  }

  /** Sequence of the deletion after which a project started again; 0 if none is known. */
  droppedBefore(project: string): number {
    const segments = this.all.get(project);
    const listed = segments && this.#options.folders.all.get(folderName(segments))?.after;
    return listed ?? 0;
  }

  /** Hides a deleted project. `removeDeleted` removes its folder. */
  forget(project: string): void {
    const segments = this.all.get(project);
    if (segments === undefined) return;
    segments.delete();
    this.#deleted.add(segments);
    this.all.delete(project);
  }

  /** Removes the folders of deleted projects. To be called before the journal forgets the deletions. */
  async removeDeleted(): Promise<void> {
    for (const segments of this.#deleted) {
      await this.#remove(segments);
      this.#deleted.delete(segments);
    }
  }

  async #remove(segments: Segments): Promise<void> {
    const { directory, folders } = this.#options;
    await segments.removeFolder();
    await syncDirectory(directory);
    await folders.remove(folderName(segments));
  }
}

function noteOf(segments: Segments): [folder: string, note: FolderNote][] {
  const note = segments.note;
  return note === undefined ? [] : [[folderName(segments), note]];
}
