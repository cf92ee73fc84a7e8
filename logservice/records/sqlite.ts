import { statSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SqliteDatabase } from "kysely";
import type Libsql from "libsql";
import { unloadedPackage } from "../native-package.ts";
import { RecordsReplaced } from "./replaced.ts";

/** How long a statement waits for another process on the same file (`tool service token`). */
const BUSY_TIMEOUT_MS = 5_000;

/** Bytes of the disk for the memory that connections to a file share (sqlite.org/walformat.html, section 2.2). */
const SHARED_BYTES = 32 * 1024;

/**
 * Whether processes can share the file. On a full disk there may be no room for that; then it is opened for this process
 * alone, until it ends. An attempt that fails would keep this process from doing even that.
 */
export async function isShareable(path: string): Promise<boolean> {
  if (process.platform === "win32") return true;
  const held = await stat(`${path}-shm`).catch(() => undefined);
  if (held !== undefined && held.size >= SHARED_BYTES) return true;
  const room = await statfs(dirname(resolve(path))).catch(() => undefined);
  return room === undefined || room.bavail * room.bsize >= SHARED_BYTES;
}

/**
 * Opens the file without changing its settings. Creates it if it is missing. A statement waits for another process for
 * `busyMs`.
 */
export async function openDatabase(path: string, busyMs = BUSY_TIMEOUT_MS): Promise<Libsql.Database> {
  const { default: Database } = await import("libsql").catch((error: unknown) => {
    throw unloadedPackage("libsql", error);
  });
  const place = (await isShareable(path)) ? path : `${pathToFileURL(resolve(path))}?vfs=unix-excl`;
  return new Database(place, { timeout: busyMs } as Libsql.Options);
}

export interface RecordsDatabase extends SqliteDatabase {
  /** A number that changes when another connection, of any process, has changed the file. */
  dataVersion(): number;
  /** Whether another file has the name by now, or none. */
  isReplaced(): boolean;
}

/** Statements that begin to change something. The rest of a transaction is written or taken back as it began. */
const CHANGE = /^\s*(begin|insert|update|delete)\b/i;

/**
 * Opens or creates the file. A transaction that was committed survives a power loss. A change throws RecordsReplaced if the
 * file is not there any more.
 */
export async function openSqlite(path: string, busyMs?: number): Promise<RecordsDatabase> {
  const database = await openDatabase(path, busyMs);
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) database.pragma(pragma);
  const version = database.prepare("pragma data_version");
  const statements = new Statements(database);
  const opened = statSync(path);
  const isReplaced = () => {
    const there = statSync(path, { throwIfNoEntry: false });
    return there === undefined || there.ino !== opened.ino || there.dev !== opened.dev;
  };
  return {
    isReplaced,
    dataVersion: () => (version.get([]) as { data_version: number }).data_version,
    close() {
      statements.clear();
      checkpoint(database);
      database.close();
    },
    // A transaction that reads before it writes could not wait for another process that writes meanwhile: what it had read
    // would be old. So it waits at its beginning (sqlite.org/lang_transaction.html, section 2.2).
    // SQLite itself rolls back if the disk is full (sqlite.org/lang_transaction.html, section 3). The failure of another
    // rollback would hide that reason.
    prepare(sql) {
      if (CHANGE.test(sql) && isReplaced()) throw new RecordsReplaced();
      return statements.take(statementOf(sql, database));
    },
  };
}

function statementOf(sql: string, { inTransaction }: Libsql.Database): string {
  if (sql === "begin") return "begin immediate";
  return sql === "rollback" && !inTransaction ? "select 1 where false" : sql;
}

/**
 * Writes the log (`-wal`) back to the file, as SQLite does when its last connection closes. libsql keeps the connection as
 * long as a statement is in memory, and would leave a file without any table and a full log.
 */
function checkpoint(database: Libsql.Database): void {
  try {
    // If other connections are reading or writing, they keep the log. We do not wait for them.
    database.pragma("busy_timeout = 0");
    database.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // On a full disk the log stays, which is just as safe.
  }
}

type Statement = ReturnType<SqliteDatabase["prepare"]>;

/** More than the service has texts of its own. Those with lists of any length leave again. */
const MOST_STATEMENTS = 256;

/**
 * Statements by their text, those that were used last. Preparing one takes several times as long as asking for a row by its
 * key. SQLite prepares a statement again by itself when the tables have changed.
 */
class Statements {
  readonly #database: Libsql.Database;
  readonly #byText = new Map<string, Statement>();

  constructor(database: Libsql.Database) {
    this.#database = database;
  }

  take(sql: string): Statement {
    const statement = this.#byText.get(sql) ?? this.#guarded(sql);
    this.#byText.delete(sql);
    this.#byText.set(sql, statement);
    if (this.#byText.size > MOST_STATEMENTS) {
      const [oldest] = this.#byText.keys();
      this.#byText.delete(oldest!);
    }
    return statement;
  }

  clear(): void {
    this.#byText.clear();
  }

  /** libsql aborts the process on a parameter of a type that it does not know, such as a boolean. */
  #guarded(sql: string): Statement {
    const statement = this.#database.prepare(sql);
    return {
      reader: statement.reader,
      all: (parameters) => statement.all(parameters.map(bindable)),
      run: (parameters) => statement.run(parameters.map(bindable)),
      // Its rows are read while other statements run, so it is used by nobody else.
      iterate: (parameters) => this.#database.prepare(sql).iterate(parameters.map(bindable)),
    };
  }
}

function bindable(value: unknown): string | number | bigint | Buffer | null {
  if (value === null || typeof value === "string" || typeof value === "bigint" || Buffer.isBuffer(value)) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`no value for SQLite: ${typeof value}`);
}
