import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NewerVersion, printWithChecksum, readWithChecksum, writeDurably } from "../durable.ts";
import type { FolderIdentity } from "./folder-name.ts";

/** The entry of a folder in the list. */
export interface ListedFolder extends FolderIdentity {
  /** The sequence of the deletion after which the project started again: earlier events are not part of it. */
  readonly after?: number | undefined;
  /** The sequence of the project's first event when the folder was made; older versions did not note it. */
  readonly first?: number | undefined;
  /** The last sequence in its segments: a folder without it is an older copy. */
  readonly newest?: number | undefined;
}

/** The folder that the events store made for each project, so that a missing or replaced one is noticed. */
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

  /** `isKnown` is false if there is no readable list: then every folder that is there counts. Throws NewerVersion. */
  static async open(directory: string): Promise<{ list: FolderList; isKnown: boolean; isDamaged: boolean }> {
    const path = join(directory, FOLDER_LIST);
    const text = await readFile(path, "utf8").catch(() => undefined);
    const read = text === undefined ? undefined : (readWithChecksum(text) as StoredList | undefined);
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
    const newFolders = folders.filter(({ folder }) => !this.#folders.has(folder));
    if (newFolders.length === 0 && this.#isKnown) return this.#change;
    this.#isKnown = true;
    for (const { folder, project, began, after, first } of newFolders)
      this.#folders.set(folder, { project, began, after, first });
    return this.#write();
  }

  /** The last sequences of folders: after they are durable there, and before they are deleted. */
  async note(newest: Iterable<readonly [folder: string, newest: number]>): Promise<void> {
    let isNew = false;
    for (const [folder, sequence] of newest) {
      const entry = this.#folders.get(folder);
      if (entry === undefined || (entry.newest ?? 0) === sequence) continue;
      this.#folders.set(folder, { ...entry, newest: sequence });
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
        printWithChecksum({
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
