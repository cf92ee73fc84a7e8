import { join } from "node:path";

export interface JournalFile {
  readonly path: string;
  /** The number in its name: the sequence that was next when it began. */
  readonly begin: number;
}

export const isJournalFile = (name: string) => /^\d{16}\.ndjson$/.test(name);

export const journalFile = (directory: string, begin: number): JournalFile => ({
  path: join(directory, `${String(begin).padStart(16, "0")}.ndjson`),
  begin,
});

/** A range of a journal file: one project's events between two sequences. */
export interface JournalRange {
  readonly path: string;
  readonly project: string;
  readonly first: number;
  readonly last: number;
  readonly events: number;
}
