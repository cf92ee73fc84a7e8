import { readdir } from "node:fs/promises";
import { NotAFile, readDataFile } from "../../data-file.ts";
import { errorCode, unlessGone } from "../durable.ts";
import type { Interval } from "../intervals.ts";
import { type BadFrame, type FrameAndBody, isTorn, readBadFrame, readFrames } from "./frame.ts";
import { isJournalFile, type JournalFile, journalFile } from "./journal-file.ts";
import type { JournalList } from "./journal-list.ts";
import { eachLine } from "./line.ts";

export interface RecoveredFile extends JournalFile {
  readonly batches: readonly FrameAndBody[];
  /** Length of the batches with their frames. */
  readonly bytes: number;
}

/** The contents of the journal, and the problems of its files. Reading it changes nothing. */
export interface ReadJournal {
  readonly files: readonly RecoveredFile[];
  /** Pipes, devices and folders with the name of a file. */
  readonly notFiles: readonly JournalFile[];
  readonly suspects: readonly Suspect[];
  readonly list: JournalList;
  /** The sequence of each project's last deletion. */
  readonly deletions: ReadonlyMap<string, number>;
  projectJournal(project: string): ProjectJournal;
}

/** The batches of a project in the journal. */
export interface ProjectJournal {
  /** The sequences of whole batches. */
  readonly intervals: readonly Interval[];
  /** Whether the event of a sequence is that one: after a restore, sequences are given to other events again. */
  has(sequence: number, nanoseconds: bigint, message: string): boolean;
  /** Whether no batch of the journal is damaged. */
  readonly isWhole: boolean;
  /** The sequence from which on the journal has everything; undefined if that is not known. */
  readonly wholeSince: number | undefined;
}

export type Suspect =
  /** `before`: where the next file that is there begins. `isTaken`: whether something else than a file has its name. */
  | {
      readonly kind: "missing";
      readonly begin: number;
      readonly bytes: number | undefined;
      readonly before: number;
      readonly isTaken: boolean;
    }
  /**
   * The file ends in a partial batch. A crash during a write is `torn`; if the file was known to be longer, or the tail is
   * not what a crash leaves, batches were lost: `short`.
   */
  | { readonly kind: "torn"; readonly begin: number; readonly length: number; readonly bytes: number }
  | { readonly kind: "short"; readonly begin: number; readonly length: number; readonly bytes: number }
  | {
      readonly kind: "bad";
      readonly begin: number;
      readonly at: number;
      readonly fileBytes: number;
      readonly frame: BadFrame;
    };

/** Reads all files of the journal. Throws if one of them cannot be read, and names it: what it holds is not known. */
export async function readJournalFiles(directory: string, list: JournalList): Promise<ReadJournal> {
  const names = ((await unlessGone(readdir(directory))) ?? []).filter(isJournalFile).sort();
  const files: RecoveredFile[] = [];
  const notFiles: JournalFile[] = [];
  const suspects: Suspect[] = [];
  const damaged = new Set<string>();
  const seen = new Map<number, FrameAndBody>();
  const there = new Set<number>();
  let isAnyDamaged = false;
  for (const name of names) {
    const file = journalFile(directory, Number(name.slice(0, 16)));
    const { begin } = file;
    const text = await readDataFile(file.path).catch((error: unknown) => {
      if (error instanceof NotAFile) return undefined;
      throw new Error(
        `${file.path} cannot be read (${errorCode(error)}), and it may hold events that are nowhere else: make it readable, or move it away to continue without them`,
        { cause: error },
      );
    });
    if (text === undefined) {
      notFiles.push(file);
      continue;
    }
    const batches: FrameAndBody[] = [];
    // Where the last whole batch ends, and how long they all are.
    let [length, bytes] = [0, 0];
    let first: number | undefined;
    const bad: Suspect[] = [];
    for (const result of readFrames(text)) {
      if ("whole" in result) {
        // A file may be there twice.
        const { sequence, lines, project } = result.whole.frame;
        const before = seen.get(sequence);
        if (before === undefined) batches.push(result.whole);
        else if (before.frame.project !== project || !before.body.equals(result.whole.body)) {
          // From before a restore. It is kept, but its sequences belong to other events now.
          const frame = { project, bytes: result.end - length, interval: [sequence, sequence + lines - 1] as const };
          bad.push({ kind: "bad", begin, at: length, fileBytes: text.length, frame });
        }
        seen.set(sequence, before ?? result.whole);
        first ??= sequence;
        bytes += result.end - length;
        length = result.end;
      } else if ("bad" in result) {
        length = result.end;
        const frame = readBadFrame(text.subarray(result.bad, result.end));
        bad.push({ kind: "bad", begin, at: result.bad, fileBytes: text.length, frame });
        if (frame.project === undefined) isAnyDamaged = true;
        else damaged.add(frame.project);
      }
    }
    const isOwn = list.files.has(begin) && length >= list.leastBytes(begin);
    const listed = isOwn ? begin : listedAs(begin, first, length, list);
    there.add(listed);
    const listedBytes = list.files.get(listed);
    const least = list.leastBytes(listed);
    if (length < least) {
      suspects.push({ kind: "short", begin, length, bytes: least - length });
      isAnyDamaged = true;
    } else if (length < text.length) {
      // Nothing after its known end was acknowledged.
      const isCrash = listedBytes !== undefined || isTorn(text.subarray(length));
      suspects.push({ kind: isCrash ? "torn" : "short", begin, length, bytes: text.length - length });
      isAnyDamaged ||= !isCrash;
    }
    suspects.push(...bad);
    files.push({ ...file, batches, bytes });
  }
  // Without a list, a file may have been there.
  const unlisted = list.isKnown ? [] : notFiles.map(({ begin }) => [begin, undefined] as const);
  for (const [begin, bytes] of [...list.files, ...unlisted]) {
    if (bytes === 0 || there.has(begin)) continue;
    const before = Math.min(...files.map((file) => file.begin).filter((other) => other > begin));
    const isTaken = notFiles.some((one) => one.begin === begin);
    suspects.push({ kind: "missing", begin, bytes: bytes ?? list.leastBytes(begin), before, isTaken });
    isAnyDamaged = true;
  }
  // In the order of acceptance, whatever they are called.
  files.sort((a, b) => firstOf(a) - firstOf(b));
  const wholeSince = isAnyDamaged || !list.isKnown ? undefined : sinceWhen(files, list);
  return {
    files,
    notFiles,
    suspects,
    list,
    ...contentsOf(files, wholeSince, (project) => !isAnyDamaged && !damaged.has(project)),
  };
}

/** The sequence from which on the journal has everything: where the first of the files that follow each other begins. */
function sinceWhen(files: readonly RecoveredFile[], list: JournalList): number | undefined {
  let since: number | undefined;
  for (const file of [...files].reverse()) {
    const last = file.batches.at(-1)?.frame;
    const end = last === undefined ? file.begin : last.sequence + Math.max(1, last.lines);
    if (since !== undefined && end !== since && list.fileAfter(file.begin) !== since) break;
    since = file.begin;
  }
  return since;
}

const firstOf = ({ batches, begin }: RecoveredFile) => batches[0]?.frame.sequence ?? begin;

/** The number under which a renamed file is listed, found by its first batch or its length. */
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
  const deletions = new Map<string, number>();
  const intervals = new Map<string, Interval[]>();
  for (const { batches } of files) {
    for (const { frame } of batches) {
      const { project, sequence, lines, isDeletion } = frame;
      if (isDeletion) {
        deletions.set(project, Math.max(sequence, deletions.get(project) ?? 0));
        intervals.delete(project);
      } else if (lines > 0) {
        const own = intervals.get(project) ?? [];
        if (own.length === 0) intervals.set(project, own);
        own.push([sequence, sequence + lines - 1]);
      }
    }
  }
  const batchesOf = (project: string) =>
    files.flatMap(({ batches }) => batches.filter(({ frame }) => frame.project === project && !frame.isDeletion));
  const projectJournal = (project: string) => ({
    intervals: intervals.get(project) ?? [],
    isWhole: isWhole(project),
    wholeSince: isWhole(project) ? wholeSince : undefined,
    has: eventFinder(() => batchesOf(project)),
  });
  return { deletions, projectJournal };
}

/** Looks events up among batches, whose lines are read when they are first asked for. */
function eventFinder(batchesOf: () => readonly FrameAndBody[]): ProjectJournal["has"] {
  let batches: readonly FrameAndBody[] | undefined;
  const events = new Map<number, readonly [nanoseconds: string, message: string]>();
  const read = new Set<FrameAndBody>();
  return (sequence, nanoseconds, message) => {
    batches ??= batchesOf();
    if (!events.has(sequence)) {
      const batch = findLast(batches, sequence);
      if (batch === undefined || sequence >= batch.frame.sequence + batch.frame.lines || read.has(batch)) return false;
      read.add(batch);
      for (const { q, m, nanoseconds } of eachLine(batch.body)) events.set(q, [nanoseconds, m]);
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
