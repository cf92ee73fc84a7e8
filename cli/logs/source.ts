import type { Pipeline, PipesResult, Query, SeenFields } from "../../grammar/query/index.ts";
import type { FailedResult } from "../refused.ts";
import type { Block } from "./line-blocks.ts";
import type { OnRead, PlainFile } from "./read-files.ts";

/** Where entries come from. */
export interface EntrySource {
  /** The start of the period; undefined for no bound, as files and stdin have by default. Other logs go back a day. */
  readonly sinceMs: number | undefined;
  /** Printed once on stderr before the first entry. */
  readonly note: string | undefined;
  /** Lines come as they are written, so each batch is shown at once. */
  readonly live: boolean;
  /** Whether a limit takes the newest entries instead of the first. */
  readonly limitsToNewest: boolean;
  /**
   * The evidence that explains why nothing is found: the entries, as all of them are read here; the fields and their types,
   * which the function asks for; or only the period, as others filter.
   */
  readonly evidence: "entries" | "period" | ((signal: AbortSignal) => Promise<SeenFields>);
  /** How many entries of the period another query selects, if the source can say; undefined if it does not now. */
  count?(query: Query, signal: AbortSignal): Promise<EntryCount | undefined>;
  /** Some entries of the period, whatever the query selects, if it is others that filter them. */
  sample?(signal: AbortSignal): EntrySample;
  /** The part of the log that was not read; printed if nothing is found. */
  readonly unread?: string;
  /** A followed source that yields `CAUGHT_UP` between existing and new lines. */
  readonly saysWhenCaughtUp?: boolean;
  /** How many requests were made so far, if it is read by requests; each is told to `onRead`, with 0 bytes. */
  readonly requests?: () => number;
  /** The parts of the inputs that could not be read so far, although they did not fail; undefined if there are none. */
  missing?(): string | undefined;
  /** Whether the log is not there yet. */
  readonly isAbsent?: boolean;
  /** Size of all inputs together, if it is known. */
  readonly totalBytes: number | undefined;
  /**
   * The result of stages that make rows, if the source computes it itself; undefined if its entries have to be read for
   * that.
   */
  aggregate?(aggregation: SourceAggregation): Promise<PipesResult | undefined>;
  /** The inputs, one after another: files to open and read once, and blocks of anything else. */
  inputs(signal: AbortSignal, onRead: OnRead): AsyncIterable<SourceInput>;
}

export interface EntryCount {
  readonly count: number;
  /** Whether there may be more. */
  readonly isLeast: boolean;
}

/** The first entries of a period. */
export interface EntrySample {
  readonly blocks: AsyncIterable<Block>;
  /** Whether there are more than the blocks had, once they were read. */
  isPartial(): boolean;
}

export interface SourceAggregation {
  readonly pipeline: Pipeline;
  /** The period as it was written. */
  readonly range: { readonly fromMs: number | undefined; readonly toMs: number | undefined };
  readonly signal: AbortSignal;
}

export type SourceInput = PlainFile | AsyncIterable<Block>;

/** A source, or what is wrong with the options that name it. */
export type Chosen = { readonly ok: true; readonly source: EntrySource } | FailedResult;
