import { setMaxListeners } from "node:events";
import type { SqlValue } from "../../../grammar/query/sql/condition.ts";
import type { Clock } from "../../../grammar/units/clock.ts";
import { TurnQueue } from "../../turns/turn-queue.ts";
import { SERVICE, type TurnTaker } from "../../turns/turns.ts";
import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from "./duckdb.ts";
import type { Segment } from "./segment.ts";

/** A chunk of an answer, column by column. */
export type Columns = readonly (readonly unknown[])[];

/** Takes rows of an answer, at most SLICE_ROWS at once. The next ones come when it has resolved. */
export type TakeColumns = (columns: Columns) => void | Promise<void>;

export interface StatementRunner {
  /**
   * Runs a statement and hands over its rows, at most SLICE_ROWS at once, between which others run: a whole answer, and
   * with long texts even the engine's own chunk of 2,048 rows, would stop the loop.
   * Rejects with the signal's reason where that is aborted.
   */
  run(text: string, values: readonly SqlValue[], signal: AbortSignal, take: TakeColumns): Promise<void>;
}

/** The segments that a query reads. They are announced in advance, since they decide whether footers are kept. */
export interface PoolSession {
  /** Called before statements read segments. */
  opens(segments: readonly Segment[]): Promise<void>;
  /** The query runs no more statements. */
  end(): void;
}

/**
 * Connections of one engine that queries share. The engine keeps the footers of the files that it has read, which takes a
 * third to a half off most questions; but it reckons them at a fifth of what they are, and gives none back of a file that is
 * gone. So they are counted here: beyond a bound no more are kept, and an engine without any takes over when no query runs.
 */
export class ConnectionPool implements StatementRunner {
  readonly #make: () => Promise<DuckDBInstance>;
  readonly #clock: Clock;
  readonly #mostKeptBytes: number;
  #engine: Engine;
  /** For each statement a turn, so that a team with many of them delays others by one at most. */
  readonly #turns = new TurnQueue({ atOnce: MAX_CONNECTIONS });
  /** Questions that are being answered, and those of them whose footers alone are beyond the bound. */
  #questions = 0;
  #large = 0;
  #setting: Promise<void> = Promise.resolve();
  #replacement: Promise<void> | undefined;
  #nextReplacementMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly counts = { engines: 1 };

  private constructor(make: () => Promise<DuckDBInstance>, clock: Clock, mostKeptBytes: number, engine: Engine) {
    this.#make = make;
    this.#clock = clock;
    this.#mostKeptBytes = mostKeptBytes;
    this.#engine = engine;
  }

  /** `make` opens an engine; it is called again for those that take over. */
  static async open(
    make: () => Promise<DuckDBInstance>,
    clock: Clock,
    mostKeptBytes = MOST_KEPT_BYTES,
  ): Promise<ConnectionPool> {
    return new ConnectionPool(make, clock, mostKeptBytes, await openEngine(make));
  }

  /** Size of the footers that the current engine keeps. */
  get keptBytes(): number {
    return this.#engine.keptBytes;
  }

  begin(): PoolSession {
    this.#questions++;
    const paths = new Set<string>();
    let [bytes, isLarge, isEnded] = [0, false, false];
    return {
      opens: (segments) => {
        for (const { path, footerBytes } of segments) {
          if (paths.has(path)) continue;
          paths.add(path);
          bytes += footerBytes * BYTES_OF_FOOTER_BYTE;
          this.#engine.keep(path, footerBytes * BYTES_OF_FOOTER_BYTE);
        }
        if (!isLarge && bytes > this.#mostKeptBytes) {
          isLarge = true;
          this.#large++;
        }
        return this.#set();
      },
      end: () => {
        if (isEnded) return;
        isEnded = true;
        this.#questions--;
        if (isLarge) this.#large--;
        // Nothing waits for it; a failure reaches the next query.
        this.#set().catch(() => {});
        this.#replaceWhereFull();
      },
    };
  }

  /** Whether the engine keeps what it reads from now on. */
  #set(): Promise<void> {
    const set = () => this.#engine.setKeeping(this.#large === 0 && this.#engine.keptBytes <= this.#mostKeptBytes);
    this.#setting = this.#setting.then(set, set);
    return this.#setting;
  }

  get #isIdle(): boolean {
    return this.#questions === 0 && this.#turns.running === 0 && !this.#isClosed;
  }

  #replaceWhereFull(): void {
    const isFull = this.#engine.keptBytes > this.#mostKeptBytes;
    if (!isFull || !this.#isIdle || this.#clock.monotonicMs() < this.#nextReplacementMs) return;
    this.#replacement ??= this.#replace()
      .catch(() => {})
      .finally(() => {
        this.#replacement = undefined;
      });
  }

  async #replace(): Promise<void> {
    // If a query came meanwhile, this is tried again later.
    this.#nextReplacementMs = this.#clock.monotonicMs() + REPLACEMENT_MS;
    const next = await openEngine(this.#make);
    await this.#setting.catch(() => {});
    if (!this.#isIdle) {
      next.close();
      return;
    }
    this.#engine.close();
    this.#engine = next;
    this.counts.engines++;
    this.#nextReplacementMs = Number.NEGATIVE_INFINITY;
  }

  /** Runs a statement of the service itself: see StatementRunner. */
  run(text: string, values: readonly SqlValue[], signal: AbortSignal, take: TakeColumns): Promise<void> {
    return this.runnerOf(SERVICE).run(text, values, signal, take);
  }

  /** Runs the statements of one who asks, each when it is their turn. */
  runnerOf(asker: TurnTaker): StatementRunner {
    return {
      run: async (text, values, signal, take) => {
        // A page reads its segments at once, each statement with a listener; Node warns of more than ten.
        setMaxListeners(0, signal);
        await this.#turns.enter(asker, signal);
        try {
          await this.#run(text, values, signal, take);
        } finally {
          this.#turns.leave(asker);
        }
      },
    };
  }

  async #run(text: string, values: readonly SqlValue[], signal: AbortSignal, take: TakeColumns): Promise<void> {
    const engine = this.#engine;
    const connection = engine.idle.pop() ?? (await engine.instance.connect());
    engine.busy.add(connection);
    const interrupt = () => connection.interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      const result = await connection.stream(text, [...values], await typesOf(values));
      for (
        let chunk = await result.fetchChunk();
        chunk !== null && chunk.rowCount > 0;
        chunk = await result.fetchChunk()
      ) {
        for (let from = 0; from < chunk.rowCount; from += SLICE_ROWS) {
          if (from > 0) await new Promise((resolve) => setImmediate(resolve));
          signal.throwIfAborted();
          await take(slice(chunk, from, Math.min(from + SLICE_ROWS, chunk.rowCount)));
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", interrupt);
      engine.busy.delete(connection);
      engine.idle.push(connection);
    }
  }

  /** Stops what runs, and waits for it: an engine that is closed under a query takes the process with it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#replacement;
    while (this.#turns.running > 0) {
      // Again and again: what comes as a statement is about to begin does not stop it.
      for (const connection of this.#engine.busy) connection.interrupt();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#setting.catch(() => {});
    this.#engine.close();
  }
}

/** An engine, its connections, and what it keeps. */
class Engine {
  readonly instance: DuckDBInstance;
  readonly idle: DuckDBConnection[] = [];
  readonly busy = new Set<DuckDBConnection>();
  keptBytes = 0;
  readonly #control: DuckDBConnection;
  readonly #cachedPaths = new Set<string>();
  #isKeeping = false;

  constructor(instance: DuckDBInstance, control: DuckDBConnection) {
    this.instance = instance;
    this.#control = control;
  }

  keep(path: string, bytes: number): void {
    if (this.#cachedPaths.has(path)) return;
    this.#cachedPaths.add(path);
    this.keptBytes += bytes;
  }

  async setKeeping(isKeeping: boolean): Promise<void> {
    if (isKeeping === this.#isKeeping) return;
    await this.#control.run(`set global parquet_metadata_cache = ${isKeeping}`);
    this.#isKeeping = isKeeping;
  }

  close(): void {
    for (const connection of this.idle) connection.closeSync();
    this.#control.closeSync();
    this.instance.closeSync();
  }
}

async function openEngine(make: () => Promise<DuckDBInstance>): Promise<Engine> {
  const instance = await make();
  return new Engine(instance, await instance.connect());
}

function slice(chunk: DuckDBDataChunk, from: number, to: number): unknown[][] {
  return Array.from({ length: chunk.columnCount }, (_, column) => {
    const vector = chunk.getColumnVector(column);
    return Array.from({ length: to - from }, (_, i) => vector.getItem(from + i));
  });
}

// Some milliseconds of events of the usual size.
const SLICE_ROWS = 512;

/** Said rather than guessed: DuckDB's package takes a large whole number for a BIGINT, and refuses or bends it. */
async function typesOf(values: readonly SqlValue[]) {
  const { BIGINT, DOUBLE, VARCHAR } = await import("@duckdb/node-api");
  return values.map((value) => (typeof value === "bigint" ? BIGINT : typeof value === "number" ? DOUBLE : VARCHAR));
}

// Each blocks one thread of the pool that Node has four of; one is left for files.
const MAX_CONNECTIONS = 3;

// As measured on segments of 66 columns: 1.3 MB each.
const BYTES_OF_FOOTER_BYTE = 5;
/** Footers of some fifty million events. */
const MOST_KEPT_BYTES = 128 * 1024 * 1024;
const REPLACEMENT_MS = 10_000;
