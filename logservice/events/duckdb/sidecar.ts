import { crc32 } from "node:zlib";
import { type ColumnType, sqlColumnOf } from "../../../grammar/query/sql/columns.ts";
import { NotAFile, readDataFile } from "../../data-file.ts";
import { errorCode, writeDurably } from "../durable.ts";
import { minuteOf } from "../instant.ts";
import { addToSummary, emptySummary, printSummary, readSummary, type Summary } from "../summary/summary.ts";
import { type DuckDBConnection, quoted } from "./duckdb.ts";
import { clearPlace } from "./quarantine.ts";
import { summaryPath } from "./segment-files.ts";
import { TRUNCATED } from "./segment-schema.ts";

export interface FieldColumn {
  readonly path: readonly string[];
  readonly type: ColumnType;
}

/** A segment's file, as its sidecar and its filter name it: beside another one they would give wrong answers. */
export interface FileChecksum {
  readonly bytes: number;
  readonly sum: number;
}

export interface Sidecar {
  /** The types of the paths that have a column in the segment, by the JSON of the path. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly summary: Summary;
  /** Whether the segment has the column that tells which messages are cut. */
  readonly hasTruncated: boolean;
  /** Undefined in format 1. */
  readonly segment: FileChecksum | undefined;
}

/** The sidecar is not what was written, or not of this segment. */
class DamagedSidecar extends Error {
  override readonly name = "DamagedSidecar";
}

/**
 * Prints the sidecar: a line with the sum of what follows and the file that it is of, the columns, the summary, and the
 * columns that only some segments have.
 */
function printSidecar({ columns, summary, hasTruncated, segment }: SidecarParts): string {
  const more = hasTruncated ? `${JSON.stringify([TRUNCATED])}\n` : "";
  const body = `${JSON.stringify(columns.map(({ path, type }) => [path, type]))}\n${printSummary(summary)}\n${more}`;
  return `${JSON.stringify({ version: 2, sum: crc32(body), segment })}\n${body}`;
}

interface SidecarParts {
  readonly columns: readonly FieldColumn[];
  readonly summary: Summary;
  readonly hasTruncated: boolean;
  readonly segment: FileChecksum;
}

/** Writes the sidecar of a segment. */
export async function writeSidecar(path: string, parts: SidecarParts): Promise<void> {
  await clearPlace(summaryPath(path));
  await writeDurably(summaryPath(path), printSidecar(parts));
}

/** Throws DamagedSidecar if there is none, or none that can be read. */
export async function readSidecar(path: string): Promise<Sidecar> {
  try {
    return parseSidecar(path, await readDataFile(summaryPath(path), "utf8"));
  } catch (error) {
    // Whatever the reason, it is rebuilt.
    if (error instanceof DamagedSidecar) throw error;
    if (error instanceof NotAFile) throw new DamagedSidecar(error.message);
    throw new DamagedSidecar(`${summaryPath(path)}: ${errorCode(error)}`);
  }
}

/** Reads the text of the sidecar of a segment. Throws DamagedSidecar. */
export function parseSidecar(path: string, text: string): Sidecar {
  try {
    const { segment, body } = partsOf(text);
    const [columns = "", summary = "", more = ""] = body.split("\n");
    const entries = JSON.parse(columns) as [string[], ColumnType][];
    return {
      columns: new Map(entries.map(([path, type]) => [JSON.stringify(path), type])),
      summary: readSummary(summary),
      hasTruncated: more !== "" && (JSON.parse(more) as string[]).includes(TRUNCATED),
      segment,
    };
  } catch (error) {
    throw new DamagedSidecar(summaryPath(path), { cause: error });
  }
}

function partsOf(text: string): { segment: FileChecksum | undefined; body: string } {
  // Format 1 begins with the columns and has no sum.
  if (text.startsWith("[")) return { segment: undefined, body: text };
  const end = text.indexOf("\n");
  const head = JSON.parse(text.slice(0, end)) as { version: number; sum: number; segment: FileChecksum };
  const body = text.slice(end + 1);
  if (head.version !== 2 || head.sum !== crc32(body)) throw new Error("the sum is another");
  return { segment: head.segment, body };
}

/** A sidecar that was made again; if it could not be written, `error` says why. */
export interface RebuiltSidecar {
  readonly text: string;
  readonly error?: string;
}

/**
 * Rebuilds the sidecar of a segment from its rows. Throws only if these cannot be read: on a full disk, or in a folder
 * that cannot be written to, the text alone is enough to answer.
 */
export async function rebuildSidecar(
  connection: DuckDBConnection,
  path: string,
  segment: FileChecksum,
): Promise<RebuiltSidecar> {
  const from = `read_parquet(${quoted(path)})`;
  const names = (await connection.runAndReadAll(`select column_name from (describe select * from ${from})`)).getRows();
  const columns = names.flatMap(([name]) => columnNamed(String(name)));
  const hasTruncated = names.some(([name]) => name === TRUNCATED);
  const summary = emptySummary();
  const result = await connection.stream(`select t, severity::integer, fields from ${from}`);
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const [times, severities, fields] = chunk.getColumns() as [bigint[], number[], string[]];
    for (let i = 0; i < chunk.rowCount; i++)
      addToSummary(summary, minuteOf(times[i]!), severities[i]!, JSON.parse(fields[i]!) as Record<string, unknown>);
  }
  const text = printSidecar({ columns, summary, hasTruncated, segment });
  try {
    await clearPlace(summaryPath(path));
    await writeDurably(summaryPath(path), text);
    return { text };
  } catch (error) {
    return { text, error: String(error) };
  }
}

/** A column that `sqlColumnOf` named. */
function columnNamed(name: string): FieldColumn[] {
  const match = /^(string|number|boolean):(.+)$/.exec(name);
  if (match === null) return [];
  const column = { path: match[2]!.split("."), type: match[1] as ColumnType };
  return sqlColumnOf(column.path, column.type) === `"${name}"` ? [column] : [];
}
