import { open, stat } from "node:fs/promises";
import type Libsql from "libsql";
import { NotAFile, requireFile } from "../data-file.ts";
import { isKnownMigration, MIGRATION_TABLE } from "./migrations.ts";
import { openDatabase } from "./sqlite.ts";

/** Why the records cannot be opened. */
export class RecordsError extends Error {
  override readonly name = "RecordsError";
  /** A remedy for it; undefined if only a backup helps. */
  readonly hint: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly hint?: string } = {}) {
    super(message, options);
    this.hint = options.hint;
  }
}

/**
 * Throws a RecordsError if the file of the records, which must exist, is damaged or of a version that we do not know.
 * Changes nothing. SQLite's integrity_check reads the whole file: 0.5 s for 100,000 lines of the audit (15 MB). quick_check
 * takes 0.1 s, but does not see that an index lacks a row.
 */
export async function checkFile(path: string, access: "r" | "r+"): Promise<void> {
  const refuse = (error: unknown): never => {
    throw unreadableFile(path, error);
  };
  const stats = await stat(path).catch(refuse);
  if (stats.isDirectory()) throw damaged(path, "it is a folder");
  if (!stats.isFile()) throw damaged(path, "it is not a file");
  await refuseOddBeside(path);
  // SQLite takes an empty file for a new database. `init` never leaves one.
  if (stats.size === 0) throw damaged(path, "it is empty");
  await open(path, access)
    .then((file) => file.close())
    .catch(refuse);
  try {
    const database = await openDatabase(path);
    try {
      const [row] = database.prepare("pragma integrity_check(1)").all([]) as { integrity_check: string }[];
      if (row?.integrity_check !== "ok") {
        throw damaged(path, row?.integrity_check.split("\n").at(-1) ?? "no answer");
      }
      checkTables(path, database);
    } finally {
      database.close();
    }
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(String(code))) throw damaged(path, message, error);
    throw error;
  }
}

/** SQLite keeps files of its own beside the records, and does not say which of them it cannot open. */
async function refuseOddBeside(path: string): Promise<void> {
  const hints = {
    "-wal":
      "put the file of that name back, or move this away to continue without it: the last changes of the records may have been in it alone",
    "-shm": "move it away: SQLite makes the file of that name again",
  };
  for (const [end, hint] of Object.entries(hints)) {
    await requireFile(`${path}${end}`).catch((error: unknown) => {
      if (error instanceof NotAFile) throw new RecordsError(error.message, { hint });
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw unreadableFile(`${path}${end}`, error);
    });
  }
}

function checkTables(path: string, database: Libsql.Database): void {
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all([]) as { name: string }[];
  // The WAL file was lost, or `init` was interrupted. New tables would hide that.
  if (tables.length === 0) throw damaged(path, "it holds no records");
  if (!tables.some(({ name }) => name === MIGRATION_TABLE)) {
    throw new RecordsError(`${path} is a database of another program`);
  }
  const migrations = database.prepare(`select name from ${MIGRATION_TABLE}`).all([]) as { name: string }[];
  if (migrations.every(({ name }) => isKnownMigration(name))) return;
  throw new RecordsError(`${path} was written by a newer version of tool`, { hint: "upgrade tool" });
}

/** Whether a change of the records failed since the disk is full. */
export const isRecordsFull = (error: unknown): boolean =>
  // The last one is PostgreSQL's.
  /^(SQLITE_FULL|ENOSPC|EDQUOT|53100)$/.test(String((error as { code?: unknown } | undefined)?.code));

const damaged = (path: string, reason: string, cause?: unknown) =>
  new RecordsError(`${path} is damaged: ${reason}`, { cause });

/** The error about a file of the data directory that the system does not allow us to open. */
export function unreadableFile(path: string, cause: unknown): RecordsError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM") {
    return new RecordsError(`${path} cannot be opened: permission denied`, {
      cause,
      hint: "run this as the user who owns it",
    });
  }
  if (code === "EROFS") {
    return new RecordsError(`${path} cannot be opened: the file system is read-only`, {
      cause,
      hint: "mount it writable, or copy the data directory to where it can be written to",
    });
  }
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new RecordsError(`${path} cannot be opened: no space left on device`, {
      cause,
      hint: "make room on its disk, then start again: nothing was lost",
    });
  }
  if (code === "ENOTDIR") {
    return new RecordsError(`${path} cannot be opened: a part of its path is not a folder`, {
      cause,
      hint: "name a path whose parts are all folders",
    });
  }
  return new RecordsError(`${path} cannot be opened: ${code ?? message}`, { cause });
}
