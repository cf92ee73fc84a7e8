import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Segment, Segments, type SegmentsOptions } from "./duckdb/segments.ts";
import type { Source } from "./duckdb/source.ts";
import { syncDirectory } from "./durable.ts";
import { forgetIn, type NewestPart } from "./newest.ts";
import { type FolderList, folderName } from "./project-folders.ts";
import type { JournalPiece } from "./sql/sql-protocol.ts";

/** What the store holds: segments by project, and the events of each journal file, which are in no segment yet. */
export class Contents {
  readonly directory: string;
  readonly projects: Map<string, Segments>;
  /** The file that is written is the last; there is always one. */
  readonly parts: NewestPart[];
  /** The sequence of the last deletion of each project. */
  readonly drops = new Map<string, number>();
  /** Of the next event. */
  sequence: number;
  /** Deleted projects whose folders are still there. */
  readonly #doomed = new Set<Segments>();
  readonly #folders: FolderList;
  readonly #options: SegmentsOptions;

  /** `directory` holds a folder for each project, which `folders` lists. */
  constructor(
    directory: string,
    folders: FolderList,
    { projects, part, sequence }: { projects: Map<string, Segments>; part: NewestPart; sequence: number },
    options: SegmentsOptions,
  ) {
    this.directory = directory;
    this.#folders = folders;
    this.projects = projects;
    this.parts = [part];
    this.sequence = sequence;
    this.#options = options;
  }

  get newestPart(): NewestPart {
    return this.parts.at(-1)!;
  }

  /** The files that are not written any more, the oldest first. */
  get ended(): readonly NewestPart[] {
    return this.parts.slice(0, -1);
  }

  get waitingEvents(): number {
    return this.parts.reduce((sum, { events }) => sum + events, 0);
  }

  get waitingBytes(): number {
    return this.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The sequence of the first of so many new events. */
  take(events: number): number {
    const first = this.sequence;
    this.sequence += events;
    return first;
  }

  /** The project's, made where it has none. */
  segmentsOf(project: string): Segments {
    let segments = this.projects.get(project);
    if (segments === undefined) {
      const identity = { project, began: this.sequence };
      segments = new Segments(join(this.directory, folderName(identity)), identity, this.#options);
      this.projects.set(project, segments);
    }
    return segments;
  }

  /** Makes the folder of a project durably, if it is not there. */
  async makeFolder(segments: Segments): Promise<void> {
    const made = await mkdir(segments.directory, { recursive: true });
    if (made !== undefined) await syncDirectory(this.directory);
    if (made !== undefined) await segments.note();
    // Not before: a folder that is listed is missed if it is not there, or has no manifest.
    const after = this.drops.get(segments.project);
    await this.#folders.add([{ folder: folderName(segments), ...segments.identity, after }]);
    // The project may have been deleted meanwhile: what is listed and not there would be missed.
    if (segments.isDeleted) await this.#remove(segments);
  }

  /** Writes down how far the segments of each project go, so that an older copy of a folder is known as such. */
  noteNewest(): Promise<void> {
    const newest = ({ all }: Segments) => all.reduce((last, { sequence }) => Math.max(last, sequence), 0);
    return this.#folders.note([...this.projects.values()].map((one) => [folderName(one), newest(one)] as const));
  }

  /** The same for a project of whose segments only some will be left. */
  noteLeft(segments: Segments, left: readonly Pick<Segment, "sequence">[]): Promise<void> {
    const newest = left.reduce((last, { sequence }) => Math.max(last, sequence), 0);
    return this.#folders.note([[folderName(segments), newest]]);
  }

  /** The deletion after which a project began anew, as far as anything tells. */
  droppedBefore(project: string): number {
    const segments = this.projects.get(project);
    const listed = segments && this.#folders.all.get(folderName(segments))?.after;
    return listed ?? 0;
  }

  /** The newest events of a project, as they are now. */
  newestOf(project: string): Source["newest"] {
    return this.parts.flatMap(({ projects }) => {
      const list = projects.get(project);
      return list === undefined ? [] : [{ list, length: list.length }];
    });
  }

  /** And where in the journal they lie. */
  piecesOf(project: string): JournalPiece[] {
    return this.parts.flatMap(({ file, projects }) => {
      const newest = projects.get(project);
      if (newest === undefined) return [];
      const { firstSequence: first, lastSequence: last, length: events } = newest;
      return [{ path: file.path, project, first, last, events }];
    });
  }

  /** Nobody sees the project any more; its folder goes with `removeDoomed`. */
  forget(project: string): void {
    for (const part of this.parts) forgetIn(part, project);
    this.forgetSegments(project);
  }

  forgetSegments(project: string): void {
    const segments = this.projects.get(project);
    if (segments === undefined) return;
    segments.delete();
    this.#doomed.add(segments);
    this.projects.delete(project);
  }

  /** The folders of deleted projects go before the journal forgets the deletion. */
  async removeDoomed(): Promise<void> {
    for (const segments of this.#doomed) {
      await this.#remove(segments);
      this.#doomed.delete(segments);
    }
  }

  async #remove(segments: Segments): Promise<void> {
    await segments.removeFolder();
    await syncDirectory(this.directory);
    await this.#folders.remove(folderName(segments));
  }
}
