import type { Contents } from "./contents.ts";
import type { Segments } from "./duckdb/segments.ts";
import { holds, type Interval, unionOf } from "./intervals.ts";
import type { ReadJournal, RecoveredFile } from "./journal/recovery.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import { readLines } from "./lines.ts";
import { addToPart, forgetIn, type NewestPart, newPart } from "./newest.ts";
import type { Remembered } from "./remembered.ts";

/** The first sequence that neither segments nor the journal know. */
export function nextSequence(
  projects: Iterable<Pick<Segments, "flushed" | "began" | "all">>,
  { files, suspects }: Pick<ReadJournal, "files" | "suspects">,
): number {
  let sequence = 1;
  for (const { flushed, began, all } of projects)
    sequence = Math.max(sequence, flushed + 1, began + 1, ...all.map((segment) => segment.sequence + 1));
  for (const { begin, batches } of files) {
    sequence = Math.max(sequence, begin);
    for (const { frame } of batches) sequence = Math.max(sequence, frame.sequence + Math.max(1, frame.lines));
  }
  for (const { begin } of suspects) sequence = Math.max(sequence, begin);
  // Nobody knows how far a file went that is gone, and it may be put back.
  return suspects.some(({ kind }) => kind === "missing" || kind === "short") ? sequence + LOST_SEQUENCES : sequence;
}

/** More than a file of the journal has. */
const LOST_SEQUENCES = 10_000_000;

/** Which events of the journal are in segments already. */
export class Flushed {
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
   * Not what came before the last flush: a segment may be lost whose batches the journal still has, or a file of the
   * journal was away while later ones became segments. At worst, events that are too old to be kept come back until
   * they are deleted again.
   */
  has(interval: Interval): boolean {
    return holds(this.#held, interval) || (!this.#isExact && interval[0] <= this.#flushed);
  }
}

/** Brings back what the journal holds and the segments do not. */
export async function restore(
  recovered: readonly RecoveredFile[],
  contents: Contents,
  remembered: Remembered,
  seenKeys: SeenKeys,
  nowMs: number,
): Promise<void> {
  const parts: NewestPart[] = [];
  const flushed = new Map<string, Flushed>();
  for (const [project, key, atMs, digest] of await seenKeys.load(nowMs))
    remembered.keys(project).add(key, atMs, digest);
  for (const { batches, path, begin } of recovered) {
    const part = newPart({ path, begin });
    for (const { frame, body } of batches) {
      const { project, sequence, lines: count, key, isDrop } = frame;
      if (isDrop) {
        for (const one of [...parts, part]) forgetIn(one, project);
        part.drops++;
        contents.drops.set(project, sequence);
        remembered.forget(project);
        seenKeys.forget(project);
        // Segments of before the deletion, which the crash left.
        if ((contents.projects.get(project)?.began ?? sequence + 1) <= sequence) contents.forgetSegments(project);
        flushed.delete(project);
        continue;
      }
      if (key !== undefined) {
        remembered.keys(project).add(key, frame.atMs, frame.digest);
        part.keys.push([project, key, frame.atMs, frame.digest ?? ""]);
      }
      // A file of before the deletion, which was put back.
      if (sequence < contents.droppedBefore(project)) continue;
      const known = flushed.get(project) ?? new Flushed(contents.projects.get(project));
      flushed.set(project, known);
      const ids = remembered.ids(project);
      const { lines, events } = readLines(project, sequence, body);
      for (const { event, hasOwnId } of events) if (hasOwnId) ids.add(event.id, nowMs);
      // A batch is in one file, and goes into segments as a whole, or by pieces that follow each other.
      if (!known.has([sequence, sequence + count - 1])) addToPart(part, lines);
    }
    parts.push(part);
  }
  contents.parts.unshift(...parts);
}
