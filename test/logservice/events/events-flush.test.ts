// The work that the events store does by itself: ends the journal's file, makes and merges segments, slows clients.
// Faults are made by what is in the folder, and by the end of processes.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parseQuery } from "../../../grammar/query/index.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { Compactor } from "../../../logservice/events/duckdb/compactor.ts";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { openDuckDb, quoted } from "../../../logservice/events/duckdb/duckdb.ts";
import { Flusher } from "../../../logservice/events/duckdb/flusher.ts";
import { FolderList } from "../../../logservice/events/duckdb/folder-list.ts";
import { parseFolderName } from "../../../logservice/events/duckdb/folder-name.ts";
import { planFolder } from "../../../logservice/events/duckdb/folder-plan.ts";
import { Inspector } from "../../../logservice/events/duckdb/inspector.ts";
import type { Manifest } from "../../../logservice/events/duckdb/manifest.ts";
import { ProjectSegments } from "../../../logservice/events/duckdb/projects.ts";
import type { Segment } from "../../../logservice/events/duckdb/segment.ts";
import { Segments } from "../../../logservice/events/duckdb/segments.ts";
import { printWithChecksum, readWithChecksum } from "../../../logservice/events/durable.ts";
import { Journal } from "../../../logservice/events/journal/journal.ts";
import { JournalList } from "../../../logservice/events/journal/journal-list.ts";
import { Memtable } from "../../../logservice/events/memtable.ts";
import { Memtables } from "../../../logservice/events/memtables.ts";
import { type EventsStoreOptions, openEventsStore } from "../../../logservice/events/open.ts";
import { Retention } from "../../../logservice/events/retention.ts";
import { storeSettings } from "../../../logservice/events/settings.ts";
import { type EventsStore, type NewEvent, StoreError } from "../../../logservice/events/store.ts";
import { emptySummary } from "../../../logservice/events/summary/summary.ts";
import { isRunning } from "../../support/cli.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const everything = (project = "app") => ({ project, startMs: 0, stopMs: 4e12, query: undefined });
const events = (from: number, count: number, pad = ""): NewEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(1714557600000 + from + i).toISOString(),
    level: "info",
    message: `number ${from + i}`,
    fields: { i: from + i, pad },
  }));
const messages = async (store: EventsStore, project = "app") => {
  const texts: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.search({
      ...everything(project),
      limit: 10_000,
      order: "ascending",
      cursor,
      signal: never,
    });
    texts.push(...page.events.map(({ message }) => message));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return texts;
};
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => `number ${from + i}`);

function folder(t: { teardown(done: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), "events-flush-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
const opened = (directory: string, options: Partial<EventsStoreOptions> = {}) =>
  openEventsStore({ directory, reserveBytes: 0, ...options });
const journals = (directory: string) =>
  readdirSync(join(directory, "journal")).filter((name) => name.endsWith(".ndjson"));
/** After it, since the start, what a store looks at by itself is looked at. */
const LOOK_MS = 100;
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

t.test("keys of batches are known after a flush and a start", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  await first.append("app", events(0, 2), { idempotencyKey: "key" });
  await first.flush();
  await first.close();
  const second = await opened(directory);
  await second.append("app", events(0, 2), { idempotencyKey: "key" });
  t.strictSame(await messages(second), numbers(0, 2));
  await second.close();
});

t.test("keys of a deleted project are forgotten with it, in the journal and behind it", async (t) => {
  for (const isFlushed of [false, true]) {
    const directory = folder(t);
    const first = await opened(directory);
    await first.append("app", events(0, 2), { idempotencyKey: "key" });
    await first.append("other", events(0, 2), { idempotencyKey: "key" });
    if (isFlushed) await first.flush();
    await first.deleteProject("app");
    await first.append("other", events(2, 1));
    await first.flush();
    await first.close();
    const second = await opened(directory);
    await second.append("app", events(5, 2), { idempotencyKey: "key" });
    await second.append("other", events(0, 2), { idempotencyKey: "key" });
    t.strictSame(await messages(second), numbers(5, 2));
    t.strictSame(await messages(second, "other"), numbers(0, 3));
    await second.close();
  }
});

t.test("a crash between the removal of a folder and its list is no loss, also once the journal is gone", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  await first.append("app", events(0, 2));
  await first.append("other", events(0, 2));
  await first.flush();
  const list = readFileSync(join(directory, "folders.json"));
  await first.deleteProject("app");
  await first.close();
  writeFileSync(join(directory, "folders.json"), list);
  for (const _ of ["after the crash", "without the journal's line of it"]) {
    const store = await opened(directory);
    t.strictSame(store.losses(), []);
    await store.append("other", events(2, 1));
    await store.flush();
    await store.close();
  }
});

t.test("a project that is deleted while its folder is made is on no list", async (t) => {
  for (let turns = 0; turns < 10; turns++) {
    const directory = folder(t);
    mkdirSync(join(directory, "projects"), { recursive: true });
    const { list } = await FolderList.open(directory);
    const memtables = new Memtables({ path: join(directory, "active"), begin: 1 }, 1);
    const options = {
      directory: join(directory, "projects"),
      folders: list,
      memtables,
      log: () => {},
      nowMs: Date.now,
    };
    const projects = new ProjectSegments(new Map(), options);
    const made = projects.makeFolder(projects.segmentsOf("app"));
    // Each step of it is a call of the system.
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    projects.forget("app");
    await Promise.all([made, projects.removeDeleted()]);
    t.strictSame([...list.all.keys()], [], `${turns} turns`);
    t.strictSame(readdirSync(join(directory, "projects")), []);
  }
});

t.test("what is accepted behind a deletion is remembered, though it was looked at before", async (t) => {
  const store = await opened(folder(t));
  await store.append("app", events(0, 1));
  const withIds = events(1, 2).map((event, i) => ({ ...event, id: `id ${i}` }));
  const [, ...appended] = [
    store.deleteProject("app"),
    store.append("app", withIds),
    store.append("app", events(3, 1), { idempotencyKey: "key" }),
  ];
  await Promise.all(appended);
  await store.append("app", withIds);
  await store.append("app", events(3, 1), { idempotencyKey: "key" });
  t.strictSame(await messages(store), numbers(1, 3));
  await store.close();
});

/** Files where the folder of the project "blocked" will be made. */
function block(directory: string): string[] {
  const stones = Array.from({ length: 40 }, (_, began) => join(directory, "projects", `blocked~${began}`));
  for (const path of stones) writeFileSync(path, "");
  return stones;
}

t.test("a deletion is kept as long as an older file of the journal has events of its project", async (t) => {
  for (const isRewritten of [false, true]) {
    const directory = folder(t);
    const logged: string[] = [];
    const clock = new TestClock();
    const first = await opened(directory, { clock, log: (_, message) => void logged.push(message) });
    const stones = block(directory);
    await first.append("blocked", events(0, 1));
    await first.append("passing", events(0, 3));
    t.ok(await failure(first.flush()));
    await first.deleteProject("passing");
    if (isRewritten) {
      rmSync(join(directory, "journal", journals(directory).sort().at(-1)!));
      await clock.advance(LOOK_MS);
      await until("the journal from memory", () => logged.some((message) => message.includes("rewritten from memory")));
    }
    await first.append("app", events(0, 1));
    t.ok(await failure(first.flush()));
    await until("the segment", () => first.metrics().segments === 1);
    await first.close();
    for (const path of stones) rmSync(path);
    const second = await opened(directory);
    t.strictSame(await messages(second, "passing"), [], isRewritten ? "rewritten" : "as it was");
    t.strictSame([...second.heldProjects()].sort(), ["app", "blocked"]);
    t.strictSame(second.losses(), []);
    await until("the flush", () => second.metrics().flushes_total! > 0 && journals(directory).length === 1);
    t.strictSame(await messages(second, "passing"), []);
    await second.close();
  }
});

t.test("a project whose folder cannot be made keeps no other one back", async (t) => {
  const directory = folder(t);
  const logged: string[] = [];
  const log: EventsStoreOptions["log"] = (level, message) => void logged.push(`${level}: ${message}`);
  const first = await opened(directory, { log });
  const stones = block(directory);
  await first.append("blocked", events(0, 3));
  await first.append("app", events(0, 3));
  t.ok(await failure(first.flush()));
  await first.append("app", events(3, 3));
  t.ok(await failure(first.flush()));
  t.match(logged[0], "error: flush failed; its events stay in the journal and the flush is retried");
  t.match(await failure(first.append("blocked", events(3, 1))), {
    type: "unavailable",
    message: /^the folder of this project's events cannot be written to: nothing was stored/,
  });
  await until("two segments", () => first.metrics().segments === 2);
  t.strictSame(await messages(first), numbers(0, 6));
  t.strictSame(await messages(first, "blocked"), numbers(0, 3), "they are answered from memory");
  t.equal(journals(directory).length, 2, "the file with the events that wait, and the one that is written");
  await first.close();
  for (const path of stones) rmSync(path);
  const second = await opened(directory);
  t.strictSame(await messages(second), numbers(0, 6));
  t.strictSame(await messages(second, "blocked"), numbers(0, 3));
  await until("the flush", () => second.metrics().flushes_total === 1);
  t.strictSame(await messages(second, "blocked"), numbers(0, 3));
  t.strictSame(second.losses(), []);
  await second.close();
  const third = await opened(directory);
  t.strictSame(await messages(third), numbers(0, 6));
  t.strictSame(await messages(third, "blocked"), numbers(0, 3));
  await third.close();
});

t.test("what failed is done without being asked for again", async (t) => {
  const directory = folder(t);
  const clock = new TestClock();
  const store = await opened(directory, { flushEvents: 3, clock });
  renameSync(join(directory, "projects"), join(directory, "away"));
  writeFileSync(join(directory, "projects"), "");
  await store.append("app", events(0, 3));
  for (const failures of [1, 2, 3]) {
    await until("the next try", () => clock.timers.includes(5000));
    t.equal(store.metrics().flush_failures_total, failures);
    if (failures === 3) {
      rmSync(join(directory, "projects"));
      renameSync(join(directory, "away"), join(directory, "projects"));
    }
    await clock.advance(5000);
  }
  await until("the flush", () => store.metrics().flushes_total === 1);
  t.strictSame(await messages(store), numbers(0, 3));
  await store.close();
});

t.test("changes of a project's segments come one after the other, and none behind its deletion", async (t) => {
  const directory = join(folder(t), "app~1");
  const segments = new Segments(directory, { project: "app", began: 1 }, { log: () => {}, nowMs: Date.now });
  const segment = (sequence: number): Segment => ({
    path: segments.newPath(sequence, sequence),
    events: 1,
    bytes: 1,
    footerBytes: 0,
    eventBytes: 1,
    first: 0n,
    last: 0n,
    sequence,
    intervals: [[sequence, sequence]],
    integrity: { sum: 1, footerSum: 1, stamp: undefined, checkedMs: 0 },
    columns: new Map(),
    summary: emptySummary(),
    hasTruncated: false,
  });
  const [a, b, c] = [segment(1), segment(2), segment(3)];
  await Promise.all([segments.replace([], [a], { flushed: 1 }), segments.replace([], [b], { flushed: 2 })]);
  await Promise.all([segments.replace([a], [c]), segments.replace([], [segment(4)], { flushed: 4 })]);
  t.strictSame(
    segments.all.map(({ sequence }) => sequence),
    [2, 3, 4],
  );
  t.match(readWithChecksum(readFileSync(join(directory, "manifest.json"), "utf8")), {
    flushed: 4,
    segments: [{ sequence: 2 }, { sequence: 3 }, { sequence: 4 }],
  });
  const late = segments.replace([], [segment(5)]);
  segments.delete();
  await segments.removeFolder();
  await late;
  t.equal(await segments.replace([], [segment(6)]), false);
  t.notOk(existsSync(directory));
});

t.test("the journal's file is ended between two writes, however many wait", async (t) => {
  const directory = folder(t);
  const list = await JournalList.open(join(directory, "journal.json"));
  const { journal } = await Journal.begin(directory, 1, list, []);
  const files: number[] = [];
  let sequence = 1;
  // Each write is followed by the next before it has ended, so that one always waits.
  const write = (): Promise<void> => {
    const frame = { sequence: sequence++, project: "app", lines: 1, atMs: 0, key: undefined, isDeletion: false };
    return journal.write(frame, Buffer.from("{}\n"), () => {
      files.push(journal.current.begin);
      if (sequence < 200) void write();
    });
  };
  await write();
  await journal.rotate(
    () => sequence,
    () => {},
  );
  t.ok(sequence < 200, `ended when ${sequence} of 200 were written`);
  await until(
    "all writes",
    () => files.length >= 199,
    () => files.length,
  );
  t.equal(new Set(files).size, 2);
  await journal.close();
});

t.test("large events are flushed by their bytes", async (t) => {
  const directory = folder(t);
  const store = await opened(directory, { flushBytes: 1_000_000 });
  const pad = "x".repeat(100_000);
  for (let i = 0; i < 12; i++) await store.append("app", events(i, 1, pad));
  await until("the flush", () => store.metrics().flushes_total === 1);
  t.equal((await store.count({ ...everything(), signal: never })).count, 12);
  t.ok(store.metrics().newest_events! < 12);
  await store.close();
});

t.test(
  "who comes when too much waits is let in when there is room, and refused when there is none for long",
  async (t) => {
    for (const limit of [{ maxWaitingEvents: 10 }, { maxWaitingBytes: 1000 }]) {
      const clock = new TestClock();
      const store = await opened(folder(t), { ...limit, maxAppendWaitMs: 60_000, clock });
      await store.append("app", events(0, 10));
      const waiting = store.append("app", events(10, 1));
      await until("the batch that waits", () => clock.timers.includes(60_000));
      const [first] = await Promise.all([
        Promise.race([
          waiting.then(() => "appended"),
          store.count({ ...everything(), signal: never }).then(() => "counted"),
        ]),
        store.flush(),
      ]);
      t.equal(first, "counted", "it waits");
      await waiting;
      t.strictSame(await messages(store), numbers(0, 11));
      t.equal(store.metrics().refused_batches_total, 0);
      await store.close();

      const full = await opened(folder(t), { ...limit, maxAppendWaitMs: 20, clock });
      await full.append("app", events(0, 10));
      const refusal = failure(full.append("app", events(10, 1)));
      await until("the batch that waits", () => clock.timers.includes(20));
      await clock.advance(20);
      const error = await refusal;
      t.ok(error instanceof StoreError && error.type === "unavailable" && (error.retryAfterMs ?? 0) > 0, String(error));
      t.strictSame(await messages(full), numbers(0, 10));
      const last = failure(full.append("app", events(10, 1)));
      await until("the batch that waits", () => clock.timers.includes(20));
      await full.close();
      t.ok((await last) instanceof StoreError, "the end of the store ends the waiting");
    }
  },
);

t.test("many large events of one file become several segments, others one", slow(), async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  const pad = "x".repeat(250_000);
  for (let i = 0; i < 150; i++) {
    await store.append("app", [...events(3 * i, 1, pad), ...events(3 * i + 1, 2)]);
    await store.append("other", events(i, 1));
  }
  const before = await store.projectStats("app");
  await store.flush();
  t.equal(store.metrics().flushes_total, 1);
  t.equal(store.metrics().segments, 4);
  t.strictSame(await messages(store), numbers(0, 450));
  t.equal((await store.count({ ...everything("other"), signal: never })).count, 150);
  const after = await store.projectStats("app");
  t.equal(after.eventsTotal, 450);
  t.ok(Math.abs(after.bytesTotal - before.bytesTotal) < 100, `${after.bytesTotal} of ${before.bytesTotal} bytes`);
  await store.close();
  const again = await opened(directory);
  t.strictSame(await messages(again), numbers(0, 450), "after a start, too");
  await again.close();
});

t.test("a file of the largest events is made with more memory", slow(), async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  // Six times their bytes in the journal, and a column of their own in the segment.
  const pad = "\u0001".repeat(40_000);
  for (let i = 0; i < 240; i++) await store.append("app", events(i, 1, `${i}${pad}`));
  await store.flush();
  t.equal(store.metrics().newest_events, 0);
  t.equal((await store.count({ ...everything(), signal: never })).count, 240);
  const page = await store.search({ ...everything(), limit: 1, order: "descending", signal: never });
  t.equal((page.events[0]!.fields as { pad: string }).pad, `239${pad}`);
  await store.close();
});

t.test("segments and what is made of them are sorted, the newest event first", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  const orders = async () => {
    const engine = await openDuckDb(":memory:", { threads: "1" });
    const connection = await engine.connect();
    const summaries: string[] = [];
    for (const name of readdirSync(join(directory, "projects"), { recursive: true }) as string[]) {
      if (!name.endsWith(".parquet")) continue;
      const path = join(directory, "projects", name);
      const reader = await connection.runAndReadAll(`select t, q from read_parquet(${quoted(path)})`);
      const rows = reader.getRows() as [bigint, bigint][];
      const isSorted = rows.every(([time, sequence], i) => {
        const [before, of] = rows[i - 1] ?? [time + 1n, 0n];
        return before > time || (before === time && of > sequence);
      });
      summaries.push(`${rows.length} ${isSorted}`);
    }
    connection.closeSync();
    engine.closeSync();
    return summaries.sort();
  };
  // In two projects: of the first the segments' times are apart, of the second they overlap.
  for (let i = 0; i < 4; i++) {
    // After the fourth they are merged.
    if (i > 0) t.strictSame(await orders(), [...Array(i).fill("100 true"), ...Array(i).fill("50 true")]);
    await store.append("apart", [...events(i * 100 + 50, 50), ...events(i * 100, 50)]);
    await store.append("over", events(500 - i, 50));
    await store.flush();
  }
  await store.compact();
  t.equal(store.metrics().merges_total, 2);
  await until(
    "the end of what was merged",
    () => readdirSync(join(directory, "projects"), { recursive: true }).length === 8,
  );
  t.strictSame(await orders(), ["200 true", "400 true"]);
  t.equal((await messages(store, "over")).length, 200);
  await store.close();
});

t.test("merges wait for the flushes, unless there are many segments", slow(), async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  await store.append("app", events(0, 5));
  await store.flush();
  await store.close();
  const [name = ""] = readdirSync(join(directory, "projects"));
  const home = join(directory, "projects", name);
  const manifest = readWithChecksum(readFileSync(join(home, "manifest.json"), "utf8")) as Manifest;
  const only = manifest.segments[0]!;
  const files = readdirSync(home)
    .filter((name) => name.startsWith(only.file))
    .map((name) => [name.slice(only.file.length), readFileSync(join(home, name))] as const);
  const flusher = new Flusher(join(directory, "spill"), systemClock);
  await flusher.open();
  t.teardown(() => flusher.close());
  for (const [count, merged] of [
    [10, 0],
    [31, 1],
  ] as const) {
    // The same segment again and again, under other names.
    const copies = Array.from({ length: count }, (_, i) => ({
      ...only,
      file: `${count}-${i}.parquet`,
      sequence: i + 1,
      intervals: [[i + 1, i + 1]] as const,
    }));
    for (const { file } of copies) {
      for (const [end, bytes] of files) writeFileSync(join(home, `${file}${end}`), bytes);
    }
    writeFileSync(join(home, "manifest.json"), printWithChecksum({ ...manifest, segments: copies }));
    const identity = parseFolderName(name)!;
    const readers = await ConnectionPool.open(() => openDuckDb(":memory:", { threads: "1" }), systemClock);
    const plan = await planFolder({
      directory: home,
      identity,
      journal: { intervals: [], isWhole: true, wholeSince: undefined, has: () => false },
      inspector: new Inspector(readers),
      nowMs: Date.now(),
      listEntry: {},
      isThorough: false,
    });
    await readers.close();
    const options = { log: () => {}, nowMs: Date.now };
    const segments = await Segments.open(plan, options, () => {
      t.fail("no summary is missing");
      return Promise.reject(new Error("none is missing"));
    });
    const memtables = new Memtables({ path: join(directory, "active"), begin: 100 }, 100);
    const { list: folders } = await FolderList.open(directory);
    const inFolder = { ...options, directory: join(directory, "projects"), folders, memtables };
    const projects = new ProjectSegments(new Map([["app", segments]]), inFolder);
    memtables.all.unshift(new Memtable({ path: join(directory, "sealed"), begin: 50 }));
    const clock = new TestClock();
    const settings = storeSettings({ directory, clock });
    const compactorOptions = { settings, memtables, projects, retention: new Retention() };
    const merging = new Compactor({ ...compactorOptions, flusher });
    merging.consider();
    await merging.settled();
    t.equal(merging.counts.merges, merged, `${count} segments, and something to flush`);
    memtables.all.shift();
    if (count === 10) {
      // One that failed is left for a while, unless it is asked for.
      const broken = new Flusher(join(directory, "broken"), systemClock);
      const failing = new Compactor({ ...compactorOptions, flusher: broken });
      await broken.close();
      for (let i = 0; i < 2; i++) {
        failing.consider();
        await failing.settled();
        t.equal(failing.counts.failures, 1);
      }
      await clock.advance(60_000);
      failing.consider();
      await failing.settled();
      t.equal(failing.counts.failures, 2, "after a minute it is tried again");
      t.ok(await failure(failing.compact()));
      failing.close();
    }
    merging.consider();
    await merging.settled();
    t.equal(merging.counts.merges, 1, `${count} segments, and nothing to flush`);
    merging.close();
  }
});

t.test("what was built stays built where it could not be finished", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  await store.append("app", events(0, 5), { idempotencyKey: "k" });
  // Where the folder of keys will be made.
  writeFileSync(join(directory, "keys"), "");
  t.ok(await failure(store.flush()));
  t.ok(await failure(store.flush()));
  const home = join(directory, "projects", "app~6");
  const built = readdirSync(home).filter((name) => name.endsWith(".parquet"));
  t.equal(built.length, 1);
  rmSync(join(directory, "keys"));
  await store.flush();
  t.strictSame(await messages(store), numbers(0, 5));
  t.strictSame(
    readdirSync(home).filter((name) => name.endsWith(".parquet")),
    built,
  );
  await store.close();
});

t.test("the pauses between tries of a flush grow", async (t) => {
  const directory = folder(t);
  const clock = new TestClock();
  const store = await opened(directory, { flushEvents: 5, clock });
  writeFileSync(join(directory, "keys"), "");
  await store.append("app", events(0, 5), { idempotencyKey: "k" });
  for (const [failures, pauseMs] of [1000, 2000, 4000].entries()) {
    await until(`a pause of ${pauseMs} ms`, () => clock.timers.includes(pauseMs));
    t.equal(store.metrics().flush_failures_total, failures + 1, `before a pause of ${pauseMs} ms`);
    if (pauseMs === 4000) rmSync(join(directory, "keys"));
    await clock.advance(pauseMs);
  }
  await until("the flush", () => store.metrics().flushes_total === 1);
  t.strictSame(await messages(store), numbers(0, 5));
  await store.close();
});

t.test("a folder in the place of a manifest is set aside", async (t) => {
  const directory = folder(t);
  const clock = new TestClock();
  const store = await opened(directory, { clock });
  await store.append("app", events(0, 5));
  const home = join(directory, "projects", "app~6");
  for (const name of ["manifest.json.new", "manifest.json"]) mkdirSync(join(home, name, "x"), { recursive: true });
  await store.flush();
  t.strictSame(await messages(store), numbers(0, 5));
  t.strictSame(readdirSync(join(home, "quarantine")).sort(), ["manifest.json", "manifest.json.new"]);
  rmSync(join(home, "manifest.json"));
  await clock.advance(LOOK_MS);
  await until("the manifest", () => existsSync(join(home, "manifest.json")));
  await store.close();
  const again = await opened(directory);
  t.strictSame(await messages(again), numbers(0, 5));
  t.strictSame(again.losses(), []);
  await again.close();
});

t.test("each file is read as a whole once in a day", async (t) => {
  const clock = new TestClock();
  const store = await opened(folder(t), { clock });
  const read = () => store.metrics().scrubbed_files_total;
  const nextLook = async (ms: number) => {
    await until("the next look", () => clock.timers.includes(ms));
    await clock.advance(ms);
  };
  await store.append("app", events(0, 5));
  await store.flush();
  // By the clock of the machine, which made the file, that was after today.
  await nextLook(100);
  await until("the first time", () => read() === 1);
  await nextLook(100);
  clock.jump(86_400_000 - 2101);
  await nextLook(2000);
  await until("a look at all files", () => clock.timers.includes(2000));
  t.equal(read(), 1, "a millisecond before the day is over");
  clock.jump(1);
  await nextLook(2000);
  await until("the second time", () => read() === 2);
  await store.close();
});

t.test("what has expired goes within ten minutes, even if nothing comes", async (t) => {
  const clock = new TestClock();
  const store = await opened(folder(t), { clock });
  await store.append("app", events(0, 5));
  await store.flush();
  store.setRetention("app", 30);
  await clock.advance(599_999);
  t.equal(store.metrics().segments, 1);
  await clock.advance(1);
  await until("the end of the segment", () => store.metrics().segments === 0);
  t.equal(store.metrics().expired_segments_total, 1);
  await store.close();
});

t.test("events of a quiet service become segments within a day, and sooner where they expire", async (t) => {
  const DAY_MS = 24 * 3_600_000;
  const SWEEP_MS = 600_000;
  const rows: { name: string; days: number; ageMs: number; flushedMs: number }[] = [
    { name: "kept for ever", days: 0, ageMs: 0, flushedMs: DAY_MS + SWEEP_MS },
    { name: "kept for thirty days", days: 30, ageMs: 0, flushedMs: DAY_MS + SWEEP_MS },
    { name: "kept for a day, and an hour old", days: 1, ageMs: 3_600_000, flushedMs: DAY_MS - 3_600_000 + SWEEP_MS },
    { name: "kept for a day, and older than that", days: 1, ageMs: 2 * DAY_MS, flushedMs: SWEEP_MS },
  ];
  for (const { name, days, ageMs, flushedMs } of rows) {
    const clock = new TestClock();
    const store = await opened(folder(t), { clock });
    store.setRetention("app", days);
    const timestamp = new Date(clock.nowMs() - ageMs).toISOString();
    await store.append("app", [{ timestamp, level: "info", message: "m", fields: {} }]);
    await clock.advance(flushedMs - SWEEP_MS);
    t.equal(store.metrics().newest_events, 1, `${name}: not before`);
    await clock.advance(SWEEP_MS);
    await until(`${name}: the flush`, () => store.metrics().newest_events === 0);
    await store.close();
  }
});

t.test(
  "segments that turn out to be damaged are left out of a merge, and of answers, and said to be missing",
  async (t) => {
    const directory = folder(t);
    const store = await opened(directory);
    for (let i = 0; i < 3; i++) {
      await store.append("app", events(i * 5, 5));
      await store.flush();
    }
    const [name = ""] = readdirSync(join(directory, "projects"));
    const home = join(directory, "projects", name);
    const [damaged = ""] = readdirSync(home).filter((name) => name.endsWith(".parquet"));
    const bytes = readFileSync(join(home, damaged));
    bytes[Math.floor(bytes.length / 3)]! ^= 1;
    writeFileSync(join(home, damaged), bytes);
    for (let i = 3; i < 5; i++) {
      await store.append("app", events(i * 5, 5));
      await store.flush();
    }
    await store.compact();
    t.strictSame(await messages(store), numbers(5, 20));
    t.match(store.losses(), [{ file: `${name}/${damaged}`, reason: "is damaged", events: 5, isAccepted: false }]);
    t.ok(readFileSync(join(home, "quarantine", damaged)).equals(bytes));
    const { stats } = await store.count({ ...everything(), signal: never });
    t.equal(stats.missingBytes, bytes.length);
    const [loss] = store.losses();
    store.acceptLosses(new Set([loss!.id]));
    t.equal(
      (await store.count({ ...everything(), signal: never })).stats.missingBytes,
      0,
      "a loss that is accepted is not missed",
    );
    await store.close();
  },
);

t.test("a flusher that ends under its jobs is started again, and no more than some times", async (t) => {
  const directory = folder(t);
  const store = await opened(join(directory, "store"));
  await store.append("app", events(0, 100));
  await store.close();
  const [name = ""] = journals(join(directory, "store"));
  const flusher = new Flusher(join(directory, "spill"), systemClock);
  await flusher.open();
  t.teardown(() => flusher.close());
  const job = (to: string) =>
    ({
      kind: "flush",
      journalPath: join(directory, "store", "journal", name),
      targets: [{ ...TARGET, path: join(directory, to) }],
    }) as const;
  const two = [flusher.run(job("a.parquet")), flusher.run(job("b.parquet"))];
  const pid = flusher.pid!;
  process.kill(pid, "SIGKILL");
  t.strictSame(
    (await Promise.all(two)).map(([facts]) => facts?.events),
    [100, 100],
  );
  t.not(flusher.pid, pid);
  // One that cannot run at all.
  const clock = new TestClock();
  const broken = new Flusher(join(directory, "spill"), clock);
  await broken.open();
  const killed = new Set<number>();
  const kill = () => {
    killed.add(broken.pid!);
    process.kill(broken.pid!, "SIGKILL");
  };
  const error = failure(broken.run(job("c.parquet")));
  kill();
  for (const pauseMs of [250, 1000]) {
    await until("the pause", () => clock.timers.includes(pauseMs));
    await clock.advance(pauseMs);
    kill();
  }
  t.match(String(await error), /the flusher ended \(SIGKILL\)/);
  t.equal(killed.size, 3);
  await broken.close();
});

const TARGET = { project: "app", began: 1, first: 1, last: 100, events: 100, eventBytes: 1 };

t.test("a flusher that has nothing to do ends, and is started for the next job", async (t) => {
  const directory = folder(t);
  const store = await opened(join(directory, "store"));
  await store.append("app", events(0, 100));
  await store.close();
  const [name = ""] = journals(join(directory, "store"));
  const clock = new TestClock();
  const flusher = new Flusher(join(directory, "spill"), clock);
  await flusher.open();
  t.teardown(() => flusher.close());
  const pids = new Set<number>();
  for (const to of ["a", "b"]) {
    const job = flusher.run({
      kind: "flush",
      journalPath: join(directory, "store", "journal", name),
      targets: [{ ...TARGET, path: join(directory, `${to}.parquet`) }],
    });
    const pid = flusher.pid!;
    pids.add(pid);
    t.equal((await job)[0]?.events, 100);
    await clock.advance(14_999);
    t.equal(flusher.pid, pid, "it waits for another job");
    await clock.advance(1);
    t.equal(flusher.pid, undefined);
    await until("the end of the process", () => !isRunning(pid));
  }
  t.equal(pids.size, 2);
});

t.test("nothing is spilled outside of the store's folder, and what a crash left there goes", async (t) => {
  const directory = folder(t);
  const before = readdirSync(".");
  const first = await opened(directory);
  await first.append("app", events(0, 5));
  await first.flush();
  await first.close();
  for (const owner of ["flusher", "queries"]) {
    mkdirSync(join(directory, "spill", owner), { recursive: true });
    writeFileSync(join(directory, "spill", owner, "duckdb_temp_storage_DEFAULT-0.tmp"), "left");
  }
  const second = await opened(directory);
  t.notOk(readdirSync(join(directory, "spill"), { recursive: true }).some((name) => String(name).endsWith(".tmp")));
  t.strictSame(readdirSync("."), before);
  await second.close();
});

t.test("deletions are not forgotten over a start, however many there were", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  for (let life = 0; life < 5; life++) {
    await store.append("app", events(life, 1));
    await store.deleteProject("app");
  }
  await store.append("app", events(5, 1));
  await store.close();
  const restarted = await opened(directory);
  t.equal(restarted.metrics().journal_quarantined_total, 0);
  t.strictSame(await messages(restarted), ["number 5"]);
  await restarted.close();
});

t.test("a start remembers the newest ids, however many older ones a merged segment has", async (t) => {
  const directory = folder(t);
  const recentIds = 100;
  // Newer ids have earlier times: those that come last are the newest, whatever they say.
  const batch = (from: number, count: number) =>
    events(from, count).map((event, i) => ({
      ...event,
      timestamp: new Date(1714557600000 - from - i).toISOString(),
      id: `id ${from + i}`,
    }));
  const store = await opened(directory, { recentIds });
  for (let from = 0; from < 1_000; from += 250) {
    await store.append("app", batch(from, 250));
    await store.flush();
  }
  await store.compact();
  await store.append("app", batch(1_000, 30));
  await store.flush();
  await store.append("app", batch(1_030, 30));
  await store.close();

  const restarted = await opened(directory, { recentIds });
  t.teardown(() => restarted.close());
  // The last 30 are in the journal, 30 are in a segment of their own, and the others in a merged one.
  await restarted.append("app", batch(960, 100));
  t.equal((await messages(restarted)).length, 1_060, "the newest hundred are not stored again");
  await restarted.append("app", batch(0, 1));
  t.equal((await messages(restarted)).length, 1_061, "the oldest is forgotten");
});

t.test("what comes by two ways counts once among the newest ids, 200,000 of them, and later once more", async (t) => {
  const directory = folder(t);
  t.equal(storeSettings({ directory }).recentIds, 200_000, "as the README says");
  const recentIds = 100;
  const store = await opened(directory, { recentIds });
  t.teardown(() => store.close());
  const batch = (from: number, to: number) =>
    events(from, to - from).map((event, i) => ({ ...event, id: `id ${from + i}` }));
  // At every place of the bound in what is remembered: steps that do not divide it.
  for (let to = 7; to <= 301; to += 7) {
    await store.append("app", batch(to - 7, to));
    await store.append("app", batch(Math.max(0, to - recentIds), to));
  }
  t.equal((await messages(store)).length, 301, "the second way adds nothing");
  await store.append("app", batch(0, 1));
  t.equal((await messages(store)).length, 302, "an older one is forgotten");
});

t.test("events that become segments while a query looks for filters are counted", slow(), async (t) => {
  const store = await opened(folder(t));
  const parsed = parseQuery("pad = here");
  const range = { ...everything(), query: parsed.ok ? parsed.value : undefined };
  await store.append("app", events(0, 5, "here"));
  await store.flush();
  for (let round = 1; round <= 8; round++) {
    await store.append("app", events(round * 5, 5, "here"));
    const counts = new Set<number>();
    let isFlushed = false;
    // Each asks again as soon as it has its answer.
    const asking = Array.from({ length: 4 }, async () => {
      while (!isFlushed) counts.add((await store.count({ ...range, signal: never })).count);
    });
    await store.flush();
    isFlushed = true;
    await Promise.all(asking);
    t.strictSame([...counts], [round * 5 + 5], `round ${round}`);
  }
  await store.close();
});

t.test("an event is there once, while segments are made, merged, deleted, and after a start", async (t) => {
  const directory = folder(t);
  let store = await opened(directory, { flushEvents: 20, maxWaitingEvents: 1e9 });
  let [next, dropped] = [0, 0];
  for (let round = 0; round < 60; round++) {
    await store.append("app", events(next, 7));
    next += 7;
    if (round % 3 === 0) await store.append("passing", events(dropped++, 5));
    if (round % 12 === 7) {
      await store.deleteProject("passing");
      t.equal((await store.count({ ...everything("passing"), signal: never })).count, 0);
    }
    if (round % 9 === 8) {
      await store.close();
      store = await opened(directory, { flushEvents: 20, maxWaitingEvents: 1e9 });
    }
    const [texts, { count }] = await Promise.all([messages(store), store.count({ ...everything(), signal: never })]);
    t.strictSame(texts, numbers(0, next), `round ${round}`);
    t.equal(count, next);
  }
  await store.flush();
  await store.compact();
  t.strictSame(await messages(store), numbers(0, next));
  t.strictSame(journals(directory).length, 1);
  await store.close();
});
