/** A part of the journal: one project's events between two sequences, of which there are so many. */
export interface JournalPiece {
  readonly path: string;
  readonly project: string;
  readonly first: number;
  readonly last: number;
  readonly events: number;
}

export interface SqlRequest {
  readonly text: string;
  readonly segments: readonly string[];
  readonly pieces: readonly JournalPiece[];
  readonly maxRows: number;
  readonly maxBytes: number;
}

export type SqlAnswer =
  /** Sent once, when the process may be asked. */
  | { readonly kind: "ready" }
  | { readonly kind: "rows"; readonly json: string }
  /** `isUnread`: by its text alone, so that the process has not seen anything of it and may be asked again. */
  | { readonly kind: "refused"; readonly reason: string; readonly isUnread?: true }
  /** What went wrong before the statement was looked at: not the caller's fault. */
  | { readonly kind: "failed"; readonly reason: string };
