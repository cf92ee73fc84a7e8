import { basename } from "node:path";
import type { ColumnType } from "../../../grammar/query/sql/columns.ts";
import type { Interval } from "../intervals.ts";
import type { Summary } from "../summary/summary.ts";
import type { SegmentFacts } from "./build.ts";
import { footerOf, type Integrity, isSame, stampOf } from "./integrity.ts";
import type { ManifestEntry } from "./manifest.ts";
import { readSidecar, type Sidecar } from "./sidecar.ts";

/** A file of events, which never changes. */
export interface Segment {
  readonly path: string;
  readonly events: number;
  /** Size of the file. */
  readonly bytes: number;
  /** Size of the Parquet footer. */
  readonly footerBytes: number;
  /** Size of its events as JSON. */
  readonly eventBytes: number;
  /** The first and last nanosecond. */
  readonly first: bigint;
  readonly last: bigint;
  /** The last sequence: segments are made of neighbours. */
  readonly sequence: number;
  /** The flushes that it is made of; undefined if one of these was of format 1. */
  readonly intervals: readonly Interval[] | undefined;
  readonly integrity: Integrity;
  /** The types of the paths that have a column, by the JSON of the path. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly summary: Summary;
  /** Whether it has the column that tells which messages are cut. */
  readonly hasTruncated: boolean;
  /** Where not all rows are asked: the first and the last number. */
  readonly rows?: readonly [first: number, last: number];
}

/** A segment turned out to be damaged or gone during a query: it counts as lost now, and the query may be run again. */
export class SegmentsLost extends Error {
  override readonly name = "SegmentsLost";
}

/** Whether a file has not changed since all of it was read; for format 1, since it was opened. */
export function isUntouched({ path, integrity }: Segment): boolean {
  try {
    return isSame(integrity.stamp, stampOf(path));
  } catch {
    return false;
  }
}

/** A segment that was just made, with what its summary says. */
export async function readSegment(
  facts: SegmentFacts,
  { eventBytes, sequence, intervals }: Pick<Segment, "eventBytes" | "sequence" | "intervals">,
): Promise<Segment> {
  const { path, integrity = { sum: undefined, footerSum: undefined, stamp: stampOf(path), checkedMs: 0 } } = facts;
  return segmentOf(
    path,
    { ...facts, eventBytes, sequence, ...(intervals && { intervals }) },
    integrity,
    await readSidecar(path),
  );
}

export async function segmentOf(
  path: string,
  { events, bytes, eventBytes, first, last, sequence, intervals }: Omit<ManifestEntry, "file" | "integrity">,
  integrity: Integrity,
  { columns, summary, hasTruncated }: Sidecar,
): Promise<Segment> {
  return {
    path,
    events,
    bytes,
    eventBytes,
    first: BigInt(first),
    last: BigInt(last),
    sequence,
    intervals,
    integrity,
    footerBytes: (await footerOf(path, bytes))?.bytes ?? 0,
    columns,
    summary,
    hasTruncated,
  };
}

export function entryOf({
  path,
  events,
  bytes,
  eventBytes,
  first,
  last,
  sequence,
  intervals,
  integrity,
}: Segment): ManifestEntry {
  return {
    file: basename(path),
    events,
    bytes,
    eventBytes,
    first: String(first),
    last: String(last),
    sequence,
    ...(intervals !== undefined && { intervals }),
    ...(integrity.sum !== undefined && { integrity }),
  };
}
