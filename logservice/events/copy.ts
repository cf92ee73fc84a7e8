import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { summaryPath } from "./duckdb/build.ts";
import { MANIFEST, type Manifest } from "./duckdb/segments.ts";
import { readFrames } from "./journal/frame.ts";
import { isJournalFile, syncDirectory } from "./journal/journal.ts";

/** Called with the bytes of each file once it is copied. */
type Progress = (bytes: number) => void;

/**
 * Copies the events of a data directory into a new folder, also while a service writes there: nothing has to be agreed
 * with it. Every event that was acknowledged before the call is in the copy once; of those that come meanwhile some are,
 * by whole batches.
 *
 * The order makes it so. The journal comes first: what is no longer in it stands in the segments of a manifest by then,
 * and manifests are read after it. What both hold counts once, as after a crash.
 */
export async function copyEvents(from: string, to: string, progress: Progress): Promise<void> {
  await mkdir(join(to, "projects"), { recursive: true });
  await copyJournal(join(from, "journal"), join(to, "journal"), progress);
  // Keys of journal files that are gone, written before those go.
  await copyFiles(join(from, "keys"), join(to, "keys"), (name) => name.endsWith(".ndjson"), progress);
  for (const name of await namesIn(join(from, "projects"))) {
    await copyProject(join(from, "projects", name), join(to, "projects", name), progress);
  }
  await syncDirectory(join(to, "projects"));
  await syncDirectory(to);
}

/** What is wrong with the events of a folder that no service writes to; undefined where all files are there and whole. */
export async function wrongEvents(directory: string): Promise<string | undefined> {
  for (const name of await namesIn(join(directory, "projects"))) {
    const wrong = await wrongSegments(join(directory, "projects", name));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

async function copyJournal(from: string, to: string, progress: Progress): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of (await namesIn(from)).filter(isJournalFile)) {
    const text = await unlessGone(readFile(join(from, name)));
    if (text === undefined) continue;
    const whole = text.subarray(0, endOfWhole(text));
    await writeDurably(join(to, name), whole);
    progress(whole.length);
  }
  await syncDirectory(to);
}

/** Behind the last whole batch: the one that is just being written is acknowledged to nobody. */
function endOfWhole(text: Buffer): number {
  for (const piece of readFrames(text)) if ("torn" in piece) return piece.torn;
  return text.length;
}

/**
 * The manifest with its segments. Where a file went meanwhile there is a newer manifest with others in its place, and
 * what is copied already need not be copied again. What never gets whole is left for `wrongEvents` to name.
 */
async function copyProject(from: string, to: string, progress: Progress): Promise<void> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const manifest = await readManifest(from);
    if (manifest === undefined) {
      // No segment yet, so that all is in the journal; or deleted.
      await rm(to, { recursive: true, force: true });
      return;
    }
    await mkdir(to, { recursive: true });
    const stems = stemsOf(manifest);
    for (const name of await namesIn(to)) if (!stems.has(stemOf(name))) await rm(join(to, name));
    await copyFiles(from, to, (name) => stems.has(stemOf(name)) && !name.endsWith(".new"), progress);
    await writeDurably(join(to, MANIFEST), Buffer.from(JSON.stringify(manifest)));
    await syncDirectory(to);
    // Files go only after the manifest that no longer names them: all were there if the newest still names them all.
    const newest = stemsOf((await readManifest(from)) ?? NOTHING);
    if ([...stems].every((stem) => newest.has(stem)) && (await wrongSegments(to)) === undefined) return;
  }
}

// Copying what a merge made takes less time than the merge.
const MAX_TRIES = 50;
const NOTHING: Pick<Manifest, "segments"> = { segments: [] };

async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, MANIFEST);
  const text = await unlessGone(readFile(path, "utf8"));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Manifest);
  } catch (error) {
    throw new Error(`${path} is damaged`, { cause: error });
  }
}

const stemsOf = ({ segments }: Pick<Manifest, "segments">) => new Set(segments.map(({ file }) => stemOf(file)));

/** A segment's files share the name up to the first point. */
const stemOf = (name: string) => name.slice(0, name.indexOf("."));

async function wrongSegments(folder: string): Promise<string | undefined> {
  const { segments } = (await readManifest(folder)) ?? NOTHING;
  for (const { file, bytes } of segments) {
    const path = join(folder, file);
    for (const one of [path, summaryPath(path)]) {
      const size = (await unlessGone(stat(one)))?.size;
      if (size === undefined) return `${one} is missing`;
      if (one === path && size !== bytes) return `${one} has ${size} bytes instead of ${bytes}`;
    }
  }
  return undefined;
}

/** The files of a folder that are wanted and not there yet; those that go meanwhile are left out. */
async function copyFiles(
  from: string,
  to: string,
  isWanted: (name: string) => boolean,
  progress: Progress,
): Promise<void> {
  const names = (await namesIn(from)).filter(isWanted);
  if (names.length === 0) return;
  await mkdir(to, { recursive: true });
  const copied = new Set(await namesIn(to));
  for (const name of names) {
    if (copied.has(name)) continue;
    const path = join(to, name);
    // Where the file system can, the copy shares its blocks until one of them changes.
    const isThere = await unlessGone(copyFile(join(from, name), path, constants.COPYFILE_FICLONE).then(() => true));
    if (isThere === undefined) continue;
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

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, "w");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const namesIn = async (directory: string) => (await unlessGone(readdir(directory))) ?? [];

/** Undefined where the file or folder is not there. */
async function unlessGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
