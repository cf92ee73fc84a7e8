import type { JournalShare, Merge, SegmentFacts } from "./build.ts";

/** What the flusher is asked to do, FLUSHER_JOBS at once. */
export type Job =
  | { readonly kind: "flush"; readonly journalPath: string; readonly shares: readonly JournalShare[] }
  | (Merge & { readonly kind: "merge" });

export type JobRequest = Job & { readonly number: number };

export type JobAnswer =
  | { readonly number: number; readonly built: readonly SegmentFacts[] }
  | { readonly number: number; readonly error: string };
