import { join } from "node:path";
import { printWithChecksum, readStoredList, writeDurably } from "../durable.ts";
import { type FolderIdentity, folderName } from "./folder-name.ts";
import type { HeldEvents } from "./held-events.ts";

/** The entry of a folder in the list. */
export interface ListedFolder extends FolderIdentity {
  /** The sequence of the deletion after which the project started again: earlier events are not part of it. */
  readonly after?: number | undefined;
  /** The sequence of the project's first event when the folder was made; older versions did not note it. */
  readonly first?: number | undefined;
  /** The last sequence in its segments: a folder without it is an older copy. */
  readonly newest?: number | undefined;
  /** The events of its segments and its losses; older versions did not note them. */
  readonly held?: HeldEvents | undefined;
}

/** The part of an entry that changes, as the folder's manifest has it. */
export type FolderNote = Required<Pick<ListedFolder, "newest" | "held">>;

/** The events of a folder by its entry; undefined if an older version changed the entry since. */
export const heldIn = ({ newest, held }: Pick<ListedFolder, "newest" | "held">): HeldEvents | undefined =>
  held?.newest === (newest ?? 0) ? held : undefined;

/** The folder that the events store made for each project, so that a missing or replaced one is noticed. */
export class FolderList {
  readonly #path: string;
  readonly #folders: Map<string, ListedFolder>;
  /** Whether there is a file of it. */
  #isKnown: boolean;
  /** Whether the file may differ: the last write failed. */
  #isStale = false;
  #owner: string | undefined;
  #change: Promise<void> = Promise.resolve();

  private constructor(path: string, folders: Map<string, ListedFolder>, stored: StoredList | undefined) {
    this.#isKnown = stored !== undefined;
    this.#owner = stored?.owner;
    this.#path = path;
    this.#folders = folders;
  }

  /** `isKnown` is false if there is no readable list: then every folder that is there counts. Throws NewerVersion and PlaceTaken. */
  static async open(directory: string): Promise<{ list: FolderList; isKnown: boolean; isDamaged: boolean }> {
    const path = join(directory, FOLDER_LIST);
    const { stored: read, isDamaged } = await readStoredList<StoredList>(path, VERSION, "folders");
    const folders = new Map<string, ListedFolder>();
    for (const { folder, ...entry } of read?.folders ?? []) {
      // Older versions listed a renamed folder by the name that it had, with no note of what it holds.
      const name = folderName(entry);
      if (folder === name || !folders.has(name)) folders.set(name, entry);
    }
    return { list: new FolderList(path, folders, read), isKnown: read !== undefined, isDamaged };
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
    if (this.#owner === owner && !this.#isStale) return;
    this.#owner = owner;
    await this.#write();
  }

  /** Resolves when it is durable: before anything is in the folders. */
  add(folders: readonly (ListedFolder & { readonly folder: string })[]): Promise<void> {
    const newFolders = folders.filter(({ folder }) => !this.#folders.has(folder));
    if (newFolders.length === 0 && this.#isKnown && !this.#isStale) return this.#change;
    this.#isKnown = true;
    for (const { folder, ...entry } of newFolders) this.#folders.set(folder, entry);
    return this.#write();
  }

  /** Notes the events of folders: after they are durable there, and before they are deleted. */
  async note(notes: Iterable<readonly [folder: string, note: FolderNote]>): Promise<void> {
    let isNew = this.#isStale;
    for (const [folder, note] of notes) {
      const entry = this.#folders.get(folder);
      if (entry === undefined || isNoted(entry, note)) continue;
      this.#folders.set(folder, { ...entry, ...note });
      isNew = true;
    }
    if (isNew) await this.#write();
  }

  /** After the folder is gone. */
  remove(folder: string): Promise<void> {
    return this.#folders.delete(folder) || this.#isStale ? this.#write() : this.#change;
  }

  #write(): Promise<void> {
    const done = this.#change.then(async () => {
      const folders = [...this.#folders].map(([folder, identity]) => ({ folder, ...identity }));
      // Until the write has succeeded, what is in memory is not known to be on the disk.
      this.#isStale = true;
      await writeDurably(
        this.#path,
        printWithChecksum({
          version: VERSION,
          ...(this.#owner !== undefined && { owner: this.#owner }),
          folders,
        } satisfies StoredList),
      );
      this.#isStale = false;
    });
    this.#change = done.catch(() => {});
    return done;
  }
}

const isNoted = (entry: ListedFolder, { newest, held }: FolderNote) =>
  (entry.newest ?? 0) === newest &&
  entry.held?.count === held?.count &&
  entry.held?.sum === held?.sum &&
  entry.held?.first === held?.first &&
  entry.held?.last === held?.last;

/** Its name, beside the folder of the projects. */
export const FOLDER_LIST = "folders.json";

const VERSION = 2;

interface StoredList {
  readonly version: number;
  readonly owner?: string;
  readonly folders: readonly (ListedFolder & { readonly folder: string })[];
}
