import { existsSync } from "node:fs";
import { join } from "node:path";
import { unlessDiskFull } from "../durable.ts";
import { JOURNAL_LIST } from "../journal/journal-list.ts";
import type { ProjectJournal, ReadJournal } from "../journal/recovery.ts";
import type { JournalDamage } from "../journal/repair.ts";
import type { JournalLoss } from "../loss.ts";
import type { StoreSettings } from "../settings.ts";
import { clearPlaces, findFolders, finishRemoval, planFolders } from "./find-folders.ts";
import { FlushedIntervals } from "./flushed.ts";
import type { Flusher } from "./flusher.ts";
import { FOLDER_LIST, FolderList } from "./folder-list.ts";
import { folderName } from "./folder-name.ts";
import type { FolderPlan } from "./folder-plan.ts";
import type { Inspector } from "./inspector.ts";
import { Segments } from "./segments.ts";
import { parseSidecar } from "./sidecar.ts";

/** The segments of all projects, by name, after their folders were repaired. */
export async function openProjects(
  { directory, log, clock, owner, accepted }: StoreSettings,
  journal: ReadJournal,
  inspector: Inspector,
  flusher: Flusher,
): Promise<{ folders: FolderList; segments: Map<string, Segments> }> {
  const folder = join(directory, "projects");
  const { list, isKnown, isDamaged } = await FolderList.open(directory);
  const lists = [
    { file: FOLDER_LIST, isKnown, isDamaged },
    { file: JOURNAL_LIST, ...{ isKnown: journal.list.isKnown, isDamaged: journal.list.isDamaged } },
  ];
  for (const { file, isKnown, isDamaged } of lists) {
    // Format 1 had neither.
    if (isKnown || lists.every((one) => !one.isKnown && !one.isDamaged)) continue;
    const what = isDamaged ? "damaged" : "missing";
    log("error", `a list of files is ${what}: it is rebuilt, but files that were already missing cannot be detected`, {
      file: join(directory, file),
    });
  }
  const search = { list: list.all, deletions: journal.deletions, inspector, log };
  const folders = await clearPlaces(folder, await findFolders(folder, search), log);
  for (const one of folders.removed) await finishRemoval(folder, one, list);
  // The service crashed after the folder was removed and before the list was updated. The journal still has the deletion.
  for (const [name, { project, began }] of [...list.all]) {
    if (!existsSync(join(folder, name)) && (journal.deletions.get(project) ?? -1) >= began)
      await unlessDiskFull(list.remove(name));
  }
  const options = { list: list.all, journal, inspector, nowMs: clock.nowMs(), isThorough: false };
  const projects = new Map<string, Segments>();
  const firsts = new Map<string, number | undefined>();
  for (const plan of await planFolders(folder, folders, options)) {
    if (isKnown && isUnused(plan)) firsts.set(plan.project, firstOf(journal.projectJournal(plan.project)));
    const rebuild = async (path: string, { bytes, sum }: { bytes: number; sum: number | undefined }) => {
      const { text, error } = await flusher.rebuildSummary(path, { bytes, sum: sum! });
      return { sidecar: parseSidecar(path, text), error };
    };
    projects.set(plan.project, await Segments.open(plan, { log, nowMs: () => clock.nowMs(), accepted }, rebuild));
  }
  // By the name that each ought to have: notes of what it holds go by that one, whatever it is called.
  const claimed = folders.claimed.map((one) => ({
    ...one,
    folder: folderName(one),
    // A crash may have come after the folder was made and before it was listed.
    first: firsts.get(one.project),
  }));
  const noted = list.add(claimed).then(() => (owner === undefined ? undefined : list.setOwner(owner)));
  // Reading still works; the next folder that is made needs the list.
  await unlessDiskFull(noted);
  return { folders: list, segments: projects };
}

/** Whether no segment was ever named in the folder. */
const isUnused = ({ manifest, segments, losses, flushed }: FolderPlan) =>
  (manifest === "whole" || manifest === "new") && segments.length + losses.length + flushed === 0;

/** The sequence of a project's first event, if the journal has all of its events. */
const firstOf = ({ wholeSince, intervals }: ProjectJournal) =>
  wholeSince === undefined ? undefined : intervals[0]?.[0];

/** Returns what segments know of batches that the journal does not have. */
export function flushedBatches(projects: ReadonlyMap<string, Segments>) {
  const flushed = Math.max(0, ...[...projects.values()].map((one) => one.flushed));
  return {
    flushed,
    isHeld(project: string, interval: readonly [number, number]) {
      return new FlushedIntervals(projects.get(project)).has(interval);
    },
  };
}

export function logJournalDamage(
  { log, accepted }: Pick<StoreSettings, "log" | "accepted">,
  { tornBytes, quarantined }: JournalDamage,
  losses: readonly JournalLoss[],
): void {
  if (tornBytes > 0) log("warn", "removed a torn batch from the end of the journal", { bytes: tornBytes });
  for (const path of quarantined)
    log("error", "a damaged journal file is quarantined; its intact batches were recovered", { path });
  // At each start until it is accepted: a log is not read every day.
  for (const { id, file, reason, isPossible } of losses) {
    if (accepted.has(id)) continue;
    if (isPossible) log("error", `events may be missing: ${reason}`, { loss: id });
    else log("error", `events are missing: a journal file ${reason}`, { file, loss: id });
  }
}
