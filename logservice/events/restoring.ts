import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Contents } from "./contents.ts";
import { Segments } from "./duckdb/segments.ts";
import type { RecoveredFile } from "./journal/journal.ts";
import type { SeenKeys } from "./journal/seen-keys.ts";
import { readLines } from "./lines.ts";
import { addToPart, forgetIn, type NewestPart, newPart } from "./newest.ts";
import type { Remembered } from "./remembered.ts";
import { PROJECT_NAME } from "./store.ts";

/** The segments of all projects, by name. */
export async function openProjects(folder: string): Promise<Map<string, Segments>> {
  const projects = new Map<string, Segments>();
  for (const name of await readdir(folder)) {
    const [project = "", began] = name.split("~");
    if (!PROJECT_NAME.test(project) || began === undefined) continue;
    const segments = await Segments.open(join(folder, name), Number(began));
    const other = projects.get(project);
    // Two of a name: the project was deleted and made anew, and the older folder was about to go.
    const [older, newer] = other !== undefined && other.began > segments.began ? [segments, other] : [other, segments];
    projects.set(project, newer);
    if (older !== undefined) await rm(older.directory, { recursive: true, force: true });
  }
  return projects;
}

/** The first sequence that neither segments nor the journal know. */
export function nextSequence(projects: ReadonlyMap<string, Segments>, recovered: readonly RecoveredFile[]): number {
  let sequence = 1 + Math.max(0, ...[...projects.values()].map(({ flushed, began }) => Math.max(flushed, began)));
  for (const { begin, batches } of recovered) {
    sequence = Math.max(sequence, begin);
    for (const { frame } of batches) sequence = Math.max(sequence, frame.sequence + Math.max(1, frame.lines));
  }
  return sequence;
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
  for (const [project, key, atMs] of await seenKeys.load(nowMs)) remembered.keys(project).add(key, atMs);
  for (const { batches, ...file } of recovered) {
    const part = newPart(file);
    for (const { frame, body } of batches) {
      const { project, sequence, key, isDrop } = frame;
      if (isDrop) {
        for (const one of [...parts, part]) forgetIn(one, project);
        remembered.forget(project);
        seenKeys.forget(project);
        // Segments of before the deletion, which the crash left.
        if ((contents.projects.get(project)?.began ?? sequence + 1) <= sequence) contents.forgetSegments(project);
        continue;
      }
      if (key !== undefined) {
        remembered.keys(project).add(key, frame.atMs);
        part.keys.push([project, key, frame.atMs]);
      }
      const flushed = contents.projects.get(project)?.flushed ?? 0;
      const ids = remembered.ids(project);
      const { lines, events } = readLines(project, sequence, body);
      for (const { event, hasOwnId } of events) if (hasOwnId) ids.add(event.id, nowMs);
      // A batch is in one file, and goes into segments as a whole.
      if (sequence > flushed) addToPart(part, lines);
    }
    parts.push(part);
  }
  contents.parts.unshift(...parts);
}
