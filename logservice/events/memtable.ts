import { Yielder } from "./event-loop.ts";
import { type BatchLines, eventAt } from "./journal/batch-lines.ts";
import type { JournalFile } from "./journal/journal-file.ts";
import type { StoredEvent } from "./journal/line.ts";
import type { SeenKey } from "./journal/seen-keys.ts";
import { ColumnBudget, MemtableColumns } from "./memtable-columns.ts";
import { LineCounts } from "./summary/summarize.ts";
import type { Summary } from "./summary/summary.ts";

/** The events of a batch. */
export class MemtableBatch {
  readonly lines: BatchLines;
  /** Number of events of the project in this memtable that were accepted before the batch. */
  readonly eventsBefore: number;
  readonly firstMs: number;
  readonly lastMs: number;
  #parsed: StoredEvent[] | undefined;
  /** Indexes of its events by time; "sorted" if they came so, as they nearly always do. */
  #order: "sorted" | Float64Array | undefined;
  readonly #budget: ColumnBudget;
  #isDropped = false;

  constructor(lines: BatchLines, eventsBefore: number, budget: ColumnBudget) {
    this.lines = lines;
    this.eventsBefore = eventsBefore;
    this.#budget = budget;
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

  /** An event. It is kept as parsed, while there is memory for it: events that are read once are usually read again. */
  at(index: number): StoredEvent {
    const { parsedEvents } = this.#budget;
    const kept = this.#parsed?.[index];
    if (kept !== undefined) {
      parsedEvents.use(this);
      return kept;
    }
    const stored = this.#parse(index);
    if (this.#isDropped) return stored;
    this.#parsed ??= new Array<StoredEvent>(this.length);
    this.#parsed[index] = stored;
    const { starts } = this.lines;
    parsedEvents.add(this, starts[index + 1]! - starts[index]!);
    return stored;
  }

  forgetParsed(): void {
    this.#parsed = undefined;
  }

  /** Keeps no event any more: they are in segments now. */
  drop(): void {
    this.#isDropped = true;
    this.#budget.parsedEvents.forget(this);
  }

  /** An event that is not kept. */
  read(index: number): StoredEvent {
    return this.#parsed?.[index] ?? this.#parse(index);
  }

  #parse(index: number): StoredEvent {
    this.#budget.linesParsed++;
    return eventAt(this.lines, index);
  }

  /** Indexes of the events by their time: from the first on, or with a negative sign from the last; all, or those given. */
  *inOrder(sign: 1 | -1, of?: readonly number[]): Generator<number> {
    const { times } = this.lines;
    this.#order ??= isSorted(times) ? "sorted" : times.map((_, index) => index).sort(byTime(times));
    const indexes = this.#order === "sorted" ? of : (of?.toSorted(byTime(times)) ?? this.#order);
    const count = of?.length ?? times.length;
    for (let read = 0; read < count; read++) {
      const n = sign > 0 ? read : count - 1 - read;
      yield indexes?.[n] ?? n;
    }
  }
}

/**
 * The events of one project in a memtable, in the order of their acceptance. Append-only, batch by batch. They are kept as
 * the lines of the journal: ingest creates no objects, and an event that no query reads is never parsed.
 */
export class MemtableEvents {
  readonly batches: MemtableBatch[] = [];
  length = 0;
  bytes = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  readonly #byFirst = new Sorted<MemtableBatch>(({ firstMs }) => firstMs);
  readonly #byLast = new Sorted<MemtableBatch>(({ lastMs }) => lastMs);
  readonly #counts = new LineCounts();
  readonly #budget: ColumnBudget;
  /** The fields that questions about groups read instead of the events. */
  readonly columns: MemtableColumns;
  /** The first event that is not in the summary yet: its batch, and its index there. */
  #next = { batch: 0, index: 0 };

  constructor(budget = new ColumnBudget()) {
    this.#budget = budget;
    this.columns = new MemtableColumns(this, budget);
  }

  add(lines: BatchLines): void {
    const batch = new MemtableBatch(lines, this.length, this.#budget);
    this.firstMs = Math.min(this.firstMs, batch.firstMs);
    this.lastMs = Math.max(this.lastMs, batch.lastMs);
    this.batches.push(batch);
    this.length += batch.length;
    this.bytes += lines.bytes;
  }

  /** Forgets what was made of the events for queries: they are in segments now. */
  drop(): void {
    this.columns.drop();
    for (const batch of this.batches) batch.drop();
  }

  /** The batches by their first time, or with a negative sign by their last time from the last on. */
  *inOrder(sign: 1 | -1): Generator<MemtableBatch> {
    const batches = (sign > 0 ? this.#byFirst : this.#byLast).all(this.batches);
    const { length } = batches;
    for (let read = 0; read < length; read++) yield batches[sign > 0 ? read : length - 1 - read]!;
  }

  /** The event at a place in the order of acceptance. It is not kept. */
  read(place: number): StoredEvent {
    let [low, high] = [0, this.batches.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.batches[middle]!.eventsBefore <= place) low = middle;
      else high = middle - 1;
    }
    const batch = this.batches[low]!;
    return batch.read(place - batch.eventsBefore);
  }

  get firstSequence(): number {
    return this.batches[0]!.lines.firstSequence;
  }

  get lastSequence(): number {
    const { lines, length } = this.batches.at(-1)!;
    return lines.firstSequence + length - 1;
  }

  /** Covers the first events, as many as `summarize` was asked for. */
  get summary(): Summary {
    return this.#counts.summary;
  }

  /**
   * Resolves when the summary covers at least the first `length` events. The first query that needs it pays for it, not
   * ingest.
   */
  async summarize(length: number, signal: AbortSignal): Promise<void> {
    const yielder = new Yielder();
    while (this.summary.events < length) {
      const { batch, index } = this.#next;
      const { body, starts, times } = this.batches[batch]!.lines;
      this.#counts.add(body, starts[index]!);
      this.#next = index + 1 < times.length ? { batch, index: index + 1 } : { batch: batch + 1, index: 0 };
      if (yielder.isDue()) await yielder.rest(signal);
    }
  }
}

/** A list that only grows, sorted by a number. What came since is sorted in when it is asked for. */
class Sorted<One> {
  readonly #by: (one: One) => number;
  #sorted: One[] = [];

  constructor(by: (one: One) => number) {
    this.#by = by;
  }

  /** Whoever reads an earlier answer still finds it as it was, but for what was added to its end. */
  all(list: readonly One[]): readonly One[] {
    const by = this.#by;
    const fresh = list.slice(this.#sorted.length).sort((a, b) => by(a) - by(b));
    const last = this.#sorted.at(-1);
    if (last === undefined || fresh.length === 0 || by(last) <= by(fresh[0]!)) {
      for (const one of fresh) this.#sorted.push(one);
    } else {
      this.#sorted = merged(this.#sorted, fresh, by);
    }
    return this.#sorted;
  }
}

function merged<One>(a: readonly One[], b: readonly One[], by: (one: One) => number): One[] {
  const all: One[] = [];
  let at = 0;
  for (const one of b) {
    while (at < a.length && by(a[at]!) <= by(one)) all.push(a[at++]!);
    all.push(one);
  }
  while (at < a.length) all.push(a[at++]!);
  return all;
}

const byTime = (times: Float64Array) => (a: number, b: number) => times[a]! - times[b]!;
const isSorted = (times: Float64Array) => times.every((ms, i) => i === 0 || ms >= times[i - 1]!);

/** The events of one journal file, by project, until they are flushed. */
export class Memtable {
  readonly file: JournalFile;
  readonly projects = new Map<string, MemtableEvents>();
  /** Idempotency keys of its batches. */
  keys: SeenKey[] = [];
  /** Deletions of projects in the file: it must not be removed before older files whose events they delete. */
  readonly deletions: { readonly project: string; readonly sequence: number }[] = [];
  events = 0;
  bytes = 0;
  readonly #budget: ColumnBudget;

  constructor(file: JournalFile, budget = new ColumnBudget()) {
    this.file = file;
    this.#budget = budget;
  }

  add(lines: BatchLines): void {
    let events = this.projects.get(lines.project);
    if (events === undefined) {
      events = new MemtableEvents(this.#budget);
      this.projects.set(lines.project, events);
    }
    events.add(lines);
    this.events += lines.times.length;
    this.bytes += lines.bytes;
  }

  /** Forgets a project that was deleted. */
  forget(project: string): void {
    this.remove(project);
    this.keys = this.keys.filter(([of]) => of !== project);
  }

  /** Removes the events of a project, which are in segments now. */
  remove(project: string): void {
    const events = this.projects.get(project);
    if (events === undefined) return;
    this.projects.delete(project);
    events.drop();
    this.events -= events.length;
    this.bytes -= events.bytes;
  }
}
