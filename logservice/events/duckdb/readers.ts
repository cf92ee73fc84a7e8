import type { SqlValue } from "../../../grammar/query/sql/condition.ts";
import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from "./duckdb.ts";

/** A chunk of an answer, column by column. */
export type Columns = readonly (readonly unknown[])[];

/** Connections of one engine that queries share. */
export class Readers {
  readonly #engine: DuckDBInstance;
  readonly #idle: DuckDBConnection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #busy = new Set<DuckDBConnection>();
  #open = 0;

  constructor(engine: DuckDBInstance) {
    this.#engine = engine;
  }

  /**
   * Runs a statement and hands over its rows, at most SLICE_ROWS at once, between which others run: a whole answer, and
   * with long texts even the engine's own chunk of 2,048 rows, would stop the loop.
   * Rejects with the signal's reason where that is aborted.
   */
  async run(
    text: string,
    values: readonly SqlValue[],
    signal: AbortSignal,
    take: (columns: Columns) => void,
  ): Promise<void> {
    signal.throwIfAborted();
    const connection = await this.#lend();
    this.#busy.add(connection);
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
          take(slice(chunk, from, Math.min(from + SLICE_ROWS, chunk.rowCount)));
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", interrupt);
      this.#giveBack(connection);
    }
  }

  /** Stops what runs, and waits for it: an engine that is closed under a query takes the process with it. */
  async close(): Promise<void> {
    while (this.#idle.length < this.#open) {
      for (const connection of this.#busy) connection.interrupt();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const connection of this.#idle) connection.closeSync();
    this.#engine.closeSync();
  }

  async #lend(): Promise<DuckDBConnection> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle !== undefined) return idle;
      if (this.#open < MAX_CONNECTIONS) {
        this.#open++;
        try {
          return await this.#engine.connect();
        } catch (error) {
          this.#open--;
          throw error;
        }
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #giveBack(connection: DuckDBConnection): void {
    this.#busy.delete(connection);
    this.#idle.push(connection);
    this.#waiting.shift()?.();
  }
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
