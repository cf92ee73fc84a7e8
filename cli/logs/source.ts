import type { Block } from "./line-blocks.ts";
import type { OnRead, PlainFile } from "./read-files.ts";

/** Where entries come from. */
export interface Source {
  /** The time asked for. Without one the development log goes back a day; other inputs have no bound. */
  readonly sinceMs: number | undefined;
  /** Said once on stderr before the first entry. */
  readonly note: string | undefined;
  /** Lines come while time passes: each batch is shown at once. */
  readonly live: boolean;
  /** A limit takes the newest entries, and not the first. */
  readonly limitsToNewest: boolean;
  /**
   * How it is known what there is if nothing is found: by the entries that are read here, by fields that are asked for, or
   * not at all, as others have left out what does not match.
   */
  readonly known: "entries" | "period" | ((signal: AbortSignal) => Promise<readonly string[]>);
  /** What was not read, said where nothing is found. */
  readonly unread?: string;
  /** It is followed, and `CAUGHT_UP` stands between what was there and what comes. */
  readonly saysWhenCaughtUp?: boolean;
  /** Of all inputs together, as far as known. */
  readonly totalBytes: number | undefined;
  /** One behind the other: files that are read once, to be opened by whoever reads them, and blocks of anything else. */
  inputs(signal: AbortSignal, onRead: OnRead): AsyncIterable<Input>;
}

export type Input = PlainFile | AsyncIterable<Block>;

/** A source, or what is wrong with the words that name it. */
export type Chosen =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly message: string; readonly hint?: string };
