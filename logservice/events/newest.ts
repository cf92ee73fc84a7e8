import { levelOf, severity } from "../../grammar/query/index.ts";
import { addToSummary, emptySummary, type Summary } from "./duckdb/summary.ts";
import { minuteOf, nanosecondsOf } from "./instant.ts";
import type { JournalFile } from "./journal/journal.ts";
import type { SeenKey } from "./journal/seen-keys.ts";
import type { StoredEvent } from "./stored.ts";

/** The events of one project in one journal file, in the order of their acceptance. Only ever appended to. */
export class NewestEvents {
  readonly events: StoredEvent[] = [];
  bytes = 0;
  /** Whether the order of acceptance is the order of time, as it nearly always is. */
  isOrdered = true;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  #summary = emptySummary();

  add(stored: StoredEvent): void {
    if (stored.ms < this.lastMs) this.isOrdered = false;
    else this.lastMs = stored.ms;
    if (stored.ms < this.firstMs) this.firstMs = stored.ms;
    this.events.push(stored);
    this.bytes += stored.bytes;
  }

  /** Brought up to date when somebody asks: ingest does not pay for it. */
  get summary(): Summary {
    for (let i = this.#summary.events; i < this.events.length; i++) {
      const { event } = this.events[i]!;
      const minute = minuteOf(BigInt(nanosecondsOf(event.timestamp)));
      addToSummary(this.#summary, minute, severity(levelOf(event.level)!), event.fields);
    }
    return this.#summary;
  }
}

/** The events of one journal file, by project. */
export interface NewestPart {
  readonly file: JournalFile;
  readonly projects: Map<string, NewestEvents>;
  /** Of the batches that had one. */
  keys: SeenKey[];
  events: number;
  bytes: number;
}

export const newPart = (file: JournalFile): NewestPart => ({
  file,
  projects: new Map(),
  keys: [],
  events: 0,
  bytes: 0,
});

export function addToPart(part: NewestPart, project: string, stored: StoredEvent): void {
  let newest = part.projects.get(project);
  if (newest === undefined) {
    newest = new NewestEvents();
    part.projects.set(project, newest);
  }
  newest.add(stored);
  part.events++;
  part.bytes += stored.bytes;
}

/** The project was deleted. */
export function forgetIn(part: NewestPart, project: string): void {
  removeFrom(part, project);
  part.keys = part.keys.filter(([of]) => of !== project);
}

/** What was accepted of a project is in segments now. */
export function removeFrom(part: NewestPart, project: string): void {
  const newest = part.projects.get(project);
  if (newest === undefined) return;
  part.projects.delete(project);
  part.events -= newest.events.length;
  part.bytes -= newest.bytes;
}
