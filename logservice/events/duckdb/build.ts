import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { canBeColumn, sqlColumnOf } from "../../../grammar/query/sql/columns.ts";
import type { Clock } from "../../../grammar/units/clock.ts";
import { syncDirectory } from "../durable.ts";
import type { Interval } from "../intervals.ts";
import { isWholeJournal } from "../journal/check-file.ts";
import { type Summarized, summarizeJournal } from "../summary/summarize.ts";
import { allFields, mergeSummaries, type Summary } from "../summary/summary.ts";
import { type DuckDBConnection, quoted } from "./duckdb.ts";
import { checksumOfFile, footerOf, type Integrity, stampOf } from "./integrity.ts";
import { countOf, DAMAGED_JOURNAL, insertRowByRow, loadLines, rowsOf } from "./load-lines.ts";
import { METADATA_KEY, printMetadata, type SegmentMetadata } from "./segment-metadata.ts";
import { FIXED, NEWEST_ROW_GROUP, ROW_GROUP, TRUNCATED } from "./segment-schema.ts";
import { type FieldColumn, parseSidecar, readSidecar, rebuildSidecar, type Sidecar, writeSidecar } from "./sidecar.ts";

export interface SegmentFacts {
  readonly path: string;
  readonly events: number;
  /** Size of the file. */
  readonly bytes: number;
  /** Nanoseconds since 1970, as digits. */
  readonly first: string;
  readonly last: string;
  /** The bytes as they were written; absent for a file that has not been read yet. */
  readonly integrity?: Integrity;
}

/** One project's events of a journal file between two sequences; those before may belong to a deleted namesake. */
export interface FlushTarget {
  readonly project: string;
  /** The sequence in the name of the project's folder. */
  readonly began: number;
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** The events as JSON. */
  readonly eventBytes: number;
  /** Path of the segment. The summary is written next to it. */
  readonly path: string;
}

/** Makes a segment of each target of a journal file. */
export async function buildFromJournal(
  connection: DuckDBConnection,
  journalPath: string,
  targets: readonly FlushTarget[],
  clock: Clock,
): Promise<SegmentFacts[]> {
  // The file is not read again after its events are in a segment.
  if (!(await isWholeJournal(journalPath))) throw new Error(`${DAMAGED_JOURNAL}: ${journalPath}`);
  try {
    const summarized = await summarizeJournal(journalPath, targets);
    await loadLines(connection, journalPath);
    const built: SegmentFacts[] = [];
    let isRedone = false;
    for (const [i, target] of targets.entries()) {
      const { project, began, first, last, eventBytes } = target;
      const select = rowsOf(`lines where p = ${quoted(project)} and q between ${first} and ${last}`);
      if (!isRedone && (await countOf(connection, select)) !== target.events) {
        // One line that DuckDB cannot read is left out, and may take others with it: each by itself, then.
        await insertRowByRow(connection, journalPath);
        isRedone = true;
      }
      const origin = { project, began, eventBytes, sequence: last, intervals: [[first, last]] as const };
      const hasTruncated = (await countOf(connection, `${select} and x`)) > 0;
      const form = { clock, rowGroup: NEWEST_ROW_GROUP, isSorted: false, hasTruncated, origin };
      const order = { ...form, select, path: target.path, events: target.events };
      built.push(await build(connection, order, summarized[i]!));
    }
    return built;
  } finally {
    await connection.run("drop table if exists lines");
  }
}

/** Makes one segment of several. `isSorted`: read one after the other they have the order of a segment. */
export async function buildFromSegments(
  connection: DuckDBConnection,
  { inputs, path, events: count, isSorted, origin }: Merge,
  clock: Clock,
): Promise<SegmentFacts> {
  // Damaged data would look whole in the merged segment, with a checksum of its own.
  for (const { path, sum } of inputs) {
    if (sum !== undefined && (await checksumOfFile(path)) !== sum) throw new Error(`${DAMAGED_INPUT}: ${path}`);
  }
  const sidecars = await Promise.all(inputs.map((input) => sidecarOf(connection, input)));
  const hasTruncated = sidecars.some((sidecar) => sidecar.hasTruncated);
  const byName = hasTruncated ? ", union_by_name = true" : "";
  const from = `read_parquet([${inputs.map(({ path }) => quoted(path)).join(", ")}]${byName})`;
  const times = await connection.runAndReadAll(`select min(t)::varchar, max(t)::varchar from ${from}`);
  const [first = "0", last = "0"] = times.getRows()[0] as string[];
  const summary = mergeSummaries(sidecars.map((sidecar) => sidecar.summary));
  const select = `select ${FIXED}${hasTruncated ? `, ${TRUNCATED}` : ""} from ${from}`;
  const form = { clock, rowGroup: ROW_GROUP, isSorted, hasTruncated, origin };
  return build(connection, { ...form, select, path, events: count }, { summary, first, last });
}

/** The message of the error of a merge if one of the segments that it reads is not as it was written. */
export const DAMAGED_INPUT = "a segment to be merged is damaged";

async function sidecarOf(connection: DuckDBConnection, { path, bytes, sum }: MergeInput): Promise<Sidecar> {
  try {
    const sidecar = await readSidecar(path);
    const { segment } = sidecar;
    if (segment === undefined || sum === undefined || segment.sum === sum) return sidecar;
  } catch {
    // Made again below.
  }
  const { text } = await rebuildSidecar(connection, path, { bytes, sum: sum ?? (await checksumOfFile(path)) });
  return parseSidecar(path, text);
}

export interface MergeInput {
  readonly path: string;
  readonly bytes: number;
  /** Undefined if it is not known yet. */
  readonly sum: number | undefined;
}

export interface Merge {
  readonly inputs: readonly MergeInput[];
  readonly path: string;
  readonly events: number;
  readonly isSorted: boolean;
  readonly origin: Origin;
}

/** The metadata of a segment, except for what is known only when it is written. */
export type Origin = Pick<SegmentMetadata, "project" | "began" | "eventBytes" | "sequence"> & {
  readonly intervals: readonly Interval[] | undefined;
};

/** A segment to be written. */
interface SegmentOrder {
  /** Gives its rows. */
  readonly select: string;
  readonly path: string;
  readonly events: number;
  readonly rowGroup: number;
  readonly isSorted: boolean;
  readonly hasTruncated: boolean;
  readonly origin: Origin;
  /** Dates its checksum. */
  readonly clock: Clock;
}

/** Writes and syncs a temporary file, then gives both files their names: the summary first, so each segment has one. */
async function build(
  connection: DuckDBConnection,
  { select, path, events: count, rowGroup, isSorted, hasTruncated, origin, clock }: SegmentOrder,
  { summary, first, last }: Summarized,
): Promise<SegmentFacts> {
  if (summary.events !== count) throw new Error(`${path}: has ${summary.events} events where ${count} were accepted`);
  const columns = columnsOf(summary);
  const typed = columns.map(({ path, type }) => `${readFrom(path)} as ${sqlColumnOf(path, type)}`);
  // Sorted while the rows are narrow: with their typed columns that takes a third more of all the time.
  const sorted = isSorted ? `(${select})` : `(${select} order by t desc, q desc)`;
  const source =
    typed.length === 0 ? sorted : `(select *, from_json(fields, ${quoted(shapeOf(columns))}) as shape from ${sorted})`;
  const temporaryPath = `${path}.new`;
  const metadata = printMetadata({ ...origin, events: count, first, last });
  await connection.run(
    `copy (select ${[FIXED, ...(hasTruncated ? [TRUNCATED] : []), ...typed].join(", ")} from ${source}) to ${quoted(temporaryPath)}
      (format parquet, compression zstd, compression_level 1, parquet_version v2, row_group_size ${rowGroup},
        use_tmp_file false, kv_metadata {${quoted(METADATA_KEY)}: ${quoted(metadata)}})`,
  );
  const rowCount = await countOf(connection, `select 1 from read_parquet(${quoted(temporaryPath)})`);
  if (rowCount !== count) throw new Error(`${path}: ${rowCount} of ${count} events were written`);
  await sync(temporaryPath);
  const integrity = await integrityOf(temporaryPath, clock.nowMs());
  const bytes = integrity.stamp.size;
  await writeSidecar(path, { columns, summary, hasTruncated, segment: { bytes, sum: integrity.sum } });
  await rename(temporaryPath, path);
  await syncDirectory(dirname(path));
  return { path, events: count, bytes, first, last, integrity };
}

async function integrityOf(path: string, checkedMs: number) {
  const stamp = stampOf(path)!;
  const footer = await footerOf(path, stamp.size);
  if (footer === undefined) throw new Error(`${path} has no footer`);
  return { sum: await checksumOfFile(path), footerSum: footer.sum, stamp, checkedMs };
}

/** Frequent paths whose values are all of one type. */
function columnsOf(summary: Summary): FieldColumn[] {
  // Fields that were not counted may be of any type, and of any case.
  if (summary.isCut) return [];
  // DuckDB's names know no case: of two that differ in nothing else neither gets a column, at any depth of the path.
  const fields = [...allFields(summary).values()];
  const spelled = new Map<string, Set<string>>();
  for (const { path } of fields) {
    for (const name of prefixes(path)) {
      const all = spelled.get(name.toLowerCase()) ?? new Set();
      spelled.set(name.toLowerCase(), all.add(name));
    }
  }
  // Some events have an object where others have a value: as a column the object would be missing.
  const objects = new Set(fields.flatMap(({ path }) => prefixes(path).slice(0, -1)));
  return fields
    .filter(({ path }) => !objects.has(JSON.stringify(path)))
    .filter(({ present }) => present * LEAST_SHARE >= summary.events)
    .flatMap((field): (FieldColumn & { present: number })[] => {
      const { path, present, plain } = field;
      const type = (["string", "number", "boolean"] as const).find((type) => field[type] === present);
      const isWhole = plain === present && type !== undefined && canBeColumn(path);
      return isWhole && prefixes(path).every((name) => spelled.get(name.toLowerCase())?.size === 1)
        ? [{ path, type, present }]
        : [];
    })
    .sort((a, b) => b.present - a.present)
    .slice(0, MAX_COLUMNS);
}

// A path in fewer than a hundredth of the events is read from the JSON: most row groups skip nothing for it either way.
const LEAST_SHARE = 100;
const MAX_COLUMNS = 100;

const prefixes = (path: readonly string[]) => path.map((_, i) => JSON.stringify(path.slice(0, i + 1)));

const readFrom = (path: readonly string[]) => ["shape", ...path.map((key) => `"${key}"`)].join(".");

const SQL_TYPES = { string: "VARCHAR", number: "DOUBLE", boolean: "BOOLEAN" };

/** The structure that from_json reads, all paths in one pass over the text. */
function shapeOf(columns: readonly FieldColumn[]): string {
  const shape: Shape = Object.create(null);
  for (const { path, type } of columns) {
    let at = shape;
    for (const key of path.slice(0, -1)) {
      at[key] ??= Object.create(null) as Shape;
      at = at[key] as Shape;
    }
    at[path.at(-1)!] = SQL_TYPES[type];
  }
  return JSON.stringify(shape);
}

interface Shape {
  [key: string]: Shape | string;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
