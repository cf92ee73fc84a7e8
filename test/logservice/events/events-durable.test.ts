// The state after a power failure: the order of writes, syncs, renames and removals, and what is there after a sync
// that failed. Killing the process shows none of it.
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { checkEvents } from "../../../logservice/events/check.ts";
import { buildFromJournal } from "../../../logservice/events/duckdb/build.ts";
import { openDuckDb } from "../../../logservice/events/duckdb/duckdb.ts";
import { lockDirectory } from "../../../logservice/events/lock.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore, NewEvent } from "../../../logservice/events/store.ts";
import { recordDiskCalls, refuseBytes } from "../../support/events/disk-calls.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const event = (message: string): NewEvent => ({
  timestamp: "2026-01-01T00:00:00Z",
  level: "info",
  message,
  fields: {},
});
const opened = (directory: string, clock?: Clock) =>
  openEventsStore({ directory, reserveBytes: 0, log: () => {}, ...(clock !== undefined && { clock }) });

async function messages(store: EventsStore): Promise<string[]> {
  const range = { project: "app", startMs: 0, stopMs: 4e12, query: undefined };
  const { events } = await store.search({ ...range, limit: 100, order: "ascending", signal: never });
  return events.map(({ message }) => message);
}

const refusalOf = (store: EventsStore, ...batch: NewEvent[]) =>
  store.append("app", batch).then(
    () => "stored",
    (error: unknown) => error,
  );

function folder(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), "events-durable-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

/** The calls by which a whole file takes the place of another one. */
function replaced(path: string): string[] {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  return [`write ${path}.new`, `sync ${path}.new`, `rename ${path}.new ${path}`, `sync ${folder}`];
}

/** Without what differs from run to run, times in names and the lock, and without leading zeros. */
const short = (call: string) => call.replace(/(journal\/)0+/g, "$1").replace(/(keys\/\d+)-\d+/g, "$1-TIME");
const stable = (calls: readonly string[]) => calls.filter((call) => !/ (lock|spill)/.test(call)).map(short);
const JOURNAL = "journal/1.ndjson";
const FILE = "journal/0000000000000001.ndjson";

t.test("a folder that was away is written to again once it is back", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "tool-events-away-"));
  t.teardown(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }));
  const [directory, away] = [join(base, "events"), join(base, "away")];
  const clock = new TestClock();
  const logged: string[] = [];
  const log = (_: string, message: string) => void logged.push(message);
  const store = await openEventsStore({ directory, reserveBytes: 0, clock, log });
  t.teardown(() => store.close());
  await store.append("app", [event("one")]);
  renameSync(directory, away);
  await until("the missing file is noticed", async () => {
    await clock.advance(2_000);
    return logged.some((message) => message.startsWith("the active journal file was damaged"));
  });
  await t.rejects(store.append("app", [event("two")]), {
    message: /^the folder of the events was replaced or removed/,
  });
  renameSync(away, directory);
  await until("it is written to", async () => {
    await clock.advance(2_000);
    return store.append("app", [event("three")]).then(
      () => true,
      () => false,
    );
  });
  t.same(await messages(store), ["one", "three"]);
});

t.test("the order of calls", async (t) => {
  // The look at all files, which would write a list of its own, never comes.
  const clock = new TestClock();
  const directory = folder(t);
  const disk = await recordDiskCalls(t, directory);
  const taken = () => stable(disk.take());
  const store = await opened(directory, clock);
  t.strictSame(
    taken(),
    ["make projects/", "make journal/", ...replaced("folders.json"), "sync journal", ...replaced("journal.json")],
    "a new store: the journal's file has its name before it is listed",
  );

  await store.append("app", [event("one")], { idempotencyKey: "key" });
  t.strictSame(taken(), ["write journal/1.ndjson", "sync journal/1.ndjson"], "an append");

  await store.flush();
  t.strictSame(
    taken(),
    [
      // The next file, before anything is written to it.
      "sync journal",
      ...replaced("journal.json"),
      // The folder of the project, with a manifest, before it is listed.
      "make projects/app~2/",
      "sync projects",
      ...replaced("projects/app~2/manifest.json"),
      ...replaced("folders.json"),
      // Another process makes the segment here. The manifest names it, and the keys are kept, before the journal forgets.
      ...replaced("projects/app~2/manifest.json"),
      "make keys/",
      ...replaced("keys/1-TIME.ndjson"),
      ...replaced("folders.json"),
      ...replaced("journal.json"),
      "remove journal/1.ndjson",
      "sync journal",
    ],
    "a flush",
  );

  await store.append("app", [event("two")]);
  await store.deleteProject("app");
  t.strictSame(
    taken(),
    [
      "write journal/2.ndjson",
      "sync journal/2.ndjson",
      "write journal/2.ndjson",
      "sync journal/2.ndjson",
      // Marked as removed before the first of its files goes, and on the list until the last one is gone.
      ...replaced("projects/app~2/removed"),
      "remove projects/app~2",
      "sync projects",
      ...replaced("folders.json"),
    ],
    "a deletion",
  );

  await store.append("app", [event("three")], { idempotencyKey: "key" });
  disk.take();
  await store.flush();
  const flushed = taken();
  const at = (call: string) => flushed.indexOf(call);
  t.ok(at("sync keys") > 0);
  t.ok(
    at("sync keys") < at("remove journal/2.ndjson"),
    "keys of the deleted project go before the deletion is forgotten",
  );
  t.strictSame(flushed.slice(-2), ["remove journal/2.ndjson", "sync journal"]);
  await store.close();
});

t.test("a segment is durable before it has its name", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  await store.append("app", [event("one"), event("two")]);
  await store.close();
  const instance = await openDuckDb(":memory:", { threads: "1" });
  const connection = await instance.connect();
  t.teardown(() => {
    connection.closeSync();
    instance.closeSync();
  });
  const disk = await recordDiskCalls(t, directory);
  const share = { project: "app", began: 2, first: 1, last: 2, events: 2, eventBytes: 100 };
  const path = join(directory, "segment.parquet");
  await buildFromJournal(connection, join(directory, FILE), [{ ...share, path }], systemClock);
  const calls = disk.take();
  t.equal(calls[0], "sync segment.parquet.new");
  t.strictSame(calls.slice(-2), ["rename segment.parquet.new segment.parquet", "sync ."]);
  const beside = calls.slice(1, -2);
  t.strictSame(beside, replaced(beside[0]!.replace(/^write (.*)\.new$/, "$1")), "the summary comes before it");
});

const FAILURES: readonly [name: string, call: string][] = [
  ["a sync", "sync journal/1.ndjson"],
  ["a write", "write journal/1.ndjson"],
];
for (const [name, failing] of FAILURES) {
  t.test(`${name} that failed: what was refused is not there after the next start`, async (t) => {
    const directory = folder(t);
    const disk = await recordDiskCalls(t, directory);
    const first = await opened(directory);
    await first.append("app", [event("kept")]);
    disk.take();
    let failures = 1;
    disk.before = (call) => {
      if (short(call) !== failing || failures-- <= 0) return;
      // Some of it may be there.
      if (failing.startsWith("write")) appendFileSync(join(directory, FILE), '{"b":2,"p":"app"');
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    };
    t.match(await refusalOf(first, event("refused"), event("refused, too")), { type: "unavailable" });
    const isSync = failing.startsWith("sync");
    t.strictSame(
      stable(disk.take()),
      [...(isSync ? ["write journal/1.ndjson"] : []), "cut journal/1.ndjson", "sync journal/1.ndjson"],
      "cut off, and that is durable",
    );
    const left = readFileSync(join(directory, FILE), "utf8");
    t.match(left, "kept");
    t.equal(left.match(/\n/g)?.length, 2, "one frame of one event");
    t.ok(left.endsWith("\n"));
    await first.close();
    const second = await opened(directory);
    t.strictSame(await messages(second), ["kept"]);
    await second.append("app", [event("after")]);
    await second.close();
    const third = await opened(directory);
    t.strictSame(await messages(third), ["kept", "after"]);
    await third.close();
  });
}

t.test("sequences that a failed write took tell no loss if the folder of the project is gone", async (t) => {
  const rows: [name: string, refused: (store: EventsStore) => Promise<unknown>][] = [
    ["a batch", (store) => refusalOf(store, event("refused"), event("refused, too"))],
    ["a deletion", (store) => store.deleteProject("other").catch((error: unknown) => error)],
    ["nothing, as before", async () => ({ type: "unavailable" })],
  ];
  for (const [name, refuse] of rows) {
    for (const restarts of [0, 1]) {
      const directory = folder(t);
      const disk = await recordDiskCalls(t, directory);
      let store = await opened(directory);
      await store.append("app", [event("one")]);
      let failures = 1;
      disk.before = (call) => {
        if (short(call) === `sync ${JOURNAL}` && failures-- > 0)
          throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      };
      t.match(await refuse(store), { type: "unavailable" }, name);
      // The file of the first event has ended, and stays: its flush makes and lists a folder, and fails then.
      disk.before = (call) => {
        if (/^write projects\/app~\d+\/manifest/.test(call)) throw new Error("EIO: i/o error");
      };
      await store.flush().catch(() => {});
      await store.append("app", [event("two")]);
      const copy = `${directory}-killed`;
      t.teardown(() => rmSync(copy, { recursive: true, force: true }));
      cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith("/lock") });
      await store.close();
      disk.before = () => {};
      for (let i = 0; i < restarts; i++) await (await opened(copy, new TestClock())).close();
      for (const project of readdirSync(join(copy, "projects")))
        if (project.startsWith("app~")) rmSync(join(copy, "projects", project), { recursive: true });
      store = await opened(copy);
      t.same([await messages(store), store.losses()], [["one", "two"], []], `${name}, ${restarts} restarts`);
      await store.close();
    }
  }
});

t.test("where cutting off fails as well, nothing more is accepted until the next start", async (t) => {
  for (const failing of ["cut journal/1.ndjson", "sync journal/1.ndjson"]) {
    const directory = folder(t);
    const disk = await recordDiskCalls(t, directory);
    const first = await opened(directory);
    await first.append("app", [event("kept")]);
    let isBroken = true;
    disk.before = (call) => {
      if (isBroken && [failing, `sync ${JOURNAL}`].includes(short(call))) throw new Error("EIO: i/o error");
    };
    t.match(await refusalOf(first, event("refused")), { type: "unavailable" });
    isBroken = false;
    disk.take();
    t.match(await refusalOf(first, event("later")), {
      type: "unavailable",
      cause: { message: /^the journal cannot be written any more; restart the service$/ },
    });
    t.strictSame(disk.take(), [], `${failing}: nothing is written`);
    t.strictSame(await messages(first), ["kept"]);
    await first.close();
    const second = await opened(directory);
    await second.append("app", [event("later")]);
    t.ok((await messages(second)).includes("later"));
    await second.close();
  }
});

t.test("a flush whose last steps fail loses nothing and is done again", async (t) => {
  for (const failing of [/^write keys\//, /^sync projects\/app~2$/, /^rename journal\.json/]) {
    const directory = folder(t);
    const disk = await recordDiskCalls(t, directory);
    const first = await opened(directory);
    await first.append("app", [event("one")], { idempotencyKey: "key" });
    let failures = 1;
    disk.before = (call) => {
      // The first one is that of the new file, or folder.
      const isLate = readdirSync(join(directory, "projects")).some((name) =>
        readdirSync(join(directory, "projects", name)).some((file) => file.endsWith(".parquet")),
      );
      if (isLate && failing.test(call) && failures-- > 0) throw new Error("EIO: i/o error");
    };
    await t.rejects(first.flush(), String(failing));
    await first.close();
    const second = await opened(directory);
    t.strictSame(await messages(second), ["one"]);
    await second.append("app", [event("one")], { idempotencyKey: "key" });
    await second.flush();
    t.strictSame(await messages(second), ["one"], "a retry counts once");
    await second.close();
  }
});

t.test("a segment goes only when a durable manifest no longer needs it", async (t) => {
  for (const what of ["retention", "a merge"]) {
    const directory = folder(t);
    const disk = await recordDiskCalls(t, directory);
    const store = await opened(directory);
    for (let i = 0; i < 12; i++) {
      await store.append("app", [event(`${i}`)]);
      await store.flush();
      if (what === "retention" && i > 1) break;
    }
    const project = join("projects", readdirSync(join(directory, "projects"))[0]!);
    disk.take();
    const removals: { readonly file: string; readonly isDropped: boolean; readonly before: readonly string[] }[] = [];
    const calls: string[] = [];
    disk.before = (call) => {
      const file = /^remove .*\/([^/]+\.parquet)$/.exec(call)?.[1];
      if (file !== undefined) {
        const manifest = JSON.parse(readFileSync(join(directory, project, "manifest.json"), "utf8").split("\n")[0]!);
        removals.push({ file, isDropped: manifest.dropped.includes(file), before: [...calls] });
      }
      calls.push(call);
    };
    if (what === "retention") {
      store.setRetention("app", 1);
      await store.expire();
    } else await store.compact();
    const { expired_segments_total: expired, merges_total: merges } = store.metrics();
    t.ok(Number(expired) + Number(merges) > 0, what);
    await until("the removals", () => removals.length > 0);
    await store.close();
    for (const { file, isDropped, before } of removals) {
      t.ok(isDropped, `${what}: ${file} is named as dropped`);
      const isManifest = (call: string) => call === `rename ${project}/manifest.json.new ${project}/manifest.json`;
      const renamed = before.findLastIndex(isManifest);
      t.equal(before[renamed + 1], `sync ${project}`, "and that is durable");
    }
  }
});

t.test("a journal file whose number is higher than its events keeps them over starts", async (t) => {
  const directory = folder(t);
  const path = (number: number) => join(directory, "journal", `${String(number).padStart(16, "0")}.ndjson`);
  let store = await opened(directory);
  for (let i = 0; i < 50; i++) await store.append("app", [event(`number ${i}`)]);
  await store.close();
  renameSync(path(1), path(100));
  for (let start = 0; start < 3; start++) {
    store = await opened(directory);
    const stored = await messages(store);
    t.strictSame(
      [stored.length, stored.at(-1), store.losses()],
      [50 + start, start ? `start ${start - 1}` : "number 49", []],
    );
    await store.append("app", [event(`start ${start}`)]);
    await store.close();
  }
});

t.test("the journal's folder is removed while the store is open: what was accepted is stored", async (t) => {
  for (const [name, accepted, fault, after] of [
    ["with events, noticed at once", ["one"], "gone", "wait"],
    ["with events, closed at once", ["one"], "gone", "close"],
    ["without events", [], "gone", "wait"],
    ["without events, closed at once", [], "gone", "close"],
    ["while no other can be made", ["one"], "a file", "wait"],
  ] as const) {
    const directory = folder(t);
    const journal = join(directory, "journal");
    let store = await opened(directory);
    for (const message of accepted) await store.append("app", [event(message)]);
    rmSync(journal, { recursive: true });
    const expected: string[] = [...accepted];
    if (fault === "a file") {
      writeFileSync(journal, "");
      await until("a refusal", async () => {
        const refusal = await refusalOf(store, event("two"));
        if (refusal === "stored") expected.push("two");
        return refusal !== "stored";
      });
      t.match(await refusalOf(store, event("two")), { type: "unavailable" }, name);
      rmSync(journal);
    }
    if (after === "wait") await until("a file", () => existsSync(journal) && readdirSync(journal).length > 0);
    await until("an append", async () => (await refusalOf(store, event("last"))) === "stored");
    expected.push("last");
    t.strictSame(await messages(store), expected, name);
    await store.close();
    store = await opened(directory);
    t.strictSame([await messages(store), store.losses()], [expected, []], name);
    await store.close();
  }
});

t.test("a folder that another process has by now is not written to", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "events-taken-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const [path, away] = [join(directory, "events"), join(directory, "away")];
  const first = await openEventsStore({ directory: path });
  await first.append("app", [event("before")]);
  renameSync(path, away);
  // As a backup that was put there: without the lock of the first one.
  cpSync(away, path, { recursive: true, filter: (one) => !/lock(\.duckdb)?$/.test(one) });
  const second = await openEventsStore({ directory: path });
  await second.append("app", [event("second")]);
  t.match(await refusalOf(first, event("refused")), { type: "unavailable" });
  await t.rejects(first.deleteProject("app"), { message: /was replaced/ });
  await second.append("app", [event("third")]);
  await t.rejects(first.flush(), { message: /shutting down/ });
  await first.close();
  t.same(await messages(second), ["before", "second", "third"]);
  await second.close();
  // That of the first one, whose process would have ended.
  rmSync(join(away, "lock"));
  for (const [one, expected] of [
    [path, ["before", "second", "third"]],
    [away, ["before"]],
  ] as const) {
    const again = await openEventsStore({ directory: one });
    t.same([await messages(again), again.losses()], [expected, []], one);
    await again.close();
  }
});

t.test("a folder that could not be synced, and a kill then: nothing is lost, or said to be", async (t) => {
  const home = folder(t);
  const disk = await recordDiskCalls(t, home);
  const failed = new Set<string>();
  for (let n = 1; ; n++) {
    const directory = join(home, String(n));
    const copy = `${directory}-killed`;
    let [syncs, failing] = [0, ""];
    disk.before = (call) => {
      const [, path] = /^sync \d+((?:\/projects|\/journal|\/keys)?(?:\/app~\d+)?)$/.exec(call) ?? [];
      if (path === undefined || ++syncs !== n) return;
      failing = `${path} of call ${n}`;
      failed.add(path.replace(/\d+/, "N"));
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    };
    let store = await opened(directory, new TestClock()).catch(() => opened(directory, new TestClock()));
    const acknowledged: string[] = [];
    let killed: readonly string[] | undefined;
    const steps = [
      ...["one", "two"].flatMap((text) => [
        () => store.append("app", [event(text)], { idempotencyKey: text }).then(() => text),
        () => store.flush(),
      ]),
      () => store.compact(),
    ];
    for (const step of steps) {
      const text = await step().catch(() => undefined);
      if (text !== undefined) acknowledged.push(text);
      if (failing === "" || killed !== undefined) continue;
      // A kill leaves what was written, whether or not it is durable.
      cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith("/lock") });
      killed = [...acknowledged];
    }
    disk.before = () => {};
    if (killed !== undefined) {
      const after = await opened(copy);
      t.same([await messages(after), after.losses()], [killed, []], failing);
      await after.close();
    }
    await store.flush();
    await store.close();
    store = await opened(directory);
    t.same([await messages(store), store.losses()], [acknowledged, []], `${failing}, and no kill`);
    await store.close();
    if (failing === "") break;
  }
  t.same([...failed].sort(), ["", "/journal", "/keys", "/projects", "/projects/app~N"].sort());
});

t.test("how far the events have come is reached again after a kill at any moment", async (t) => {
  const home = folder(t);
  const directory = join(home, "store");
  const disk = await recordDiskCalls(t, home);
  const kills: { copy: string; position: number; call: string }[] = [];
  const store = await opened(directory, new TestClock());
  let acknowledged = store.position();
  disk.before = (call) => {
    if (/^\w+ store\/(lock|spill|sql)/.test(call)) return;
    const position = store.position();
    if (/^(write|sync) store\/journal\/\d/.test(call)) t.equal(position, acknowledged, `${call}: not durable yet`);
    const copy = join(home, `${kills.length}`);
    cpSync(directory, copy, { recursive: true, filter: (path) => !/\/(lock[^/]*|spill)$/.test(path) });
    kills.push({ copy, position, call });
  };
  const steps = [
    () => store.append("app", [event("one"), event("two")]),
    () => store.flush(),
    () => store.append("other", [event("three")]),
    () => store.append("app", [event("four")]),
    () => store.flush(),
    () => store.deleteProject("app"),
    () => store.compact(),
    () => store.deleteProject("other"),
    () => store.flush(),
  ];
  for (const step of steps) {
    await step();
    t.ok(store.position() >= acknowledged, "it only grows");
    acknowledged = store.position();
  }
  await store.close();
  disk.before = () => {};
  t.ok(kills.length > 20 && acknowledged > 5, `${kills.length} moments`);
  for (const { copy, position, call } of kills) {
    const { findings } = await checkEvents(copy, { nowMs: 0, accepted: new Set(), position });
    t.same(
      findings.filter(({ loss }) => loss !== undefined),
      [],
      `killed before ${call} at ${position}`,
    );
  }
  const { copy } = kills.at(-1)!;
  const { findings } = await checkEvents(copy, { nowMs: 0, accepted: new Set(), position: acknowledged + 1 });
  t.match(findings, [{ state: "uncertain", loss: { isPossible: true } }], "one that is older is told from them");
  const again = await opened(directory);
  t.ok(again.position() >= acknowledged);
  await again.close();
});

t.test(
  "an older folder of events in the place of the current one may lack events, until that is accepted",
  async (t) => {
    const home = folder(t);
    const directory = join(home, "store");
    const [older, newer] = [join(home, "older"), join(home, "newer")];
    const lines: string[] = [];
    const log = (_level: string, message: string) => void lines.push(message);
    const open = (position: number, accepted: ReadonlySet<string> = new Set()) => {
      lines.length = 0;
      return openEventsStore({ directory, reserveBytes: 0, log, position, accepted });
    };
    const missing = async (from: Awaited<ReturnType<typeof open>>) =>
      (await from.count({ project: "app", startMs: 0, stopMs: 4e12, query: undefined, signal: never })).stats
        .missingBytes > 0;

    let store = await open(0);
    await store.append("app", [event("one")]);
    await store.flush();
    await store.append("app", [event("two")]);
    let position = store.position();
    await store.close();
    cpSync(directory, older, { recursive: true });
    store = await open(position);
    t.same([store.losses(), lines], [[], []], "a copy of the same moment is none");
    await store.append("app", [event("three")]);
    position = store.position();
    await store.close();
    renameSync(directory, newer);

    for (const [name, put, held] of [
      ["an older one", () => cpSync(older, directory, { recursive: true }), ["one", "two"]],
      ["an empty one", () => mkdirSync(directory), []],
    ] as const) {
      put();
      const checked = await checkEvents(directory, { nowMs: 0, accepted: new Set(), position }).catch(() => undefined);
      store = await open(position);
      const [loss] = store.losses();
      t.match(store.losses(), [{ isPossible: true, isAccepted: false, project: "" }], name);
      if (checked !== undefined)
        t.same(
          checked.findings.map(({ loss }) => loss?.id),
          [loss!.id],
          "as a check says",
        );
      const said = /^events may be missing: may lack events: the folder of the events is an older copy/;
      t.match(
        lines.filter((line) => /missing/.test(line)),
        [said],
        "the log says so",
      );
      t.equal(await missing(store), true, "and answers do");
      t.ok(store.position() >= position, "later events have numbers of their own");
      await store.append("app", [event("four")]);
      position = store.position();
      await store.close();
      store = await open(position);
      t.same(
        [store.losses().map(({ id }) => id), await messages(store)],
        [[loss!.id], [...held, "four"]],
        "as does the next",
      );
      t.match(
        lines.filter((line) => /missing/.test(line)),
        [said],
      );
      await store.close();
      store = await open(position, new Set([loss!.id]));
      store.acceptLosses(new Set([loss!.id]));
      t.same([lines, await missing(store)], [[], false], "accepted, it is said no longer");
      await store.close();
      rmSync(directory, { recursive: true });
    }
    // Events that were acknowledged since are in the other folder.
    renameSync(newer, directory);
    store = await open(3);
    t.same([store.losses(), await messages(store)], [[], ["one", "two", "three"]], "put back, all is there");
    await store.close();
  },
);

t.test("of several that take over a directory at once, one gets it", async (t) => {
  const ended = (name: string) => `${JSON.stringify({ pid: 2 ** 30, start: null, token: name })}\n`;
  const rightTo = (path: string, name: string) =>
    `${path}.${createHash("sha256").update(ended(name)).digest("hex").slice(0, 16)}`;
  const rows: Record<string, (lock: string) => void> = {
    "no lock": () => {},
    "the lock of a process that ended": (lock) => writeFileSync(lock, ended("a")),
    "the same, and another one ended while it took that over": (lock) => {
      writeFileSync(lock, ended("a"));
      writeFileSync(rightTo(lock, "a"), ended("b"));
    },
    "the same twice": (lock) => {
      writeFileSync(lock, ended("a"));
      writeFileSync(rightTo(lock, "a"), ended("b"));
      writeFileSync(rightTo(rightTo(lock, "a"), "b"), ended("c"));
    },
    "half a lock": (lock) => writeFileSync(lock, ended("a").slice(0, 20)),
    "the lock that a process left on a full disk": (lock) => symlinkSync("1073741824.abc.def", lock),
  };
  const home = folder(t);
  const disk = await recordDiskCalls(t, home);
  for (const [name, leave, isFull] of Object.entries(rows).flatMap(([name, leave]) => [
    [name, leave, false] as const,
    [`${name}, on a full disk`, leave, true] as const,
  ])) {
    const directory = mkdtempSync(join(home, "locked-"));
    disk.before = isFull ? refuseBytes : () => {};
    const winners = new Set<number>();
    for (let round = 0; round < (isFull ? 5 : 20); round++) {
      leave(join(directory, "lock"));
      const results = await Promise.allSettled(Array.from({ length: 6 }, () => lockDirectory(directory)));
      const unlocks = results.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
      winners.add(unlocks.length);
      for (const one of results)
        if (one.status === "rejected") t.match(String(one.reason), new RegExp(`in use by process ${process.pid}:`));
      for (const unlock of unlocks) await unlock();
      if (readdirSync(directory).length > 0) t.fail(`${name}: ${readdirSync(directory)} are left`);
    }
    t.same([...winners], [1], name);
  }
});
