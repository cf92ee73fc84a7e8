import type { FlushTarget, Merge, SegmentFacts } from "./build.ts";
import type { FileChecksum, RebuiltSidecar } from "./sidecar.ts";

/** The jobs of the flusher, FLUSHER_JOBS at once. */
export type Job =
  | { readonly kind: "flush"; readonly journalPath: string; readonly targets: readonly FlushTarget[] }
  | (Merge & { readonly kind: "merge" })
  /** Rebuilds the summary or the filter beside a segment. The answer lists nothing as built. */
  | { readonly kind: "summary" | "filter"; readonly path: string; readonly segment: FileChecksum };

export type JobRequest = Job & { readonly number: number };

export type JobAnswer =
  | {
      readonly number: number;
      readonly built: readonly SegmentFacts[];
      /** If a summary was rebuilt. */
      readonly summary?: RebuiltSidecar | undefined;
    }
  | { readonly number: number; readonly error: string };
