import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { NotAFile, readDataFile, requireFile } from "../data-file.ts";
import { FOLDER_LIST, FolderList, type FolderNote, type ListedFolder } from "./duckdb/folder-list.ts";
import { type FolderIdentity, folderName, parseFolderName } from "./duckdb/folder-name.ts";
import { heldEvents } from "./duckdb/held-events.ts";
import { faultOf, stampOf } from "./duckdb/integrity.ts";
import { toLoss } from "./duckdb/losses.ts";
import { MANIFEST, type Manifest, parseManifest, REMOVED } from "./duckdb/manifest.ts";
import { SEGMENT_NAME, summaryPath } from "./duckdb/segment-files.ts";
import { readSidecar } from "./duckdb/sidecar.ts";
import { syncDirectory, unlessGone, writeDurably } from "./durable.ts";
import { readFrames } from "./journal/frame.ts";
import { isJournalFile, journalFile } from "./journal/journal-file.ts";
import { JOURNAL_LIST, JournalList } from "./journal/journal-list.ts";
import { journalLoss } from "./loss.ts";
import type { Loss } from "./store.ts";

/** Called with the bytes of each file once it is copied. */
type Progress = (bytes: number) => void;

/**
 * Copies the events of a data directory into a new folder, also while a service writes there: nothing has to be agreed
 * with it. Every event that was acknowledged before the call is in the copy once; of those that come meanwhile some are,
 * by whole batches.
 *
 * The order guarantees it. The journal comes first: what is no longer in it is in the segments of a manifest by then,
 * and manifests are read after it. What both hold counts once, as after a crash.
 */
export async function copyEvents(
  from: string,
  to: string,
  progress: Progress,
  clock: Clock = systemClock,
): Promise<void> {
  await mkdir(join(to, "projects"), { recursive: true });
  await copyJournal(from, to, progress);
  // Keys of journal files that are gone, written before those go.
  await copyFiles(join(from, "keys"), join(to, "keys"), (name) => name.endsWith(".ndjson"), progress);
  const folders: string[] = [];
  for (const name of await namesIn(join(from, "projects"))) {
    const isCopied = await copyProject(join(from, "projects", name), join(to, "projects", name), progress, clock);
    if (isCopied) folders.push(name);
  }
  await listFolders(from, to, folders, clock);
  await syncDirectory(join(to, "projects"));
  await syncDirectory(to);
}

/**
 * Returns the problem of the events of a folder that no service writes to; undefined if all files are there and whole.
 */
export async function wrongEvents(directory: string): Promise<string | undefined> {
  for (const name of await namesIn(join(directory, "projects"))) {
    const wrong = await wrongSegments(join(directory, "projects", name), true);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Bytes that a copy of the events takes at least: what comes and goes meanwhile, and what is made again, is not counted. */
export async function leastCopyBytes(directory: string): Promise<number> {
  const sizesIn = async (folder: string) => {
    const sizes = (await namesIn(folder)).map((name) => unlessGone(stat(join(folder, name))));
    return (await Promise.all(sizes)).reduce((sum, stats) => sum + (stats?.isFile() ? stats.size : 0), 0);
  };
  let bytes = (await sizesIn(join(directory, "journal"))) + (await sizesIn(join(directory, "keys")));
  for (const name of await namesIn(join(directory, "projects"))) {
    const { segments } = (await manifestOf(join(directory, "projects", name)))?.manifest ?? NOTHING;
    for (const segment of segments) bytes += segment.bytes;
  }
  return bytes;
}

/** The losses that the files of a folder, which no service writes to, tell of. */
export async function lossesIn(directory: string, accepted: ReadonlySet<string>): Promise<Loss[]> {
  const list = await JournalList.open(join(directory, JOURNAL_LIST));
  const losses = list.losses.map((loss) => journalLoss(loss, accepted));
  for (const name of await namesIn(join(directory, "projects"))) {
    const manifest = (await manifestOf(join(directory, "projects", name)))?.manifest;
    if (manifest !== undefined) losses.push(...manifest.losses.map((loss) => toLoss(manifest, loss, accepted)));
  }
  return losses;
}

/** The names of the lists of what must be there that are damaged. Without them nothing tells what is gone. */
export async function damagedLists(directory: string): Promise<string[]> {
  const { isDamaged } = await FolderList.open(directory);
  const journal = await JournalList.open(join(directory, JOURNAL_LIST));
  return [...(isDamaged ? [FOLDER_LIST] : []), ...(journal.isDamaged ? [JOURNAL_LIST] : [])];
}

async function copyJournal(from: string, to: string, progress: Progress): Promise<void> {
  await mkdir(join(to, "journal"), { recursive: true });
  const list = await JournalList.open(join(from, JOURNAL_LIST));
  const lengths = new Map<number, number>();
  for (const name of (await namesIn(join(from, "journal"))).filter(isJournalFile)) {
    const path = join(from, "journal", name);
    const text = await unlessGone(readWanted(path));
    if (text === undefined) continue;
    const whole = text.subarray(0, endOfWhole(path, text));
    if (whole.length < list.leastBytes(Number(name.slice(0, 16)))) throw damaged(path, "is cut off");
    await writeDurably(join(to, "journal", name), whole);
    lengths.set(Number(name.slice(0, 16)), whole.length);
    progress(whole.length);
  }
  // A file is off the list before it goes.
  const now = await JournalList.open(join(from, JOURNAL_LIST));
  for (const begin of now.files.keys()) {
    const isMissing = list.files.has(begin) && !lengths.has(begin) && now.leastBytes(begin) > 0;
    if (isMissing) throw damaged(journalFile(join(from, "journal"), begin).path, "is missing");
  }
  await (await JournalList.open(join(to, JOURNAL_LIST))).replace(lengths, now.losses, now);
}

/** The files that were copied, and those that are missing in the original, too. */
async function listFolders(from: string, to: string, copied: readonly string[], clock: Clock): Promise<void> {
  const isGone = async (name: string) => !(await namesIn(join(from, "projects"))).includes(name);
  const names = new Map<string, Described>();
  for (const name of copied) {
    const described = await describe(join(to, "projects", name));
    const own = described && folderName(described.identity);
    // There may be a copy beside it.
    if (own !== undefined && (own === name || !names.has(own))) names.set(own, described!);
  }
  let gone: string[] = [];
  let listed: ReadonlyMap<string, ListedFolder> = new Map();
  for (let looks = 0; looks < 2; looks++) {
    const { list } = await FolderList.open(from);
    gone = [];
    listed = list.all;
    for (const name of list.all.keys()) if (!names.has(name) && (await isGone(name))) gone.push(name);
    if (gone.length === 0) break;
    // A project that is just being removed is off the list a moment after its folder.
    if (looks === 0) await clock.sleep(LIST_PAUSE_MS);
  }
  const folders: (ListedFolder & { readonly folder: string })[] = [];
  for (const folder of gone) folders.push({ ...listed.get(folder)!, folder });
  for (const [folder, { identity, note }] of names) {
    // The copy is of another moment than the list.
    folders.push({ ...(listed.get(folder) ?? identity), folder, ...note });
  }
  const { list } = await FolderList.open(to);
  await list.add(folders);
  const { owner } = (await FolderList.open(from)).list;
  if (owner !== undefined) await list.setOwner(owner);
}

const LIST_PAUSE_MS = 250;

interface Described {
  readonly identity: FolderIdentity;
  readonly note: FolderNote;
}

/** Describes a folder that was copied for the list, by its manifest: it may have been renamed. */
async function describe(folder: string): Promise<Described | undefined> {
  const manifest = (await manifestOf(folder))?.manifest;
  const identity = manifest ?? parseFolderName(basename(folder));
  if (identity === undefined) return undefined;
  const { segments, losses } = manifest ?? NOTHING;
  const entries = [...segments, ...losses.flatMap(({ entry }) => entry ?? [])];
  const newest = entries.reduce((most, { sequence }) => Math.max(most, sequence), 0);
  const { project, began } = identity;
  return { identity: { project, began }, note: { newest, held: heldEvents(entries) } };
}

/** Excludes the batch that is being written, which is not acknowledged yet. */
function endOfWhole(path: string, text: Buffer): number {
  for (const result of readFrames(text)) {
    if ("bad" in result) throw damaged(path, "is damaged");
    if ("torn" in result) return result.torn;
  }
  return text.length;
}

/** Thrown for damaged events: they are no backup, and would look whole in the copy. */
export class DamagedEvents extends Error {
  override readonly name = "DamagedEvents";
}

/** Throws DamagedEvents if it is no file. */
async function readWanted(path: string): Promise<Buffer> {
  return readDataFile(path).catch((error: unknown) => {
    throw error instanceof NotAFile ? damaged(path, "is not a file") : error;
  });
}

const damaged = (path: string, fault: string) => new DamagedEvents(`${path} ${fault}`);

/**
 * The manifest with its segments. Where a file went meanwhile there is a newer manifest with others in its place, and
 * what is copied already need not be copied again. What never gets whole is left for `wrongEvents` to name.
 */
async function copyProject(from: string, to: string, progress: Progress, clock: Clock): Promise<boolean> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const source = await manifestOf(from);
    if (source === undefined) {
      const names = await namesIn(from);
      const isWanted = names.some((name) => SEGMENT_NAME.test(name)) && !names.includes(REMOVED);
      // A running service rewrites it.
      if (isWanted && tries === MAX_TRIES) throw damaged(join(from, MANIFEST), "is missing");
      if (isWanted) {
        await clock.sleep(MANIFEST_PAUSE_MS);
        continue;
      }
      // No segment yet, so that all is in the journal; or deleted.
      await rm(to, { recursive: true, force: true });
      return false;
    }
    await mkdir(to, { recursive: true });
    const stems = stemsOf(source.manifest);
    for (const name of await namesIn(to)) if (!stems.has(stemOf(name))) await rm(join(to, name));
    await copyFiles(from, to, (name) => stems.has(stemOf(name)) && !name.endsWith(".new"), progress);
    await writeDurably(join(to, MANIFEST), source.text);
    // Files go only after the manifest that no longer names them: all were there if the newest still names them all.
    const newest = stemsOf((await manifestOf(from))?.manifest ?? NOTHING);
    if ([...stems].every((stem) => newest.has(stem)) && (await wrongSegments(to, false)) === undefined) {
      await dropDamagedSummaries(to, source.manifest);
      return true;
    }
  }
  return true;
}

/** A start makes them again. */
async function dropDamagedSummaries(folder: string, { segments }: Manifest): Promise<void> {
  for (const { file } of segments) {
    const path = join(folder, file);
    if ((await readSidecar(path).catch(() => undefined)) === undefined) await rm(summaryPath(path), { force: true });
  }
}

// Copying what a merge made takes less time than the merge.
const MAX_TRIES = 50;
const MANIFEST_PAUSE_MS = 100;
const NOTHING: Pick<Manifest, "segments" | "losses"> = { segments: [], losses: [] };

/** The manifest of a project's folder, with its text; undefined if there is none. */
async function manifestOf(folder: string): Promise<{ manifest: Manifest; text: string } | undefined> {
  const identity = parseFolderName(basename(folder));
  const path = join(folder, MANIFEST);
  const text = identity && (await unlessGone(readWanted(path)))?.toString();
  if (identity === undefined || text === undefined) return undefined;
  const read = parseManifest(path, text, identity);
  if (read.kind === "lost") throw damaged(path, read.fault);
  return { manifest: read.manifest, text };
}

const stemsOf = ({ segments }: Pick<Manifest, "segments">) => new Set(segments.map(({ file }) => stemOf(file)));

/** A segment's files share the name up to the first point. */
const stemOf = (name: string) => name.slice(0, name.indexOf("."));

async function wrongSegments(folder: string, isThorough: boolean): Promise<string | undefined> {
  const { segments } = (await manifestOf(folder))?.manifest ?? NOTHING;
  for (const { file, bytes, integrity } of segments) {
    const path = join(folder, file);
    const size = stampOf(path)?.size;
    if (size === undefined) return `${path} is missing`;
    if (size !== bytes) return `${path} has ${size} bytes instead of ${bytes}`;
    if (!isThorough) continue;
    const reference = integrity ?? { sum: undefined, footerSum: undefined, stamp: undefined, checkedMs: 0 };
    const fault = await faultOf(path, bytes, { ...reference }, { nowMs: 0 });
    if (fault !== undefined) return `${path} ${fault}`;
  }
  return undefined;
}

/**
 * The files of a folder that are wanted and not there yet. Those that go meanwhile are left out, and what is no file and can
 * be made again. Throws DamagedEvents for a segment that is none.
 */
async function copyFiles(
  from: string,
  to: string,
  isWanted: (name: string) => boolean,
  progress: Progress,
): Promise<void> {
  const names = (await namesIn(from)).filter(isWanted);
  if (names.length === 0) return;
  await mkdir(to, { recursive: true });
  const existing = new Set(await namesIn(to));
  for (const name of names) {
    if (existing.has(name)) continue;
    const path = join(to, name);
    // Where the file system can, the copy shares its blocks until one of them changes.
    const isThere = await unlessGone(copyDataFile(join(from, name), path));
    if (!isThere) continue;
    const handle = await open(path, "r+");
    try {
      await handle.sync();
      progress((await handle.stat()).size);
    } finally {
      await handle.close();
    }
  }
  await syncDirectory(to);
}

/** Whether it was copied: what is no file is not, unless that loses events. */
async function copyDataFile(from: string, to: string): Promise<boolean> {
  try {
    await requireFile(from);
  } catch (error) {
    if (!(error instanceof NotAFile)) throw error;
    if (SEGMENT_NAME.test(basename(from))) throw damaged(from, "is not a file");
    return false;
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  return true;
}

const namesIn = async (directory: string) => (await unlessGone(readdir(directory))) ?? [];
