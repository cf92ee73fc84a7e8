import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { NewerVersion, printSummed, readSummed, syncDirectory, unlessGone, writeDurably } from "../durable.ts";
import type { ProjectJournal } from "../journal/recovery.ts";
import type { Log } from "../settings.ts";
import { FOLDER_NAME, type FolderIdentity, folderName, parseFolderName } from "./folder-name.ts";
import { type FolderPlan, planFolder } from "./folder-plan.ts";
import type { Inspector } from "./inspector.ts";
import { stampOf } from "./integrity.ts";
import { REMOVED, readManifest } from "./manifest.ts";
import { SEGMENT_NAME } from "./segment-files.ts";

/** What the list knows of a folder. */
export interface ListedFolder extends FolderIdentity {
  /** The sequence of the deletion after which the project began anew: what came before is not its own. */
  readonly after?: number | undefined;
  /** The last sequence in its segments: a folder without it is an older copy. */
  readonly newest?: number | undefined;
}

/** The folder of each project, which the events store made, so that one that is gone, or was exchanged, is missed. */
export class FolderList {
  readonly #path: string;
  readonly #folders: Map<string, ListedFolder>;
  /** Whether there is a file of it. */
  #isKnown: boolean;
  #owner: string | undefined;
  #change: Promise<void> = Promise.resolve();

  private constructor(path: string, folders: Map<string, ListedFolder>, stored: StoredList | undefined) {
    this.#isKnown = stored !== undefined;
    this.#owner = stored?.owner;
    this.#path = path;
    this.#folders = folders;
  }

  /** `isKnown` is false if there is no list that can be read: then all that is there counts. Throws NewerVersion. */
  static async open(directory: string): Promise<{ list: FolderList; isKnown: boolean; isDamaged: boolean }> {
    const path = join(directory, FOLDER_LIST);
    const text = await readFile(path, "utf8").catch(() => undefined);
    const read = text === undefined ? undefined : (readSummed(text) as StoredList | undefined);
    if (read !== undefined && read.version > VERSION) throw new NewerVersion(path);
    const folders = new Map((read?.folders ?? []).map(({ folder, ...identity }) => [folder, identity]));
    return {
      list: new FolderList(path, folders, read),
      isKnown: read !== undefined,
      isDamaged: read === undefined && text !== undefined,
    };
  }

  get all(): ReadonlyMap<string, ListedFolder> {
    return this.#folders;
  }

  /** The installation that the events belong to; undefined if the list does not say. */
  get owner(): string | undefined {
    return this.#owner;
  }

  /** Notes it durably. */
  async setOwner(owner: string): Promise<void> {
    if (this.#owner === owner) return;
    this.#owner = owner;
    await this.#write();
  }

  /** Resolves when it is durable: before anything is in the folders. */
  add(folders: readonly (ListedFolder & { readonly folder: string })[]): Promise<void> {
    const added = folders.filter(({ folder }) => !this.#folders.has(folder));
    if (added.length === 0 && this.#isKnown) return this.#change;
    this.#isKnown = true;
    for (const { folder, project, began, after } of added) this.#folders.set(folder, { project, began, after });
    return this.#write();
  }

  /** The last sequences of folders: after they are durable there, and before they are deleted. */
  async note(newest: Iterable<readonly [folder: string, newest: number]>): Promise<void> {
    let isNew = false;
    for (const [folder, sequence] of newest) {
      const known = this.#folders.get(folder);
      if (known === undefined || (known.newest ?? 0) === sequence) continue;
      this.#folders.set(folder, { ...known, newest: sequence });
      isNew = true;
    }
    if (isNew) await this.#write();
  }

  /** After the folder is gone. */
  remove(folder: string): Promise<void> {
    return this.#folders.delete(folder) ? this.#write() : this.#change;
  }

  #write(): Promise<void> {
    const done = this.#change.then(() => {
      const folders = [...this.#folders].map(([folder, identity]) => ({ folder, ...identity }));
      return writeDurably(
        this.#path,
        printSummed({
          version: VERSION,
          ...(this.#owner !== undefined && { owner: this.#owner }),
          folders,
        } satisfies StoredList),
      );
    });
    this.#change = done.catch(() => {});
    return done;
  }
}

/** Its name, beside the folder of the projects. */
export const FOLDER_LIST = "folders.json";
const VERSION = 2;

interface StoredList {
  readonly version: number;
  readonly owner?: string;
  readonly folders: readonly (ListedFolder & { readonly folder: string })[];
}

export interface FoundFolders {
  /** The folder of each project. */
  readonly claimed: readonly (FolderIdentity & { readonly folder: string })[];
  /** Folders of deleted projects. */
  readonly removed: readonly (FolderIdentity & { readonly folder: string })[];
  /** Listed, and not there. */
  readonly missing: readonly (FolderIdentity & { readonly folder: string })[];
}

/**
 * Which folder is whose. The manifest of a folder tells more than its name: a folder that was renamed, or put in
 * another's place, is found by it; a copy beside the folder that it was made of is left alone.
 *
 * @param drops the sequence of each project's last deletion that the journal has
 */
export async function findFolders(
  directory: string,
  list: ReadonlyMap<string, FolderIdentity>,
  drops: ReadonlyMap<string, number>,
  inspector: Inspector,
  log: Log,
): Promise<FoundFolders> {
  const removed: (FolderIdentity & { folder: string })[] = [];
  const claims = new Map<string, FolderIdentity & { folder: string }>();
  const misnamed: (FolderIdentity & { folder: string })[] = [];
  const ignore = (folder: string, reason: string) =>
    log("warn", `a folder ${reason}: nothing in it is read`, { folder: join(directory, folder) });
  for (const folder of (await readdir(directory)).sort()) {
    const named = parseFolderName(folder);
    if (named === undefined) {
      ignore(folder, "is not named as the store names them");
      continue;
    }
    const identity = await identityIn(join(directory, folder), named, inspector);
    const isDropped = (drops.get(identity.project) ?? -1) >= identity.began;
    if (isDropped || isMarkedRemoved(join(directory, folder))) removed.push({ folder, ...identity });
    else if (folderName(identity) === folder) claims.set(folder, { folder, ...identity });
    else misnamed.push({ folder, ...identity });
  }
  for (const one of misnamed) {
    const name = folderName(one);
    if (claims.has(name)) ignore(one.folder, `is a copy of ${name}`);
    else {
      claims.set(name, one);
      log("warn", "a folder has another name than its manifest says; it is read as that one", {
        folder: join(directory, one.folder),
        project: one.project,
      });
    }
  }
  const claimed = newestOfEach([...claims.values()], list, (folder) =>
    ignore(folder, "is an older one of its project"),
  );
  const removedNames = new Set(removed.map(({ folder }) => folder));
  const isThere = ({ project, began }: FolderIdentity) =>
    // A project begins anew only after it was deleted, with all that it had before.
    claimed.some((one) => one.project === project && one.began >= began) || (drops.get(project) ?? -1) >= began;
  const missing = [...list]
    .map(([folder, identity]) => ({ folder, ...identity }))
    .filter((one) => !isThere(one) && !removedNames.has(one.folder));
  return { claimed, removed, missing: newestOfEach(missing, list, () => {}) };
}

/**
 * Whose folder it is: the manifest says it, unless it is lost, or what it names is not there and the folder has other
 * segments: then these say it.
 */
async function identityIn(folder: string, named: FolderIdentity, inspector: Inspector): Promise<FolderIdentity> {
  const read = await readManifest(folder, named);
  const isOwn = read.kind !== "lost" && read.manifest.project === named.project && read.manifest.began === named.began;
  if (isOwn) return named;
  const names: string[] = await readdir(folder).catch(() => []);
  const segments = names.filter((name) => SEGMENT_NAME.test(name));
  const isBelieved =
    read.kind !== "lost" && (segments.length === 0 || read.manifest.segments.some(({ file }) => names.includes(file)));
  if (isBelieved) return { project: read.manifest.project, began: read.manifest.began };
  for (const name of segments) {
    const said = await inspector.metadataOf(join(folder, name)).catch(() => undefined);
    if (said !== undefined) return { project: said.project, began: said.began };
  }
  return named;
}

/** Of several folders of a project the one that is listed, then the newest. */
function newestOfEach<Found extends FolderIdentity & { readonly folder: string }>(
  found: readonly Found[],
  list: ReadonlyMap<string, FolderIdentity>,
  ignore: (folder: string) => void,
): Found[] {
  const newest = new Map<string, Found>();
  const isBetter = (a: Found, b: Found) => {
    const [isListed, isOther] = [list.has(folderName(a)), list.has(folderName(b))];
    return isListed === isOther ? a.began > b.began : isListed;
  };
  for (const one of found) {
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

/** The events are those of another installation: its projects are not known here, and those of here would be missed. */
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

/** Finishes the removal of a project's folder. */
export async function finishRemoval(directory: string, folder: string, list: FolderList): Promise<void> {
  await rm(join(directory, folder), { recursive: true, force: true, maxRetries: 5 });
  await syncDirectory(directory);
  await list.remove(folder);
}

/** What each of the folders holds. */
export async function planFolders(
  directory: string,
  { claimed, missing }: FoundFolders,
  list: ReadonlyMap<string, ListedFolder>,
  frames: (project: string) => ProjectJournal,
  options: { readonly inspector: Inspector; readonly nowMs: number; readonly isThorough: boolean },
): Promise<FolderPlan[]> {
  const plans: FolderPlan[] = [];
  for (const { folder, project, began } of [...claimed, ...missing]) {
    const identity = { project, began };
    const listed = list.get(folderName(identity));
    const journal = frames(project);
    plans.push(await planFolder({ ...options, directory: join(directory, folder), identity, journal, listed }));
  }
  return plans;
}
