import { containsInterval, type Interval, unionOf } from "../intervals.ts";
import type { ReadJournal } from "../journal/recovery.ts";
import type { ReplayTarget } from "../replay.ts";
import type { ProjectSegments } from "./projects.ts";
import type { Segment } from "./segment.ts";
import type { Segments } from "./segments.ts";

/** Which events of the journal are in segments already. */
export class FlushedIntervals {
  readonly #flushed: number;
  readonly #held: readonly Interval[];
  /** Whether all segments tell which flushes they hold. */
  readonly #isExact: boolean;

  constructor(segments: Segments | undefined) {
    const all = segments?.all ?? [];
    this.#flushed = segments?.flushed ?? 0;
    this.#held = unionOf(all.flatMap(({ intervals }) => intervals ?? []));
    this.#isExact = all.every(({ intervals }) => intervals !== undefined);
  }

  /**
   * The last flush alone does not tell: a segment may be lost whose batches are still in the journal, or a journal file was
   * away while later ones were flushed. At worst, expired events come back until they are deleted again.
   */
  has(interval: Interval): boolean {
    return containsInterval(this.#held, interval) || (!this.#isExact && interval[0] <= this.#flushed);
  }
}

/** The first sequence that neither segments nor the journal use. */
export function nextSequence(
  projects: Iterable<Pick<Segments, "flushed" | "began"> & { readonly all: readonly Pick<Segment, "sequence">[] }>,
  { files, suspects }: Pick<ReadJournal, "files" | "suspects">,
): number {
  let sequence = 1;
  for (const { flushed, began, all } of projects)
    sequence = Math.max(sequence, flushed + 1, began + 1, ...all.map((segment) => segment.sequence + 1));
  for (const { begin, bytes, batches } of files) {
    // The number in a name may be higher than all events in the file: of batches that waited while it was begun, or renamed.
    sequence = Math.max(sequence, bytes > 0 ? begin + 1 : begin);
    for (const { frame } of batches) sequence = Math.max(sequence, frame.sequence + Math.max(1, frame.lines));
  }
  for (const { begin } of suspects) sequence = Math.max(sequence, begin);
  // The last sequence of a missing file is not known, and the file may be put back.
  return suspects.some(({ kind }) => kind === "missing" || kind === "short") ? sequence + LOST_SEQUENCES : sequence;
}

/** More than a file of the journal has. */
const LOST_SEQUENCES = 10_000_000;

/** The facts about the segments that a replay of the journal needs. */
export function replayTarget(projects: ProjectSegments): ReplayTarget {
  const flushed = new Map<string, FlushedIntervals>();
  return {
    isFlushed(project, interval) {
      const intervals = flushed.get(project) ?? new FlushedIntervals(projects.get(project));
      flushed.set(project, intervals);
      return intervals.has(interval);
    },
    droppedBefore: (project) => projects.droppedBefore(project),
    deleteProject(project, sequence) {
      projects.deletions.set(project, sequence);
      // Segments from before the deletion, which a crash left behind.
      if ((projects.get(project)?.began ?? sequence + 1) <= sequence) projects.forget(project);
      flushed.delete(project);
    },
  };
}
