import { join } from "node:path";
import { Segments } from "./duckdb/segments.ts";
import type { Source } from "./duckdb/source.ts";
import { syncDirectory } from "./journal/journal.ts";
import { forgetIn, type NewestPart } from "./newest.ts";
import type { JournalPiece } from "./sql/sql-protocol.ts";

/** What the store holds: segments by project, and the events of each journal file, which are in no segment yet. */
export class Contents {
  readonly directory: string;
  readonly projects: Map<string, Segments>;
  /** The file that is written is the last; there is always one. */
  readonly parts: NewestPart[];
  /** Of the next event. */
  sequence: number;
  /** Deleted projects whose folders are still there. */
  readonly #doomed = new Set<Segments>();

  /** `directory` holds a folder for each project. */
  constructor(directory: string, projects: Map<string, Segments>, part: NewestPart, sequence: number) {
    this.directory = directory;
    this.projects = projects;
    this.parts = [part];
    this.sequence = sequence;
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
      const began = this.sequence;
      segments = Segments.empty(join(this.directory, `${project}~${began}`), began);
      this.projects.set(project, segments);
    }
    return segments;
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
      await segments.removeFolder();
      this.#doomed.delete(segments);
    }
    await syncDirectory(this.directory);
  }
}
