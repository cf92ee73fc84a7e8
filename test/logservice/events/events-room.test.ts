// How much may wait: what is on its way to the disk counts as what waits in memory does.
import fs, { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type EventsStoreOptions, openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore, NewEvent } from "../../../logservice/events/store.ts";
import { recordDiskCalls, refuseBytes } from "../../support/events/disk-calls.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const batch = (count: number, bytes: number): NewEvent[] =>
  Array.from({ length: count }, () => ({
    timestamp: "2026-01-01T00:00:00Z",
    level: "info",
    message: "x".repeat(bytes),
    fields: {},
  }));

const NEVER = new AbortController().signal;

/** Makes the disk say that so much is free. */
function freeBytes(t: Test, bytes: () => number) {
  const real = fs.promises.statfs;
  t.teardown(() => {
    fs.promises.statfs = real;
    syncBuiltinESMExports();
  });
  const fake = async () => ({ bavail: bytes(), bsize: 1 });
  fs.promises.statfs = fake as unknown as typeof fs.promises.statfs;
  syncBuiltinESMExports();
}

/** A store whose journal is written, and not synced until `let` is called. */
async function held(t: Test, options: Partial<EventsStoreOptions>) {
  const directory = mkdtempSync(join(tmpdir(), "events-room-"));
  const disk = await recordDiskCalls(t, directory);
  const clock = new TestClock();
  const store = await openEventsStore({ directory, reserveBytes: 0, maxAppendWaitMs: WAIT_MS, clock, ...options });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let syncs = 0;
  disk.before = (call) => {
    if (!/^sync journal\/\d+\.ndjson$/.test(call)) return;
    syncs++;
    return released;
  };
  t.teardown(async () => {
    release();
    await store.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return { store, clock, release, isSyncing: () => syncs > 0 };
}

const WAIT_MS = 50;

/** Why a small batch is refused. */
const refusalOf = (store: EventsStore) =>
  store.append("app", batch(1, 10)).then(
    () => "stored",
    (error: unknown) => error,
  );

/** The same for one that waits for room until its time is over; what is accepted here waits for the disk. */
async function refusalAfterWait(store: EventsStore, clock: TestClock): Promise<unknown> {
  let answer: unknown;
  const refusal = refusalOf(store).then((one) => {
    answer = one;
  });
  await until("the batch that waits for room", () => answer ?? clock.timers.includes(WAIT_MS));
  if (answer !== undefined) return `at once: ${answer}`;
  await clock.advance(WAIT_MS - 1);
  if (answer !== undefined) return `too early: ${answer}`;
  await clock.advance(1);
  await refusal;
  return answer;
}

const TOO_MUCH = { type: "unavailable", message: /^events arrive faster than they can be stored: / };
const ROWS: readonly [name: string, options: Partial<EventsStoreOptions>, count: number, bytes: number][] = [
  ["events", { maxWaitingEvents: 10 }, 5, 10],
  ["bytes", { maxWaitingBytes: 10_000 }, 1, 5_000],
];
for (const [name, options, count, bytes] of ROWS) {
  t.test(`${name} on their way to the disk are among those that wait`, async (t) => {
    const { store, clock, release, isSyncing } = await held(t, options);
    const written = [store.append("app", batch(count, bytes))];
    await until("the sync", isSyncing);
    written.push(store.append("app", batch(count, bytes)));
    t.match(await refusalAfterWait(store, clock), TOO_MUCH, "two batches are all that there is room for");
    t.equal(store.metrics().refused_batches_total, 1);
    release();
    await Promise.all(written);
    t.match(await refusalAfterWait(store, clock), TOO_MUCH, "and in memory they are the same");
    await store.flush();
    await store.append("app", batch(1, 10));
    t.equal(store.metrics().refused_batches_total, 2);
  });
}

t.test("bytes on their way to the disk count against what is free there", async (t) => {
  // Nothing of what waits is on the disk yet, as far as it tells.
  freeBytes(t, () => 20_000);
  const { store, clock, release, isSyncing } = await held(t, { reserveBytes: 12_000 });
  const written = [store.append("app", batch(1, 5_000))];
  await until("the sync", isSyncing);
  written.push(store.append("app", batch(1, 5_000)));
  // The figures that it has of the disk are as old as the clock, so that it only waits for the next sync.
  await clock.advance(0);
  t.match(await refusalOf(store), { type: "unavailable", message: /^the disk is nearly full: / });
  release();
  await Promise.all(written);
});

t.test("a start on a full disk answers, and takes events when there is room", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "events-full-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const before = await openEventsStore({ directory, reserveBytes: 0 });
  await before.append("app", batch(3, 10));
  await before.flush();
  await before.append("app", batch(2, 10));
  await before.append("gone", batch(2, 10));
  await before.close();
  // As a kill leaves them.
  const journal = readdirSync(join(directory, "journal")).at(-1)!;
  appendFileSync(join(directory, "journal", journal), "torn");

  const disk = await recordDiskCalls(t, directory);
  disk.before = refuseBytes;
  let free = 0;
  freeBytes(t, () => free);
  const lines: string[] = [];
  const clock = new TestClock();
  const log = (level: string, message: string) => lines.push(`${level} ${message}`);
  const store = await openEventsStore({ directory, reserveBytes: 1_000, clock, log });
  const count = async (from: EventsStore = store) =>
    (await from.count({ project: "app", startMs: 0, stopMs: 2e15, query: undefined, signal: NEVER })).count;
  t.equal(await count(), 5, "what is stored is answered");
  t.match(await refusalOf(store), { type: "unavailable", message: /^the disk is nearly full: nothing was stored; / });
  t.equal((await store.disk()).isFull, true);
  t.same(store.losses(), []);
  const FULL = "error the disk is full: nothing is stored until there is room, what is stored can be read";
  t.same(
    lines.filter((line) => /disk/.test(line)),
    [FULL],
    "it is said once",
  );

  disk.before = () => {};
  free = 1e9;
  await clock.advance(1_000);
  disk.take();
  t.equal(await refusalOf(store), "stored", "with room it goes on");
  const calls = disk.take().filter((call) => call.includes("journal"));
  const [listed, written] = [/^rename journal.json/, /^write journal\//].map((call) =>
    calls.findIndex((one) => call.test(one)),
  );
  t.ok(listed! >= 0 && listed! < written!, `the new file is listed before anything is in it: ${calls}`);
  t.equal((await store.disk()).isFull, false);
  t.match(lines.at(-1), /^info there is room on the disk again/);
  await store.close();
  const again = await openEventsStore({ directory, reserveBytes: 0 });
  t.same([await count(again), again.losses()], [6, []]);
  await again.close();
});

t.test("a start on a full disk with an older folder says that events may be missing, and finds it again", async (t) => {
  for (const events of [0, 3]) {
    const directory = mkdtempSync(join(tmpdir(), "events-older-"));
    t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
    const before = await openEventsStore({ directory, reserveBytes: 0 });
    if (events > 0) await before.append("app", batch(events, 10));
    await before.close();
    const disk = await recordDiskCalls(t, directory);
    disk.before = refuseBytes;
    const options = { directory, reserveBytes: 0, position: 1_000, log: () => {} };
    await t.rejects(openEventsStore(options), {
      message: `${directory} may lack events, as the records have seen later ones, and there is no space left on its disk to note that: put the newer folder back, or make room, then start again`,
    });
    disk.before = () => {};
    const store = await openEventsStore(options);
    t.match(store.losses(), [{ isPossible: true, isAccepted: false }], `${events} events: with room it is noted`);
    await store.close();
  }
});

t.test("a store that closes accepts nothing, and ends the waiting at once", async (t) => {
  const { store, clock, release } = await held(t, { maxWaitingEvents: 2, maxAppendWaitMs: 60_000 });
  release();
  await store.append("app", batch(2, 10));
  const waiting = refusalOf(store);
  await until("the batch that waits for room", () => clock.timers.includes(60_000));
  await store.close();
  const closed = { type: "unavailable", message: /^the service is shutting down; / };
  t.match(await waiting, closed, "what waits");
  t.notOk(clock.timers.includes(60_000), "and nothing waits on");
  t.match(await refusalOf(store), closed, "what comes later");
});
