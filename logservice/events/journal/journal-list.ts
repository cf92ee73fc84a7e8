import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { readDataFile } from "../../data-file.ts";
import {
  errorCode,
  printWithChecksum,
  readStoredList,
  readWithChecksum,
  refuseDirectory,
  writeDurably,
} from "../durable.ts";
import { type JournalLoss, lossId } from "../loss.ts";

/**
 * Which files the journal has, and how long those are that are not written to any more: a file that is gone, or cut at the
 * end of a batch, looks like one that was never there. Beside the folder, so that it is missed, too.
 */
export class JournalList {
  readonly #path: string;
  /** By the number in the name: the length, as far as it is known. */
  readonly #files: Map<number, number | undefined>;
  /**
   * By the number of a file: that of the file that was begun as it ended. Sequences that a failed write took are between them in
   * no file, which the numbers alone do not tell from a file that is gone.
   */
  readonly #next: Map<number, number>;
  /** The least length of the file that is being written. */
  #least: { readonly begin: number; readonly bytes: number } | undefined;
  #losses: readonly JournalLoss[];
  #hasLosses = false;
  #change: Promise<void> = Promise.resolve();
  /** False if there was no list that could be read. */
  readonly isKnown: boolean;
  readonly isDamaged: boolean;

  private constructor(path: string, stored: StoredList | undefined, isDamaged: boolean) {
    this.#path = path;
    this.#files = new Map((stored?.files ?? []).map(({ begin, bytes }) => [begin, bytes]));
    this.#next = new Map((stored?.files ?? []).flatMap(({ begin, next }) => (next ? [[begin, next] as const] : [])));
    this.#losses = stored?.losses ?? [];
    this.#least = stored?.least;
    this.isKnown = stored !== undefined;
    this.isDamaged = isDamaged;
  }

  /** Throws NewerVersion and PlaceTaken. */
  static async open(path: string): Promise<JournalList> {
    refuseDirectory(lossesPath(path));
    const { stored, isDamaged } = await readStoredList<StoredList>(path, VERSION, "files");
    const list = new JournalList(path, stored, isDamaged);
    if (stored === undefined) list.#losses = await keptLosses(lossesPath(path));
    list.#hasLosses = list.#losses.length > 0;
    return list;
  }

  get files(): ReadonlyMap<number, number | undefined> {
    return this.#files;
  }

  /** The file that was begun as this one ended; undefined if that was not noted, or one of them is not listed. */
  fileAfter(begin: number): number | undefined {
    const next = this.#next.get(begin);
    return next !== undefined && this.#files.has(begin) && this.#files.has(next) ? next : undefined;
  }

  /** A length below which a file has lost batches. */
  leastBytes(begin: number): number {
    return this.#files.get(begin) ?? (this.#least?.begin === begin ? this.#least.bytes : 0);
  }

  /** The active file has become longer. */
  async note(begin: number, bytes: number): Promise<void> {
    if (this.#least?.begin === begin && this.#least.bytes >= bytes) return;
    this.#least = { begin, bytes };
    await this.#write();
  }

  get losses(): readonly JournalLoss[] {
    return this.#losses;
  }

  /** After a start: the files that are there, and what is lost. In a copy, `original` knows which file follows which. */
  replace(
    files: Iterable<readonly [begin: number, bytes: number | undefined]>,
    losses: readonly JournalLoss[],
    original: JournalList = this,
  ) {
    const all = new Map(files);
    const next = [...all.keys()].map((begin) => [begin, original.fileAfter(begin)] as const);
    this.#files.clear();
    this.#next.clear();
    for (const [begin, bytes] of all) this.#files.set(begin, bytes);
    for (const [begin, after] of next) if (after !== undefined && all.has(after)) this.#next.set(begin, after);
    this.#losses = losses;
    return this.#write();
  }

  addLoss(loss: JournalLoss): Promise<void> {
    if (this.#losses.some(({ id }) => id === loss.id)) return this.#change;
    this.#losses = [...this.#losses, loss];
    return this.#write();
  }

  /** Another file is begun; before anything is written to it. */
  async rotate(ended: number, bytes: number, begin: number): Promise<void> {
    this.#files.set(ended, bytes);
    this.#files.set(begin, undefined);
    this.#next.set(ended, begin);
    try {
      await this.#write();
    } catch (error) {
      // Writing continues to the current file, and there is no other.
      this.#files.set(ended, undefined);
      this.#files.delete(begin);
      this.#next.delete(ended);
      throw error;
    }
  }

  /** The final length of a file: nothing is written to it any more, or it was rewritten. */
  end(ended: number, bytes: number | undefined): Promise<void> {
    this.#files.set(ended, bytes);
    return this.#write();
  }

  /** To be called before a file is removed, when all of it is in segments. */
  remove(begin: number): Promise<void> {
    const after = this.fileAfter(begin);
    // Nothing was in an empty file: what is before it is followed by what is after it.
    if (this.#files.get(begin) === 0 && after !== undefined)
      for (const [before, next] of this.#next) if (next === begin) this.#next.set(before, after);
    this.#files.delete(begin);
    this.#next.delete(begin);
    return this.#write();
  }

  #write(): Promise<void> {
    const done = this.#change.then(async () => {
      if (this.#losses.length > 0 || this.#hasLosses) {
        // Nothing else records the losses if the list is lost.
        await writeDurably(lossesPath(this.#path), printWithChecksum(this.#losses));
        this.#hasLosses = this.#losses.length > 0;
      }
      const files = [...this.#files].map(([begin, bytes]) => {
        const next = this.fileAfter(begin);
        return { begin, ...(bytes !== undefined && { bytes }), ...(next !== undefined && { next }) };
      });
      return writeDurably(
        this.#path,
        printWithChecksum({ version: VERSION, files, losses: this.#losses, least: this.#least }),
      );
    });
    this.#change = done.catch(() => {});
    return done;
  }
}

/** Earlier losses, as their own list has them, which is there once something was lost. */
async function keptLosses(path: string): Promise<readonly JournalLoss[]> {
  const text = await readDataFile(path, "utf8").catch((error: unknown) =>
    errorCode(error) === "ENOENT" ? undefined : "",
  );
  if (text === undefined) return [];
  const kept = readWithChecksum(text);
  if (Array.isArray(kept)) return kept as JournalLoss[];
  const reason = "may lack events: both lists of what the journal lost are damaged";
  const file = basename(path);
  // By its time: if it is damaged once more, that is another loss, which nobody has accepted yet.
  const changedMs = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  return [{ id: lossId(`${file} ${changedMs}`), file, reason, atMs: 0, bytes: 0, fileBytes: 0, isPossible: true }];
}

const lossesPath = (path: string) => path.replace(/\.json$/, "-losses.json");

interface StoredList {
  readonly version: number;
  readonly files: readonly { readonly begin: number; readonly bytes?: number; readonly next?: number }[];
  readonly losses: readonly JournalLoss[];
  readonly least?: { readonly begin: number; readonly bytes: number };
}

/** Its name, beside the folder of the journal. */
export const JOURNAL_LIST = "journal.json";
const VERSION = 2;
