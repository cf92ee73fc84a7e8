import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from "@clickhouse/client";
import { StoreError, tooMuch } from "../store.ts";
import { EVENTS_TABLE, INSERTED } from "./schema.ts";

export interface ClickHouseConnectionOptions {
  /** Such as http://127.0.0.1:8123. */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly database: string;
  /** The most that one statement may take. */
  readonly limits?: StatementLimits;
}

export interface StatementLimits {
  readonly timeMs: number;
  readonly memoryBytes: number;
}

const LIMITS: StatementLimits = { timeMs: 30_000, memoryBytes: 2 * 1024 * 1024 * 1024 };

/** Values of a row's columns as JSON. */
export type Row = readonly unknown[];

/** Statements over HTTP. What each may take is said with the statement: no session keeps it. */
export class ClickHouseConnection {
  readonly #client: ClickHouseClient;
  readonly #limits: StatementLimits;

  constructor({ url, username, password, database, limits = LIMITS }: ClickHouseConnectionOptions) {
    this.#limits = limits;
    this.#client = createClient({
      url,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      database,
      // Errors are thrown; the client would print them besides.
      log: { level: ClickHouseLogLevel.OFF },
      // The server ends a statement itself; this is for a server that says nothing any more.
      request_timeout: limits.timeMs + ANSWER_MS,
    });
  }

  /** Gives the rows of a SELECT to `take`, some at a time, as they arrive. Stops the statement once `take` returns false. */
  async select(text: string, signal: AbortSignal, take: (rows: readonly Row[]) => TakeResult): Promise<SelectSummary> {
    signal.throwIfAborted();
    try {
      const result = await this.#client.query({
        query: text,
        format: "JSONCompactEachRow",
        abort_signal: signal,
        clickhouse_settings: { ...READING, ...this.#limited() },
      });
      for await (const rows of result.stream<Row>()) {
        if ((await take(rows.map((row) => row.json<Row>()))) === false) break;
        signal.throwIfAborted();
      }
      return summaryOf(result.response_headers["x-clickhouse-summary"]);
    } catch (error) {
      signal.throwIfAborted();
      throw storeErrorOf(error, this.#limits);
    }
  }

  /** Runs a statement that gives no rows. */
  async command(text: string): Promise<void> {
    try {
      await this.#client.command({ query: text });
    } catch (error) {
      throw storeErrorOf(error, this.#limits);
    }
  }

  /**
   * Inserts rows as lines of JSON, the values in the order of INSERTED. They are stored once however often it is tried: the
   * server knows the token again.
   */
  async insert(lines: readonly string[]): Promise<void> {
    const token = randomUUID();
    for (let tries = 1; ; tries++) {
      try {
        // Not by `insert`, which makes the JSON of rows itself: times have more digits than its numbers.
        const { summary, stream } = await this.#client.exec({
          query: `INSERT INTO ${EVENTS_TABLE} (${INSERTED.join(", ")}) FORMAT JSONCompactEachRow`,
          values: Readable.from(lines, { objectMode: false }),
          clickhouse_settings: { insert_deduplication_token: token, async_insert: 0, wait_end_of_query: 1 },
        });
        for await (const _ of stream);
        const written = Number(summary?.written_rows ?? lines.length);
        // A try whose answer was lost may have stored them already; then a later one writes nothing.
        if (written < lines.length && tries === 1)
          throw new Error(`ClickHouse stored ${written} of ${lines.length} rows`);
        return;
      } catch (error) {
        const wrapped = storeErrorOf(error, this.#limits);
        if (!(wrapped instanceof StoreError && wrapped.type === "unavailable") || tries >= MOST_TRIES) throw wrapped;
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #limited(): ClickHouseSettings {
    const { timeMs, memoryBytes } = this.#limits;
    return { max_execution_time: Math.ceil(timeMs / 1000), max_memory_usage: String(memoryBytes) };
  }
}

type TakeResult = undefined | boolean | Promise<undefined | boolean> | Promise<void> | void;

export interface SelectSummary {
  readonly readBytes: number;
}

function summaryOf(header: string | readonly string[] | undefined): SelectSummary {
  if (typeof header !== "string") return { readBytes: 0 };
  return { readBytes: Number((JSON.parse(header) as { read_bytes?: string }).read_bytes ?? 0) };
}

const READING: ClickHouseSettings = {
  // The last digit of a number may be wrong otherwise.
  precise_float_parsing: 1,
  // A page of ids is part of its text.
  max_query_size: String(16 * 1024 * 1024),
  // A closed connection ends the statement.
  cancel_http_readonly_queries_on_client_close: 1,
};

const ANSWER_MS = 5000;
const MOST_TRIES = 3;

/** The error of a failed statement as the caller gets it. Any other than these is a bug of ours. */
function storeErrorOf(error: unknown, { timeMs }: StatementLimits): unknown {
  if (error instanceof StoreError) return error;
  if (!(error instanceof ClickHouseError)) {
    if (!isOfNetwork(error)) return error;
    return new StoreError("unavailable", "ClickHouse does not answer; try again", { cause: error, retryAfterMs: 5000 });
  }
  switch (error.type) {
    case "MEMORY_LIMIT_EXCEEDED":
      return tooMuch(error);
    case "TIMEOUT_EXCEEDED":
    case "TOO_SLOW":
      return new StoreError("timeout", `this took more than ${timeMs / 1000} s: narrow its time range or its query`, {
        cause: error,
      });
    case "TOO_MANY_SIMULTANEOUS_QUERIES":
    case "TOO_MANY_PARTS":
    case "TABLE_IS_READ_ONLY":
    case "NO_ZOOKEEPER":
    case "KEEPER_EXCEPTION":
    case "NETWORK_ERROR":
      return new StoreError("unavailable", "ClickHouse has too much to do just now; try again", {
        cause: error,
        retryAfterMs: 5000,
      });
    default:
      return error;
  }
}

/** Errors of sockets have a code such as ECONNREFUSED; the client says that it waited too long in words. */
const isOfNetwork = (error: unknown) =>
  error instanceof Error &&
  (/^E[A-Z]+$/.test(String((error as NodeJS.ErrnoException).code)) ||
    /timeout|socket hang up|aborted/i.test(error.message));
