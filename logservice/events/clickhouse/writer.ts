import type { Dedup } from "../dedup.ts";
import { type AppendOptions, type NewEvent, storeClosed } from "../store.ts";
import type { Tails } from "../tail.ts";
import type { ClickHouseConnection } from "./connection.ts";
import { type NewRow, newRow } from "./rows.ts";

interface WriterOptions {
  readonly connection: ClickHouseConnection;
  readonly dedup: Dedup;
  readonly tails: Tails;
  readonly nowMs: () => number;
  /** Gives ids to events that come without one. */
  readonly nextId: () => string;
}

/** Inserts batches, those of a project one after the other: a retry waits for the first try. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #turns = new Map<string, Promise<void>>();
  #isClosed = false;
  /** Statements and rows since the start. */
  readonly written = { inserts: 0, events: 0 };

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  append(project: string, batch: readonly NewEvent[], options: AppendOptions): Promise<void> {
    return this.inTurn(project, () => this.#append(project, batch, options));
  }

  /** Does something of a project when all that was begun before is done. */
  inTurn(project: string, act: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return Promise.reject(storeClosed());
    const done = (this.#turns.get(project) ?? Promise.resolve()).then(act);
    const settled = done.catch(() => {});
    this.#turns.set(project, settled);
    void settled.then(() => {
      if (this.#turns.get(project) === settled) this.#turns.delete(project);
    });
    return done;
  }

  /** Resolves when all that was accepted is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#turns.values());
  }

  async #append(project: string, batch: readonly NewEvent[], options: AppendOptions): Promise<void> {
    const { connection, dedup, tails, nowMs, nextId } = this.#options;
    if (batch.some(({ id }) => id !== undefined)) await dedup.loadIds(project);
    if (dedup.isRepeated(project, options)) return;
    const fresh = dedup.newEvents(project, batch);
    const rows = fresh.map((one) => newRow(project, one.id ?? nextId(), one));
    for (const some of insertsOf(rows)) {
      await connection.insert(some.map(({ line }) => line));
      this.written.inserts++;
      this.written.events += some.length;
    }
    const { idempotencyKey, digest = "" } = options;
    if (idempotencyKey !== undefined) dedup.keys(project).add(idempotencyKey, nowMs(), digest);
    const ids = dedup.ids(project);
    for (const { id } of fresh) if (id !== undefined) ids.add(id, nowMs());
    for (const { event } of rows) tails.publish(project, event);
  }
}

/** Rows of as many days and bytes as one statement should have. */
function* insertsOf(rows: readonly NewRow[]): Iterable<readonly NewRow[]> {
  const sorted = [...rows].sort((a, b) => a.day - b.day);
  let [from, days, length] = [0, 1, 0];
  for (const [at, { day, line }] of sorted.entries()) {
    if (at > from && sorted[at - 1]!.day !== day) days++;
    length += line.length;
    if (at > from && (days > MOST_DAYS || length > MOST_LENGTH)) {
      yield sorted.slice(from, at);
      [from, days, length] = [at, 1, line.length];
    }
  }
  if (rows.length > 0) yield sorted.slice(from);
}

/** Each day is a part: ClickHouse refuses a statement that makes more than 100 of them. */
const MOST_DAYS = 100;
const MOST_LENGTH = 64 * 1024 * 1024;
