import { readDataFile } from "../../data-file.ts";
import { readFrames } from "../journal/frame.ts";
import type { JournalRange } from "../journal/journal-file.ts";
import { eachLine, type LineMembers } from "../journal/line.ts";
import { type DuckDBConnection, quoted } from "./duckdb.ts";
import { TRUNCATED } from "./segment-schema.ts";

/** The message of the error of a flush if its file is not as it was written. */
export const DAMAGED_JOURNAL = "a file of the journal is damaged";

/** Loads a range of a journal file, which may still be appended to, into a table with the columns of segments. */
export async function loadJournalRange(
  connection: DuckDBConnection,
  { path, project, first, last, events: count }: JournalRange,
  table: string,
): Promise<void> {
  let whole = 0;
  for (const result of readFrames(await readDataFile(path))) {
    if (!("whole" in result)) continue;
    const { frame } = result.whole;
    if (frame.project === project && frame.sequence >= first && frame.sequence <= last) whole += frame.lines;
  }
  if (whole < count) throw new Error(`${DAMAGED_JOURNAL}: ${path}`);
  await loadLines(connection, path);
  const select = rowsOf(`lines where p = ${quoted(project)} and q between ${first} and ${last}`);
  if ((await countOf(connection, select)) !== count) await insertRowByRow(connection, path);
  await connection.run(`insert into ${table} ${select}`);
  await connection.run("drop table lines");
}

/** Loads the lines of a whole journal file into a temporary table. */
export async function loadLines(connection: DuckDBConnection, journalPath: string): Promise<void> {
  const entries = Object.entries(LINE);
  await connection.run(
    `create or replace temp table lines (${entries.map(([name, type]) => `${name} ${type}`).join(", ")})`,
  );
  const columns = `{${entries.map(([name, type]) => `${name}: '${type}'`).join(", ")}}`;
  await connection.run(
    `insert into lines select * from read_json(${quoted(journalPath)}, format = 'newline_delimited',
      ignore_errors = true, maximum_object_size = ${MAX_LINE_BYTES}, columns = ${columns}) where q is not null`,
  );
}

const LINE = {
  q: "BIGINT",
  p: "VARCHAR",
  t: "BIGINT",
  i: "VARCHAR",
  s: "VARCHAR",
  l: "VARCHAR",
  v: "UTINYINT",
  x: "BOOLEAN",
  m: "VARCHAR",
  f: "JSON",
} satisfies Record<keyof LineMembers, string>;

// An event is at most 256 KiB, an escape at most six times its character, and DuckDB reads by buffers of this size.
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Lines as the rows of a segment. */
export const rowsOf = (from: string) =>
  `select q, t, i as id, s as timestamp, l as level, v as severity, m as message, f::varchar as fields,
    x as ${TRUNCATED} from ${from}`;

export async function countOf(connection: DuckDBConnection, select: string): Promise<number> {
  const reader = await connection.runAndReadAll(`select count(*)::double from (${select})`);
  return reader.value(0, 0) as number;
}

/** Loads the lines again, without the parser of DuckDB. */
export async function insertRowByRow(connection: DuckDBConnection, journalPath: string): Promise<void> {
  await connection.run("delete from lines");
  const insert = await connection.prepare("insert into lines values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const result of readFrames(await readDataFile(journalPath))) {
    if (!("whole" in result)) continue;
    for (const { q, p, nanoseconds, i, s, l, v, x, m, f } of eachLine(result.whole.body)) {
      insert.bindBigInt(1, BigInt(q));
      insert.bindVarchar(2, p);
      insert.bindBigInt(3, BigInt(nanoseconds));
      for (const [place, text] of [
        [4, i],
        [5, s],
      ] as const) {
        if (text === undefined) insert.bindNull(place);
        else insert.bindVarchar(place, text);
      }
      insert.bindVarchar(6, l);
      insert.bindInteger(7, v);
      if (x === undefined) insert.bindNull(8);
      else insert.bindBoolean(8, x);
      insert.bindVarchar(9, m);
      insert.bindVarchar(10, JSON.stringify(f));
      await insert.run();
    }
  }
}
