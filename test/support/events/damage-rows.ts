// The rows of damage: each kind of file with each fault that it may have.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { printWithChecksum } from "../../../logservice/events/durable.ts";
import type { Case } from "./damage.ts";
import * as faults from "./faults.ts";
import { DOOMED, FRESH, filesOf, type HeldFrame, type RichStore } from "./rich-store.ts";

/** A kind of file, one of which is damaged. */
interface Kind {
  readonly kind: string;
  readonly path: (rich: RichStore) => string;
  readonly from?: (rich: RichStore) => string;
  /** The content that is lost if the whole file cannot be read. Files that others can be made of lose nothing. */
  readonly holds: "events" | "batches" | "nothing";
  /** Whether it is said that the file is gone; a file that was never there looks alike otherwise. */
  readonly isMissed: boolean;
  /** The text that a line of the log names, if not the file. */
  readonly logged?: (path: string) => string;
  readonly areKeysLost?: boolean;
  /** The project whose every event is read. */
  readonly deep?: string;
}

const smallOf = (rich: RichStore, project = "alpha") =>
  rich.paths.segmentsOf(project).find(({ events }) => events < 20)!.path;
const mergedOf = (rich: RichStore, project = "alpha") =>
  rich.paths.segmentsOf(project).find(({ events }) => events > 50)!.path;
const manifestOf = (rich: RichStore, project = "alpha") => `${rich.paths.folderOf(project)}/manifest.json`;

/** The journal, and what lists its files or all folders. */
const JOURNAL_KINDS: readonly Kind[] = [
  {
    kind: "an ended journal file",
    path: ({ paths }) => paths.ended,
    holds: "batches",
    isMissed: true,
    areKeysLost: true,
  },
  { kind: "the current journal file", path: ({ paths }) => paths.current, holds: "batches", isMissed: true },
  {
    kind: "an ended journal file of a killed store",
    path: ({ paths }) => paths.ended,
    from: ({ killed }) => killed,
    holds: "batches",
    isMissed: true,
    areKeysLost: true,
  },
  { kind: "the list of journal files", path: () => "journal.json", holds: "nothing", isMissed: true },
  { kind: "a file of keys", path: ({ paths }) => paths.keys, holds: "nothing", isMissed: false, areKeysLost: true },
  { kind: "the list of folders", path: () => "folders.json", holds: "nothing", isMissed: true },
];

/** The files in the folder of a project. */
const PROJECT_KINDS: readonly Kind[] = [
  { kind: "a manifest", path: (rich) => manifestOf(rich), holds: "nothing", isMissed: true, logged: dirname },
  { kind: "a small segment", path: (rich) => smallOf(rich), holds: "events", isMissed: true },
  { kind: "a merged segment", path: (rich) => mergedOf(rich), holds: "events", isMissed: true },
  {
    kind: "a merged segment with a filter",
    path: (rich) => mergedOf(rich, "big"),
    holds: "events",
    isMissed: true,
    deep: "big",
  },
  {
    kind: "a summary",
    path: (rich) => `${smallOf(rich)}.json`,
    holds: "nothing",
    isMissed: true,
    logged: (path) => path.replace(/\.json$/, ""),
  },
  {
    kind: "the summary of a merged segment",
    path: (rich) => `${mergedOf(rich)}.json`,
    holds: "nothing",
    isMissed: true,
    logged: (path) => path.replace(/\.json$/, ""),
  },
  {
    kind: "a filter",
    path: (rich) => `${mergedOf(rich, "big")}.filter`,
    holds: "nothing",
    isMissed: false,
    deep: "big",
  },
];

/** In how many places of a file a bit is flipped: DAMAGE_FLIPS of them (4), an even number; `npm run damage:files` has 40. */
const FLIPS = Number(process.env.DAMAGE_FLIPS ?? 4);
/** DAMAGE_ALL=1: more rows are followed through flushes, merges and later starts, as `npm run damage:files` has it. */
const areAll = process.env.DAMAGE_ALL === "1";
/** How many flips in the journal are followed; in other files only the first is. */
const FOLLOWED = areAll ? 2 : 1;

/** The rows of a kind: gone, empty, another document, cut, and with a bit flipped. */
const rowsOf = (kind: Kind): readonly [kind: string, rows: readonly Case[]] => [
  kind.kind,
  [
    rowOf(kind, "gone", { damage: faults.remove, isLost: () => true, isNamed: kind.isMissed }),
    // A filter is read, and so named, by what comes after the start.
    rowOf(kind, "empty", {
      damage: faults.empty,
      isLost: () => true,
      isShort: !areAll && kind.kind !== "a filter",
    }),
    // A folder in the place of a list of files is refused: "a directory in the place of a list of files is named".
    ...Object.entries(faults.notFiles)
      .filter(([fault]) => fault !== "a folder" || !kind.kind.startsWith("the list of"))
      .map(([fault, damage]) =>
        rowOf(kind, fault, { damage, isLost: () => true, isNamed: kind.isMissed, isShort: true }),
      ),
    rowOf(kind, "another document with a right sum", {
      damage: (path) => faults.overwrite(path, printWithChecksum({ version: 1, others: [] })),
      isLost: () => true,
      isShort: true,
    }),
    ...[0.1, 0.6, 1].map((share) =>
      rowOf(kind, `cut at ${share === 1 ? "the last byte" : `${share * 100} %`}`, {
        damage: (path) => faults.cut(path, share),
        isLost: ({ end }, length) => end > faults.cutAt(length, share),
        isShort: share !== 0.6 || kind.holds === "nothing",
      }),
    ),
    ...Array.from({ length: FLIPS }, (_, i) =>
      rowOf(kind, `a bit flipped, place ${i + 1} of ${FLIPS}`, {
        damage: (path) => {
          const { at, bit } = faults.placeOf(statSync(path).size, i, FLIPS);
          faults.flip(path, at, bit);
        },
        isLost: ({ at, end }, length) => {
          const place = faults.placeOf(length, i, FLIPS).at;
          return place >= at && place < end;
        },
        // The part that is read of a filter is a few frames of it.
        isNamed: kind.kind !== "a filter",
        isShort: i % (FLIPS / FOLLOWED) !== 0 || (i > 0 && kind.holds !== "batches"),
      }),
    ),
  ],
];

export const journalRows = JOURNAL_KINDS.map(rowsOf);
export const segmentRows = PROJECT_KINDS.map(rowsOf);

interface Fault {
  readonly damage: (path: string) => void;
  /** Whether a batch of a journal file is lost by it. */
  readonly isLost: (frame: HeldFrame, length: number) => boolean;
  readonly isNamed?: boolean;
  readonly isShort?: boolean;
}

function rowOf(kind: Kind, name: string, { damage, isLost, isNamed = true, isShort = false }: Fault): Case {
  const { path, holds, logged = (one: string) => one } = kind;
  // The journal must have something to lose.
  const isFlushed = isShort && holds !== "batches";
  const from = isFlushed
    ? ({ flushed }: RichStore) => flushed
    : (kind.from ?? (({ directory }: RichStore) => directory));
  const lost = (rich: RichStore) => {
    if (holds === "nothing") return [];
    const file = join(from(rich), path(rich));
    const frames = rich.held.framesOf(file);
    const length = statSync(file).size;
    return frames.filter((one) => holds === "events" || isLost(one, length)).flatMap(({ numbers }) => numbers);
  };
  return {
    name: `${kind.kind}: ${name}`,
    from,
    damage: (directory, rich) => damage(join(directory, path(rich))),
    lost,
    losses: (rich) => (lost(rich).length === 0 ? [] : [basename(path(rich))]),
    ...(holds === "batches" && { mayTellAll: true }),
    ...(holds === "events" && { isTimeKnown: true }),
    ...(isNamed && { logged: (rich: RichStore) => [basename(logged(path(rich)))] }),
    ...(!isShort && { putBack: (directory, rich) => faults.putBack(from(rich), directory, path(rich)) }),
    ...(kind.areKeysLost && { areKeysLost: true }),
    isShort,
    ...(isFlushed && { events: (rich: RichStore) => rich.flushedEvents }),
    ...(name === "gone" && { isThorough: true }),
    ...(name === "gone" && holds !== "nothing" && { sql: ["alpha"] }),
    ...(kind.deep && { deep: [kind.deep] }),
  };
}

const copyFolder = (directory: string, from: string, to: string) =>
  cpSync(join(directory, from), join(directory, to), { recursive: true, preserveTimestamps: true });
const rename = (directory: string, from: string, to: string) => {
  mkdirSync(dirname(join(directory, to)), { recursive: true });
  renameSync(join(directory, from), join(directory, to));
};
/** Returns the numbers of the events in a project's segments. */
const inFolder = (rich: RichStore, project: string) =>
  rich.paths.segmentsOf(project).flatMap(({ path }) => rich.held.numbersOf(join(rich.directory, path)));
const foldersLike = (rich: RichStore, name: string) => {
  const folder = rich.paths.folderOf("alpha");
  return `projects/${name.replace("K", "alpha").replace("N", folder.slice(folder.indexOf("~") + 1))}`;
};

/** Folders that are gone, doubled, renamed, swapped or from an earlier moment. */
export const folderRows: readonly Case[] = [
  {
    name: "a project's folder: gone",
    damage: (directory, rich) => faults.remove(join(directory, rich.paths.folderOf("alpha"))),
    lost: (rich) => inFolder(rich, "alpha"),
    losses: (rich) => [basename(rich.paths.folderOf("alpha"))],
    logged: (rich) => [basename(rich.paths.folderOf("alpha"))],
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, rich.paths.folderOf("alpha")),
    sql: ["alpha"],
  },
  {
    name: "a project's folder: emptied",
    damage: (directory, rich) => {
      const folder = join(directory, rich.paths.folderOf("alpha"));
      faults.remove(folder);
      mkdirSync(folder);
    },
    lost: (rich) => inFolder(rich, "alpha"),
    losses: (rich) => [basename(rich.paths.folderOf("alpha"))],
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, rich.paths.folderOf("alpha")),
  },
  ...["K~9", "K~N.bak", "K~0N", "K~999999999", "other~N", "K-copy~N"].map(
    (name): Case => ({
      name: `a project's folder: doubled as ${name}`,
      damage: (directory, rich) => copyFolder(directory, rich.paths.folderOf("alpha"), foldersLike(rich, name)),
      logged: (rich) => [basename(foldersLike(rich, name))],
    }),
  ),
  ...["K~9", "K~999999999", "other~N"].map(
    (name): Case => ({
      name: `a project's folder: renamed to ${name}`,
      damage: (directory, rich) => rename(directory, rich.paths.folderOf("alpha"), foldersLike(rich, name)),
      logged: (rich) => [basename(foldersLike(rich, name))],
    }),
  ),
  ...["K~N.bak", "K~0N", "K"].map(
    (name): Case => ({
      name: `a project's folder: renamed to ${name}, which is not a folder's name`,
      damage: (directory, rich) => rename(directory, rich.paths.folderOf("alpha"), foldersLike(rich, name)),
      lost: (rich) => inFolder(rich, "alpha"),
      losses: (rich) => [basename(rich.paths.folderOf("alpha"))],
      logged: (rich) => [basename(foldersLike(rich, name))],
      putBack: (directory, rich) => faults.putBack(rich.directory, directory, rich.paths.folderOf("alpha")),
    }),
  ),
  {
    name: "two projects' folders: swapped",
    damage: (directory, { paths }) =>
      faults.swap(join(directory, paths.folderOf("alpha")), join(directory, paths.folderOf("beta"))),
    logged: (rich) => [basename(rich.paths.folderOf("alpha"))],
  },
  // A copy of before the last flushes, which comes first in the order of names, or has the folder's own name.
  ...["K~9", "K~N"].map(
    (name): Case => ({
      name: `an older copy of a folder as ${name}, and the folder itself renamed`,
      damage: (directory, rich) => {
        const folder = rich.paths.folderOf("alpha");
        rename(directory, folder, foldersLike(rich, "other~N"));
        cpSync(join(rich.earlier.beforeFlush, folder), join(directory, foldersLike(rich, name)), { recursive: true });
      },
      logged: (rich) => [basename(foldersLike(rich, name))],
    }),
  ),
  {
    name: "an older copy of a folder, and the folder itself without its manifest",
    damage: (directory, rich) => {
      const folder = rich.paths.folderOf("alpha");
      cpSync(join(rich.earlier.beforeFlush, folder), join(directory, foldersLike(rich, "K~9")), { recursive: true });
      faults.remove(join(directory, folder, "manifest.json"));
    },
    logged: (rich) => [basename(foldersLike(rich, "K~9"))],
  },
  {
    name: "a copy of a folder in its place that was not finished, and the folder itself renamed",
    damage: (directory, rich) => {
      const folder = rich.paths.folderOf("alpha");
      rename(directory, folder, foldersLike(rich, "K~9"));
      copyFolder(directory, `${foldersLike(rich, "K~9")}/manifest.json`, `${folder}/manifest.json`);
    },
    logged: (rich) => [basename(foldersLike(rich, "K~9"))],
  },
  {
    name: "a copy of a folder without its manifest beside it",
    damage: (directory, rich) => {
      copyFolder(directory, rich.paths.folderOf("alpha"), foldersLike(rich, "K~9"));
      faults.remove(join(directory, foldersLike(rich, "K~9"), "manifest.json"));
    },
  },
  {
    name: "a copy of a folder, and the folder itself without its manifest",
    damage: (directory, rich) => {
      copyFolder(directory, rich.paths.folderOf("alpha"), foldersLike(rich, "K~9"));
      faults.remove(join(directory, rich.paths.folderOf("alpha"), "manifest.json"));
    },
  },
  {
    name: "a folder renamed, and without its manifest",
    damage: (directory, rich) => {
      rename(directory, rich.paths.folderOf("alpha"), foldersLike(rich, "K~9"));
      faults.remove(join(directory, foldersLike(rich, "K~9"), "manifest.json"));
    },
  },
  {
    name: "all folders gone",
    // Its folder was made, and nothing was in it yet.
    mayTell: [FRESH],
    damage: (directory) => faults.remove(join(directory, "projects")),
    lost: (rich) => ["alpha", "beta", "again", "big"].flatMap((project) => inFolder(rich, project)),
    losses: (rich) => ["alpha", "beta", "again", "big"].map((project) => basename(rich.paths.folderOf(project))),
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, "projects"),
  },
];

/** Files that have another name, or that of another one. */
export const nameRows: readonly Case[] = [
  ...["x.parquet", "0000000000000001-zz-0.parquet", "0000000000000007-0000000000000009-zz-0.parquet"].flatMap((name) =>
    [smallOf, mergedOf].map(
      (choose): Case => ({
        name: `a ${choose === smallOf ? "small" : "merged"} segment: renamed to ${name}`,
        damage: (directory, rich) => rename(directory, choose(rich), join(dirname(choose(rich)), name)),
        logged: (rich) => [name, basename(choose(rich))],
      }),
    ),
  ),
  {
    name: "a segment: in another project's folder",
    damage: (directory, rich) =>
      rename(directory, smallOf(rich), join(rich.paths.folderOf("beta"), basename(smallOf(rich)))),
    lost: (rich) => rich.held.numbersOf(join(rich.directory, smallOf(rich))),
    losses: (rich) => [basename(smallOf(rich))],
    logged: (rich) => [basename(smallOf(rich))],
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, smallOf(rich)),
  },
  {
    name: "a segment: a copy of it in another project's folder",
    damage: (directory, rich) =>
      copyFolder(directory, smallOf(rich), join(rich.paths.folderOf("beta"), basename(smallOf(rich)))),
  },
  {
    name: "a segment: doubled",
    damage: (directory, rich) =>
      copyFolder(directory, smallOf(rich), join(dirname(smallOf(rich)), "0000000000000001-zz-0.parquet")),
  },
  ...(
    [
      ["a small segment", smallOf],
      ["a merged segment", mergedOf],
    ] as const
  ).map(
    ([name, choose]): Case => ({
      name: `${name}: swapped between two projects`,
      damage: (directory, rich) => faults.swap(join(directory, choose(rich)), join(directory, choose(rich, "beta"))),
      lost: (rich) => ["alpha", "beta"].flatMap((one) => rich.held.numbersOf(join(rich.directory, choose(rich, one)))),
      losses: (rich) => ["alpha", "beta"].map((one) => basename(choose(rich, one))),
      logged: (rich) => [basename(choose(rich))],
      putBack: (directory, rich) => {
        for (const one of ["alpha", "beta"]) faults.putBack(rich.directory, directory, choose(rich, one));
      },
    }),
  ),
  {
    name: "two segments of a project: swapped",
    damage: (directory, rich) => faults.swap(join(directory, smallOf(rich)), join(directory, mergedOf(rich))),
    lost: (rich) => [smallOf, mergedOf].flatMap((choose) => rich.held.numbersOf(join(rich.directory, choose(rich)))),
    losses: (rich) => [basename(smallOf(rich)), basename(mergedOf(rich))],
    putBack: (directory, rich) => {
      for (const choose of [smallOf, mergedOf]) faults.putBack(rich.directory, directory, choose(rich));
    },
    logged: (rich) => [basename(smallOf(rich))],
  },
  {
    name: "a summary: swapped between two projects",
    damage: (directory, rich) =>
      faults.swap(join(directory, `${smallOf(rich)}.json`), join(directory, `${smallOf(rich, "beta")}.json`)),
    logged: (rich) => [basename(smallOf(rich))],
  },
  {
    name: "a summary: that of another segment of the project",
    damage: (directory, rich) =>
      faults.overwrite(
        join(directory, `${smallOf(rich)}.json`),
        readFileSync(join(directory, `${mergedOf(rich)}.json`)),
      ),
    logged: (rich) => [basename(smallOf(rich))],
  },
  {
    name: "a manifest: swapped between two projects",
    damage: (directory, rich) =>
      faults.swap(join(directory, manifestOf(rich)), join(directory, manifestOf(rich, "beta"))),
  },
  {
    name: "a manifest: renamed",
    damage: (directory, rich) => rename(directory, manifestOf(rich), `${manifestOf(rich)}.bak`),
    logged: (rich) => [basename(rich.paths.folderOf("alpha"))],
  },
  {
    name: "an ended journal file: renamed to another number",
    damage: (directory, rich) => rename(directory, rich.paths.ended, otherJournal(rich)),
  },
  {
    name: "an ended journal file: renamed to journal.bak",
    damage: (directory, rich) => rename(directory, rich.paths.ended, "journal/journal.bak"),
    lost: (rich) => rich.held.numbersOf(join(rich.directory, rich.paths.ended)),
    losses: (rich) => [basename(rich.paths.ended)],
    logged: (rich) => [basename(rich.paths.ended)],
    mayTellAll: true,
    areKeysLost: true,
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, rich.paths.ended),
  },
  {
    name: "an ended journal file: doubled under another number",
    damage: (directory, rich) => copyFolder(directory, rich.paths.ended, otherJournal(rich)),
  },
  {
    name: "the two journal files: swapped",
    damage: (directory, { paths }) => faults.swap(join(directory, paths.ended), join(directory, paths.current)),
    // Every event is answered; the lengths that the list has of the two do not fit, and that is told.
    mayTellAll: true,
  },
];

const otherJournal = ({ paths }: RichStore) => {
  const number = Number(basename(paths.ended).slice(0, 16));
  return `journal/${String(number + 3).padStart(16, "0")}.ndjson`;
};

type Moment = keyof RichStore["earlier"];

/** The same files of earlier moments of the store's life. */
export const olderRows: readonly Case[] = [
  ...(["beforeMerge", "beforeDrop", "beforeFlush"] as const).flatMap((moment) => [
    older(moment, "a manifest", (_, from) => `${folderIn(from, "alpha")}/manifest.json`),
    older(moment, "the list of journal files", () => "journal.json"),
    // It lists folders of projects that were deleted, and nothing tells that they were.
    older(moment, "the list of folders", () => "folders.json", { mayTell: [DOOMED] }),
    older(moment, "the keys", () => "keys", { areKeysLost: true }),
    {
      ...older(moment, "the journal, beside the files of now", () => "journal"),
      // Deletions are in the journal only until everything before them is in segments.
      extra: (rich: RichStore) => (moment === "beforeFlush" ? [] : deletedIn(rich, moment, "journal", DOOMED)),
    },
  ]),
  {
    name: "all manifests and lists from before the last flush",
    // Every event is answered, but nothing is left that tells that a file of the old list became segments.
    mayTellAll: true,
    damage: (directory, rich) => {
      for (const path of ["journal.json", "folders.json"]) faults.putBack(rich.earlier.beforeFlush, directory, path);
      for (const project of ["alpha", "beta", "again", "big"])
        faults.putBack(rich.earlier.beforeFlush, directory, manifestOf(rich, project));
    },
  },
  ...(["beforeMerge", "beforeFlush"] as const).map((moment): Case => {
    const lost = (rich: RichStore) => {
      const from = join(rich.earlier[moment], folderIn(rich.earlier[moment], "alpha"));
      const kept = new Set(filesOf(from).flatMap((path) => rich.held.numbersOf(join(from, path))));
      return inFolder(rich, "alpha").filter((one) => !kept.has(one));
    };
    return {
      name: `a project's folder: one from ${moment === "beforeMerge" ? "before a merge" : "before a flush"}`,
      damage: (directory, rich) => {
        faults.remove(join(directory, rich.paths.folderOf("alpha")));
        faults.putBack(rich.earlier[moment], directory, folderIn(rich.earlier[moment], "alpha"));
      },
      lost,
      // Not put back: batches of the journal were stored in the older one meanwhile, and would go with it.
      losses: (rich) => [basename(rich.paths.folderOf("alpha"))],
    };
  }),
  {
    name: "segments that were merged: put back beside the merged one",
    damage: (directory, rich) => {
      const from = join(rich.earlier.beforeMerge, folderIn(rich.earlier.beforeMerge, "alpha"));
      for (const name of readdirSync(from)) {
        if (name !== "manifest.json") cpSync(join(from, name), join(directory, rich.paths.folderOf("alpha"), name));
      }
    },
  },
  {
    name: "segments that were merged: put back, the merged one and the manifest gone",
    damage: (directory, rich) => {
      const from = join(rich.earlier.beforeMerge, folderIn(rich.earlier.beforeMerge, "alpha"));
      for (const name of readdirSync(from)) {
        if (name !== "manifest.json") cpSync(join(from, name), join(directory, rich.paths.folderOf("alpha"), name));
      }
      faults.remove(join(directory, manifestOf(rich)));
    },
  },
  {
    name: "the folder of a deleted project: put back, marked as removed, half of it",
    damage: (directory, rich) => putDoomedBack(directory, rich, true),
  },
  {
    name: "the folder of a deleted project: put back, the marker gone",
    damage: (directory, rich) => putDoomedBack(directory, rich, false),
    extra: (rich) => deletedIn(rich, "beforeDrop", "projects", DOOMED),
  },
  {
    name: "the folder of a deleted project that has begun anew: put back",
    damage: (directory, rich) => {
      const folder = folderIn(rich.earlier.beforeDrop, "again");
      cpSync(join(rich.earlier.beforeDrop, folder), join(directory, folder), { recursive: true });
    },
  },
];

function older(
  moment: Moment,
  what: string,
  path: (rich: RichStore, from: string) => string,
  more: Partial<Case> = {},
): Case {
  const when = { beforeMerge: "before a merge", beforeDrop: "before a deletion", beforeFlush: "before a flush" }[
    moment
  ];
  return {
    name: `${what}: one from ${when}`,
    damage: (directory, rich) => faults.putBack(rich.earlier[moment], directory, path(rich, rich.earlier[moment])),
    ...more,
  };
}

const folderIn = (directory: string, project: string) =>
  `projects/${readdirSync(join(directory, "projects")).find((name) => name.startsWith(`${project}~`))}`;

/** Events of deleted projects in the files of an earlier moment. */
function deletedIn(rich: RichStore, moment: Moment, below: string, ...only: string[]) {
  const from = rich.earlier[moment];
  const numbersByProject = new Map<string, number[]>();
  for (const path of filesOf(join(from, below))) {
    for (const { project, numbers } of rich.held.framesOf(join(from, below, path))) {
      const isDeleted = project === DOOMED || (project === "again" && !rich.events.get("again")!.has(numbers[0]!));
      if (isDeleted && (only.length === 0 || only.includes(project)))
        numbersByProject.set(project, [...(numbersByProject.get(project) ?? []), ...numbers]);
    }
  }
  return [...numbersByProject];
}

function putDoomedBack(directory: string, rich: RichStore, isMarked: boolean): void {
  const folder = folderIn(rich.earlier.beforeDrop, DOOMED);
  cpSync(join(rich.earlier.beforeDrop, folder), join(directory, folder), { recursive: true });
  if (!isMarked) return;
  writeFileSync(join(directory, folder, "removed"), "");
  faults.remove(join(directory, folder, "manifest.json"));
}

/** Files that were being written when the process ended. */
export const leftoverRows: readonly Case[] = [
  {
    name: "a segment that was being written: beside what it was made of",
    damage: (directory, rich) => leaveHalf(directory, rich),
  },
  {
    name: "a segment that was being written: the manifest gone",
    damage: (directory, rich) => {
      leaveHalf(directory, rich);
      faults.remove(join(directory, manifestOf(rich)));
    },
  },
  {
    name: "a segment that was being written: one that it was made of gone",
    damage: (directory, rich) => {
      leaveHalf(directory, rich);
      faults.remove(join(directory, smallOf(rich)));
    },
    lost: (rich) => rich.held.numbersOf(join(rich.directory, smallOf(rich))),
    losses: (rich) => [basename(smallOf(rich))],
    putBack: (directory, rich) => faults.putBack(rich.directory, directory, smallOf(rich)),
  },
  {
    name: "a manifest that was being written: half of it",
    damage: (directory, rich) =>
      writeFileSync(
        join(directory, `${manifestOf(rich)}.new`),
        readFileSync(join(directory, manifestOf(rich))).subarray(0, 99),
      ),
  },
  ...["journal.json.new", "folders.json.new", "journal/0000000000000003.ndjson.mended"].map(
    (path): Case => ({
      name: `a file that was being written: ${path.replace(/\d{16}/, "N")}`,
      damage: (directory) => writeFileSync(join(directory, path), "half"),
    }),
  ),
  ...["notes.txt", "core", "alpha.parquet.bak", ".nfs000001"].map(
    (name): Case => ({
      name: `a file of somebody else in a project's folder: ${name}`,
      damage: (directory, rich) => writeFileSync(join(directory, rich.paths.folderOf("alpha"), name), "not ours"),
    }),
  ),
  {
    name: "a folder of somebody else in a project's folder",
    damage: (directory, rich) => mkdirSync(join(directory, rich.paths.folderOf("alpha"), "backup")),
  },
];

/** Half of a segment of the whole project. */
function leaveHalf(directory: string, rich: RichStore): void {
  const [first, last] = [mergedOf(rich), smallOf(rich)].map((path) => basename(path).split("-"));
  const name = `${first![0]}-${last![1]}-zz-0.parquet.new`;
  const half = readFileSync(join(directory, mergedOf(rich))).subarray(0, 1000);
  writeFileSync(join(directory, dirname(mergedOf(rich)), name), half);
}

/** Files that a newer version wrote are not touched. */
export const newerRows: readonly Case[] = (
  [
    ["a manifest", (rich: RichStore) => manifestOf(rich)],
    ["the list of journal files", () => "journal.json"],
    ["the list of folders", () => "folders.json"],
  ] as const
).map(([what, path]) => ({
  name: `${what}: of a newer version`,
  damage: (directory, rich) =>
    faults.change(join(directory, path(rich)), (document) => ({ ...document, version: 3, more: true })),
  refused:
    what === "a manifest"
      ? /manifest\.json was written by a newer version/
      : /(journal|folders)\.json was written by a newer version/,
}));
