// Events that come late: slots wait for them, and are evaluated again for those that come later still.
import t from "tap";
import { EventArrivals } from "../../../logservice/alerts/arrivals.ts";
import { type Evaluator, LATE_TRIES } from "../../../logservice/alerts/evaluator.ts";
import { GATHER_MS } from "../../../logservice/alerts/late-minutes.ts";
import { LATENESS } from "../../../logservice/alerts/lateness.ts";
import { previewAlert } from "../../../logservice/alerts/preview.ts";
import { evaluatedAtMs, jitterMs, slotAt } from "../../../logservice/alerts/slots.ts";
import { type EventRange, type EventsStore, StoreError } from "../../../logservice/events/store.ts";
import { alertIn, BEGIN_MS, LATEST_MS, MINUTE_MS, openWorld, type World } from "../../support/alerts/world.ts";
import { clockAt } from "../../support/clock-at.ts";
import { until } from "../../support/until.ts";

/** The time of a minute of the test. */
const at = (minute: number) => BEGIN_MS + minute * MINUTE_MS;

/** Evaluates each minute up to a time, and what came late after that: an alert does one thing at a time. */
async function run(world: World, evaluator: Evaluator, timeMs: number): Promise<void> {
  const first = Math.floor((world.clock.nowMs - LATEST_MS) / MINUTE_MS) + 1;
  for (let minuteMs = first * MINUTE_MS; minuteMs <= timeMs; minuteMs += MINUTE_MS) {
    await world.runUntil(evaluator, minuteMs);
    await evaluator.pass();
  }
}

/** Counts the readings of a store. */
function counted() {
  const reads = { count: 0 };
  const counting =
    <Args extends unknown[], Result>(read: (...args: Args) => Result) =>
    (...args: Args) => {
      reads.count++;
      return read(...args);
    };
  const around = (events: EventsStore): EventsStore =>
    Object.assign(Object.create(events), {
      count: counting(events.count.bind(events)),
      timeseries: counting(events.timeseries.bind(events)),
      aggregate: counting(events.aggregate.bind(events)),
    });
  return { reads, around };
}

/** A store whose next readings of a time fail, as long as faults are left. */
function faulty(timeMs: number, error: () => Error) {
  const faults = { left: 0, count: 0 };
  const failing =
    <Range extends EventRange, Result>(read: (range: Range) => Promise<Result>) =>
    async (range: Range) => {
      const isHit = faults.left > 0 && range.startMs <= timeMs && range.stopMs >= timeMs;
      if (!isHit) return read(range);
      faults.left--;
      faults.count++;
      throw error();
    };
  const around = (events: EventsStore): EventsStore =>
    Object.assign(Object.create(events), {
      count: failing(events.count.bind(events)),
      timeseries: failing(events.timeseries.bind(events)),
      aggregate: failing(events.aggregate.bind(events)),
    });
  return { faults, around };
}

const episodesOf = async (world: World) => {
  const rows = await world.records.db.selectFrom("episodes").selectAll().orderBy("triggered_at").execute();
  return rows.map((row) =>
    [row.group_key, row.triggered_at.slice(11, 16), row.resolved_at?.slice(11, 16) ?? "open"].join(" ").trim(),
  );
};

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`${engine}: a slot that is evaluated again, told with its true times`, async (t) => {
    for (const query of ["error", "error | count"]) {
      const world = await openWorld(t, { engine });
      const id = await world.add({ query });
      const evaluator = world.evaluator();
      await run(world, evaluator, at(10));
      await world.arrive(at(3), 3);
      await run(world, evaluator, at(12));
      t.same(await world.deliveryLines(), ["triggered 12:04 3 its events came late", "resolved 12:05 0"]);
      const [triggered] = await world.deliveries();
      t.equal(triggered!.message.events.length, 3);
      t.same(await episodesOf(world), ["12:04 12:05"]);
      t.match(await world.alert(id), { triggered: false, state: "ok" });
      await world.arrive(at(3) + 100, 3);
      await run(world, evaluator, at(15));
      t.equal((await world.deliveryLines()).length, 2, "more of them make no other episode");
      t.same(world.failures, []);
    }
  });
}

t.test("it lasts: the next slot resolves it", async (t) => {
  const world = await openWorld(t);
  const id = await world.add();
  const evaluator = world.evaluator();
  await run(world, evaluator, at(5));
  // The slot of the last minute was evaluated; the next one is over before its late events are looked at.
  await world.arrive(at(4), 3);
  world.clock.nowMs += 59_000;
  await world.log(at(5), 4);
  for (let pass = 0; pass < 3; pass++) {
    await evaluator.pass();
    world.clock.nowMs += 500;
  }
  t.same(await episodesOf(world), ["12:06 open"], "the episode of the next slot is the same trouble");
  await run(world, evaluator, at(8));
  t.same(await world.deliveryLines(), ["triggered 12:06 4", "resolved 12:07 0"]);

  // Nothing was evaluated since: it is triggered now.
  await world.add({ interval: 5, name: "long" });
  await run(world, evaluator, at(15));
  const before = (await world.deliveryLines()).length;
  await world.arrive(at(14), 3);
  await run(world, evaluator, at(17));
  const long = (await world.deliveries()).slice(before).filter(({ message }) => message.alert.name === "long");
  t.same(
    long.map(({ kind, message }) => [kind, message.window.stop]),
    [["triggered", new Date(at(15)).toISOString()]],
  );
  t.ok((await episodesOf(world)).includes("12:15 open"));
  await run(world, evaluator, at(20));
  t.ok((await episodesOf(world)).includes("12:15 12:20"));
  t.match(await world.alert(id), { state: "ok" });
  t.same(world.failures, []);
});

t.test("an episode is neither resolved nor made twice", async (t) => {
  const world = await openWorld(t);
  const id = await world.add({ operator: "<", threshold: 2, query: "error" });
  const evaluator = world.evaluator();
  await world.log(at(0), 5);
  await run(world, evaluator, at(2));
  t.same(await world.deliveryLines(), ["triggered 12:02 0"]);
  await world.arrive(at(1), 5);
  await run(world, evaluator, at(4));
  t.same(await world.deliveryLines(), ["triggered 12:02 0"], "what came late would have kept it from being triggered");
  t.match(await world.alert(id), { triggered: true });
  await world.log(at(4), 5);
  await run(world, evaluator, at(5));
  t.same(await world.deliveryLines(), ["triggered 12:02 0", "resolved 12:05 5"]);

  const other = await openWorld(t);
  await other.add();
  const evaluates = other.evaluator();
  for (const minute of [3, 4]) await other.log(at(minute), 3);
  await run(other, evaluates, at(8));
  const lines = ["triggered 12:04 3", "resolved 12:06 0"];
  t.same(await other.deliveryLines(), lines);
  for (const minute of [2, 3, 5]) await other.arrive(at(minute), 3);
  await run(other, evaluates, at(11));
  t.same(await other.deliveryLines(), lines, "late events before, in and after an episode are the same one");
  await other.arrive(at(9), 3);
  await run(other, evaluates, at(13));
  t.same((await other.deliveryLines()).slice(2), ["triggered 12:10 3 its events came late", "resolved 12:11 0"]);
});

t.test("groups, and those that are triggered meanwhile", async (t) => {
  const world = await openWorld(t);
  await world.add({ query: "error | count by path" });
  const evaluator = world.evaluator();
  await run(world, evaluator, at(6));
  await world.log(at(6), 3, { path: "/now" });
  for (const path of ["/now", "/then"]) await world.arrive(at(2), 3, { fields: { path } });
  await run(world, evaluator, at(7));
  await run(world, evaluator, at(8));
  const lines = await world.deliveryLines();
  t.same(
    lines.filter((line) => line.includes("/then")),
    ['triggered path="/then" 12:03 3 its events came late', 'resolved path="/then" 12:04 0'],
  );
  t.same(
    lines.filter((line) => line.includes("/now")),
    ['triggered path="/now" 12:07 3', 'resolved path="/now" 12:08 0'],
    "whoever was told that it is triggered is not told of an earlier time",
  );
  t.match(await episodesOf(world), ['["/now"] 12:03 12:04', '["/then"] 12:03 12:04', '["/now"] 12:07 12:08']);
});

t.test("for and recover", async (t) => {
  const world = await openWorld(t);
  await world.add({ for: 3, recover: 2 });
  const evaluator = world.evaluator();
  for (const minute of [2, 4]) await world.log(at(minute), 3);
  await run(world, evaluator, at(10));
  await world.arrive(at(3), 2);
  await run(world, evaluator, at(12));
  t.same(await world.deliveryLines(), [], "two events are too few");
  await world.arrive(at(3) + 10, 1);
  await run(world, evaluator, at(14));
  t.same(await world.deliveryLines(), ["triggered 12:05 3 its events came late", "resolved 12:07 0"]);

  // The slots that go on are counted from the late one.
  for (const minute of [14, 16]) await world.log(at(minute), 3);
  await run(world, evaluator, at(15));
  await world.arrive(at(13), 3);
  world.clock.nowMs += 60_000;
  await evaluator.pass();
  await evaluator.pass();
  await world.arrive(at(15), 3);
  await run(world, evaluator, at(19));
  t.same((await world.deliveryLines()).slice(2, 3), ["triggered 12:16 3 its events came late"]);
});

t.test("a hundred late batches cost one reading, as do those of an hour", async (t) => {
  const { reads, around } = counted();
  const world = await openWorld(t, { around });
  for (let threshold = 0; threshold < 3; threshold++) await world.add({ threshold: 1_000 + threshold });
  const evaluator = world.evaluator();
  world.clock.nowMs = at(70) + LATEST_MS;
  await evaluator.pass();
  const cost = async () => {
    const before = reads.count;
    await run(world, evaluator, world.clock.nowMs - LATEST_MS + 2 * MINUTE_MS);
    return reads.count - before;
  };
  const usual = await cost();
  for (let batch = 0; batch < 100; batch++) await world.arrive(at(50) + batch, 1);
  t.equal(await cost(), usual + 1);
  for (let batch = 0; batch < 100; batch++) await world.arrive(at(20 + (batch % 50)), 1);
  t.equal(await cost(), usual + 1);
  t.equal(await cost(), usual, "and then no more");
  await world.arrive(at(2), 1);
  t.equal(await cost(), usual, "those of more than an hour ago cost nothing");
  const rows = await world.records.db.selectFrom("late_minutes").selectAll().execute();
  t.equal(rows.length, 1 + 50, "a row for each minute, whatever the number of batches");
  world.clock.nowMs += 3 * 3_600_000;
  await evaluator.pass();
  t.same(await world.records.db.selectFrom("late_minutes").selectAll().execute(), []);
});

t.test("stages are run where they may decide something", async (t) => {
  const { reads, around } = counted();
  const world = await openWorld(t, { around });
  await world.add({ query: "| count by path", threshold: 1_000 });
  const evaluator = world.evaluator();
  for (let minute = 0; minute < 60; minute++) await world.log(at(minute), 1, { path: "/" });
  world.clock.nowMs = at(60) + LATEST_MS;
  await evaluator.pass();
  const before = reads.count;
  for (const minute of [10, 40]) await world.arrive(at(minute), 1, { fields: { path: "/" } });
  world.clock.nowMs += 60_000;
  await evaluator.pass();
  await evaluator.pass();
  // The usual evaluation, and for each late slot: a count of it and the next one, then both.
  t.equal(reads.count - before, 1 + 2 * (1 + 2));
});

t.test("a project waits for the slowest of its senders", async (t) => {
  const rows: readonly (readonly [what: string, waitS: number, options: object])[] = [
    ["others", 15, {}],
    ["the runtime", 30, { isOfRuntime: true }],
    ["Firehose", 120, { lateness: 120 }],
  ];
  for (const [what, waitS, options] of rows) {
    const world = await openWorld(t);
    const id = await world.add({ threshold: 0 });
    world.clock.nowMs = at(0) + 1_000;
    await world.arrive(at(0), 1, options);
    const first = Date.parse((await world.alert(id)).first_evaluated_at!);
    t.ok(first >= at(1) + waitS * 1000 && first < at(1) + waitS * 1000 + 30_000, what);
    const evaluator = world.evaluator();
    world.clock.nowMs = first - 1_000;
    await evaluator.pass();
    // On the way until a moment before.
    await world.arrive(at(1) - 10, 1, options);
    t.equal(evaluator.metrics().alerts_evaluated_total, 0, what);
    world.clock.nowMs = first;
    await evaluator.pass();
    t.same(await world.deliveryLines(), ["triggered 12:01 2"], what);
    const late = await world.records.db.selectFrom("late_minutes").selectAll().execute();
    t.equal(late.length <= 1, true);
    // A day after it was heard of last, it is forgotten.
    for (const hours of [1, 22]) {
      world.clock.nowMs += hours * 3_600_000;
      await world.arrive(world.clock.nowMs, 1);
    }
    const { seconds = 15 } = (await world.records.db.selectFrom("lateness").selectAll().executeTakeFirst()) ?? {};
    t.equal(seconds, waitS, `${what}: within a day`);
    world.clock.nowMs += 2 * 3_600_000;
    await world.arrive(world.clock.nowMs, 1);
    const after = await world.records.db.selectFrom("lateness").selectAll().executeTakeFirst();
    t.equal(after?.seconds ?? 15, 15, what);
    t.same(world.failures, []);
  }
});

t.test("a source that is slower than the ones before: slots that did not wait for it are late", async (t) => {
  const firehose = { lateness: 120 };
  const rows: readonly (readonly [what: string, ageS: number, options: object, lines: readonly string[]])[] = [
    ["just evaluated", 50, firehose, ["triggered 12:03 5 its events came late", "resolved 12:04 1"]],
    ["within the new lateness", 110, firehose, ["triggered 12:03 5 its events came late", "resolved 12:04 0"]],
    ["before it is evaluated", 10, firehose, ["triggered 12:03 5", "resolved 12:04 1"]],
    ["the runtime", 29, { isOfRuntime: true }, ["triggered 12:03 5", "resolved 12:04 1"]],
  ];
  for (const [what, ageS, options, lines] of rows) {
    for (const restarts of [false, true]) {
      const world = await openWorld(t);
      await world.add();
      await world.arrive(at(0) + 1_000, 1);
      const evaluator = world.evaluator();
      await world.runUntil(evaluator, at(2));
      world.clock.nowMs = at(3) + ageS * 1000;
      await evaluator.pass();
      // The first request of the new source is of now; what it had gathered before comes with the next one.
      await world.arrive(world.clock.nowMs, 1, options);
      const failed = (message: string) => world.failures.push(message);
      const arrivals = restarts
        ? new EventArrivals({ records: world.records, clock: clockAt(() => world.clock.nowMs), failed })
        : undefined;
      await world.arrive(at(3) - 10_000, 5, { ...options, ...(arrivals && { arrivals }) });
      for (let pass = 0; pass < 12; pass++) {
        world.clock.nowMs += 30_000;
        await evaluator.pass();
        // An alert with a usual evaluation has its late one in the next pass.
        await evaluator.pass();
      }
      const deliveries = await world.deliveryLines();
      // Whether its slot was evaluated by then depends on the id of the alert.
      const isEither = what === "the runtime";
      const sent = isEither ? deliveries.map((line) => line.replace(/ its .*/, "")) : deliveries;
      t.same(sent, lines, `${what}${restarts ? ", after a restart" : ""}`);
      t.same(world.failures, []);
    }
  }
});

t.test("muted, changed, new: what is told of late events", async (t) => {
  const world = await openWorld(t);
  const muted = await world.add({ muted: true, name: "muted" });
  const changed = await world.add({ name: "changed" });
  const edited = await world.add({ name: "edited meanwhile" });
  const evaluator = world.evaluator();
  await run(world, evaluator, at(5));
  await world.change(changed, { threshold: 1 });
  await run(world, evaluator, at(8));
  const added = await world.add({ name: "new" });
  await world.arrive(at(3), 3);
  await world.change(edited, { name: "renamed" });
  await run(world, evaluator, at(12));
  const deliveries = await world.deliveries();
  t.same(
    deliveries.map(({ kind, message: { alert, window } }) => `${kind} ${alert.name} ${window.stop.slice(11, 16)}`),
    ["triggered renamed 12:04", "resolved renamed 12:05"],
    "not of a time in which it compared something else",
  );
  const episodes = await world.records.db.selectFrom("episodes").selectAll().execute();
  t.same(
    new Set(episodes.map(({ alert_id, is_told }) => `${alert_id} ${is_told}`)),
    new Set([`${muted} 0`, `${edited} 1`]),
  );
  t.match(await world.alert(added), { state: "ok" });
  // Muted while it lasts: told once it is not.
  const long = await world.add({ name: "long", interval: 5, muted: true });
  await run(world, evaluator, at(20));
  await world.arrive(at(18), 3);
  await run(world, evaluator, at(22));
  t.match(await world.alert(long), { triggered: true });
  await world.change(long, { muted: false });
  await world.log(at(23), 3);
  await run(world, evaluator, at(25));
  const ofLong = (await world.deliveries()).filter(({ alert_id }) => alert_id === long);
  t.same(
    ofLong.map(({ kind }) => kind),
    ["triggered"],
  );
  t.same(world.failures, []);
});

t.test("a change while it is read: what was found is dropped, and found again", async (t) => {
  let change: (() => Promise<void>) | undefined;
  const world = await openWorld(t, {
    around: (events) =>
      Object.assign(Object.create(events), {
        async timeseries(...question: Parameters<typeof events.timeseries>) {
          await change?.();
          change = undefined;
          return events.timeseries(...question);
        },
      }),
  });
  const id = await world.add();
  const evaluator = world.evaluator();
  await run(world, evaluator, at(5));
  await world.arrive(at(2), 3);
  change = () => world.change(id, { severity: "critical" });
  world.clock.nowMs += 60_000;
  for (let pass = 0; pass < 3; pass++) await evaluator.pass();
  t.equal(evaluator.metrics().alerts_evaluations_dropped_total, 1);
  t.same(await world.deliveryLines(), ["triggered 12:03 3 its events came late", "resolved 12:04 0"]);
  t.equal((await world.deliveries())[0]!.message.alert.severity, "critical");
  await world.arrive(at(3), 3);
  change = () => world.remove(id);
  world.clock.nowMs += 60_000;
  for (let pass = 0; pass < 3; pass++) await evaluator.pass();
  t.same(world.failures, []);
});

t.test("events in the form of the journal are not parsed for their minutes", async (t) => {
  const world = await openWorld(t);
  const clock = clockAt(() => world.clock.nowMs);
  const arrivals = new EventArrivals({ ...world, clock, failed: (message) => t.fail(message) });
  world.clock.nowMs = at(10);
  let read = 0;
  const event = (ms: number) => ({
    ms,
    get timestamp() {
      read += 1;
      return new Date(ms).toISOString();
    },
  });
  // In time, late in two minutes, and later than anything is evaluated for.
  await arrivals.note("one", [at(9.9), at(3), at(3.5), at(5), at(-60)].map(event));
  const late = world.records.db.selectFrom("late_minutes").select("minute").where("events_key", "=", "one");
  t.same(
    (await late.execute()).map(({ minute }) => minute * MINUTE_MS),
    [at(3), at(5)],
  );
  t.equal(read, 0);
});

t.test("late events that come while their slot is being read, or wait to be written", async (t) => {
  for (const query of ["error", "error | count"]) {
    let [read, release] = [() => {}, () => {}];
    let held: Promise<void> | undefined;
    const holding =
      <Args extends unknown[], Result>(ask: (...args: Args) => Promise<Result>) =>
      async (...args: Args) => {
        const answer = await ask(...args);
        read();
        await held;
        return answer;
      };
    const around = (events: EventsStore): EventsStore =>
      Object.assign(Object.create(events), {
        count: holding(events.count.bind(events)),
        timeseries: holding(events.timeseries.bind(events)),
        aggregate: holding(events.aggregate.bind(events)),
      });
    const world = await openWorld(t, { around });
    const id = await world.add({ query, interval: 5 });
    const evaluator = world.evaluator();
    await run(world, evaluator, at(9) - LATEST_MS);
    const dueMs = evaluatedAtMs({ id, interval: 5, lateness: LATENESS.others }, slotAt(at(6), 5));
    // The note of the minute stands for others until just after the slot was read.
    world.clock.nowMs = dueMs - GATHER_MS + 500;
    await world.arrive(at(6), 1);
    world.clock.nowMs = dueMs;
    held = new Promise((resolve) => {
      release = resolve;
    });
    const isRead = new Promise<void>((resolve) => {
      read = resolve;
    });
    const evaluated = evaluator.pass();
    await isRead;
    world.clock.nowMs = dueMs + 300;
    await world.arrive(at(6) + 10, 5);
    world.clock.nowMs = dueMs + 1_000;
    const ticked = evaluator.pass();
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    held = undefined;
    release();
    await Promise.all([evaluated, ticked]);
    await run(world, evaluator, at(13));
    t.same(await world.deliveryLines(), ["triggered 12:10 6 its events came late"], query);
    t.same(world.failures, []);
  }
});

t.test("late events that come after a reading that two alerts share", async (t) => {
  const world = await openWorld(t);
  // Those of many that are evaluated first and last.
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) ids.push(await world.add({ interval: 5, name: `errors ${i}` }));
  ids.sort((a, b) => jitterMs(a) - jitterMs(b));
  for (const id of ids.slice(1, -1)) await world.remove(id);
  const [first, second] = [ids[0]!, ids.at(-1)!].map((id) =>
    evaluatedAtMs({ id, interval: 5, lateness: LATENESS.others }, slotAt(at(6), 5)),
  ) as [number, number];
  t.ok(second - first > 3_000, "there is time between them");
  const evaluator = world.evaluator();
  await run(world, evaluator, at(9) - LATEST_MS);
  const noteDueMs = second - 1_500;
  world.clock.nowMs = noteDueMs - GATHER_MS;
  await world.arrive(at(6), 1);
  for (const timeMs of [first, first + 500]) {
    world.clock.nowMs = timeMs;
    await evaluator.pass();
  }
  await world.arrive(at(6) + 10, 5);
  for (const timeMs of [noteDueMs, second - 500, second]) {
    world.clock.nowMs = timeMs;
    await evaluator.pass();
  }
  await run(world, evaluator, at(13));
  const messages = (await world.deliveries()).map(({ alert_id, kind, message }) => [alert_id, kind, message.value]);
  t.same(new Set(messages), new Set([ids[0], ids.at(-1)].map((id) => [id, "triggered", 6])));
  t.same(world.failures, []);
});

t.test("while one alert is busy, the late minutes of others are read once", async (t) => {
  let held: Promise<void> | undefined;
  let release = () => {};
  let slow = "";
  const around = (events: EventsStore): EventsStore =>
    Object.assign(Object.create(events), {
      async count(query: Parameters<EventsStore["count"]>[0]) {
        const answer = await events.count(query);
        if (query.project === slow) await held;
        return answer;
      },
    });
  const world = await openWorld(t, { around });
  slow = world.events_key;
  const slowAlert = await world.add({ threshold: 5 });
  const team = await world.team("other");
  const other = await world.project(team, "other");
  await world.add({ ...other, threshold: 5 }, team);
  let rows = 0;
  const db = world.records.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rows += result.rows.filter((row) => Object.hasOwn(row, "minute")).length;
      return result;
    },
  });
  const evaluator = world.evaluator({ records: { db } });
  await run(world, evaluator, at(55));
  for (let minute = 0; minute < 50; minute++) await world.arrive(at(minute), 1, { events_key: other.events_key });
  world.clock.nowMs += 500;
  await world.arrive(at(40), 6);
  held = new Promise((resolve) => {
    release = resolve;
  });
  world.clock.nowMs += GATHER_MS;
  const passes = [];
  for (let pass = 0; pass < 20; pass++) {
    passes.push(evaluator.pass());
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    world.clock.nowMs += 1_000;
  }
  await until("the late minutes are read", () => rows > 50);
  t.ok(rows <= 50 + 20 + 100, `${rows} rows in 20 passes`);
  held = undefined;
  release();
  await Promise.all(passes);
  await run(world, evaluator, at(60));
  t.same(
    (await world.deliveries()).map(({ alert_id, kind, message }) => [alert_id, kind, message.value]),
    [
      [slowAlert, "triggered", 6],
      [slowAlert, "resolved", 0],
    ],
  );
  t.same(world.failures, []);
});

t.test("late events whose evaluation is dropped while others are looked for", async (t) => {
  let [read, release] = [() => {}, () => {}];
  let held: Promise<void> | undefined;
  const world = await openWorld(t, {
    around: (events) =>
      Object.assign(Object.create(events), {
        // The usual evaluations are of one slot each, and count.
        async timeseries(...question: Parameters<EventsStore["timeseries"]>) {
          const answer = await events.timeseries(...question);
          read();
          await held;
          return answer;
        },
      }),
  });
  const id = await world.add();
  const db = world.records.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      // The late minutes of all projects are there; their alerts are asked for next.
      if (result.rows.length > 1_000) release();
      return result;
    },
  });
  const evaluator = world.evaluator({ records: { db } });
  await run(world, evaluator, at(5));
  await world.arrive(at(2), 3);
  world.clock.nowMs += GATHER_MS;
  // The usual evaluation.
  await evaluator.pass();
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  held = new Promise((resolve) => {
    release = resolve;
  });
  const passes = [evaluator.pass()];
  await isRead;
  // The look that began it is over.
  await new Promise(setImmediate);
  await world.change(id, { severity: "critical" });
  // So many that it takes several statements.
  const others = Array.from({ length: 2_000 }, (_, i) => ({ events_key: `other ${i}`, minute: 0, due_ms: 0 }));
  await world.records.db.insertInto("late_minutes").values(others).execute();
  passes.push(evaluator.pass());
  await Promise.all(passes);
  t.equal(evaluator.metrics().alerts_evaluations_dropped_total, 1);
  await run(world, evaluator, at(10));
  t.same(await world.deliveryLines(), ["triggered 12:03 3 its events came late", "resolved 12:04 0"]);
  t.same(world.failures, []);
});

t.test("late events whose reading fails for a moment", async (t) => {
  const errors: readonly (readonly [name: string, error: () => Error, failed: readonly string[]])[] = [
    ["unavailable", () => new StoreError("unavailable", "the process of the query ended; try again"), []],
    ["a fault", () => new Error("read failed"), ["the query of an alert failed: Error: read failed"]],
  ];
  for (const [name, error, failed] of errors) {
    for (const query of ["error", "error | count", "error | count by level"]) {
      const { faults, around } = faulty(at(2), error);
      const world = await openWorld(t, { around });
      await world.add({ query });
      const evaluator = world.evaluator();
      await run(world, evaluator, at(5));
      await world.arrive(at(2), 3);
      faults.left = 1;
      await run(world, evaluator, at(6));
      t.equal(faults.left, 0);
      t.same(await world.deliveries(), []);
      await run(world, evaluator, at(10));
      const kinds = (await world.deliveries()).map(
        ({ kind, message }) => `${kind} ${message.window.stop.slice(11, 16)}`,
      );
      t.same(kinds, ["triggered 12:03", "resolved 12:04"], `${name}: ${query}`);
      t.same(
        world.failures.map((text) => text.split("\n")[0]),
        failed,
      );
    }
  }
});

t.test("late events that can never be read are given up; those that come later are read", async (t) => {
  const { faults, around } = faulty(at(2), () => new StoreError("unavailable", "the process of the query ended"));
  const world = await openWorld(t, { around });
  await world.add();
  const other = await world.add({ query: "error | where n = 7" });
  const evaluator = world.evaluator();
  await run(world, evaluator, at(5));
  await world.arrive(at(2), 3);
  faults.left = Number.POSITIVE_INFINITY;
  for (let minute = 6; minute < 20; minute++) {
    await run(world, evaluator, at(minute));
    for (let second = 0; second < 10; second++) {
      world.clock.nowMs += 1_000;
      await evaluator.pass();
    }
  }
  t.equal(faults.count, 2 * LATE_TRIES);
  await world.arrive(at(12), 3, { fields: { n: 7 } });
  await run(world, evaluator, at(22));
  t.same(
    (await world.deliveries()).map(({ alert_id, kind }) => [kind, alert_id === other]).sort(),
    [false, true]
      .flatMap((isOther) => [
        ["resolved", isOther],
        ["triggered", isOther],
      ])
      .sort(),
  );
  faults.left = 0;
  await world.arrive(at(2) + 500, 1);
  await run(world, evaluator, at(25));
  t.match((await world.deliveryLines()).slice(4), ["triggered 12:03 4 its events came late", "resolved 12:04 0"]);
  t.same(world.failures, []);
});

t.test("late events that were noted by a clock that was ahead", async (t) => {
  for (const aheadMs of [40_000, 10 * MINUTE_MS]) {
    const world = await openWorld(t);
    await world.add();
    const evaluator = world.evaluator();
    await run(world, evaluator, at(5));
    world.clock.nowMs += aheadMs;
    await world.arrive(at(2), 3);
    world.clock.nowMs -= aheadMs;
    await world.arrive(at(3), 1);
    await run(world, evaluator, at(10));
    t.same(await world.deliveryLines(), ["triggered 12:03 3 its events came late", "resolved 12:04 1"]);
    t.same(world.failures, []);
  }
});

t.test("a leap second is of the minute after it", async (t) => {
  const world = await openWorld(t);
  await world.add();
  const evaluator = world.evaluator();
  await run(world, evaluator, at(10));
  const arrivals = new EventArrivals({
    records: world.records,
    clock: clockAt(() => world.clock.nowMs),
    failed: (message) => t.fail(message),
  });
  const events = [
    "2026-03-01T12:02:59Z",
    "2026-03-01T12:02:60Z",
    "2026-03-01T12:02:60.5Z",
    "2026-03-01t12:05:01+00:00",
  ];
  await arrivals.note(
    world.events_key,
    events.map((timestamp) => ({ timestamp })),
  );
  const rows = await world.records.db.selectFrom("late_minutes").select("minute").orderBy("minute").execute();
  t.same(
    rows.map(({ minute }) => minute * MINUTE_MS),
    [at(2), at(3), at(5)],
  );
});

t.test("two evaluators, and one that ends at any point", async (t) => {
  const world = await openWorld(t);
  await world.add();
  await world.add({ query: "error | count by path" });
  const first = world.evaluator();
  await run(world, first, at(8));
  for (let minute = 0; minute < 6; minute += 2) await world.arrive(at(minute), 3, { fields: { path: `/${minute}` } });
  await first.close();
  // The service starts again: it does not remember what was noted.
  const arrivals = new EventArrivals({
    ...world,
    clock: clockAt(() => world.clock.nowMs),
    failed: (message) => t.fail(message),
  });
  await world.arrive(at(4) + 500, 3, { fields: { path: "/4" }, arrivals });
  const others = [world.evaluator(), world.evaluator()];
  for (let pass = 0; pass < 12; pass++) {
    world.clock.nowMs += 20_000;
    await Promise.all(others.map((one) => one.pass()));
    if (pass === 2) await others.shift()!.close();
  }
  const lines = await world.deliveryLines();
  t.same(lines.length, new Set(lines).size);
  t.same(
    lines.filter((line) => !line.includes("path")),
    ["triggered 12:05 6 its events came late", "resolved 12:06 0"],
    "of several that are over, the last one is told",
  );
  t.equal(lines.filter((line) => line.includes("path")).length, 6, "of each group");
  t.same((await episodesOf(world)).length, 6);
  t.same(world.failures, []);
});

t.test("a team that sends late events all day long slows nobody", async (t) => {
  const world = await openWorld(t);
  const noisy = await world.team("noisy");
  const place = await world.project(noisy, "noise");
  const { project_id, notification_id, events_key } = place;
  for (let n = 0; n < 8; n++) {
    await world.add(
      { ...alertIn(project_id, notification_id), query: `error | where n != ${n} | count by path` },
      noisy,
    );
  }
  const id = await world.add();
  const evaluator = world.evaluator();
  await run(world, evaluator, at(12));
  for (let minute = 12; minute < 16; minute++) {
    for (let back = 2; back < 12; back++)
      await world.arrive(at(minute - back), 1, { fields: { path: "/" }, events_key });
    await world.log(at(minute), 3);
    await run(world, evaluator, at(minute + 1));
    t.equal((await world.alert(id)).evaluated_at, new Date(at(minute + 1) + LATEST_MS).toISOString());
  }
  const { alerts_evaluated_total, alerts_late_slots_total } = evaluator.metrics();
  t.equal(alerts_evaluated_total, 9 * 16, "the usual evaluations of all, in time");
  // At most one for each alert and slot in a minute, and the slot after the last.
  t.ok(alerts_late_slots_total! > 0 && alerts_late_slots_total! <= 8 * 4 * 14, `${alerts_late_slots_total}`);
  t.same(world.failures, []);
});

t.test("a preview says the same", async (t) => {
  const world = await openWorld(t);
  const input = { for: 2, recover: 1 };
  await world.add(input);
  const evaluator = world.evaluator();
  await run(world, evaluator, at(20));
  for (const minute of [4, 5, 11, 12, 13]) await world.arrive(at(minute), 3);
  await run(world, evaluator, at(23));
  const alert = { ...alertIn(world.project_id, world.notification_id), ...input };
  const range = { startMs: at(0), stopMs: at(22), signal: new AbortController().signal };
  const preview = await previewAlert(world.events, world.events_key, alert, range);
  t.same(
    await episodesOf(world),
    preview.episodes.map(({ triggeredAt, resolvedAt }) => `${triggeredAt.slice(11, 16)} ${resolvedAt!.slice(11, 16)}`),
  );
  t.same(await episodesOf(world), ["12:06 12:07", "12:13 12:15"]);
});
