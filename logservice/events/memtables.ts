import type { JournalFile, JournalRange } from "./journal/journal-file.ts";
import { Memtable, type MemtableEvents } from "./memtable.ts";
import { ColumnBudget } from "./memtable-columns.ts";

/** A project's events in one memtable at one moment: the first `length` of `events`. */
export interface MemtableView {
  readonly events: MemtableEvents;
  readonly length: number;
}

/** A memtable for each file of the journal, whose events are in no segment yet. */
export class Memtables {
  /** The oldest first. The last one is active: its journal file is being written. */
  readonly all: Memtable[];
  /** Sequence of the next event. */
  sequence: number;
  /** The memory of the columns of all of them. */
  readonly columnBudget = new ColumnBudget();

  constructor(file: JournalFile, sequence: number) {
    this.all = [new Memtable(file, this.columnBudget)];
    this.sequence = sequence;
  }

  get active(): Memtable {
    return this.all.at(-1)!;
  }

  /** Those whose journal files are complete, the oldest first. */
  get sealed(): readonly Memtable[] {
    return this.all.slice(0, -1);
  }

  get events(): number {
    return this.all.reduce((sum, { events }) => sum + events, 0);
  }

  get bytes(): number {
    return this.all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes sequences for new events and returns the first of them. */
  takeSequences(events: number): number {
    const first = this.sequence;
    this.sequence += events;
    return first;
  }

  /** The events of a project, as they are now. */
  viewsOf(project: string): MemtableView[] {
    return this.all.flatMap(({ projects }) => {
      const events = projects.get(project);
      return events === undefined ? [] : [{ events, length: events.length }];
    });
  }

  /** Where the journal has the events of a project. */
  journalRangesOf(project: string): JournalRange[] {
    return this.all.flatMap(({ file, projects }) => {
      const own = projects.get(project);
      if (own === undefined) return [];
      const { firstSequence: first, lastSequence: last, length: events } = own;
      return [{ path: file.path, project, first, last, events }];
    });
  }

  /** Forgets a project that was deleted. */
  forget(project: string): void {
    for (const memtable of this.all) memtable.forget(project);
  }
}
