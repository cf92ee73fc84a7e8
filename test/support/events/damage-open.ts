// Damage to the files of a store while it is open: an answer is right, or says that events are missing.
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseQuery } from "../../../grammar/query/index.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { TestClock } from "../test-clock.ts";
import { until } from "../until.ts";
import { openLogged } from "./damage.ts";
import { wrongAnswers } from "./damage-check.ts";
import * as faults from "./faults.ts";
import { ALL_TIMES, copyStore, eventsOf, numbersOf, type OpenStore, type RichStore } from "./rich-store.ts";

export interface OpenCase {
  readonly name: string;
  /** Whether everything is in segments when it happens; else the journal's last batches wait in memory. */
  readonly isFlushed: boolean;
  readonly damage: (directory: string, rich: RichStore) => void;
  /** Before the store is opened. */
  readonly prepare?: (directory: string, rich: RichStore) => void;
  /** Whether nothing tells of it until all files are read. */
  readonly isSilent?: boolean;
  readonly lost?: (rich: RichStore) => readonly number[];
  /** The name that `losses()` has in the end. */
  readonly losses?: (rich: RichStore) => string;
  /** Puts it back while the store is closed. */
  readonly putBack?: (directory: string, rich: RichStore) => void;
}

/** By then, as the store's clock goes, it has begun to look for what an answer that needs no file has to say is missing. */
const NOTICED_MS = 3000;
/** Each look asks everything, so there are few of them. */
const LOOK_MS = 1000;
const never = new AbortController().signal;

/** Returns the faults of one case; empty if there are none. */
export async function runOpen(rich: RichStore, row: OpenCase): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "events-open-"));
  const directory = join(home, "store");
  const wrong: string[] = [];
  const say = (name: string, texts: readonly string[]) => void wrong.push(...texts.map((text) => `${name}: ${text}`));
  try {
    copyStore(rich.directory, directory);
    row.prepare?.(directory, rich);
    const all = new Map([...rich.events].map(([project, numbers]) => [project, new Set(numbers)]));
    const lost = new Set(row.lost?.(rich) ?? []);
    const touched = new Set(
      [...all].flatMap(([project, own]) => ([...lost].some((one) => own.has(one)) ? [project] : [])),
    );
    const left = () =>
      new Map([...all].map(([project, own]) => [project, new Set([...own].filter((one) => !lost.has(one)))]));
    const isMissing = (project: string) => touched.has(project);
    /** The others are asked everything after a start. */
    const fullyChecked = new Set(["alpha", ...touched]);

    const clock = new TestClock();
    const { store } = await openLogged(directory, { clock });
    let losses: string[] = [];
    try {
      if (row.isFlushed) await store.flush();
      const numbers = numbersOf(200, 10);
      await store.append("alpha", eventsOf("alpha", numbers));
      for (const one of numbers) all.get("alpha")!.add(one);
      // All files were read, and are known to be whole.
      if (row.isSilent) say("before", await wrongAnswers(store, { events: all, isMissing: () => false, fullyChecked }));
      row.damage(directory, rich);
      if (row.isSilent) await store.scrub();
      say("at once", await dishonest(store, "alpha", all.get("alpha")!));
      let failures: string[] = [];
      await until(
        "right answers after some seconds",
        async () => {
          if (clock.monotonicMs() < NOTICED_MS) await clock.advance(LOOK_MS);
          failures = await wrongAnswers(store, { events: left(), isMissing, fullyChecked });
          return failures.length === 0;
        },
        () => failures,
      );
      const more = numbersOf(201, 10);
      await store.append("alpha", eventsOf("alpha", more));
      for (const one of more) all.get("alpha")!.add(one);
      await flushed(store);
      await store.compact();
      say("after a flush", await wrongAnswers(store, { events: left(), isMissing, fullyChecked }));
      losses = store.losses().map(({ file }) => file);
      const named = row.losses?.(rich);
      if (named === undefined ? losses.length > 0 : !losses.some((one) => one.includes(named)))
        wrong.push(`losses() are ${losses.join("; ")}`);
    } finally {
      await store.close();
    }
    const again = await openLogged(directory);
    say("after a start", await wrongAnswers(again.store, { events: left(), isMissing }));
    const now = again.store.losses().map(({ file }) => file);
    if (String(now) !== String(losses)) wrong.push(`after a start losses() are ${now.join("; ")}`);
    await again.store.close();
    if (row.putBack === undefined) return wrong;
    row.putBack(directory, rich);
    const back = await openLogged(directory);
    say("when it was put back", await wrongAnswers(back.store, { events: all, isMissing: () => false, fullyChecked }));
    await back.store.close();
  } catch (error) {
    wrong.push(String(error instanceof Error ? error.stack : error));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return wrong;
}

/** A flush that fails is tried again, from memory if it must. */
async function flushed(store: OpenStore): Promise<void> {
  let failure = "";
  const isFlushed = () =>
    store.flush().then(
      () => true,
      (error: unknown) => {
        failure = String(error);
        return false;
      },
    );
  await until("the flush", isFlushed, () => failure);
}

/** Wrong events, doubles, or fewer events without a word. */
async function dishonest(store: EventsStore, project: string, numbers: ReadonlySet<number>): Promise<string[]> {
  const wrong: string[] = [];
  const parsed = parseQuery("i >= 0");
  const range = {
    project,
    ...ALL_TIMES,
    query: parsed.ok ? parsed.value : undefined,
  };
  const { events, stats } = await store.search({ ...range, limit: 10_000, order: "ascending", signal: never });
  const seen = new Set<number>();
  for (const { fields } of events) {
    const { i } = fields as { i: number };
    if (!numbers.has(i)) wrong.push(`the event ${i} should not be there`);
    if (seen.has(i)) wrong.push(`the event ${i} twice`);
    seen.add(i);
  }
  if (seen.size < numbers.size && stats.missingBytes === 0)
    wrong.push(`${seen.size} of ${numbers.size} events, and no word`);
  return wrong;
}

const smallOf = (rich: RichStore) => rich.paths.segmentsOf("alpha").find(({ events }) => events < 20)!.path;
const mergedOf = (rich: RichStore) => rich.paths.segmentsOf("alpha").find(({ events }) => events > 50)!.path;
const betaOf = (rich: RichStore) => rich.paths.segmentsOf("beta").find(({ events }) => events > 50)!.path;
const manifestOf = (rich: RichStore) => `${rich.paths.folderOf("alpha")}/manifest.json`;

const segmentRows = (
  [
    ["small", smallOf],
    ["merged", mergedOf],
  ] as const
).flatMap(([kind, path]) =>
  (
    [
      ["removed", (file) => rmSync(file)],
      ["cut in place", (file) => inPlace(file, () => truncateSync(file, statSync(file).size >> 1))],
      ["a bit flipped", (file) => faults.flip(file, statSync(file).size >> 1, 3)],
      ["its first bit flipped", (file) => faults.flip(file, 4, 0)],
      ["replaced by another project's", (file, other) => faults.overwrite(file, readFileSync(other))],
    ] as readonly (readonly [string, (file: string, other: string) => void])[]
  ).map(
    ([name, damage]): OpenCase => ({
      name: `a ${kind} segment: ${name}`,
      isFlushed: true,
      damage: (directory, rich) => damage(join(directory, path(rich)), join(directory, betaOf(rich))),
      lost: (rich) => rich.held.numbersOf(join(rich.directory, path(rich))),
      losses: (rich) => basename(path(rich)),
      putBack: (directory, rich) => faults.putBack(rich.directory, directory, path(rich)),
    }),
  ),
);

/** In a file of its own: others share the inode with the copy. */
function inPlace(file: string, change: () => void): void {
  faults.overwrite(file, readFileSync(file));
  change();
}

/** The journal files of an open store: two from before it was opened, and the one that is written to. */
const JOURNALS = ["the oldest", "the second", "the current"] as const;

function journalOf(directory: string, which: (typeof JOURNALS)[number]): string {
  const names = readdirSync(join(directory, "journal")).filter((name) => name.endsWith(".ndjson"));
  return join(directory, "journal", names.sort()[JOURNALS.indexOf(which)]!);
}

export const openRows: readonly OpenCase[] = [
  ...segmentRows,
  ...[0.02, 0.3, 0.7].map(
    (share): OpenCase => ({
      name: `a merged segment: a bit that flips by itself at ${share * 100} %, then a scrub`,
      isFlushed: true,
      isSilent: true,
      prepare: (directory, rich) => faults.settle(join(directory, mergedOf(rich))),
      damage: (directory, rich) => {
        const file = join(directory, mergedOf(rich));
        faults.flipSilently(file, Math.floor(statSync(file).size * share));
      },
      lost: (rich) => rich.held.numbersOf(join(rich.directory, mergedOf(rich))),
      losses: (rich) => basename(mergedOf(rich)),
      putBack: (directory, rich) => faults.putBack(rich.directory, directory, mergedOf(rich)),
    }),
  ),
  ...(
    [
      ["removed", (path) => rmSync(path)],
      ["overwritten", (path) => faults.overwrite(path, "{}")],
      ["empty", faults.empty],
    ] as readonly (readonly [string, (path: string) => void])[]
  ).map(
    ([name, damage]): OpenCase => ({
      name: `a manifest: ${name}`,
      isFlushed: true,
      damage: (directory, rich) => damage(join(directory, manifestOf(rich))),
    }),
  ),
  ...["journal.json", "folders.json"].map(
    (path): OpenCase => ({
      name: `${path}: removed`,
      isFlushed: true,
      damage: (directory) => rmSync(join(directory, path)),
    }),
  ),
  {
    name: "a summary: removed",
    isFlushed: true,
    damage: (directory, rich) => rmSync(join(directory, `${mergedOf(rich)}.json`)),
  },
  ...JOURNALS.flatMap((which) =>
    (
      [
        ["removed", (path) => rmSync(path)],
        ["empty", faults.empty],
        ["a bit flipped", (path) => faults.flip(path, statSync(path).size >> 1, 3)],
        ["cut", (path) => faults.cut(path, 0.4)],
      ] as readonly (readonly [string, (path: string) => void])[]
    ).map(
      ([name, damage]): OpenCase => ({
        name: `${which} journal file, whose events wait in memory: ${name}`,
        isFlushed: false,
        damage: (directory) => damage(journalOf(directory, which)),
      }),
    ),
  ),
  {
    name: "the folder of the journal: moved away and back",
    isFlushed: false,
    damage: (directory) => {
      renameSync(join(directory, "journal"), join(directory, "away"));
      renameSync(join(directory, "away"), join(directory, "journal"));
    },
  },
  {
    name: "a project's folder: moved away",
    isFlushed: true,
    damage: (directory, rich) => renameSync(join(directory, rich.paths.folderOf("alpha")), join(directory, "away")),
    // The events that were flushed from the journal are there, too.
    lost: (rich) => [...rich.events.get("alpha")!],
    losses: (rich) => basename(rich.paths.folderOf("alpha")),
    // Over the folder that was made again.
    putBack: (directory, rich) => {
      cpSync(join(directory, "away"), join(directory, rich.paths.folderOf("alpha")), { recursive: true });
    },
  },
  {
    name: "a quarantine folder: removed",
    isFlushed: true,
    damage: (directory, rich) => {
      faults.flip(join(directory, smallOf(rich)), 100, 1);
      rmSync(join(directory, rich.paths.folderOf("alpha"), "quarantine"), { recursive: true, force: true });
    },
    lost: (rich) => rich.held.numbersOf(join(rich.directory, smallOf(rich))),
    losses: (rich) => basename(smallOf(rich)),
    putBack: (directory, rich) => {
      rmSync(join(directory, rich.paths.folderOf("alpha"), "quarantine"), { recursive: true, force: true });
      faults.putBack(rich.directory, directory, smallOf(rich));
    },
  },
];
