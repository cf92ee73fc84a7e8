import { LineCounts } from "./duckdb/summarize.ts";
import type { Summary } from "./duckdb/summary.ts";
import type { JournalFile } from "./journal/recovery.ts";
import type { SeenKey } from "./journal/seen-keys.ts";
import { eventAt, type Lines } from "./lines.ts";
import { Pace } from "./pace.ts";
import type { StoredEvent } from "./stored.ts";

/** The events of a batch. */
export class Chunk {
  readonly lines: Lines;
  /** How many events of the list were accepted before. */
  readonly begin: number;
  readonly firstMs: number;
  readonly lastMs: number;
  #parsed: StoredEvent[] | undefined;

  constructor(lines: Lines, begin: number) {
    this.lines = lines;
    this.begin = begin;
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const ms of lines.times) {
      if (ms < first) first = ms;
      if (ms > last) last = ms;
    }
    this.firstMs = first;
    this.lastMs = last;
  }

  get length(): number {
    return this.lines.times.length;
  }

  /** An event, kept as it was parsed: who asks once asks again. */
  at(index: number): StoredEvent {
    this.#parsed ??= new Array<StoredEvent>(this.length);
    this.#parsed[index] ??= eventAt(this.lines, index);
    return this.#parsed[index]!;
  }
}

/**
 * The events of one project in one journal file, in the order of their acceptance. Only ever appended to, batch by batch.
 * They are kept as the lines of the journal: ingest makes no objects, and what nobody asks for is never parsed.
 */
export class NewestEvents {
  readonly chunks: Chunk[] = [];
  length = 0;
  bytes = 0;
  /** Whether the order of acceptance is the order of time, as it nearly always is. */
  isOrdered = true;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  readonly #counts = new LineCounts();
  /** The chunk, and the event in it, that the summary has not yet. */
  #next = { chunk: 0, index: 0 };

  add(lines: Lines): void {
    const chunk = new Chunk(lines, this.length);
    this.isOrdered &&= chunk.firstMs >= this.lastMs && isSorted(lines.times);
    this.firstMs = Math.min(this.firstMs, chunk.firstMs);
    this.lastMs = Math.max(this.lastMs, chunk.lastMs);
    this.chunks.push(chunk);
    this.length += chunk.length;
    this.bytes += lines.bytes;
  }

  get firstSequence(): number {
    return this.chunks[0]!.lines.firstSequence;
  }

  get lastSequence(): number {
    const { lines, length } = this.chunks.at(-1)!;
    return lines.firstSequence + length - 1;
  }

  /** Of the first events, as far as `summarize` was asked to go. */
  get summary(): Summary {
    return this.#counts.summary;
  }

  /** Resolves when the summary has the first `length` events at least. Ingest does not pay for it: who asks first does. */
  async summarize(length: number, signal: AbortSignal): Promise<void> {
    const pace = new Pace();
    while (this.summary.events < length) {
      const { chunk, index } = this.#next;
      const { body, starts, times } = this.chunks[chunk]!.lines;
      this.#counts.add(body, starts[index]!);
      this.#next = index + 1 < times.length ? { chunk, index: index + 1 } : { chunk: chunk + 1, index: 0 };
      if (pace.isDue()) await pace.rest(signal);
    }
  }
}

const isSorted = (times: Float64Array) => times.every((ms, i) => i === 0 || ms >= times[i - 1]!);

/** The events of one journal file, by project. */
export interface NewestPart {
  readonly file: JournalFile;
  readonly projects: Map<string, NewestEvents>;
  /** Of the batches that had one. */
  keys: SeenKey[];
  /** Deletions of projects in the file: it must not go before older files whose events they delete. */
  drops: number;
  events: number;
  bytes: number;
}

export const newPart = (file: JournalFile): NewestPart => ({
  file,
  projects: new Map(),
  keys: [],
  drops: 0,
  events: 0,
  bytes: 0,
});

export function addToPart(part: NewestPart, lines: Lines): void {
  let newest = part.projects.get(lines.project);
  if (newest === undefined) {
    newest = new NewestEvents();
    part.projects.set(lines.project, newest);
  }
  newest.add(lines);
  part.events += lines.times.length;
  part.bytes += lines.bytes;
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
  part.events -= newest.length;
  part.bytes -= newest.bytes;
}
