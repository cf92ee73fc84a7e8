import type { JournalShare, SegmentFacts } from "./build.ts";

/** What the flusher is asked to do, one thing after the other. */
export type Job =
  | { readonly kind: "flush"; readonly journalPath: string; readonly shares: readonly JournalShare[] }
  | { readonly kind: "merge"; readonly paths: readonly string[]; readonly path: string; readonly events: number };

export type JobRequest = Job & { readonly number: number };

export type JobAnswer =
  | { readonly number: number; readonly built: readonly SegmentFacts[] }
  | { readonly number: number; readonly error: string };
