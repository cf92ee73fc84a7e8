// Damaged backups: what a check and a restore say of each, and that nothing is made of one.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import {
  BACKUP_LIST,
  checkBackup,
  checkDataDirectory,
  copyDataDirectory,
  lockDirectory,
} from "../../logservice/admin.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { eventsPosition, noteEventsPosition } from "../../logservice/records/instance.ts";
import { openRecords } from "../../logservice/records/open.ts";
import { addProject } from "../../logservice/records/projects.ts";
import { recordDiskCalls, refuseBytes } from "../support/events/disk-calls.ts";
import * as faults from "../support/events/faults.ts";

const progress = () => {};

/** A backup of two projects with segments, keys and events in the journal; the paths of its files. */
async function makeBackup() {
  const home = mkdtempSync(join(tmpdir(), "service-backups-"));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const data = join(home, "data");
  mkdirSync(data);
  const records = await openRecords(data);
  const keys: string[] = [];
  for (const id of ["shop", "blog"]) {
    const { events_key } = await addProject(records.db, FIRST_TEAM, { id, name: id }, new Date(0).toISOString());
    keys.push(events_key);
  }
  // The records are of a later moment than the events: of these others were put back, or they go on while they are copied.
  await noteEventsPosition(records.db, 1_000_000);
  await records.close();
  const store = await openEventsStore({ directory: join(data, "events"), reserveBytes: 0 });
  const event = (message: string) =>
    ({ timestamp: "2024-05-01T10:00:00Z", level: "info", message, fields: {} }) as const;
  for (const key of keys) await store.append(key, [event("one"), event("two")], { idempotencyKey: key });
  await store.flush();
  await store.append(keys[0]!, [event("three")]);
  await store.close();
  const backup = join(home, "backup");
  await copyDataDirectory({ kind: "data directory", from: data, to: backup, progress });
  const files = readdirSync(backup, { recursive: true }).map(String).sort();
  const one = (pattern: RegExp) => files.find((path) => pattern.test(path))!;
  const folder = one(/^events\/projects\/[^/]+$/);
  const kinds = {
    "the records": "records.sqlite",
    "the key": "secrets.key",
    "the list of folders": "events/folders.json",
    "the list of journal files": "events/journal.json",
    "a journal file": files.filter((path) => /journal\/\d+\.ndjson$/.test(path)).at(-1)!,
    "a file of keys": one(/keys\/.*\.ndjson$/),
    "a manifest": `${folder}/manifest.json`,
    "a segment": one(/\.parquet$/),
    "a summary": one(/\.parquet\.json$/),
  };
  return { home, backup, folder, kinds, keys };
}

const made = makeBackup();

interface Row {
  readonly name: string;
  readonly damage: (backup: string) => void;
  /** The findings: `state file`. */
  readonly findings: readonly string[];
  readonly said: RegExp;
}

const { backup, folder, home, kinds, keys } = await made;

/** A place of a file with something in it. */
const flipInside = (path: string) => faults.flip(path, Math.floor(readFileSync(path).length / 2), 3);

const rows: readonly Row[] = [
  ...Object.entries(kinds).flatMap(([kind, file]) => [
    {
      name: `${kind}: gone`,
      damage: (at: string) => rmSync(join(at, file)),
      findings: [`missing ${file}`],
      said: /is incomplete: .* is missing$/,
    },
    {
      name: `${kind}: cut`,
      damage: (at: string) => faults.cut(join(at, file), 0.6),
      findings: [`damaged ${file}`],
      said: /is damaged: it has \d+ bytes instead of \d+$/,
    },
    {
      name: `${kind}: a bit flipped`,
      damage: (at: string) => flipInside(join(at, file)),
      findings: [`damaged ${file}`],
      said: /is damaged: its checksum is another one$/,
    },
  ]),
  {
    name: "a project's folder: gone",
    damage: (at) => rmSync(join(at, folder), { recursive: true }),
    findings: readdirSync(join(backup, folder)).map((name) => `missing ${folder}/${name}`),
    said: /is incomplete: .* is missing \(and \d+ more: tool service check --backup .*\)$/,
  },
  {
    name: "both lists and a segment: gone",
    damage: (at) => {
      for (const file of ["events/folders.json", "events/journal.json", kinds["a segment"]]) rmSync(join(at, file));
    },
    findings: ["events/folders.json", "events/journal.json", kinds["a segment"]].map((file) => `missing ${file}`),
    said: /folders\.json is missing \(and 2 more: /,
  },
  {
    name: "a summary: a folder",
    damage: (at) => {
      rmSync(join(at, kinds["a summary"]));
      mkdirSync(join(at, kinds["a summary"]));
    },
    findings: [`damaged ${kinds["a summary"]}`],
    said: /\.json is damaged: it is not a file$/,
  },
  {
    name: "a file that is not of it",
    damage: (at) => cpSync(join(at, kinds["a segment"]), join(at, folder, "0000000000000001-zz-0.parquet")),
    findings: [`foreign ${folder}/0000000000000001-zz-0.parquet`],
    said: /zz-0\.parquet is not a file of the backup$/,
  },
  {
    name: "its list: cut",
    damage: (at) => faults.cut(join(at, BACKUP_LIST), 0.5),
    findings: [`damaged ${BACKUP_LIST}`],
    said: /backup\.json is damaged: nothing tells what belongs to it$/,
  },
  {
    name: "its list: a bit flipped",
    damage: (at) => flipInside(join(at, BACKUP_LIST)),
    findings: [`damaged ${BACKUP_LIST}`],
    said: /backup\.json is damaged: nothing tells what belongs to it$/,
  },
];

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => ({ message: "it was made", hint: undefined }),
    ({ message, hint }: Error & { hint?: string }) => ({ message, hint }),
  );
const restored = join(home, "restored");

for (const { name, damage, findings, said } of rows) {
  t.test(name, async (t) => {
    const from = join(t.testdir(), "harmed");
    cpSync(backup, from, { recursive: true });
    damage(from);
    const report = await checkBackup(from);
    t.strictSame(report.findings.map(({ state, file }) => `${state} ${file}`).sort(), [...findings].sort());
    const { message, hint } = await messageOf(copyDataDirectory({ kind: "backup", from, to: restored, progress }));
    t.match(message, said);
    t.match(
      hint,
      /^restore another one: tool service restore <backup> --data .*\nor, .*: tool service backup <folder> --data/,
    );
    t.notOk(existsSync(restored), "nothing is made");
  });
}

t.test("whole: restored as often as it is wanted, and a backup is not checked as data", async (t) => {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const options = { repair: false, acceptedLosses: [], nowMs: Date.now, reading: async () => {}, repaired: () => {} };
  for (let i = 0; i < 2; i++) {
    await copyDataDirectory({ kind: "backup", from: backup, to: restored, progress, warn });
    t.notOk(existsSync(join(restored, BACKUP_LIST)));
    t.same((await checkDataDirectory({ folder: restored, ...options })).findings, []);
    rmSync(restored, { recursive: true });
    t.same((await checkBackup(backup)).findings, []);
  }
  t.strictSame(warnings, []);
  t.match(await messageOf(checkDataDirectory({ folder: backup, ...options })), {
    message: `${backup} is a backup`,
    hint: `tool service check --backup ${backup}`,
  });
});

t.test(
  "what is restored is not called older than its records, and a folder of events that was put back is",
  async (t) => {
    const options = { repair: false, acceptedLosses: [], nowMs: () => 0, reading: async () => {}, repaired: () => {} };
    const { findings } = await checkDataDirectory({ ...options, folder: join(home, "data") });
    t.match(findings, [
      {
        file: "projects",
        state: "uncertain",
        remedy: "restore or accept",
        detail: /^may lack events: the folder of the/,
      },
    ]);
    const to = join(t.testdir(), "restored");
    await copyDataDirectory({ kind: "backup", from: backup, to, progress });
    t.same((await checkDataDirectory({ ...options, folder: to })).findings, []);
    const records = await openRecords(to);
    t.equal(await eventsPosition(records.db), undefined);
    await records.close();
  },
);

t.test("of an older version, without a list: restored with a warning, as far as it is whole", async (t) => {
  const from = join(t.testdir(), "older");
  cpSync(backup, from, { recursive: true });
  rmSync(join(from, BACKUP_LIST));
  const warnings: string[] = [];
  const copy = {
    kind: "backup",
    from,
    to: restored,
    progress,
    warn: (text: string) => void warnings.push(text),
  } as const;
  t.match(await checkBackup(from), { isListed: false, findings: [] });
  await copyDataDirectory(copy);
  t.match(warnings, [
    /older has no list of its files, as those of older versions: a file that is gone may not be missed$/,
  ]);
  const store = await openEventsStore({ directory: join(restored, "events"), reserveBytes: 0 });
  t.equal((await store.projectStats(keys[0]!)).eventsTotal, 3);
  await store.close();
  rmSync(restored, { recursive: true });
  rmSync(join(from, kinds["a segment"]));
  t.match(await messageOf(checkBackup(from)), {
    message: /is incomplete: .*\.parquet is missing$/,
    hint: /^restore another/,
  });
  t.match(await messageOf(copyDataDirectory(copy)), { message: /\.parquet is missing$/, hint: /^restore another/ });
});

t.test("of a data directory where something is not a file: made without it, or refused with the remedy", async (t) => {
  const repair = /^tool service check --repair --data .*: then back it up again$/;
  const rows: readonly (readonly [file: string, said?: RegExp, hint?: RegExp])[] = [
    [kinds["a summary"]],
    [kinds["a file of keys"]],
    [kinds["a segment"], /\.parquet is not a file$/, repair],
    [kinds["a manifest"], /manifest\.json is not a file$/, repair],
    [kinds["a journal file"], /\.ndjson is not a file$/, repair],
    [kinds["the key"], /secrets\.key is missing or damaged$/, /^put the file back/],
  ];
  for (const [file, said, hint] of rows) {
    for (const [what, damage] of Object.entries(faults.notFiles)) {
      const from = join(t.testdir(), "data");
      cpSync(backup, from, { recursive: true });
      rmSync(join(from, BACKUP_LIST));
      damage(join(from, file));
      const copy = copyDataDirectory({ kind: "data directory", from, to: restored, progress });
      if (said !== undefined) {
        t.match(await messageOf(copy), { message: said, hint }, `${file}: ${what}`);
        continue;
      }
      await copy;
      t.same((await checkBackup(restored)).findings, [], `${file}: ${what}`);
      const store = await openEventsStore({ directory: join(restored, "events"), reserveBytes: 0 });
      t.same([(await store.projectStats(keys[0]!)).eventsTotal, store.losses()], [3, []], `${file}: ${what}`);
      await store.close();
      rmSync(restored, { recursive: true });
    }
  }
});

t.test("a start, a check and a backup name what SQLite keeps beside the records where it is no file", async (t) => {
  for (const [end, hint] of [
    ["-wal", /^put the file of that name back, or move this away/],
    ["-shm", /^move it away: SQLite makes/],
  ] as const) {
    for (const [what, damage] of Object.entries(faults.notFiles)) {
      const from = join(t.testdir(), "data");
      cpSync(backup, from, { recursive: true });
      rmSync(join(from, BACKUP_LIST));
      const path = join(from, `records.sqlite${end}`);
      damage(path);
      const said = { message: `${path} is not a file`, hint };
      const options = { folder: from, repair: false, acceptedLosses: [], nowMs: Date.now, reading: async () => {} };
      t.match(await messageOf(openRecords(from)), said, `${what}: a start`);
      t.match(await messageOf(checkDataDirectory({ ...options, repaired: () => {} })), said, `${what}: a check`);
      const copy = copyDataDirectory({ kind: "data directory", from, to: restored, progress });
      t.match(await messageOf(copy), said, `${what}: a backup`);
    }
  }
});

t.test("of a newer version", async (t) => {
  const from = join(t.testdir(), "newer");
  cpSync(backup, from, { recursive: true });
  faults.change(join(from, BACKUP_LIST), (list) => ({ ...list, version: 2 }));
  const refused = { message: `${from} was made by a newer version of tool`, hint: "upgrade tool" };
  t.match(await messageOf(checkBackup(from)), refused);
  t.match(await messageOf(copyDataDirectory({ kind: "backup", from, to: restored, progress })), refused);
  writeFileSync(join(from, BACKUP_LIST), "");
  t.match(await messageOf(copyDataDirectory({ kind: "backup", from, to: restored, progress })), {
    message: /backup\.json is damaged/,
  });
});

t.test("a check names events of projects that the records lack, also if they are in the journal alone", async (t) => {
  const rows: readonly (readonly [events: Record<string, number>, detail: string | undefined])[] = [
    [{ gone: 1 }, "holds an event of a project that the records do not have"],
    [{ gone: 2, other: 1, known: 1 }, "holds 3 events of 2 projects that the records do not have"],
    [{ known: 2 }, undefined],
  ];
  for (const [events, detail] of rows) {
    const data = join(t.testdir(), "data");
    mkdirSync(data);
    const records = await openRecords(data);
    const shop = await addProject(records.db, FIRST_TEAM, { id: "shop", name: "shop" }, new Date(0).toISOString());
    await records.close();
    const store = await openEventsStore({ directory: join(data, "events"), reserveBytes: 0 });
    for (const [project, count] of Object.entries(events)) {
      const event = { timestamp: "2024-05-01T10:00:00Z", level: "info", message: "one", fields: {} } as const;
      await store.append(project === "known" ? shop.events_key : project, Array(count).fill(event));
    }
    await store.close();
    const options = { folder: data, repair: false, acceptedLosses: [], nowMs: () => 0, reading: async () => {} };
    const { findings } = await checkDataDirectory({ ...options, repaired: () => {} });
    const expected = detail && [{ file: "journal", state: "unknown", detail, remedy: "put back newer records" }];
    t.match(findings, expected ?? [], JSON.stringify(events));
    t.equal(findings.length, detail === undefined ? 0 : 1);
  }
});

t.test("a backup says which events it lacks, unless that was accepted", async (t) => {
  const lossy = /^\S*data lacks events that were lost \(loss \w{8}\), and so does the copy: tool service check --data/;
  const rows: readonly (readonly [
    name: string,
    damage: (data: string) => void,
    warnings: RegExp[],
    position?: number,
  ])[] = [
    ["whole", () => {}, []],
    ["a segment", (at) => flipInside(join(at, kinds["a segment"])), [lossy]],
    ["a segment gone", (at) => rmSync(join(at, kinds["a segment"])), [lossy]],
    ["an older folder", () => {}, [/data may lack events \(loss \w{8}\), and so does the copy: /], 2_000_000],
  ];
  for (const [name, damage, said, position] of rows) {
    const folder = t.testdir();
    const data = join(folder, "data");
    cpSync(backup, data, { recursive: true });
    rmSync(join(data, BACKUP_LIST));
    damage(data);
    const store = await openEventsStore({ directory: join(data, "events"), reserveBytes: 0, position, log: () => {} });
    await store.scrub();
    const losses = store.losses().map(({ id }) => id);
    await store.close();
    const warningsOf = async (to: string) => {
      const warnings: string[] = [];
      const warn = (text: string) => void warnings.push(text);
      await copyDataDirectory({ kind: "data directory", from: data, to: join(folder, to), progress, warn });
      return warnings;
    };
    const warnings = await warningsOf("to");
    t.match(warnings, said, name);
    t.equal(warnings.length, said.length, name);
    for (const time of ["once", "twice"]) {
      const report = await checkBackup(join(folder, "to"));
      t.match(report, { findings: [], losses: losses.map((id) => ({ id })) }, `${name}: the check of it, ${time}`);
      t.equal(report.losses.length, losses.length);
    }
    const options = { folder: data, repair: false, nowMs: () => 0, reading: async () => {}, repaired: () => {} };
    await checkDataDirectory({ ...options, acceptedLosses: losses });
    t.strictSame(await warningsOf("again"), [], `${name}: accepted`);
    t.strictSame((await checkBackup(join(folder, "again"))).losses, []);
  }
  for (const list of ["folders.json", "journal.json"]) {
    const folder = t.testdir();
    cpSync(backup, join(folder, "data"), { recursive: true });
    rmSync(join(folder, "data", BACKUP_LIST));
    faults.cut(join(folder, "data/events", list), 0.5);
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    const [from, to] = [join(folder, "data"), join(folder, "to")];
    await copyDataDirectory({ kind: "data directory", from, to, progress, warn });
    t.match(warnings, [/\.json is damaged: files that are gone may not be missed, in the copy either$/], list);
  }
});

const COPIES = [
  ["data directory", join(home, "data")],
  ["backup", backup],
] as const;

for (const [kind, from] of COPIES) {
  const named = `a copy of a ${kind}`;
  /** The names in a folder, but for those that SQLite keeps for a while. */
  const namesIn = (folder: string) =>
    readdirSync(folder)
      .filter((name) => !/-(shm|wal)$/.test(name))
      .sort();
  const whole = namesIn(kind === "backup" ? join(home, "data") : backup);

  t.test(`${named} needs room: it says how much, and leaves nothing if there is none in the end`, async (t) => {
    const folder = t.testdir({ volume: {} });
    for (const to of [join(folder, "to"), join(folder, "volume")]) {
      const place = { kind, from, to, progress, isMountPoint: async (path: string) => path.endsWith("volume") };
      t.match(await messageOf(copyDataDirectory({ ...place, freeBytes: async () => 100 * 1024 })), {
        message: new RegExp(
          `^no room for the copy: the disk of ${folder} has 100 KB free, and it takes at least [\\d.]+ KB$`,
        ),
        hint: "make room there, or name a folder on another disk: nothing was copied",
      });
      t.strictSame(namesIn(folder), ["volume"]);
      t.strictSame(namesIn(join(folder, "volume")), []);
    }
    const disk = await recordDiskCalls(t, folder);
    let failures = 0;
    for (let n = 1; ; n++) {
      let left = n;
      disk.before = (call) => {
        if (/^write /.test(call) && --left <= 0) refuseBytes(call);
      };
      const said = await messageOf(copyDataDirectory({ kind, from, to: join(folder, "to"), progress }));
      if (left > 0) break;
      failures++;
      t.match(said, {
        message: new RegExp(`^no space left on the disk of ${folder}: the copy takes at least [\\d.]+ KB there$`),
        hint: "make room there, or name a folder on another disk: nothing of the copy is left there",
      });
      t.strictSame(namesIn(folder), ["volume"], `write ${n}`);
    }
    t.ok(failures > 2, `${failures} writes failed, one after another`);
    t.strictSame(namesIn(join(folder, "to")), whole);
  });

  t.test(`${named} never takes the place of a data directory that is used`, async (t) => {
    const folder = t.testdir();
    const [to, link, empty] = [join(folder, "to"), join(folder, "link"), join(folder, "empty")];
    cpSync(join(home, "data"), to, { recursive: true });
    symlinkSync("to", link);
    mkdirSync(join(empty, "events"), { recursive: true });
    // As copies that were interrupted leave them, which another copy removes.
    const leftovers = [".to.abcDEF", "to/.to.abcDEF"].map((name) => join(folder, name));
    const ended = `${JSON.stringify({ pid: 999_999_999, start: null, token: "" })}\n`;
    for (const path of leftovers) {
      mkdirSync(path);
      writeFileSync(join(path, "lock"), ended);
    }
    // A service that has just begun to start has no lock yet.
    t.match(await messageOf(copyDataDirectory({ kind, from, to, progress })), {
      message: `${to} already exists`,
      hint: "name a folder that does not exist yet, or move this one aside",
    });
    for (const path of leftovers) mkdirSync(path, { recursive: true });
    const unlock = [await lockDirectory(join(to, "events")), await lockDirectory(join(empty, "events"))];
    const before = readdirSync(folder, { recursive: true }).sort();
    for (const place of [to, link, empty]) {
      t.match(await messageOf(copyDataDirectory({ kind, from, to: place, progress })), {
        message: `${place} is the data directory of a service that is running (process ${process.pid})`,
        hint: "name another folder, or stop that service and move its folder aside: nothing was changed",
      });
    }
    t.strictSame(readdirSync(folder, { recursive: true }).sort(), before, "nothing is touched");
    for (const end of unlock) await end();
  });

  t.test(`${named} holds nothing of one that was interrupted`, async (t) => {
    const folder = t.testdir();
    const to = join(folder, "to");
    const warnings: string[] = [];
    // The leftovers of an older version with the same process number and of this one, and a folder that is no copy.
    const ended = { pid: 999_999_999, start: null, token: "" };
    for (const name of [`.to.${process.pid}`, ".to.abcDEF", ".to.notes"])
      mkdirSync(join(folder, name, "events/projects/lost~1"), { recursive: true });
    writeFileSync(join(folder, ".to.abcDEF/lock"), `${JSON.stringify(ended)}\n`);
    const warn = (text: string) => void warnings.push(text);
    await copyDataDirectory({ kind, from, to, progress, warn });
    t.notOk(existsSync(join(to, "events/projects/lost~1")));
    t.strictSame(namesIn(folder), [`.to.${process.pid}`, ".to.notes", "to"].sort());
    t.strictSame(warnings, [
      `${join(folder, `.to.${process.pid}`)} may be left of a copy that was interrupted: remove it if none is being made`,
    ]);
  });

  t.test(`${named} replaces nothing that came meanwhile`, async (t) => {
    const came = {
      "a folder with a file": (to: string) => {
        mkdirSync(to);
        writeFileSync(join(to, "important.txt"), "x");
      },
      "a file": (to: string) => writeFileSync(to, "x"),
      "a link to a folder with a file": (to: string) => symlinkSync(home, to),
    };
    for (const [what, make] of Object.entries(came)) {
      const to = join(t.testdir(), "to");
      const makeOnce = () => {
        if (lstatSync(to, { throwIfNoEntry: false }) === undefined) make(to);
      };
      const copy = copyDataDirectory({ kind, from, to, progress: makeOnce });
      t.match(await messageOf(copy), {
        message: `${to} was made by another process meanwhile, and is left as it is`,
        hint: "name a folder that does not exist yet, or remove this one",
      });
      t.notOk(existsSync(join(to, "records.sqlite")), what);
      t.ok(lstatSync(to), what);
      t.strictSame(namesIn(join(to, "..")), ["to"], what);
    }
    const to = join(t.testdir(), "to");
    const both = [0, 1].map(() => messageOf(copyDataDirectory({ kind, from, to, progress })));
    const messages = (await Promise.all(both)).map(({ message }) => message);
    t.strictSame(messages.filter((text) => text?.includes("was made by another process meanwhile")).length, 1);
    t.strictSame(namesIn(to), whole);
  });

  t.test(`${named} follows a link, and fills a mount point in its place`, async (t) => {
    const folder = t.testdir({ disk: {}, link: t.fixture("symlink", "disk"), nowhere: t.fixture("symlink", "gone") });
    const [disk, link] = [join(folder, "disk"), join(folder, "link")];
    await copyDataDirectory({ kind, from, to: link, progress });
    t.ok(lstatSync(link).isSymbolicLink());
    t.strictSame(namesIn(disk), whole);
    t.match(await messageOf(copyDataDirectory({ kind, from, to: join(folder, "nowhere"), progress })), {
      message: `${join(folder, "nowhere")} is a link that leads nowhere`,
    });
    t.match(await messageOf(copyDataDirectory({ kind, from, to: "/dev/null/x", progress })), {
      message: "/dev/null/x cannot be opened: a part of its path is not a folder",
    });
    const mounted = join(folder, "mounted");
    mkdirSync(mounted);
    const { ino } = lstatSync(mounted);
    const isMountPoint = async () => true;
    await copyDataDirectory({ kind, from, to: mounted, progress, isMountPoint });
    t.equal(lstatSync(mounted).ino, ino);
    t.strictSame(namesIn(mounted), whole);
    for (const mounts of [true, false]) {
      const volume = join(folder, `volume-${mounts}`);
      mkdirSync(join(volume, "lost+found"), { recursive: true });
      writeFileSync(join(volume, "lost+found", "#12"), "of a check of the disk");
      await copyDataDirectory({ kind, from, to: volume, progress, isMountPoint: async () => mounts });
      t.strictSame(namesIn(volume), [...whole, "lost+found"].sort());
      t.ok(existsSync(join(volume, "lost+found", "#12")), "what the file system keeps there stays");
      if (kind === "data directory") t.strictSame((await checkBackup(volume)).findings, []);
    }
    const noFolder = join(folder, "no-folder");
    mkdirSync(noFolder);
    writeFileSync(join(noFolder, "lost+found"), "a file of somebody's");
    t.match(await messageOf(copyDataDirectory({ kind, from, to: noFolder, progress })), {
      message: `${noFolder} already exists`,
    });
    const late = join(folder, "late");
    mkdirSync(late);
    const make = () => writeFileSync(join(late, "important.txt"), "x");
    t.match(await messageOf(copyDataDirectory({ kind, from, to: late, progress: make, isMountPoint })), {
      message: `${late} was made by another process meanwhile, and is left as it is`,
    });
    t.strictSame(namesIn(late), ["important.txt"]);
  });
}
