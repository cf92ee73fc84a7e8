import type { JournalRange } from "../../journal/journal-file.ts";

export interface SegmentFile {
  readonly path: string;
  /** Whether it has the column that tells which messages are cut. */
  readonly hasTruncated: boolean;
}

export interface SqlRequest {
  readonly text: string;
  /** The folder of the files. They are named relative to it, so that no text of the engine has a path of the service. */
  readonly folder: string;
  readonly segments: readonly SegmentFile[];
  readonly journalRanges: readonly JournalRange[];
  /** Events before it have expired; undefined if none has. */
  readonly fromMs?: number | undefined;
  /** Memory limit of the engine, as the engine counts it. */
  readonly engineBytes: number;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export type SqlAnswer =
  /** Sent once, when the process may be asked. */
  | { readonly kind: "ready" }
  /** `json` is the array of the rows. */
  | { readonly kind: "rows"; readonly json: string }
  /** `isUnread`: by its text alone, so that the process has not seen anything of it and may be asked again. */
  | { readonly kind: "refused"; readonly reason: string; readonly isUnread?: true }
  /** A failure before the statement was looked at: not the caller's fault. */
  | { readonly kind: "failed"; readonly reason: string };
