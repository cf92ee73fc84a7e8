// The remains of a store that was damaged, full, or opened twice, and its parts at their limits.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { MAX_MERGED_BYTES, pickRun } from "../../logservice/events/duckdb/compaction-picker.ts";
import { histogramSteps, STEPS_MS } from "../../logservice/events/histogram-steps.ts";
import { type EventsStoreOptions, openEventsStore } from "../../logservice/events/open.ts";
import { type EventsStore, type NewEvent, StoreError } from "../../logservice/events/store.ts";
import { MAX_WAITING } from "../../logservice/events/tail.ts";
import { root } from "../support/cli.ts";

const never = new AbortController().signal;
const everything = { project: "app", startMs: 0, stopMs: 4e12, query: undefined };
const events = (from: number, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(1714557600000 + from + i).toISOString(),
    level: "info",
    message: `number ${from + i}`,
    fields: { i: from + i },
  }));
const messages = async (store: EventsStore) => {
  const { events } = await store.search({ ...everything, limit: 10_000, order: "ascending", signal: never });
  return events.map(({ message }) => message);
};
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => `number ${from + i}`);

function folder(t: { teardown(done: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), "events-crash-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
const opened = (directory: string, options: Partial<EventsStoreOptions> = {}) =>
  openEventsStore({ directory, reserveBytes: 0, ...options });
const journals = (directory: string) =>
  readdirSync(join(directory, "journal"))
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(directory, "journal", name));

t.test("events are there after a clean end, from the journal and from segments", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  await first.append("app", events(0, 5));
  await first.flush();
  await first.append("app", events(5, 5));
  await first.close();
  const second = await opened(directory);
  t.strictSame(await messages(second), numbers(0, 10));
  await second.append("app", events(10, 2));
  await second.flush();
  await second.compact();
  t.strictSame(await messages(second), numbers(0, 12));
  t.strictSame(journals(directory).length, 1, "what is in segments is no more in the journal");
  await second.close();
});

for (const [name, damage] of [
  ["half a frame line", '{"b":9,"p":"app","n":1,"z"'],
  ["a frame without its events", '{"b":9,"p":"app","n":1,"z":40,"at":1,"c":5}\n'],
  ["half an event", '{"b":9,"p":"app","n":1,"z":4000,"at":1,"c":5}\n{"q":9,"p":"app","t":1714'],
  ["zeros, as some file systems leave them", "\0".repeat(4096)],
  ["a frame whose sum is wrong", '{"b":9,"p":"app","n":1,"z":3,"at":1,"c":5}\n{}\n'],
] as const) {
  t.test(`a torn tail is cut: ${name}`, async (t) => {
    const directory = folder(t);
    const first = await opened(directory);
    await first.append("app", events(0, 3));
    await first.close();
    appendFileSync(journals(directory)[0]!, damage);
    const second = await opened(directory);
    t.strictSame(await messages(second), numbers(0, 3));
    t.equal(second.metrics().journal_torn_bytes_total, damage.length);
    await second.append("app", events(3, 1));
    await second.close();
    const third = await opened(directory);
    t.strictSame(await messages(third), numbers(0, 4));
    t.equal(third.metrics().journal_torn_bytes_total, 0);
    await third.close();
  });
}

t.test("a file cut anywhere keeps its whole batches", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  for (let i = 0; i < 4; i++) await first.append("app", events(i * 2, 2));
  await first.close();
  const [path = ""] = journals(directory);
  const whole = readFileSync(path);
  const ends = [...whole.toString().matchAll(/\{"b":/g)].map(({ index }) => index).concat(whole.length);
  for (let at = whole.length; at > 0; at -= 97) {
    for (const one of journals(directory)) rmSync(one);
    rmSync(join(directory, "projects"), { recursive: true });
    writeFileSync(path, whole.subarray(0, at));
    const store = await opened(directory);
    t.strictSame(await messages(store), numbers(0, 2 * (ends.filter((end) => end <= at).length - 1)), `${at} bytes`);
    await store.close();
  }
});

t.test("damage in the middle: the file is set aside, its whole batches stay", async (t) => {
  const directory = folder(t);
  const logged: string[] = [];
  const first = await opened(directory);
  for (let i = 0; i < 3; i++) await first.append("app", events(i * 2, 2));
  await first.close();
  const [path = ""] = journals(directory);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("number 2", "number X"));
  const log = (level: string, message: string) => void logged.push(`${level}: ${message}`);
  for (let start = 1; start <= 3; start++) {
    const store = await opened(directory, { log });
    t.strictSame(await messages(store), [...numbers(0, 2), ...numbers(4, 2)], `start ${start}`);
    t.ok(
      (await store.count({ ...everything, signal: never })).stats.missingBytes > 0,
      "the answer says that something is missing",
    );
    t.equal((await store.count({ ...everything, project: "other", signal: never })).stats.missingBytes, 0);
    t.equal(store.metrics().journal_quarantined_total, start === 1 ? 1 : 0);
    await store.close();
  }
  t.strictSame(logged, [
    "error: a damaged journal file is quarantined; its intact batches were recovered",
    // At each start.
    ...Array(3).fill("error: events are missing: a journal file is damaged"),
  ]);
  t.equal(readdirSync(join(directory, "journal", "quarantine")).length, 1);
});

t.test("files that a crash does not leave are set aside, not removed", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  await first.append("app", events(0, 5));
  await first.flush();
  await first.close();
  const [project = ""] = readdirSync(join(directory, "projects"));
  for (const name of ["x.parquet", "x.parquet.json", "y.parquet.new"]) {
    writeFileSync(join(directory, "projects", project, name), "half");
  }
  const second = await opened(directory);
  t.strictSame(await messages(second), numbers(0, 5));
  t.notMatch(readdirSync(join(directory, "projects", project)).join(), /x\.parquet|new/);
  const kept = readdirSync(join(directory, "projects", project, "quarantine"));
  t.strictSame(kept.sort(), ["x.parquet", "x.parquet.json", "y.parquet.new"]);
  await second.close();
});

t.test("a retry after a crash counts once, by key and by id, from the journal and from segments", async (t) => {
  const directory = folder(t);
  const withIds = events(0, 3).map((event, i) => ({ ...event, id: `id ${i}` }));
  for (const isFlushed of [false, true, true]) {
    const store = await opened(directory);
    await store.append("app", events(3, 2), { idempotencyKey: "key" });
    await store.append("app", withIds);
    t.strictSame(await messages(store), numbers(0, 5));
    if (isFlushed) await store.flush();
    await store.close();
  }
});

t.test("a deleted project stays deleted", async (t) => {
  const directory = folder(t);
  const first = await opened(directory);
  await first.append("app", events(0, 3));
  await first.flush();
  await first.append("app", events(3, 3));
  await first.deleteProject("app");
  await first.append("app", events(6, 1));
  await first.close();
  const second = await opened(directory);
  t.strictSame(await messages(second), numbers(6, 1));
  await second.flush();
  await second.close();
  const third = await opened(directory);
  t.strictSame(await messages(third), numbers(6, 1));
  await third.close();
});

t.test("a clock that jumps changes no order and loses nothing", async (t) => {
  const directory = folder(t);
  let now = Date.parse("2024-05-01T12:00:00Z");
  for (const jump of [0, -86_400_000 * 400, 86_400_000 * 800]) {
    now += jump;
    const store = await opened(directory, { nowMs: () => now });
    const at = await store.projectStats("app");
    await store.append("app", events(at.eventsTotal, 3), { idempotencyKey: `${now}` });
    await store.append("app", events(100, 3), { idempotencyKey: `${now}` });
    await store.flush();
    await store.close();
  }
  const store = await opened(directory, { nowMs: () => now });
  t.strictSame(await messages(store), numbers(0, 9));
  const { events: storedEvents } = await store.search({ ...everything, limit: 100, order: "ascending", signal: never });
  const ids = storedEvents.map(({ id }) => id);
  t.strictSame([...ids].sort(), ids, "ids of our own are in the order of acceptance");
  await store.close();
});

t.test("retention deletes segments that are all older, by the events' own time", async (t) => {
  const directory = folder(t);
  const now = 1714557600000 + 10 * 86_400_000;
  const store = await opened(directory, { nowMs: () => now });
  await store.append("app", events(0, 3));
  await store.flush();
  await store.append("app", [...events(3, 1), ...events(5 * 86_400_000, 1)]);
  await store.flush();
  store.setRetention("app", 11);
  await store.compact();
  t.equal((await messages(store)).length, 5);
  store.setRetention("app", 6);
  await store.compact();
  t.strictSame(await messages(store), [`number ${5 * 86_400_000}`], "an older one is in no answer");
  store.setRetention("app", 0);
  const kept = ["number 3", `number ${5 * 86_400_000}`];
  t.strictSame(await messages(store), kept, "its segment has a newer one; the others are gone with theirs");
  await store.close();
});

t.test("small segments become one, and answers stay the same", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  for (let i = 0; i < 9; i++) {
    await store.append("app", events(i * 10, 10));
    await store.flush();
  }
  await store.compact();
  t.strictSame(await messages(store), numbers(0, 90));
  t.ok((store.metrics().segments ?? 99) <= 5, `${store.metrics().segments} segments`);
  t.ok((store.metrics().merges_total ?? 0) >= 1);
  const { min, max } = await store.numericFieldStats({
    ...everything,
    field: { at: "fields", path: ["i"] },
    signal: never,
  });
  t.strictSame([min, max], [0, 89]);
  await store.close();
});

t.test("which segments are merged", async (t) => {
  const rows: readonly (readonly [sizes: readonly number[], run: readonly number[] | undefined])[] = [
    [[], undefined],
    [[10, 10, 10], undefined],
    [
      [10, 10, 10, 10],
      [10, 10, 10, 10],
    ],
    [
      [1000, 10, 10, 10, 10],
      [10, 10, 10, 10],
    ],
    [[10, 1000, 10, 10, 10], undefined],
    [[100, 100, 100, 100], undefined],
    [
      [60, 60, 60, 60, 60],
      [60, 60, 60, 60],
    ],
  ];
  for (const [sizes, run] of rows) {
    const parts = sizes.map((events, sequence) => ({ events, sequence, eventBytes: events }));
    t.strictSame(
      pickRun(parts, 250, 1000)?.map(({ events }) => events),
      run,
      sizes.join(" "),
    );
  }
  // Fewer bytes of large events: a merge holds several copies of all of them.
  const megabytes = (each: number, events: number) =>
    [0, 1, 2, 3].map((sequence) => ({ events, sequence, eventBytes: each * 1024 * 1024 }));
  t.equal(pickRun(megabytes(16, 16_000), 500_000, MAX_MERGED_BYTES)?.length, 4, "of a kilobyte");
  t.equal(pickRun(megabytes(16, 64), 500_000, MAX_MERGED_BYTES), undefined, "of a quarter megabyte");
  t.equal(pickRun(megabytes(8, 32), 500_000, MAX_MERGED_BYTES)?.length, 4, "of that size, but fewer");
  const parts = megabytes(1, 100);
  t.equal(pickRun(parts, 500_000, MAX_MERGED_BYTES, new Set([parts[2]!])), undefined, "none that is excluded");
});

t.test("steps are the narrowest that give at most so many points", async (t) => {
  for (const [start, stop, most, step, points] of [
    [0, 0, 1, 1000, 1],
    [0, 59_999, 60, 1000, 60],
    [0, 60_000, 60, 2000, 31],
    [500, 60_499, 61, 1000, 61],
    [0, 3_600_000, 60, 120_000, 31],
    [0, 86_400_000 * 7, 7, 172_800_000, 4],
    [0, 86_400_000 * 14, 7, 604_800_000, 3],
    [0, 86_400_000 * 365, 3, 604_800_000 * 32, 2],
    [5, 4, 10, 1000, 0],
  ] as const) {
    const steps = histogramSteps(start, stop, most);
    if (step !== undefined)
      t.strictSame([steps.stepMs, steps.starts.length], [step, points], `${start} ${stop} ${most}`);
    t.ok(steps.starts.length <= most);
  }
  t.ok(STEPS_MS.every((step, i) => i === 0 || step > STEPS_MS[i - 1]!));
});

t.test("a reader of the tail that falls behind is told how much it missed", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  const tail = store.tail("app", undefined);
  await store.append("app", events(0, MAX_WAITING));
  await store.append("app", events(MAX_WAITING, 7));
  const { value: first } = await tail.next();
  t.same("event" in first && first.event.message, "number 0");
  await store.append("app", events(50_000, 1));
  const items: string[] = [];
  for await (const item of tail) {
    items.push("event" in item ? item.event.message : `dropped ${item.dropped}`);
    if (items.at(-1) === "number 50000") break;
  }
  t.strictSame(items.slice(-3), [`number ${MAX_WAITING - 1}`, "dropped 7", "number 50000"]);
  const { events: storedEvents } = await store.search({ ...everything, limit: 2, order: "descending", signal: never });
  const again = store.tail("app", undefined, storedEvents[1]!.id);
  const item = await again.next();
  t.equal("event" in item.value && item.value.event.message, "number 50000", "goes on behind an event");
  const unknown = await store.tail("app", undefined, "gone").next();
  t.strictSame(unknown.value, { dropped: null });
  await store.close();
  t.strictSame(await again.next(), { value: undefined, done: true }, "the end of the store ends it");
});

t.test("too much that waits is refused before it is accepted", async (t) => {
  const directory = folder(t);
  const store = await opened(directory, { maxWaitingEvents: 10, flushEvents: 1e9, maxAppendWaitMs: 0 });
  await store.append("app", events(0, 10));
  const error = await store.append("app", events(10, 1)).then(
    () => undefined,
    (error: unknown) => error,
  );
  t.ok(error instanceof StoreError && error.type === "unavailable" && (error.retryAfterMs ?? 0) > 0, String(error));
  await store.flush();
  await store.append("app", events(10, 1));
  t.strictSame(await messages(store), numbers(0, 11));
  await store.close();
});

t.test("halves of surrogate pairs do not stop a flush", async (t) => {
  const directory = folder(t);
  const store = await opened(directory);
  await store.append("app", [
    { ...events(0, 1)[0]!, message: "\ud83d!", fields: { "k\udc00": ["\ud83d"], "\\ud83d": "\\ud83d" } },
  ]);
  await store.flush();
  const { events: storedEvents } = await store.search({ ...everything, limit: 1, order: "ascending", signal: never });
  t.strictSame(
    [storedEvents[0]!.message, storedEvents[0]!.fields],
    ["\ufffd!", { "k\ufffd": ["\ufffd"], "\\ud83d": "\\ud83d" }],
  );
  await store.close();
});

t.test("a second process is refused, naming the first", async (t) => {
  const directory = folder(t);
  const program = join(root, "dist/test/support/events/store-process.js");
  const child = spawn(process.execPath, [program, directory], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await t.rejects(opened(directory), {
    message: `${directory} is in use by process ${child.pid}: stop that one, or start this one with another directory`,
  });
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const store = await opened(directory);
  await t.rejects(opened(directory), { message: new RegExp(`process ${process.pid}:`) }, "in the same process, too");
  await store.close();
  // A file of a process whose number another one has now.
  writeFileSync(join(directory, "lock"), `${JSON.stringify({ pid: process.pid, start: "another boot/1" })}\n`);
  const again = await opened(directory);
  await again.close();
  writeFileSync(join(directory, "lock"), "");
  await (await opened(directory)).close();
});

// A file system of 24 MB, which only root may mount.
const mounted = join(tmpdir(), `events-full-${process.pid}`);
const isMounted =
  process.platform === "linux" &&
  spawnSync("sh", ["-c", `mkdir -p ${mounted} && mount -t tmpfs -o size=24m tmpfs ${mounted}`]).status === 0;
t.teardown(() => {
  if (isMounted) spawnSync("umount", ["-l", mounted]);
  rmSync(mounted, { recursive: true, force: true });
});

t.test(
  "a full disk",
  { skip: isMounted ? false : "no file system could be mounted here (needs root on Linux)" },
  async (t) => {
    for (const reserveBytes of [8_000_000, 0]) {
      const directory = join(mounted, String(reserveBytes));
      const store = await opened(directory, { reserveBytes, flushEvents: 1e9 });
      const pad = "x".repeat(1000);
      let acknowledged = 0;
      let refused: unknown;
      for (; acknowledged < 400 && refused === undefined; ) {
        const batch = events(acknowledged * 100, 100).map((event) => ({ ...event, fields: { pad } }));
        await store.append("app", batch).then(
          () => acknowledged++,
          (error: unknown) => {
            refused = error;
          },
        );
      }
      t.ok(refused instanceof StoreError && refused.type === "unavailable", String(refused));
      t.match((refused as Error).message, /^the disk is (nearly )?full: nothing was stored; make room/);
      t.equal(
        (await store.count({ ...everything, signal: never })).count,
        acknowledged * 100,
        "what was refused is not there",
      );
      t.ok(acknowledged > 10, `${acknowledged} batches fitted`);
      await store.close();
      const again = await opened(directory, { reserveBytes, flushEvents: 1e9 });
      t.equal((await again.count({ ...everything, signal: never })).count, acknowledged * 100, "nor after a start");
      if (reserveBytes > 0) {
        await again.flush();
        await again.append("app", events(0, 10));
        t.equal(
          (await again.count({ ...everything, signal: never })).count,
          acknowledged * 100 + 10,
          "with room again it goes on",
        );
      }
      await again.close();
      rmSync(directory, { recursive: true });
    }
  },
);
