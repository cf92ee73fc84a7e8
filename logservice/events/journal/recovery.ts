import { copyFile, mkdir, open, readdir, readFile, rename, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { JournalFrames } from "../duckdb/folder-plan.ts";
import { lossId } from "../duckdb/losses.ts";
import { codeOf, syncDirectory, unlessGone } from "../durable.ts";
import type { Interval } from "../intervals.ts";
import { type BadFrame, encodeFrame, type FrameAndBody, isTorn, readBadFrame, readFrames } from "./frame.ts";
import type { JournalList, JournalLoss } from "./journal-list.ts";

export interface JournalFile {
  readonly path: string;
  /** The number in its name: the sequence that was next when it began. */
  readonly begin: number;
}

export interface RecoveredFile extends JournalFile {
  readonly batches: readonly FrameAndBody[];
  /** Length of the batches with their frames. */
  readonly bytes: number;
}

/** What was found in files that a crash or a bad disk left. */
export interface Damage {
  readonly tornBytes: number;
  readonly quarantined: readonly string[];
}

/** What the journal holds, and what is wrong with its files. Reading it changes nothing. */
export interface ReadJournal {
  readonly files: readonly RecoveredFile[];
  readonly suspects: readonly Suspect[];
  readonly list: JournalList;
  /** The sequence of each project's last deletion. */
  readonly drops: ReadonlyMap<string, number>;
  framesOf(project: string): JournalFrames;
}

export type Suspect =
  /** `before`: where the next file that is there begins. */
  | { readonly kind: "missing"; readonly begin: number; readonly bytes: number | undefined; readonly before: number }
  /** The end of a file is no batch: a crash while it was written, unless it was longer or the end is no beginning of one. */
  | { readonly kind: "torn"; readonly begin: number; readonly length: number; readonly bytes: number }
  | { readonly kind: "short"; readonly begin: number; readonly length: number; readonly bytes: number }
  | {
      readonly kind: "bad";
      readonly begin: number;
      readonly at: number;
      readonly fileBytes: number;
      readonly frame: BadFrame;
    };

export const isJournalFile = (name: string) => /^\d{16}\.ndjson$/.test(name);

export const journalFile = (directory: string, begin: number): JournalFile => ({
  path: join(directory, `${String(begin).padStart(16, "0")}.ndjson`),
  begin,
});

/** Reads all files of the journal. Throws, naming it, if one is there and cannot be read: what it holds is not known. */
export async function readJournal(directory: string, list: JournalList): Promise<ReadJournal> {
  const names = ((await unlessGone(readdir(directory))) ?? []).filter(isJournalFile).sort();
  const files: RecoveredFile[] = [];
  const suspects: Suspect[] = [];
  const damaged = new Set<string>();
  const seen = new Map<number, FrameAndBody>();
  const there = new Set<number>();
  let isAnyDamaged = false;
  for (const name of names) {
    const file = journalFile(directory, Number(name.slice(0, 16)));
    const { begin } = file;
    const text = await readFile(file.path).catch((error: unknown) => {
      throw new Error(
        `${file.path} cannot be read (${codeOf(error)}), and it may hold events that are nowhere else: make it readable, or move it away to go on without them`,
        { cause: error },
      );
    });
    const batches: FrameAndBody[] = [];
    // Where the last whole batch ends, and how long they all are.
    let [length, bytes] = [0, 0];
    let first: number | undefined;
    const bad: Suspect[] = [];
    for (const piece of readFrames(text)) {
      if ("whole" in piece) {
        // A file may be there twice.
        const { sequence, lines, project } = piece.whole.frame;
        const before = seen.get(sequence);
        if (before === undefined) batches.push(piece.whole);
        else if (before.frame.project !== project || !before.body.equals(piece.whole.body)) {
          // Of before a restore: kept, but these sequences are others' by now.
          const frame = { project, bytes: piece.end - length, interval: [sequence, sequence + lines - 1] as const };
          bad.push({ kind: "bad", begin, at: length, fileBytes: text.length, frame });
        }
        seen.set(sequence, before ?? piece.whole);
        first ??= sequence;
        bytes += piece.end - length;
        length = piece.end;
      } else if ("bad" in piece) {
        length = piece.end;
        const frame = readBadFrame(text.subarray(piece.bad, piece.end));
        bad.push({ kind: "bad", begin, at: piece.bad, fileBytes: text.length, frame });
        if (frame.project === undefined) isAnyDamaged = true;
        else damaged.add(frame.project);
      }
    }
    const isOwn = list.files.has(begin) && length >= list.leastBytes(begin);
    const listed = isOwn ? begin : listedAs(begin, first, length, list);
    there.add(listed);
    const known = list.files.get(listed);
    const least = list.leastBytes(listed);
    if (length < least) {
      suspects.push({ kind: "short", begin, length, bytes: least - length });
      isAnyDamaged = true;
    } else if (length < text.length) {
      // Behind its known end nothing was acknowledged.
      const isCrash = known !== undefined || isTorn(text.subarray(length));
      suspects.push({ kind: isCrash ? "torn" : "short", begin, length, bytes: text.length - length });
      isAnyDamaged ||= !isCrash;
    }
    suspects.push(...bad);
    files.push({ ...file, batches, bytes });
  }
  for (const [begin, bytes] of list.files) {
    if (bytes === 0 || there.has(begin)) continue;
    const before = Math.min(...files.map((file) => file.begin).filter((other) => other > begin));
    suspects.push({ kind: "missing", begin, bytes: bytes ?? list.leastBytes(begin), before });
    isAnyDamaged = true;
  }
  // In the order of acceptance, whatever they are called.
  files.sort((a, b) => firstOf(a) - firstOf(b));
  const wholeSince = isAnyDamaged || !list.isKnown ? undefined : sinceWhen(files);
  return {
    files,
    suspects,
    list,
    ...contentsOf(files, wholeSince, (project) => !isAnyDamaged && !damaged.has(project)),
  };
}

/** The sequence from which on the journal has everything: where the first of the files that follow each other begins. */
function sinceWhen(files: readonly RecoveredFile[]): number | undefined {
  let since: number | undefined;
  for (const file of [...files].reverse()) {
    const last = file.batches.at(-1)?.frame;
    const end = last === undefined ? file.begin : last.sequence + Math.max(1, last.lines);
    if (since !== undefined && end !== since) break;
    since = file.begin;
  }
  return since;
}

const firstOf = ({ batches, begin }: RecoveredFile) => batches[0]?.frame.sequence ?? begin;

/** The file of the list that a file is if it was renamed: by its first batch, or its length. */
function listedAs(begin: number, first: number | undefined, length: number, list: JournalList): number {
  const same = [...list.files].find(
    ([one, bytes]) => one !== begin && (one === first || (bytes === length && length > 0)),
  );
  return same?.[0] ?? begin;
}

function contentsOf(
  files: readonly RecoveredFile[],
  wholeSince: number | undefined,
  isWhole: (project: string) => boolean,
) {
  const drops = new Map<string, number>();
  const intervals = new Map<string, Interval[]>();
  for (const { batches } of files) {
    for (const { frame } of batches) {
      const { project, sequence, lines, isDrop } = frame;
      if (isDrop) {
        drops.set(project, Math.max(sequence, drops.get(project) ?? 0));
        intervals.delete(project);
      } else if (lines > 0) {
        const own = intervals.get(project) ?? [];
        if (own.length === 0) intervals.set(project, own);
        own.push([sequence, sequence + lines - 1]);
      }
    }
  }
  const batchesOf = (project: string) =>
    files.flatMap(({ batches }) => batches.filter(({ frame }) => frame.project === project && !frame.isDrop));
  const framesOf = (project: string) => ({
    intervals: intervals.get(project) ?? [],
    isWhole: isWhole(project),
    wholeSince: isWhole(project) ? wholeSince : undefined,
    has: eventFinder(() => batchesOf(project)),
  });
  return { drops, framesOf };
}

/** Looks events up among batches, whose lines are read when they are first asked for. */
function eventFinder(batchesOf: () => readonly FrameAndBody[]): JournalFrames["has"] {
  let batches: readonly FrameAndBody[] | undefined;
  const events = new Map<number, readonly [nanoseconds: string, message: string]>();
  const read = new Set<FrameAndBody>();
  return (sequence, nanoseconds, message) => {
    batches ??= batchesOf();
    if (!events.has(sequence)) {
      const batch = findLast(batches, sequence);
      if (batch === undefined || sequence >= batch.frame.sequence + batch.frame.lines || read.has(batch)) return false;
      read.add(batch);
      for (const line of batch.body.toString().split("\n")) {
        if (line === "") continue;
        const { q, m } = JSON.parse(line) as { q: number; m: string };
        events.set(q, [/"t":(-?\d+)/.exec(line)![1]!, m]);
      }
    }
    const [at, text] = events.get(sequence) ?? [];
    return at === String(nanoseconds) && text === message;
  };
}

/** The last batch that begins at or before a sequence; batches are in the order of acceptance. */
function findLast(batches: readonly FrameAndBody[], sequence: number): FrameAndBody | undefined {
  let [low, high] = [0, batches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (batches[middle]!.frame.sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return batches[low - 1];
}

/** What segments tell of batches that the journal does not have any more. */
export interface HeldElsewhere {
  /** Whether all events of a project between two sequences are in segments. */
  isHeld(project: string, interval: Interval): boolean;
  /** The last sequence that is in any segment. */
  readonly flushed: number;
}

/**
 * Decides what is lost of what is wrong, writes that down, then puts the files in order: the torn end of a crash is cut
 * off, a damaged file is kept for people to look at and one with its whole batches takes its place.
 */
export async function putInOrder(
  directory: string,
  { files, suspects, list }: ReadJournal,
  held: HeldElsewhere,
  nowMs: number,
): Promise<{ damage: Damage; found: readonly JournalLoss[] }> {
  const losses = new Map(list.losses.map((loss) => [loss.id, loss]));
  for (const { path, bytes, begin } of files) {
    const isWhole = !suspects.some((one) => one.kind !== "torn" && one.begin === begin);
    for (const [id, { file, fileBytes }] of losses) {
      if (isWhole && file === nameOf(path) && bytes >= fileBytes) losses.delete(id);
    }
  }
  const found: JournalLoss[] = [];
  const damagedFiles = new Set<number>();
  let tornBytes = 0;
  for (const suspect of suspects) {
    const { path } = journalFile(directory, suspect.begin);
    if (suspect.kind === "torn") {
      tornBytes += suspect.bytes;
      continue;
    }
    if (suspect.kind !== "missing") damagedFiles.add(suspect.begin);
    const loss = lossOf(suspect, nameOf(path), held, nowMs);
    if (loss === undefined || losses.has(loss.id)) continue;
    losses.set(loss.id, loss);
    found.push(loss);
  }
  // Written down before the files show nothing of it any more.
  const known = files.map(({ begin }) => [begin, list.files.get(begin)] as const);
  if (found.length > 0 || losses.size < list.losses.length) await list.replace(known, [...losses.values()]);
  const quarantined: string[] = [];
  for (const file of files) {
    const torn = suspects.find(({ kind, begin }) => kind === "torn" && begin === file.begin);
    if (damagedFiles.has(file.begin)) quarantined.push(await setAside(directory, file));
    else if (torn?.kind === "torn") await truncate(file.path, torn.length);
  }
  return { damage: { tornBytes, quarantined }, found };
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The batches that a suspect tells to be lost; undefined if segments have them. */
export function lossOf(suspect: Suspect, file: string, held: HeldElsewhere, atMs: number): JournalLoss | undefined {
  if (suspect.kind === "torn") return undefined;
  if (suspect.kind === "missing") {
    // Files become segments in their order: if later ones did, this one had gone before, and the list is an old one.
    if (held.flushed >= suspect.before - 1) return undefined;
    const bytes = suspect.bytes ?? 0;
    return { id: lossId(file), file, reason: "is missing", atMs, bytes, fileBytes: bytes };
  }
  if (suspect.kind === "short") {
    const { length, bytes } = suspect;
    return { id: lossId(`${file}@${length}`), file, reason: "is cut off", atMs, bytes, fileBytes: length + bytes };
  }
  const { project, interval, bytes } = suspect.frame;
  const { fileBytes } = suspect;
  if (project !== undefined && interval !== undefined && held.isHeld(project, interval)) return undefined;
  return { id: lossId(`${file}@${suspect.at}`), file, reason: "is damaged", atMs, bytes, fileBytes, project };
}

/** Keeps a damaged file for people to look at and puts one with its whole batches in its place. */
async function setAside(directory: string, { path, batches }: RecoveredFile): Promise<string> {
  const folder = join(directory, "quarantine");
  await mkdir(folder, { recursive: true });
  const kept = join(folder, `${nameOf(path)}.${Date.now()}`);
  const aside = `${path}.mended`;
  const handle = await open(aside, "w");
  try {
    for (const { frame, body } of batches) {
      await handle.write(encodeFrame(frame, body));
      await handle.write(body);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await copyFile(path, kept);
  const copy = await open(kept, "r+");
  await copy.sync().finally(() => copy.close());
  await syncDirectory(folder);
  await rename(aside, path);
  await syncDirectory(directory);
  return kept;
}
