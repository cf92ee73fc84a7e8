import { requireFile } from "../../data-file.ts";
import type { Interval } from "../intervals.ts";
import { FRAME_BYTES, GENERATED_ID_BYTES } from "../journal/line.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import { quoted } from "./duckdb.ts";
import { METADATA_KEY, readMetadata, type SegmentMetadata } from "./segment-metadata.ts";

/** Looks into files that no manifest describes. Each method throws the engine's error for a file that it cannot read. */
export class Inspector {
  readonly #readers: ConnectionPool;

  constructor(readers: ConnectionPool) {
    this.#readers = readers;
  }

  /** Reads the metadata of a segment; undefined for one of format 1. */
  async metadataOf(path: string): Promise<SegmentMetadata | undefined> {
    await requireFile(path);
    const rows = await this.#rows(
      `select decode(value) from parquet_kv_metadata(${quoted(path)}) where decode(key) = ${quoted(METADATA_KEY)}`,
    );
    return rows.length === 0 ? undefined : readMetadata(String(rows[0]![0]));
  }

  /** The metadata that a segment of format 1 lacks, computed from its rows; `eventBytes` is an estimate. */
  async describe(path: string): Promise<Omit<SegmentMetadata, "project" | "began"> & { intervals: Interval[] }> {
    const from = `read_parquet(${quoted(path)})`;
    const [[events, first, last, sequence, texts] = []] = await this.#rows(
      `select count(*)::double, min(t)::varchar, max(t)::varchar, max(q)::double,
        sum(strlen(message) + strlen(fields) + strlen(level) + 24)::double from ${from}`,
    );
    const perEvent = FRAME_BYTES + GENERATED_ID_BYTES + '""'.length;
    const islands = await this.#rows(
      `select min(q)::double, max(q)::double
        from (select q, q - row_number() over (order by q) as island from ${from}) group by island order by 1`,
    );
    return {
      events: Number(events),
      eventBytes: Number(texts ?? 0) + Number(events) * perEvent,
      first: String(first ?? 0),
      last: String(last ?? 0),
      sequence: Number(sequence ?? 0),
      intervals: islands as unknown as Interval[],
    };
  }

  /** Each event of some segments by its sequence, with a hash of what it says. */
  async hashesOf(paths: readonly string[]): Promise<Map<number, bigint>> {
    if (paths.length === 0) return new Map();
    const rows = await this.#rows(
      `select q::double, hash(t, message, fields) from read_parquet([${paths.map(quoted).join(", ")}])`,
    );
    return new Map(rows as [number, bigint][]);
  }

  /** When each of some events of a segment was, and its message, by sequence. */
  async messagesOf(path: string): Promise<[sequence: number, nanoseconds: bigint, message: string][]> {
    const rows = await this.#rows(`select q::double, t, message from read_parquet(${quoted(path)})`);
    return rows as [number, bigint, string][];
  }

  /** Reads every value of a file: throws if one cannot be decoded. Says how many rows there are. */
  async decode(path: string): Promise<number> {
    const from = `read_parquet(${quoted(path)})`;
    const [[rows] = []] = await this.#rows(
      `select count(*)::double, bit_xor(hash(columns(*))) from ${from} where json_valid(fields)`,
    );
    const [[all] = []] = await this.#rows(`select count(*)::double from ${from}`);
    if (rows !== all) throw new Error(`${path}: fields that are not JSON`);
    return Number(all);
  }

  /** The engine's version. */
  async engine(): Promise<string> {
    return String((await this.#rows("select version()"))[0]![0]);
  }

  async #rows(text: string): Promise<unknown[][]> {
    const rows: unknown[][] = [];
    await this.#readers.run(text, [], new AbortController().signal, (columns) => {
      for (let i = 0; i < (columns[0]?.length ?? 0); i++) rows.push(columns.map((column) => column[i]));
    });
    return rows;
  }
}
