import type { SqliteDatabase } from "kysely";
import type Libsql from "libsql";

/** How long a statement waits for another process on the same file (`tool service token`). */
const BUSY_TIMEOUT_MS = 5_000;

/** The file as it is; it is made where it is missing. */
export async function openDatabase(path: string): Promise<Libsql.Database> {
  const { default: Database } = await import("libsql").catch((error: unknown) => {
    throw new Error(`the log service needs the package libsql, which has no build for this platform`, { cause: error });
  });
  return new Database(path, { timeout: BUSY_TIMEOUT_MS } as Libsql.Options);
}

export interface RecordsDatabase extends SqliteDatabase {
  /** Another number than before when another connection, of this process or another one, has changed the file. */
  dataVersion(): number;
}

/** Opens or makes the file. Committed is what a power loss leaves there. */
export async function openSqlite(path: string): Promise<RecordsDatabase> {
  const database = await openDatabase(path);
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) database.pragma(pragma);
  const version = database.prepare("pragma data_version");
  return {
    dataVersion: () => (version.get([]) as { data_version: number }).data_version,
    close() {
      moveLog(database);
      database.close();
    },
    // A full disk has rolled the transaction back by itself (sqlite.org/lang_transaction.html, section 3): the failure of
    // another rollback would hide that reason.
    prepare: (sql) =>
      guarded(database.prepare(sql === "rollback" && !database.inTransaction ? "select 1 where false" : sql)),
  };
}

/**
 * Moves what the log (`-wal`) holds into the file itself, as SQLite does when its last connection closes. libsql keeps
 * the connection as long as a statement is in memory, and leaves a file without a single table beside a full log.
 */
function moveLog(database: Libsql.Database): void {
  try {
    // Others that read or write just now keep the log, and nobody waits for them.
    database.pragma("busy_timeout = 0");
    database.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // On a full disk the log stays, which is as good.
  }
}

type Statement = ReturnType<SqliteDatabase["prepare"]>;

/** libsql ends the whole process on a parameter of a type that it does not know, a boolean among them. */
function guarded(statement: Libsql.Statement): Statement {
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(parameters.map(bindable)),
    run: (parameters) => statement.run(parameters.map(bindable)),
    iterate: (parameters) => statement.iterate(parameters.map(bindable)),
  };
}

function bindable(value: unknown): string | number | bigint | Buffer | null {
  if (value === null || typeof value === "string" || typeof value === "bigint" || Buffer.isBuffer(value)) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`no value for SQLite: ${typeof value}`);
}
