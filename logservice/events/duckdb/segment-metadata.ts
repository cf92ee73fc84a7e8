import type { Interval } from "../intervals.ts";

/**
 * The description that a segment has of itself, in the key-value metadata of its Parquet footer: enough to rebuild a
 * lost manifest, and to tell whether other files hold its events too.
 */
export interface SegmentMetadata {
  readonly project: string;
  /** The sequence in the name of the project's folder. */
  readonly began: number;
  readonly events: number;
  /** The events as JSON. */
  readonly eventBytes: number;
  /** Nanoseconds since 1970, as digits. */
  readonly first: string;
  readonly last: string;
  /** The last sequence. */
  readonly sequence: number;
  /**
   * The flushes that it is made of. A merge has those of all its parts; undefined if one of these was of format 1,
   * which did not know them.
   */
  readonly intervals: readonly Interval[] | undefined;
}

export const METADATA_KEY = "tool.segment";

export const printMetadata = (metadata: SegmentMetadata) => JSON.stringify({ version: 2, ...metadata });

/** Undefined if the text is not one of `printMetadata`. */
export function readMetadata(text: string): SegmentMetadata | undefined {
  try {
    const { version, ...metadata } = JSON.parse(text) as SegmentMetadata & { readonly version: number };
    return version === 2 ? metadata : undefined;
  } catch {
    return undefined;
  }
}
