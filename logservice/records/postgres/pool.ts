// A pool of connections for Kysely's dialect. A connection that breaks off is replaced, and nobody sees it unless it takes long.
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type { Pool, PoolClient, PoolConfig } from "pg";
import type { Clock } from "../../../grammar/units/clock.ts";
import { RpcError } from "../../error.ts";
import { RecordsAway } from "../away.ts";

/** The most connections of a process: what waits for one waits in the process, not at the database. */
const MOST_CONNECTIONS = 10;
/** How long a request waits for a database that is away, as during a fail-over. */
const AWAY_MS = 5_000;
/** The pauses between attempts to reach it: each is twice as long as the one before, up to the longest. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** The time that a connection has beyond that of its statement before it is taken for broken. */
const NETWORK_MS = 2_000;
/** How often a statement outside of a transaction is tried that others got in the way of. */
const MOST_TRIES = 30;

/** How long the server and the network may take, in milliseconds; 0 for as long as they like. */
export interface PoolBounds {
  readonly statementMs: number;
  /** Between two statements of a transaction: a process that hangs there holds up others no longer. */
  readonly idleTransactionMs: number;
  readonly connectMs: number;
}

/** Statements of the records take milliseconds. */
const BOUNDS: PoolBounds = { statementMs: 10_000, idleTransactionMs: 30_000, connectMs: 30_000 };

export interface PostgresPoolOptions
  extends Pick<PoolConfig, "host" | "port" | "database" | "user" | "password" | "ssl"> {
  readonly clock: Clock;
  /** Those above unless told otherwise. */
  readonly bounds?: PoolBounds;
  /** Without a bound of time, as changes of tables may take long. */
  readonly isForMigrations?: boolean;
}

/** Opens a pool. Nothing is connected before it is used. */
export async function openPool(options: PostgresPoolOptions): Promise<PostgresPool> {
  const { clock, isForMigrations = false, bounds = BOUNDS, ...place } = options;
  const { Pool, types } = await import("pg");
  const { statementMs, idleTransactionMs, connectMs } = bounds;
  const pool = new Pool({
    ...place,
    max: isForMigrations ? 1 : MOST_CONNECTIONS,
    ...(!isForMigrations && { query_timeout: statementMs === 0 ? 0 : statementMs + NETWORK_MS }),
    application_name: "tool service",
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    options: settingsOf(
      isForMigrations ? { statementMs: 0, idleTransactionMs: 0 } : { statementMs, idleTransactionMs },
    ),
    types: {
      // int8, and numeric, which sums of it are: none of the records' numbers is beyond what a number holds exactly.
      getTypeParser: ((oid: number, format: "text") =>
        oid === types.builtins.INT8 || oid === types.builtins.NUMERIC
          ? Number
          : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
    },
  });
  // An idle connection that breaks off leaves the pool by itself.
  pool.on("error", () => {});
  return {
    connect: async () => new Connection(pool, clock, await connected(pool, clock)),
    end: () => pool.end(),
  };
}

/** All of them, also those of no bound: the user or the database may have others, by which a statement fails or a number is rounded. */
function settingsOf({ statementMs, idleTransactionMs }: Omit<PoolBounds, "connectMs">): string {
  const settings = {
    // Single statements, too: transactions are serializable only among others that are.
    default_transaction_isolation: "serializable",
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleTransactionMs,
    lock_timeout: 0,
    extra_float_digits: 1,
  };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
}

/** Takes a connection to a server that can write. Waits for one, then throws RecordsAway. */
async function connected(pool: Pool, clock: Clock): Promise<PoolClient> {
  const untilMs = clock.monotonicMs() + AWAY_MS;
  let reason: unknown;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const client = await borrowed(pool, clock, untilMs);
      const refusal = await refusalOf(client);
      if (refusal === undefined) {
        proven.add(pool);
        return client;
      }
      client.release(true);
      throw refusal;
    } catch (error) {
      // A start says it at once, to operators. Later, as after the change of a password, requests are to come again.
      if (!(error instanceof Late || isAway(error) || proven.has(pool))) throw error;
      // An attempt before the last one may know more.
      reason = error instanceof Late ? (reason ?? error) : error;
      if (error instanceof Late || clock.monotonicMs() + pauseMs >= untilMs)
        throw new RecordsAway("the database of the records cannot be reached", { cause: reason });
    }
    await clock.sleep(pauseMs);
  }
}

/** Takes a connection, until a time of the clock. One that comes later goes back. */
function borrowed(pool: Pool, clock: Clock, untilMs: number): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = clock.after(untilMs - clock.monotonicMs(), () => {
      isLate = true;
      reject(new Late("no connection came in time"));
    });
    pool.connect().then(
      (client) => {
        timer.stop();
        if (isLate) client.release();
        else resolve(client);
      },
      (error) => {
        timer.stop();
        reject(error);
      },
    );
  });
}

class Late extends Error {}

/** The texts of a database are not UTF-8. The message goes on after its name. */
export class WrongEncoding extends Error {}

const checked = new WeakSet<PoolClient>();
/** Pools whose settings have led to a database that can be used. */
const proven = new WeakSet<Pool>();

/** Why a new connection cannot be used; undefined if it can. After a fail-over a name may still lead to the server of before. */
async function refusalOf(client: PoolClient): Promise<Error | undefined> {
  if (checked.has(client)) return undefined;
  const failed = (error: Error) => error;
  client.on("error", failed);
  try {
    const { rows } = await client.query(
      "select current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as is_read_only",
    );
    const [{ encoding, is_read_only }] = rows as [{ readonly encoding: string; readonly is_read_only: string }];
    if (encoding !== "UTF8") return new WrongEncoding(`has the encoding ${encoding}`);
    if (is_read_only === "on") return readOnly("the server takes no changes");
    checked.add(client);
    return undefined;
  } catch (error) {
    // A standby refuses whatever is serializable as not supported.
    if ((error as { code?: unknown }).code === "0A000")
      return readOnly("the server is a standby, which takes no changes");
    return error as Error;
  } finally {
    client.off("error", failed);
  }
}

/** The code of a change on a server that takes none. */
const READ_ONLY = "25006";

const readOnly = (message: string) => Object.assign(new Error(message), { code: READ_ONLY });

/** A connection as it is borrowed, which knows whether it is in a transaction. */
class Connection implements PostgresPoolClient {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #client: PoolClient;
  #isBroken = false;
  #isReleased = false;
  #isInTransaction = false;
  readonly #broke = () => {
    this.#isBroken = true;
  };

  constructor(pool: Pool, clock: Clock, client: PoolClient) {
    this.#pool = pool;
    this.#clock = clock;
    this.#client = client;
    client.on("error", this.#broke);
  }

  // Kysely asks with a text and parameters alone, but for its cursors, which we don't use.
  query = (async (sql: string, parameters: readonly unknown[] = []) => {
    refuseNul(parameters);
    if (sql === "rollback") return this.#rollback();
    if (this.#isInTransaction) return this.#inTransaction(sql, parameters);
    if (/^(begin|start transaction)/.test(sql)) {
      const result = await this.#alone(sql, parameters);
      this.#isInTransaction = true;
      return result;
    }
    return this.#alone(sql, parameters);
  }) as PostgresPoolClient["query"];

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#client.off("error", this.#broke);
    this.#client.release(this.#isBroken);
  }

  /** A server takes a transaction back by itself when its connection is gone. */
  async #rollback(): Promise<unknown> {
    this.#isInTransaction = false;
    if (this.#isBroken) return NOTHING;
    return this.#client.query("rollback").catch(() => {
      this.#isBroken = true;
      return NOTHING;
    });
  }

  async #inTransaction(sql: string, parameters: readonly unknown[]): Promise<unknown> {
    try {
      const result = await this.#client.query(sql, [...parameters]);
      if (sql === "commit") this.#isInTransaction = false;
      // The server answers so, and reports no error, if a statement had failed that nobody minded.
      if (sql === "commit" && result.command !== "COMMIT")
        throw new Error("the transaction was taken back, since a statement of it had failed");
      return result;
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#isBroken = true;
      // The server may have committed before its answer was lost.
      throw new RecordsAway(
        sql === "commit"
          ? "the database of the records broke off while it made a change"
          : "the database of the records broke off",
        { cause: error, isTakenBack: sql !== "commit" && !isUnanswered(error), isInDoubt: sql === "commit" },
      );
    }
  }

  /** A statement that is a transaction of its own. */
  async #alone(sql: string, parameters: readonly unknown[]): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#client.query(sql, [...parameters]);
      } catch (error) {
        const { code } = error as { code?: unknown };
        const isConflict = code === "40001" || code === "40P01";
        if (!(isConflict || isAway(error))) throw error;
        if (isConflict) {
          if (tries === MOST_TRIES) throw error;
          continue;
        }
        this.#isBroken = true;
        // Only a change may have been made nevertheless.
        if (code !== READ_ONLY && !/^(select|begin|start transaction)/.test(sql))
          throw new RecordsAway("the database of the records broke off while it made a change", {
            cause: error,
            isInDoubt: true,
          });
        if (tries === MOST_TRIES || isUnanswered(error))
          throw new RecordsAway("the database of the records broke off", { cause: error });
        await this.#replace();
      }
    }
  }

  async #replace(): Promise<void> {
    // First: where all connections broke off together, each would wait for the room of another.
    this.release();
    this.#client = await connected(this.#pool, this.#clock);
    this.#isReleased = false;
    this.#isBroken = false;
    this.#client.on("error", this.#broke);
  }
}

const NOTHING = { command: "ROLLBACK", rowCount: 0, rows: [] };

/** Texts from everywhere come here: one that PostgreSQL cannot have is refused before it is sent. */
function refuseNul(parameters: readonly unknown[]): void {
  if (parameters.some((one) => typeof one === "string" && one.includes("\0")))
    throw new RpcError("invalid", "a text has the character U+0000, which the records cannot hold");
}

/** Whether a statement had its time, and more: another try may take as long again. */
const isUnanswered = (error: unknown) => /^Query read timeout/.test(String((error as { message?: unknown }).message));

/**
 * Whether an error says that the server is not there, is ending or starting, takes no changes or has no connection left
 * (postgresql.org/docs/current/errcodes-appendix.html), or is one of the driver, whose errors have no codes.
 */
function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === "string")
    return /^(E[A-Z_]+|08\w{3}|57P0[1235]|53300|25006|25P03)$/.test(code) && code !== "EACCES";
  return /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client was closed)/.test(
    String(message),
  );
}
