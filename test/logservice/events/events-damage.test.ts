// The most valuable rows of test/slow/events-damage.ts: a store of which one thing was damaged while nobody used it.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { parseQuery } from "../../../grammar/query/index.ts";
import { checkEvents, type FileState, isWrong } from "../../../logservice/events/check.ts";
import { writeManifest } from "../../../logservice/events/duckdb/manifest.ts";
import { lossId } from "../../../logservice/events/loss.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { runCase } from "../../support/events/damage.ts";
import {
  folderRows,
  journalRows,
  nameRows,
  newerRows,
  olderRows,
  segmentRows,
} from "../../support/events/damage-rows.ts";
import * as faults from "../../support/events/faults.ts";
import { buildRichStore, type RichStore } from "../../support/events/rich-store.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const NAMES = [
  "a manifest: gone",
  "a manifest: one from before a merge",
  "a manifest: of a newer version",
  "a merged segment: a bit flipped, place 1 of 4",
  "a project's folder: gone",
  "an ended journal file: gone",
  "the current journal file: a bit flipped, place 3 of 4",
  "a project's folder: doubled as K~N.bak",
];

let built: Promise<RichStore> | undefined;
const richStore = () => (built ??= buildRichStore());
t.teardown(async () => (await built)?.remove());

const rows = [
  ...[...journalRows, ...segmentRows].flatMap(([, rows]) => rows),
  ...folderRows,
  ...nameRows,
  ...newerRows,
  ...olderRows,
];
for (const name of NAMES) {
  t.test(name, { ...slow() }, async (t) => {
    const row = rows.find((one) => one.name === name);
    t.strictSame(row && (await runCase(await richStore(), row)), []);
  });
}

t.test("a listed folder that is gone, or empty, while the journal still has all of its project", async (t) => {
  const event = (message: string) => ({
    timestamp: "2024-05-01T10:00:00Z",
    level: "info" as const,
    message,
    fields: {},
  });
  const open = (directory: string) => openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  for (const fault of ["gone", "empty", "gone, with later events in segments alone"]) {
    const directory = join(t.testdir(), "events");
    let store = await open(directory);
    await store.append("other", [event("before")]);
    await store.flush();
    await store.append("app", [event("one"), event("two")]);
    await store.close();
    // As a crash leaves it that comes after the folder is listed, and before the journal's file may go.
    for (const name of ["journal", "journal.json"]) {
      cpSync(join(directory, name), join(directory, `${name}.kept`), { recursive: true });
    }
    store = await open(directory);
    if (fault.includes("later")) await store.append("app", [event("three")]);
    await store.flush();
    await store.close();
    for (const name of ["journal", "journal.json"]) {
      rmSync(join(directory, name), { recursive: true });
      cpSync(join(directory, `${name}.kept`), join(directory, name), { recursive: true });
    }
    const folder = readdirSync(join(directory, "projects")).find((name) => name.startsWith("app~"))!;
    for (const name of fault === "empty" ? readdirSync(join(directory, "projects", folder)) : [""])
      rmSync(join(directory, "projects", folder, name), { recursive: true });
    store = await open(directory);
    const { eventsTotal, missingBytes } = await store.projectStats("app");
    t.same([eventsTotal, missingBytes > 0], [2, fault.includes("later")], fault);
    await store.close();
  }
});

t.test("a folder that a crash left before it was listed is gone later", async (t) => {
  const event = (message: string) => ({
    timestamp: "2024-05-01T10:00:00Z",
    level: "info" as const,
    message,
    fields: {},
  });
  // Made for the first event while the second one was accepted.
  const manifest = { version: 2, project: "app", began: 3, flushed: 0, segments: [], dropped: [], losses: [] } as const;
  const rows: [name: string, isDeletedBefore: boolean, hasManifest: boolean, more: string[], isMissing: boolean][] = [
    ["with a manifest", false, true, [], false],
    ["without one", false, false, [], false],
    ["of a project that was deleted before", true, true, [], false],
    ["with events that left the journal since", false, true, ["later"], true],
  ];
  for (const [name, isDeletedBefore, hasManifest, more, isMissing] of rows) {
    const directory = t.testdir();
    const open = () => openEventsStore({ directory, reserveBytes: 0, log: () => {} });
    let store = await open();
    await store.append(isDeletedBefore ? "app" : "other", [event("before")]);
    await store.flush();
    if (isDeletedBefore) await store.deleteProject("app");
    await store.append("app", [event("one"), event("two")]);
    await store.close();
    const began = manifest.began + (isDeletedBefore ? 1 : 0);
    const folder = join(directory, "projects", `app~${began}`);
    mkdirSync(folder);
    if (hasManifest) await writeManifest(folder, { ...manifest, began });
    store = await open();
    for (const message of more) await store.append("app", [event(message)]);
    if (more.length > 0) await store.flush();
    await store.close();
    rmSync(folder, { recursive: true });
    store = await open();
    const { eventsTotal, missingBytes } = await store.projectStats("app");
    t.same([eventsTotal, missingBytes > 0], [isMissing ? 0 : 2, isMissing], name);
    await store.close();
  }
});

t.test(
  "a listed folder that is gone, or empty, when its first events left the journal before it was made",
  async (t) => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        timestamp: "2024-05-01T10:00:00Z",
        level: "info" as const,
        message: `number ${i}`,
        fields: {},
      }));
    for (const fault of ["gone", "empty"]) {
      const directory = join(t.testdir(), fault);
      const open = () => openEventsStore({ directory, reserveBytes: 0, flushEvents: 100, log: () => {} });
      let store = await open();
      // The second batch is accepted before the folder is made, for the first one.
      await Promise.all([store.append("app", batch(100)), store.append("app", batch(50))]);
      await until("the first flush", () => store.metrics().flushes_total === 1);
      const projects = join(directory, "projects");
      const folder = join(projects, readdirSync(projects)[0]!);
      const number = Number(folder.split("~")[1]);
      t.ok(number > 101, `its number is ${number}`);
      await store.append("app", batch(10));
      await store.close();
      for (const name of fault === "empty" ? readdirSync(folder) : [""])
        rmSync(join(folder, name), { recursive: true });
      for (const start of ["first", "second"]) {
        store = await open();
        const { eventsTotal } = await store.projectStats("app");
        const lost = store.losses().map(({ reason }) => reason);
        t.strictSame(
          [eventsTotal, lost],
          [10, [fault === "gone" ? "its folder is missing" : "its folder was emptied"]],
          `${fault}, the ${start} start`,
        );
        await store.close();
      }
    }
  },
);

const never = new AbortController().signal;
const EVER = { startMs: 0, stopMs: 4e12 };

/** A store of two projects whose flushes take turns, with copies of two earlier moments beside it. */
async function storeOf() {
  const home = mkdtempSync(join(tmpdir(), "events-damage-two-"));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const directory = join(home, "events");
  const store = await openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  const event = (message: string, day: number) =>
    ({ timestamp: `2024-05-0${day}T10:00:00Z`, level: "info", message, fields: {} }) as const;
  for (const day of [1, 2, 3]) {
    await store.append("app", [event(`one ${day}`, day), event(`two ${day}`, day)]);
    await store.append("other", [event("other", day)]);
    await store.flush();
    if (day < 3) cpSync(directory, `${directory}-${day}`, { recursive: true });
  }
  await store.close();
  const projects = join(directory, "projects");
  const app = readdirSync(projects).find((name) => name.startsWith("app~"))!;
  const other = readdirSync(projects).find((name) => name.startsWith("other~"))!;
  const segments = readdirSync(join(projects, app)).filter((name) => name.endsWith(".parquet"));
  return { directory, projects, app, other, segments: segments.sort() };
}

type Files = Awaited<ReturnType<typeof storeOf>>;
/** Removes a segment of app with the files beside it. */
const without = ({ projects, app, segments }: Files, at: number) => {
  for (const end of ["", ".json", ".filter"]) rmSync(join(projects, app, `${segments[at]}${end}`), { force: true });
};
const manifestIn = ({ projects, app }: Files) => join(projects, app, "manifest.json");
/** Changes the entries of the list of folders, as an older version would have written them. */
const changeList = ({ directory }: Files, change: (entry: Record<string, unknown>) => Record<string, unknown>) =>
  faults.change(join(directory, "folders.json"), (list) => ({
    ...list,
    folders: (list.folders as Record<string, unknown>[]).map(change),
  }));
const asOlder = (files: Files) => changeList(files, ({ held, ...entry }) => entry);
const cutFile = (path: string) => truncateSync(path, 40);

const LACKS =
  /^may lack events: its (manifest is (missing|damaged)|folder is an older copy)(; 4 of 6 events are there)?$/;

const TAKEN = /^its folder is missing(: other~\d+ is in its place)?$/;
const replaceBy = ({ projects, app }: Files, folder: string) => {
  rmSync(join(projects, app), { recursive: true });
  cpSync(folder, join(projects, app), { recursive: true });
};

/** The damage, how many events of app are left, and what is said; nothing, if all are proven to be there. */
const DOUBLE: readonly (readonly [name: string, damage: (files: Files) => void, events: number, said?: RegExp])[] = [
  ["nothing", () => {}, 6],
  ["the manifest gone", (files) => rmSync(manifestIn(files)), 6],
  ["the manifest cut", (files) => cutFile(manifestIn(files)), 6],
  [
    "the manifest gone, and the first segment",
    (files) => {
      rmSync(manifestIn(files));
      without(files, 0);
    },
    4,
    LACKS,
  ],
  [
    "the manifest cut, and the newest segment gone",
    (files) => {
      cutFile(manifestIn(files));
      without(files, 2);
    },
    4,
    LACKS,
  ],
  [
    "the manifest one from before the last flush, whose segment is gone",
    (files) => {
      cpSync(`${files.directory}-2/projects/${files.app}/manifest.json`, manifestIn(files));
      without(files, 2);
    },
    4,
    LACKS,
  ],
  [
    "the manifest one from before two flushes, and the segment between gone",
    (files) => {
      cpSync(`${files.directory}-1/projects/${files.app}/manifest.json`, manifestIn(files));
      without(files, 1);
    },
    4,
    LACKS,
  ],
  [
    "the manifest one from before two flushes",
    (files) => cpSync(`${files.directory}-1/projects/${files.app}/manifest.json`, manifestIn(files)),
    6,
  ],
  [
    "the manifest gone, the list one from before the last flush",
    (files) => {
      rmSync(manifestIn(files));
      cpSync(`${files.directory}-2/folders.json`, join(files.directory, "folders.json"));
    },
    6,
  ],
  [
    "the manifest gone, and the list of folders",
    (files) => {
      rmSync(manifestIn(files));
      rmSync(join(files.directory, "folders.json"));
    },
    6,
    /^may lack events: its manifest is missing$/,
  ],
  ["the list of folders gone", ({ directory }) => rmSync(join(directory, "folders.json")), 6],
  ["the list of folders of an older version", asOlder, 6],
  [
    "the list of folders changed by an older version",
    (files) => changeList(files, (entry) => ({ ...entry, newest: Number(entry.newest) - 1 })),
    6,
  ],
  [
    "the list of folders of an older version, the manifest and the newest segment gone",
    (files) => {
      asOlder(files);
      rmSync(manifestIn(files));
      without(files, 2);
    },
    4,
    LACKS,
  ],
  [
    "the list of folders of an older version, the manifest gone",
    (files) => {
      asOlder(files);
      rmSync(manifestIn(files));
    },
    6,
    /^may lack events: its manifest is missing$/,
  ],
  ...[false, true].map(
    (isOlder) =>
      [
        `the folder replaced by a copy of another's${isOlder ? ", the list of folders of an older version" : ""}`,
        (files: Files) => {
          if (isOlder) asOlder(files);
          replaceBy(files, join(files.projects, files.other));
        },
        0,
        TAKEN,
      ] as const,
  ),
  [
    "another's folder moved to its place",
    (files) => {
      rmSync(join(files.projects, files.app), { recursive: true });
      renameSync(join(files.projects, files.other), join(files.projects, files.app));
    },
    0,
    TAKEN,
  ],
  [
    "another's folder copied over it, and the first segment gone",
    (files) => {
      cpSync(join(files.projects, files.other), join(files.projects, files.app), { recursive: true });
      without(files, 0);
    },
    4,
    LACKS,
  ],
  [
    "another's folder copied over it",
    (files) => cpSync(join(files.projects, files.other), join(files.projects, files.app), { recursive: true }),
    6,
  ],
  [
    "the folders exchanged, and the newest segment gone",
    (files) => {
      without(files, 2);
      rmSync(manifestIn(files));
      faults.swap(join(files.projects, files.app), join(files.projects, files.other));
    },
    4,
    LACKS,
  ],
  ["the folders exchanged", ({ projects, app, other }) => faults.swap(join(projects, app), join(projects, other)), 6],
  [
    "the manifests exchanged, and the first segment gone",
    (files) => {
      faults.swap(manifestIn(files), join(files.projects, files.other, "manifest.json"));
      without(files, 0);
    },
    4,
    LACKS,
  ],
];

let two: ReturnType<typeof storeOf> | undefined;

for (const [name, damage, left, said] of DOUBLE) {
  t.test(`two damages at once: ${name}`, async (t) => {
    let events = left;
    two ??= storeOf();
    const { directory: whole, ...names } = await two;
    const directory = join(t.testdir(), "events");
    for (const moment of ["", "-1", "-2"]) cpSync(`${whole}${moment}`, `${directory}${moment}`, { recursive: true });
    damage({ directory, ...names, projects: join(directory, "projects") });
    const facts = { nowMs: Date.parse("2024-06-01T00:00:00Z"), accepted: new Set<string>() };
    const checked = (await checkEvents(directory, facts)).findings.flatMap(({ loss }) => loss ?? []);
    const first = Date.parse("2024-05-01T10:00:00Z");
    let ids: readonly string[] = checked.map(({ id }) => id);
    for (const start of ["first", "second"]) {
      const lines: string[] = [];
      const log = (level: string, message: string) => void lines.push(`${level}: ${message}`);
      const store = await openEventsStore({ directory, reserveBytes: 0, log });
      const losses = store.losses();
      const reasons = losses.map(({ reason }) => reason);
      t.equal((await store.projectStats("app")).eventsTotal, events, start);
      t.equal(losses.length, said === undefined ? 0 : 1, `${start}: ${reasons.join("; ")}`);
      t.strictSame(
        losses.map(({ id }) => id),
        ids,
        "a check says the same",
      );
      const { missingBytes } = (await store.count({ project: "app", ...EVER, query: undefined, signal: never })).stats;
      t.equal(missingBytes > 0, said !== undefined);
      t.equal(
        (await store.count({ project: "other", ...EVER, query: undefined, signal: never })).stats.missingBytes,
        0,
      );
      if (said !== undefined) {
        t.match(reasons[0], said);
        const isSaid = (line: string) => /^error: events (may be missing: may lack|are missing: its folder)/.test(line);
        t.ok(lines.some(isSaid), `${start}: ${lines.join("; ")}`);
        const before = { project: "app", startMs: 0, stopMs: first - 2000, query: undefined, signal: never };
        const isRanged = losses[0]!.firstMs !== undefined;
        t.equal((await store.count(before)).stats.missingBytes > 0, !isRanged, "outside of its range");
        if (isRanged) t.equal(losses[0]!.firstMs, first);
        store.acceptLosses(new Set(ids));
        t.equal((await store.projectStats("app")).missingBytes, 0, "accepted");
      }
      if (start === "first") {
        await store.append("app", [{ timestamp: "2024-05-09T10:00:00Z", level: "info", message: "later", fields: {} }]);
        await store.flush();
        events++;
      }
      await store.close();
      ids = losses.map(({ id }) => id);
    }
  });
}

t.test("a folder that cannot be read for a while is not given up for an older copy", async (t) => {
  two ??= storeOf();
  const { directory: whole, app } = await two;
  const directory = join(t.testdir(), "events");
  cpSync(whole, directory, { recursive: true });
  const [folder, kept] = [join(directory, "projects", app), join(directory, "kept")];
  renameSync(folder, kept);
  // Root could read a folder without permissions.
  symlinkSync(app, folder);
  cpSync(join(`${whole}-1`, "projects", app), join(directory, "projects", "app~9"), { recursive: true });
  const open = () => openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  let store = await open();
  t.match(
    store.losses().map(({ reason }) => reason),
    [/^its folder cannot be read/],
  );
  await store.append("app", [{ timestamp: "2024-05-09T10:00:00Z", level: "info", message: "later", fields: {} }]);
  await store.close();
  unlinkSync(folder);
  renameSync(kept, folder);
  store = await open();
  t.equal((await store.projectStats("app")).eventsTotal, 7);
  t.strictSame(store.losses(), []);
  await store.close();
});

t.test("the manifest of a newer copy that has nothing else stands for no events", async (t) => {
  two ??= storeOf();
  const { directory: whole, app } = await two;
  const directory = join(t.testdir(), "events");
  cpSync(whole, directory, { recursive: true });
  const [folder, copy] = [join(directory, "projects", app), join(directory, "projects", "app~9")];
  mkdirSync(copy);
  renameSync(join(folder, "manifest.json"), join(copy, "manifest.json"));
  rmSync(folder, { recursive: true });
  cpSync(join(`${whole}-2`, "projects", app), folder, { recursive: true });
  const store = await openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  t.equal((await store.projectStats("app")).eventsTotal, 4);
  t.match(
    store.losses().map(({ reason }) => reason),
    [LACKS],
  );
  await store.close();
});

t.test("what was lost before may be lost for all that the damaged lists say", async (t) => {
  const { directory, ids } = await withLostJournalFile(t.testdir());
  const [list, losses] = ["journal.json", "journal-losses.json"].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  const said = async (accepted: ReadonlySet<string> = new Set()) => {
    const checked = await checkEvents(directory, { nowMs: 0, accepted });
    const store = await openEventsStore({ directory, reserveBytes: 0, accepted });
    const { missingBytes } = await store.projectStats("app");
    const own = store.losses().map(({ id, file, isPossible }) => ({ id, file, isPossible }));
    await store.close();
    t.same(
      checked.findings.flatMap(({ loss }) => loss?.id ?? []).sort(),
      own.map(({ id }) => id).sort(),
      "a check says it",
    );
    t.ok(missingBytes > 0);
    return own;
  };
  const real = await said();
  t.same(
    real.map(({ id }) => id),
    ids,
  );
  const kept = { list: readFileSync(list), losses: readFileSync(losses) };
  const possible = (second: number) => [
    { id: lossId(`journal-losses.json ${second * 1000}`), file: "journal-losses.json", isPossible: true },
  ];
  for (const [name, list_, losses_, expected] of [
    ["the list damaged", Buffer.from("{}"), kept.losses, real],
    ["the losses damaged", kept.list, Buffer.from("[]"), real],
    ["exchanged", kept.losses, kept.list, possible(1)],
    ["both empty", Buffer.alloc(0), Buffer.alloc(0), possible(1)],
  ] as const) {
    writeFileSync(list, list_);
    writeFileSync(losses, losses_);
    utimesSync(losses, 1, 1);
    t.same(await said(), expected, name);
    t.same(await said(), expected, `${name}, at the next start`);
  }
  for (const path of [list, losses]) writeFileSync(path, "");
  utimesSync(losses, 2, 2);
  t.same(await said(new Set(possible(1).map(({ id }) => id))), possible(2), "once more, when the first was accepted");
});

/** A store whose journal lost a file, which it said; and the ids of that. */
async function withLostJournalFile(parent: string) {
  const directory = join(parent, "events");
  const event = (second: number) => ({
    timestamp: `2024-05-01T10:00:0${second}Z`,
    level: "info",
    message: "a",
    fields: {},
  });
  const first = await openEventsStore({ directory, reserveBytes: 0 });
  await first.append("app", [event(0)]);
  await first.close();
  for (const name of readdirSync(join(directory, "journal"))) rmSync(join(directory, "journal", name));
  const second = await openEventsStore({ directory, reserveBytes: 0 });
  await second.append("app", [event(1)]);
  const ids = second.losses().map(({ id }) => id);
  await second.close();
  return { directory, ids };
}

t.test("a directory in the place of a list of files is named, with what to do", async (t) => {
  const kept = join(t.testdir(), "kept");
  const first = await openEventsStore({ directory: kept, reserveBytes: 0 });
  await first.append("app", [{ timestamp: "2024-05-01T10:00:00Z", level: "info", message: "a", fields: {} }]);
  await first.flush();
  await first.append("app", [{ timestamp: "2024-05-01T10:00:01Z", level: "info", message: "b", fields: {} }]);
  await first.close();
  for (const name of ["journal.json", "folders.json", "journal-losses.json", "journal.json.new", "folders.json.new"]) {
    const directory = join(t.testdirName, "events");
    rmSync(directory, { recursive: true, force: true });
    cpSync(kept, directory, { recursive: true });
    const path = join(directory, name);
    rmSync(path, { force: true });
    mkdirSync(path);
    const message = `${path} is a directory, but the store keeps a file there: move the directory away and put the file back from a backup, or start without it: it is made again`;
    await t.rejects(openEventsStore({ directory, reserveBytes: 0 }), { name: "PlaceTaken", message }, name);
    await t.rejects(checkEvents(directory, { nowMs: 0, accepted: new Set() }), { message }, `${name}: a check`);
    renameSync(path, `${directory}.moved`);
    const store = await openEventsStore({ directory, reserveBytes: 0 });
    t.equal((await store.projectStats("app")).eventsTotal, 2, `${name}: moved away`);
    await store.close();
    rmSync(`${directory}.moved`, { recursive: true });
  }
});

t.test("what is not a file is never opened, and named by a check as what a start says of it", async (t) => {
  const kept = join(t.testdir(), "kept");
  const first = await openEventsStore({ directory: kept, reserveBytes: 0 });
  await first.append("app", [{ timestamp: "2024-05-01T10:00:00Z", level: "info", message: "a", fields: {} }]);
  await first.flush();
  await first.append("app", [{ timestamp: "2024-05-01T10:00:01Z", level: "info", message: "b", fields: {} }]);
  await first.close();
  const [folder] = readdirSync(join(kept, "projects"));
  const segment = readdirSync(join(kept, "projects", folder!)).find((name) => name.endsWith(".parquet"))!;
  const journal = readdirSync(join(kept, "journal")).sort().at(-1)!;
  const manifest = `projects/${folder}/manifest.json`;
  const events = `projects/${folder}/${segment}`;
  /** The files, the state that a check names, the events that are left, and whether a loss is told. */
  const rows: readonly (readonly [
    files: readonly string[],
    state: FileState | undefined,
    left: number,
    isLoss: boolean,
  ])[] = [
    [["journal.json", "folders.json"], "rebuildable", 2, false],
    [[`journal/${journal}`], "missing", 1, true],
    [[events], "damaged", 1, true],
    [[manifest, `${events}.json`], "rebuildable", 2, false],
    // A lock that nobody holds, and a file that was being written: nothing is in them.
    [["lock", "journal.json.new"], undefined, 2, false],
  ];
  for (const [files, state, left, isLoss] of rows) {
    for (const [what, damage] of Object.entries(faults.notFiles)) {
      // A folder is refused there.
      if (what === "a folder" && !files.every((file) => /^(journal|projects)\//.test(file))) continue;
      const row = `${what} at ${files.join(" and ").replace(/\d{16}/g, "N")}`;
      const directory = join(t.testdirName, "events");
      rmSync(directory, { recursive: true, force: true });
      cpSync(kept, directory, { recursive: true });
      for (const file of files) damage(join(directory, file));
      const { findings } = await checkEvents(directory, { nowMs: 0, accepted: new Set() });
      const states = files.map((file) => findings.find((one) => one.file === file)?.state);
      t.ok(
        states.every((one) => one === state || one === undefined) && states.includes(state),
        `${row}: ${JSON.stringify(findings)}`,
      );
      t.equal(
        findings.some(({ loss }) => loss !== undefined),
        isLoss,
        `${row}: a check tells a loss`,
      );
      const store = await openEventsStore({ directory, reserveBytes: 0 });
      t.equal((await store.projectStats("app")).eventsTotal, left, `${row}: a start`);
      t.equal(store.losses().length > 0, isLoss, `${row}: a start tells a loss`);
      await store.close();
      const after = (await checkEvents(directory, { nowMs: 0, accepted: new Set() })).findings;
      t.same(
        after.filter((one) => one.loss === undefined && isWrong(one)),
        [],
        `${row}: nothing else is left`,
      );
    }
  }
});

t.test("a folder in the place of the lock is named, with what to do", async (t) => {
  const directory = t.testdir({ lock: {} });
  const message = `${join(directory, "lock")} is not a file: move the folder away, a start makes the file`;
  await t.rejects(openEventsStore({ directory, reserveBytes: 0 }), { message });
  await t.rejects(checkEvents(directory, { nowMs: 0, accepted: new Set() }), { message });
});

t.test("a loss of the journal is logged at each start until it is accepted", async (t) => {
  const rows: Record<string, (path: string) => void> = {
    "the file gone": (path) => rmSync(path),
    "a bit flipped": (path) => faults.flip(path, 200, 1),
    "half of it": (path) => faults.cut(path, 0.5),
  };
  for (const [name, damage] of Object.entries(rows)) {
    const directory = t.testdir();
    const lines: string[] = [];
    const open = async (accepted?: ReadonlySet<string>) => {
      lines.length = 0;
      const log = (level: string, message: string) => void lines.push(`${level} ${message}`);
      return openEventsStore({ directory, reserveBytes: 0, log, ...(accepted && { accepted }) });
    };
    let store = await open();
    for (const message of ["a", "b", "c"])
      await store.append("app", [{ timestamp: "2024-05-01T10:00:00Z", level: "info", message, fields: {} }]);
    await store.close();
    const [file] = readdirSync(join(directory, "journal")).filter((one) => one.endsWith(".ndjson"));
    damage(join(directory, "journal", file!));
    const said = () => lines.filter((line) => /^error events are missing: a journal file /.test(line)).length;
    let ids: string[] = [];
    for (const start of ["first", "second"]) {
      store = await open();
      ids = store.losses().map(({ id }) => id);
      t.equal(said(), ids.length, `${name}: the ${start} start: ${lines.join("; ")}`);
      t.ok(ids.length > 0, name);
      await store.close();
    }
    store = await open(new Set(ids));
    t.equal(said(), 0, `${name}: accepted`);
    await store.close();
  }
});

t.test("a segment whose summary cannot be read", async (t) => {
  const summaryOf = (segment: string) => `${segment}.json`;
  const aDirectory = (segment: string) => {
    rmSync(summaryOf(segment));
    mkdirSync(summaryOf(segment));
    writeFileSync(join(summaryOf(segment), "notes.txt"), "somebody else's");
  };
  const rows: Record<string, (segment: string) => void> = {
    "a directory with a file in it": aDirectory,
    "an empty directory": (segment) => {
      rmSync(summaryOf(segment));
      mkdirSync(summaryOf(segment));
    },
    "a directory, and no folder for quarantine can be made": (segment) => {
      aDirectory(segment);
      writeFileSync(join(dirname(segment), "quarantine"), "");
    },
    "none, and a directory where it would be written first": (segment) => {
      rmSync(summaryOf(segment));
      mkdirSync(`${summaryOf(segment)}.new`);
    },
    "a link to itself": (segment) => {
      rmSync(summaryOf(segment));
      symlinkSync(summaryOf(segment), summaryOf(segment));
    },
    "a link to a directory": (segment) => {
      rmSync(summaryOf(segment));
      symlinkSync(dirname(segment), summaryOf(segment));
    },
    "a pipe": (segment) => {
      rmSync(summaryOf(segment));
      execFileSync("mkfifo", [summaryOf(segment)]);
    },
    "half of it": (segment) => faults.cut(summaryOf(segment), 0.5),
    "a directory beside a filter that is one, too": (segment) => {
      aDirectory(segment);
      mkdirSync(`${segment}.filter`);
    },
  };
  const home = t.testdir();
  const kept = join(home, "kept");
  const event = (message: string, n: number) => ({
    timestamp: "2024-05-01T10:00:00Z",
    level: "info" as const,
    message,
    fields: { n },
  });
  const lines: string[] = [];
  const open = (directory: string) =>
    openEventsStore({ directory, reserveBytes: 0, log: (level, message) => void lines.push(`${level} ${message}`) });
  const first = await open(kept);
  // As many as are merged.
  for (const n of [1, 2, 3, 4]) {
    await first.append("app", [event("a", n), event("b", n)]);
    await first.flush();
  }
  await first.close();
  const [name] = readdirSync(join(kept, "projects"));
  for (const [row, damage] of Object.entries(rows)) {
    const directory = join(home, "events");
    rmSync(directory, { recursive: true, force: true });
    cpSync(kept, directory, { recursive: true });
    const folder = join(directory, "projects", name!);
    damage(join(folder, readdirSync(folder).find((one) => one.endsWith(".parquet"))!));
    const { findings } = await checkEvents(directory, { nowMs: 0, accepted: new Set() });
    t.same(
      findings.flatMap(({ loss }) => loss ?? []),
      [],
      `${row}: a check finds no loss`,
    );
    t.ok(
      findings.some(({ file, state }) => /parquet\.json/.test(file) && state === "rebuildable"),
      `${row}: a check names it`,
    );
    lines.length = 0;
    for (const start of ["first", "second"]) {
      const store = await open(directory);
      const query = parseQuery("n = 1");
      const range = { project: "app", ...EVER, signal: never };
      const all = await store.count({ ...range, query: undefined });
      const some = await store.count({ ...range, query: query.ok ? query.value : undefined });
      t.same(
        [all.count, some.count, all.stats.missingBytes, store.losses()],
        [8, 2, 0, []],
        `${row}: answered in full at the ${start} start`,
      );
      if (start === "first") await store.compact();
      t.equal((await store.count({ ...range, query: undefined })).count, 8, `${row}: after a merge`);
      await store.close();
    }
    t.ok(
      lines.some((line) => /^warn a summary/.test(line)),
      `${row}: ${lines.join("; ")}`,
    );
    // Once merged, only a person can take the directory away.
    const left = row.includes("no folder for quarantine") ? ["error a project's folder cannot be repaired"] : [];
    t.same(
      lines.filter((line) => line.startsWith("error")),
      left,
      row,
    );
  }
});

t.test("what comes into the place of a project's folder does not hide that its events are gone", async (t) => {
  const event = (message: string) =>
    ({ timestamp: "2024-05-01T10:00:00Z", level: "info", message, fields: {} }) as const;
  const home = t.testdir();
  const open = (directory: string) => openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  const folderIn = (directory: string, project: string) =>
    join(
      directory,
      "projects",
      readdirSync(join(directory, "projects")).find((name) => name.startsWith(`${project}~`))!,
    );
  // As it was before its project was deleted.
  const gone = join(home, "gone");
  const restarted = async (directory: string) => (await open(directory)).close();
  const rows: Record<string, (directory: string) => void | Promise<void>> = {
    "a quarantine with the manifest of a project that was deleted": (directory) => {
      const quarantine = join(folderIn(directory, "again"), "quarantine");
      mkdirSync(quarantine);
      cpSync(join(gone, "manifest.json"), join(quarantine, "manifest.json"));
      faults.swap(quarantine, folderIn(directory, "shop"));
    },
    "the same with a file that was damaged": (directory) => {
      const quarantine = join(folderIn(directory, "again"), "quarantine");
      mkdirSync(quarantine);
      cpSync(join(gone, "manifest.json"), join(quarantine, "manifest.json"));
      writeFileSync(join(quarantine, "0000000000000001-0000000000000002-x-0.parquet.2"), "damaged");
      faults.swap(quarantine, folderIn(directory, "shop"));
    },
    "the folder of a deleted project": (directory) => {
      const place = folderIn(directory, "shop");
      rmSync(place, { recursive: true });
      cpSync(gone, place, { recursive: true });
    },
    "the same, whose removal had begun": (directory) => {
      const place = folderIn(directory, "shop");
      rmSync(place, { recursive: true });
      cpSync(gone, place, { recursive: true });
      writeFileSync(join(place, "removed"), "");
    },
    "an older manifest in a folder that was renamed, whose list was lost": async (directory) => {
      const renamed = `${folderIn(directory, "shop")}9`;
      renameSync(folderIn(directory, "shop"), renamed);
      rmSync(join(directory, "folders.json"));
      await restarted(directory);
      cpSync(join(renamed, "manifest.json"), join(home, "older.json"));
      const before = readdirSync(renamed);
      const store = await open(directory);
      await store.append("shop", [event("later")]);
      await store.flush();
      await store.close();
      for (const name of readdirSync(renamed)) if (!before.includes(name)) rmSync(join(renamed, name));
      faults.overwrite(join(renamed, "manifest.json"), readFileSync(join(home, "older.json")));
    },
    "nothing, in a folder that was renamed": async (directory) => {
      const renamed = `${folderIn(directory, "shop")}9`;
      renameSync(folderIn(directory, "shop"), renamed);
      await restarted(directory);
      for (const name of readdirSync(renamed)) rmSync(join(renamed, name));
    },
    "half a manifest, in a folder that was renamed": async (directory) => {
      const renamed = `${folderIn(directory, "shop")}9`;
      renameSync(folderIn(directory, "shop"), renamed);
      await restarted(directory);
      for (const name of readdirSync(renamed)) if (name !== "manifest.json") rmSync(join(renamed, name));
      faults.cut(join(renamed, "manifest.json"), 0.5);
    },
  };
  for (const [row, damage] of Object.entries(rows)) {
    const directory = join(home, "events");
    rmSync(directory, { recursive: true, force: true });
    let store = await open(directory);
    for (const project of ["again", "gone", "shop"]) await store.append(project, [event("one")]);
    await store.flush();
    rmSync(gone, { recursive: true, force: true });
    cpSync(folderIn(directory, "gone"), gone, { recursive: true });
    await store.deleteProject("gone");
    await store.close();
    await damage(directory);
    const kept = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
      /parquet\.2$/.test(name),
    );
    const { findings } = await checkEvents(directory, { nowMs: 0, accepted: new Set() });
    t.same([...new Set(findings.flatMap(({ loss }) => loss?.project ?? []))], ["shop"], `${row}: a check says so`);
    for (const start of ["first", "second", "third"]) {
      store = await open(directory);
      t.same(
        [...new Set(store.losses().map(({ project }) => project))],
        ["shop"],
        `${row}: so does the ${start} start`,
      );
      const counted = async (project: string) => {
        const { count, stats } = await store.count({ project, ...EVER, query: undefined, signal: never });
        return [count, stats.missingBytes > 0];
      };
      t.same(await counted("again"), [1, false], row);
      t.equal((await counted("shop"))[1], true, `${row}: and the answers`);
      t.same(await counted("gone"), [0, false], `${row}: what was deleted stays so`);
      if (start === "second") await store.flush();
      await store.close();
    }
    const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
    t.equal(names.filter((name) => /parquet\.2$/.test(name)).length, kept.length, `${row}: nothing else is deleted`);
  }
});

t.test("two damages at once, after events expired", async (t) => {
  const home = t.testdir();
  const directory = join(home, "events");
  let nowMs = Date.parse("2024-05-01T10:00:00Z");
  const open = (lines: string[] = []) =>
    openEventsStore({
      directory,
      reserveBytes: 0,
      nowMs: () => nowMs,
      log: (level, message) => void lines.push(`${level} ${message}`),
    });
  let store = await open();
  for (const day of [1, 3, 2]) {
    const timestamp = `2024-05-0${day}T10:00:00Z`;
    for (const project of ["app", "other"])
      await store.append(project, [{ timestamp, level: "info", message: `${project} ${day}`, fields: {} }]);
    await store.flush();
  }
  await store.close();
  cpSync(directory, join(home, "before"), { recursive: true });
  nowMs = Date.parse("2024-05-04T00:00:00Z");
  store = await open();
  store.setRetention("app", 2);
  await store.expire();
  await store.close();
  cpSync(directory, join(home, "after"), { recursive: true });
  const app = readdirSync(join(directory, "projects")).find((name) => name.startsWith("app~"))!;
  const manifest = join(directory, "projects", app, "manifest.json");
  const putBack = (moment: string) => {
    rmSync(directory, { recursive: true });
    cpSync(join(home, moment), directory, { recursive: true });
  };
  const rows: [name: string, damage: () => void, events: number, losses: number][] = [
    ["nothing", () => putBack("after"), 2, 0],
    [
      "the manifest gone",
      () => {
        putBack("after");
        rmSync(manifest);
      },
      2,
      0,
    ],
    [
      "a crash after the list was written, before the manifest",
      () => {
        putBack("before");
        cpSync(join(home, "after/folders.json"), join(directory, "folders.json"));
      },
      3,
      0,
    ],
    [
      "the same, and the manifest gone",
      () => {
        putBack("before");
        cpSync(join(home, "after/folders.json"), join(directory, "folders.json"));
        rmSync(manifest);
      },
      3,
      0,
    ],
    [
      "the same, and a segment gone",
      () => {
        putBack("after");
        rmSync(manifest);
        const segment = readdirSync(dirname(manifest)).find((name) => name.endsWith(".parquet"))!;
        rmSync(join(dirname(manifest), segment));
      },
      1,
      1,
    ],
  ];
  for (const [name, damage, events, losses] of rows) {
    damage();
    store = await open();
    t.same([(await store.projectStats("app")).eventsTotal, store.losses().length], [events, losses], name);
    store.setRetention("app", 2);
    await store.expire();
    await store.close();
  }
});
