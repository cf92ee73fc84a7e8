import type { Dedup } from "./dedup.ts";
import type { Interval } from "./intervals.ts";
import { decodeBatch } from "./journal/batch-lines.ts";
import type { RecoveredFile } from "./journal/recovery.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import { Memtable } from "./memtable.ts";
import type { Memtables } from "./memtables.ts";

/** The engine's storage of the events of projects, as a replay needs it. */
export interface ReplayTarget {
  /** Whether all events of a batch are in storage. */
  isFlushed(project: string, interval: Interval): boolean;
  /** Sequence of the deletion after which a project started again; 0 if none is known. */
  droppedBefore(project: string): number;
  /** Hides what a project had before its deletion. */
  deleteProject(project: string, sequence: number): void;
}

interface Replay {
  readonly files: readonly RecoveredFile[];
  readonly memtables: Memtables;
  readonly dedup: Dedup;
  readonly seenKeys: SeenKeys;
  readonly target: ReplayTarget;
  readonly nowMs: number;
}

/** Restores memtables from the journal, without the events that are in storage already. */
export async function replayJournal({ files, memtables, dedup, seenKeys, target, nowMs }: Replay): Promise<void> {
  const replayed: Memtable[] = [];
  for (const [project, key, atMs, digest] of await seenKeys.load(nowMs)) dedup.keys(project).add(key, atMs, digest);
  for (const { batches, path, begin } of files) {
    const memtable = new Memtable({ path, begin }, memtables.columnBudget);
    for (const { frame, body } of batches) {
      const { project, sequence, lines: count, key, isDeletion } = frame;
      if (isDeletion) {
        for (const one of [...replayed, memtable]) one.forget(project);
        memtable.deletions.push({ project, sequence });
        dedup.forget(project);
        seenKeys.forget(project);
        target.deleteProject(project, sequence);
        continue;
      }
      if (key !== undefined) {
        dedup.keys(project).add(key, frame.atMs, frame.digest);
        memtable.keys.push([project, key, frame.atMs, frame.digest ?? ""]);
      }
      // A file from before the deletion, which was put back.
      if (sequence < target.droppedBefore(project)) continue;
      const ids = dedup.ids(project);
      const { lines, events } = decodeBatch(project, sequence, body);
      for (const { event, hasOwnId } of events) if (hasOwnId) ids.add(event.id, nowMs);
      // A batch is in one file, and is flushed as a whole, or in ranges without a gap.
      if (!target.isFlushed(project, [sequence, sequence + count - 1])) memtable.add(lines);
    }
    replayed.push(memtable);
  }
  memtables.all.unshift(...replayed);
}
