import type { Backpressure } from "./backpressure.ts";
import type { Dedup } from "./dedup.ts";
import { encodeBatch, eventAt } from "./journal/batch-lines.ts";
import type { Journal } from "./journal/journal.ts";
import { encodeEvent } from "./journal/line.ts";
import type { Memtables } from "./memtables.ts";
import type { StoreSettings } from "./settings.ts";
import { type AppendOptions, type NewEvent, StoreError, storeClosed } from "./store.ts";
import type { Tails } from "./tail.ts";

interface AppenderOptions {
  readonly settings: StoreSettings;
  readonly memtables: Memtables;
  readonly journal: Journal;
  readonly dedup: Dedup;
  readonly tails: Tails;
  readonly backpressure: Backpressure;
  /** Why no event of a project can be stored now. */
  readonly writeErrorOf: (project: string) => Error | undefined;
}

interface Waiting {
  readonly project: string;
  readonly batch: readonly NewEvent[];
  readonly key: string | undefined;
  /** When the batch is refused, in the time of the clock's `monotonicMs`. */
  readonly untilMs: number;
}

/** Appends batches: removes duplicates, waits for capacity, and writes what is new to the journal and the memtable. */
export class Appender {
  readonly #options: AppenderOptions;
  /** Batches that are being written, by project and key, and by project and event id: a retry waits for the first try. */
  readonly #writing = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  async append(project: string, batch: readonly NewEvent[], options: AppendOptions): Promise<void> {
    const { settings, dedup, backpressure, writeErrorOf } = this.#options;
    if (batch.some(({ id }) => id !== undefined)) await dedup.loadIds(project);
    const writeError = writeErrorOf(project);
    if (writeError !== undefined) {
      const message =
        "the folder of this project's events cannot be written to: nothing was stored; the service's log says more";
      throw new StoreError("unavailable", message, { cause: writeError, retryAfterMs: 30_000 });
    }
    await backpressure.checkDisk();
    const untilMs = settings.clock.monotonicMs() + settings.maxAppendWaitMs;
    for (;;) {
      // Refused before anything is accepted: a half-written batch would have to be taken back.
      if (this.#isClosed) throw storeClosed();
      const turn = this.#turn({ project, batch, key: options.idempotencyKey, untilMs });
      if (turn === undefined) break;
      await turn;
    }
    // Nothing waits from here to the write to the journal, not even for a microtask: what is new now is still new when it
    // is written, and the capacity is still there.
    if (dedup.isRepeated(project, options)) return;
    const fresh = dedup.newEvents(project, batch);
    if (fresh.length > 0) await this.#write(project, fresh, options);
  }

  /** Nothing more is accepted. */
  close(): void {
    this.#isClosed = true;
    this.#options.backpressure.release();
  }

  /** Returns what a batch has to wait for before it is checked again: capacity, or a write that it may repeat. */
  #turn({ project, batch, key, untilMs }: Waiting): Promise<void> | undefined {
    const { backpressure } = this.#options;
    // An earlier try of the same batch may still be being written: the answer to this one depends on its outcome.
    const earlier = this.#writeInProgress(project, batch, key);
    if (earlier !== undefined) return earlier.catch(() => {});
    return backpressure.hasCapacity ? undefined : backpressure.wait(untilMs);
  }

  async #write(
    project: string,
    events: readonly NewEvent[],
    { idempotencyKey, digest = "" }: AppendOptions,
  ): Promise<void> {
    const { settings, memtables, journal, dedup, tails } = this.#options;
    const nowMs = settings.clock.nowMs();
    const sequence = memtables.takeSequences(events.length);
    const lines = encodeBatch(project, sequence, events.map(encodeEvent));
    const frame = {
      sequence,
      project,
      lines: events.length,
      atMs: nowMs,
      key: idempotencyKey,
      digest,
      isDeletion: false,
    };
    const done = journal.write(frame, lines.body, () => {
      const memtable = memtables.active;
      // Looked up only now: the project may have been deleted and started again since the batch was checked.
      const ids = dedup.ids(project);
      if (idempotencyKey !== undefined) {
        dedup.keys(project).add(idempotencyKey, nowMs, digest);
        memtable.keys.push([project, idempotencyKey, nowMs, digest]);
      }
      for (const { id } of events) if (id !== undefined) ids.add(id, nowMs);
      memtable.add(lines);
      if (!tails.isRead(project)) return;
      for (let i = 0; i < events.length; i++) tails.publish(project, eventAt(lines, i).event);
    });
    await this.#whileWriting(namesOf(project, events, idempotencyKey), done);
  }

  /** The write in progress that must end before this batch can be checked. */
  #writeInProgress(project: string, batch: readonly NewEvent[], key: string | undefined): Promise<void> | undefined {
    if (this.#writing.size === 0) return undefined;
    const ofKey = key === undefined ? undefined : this.#writing.get(keyName(project, key));
    if (ofKey !== undefined) return ofKey;
    for (const { id } of batch) {
      const ofId = id === undefined ? undefined : this.#writing.get(idName(project, id));
      if (ofId !== undefined) return ofId;
    }
    return undefined;
  }

  async #whileWriting(names: readonly string[], done: Promise<void>): Promise<void> {
    for (const name of names) this.#writing.set(name, done);
    try {
      await done;
    } finally {
      for (const name of names) this.#writing.delete(name);
    }
  }
}

function namesOf(project: string, events: readonly NewEvent[], key: string | undefined): string[] {
  const names = events.flatMap(({ id }) => (id === undefined ? [] : [idName(project, id)]));
  if (key !== undefined) names.push(keyName(project, key));
  return names;
}

const keyName = (project: string, key: string) => `k ${project} ${key}`;
const idName = (project: string, id: string) => `i ${project} ${id}`;
