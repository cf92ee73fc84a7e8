import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, syncDirectory, unlessDiskFull, unlessGone } from "../durable.ts";
import type { ReadJournal } from "../journal/recovery.ts";
import type { Log } from "../settings.ts";
import { FolderList, type ListedFolder } from "./folder-list.ts";
import { FOLDER_NAME, type FolderIdentity, folderName, parseFolderName } from "./folder-name.ts";
import { type FolderPlan, type PlanOptions, planFolder } from "./folder-plan.ts";
import type { Inspector } from "./inspector.ts";
import { stampOf } from "./integrity.ts";
import { REMOVED, readManifest } from "./manifest.ts";
import { SEGMENT_NAME } from "./segment-files.ts";

export interface FoundFolders {
  /** The folder of each project. */
  readonly claimed: readonly (FolderIdentity & { readonly folder: string })[];
  /** Folders of deleted projects. */
  readonly removed: readonly (FolderIdentity & { readonly folder: string })[];
  /** Listed, and not there. */
  readonly missing: readonly (FolderIdentity & { readonly folder: string })[];
}

interface FolderSearch {
  readonly list: ReadonlyMap<string, FolderIdentity>;
  /** Sequence of each project's last deletion in the journal. */
  readonly deletions: ReadonlyMap<string, number>;
  readonly inspector: Inspector;
  readonly log: Log;
}

/**
 * Which folder is whose. The manifest of a folder tells more than its name: a folder that was renamed, or put in
 * another's place, is found by it; a copy beside the folder that it was made of is left alone.
 */
export async function findFolders(
  directory: string,
  { list, deletions, inspector, log }: FolderSearch,
): Promise<FoundFolders> {
  const removed: (FolderIdentity & { folder: string; isMarked: boolean })[] = [];
  const claimants = new Map<string, (FolderIdentity & { folder: string })[]>();
  const ignore = (folder: string, reason: string) =>
    log("warn", `a folder ${reason}: nothing in it is read`, { folder: join(directory, folder) });
  const isDeleted = ({ project, began }: FolderIdentity) => (deletions.get(project) ?? -1) >= began;
  const isOtherListed = (folder: string, { project }: FolderIdentity) =>
    !list.has(folder) && [...list.values()].some((one) => one.project === project && !isDeleted(one));
  for (const folder of (await readdir(directory)).sort()) {
    const parsedName = parseFolderName(folder);
    if (parsedName === undefined) {
      ignore(folder, "is not named as the store names them");
      continue;
    }
    const { isProven, ...identity } = await identityIn(join(directory, folder), parsedName, inspector);
    const isMarked = isMarkedRemoved(join(directory, folder));
    if (isMarked || isDeleted(identity)) removed.push({ folder, ...identity, isMarked });
    // It must not stand for the listed folder of its project: that may be gone.
    else if (!isProven && isOtherListed(folder, identity)) ignore(folder, "has nothing that says whose it is");
    else {
      const name = folderName(identity);
      claimants.set(name, [...(claimants.get(name) ?? []), { folder, ...identity }]);
    }
  }
  const claims: (FolderIdentity & { folder: string })[] = [];
  for (const [name, all] of claimants) {
    const [claim, ...copies] = all.length === 1 ? all : await newestFirst(directory, all);
    for (const { folder } of copies) ignore(folder, `is a copy of ${name}`);
    claims.push(claim!);
    if (claim!.folder === name) continue;
    log("warn", "a folder was renamed; it is read as the project that its files name", {
      folder: join(directory, claim!.folder),
      project: claim!.project,
    });
  }
  const claimed = newestOfEach(claims, list, (folder) => ignore(folder, "is an older one of its project"));
  const removedNames = new Set(removed.map(folderName));
  const isThere = (one: FolderIdentity) =>
    // A project starts again only after it was deleted with all earlier events.
    claimed.some(({ project, began }) => project === one.project && began >= one.began) || isDeleted(one);
  // Where another project's folder is gone, what has come there is looked at as what is left of that one.
  const isInPlace = ({ folder, isMarked, ...identity }: (typeof removed)[number]) => {
    const listed = list.get(folder);
    return !isMarked && listed !== undefined && folderName(identity) !== folder && !isThere(listed);
  };
  const left = removed.filter(isInPlace);
  for (const { folder } of left) ignore(folder, "of a deleted project is in the place of another one");
  const notThere = [...list]
    .map(([folder, identity]) => ({ folder, ...identity }))
    .filter((one) => !isThere(one) && !removedNames.has(one.folder));
  const missing = newestOfEach(notThere, list, () => {});
  const isOutdated = ({ project }: FolderIdentity) => missing.some((one) => one.project === project);
  for (const { folder } of claimed.filter(isOutdated)) ignore(folder, "is an older one of its project");
  return {
    claimed: claimed.filter((one) => !isOutdated(one)),
    removed: removed.filter((one) => !left.includes(one)),
    missing,
  };
}

/**
 * Gives folders that are in the place of a missing one their own names back, so that the place is free. Those whose own
 * name is taken stay where they are.
 */
export async function clearPlaces(directory: string, folders: FoundFolders, log: Log): Promise<FoundFolders> {
  const places = new Set(folders.missing.map(({ folder }) => folder));
  const claimed: (FolderIdentity & { readonly folder: string })[] = [];
  for (const one of folders.claimed) {
    const name = folderName(one);
    const [from, to] = [join(directory, one.folder), join(directory, name)];
    if (!places.has(one.folder) || stampOf(to) !== undefined) {
      claimed.push(one);
      continue;
    }
    try {
      await rename(from, to);
      await syncDirectory(directory);
      claimed.push({ ...one, folder: name });
    } catch (error) {
      log("error", "a folder in the place of another one could not be renamed", { folder: from, error: String(error) });
      claimed.push(one);
    }
  }
  return { ...folders, claimed };
}

/**
 * Whose folder it is: the manifest says it, unless it is lost, or what it names is not there and the folder has other
 * segments: then these say it. If nothing does, the name is all that there is.
 */
async function identityIn(
  folder: string,
  parsedName: FolderIdentity,
  inspector: Inspector,
): Promise<FolderIdentity & { readonly isProven: boolean }> {
  const read = await readManifest(folder, parsedName);
  const isOwn =
    read.kind !== "lost" && read.manifest.project === parsedName.project && read.manifest.began === parsedName.began;
  if (isOwn) return { ...parsedName, isProven: true };
  const names: string[] = await readdir(folder).catch(() => []);
  const segments = names.filter((name) => SEGMENT_NAME.test(name));
  const isBelieved =
    read.kind !== "lost" && (segments.length === 0 || read.manifest.segments.some(({ file }) => names.includes(file)));
  if (isBelieved) return { project: read.manifest.project, began: read.manifest.began, isProven: true };
  for (const name of segments) {
    const metadata = await inspector.metadataOf(join(folder, name)).catch(() => undefined);
    if (metadata !== undefined) return { project: metadata.project, began: metadata.began, isProven: true };
  }
  return { ...parsedName, isProven: false };
}

/**
 * Sorts a folder and the copies of it. One that has had events since has sequences beyond all that the others have. Only those of
 * files that are there count before others: a copy that was not finished has the manifest, and not all that it names. Among equal
 * ones the whole one is first, then that with the folder's own name.
 */
async function newestFirst<Folder extends FolderIdentity & { readonly folder: string }>(
  directory: string,
  folders: readonly Folder[],
): Promise<Folder[]> {
  const ranks = new Map<Folder, readonly number[]>();
  for (const one of folders)
    ranks.set(one, [...(await rankOf(directory, one)), Number(folderName(one) === one.folder)]);
  const compare = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((value, i) => value !== b[i]);
    return at === -1 ? 0 : b[at]! > a[at]! ? 1 : -1;
  };
  return folders.toSorted((a, b) => compare(ranks.get(a)!, ranks.get(b)!));
}

/** The numbers by which a folder is compared with its copies, the most important one first. */
async function rankOf(
  directory: string,
  one: FolderIdentity & { readonly folder: string },
): Promise<readonly number[]> {
  const folder = join(directory, one.folder);
  const names = await namesIn(folder);
  // It may be read again later: events that go to a copy until then would make that the newest one.
  if (names === undefined) return [Number.POSITIVE_INFINITY, 0, 0];
  const read = await readManifest(folder, one);
  // A manifest that came from another project's folder counts nothing.
  const isOwn = read.kind !== "lost" && read.manifest.project === one.project && read.manifest.began === one.began;
  const [flushed, named] = isOwn ? [read.manifest.flushed, read.manifest.segments] : [0, []];
  const missing = named.filter(({ file }) => !names.has(file)).length;
  const sequences = [...names].flatMap(
    (name) => SEGMENT_NAME.exec(name)?.slice(1, 3).map(Number).filter(Number.isFinite) ?? [],
  );
  return [Math.max(missing === 0 ? flushed : 0, ...sequences), flushed, -missing];
}

/** The names in a folder, none if there is no folder; undefined if it cannot be read. */
async function namesIn(folder: string): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set(await readdir(folder));
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(errorCode(error)) ? new Set() : undefined;
  }
}

/** Chooses among several folders of a project: the listed one, then the newest. */
function newestOfEach<Folder extends FolderIdentity & { readonly folder: string }>(
  folders: readonly Folder[],
  list: ReadonlyMap<string, FolderIdentity>,
  ignore: (folder: string) => void,
): Folder[] {
  const newest = new Map<string, Folder>();
  const isBetter = (a: Folder, b: Folder) => {
    const [isListed, isOther] = [list.has(folderName(a)), list.has(folderName(b))];
    return isListed === isOther ? a.began > b.began : isListed;
  };
  for (const one of folders) {
    const other = newest.get(one.project);
    if (other !== undefined) ignore((isBetter(one, other) ? other : one).folder);
    if (other === undefined || isBetter(one, other)) newest.set(one.project, one);
  }
  return [...newest.values()];
}

function isMarkedRemoved(folder: string): boolean {
  try {
    return stampOf(join(folder, REMOVED)) !== undefined;
  } catch {
    return false;
  }
}

/** The events belong to another installation: its projects are unknown here, and the own events would be missing. */
export class ForeignEvents extends Error {
  override readonly name = "ForeignEvents";

  constructor(directory: string) {
    super(
      `${directory} has the events of another log service: put its own back, or the records that belong to these events`,
    );
  }
}

/** Refuses a directory that a newer version wrote, or of another installation, before anything of it is changed. */
export async function refuseOthers(directory: string, owner: string | undefined): Promise<void> {
  const { list } = await FolderList.open(directory);
  if (owner !== undefined && list.owner !== undefined && list.owner !== owner) throw new ForeignEvents(directory);
  const projects = join(directory, "projects");
  for (const folder of (await unlessGone(readdir(projects))) ?? []) {
    if (FOLDER_NAME.test(folder)) await readManifest(join(projects, folder), { project: "", began: 0 });
  }
}

/** Finishes the removal of a deleted project's folder, wherever it is. */
export async function finishRemoval(
  directory: string,
  { folder, ...identity }: FolderIdentity & { readonly folder: string },
  list: FolderList,
): Promise<void> {
  await rm(join(directory, folder), { recursive: true, force: true, maxRetries: 5 });
  await syncDirectory(directory);
  // Until the list is written, the journal has the deletion.
  await unlessDiskFull(list.remove(folderName(identity)));
}

interface FoldersToPlan extends Pick<PlanOptions, "inspector" | "nowMs" | "isThorough"> {
  readonly list: ReadonlyMap<string, ListedFolder>;
  readonly journal: Pick<ReadJournal, "projectJournal">;
}

/** Plans what to do with each of the folders, from the files that it holds. */
export async function planFolders(
  directory: string,
  { claimed, missing }: FoundFolders,
  { list, journal, ...options }: FoldersToPlan,
): Promise<FolderPlan[]> {
  const plans: FolderPlan[] = [];
  const ownerNames = new Map(claimed.map((one) => [one.folder, folderName(one)]));
  for (const [{ folder, project, began }, isMissing] of [
    ...claimed.map((one) => [one, false] as const),
    ...missing.map((one) => [one, true] as const),
  ]) {
    const identity = { project, began };
    const listEntry = list.get(folderName(identity));
    plans.push(
      await planFolder({
        ...options,
        directory: join(directory, folder),
        identity,
        listEntry,
        takenBy: isMissing ? ownerNames.get(folder) : undefined,
        journal: journal.projectJournal(project),
      }),
    );
  }
  return plans;
}
