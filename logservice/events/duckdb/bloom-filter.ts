// A file beside a merged segment that says which texts are not in the segment: a Bloom filter for each run of rows and each
// column with many different values, such as ids and addresses. Looking up a text takes one short read.
//
// The first line is the head, a checksum and JSON. The filters follow, column by column. A filter is blocks
// of 256 bits: a text sets eight bits of one block, one in each word of 32, so that a text costs one block in each run. The
// blocks of the same number of all runs are adjacent, in a stripe with its own sum.

import { open, rename, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { readDataFile, requireFile } from "../../data-file.ts";
import { errorCode } from "../durable.ts";
import { type DuckDBConnection, quoted } from "./duckdb.ts";
import { clearPlace } from "./quarantine.ts";
import { filterPath } from "./segment-files.ts";
import { ROW_GROUP } from "./segment-schema.ts";
import type { FileChecksum } from "./sidecar.ts";

interface Head {
  readonly format: typeof FORMAT;
  /** The segment that it describes: beside another one it would exclude rows that match. */
  readonly segment: FileChecksum;
  /** Another version of the engine may hash differently. */
  readonly engine: string;
  readonly rows: number;
  /** The least and the greatest sequence of each run: generated ids are made from the sequence. */
  readonly sequences: readonly (readonly [first: number, last: number])[];
  readonly columns: readonly { readonly name: string; readonly blocks: number }[];
}

// Format 1 did not name its segment.
const FORMAT = 2;
/** Segments of fewer events are read about as fast as a filter. */
export const LEAST_FILTERED = 100_000;
/** Rows are skipped by whole row groups. */
const RUN_ROWS = ROW_GROUP;
/** About one run in a hundred is read in vain; twice as many bits would save three quarters of these reads. */
const BITS_PER_TEXT = 10;
const BLOCK_BITS = 256;
const WORDS = 8;
const WORD_BYTES = 4;
const SUM_BYTES = 4;
/** With a smaller share of different texts, most texts are in most runs. */
const LEAST_DIFFERENT = 1 / 4;
/** The name of the ids that came with their events. */
export const OWN_IDS = "id";

/** Writes the filter of a segment that is there: of its text columns with many different texts, and of its ids. */
export async function writeFilter(connection: DuckDBConnection, path: string, segment: FileChecksum): Promise<void> {
  const from = `read_parquet(${quoted(path)})`;
  const rowsOf = async (text: string) => (await connection.runAndReadAll(text)).getRows();
  const names = (await rowsOf(`select column_name from (describe select * from ${from})`))
    .map(([name]) => String(name))
    .filter((name) => name === OWN_IDS || name.startsWith("string:"));
  const countColumns = names.map((name) => `count("${name}")::double, approx_count_distinct("${name}")::double`);
  const [[rows, ...counts] = []] = (await rowsOf(
    `select count(*)::double, ${countColumns.join(", ")} from ${from}`,
  )) as [number[]];
  const sequences = await rowsOf(
    `select min(q)::double, max(q)::double from ${from} group by file_row_number // ${RUN_ROWS} order by min(file_row_number)`,
  );
  const columns = names.flatMap((name, i) => {
    const [present, different] = [counts[2 * i]!, counts[2 * i + 1]!];
    if (name !== OWN_IDS && different < present * LEAST_DIFFERENT) return [];
    const inRun = present * Math.min(1, RUN_ROWS / rows!);
    return [{ name, blocks: Math.max(1, Math.ceil((inRun * BITS_PER_TEXT) / BLOCK_BITS)) }];
  });
  const head: Head = {
    format: FORMAT,
    segment,
    engine: await versionOf(connection),
    rows: RUN_ROWS,
    sequences: sequences as [number, number][],
    columns,
  };
  const json = JSON.stringify(head);
  const content: Uint8Array[] = [Buffer.from(`${String(crc32(json)).padStart(10, "0")} ${json}\n`)];
  for (const { name, blocks } of columns)
    content.push(await stripesOf(connection, from, { name, blocks, runs: sequences.length }));
  await clearPlace(filterPath(path));
  const temporaryPath = `${filterPath(path)}.new`;
  await writeFile(temporaryPath, Buffer.concat(content), { flush: true });
  await rename(temporaryPath, filterPath(path));
}

async function stripesOf(
  connection: DuckDBConnection,
  from: string,
  { name, blocks, runs }: { name: string; blocks: number; runs: number },
): Promise<Buffer> {
  const stripeBytes = stripeBytesOf(runs);
  const stripes = Buffer.alloc(blocks * stripeBytes);
  const words = Array.from(
    { length: WORDS },
    (_, word) => `bit_or(1::ubigint << ((h >> ${shiftOf(word)}) & 31))::uinteger`,
  );
  const result = await connection.stream(
    `select (h % ${blocks})::integer as block, run, ${words.join(", ")}
      from (select hash("${name}") as h, (file_row_number // ${RUN_ROWS})::integer as run from ${from} where "${name}" is not null)
      group by block, run`,
  );
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const [block, run, ...words] = chunk.getColumns() as number[][];
    for (let i = 0; i < chunk.rowCount; i++) {
      const at = block![i]! * stripeBytes + run![i]! * WORDS * WORD_BYTES;
      words.forEach((column, word) => {
        stripes.writeUInt32LE(column[i]!, at + word * WORD_BYTES);
      });
    }
  }
  for (let at = 0; at < stripes.length; at += stripeBytes) {
    const end = at + stripeBytes - SUM_BYTES;
    stripes.writeUInt32LE(crc32(stripes.subarray(at, end)), end);
  }
  return stripes;
}

const stripeBytesOf = (runs: number) => runs * WORDS * WORD_BYTES + SUM_BYTES;
// The block is chosen by all bits, but of so few blocks that these are left.
const shiftOf = (word: number) => 24 + 5 * word;

async function versionOf(connection: DuckDBConnection): Promise<string> {
  return (await connection.runAndReadAll("select version()")).value(0, 0) as string;
}

/** A filter whose head was read. */
export interface BloomFilter {
  readonly path: string;
  readonly head: Head;
  /** Where the stripes of each column begin, by its name. */
  readonly begins: ReadonlyMap<string, { readonly at: number; readonly blocks: number }>;
}

export class DamagedFilter extends Error {
  override readonly name = "DamagedFilter";
}

/**
 * The filter beside a segment. Undefined if there is none, or one of another version or engine; throws DamagedFilter if it
 * is not what was written, or not of this segment.
 */
export async function readFilter(
  segmentPath: string,
  segment: { readonly bytes: number; readonly sum: number | undefined },
  engine: string,
): Promise<BloomFilter | undefined> {
  const path = filterPath(segmentPath);
  const bytes = await readDataFile(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new DamagedFilter(path, { cause: error });
  });
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf("\n");
  const json = bytes.toString("utf8", 11, Math.max(end, 11));
  if (end < 0 || Number(bytes.toString("latin1", 0, 10)) !== crc32(json)) throw new DamagedFilter(path);
  const head = JSON.parse(json) as Head;
  if (head.format !== FORMAT || head.engine !== engine) return undefined;
  if (head.segment.sum !== segment.sum || head.segment.bytes !== segment.bytes) throw new DamagedFilter(path);
  const begins = new Map<string, { at: number; blocks: number }>();
  let at = end + 1;
  for (const { name, blocks } of head.columns) {
    begins.set(name, { at, blocks });
    at += blocks * stripeBytesOf(head.sequences.length);
  }
  if (at !== bytes.length) throw new DamagedFilter(path);
  return { path, head, begins };
}

/** By run, whether it may hold a text of a hash; undefined for a column without a filter. Throws DamagedFilter. */
export async function lookUp(
  { path, head, begins }: BloomFilter,
  name: string,
  hashes: readonly bigint[],
): Promise<boolean[] | undefined> {
  const column = begins.get(name);
  if (column === undefined) return undefined;
  const runs = head.sequences.map(() => false);
  const stripe = Buffer.alloc(stripeBytesOf(runs.length));
  await requireFile(path);
  const handle = await open(path, "r");
  try {
    for (const hash of hashes) {
      const at = column.at + Number(hash % BigInt(column.blocks)) * stripe.length;
      const { bytesRead } = await handle.read(stripe, 0, stripe.length, at);
      const end = stripe.length - SUM_BYTES;
      if (bytesRead < stripe.length || stripe.readUInt32LE(end) !== crc32(stripe.subarray(0, end)))
        throw new DamagedFilter(path);
      for (const run of runs.keys()) {
        runs[run] ||= Array.from({ length: WORDS }, (_, word) => word).every((word) => {
          const bit = Number((hash >> BigInt(shiftOf(word))) & 31n);
          return (stripe.readUInt32LE((run * WORDS + word) * WORD_BYTES) >>> bit) & 1;
        });
      }
    }
  } finally {
    await handle.close();
  }
  return runs;
}

/** Whether the filter beside a segment is there and each of its sums is right. */
export async function isWholeFilter(path: string, segment: FileChecksum, engine: string): Promise<boolean> {
  try {
    const filter = await readFilter(path, segment, engine);
    if (filter === undefined) return false;
    const bytes = await readDataFile(filter.path);
    const stripeBytes = stripeBytesOf(filter.head.sequences.length);
    for (const { at, blocks } of filter.begins.values()) {
      for (let begin = at; begin < at + blocks * stripeBytes; begin += stripeBytes) {
        const end = begin + stripeBytes - SUM_BYTES;
        if (bytes.readUInt32LE(end) !== crc32(bytes.subarray(begin, end))) return false;
      }
    }
    return true;
  } catch (error) {
    if (error instanceof DamagedFilter) return false;
    throw error;
  }
}
