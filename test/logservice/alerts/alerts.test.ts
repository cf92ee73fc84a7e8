// Alerts from the events to what is to be told, over both engines and with a clock that the test sets.
import t from "tap";
import type { DiskRoom, EventsStore } from "../../../logservice/events/store.ts";
import { BEGIN_MS, LATEST_MS, MINUTE_MS, openWorld, type World } from "../../support/alerts/world.ts";
import { clockAt } from "../../support/clock-at.ts";
import { until } from "../../support/until.ts";

/** The time of a minute of the test. */
const at = (minute: number) => BEGIN_MS + minute * MINUTE_MS;

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`${engine}: triggered once, resolved once`, async (t) => {
    const world = await openWorld(t, { engine });
    const id = await world.add({ limit: 2 });
    let kicks = 0;
    const evaluator = world.evaluator({ deliveriesAdded: () => void kicks++ });
    for (const [minute, count] of [2, 3, 9, 4, 2, 0].entries()) await world.log(at(minute) + 1_000, count);
    await world.runUntil(evaluator, at(4));
    t.match(await world.alert(id), {
      triggered: true,
      state: "triggered",
      evaluated_at: new Date(at(4) + LATEST_MS).toISOString(),
    });
    await world.runUntil(evaluator, at(7));
    t.same(await world.deliveryLines(), ["triggered 12:02 3", "resolved 12:05 2"]);
    t.equal(kicks, 2);
    const [triggered, resolved] = await world.deliveries();
    t.match(triggered, {
      alert_id: id,
      notification_id: world.notification_id,
      message: {
        id: triggered!.id,
        kind: "triggered",
        team: { id: "owner" },
        project: { id: "shop", name: "shop" },
        alert: { id, name: "too many errors", query: "error", operator: ">", threshold: 2, interval: 1 },
        ...{ group: [], what: "events", unit: "", reason: "", hasMoreEvents: true },
        window: { start: "2026-03-01T12:01:00.000Z", stop: "2026-03-01T12:02:00.000Z" },
        triggeredAt: "2026-03-01T12:02:00.000Z",
        events: [{ message: "m2" }, { message: "m1" }],
      },
    });
    t.equal(
      decodeURIComponent(triggered!.message.path),
      `/t/${triggered!.message.team.id}/p/shop/events?query=error&start=2026-03-01T12:01:00.000Z&stop=2026-03-01T12:01:59.999Z`,
    );
    t.equal(resolved!.message.episodeId, triggered!.message.episodeId);
    t.equal(resolved!.message.triggeredAt, triggered!.message.triggeredAt);
    t.match(await world.alert(id), { triggered: false, state: "ok" });
    t.same(world.failures, []);
  });

  t.test(`${engine}: events at both ends of a slot count once`, async (t) => {
    const world = await openWorld(t, { engine });
    await world.add({ operator: ">=", threshold: 1, query: "info" });
    for (const ms of [at(1), at(2) - 1]) await world.log(ms, 1, {}, "info");
    const evaluator = world.evaluator();
    await world.runUntil(evaluator, at(4));
    t.same(await world.deliveryLines(), ["triggered 12:02 2", "resolved 12:03 0"]);
  });

  t.test(`${engine}: nothing at all is a number too`, async (t) => {
    const world = await openWorld(t, { engine });
    await world.add({ query: "heartbeat", operator: "<", threshold: 1, interval: 5 });
    const evaluator = world.evaluator();
    await world.log(at(2), 1, { heartbeat: true });
    await world.log(at(12), 1, { heartbeat: true });
    await world.runUntil(evaluator, at(15));
    t.same(await world.deliveryLines(), ["triggered 12:10 0", "resolved 12:15 1"]);
  });

  t.test(`${engine}: groups`, async (t) => {
    const world = await openWorld(t, { engine });
    await world.add({ query: "error | where exists path | count by path, code", threshold: 1 });
    const evaluator = world.evaluator();
    await world.log(at(0), 2, { path: '/a "*"', code: 500 });
    await world.log(at(0), 1, { path: "/b", code: 500 });
    await world.log(at(0), 2, { path: "/c" });
    await world.log(at(1), 5, { path: "/c" });
    await world.runUntil(evaluator, at(3));
    t.same(
      new Set(await world.deliveryLines()),
      new Set([
        'triggered path="/a \\"*\\"" code=500 12:01 2',
        'triggered path="/c" code=null 12:01 2',
        'resolved path="/a \\"*\\"" code=500 12:02 0',
        'resolved path="/c" code=null 12:03 0',
      ]),
    );
    const rows = await world.deliveries();
    for (const { kind, message } of rows) {
      if (kind !== "triggered") continue;
      const path = message.group[0]!.value;
      t.same(
        message.events.map((one) => one.fields.path),
        [path, path],
        "only the group's own events",
      );
    }
    t.same(world.failures, []);
  });

  t.test(`${engine}: a number of a column`, async (t) => {
    const world = await openWorld(t, { engine });
    await world.add({ query: "| stats p99(duration) by path", threshold: 100 });
    const evaluator = world.evaluator();
    await world.log(at(0), 3, { path: "/a", duration: 250 });
    await world.runUntil(evaluator, at(2));
    t.same(
      await world.deliveryLines(),
      ['triggered path="/a" 12:01 250', 'resolved path="/a" 12:02 250'],
      "gone, it recovers",
    );
    t.match((await world.deliveries())[0]!.message, { what: "p99(duration)", unit: "ms" });
  });

  t.test(`${engine}: more than a hundred groups`, async (t) => {
    const world = await openWorld(t, { engine });
    const id = await world.add({ query: "| count by n" });
    const evaluator = world.evaluator();
    for (let minute = 0; minute < 3; minute++) {
      for (let n = 0; n <= 100; n++) await world.log(at(minute), 1, { n });
    }
    await world.runUntil(evaluator, at(2));
    t.match(await world.alert(id), { state: "ok", failure: "the query gives more than 100 groups" });
    await world.runUntil(evaluator, at(4));
    t.same(await world.deliveryLines(), [
      "failed 12:03 null the query gives more than 100 groups",
      "resolved 12:04 null it can be evaluated again",
    ]);
    t.match(await world.alert(id), { state: "ok", failure: "" });
  });
}

t.test("muted: evaluated, and told once it is not", async (t) => {
  const world = await openWorld(t);
  const id = await world.add({ muted: true });
  const evaluator = world.evaluator();
  for (const minute of [0, 1, 2, 5]) await world.log(at(minute), 3);
  await world.runUntil(evaluator, at(2));
  t.same([(await world.alert(id)).triggered, await world.deliveryLines()], [true, []]);
  await world.change(id, { muted: false, name: "renamed" });
  await world.runUntil(evaluator, at(4));
  t.same(await world.deliveryLines(), ["triggered 12:03 3", "resolved 12:04 0"]);
  const [{ message }] = (await world.deliveries()) as [Awaited<ReturnType<World["deliveries"]>>[number]];
  t.same([message.triggeredAt, message.alert.name], ["2026-03-01T12:01:00.000Z", "renamed"]);
  await world.change(id, { muted: true });
  await world.runUntil(evaluator, at(8));
  t.equal((await world.deliveryLines()).length, 2, "muted again, nothing is told");
  await world.change(id, { muted: false });
  await world.log(at(9), 3);
  await world.runUntil(evaluator, at(10));
  t.same((await world.deliveryLines()).slice(2), ["triggered 12:10 3"]);
  await world.change(id, { muted: true });
  await world.runUntil(evaluator, at(12));
  t.same((await world.deliveryLines()).slice(3), ["resolved 12:11 0"], "the end of what was told");
});

t.test("for, recover and repeat", async (t) => {
  const world = await openWorld(t);
  await world.add({ for: 2, recover: 2, repeat: 3 });
  const evaluator = world.evaluator();
  for (const [minute, count] of [3, 0, 3, 3, 3, 3, 3, 0, 3, 0, 0, 0].entries()) await world.log(at(minute), count);
  await world.runUntil(evaluator, at(13));
  t.same(await world.deliveryLines(), [
    "triggered 12:04 3",
    "repeated 12:07 3",
    "repeated 12:10 0",
    "resolved 12:11 0",
  ]);
});

t.test("a change of what is compared closes what was told", async (t) => {
  for (const change of [{ query: "warn" }, { operator: "<" }, { threshold: 9 }, { interval: 5 }] as const) {
    const world = await openWorld(t);
    const id = await world.add();
    const evaluator = world.evaluator();
    await world.log(at(0), 3);
    await world.runUntil(evaluator, at(1));
    await world.change(id, { name: "renamed", severity: "critical", for: 2, description: "x", limit: 1 });
    t.same(await world.deliveryLines(), ["triggered 12:01 3"], "a new name does not");
    await world.change(id, change);
    t.same(await world.deliveryLines(), ["triggered 12:01 3", "resolved 12:01 3 closed by a change of the alert"]);
    t.match(await world.alert(id), { triggered: false, state: "ok", evaluated_at: null });
    const rows = await world.records.db.selectFrom("alert_states").selectAll().execute();
    t.same(rows, []);
    const [episode] = await world.records.db.selectFrom("episodes").selectAll().execute();
    t.match(episode, {
      reason: "closed by a change of the alert",
      resolved_at: new Date(world.clock.nowMs).toISOString(),
    });
  }
});

t.test("a removal closes what was told, also of an alert that fails", async (t) => {
  let isBroken = false;
  const world = await openWorld(t, {
    around: (events) =>
      Object.assign(Object.create(events), {
        count: (...question: Parameters<typeof events.count>) =>
          isBroken ? Promise.reject(new Error("broken")) : events.count(...question),
      }),
  });
  const id = await world.add();
  const evaluator = world.evaluator();
  await world.log(at(0), 3);
  await world.runUntil(evaluator, at(1));
  isBroken = true;
  await world.runUntil(evaluator, at(5));
  t.match(await world.alert(id), { triggered: true, state: "failing", failure: "the query failed" });
  await world.remove(id);
  t.same(await world.deliveryLines(), [
    "triggered 12:01 3",
    "failed 12:04 null the query failed",
    "resolved 12:05 3 closed: the alert was removed",
    "resolved 12:05 null closed: the alert was removed",
  ]);
  await world.runUntil(evaluator, at(8));
  t.equal((await world.deliveryLines()).length, 4);
  const open = await world.records.db.selectFrom("episodes").selectAll().where("resolved_at", "is", null).execute();
  t.same(open, []);
  world.clock.nowMs += 91 * 24 * 3_600_000;
  await evaluator.pass();
  t.same(await world.records.db.selectFrom("episodes").selectAll().execute(), [], "and then forgotten");
});

t.test("another notification: closed at the old one, told to the new one", async (t) => {
  const world = await openWorld(t);
  const id = await world.add();
  const evaluator = world.evaluator();
  for (let minute = 0; minute < 4; minute++) await world.log(at(minute), 3);
  await world.runUntil(evaluator, at(1));
  const other = await world.notification("other");
  for (const notification_id of [other, world.notification_id, other]) await world.change(id, { notification_id });
  await world.runUntil(evaluator, at(5));
  const rows = await world.deliveries();
  const [first, second] = [world.notification_id, other];
  t.same(
    rows.map((row) => [row.kind, row.notification_id]),
    [
      ["triggered", first],
      ...[
        ["resolved", first],
        ["triggered", second],
      ],
      ...[
        ["resolved", second],
        ["triggered", first],
      ],
      ...[
        ["resolved", first],
        ["triggered", second],
      ],
      ["resolved", second],
    ],
  );
  t.equal(new Set(rows.map(({ message }) => message.episodeId)).size, 1);
  t.match(rows[1]!.message, { reason: "the alert has another notification now" });
});

t.test("while it is muted, a new notification is told later", async (t) => {
  const world = await openWorld(t);
  const id = await world.add();
  const evaluator = world.evaluator();
  for (let minute = 0; minute < 9; minute++) await world.log(at(minute), 3);
  await world.runUntil(evaluator, at(1));
  const other = await world.notification("other");
  await world.change(id, { notification_id: other, muted: true });
  await world.runUntil(evaluator, at(3));
  await world.change(id, { muted: false });
  await world.runUntil(evaluator, at(4));
  const rows = await world.deliveries();
  t.same(
    rows.map((row) => [row.kind, row.notification_id]),
    [
      ["triggered", world.notification_id],
      ["resolved", world.notification_id],
      ["triggered", other],
    ],
  );
});

t.test("a downtime of a day", async (t) => {
  const day = 24 * 60;
  const rows: [
    what: string,
    before: number[],
    after: readonly (readonly [minute: number, count: number])[],
    expected: string[],
  ][] = [
    ["nothing happened", [0], [], []],
    ["one that is over", [0], [[day - 20, 3]], ["triggered 11:41 3", "resolved 11:42 0"]],
    [
      "several: the last one",
      [0],
      [
        [day - 20, 3],
        [day - 10, 4],
      ],
      ["triggered 11:51 4", "resolved 11:52 0"],
    ],
    [
      "one that lasts",
      [0],
      [
        [day - 20, 3],
        [day - 2, 4],
        [day - 1, 5],
      ],
      ["triggered 11:59 4"],
    ],
    ["more than an hour ago", [0], [[100, 3]], []],
    ["the end of one", [3], [], ["triggered 12:01 3", "resolved 11:01 0"]],
    ["the end of one, and others", [3], [[day - 20, 3]], ["triggered 12:01 3", "resolved 11:01 0"]],
    [
      "the end of one, and one that lasts",
      [3],
      [[day - 1, 4]],
      ["triggered 12:01 3", "resolved 11:01 0", "triggered 12:00 4"],
    ],
  ];
  for (const query of ["error", "error | count"]) {
    for (const [what, before, after, expected] of rows) {
      const world = await openWorld(t);
      const id = await world.add({ query });
      const evaluator = world.evaluator();
      for (const [minute, count] of before.entries()) await world.log(at(minute), count);
      await world.runUntil(evaluator, at(before.length));
      for (const [minute, count] of after) await world.log(at(minute), count);
      world.clock.nowMs = at(day) + LATEST_MS;
      await evaluator.pass();
      t.same(await world.deliveryLines(), expected, `${query}: ${what}`);
      const states = expected.at(-1)?.startsWith("triggered") === true;
      t.equal((await world.alert(id)).triggered, states, what);
      const count = evaluator.metrics();
      t.match(count, {
        alerts_evaluated_total: before.length + 60,
        alerts_slots_skipped_total: day - before.length - 60,
      });
      t.same(world.failures, []);
    }
  }
});

t.test("the clock is set back and ahead", async (t) => {
  const world = await openWorld(t);
  await world.add();
  const evaluator = world.evaluator();
  await world.log(at(0), 3);
  await world.log(at(1), 3);
  await world.runUntil(evaluator, at(2));
  const evaluated = () => evaluator.metrics().alerts_evaluated_total;
  t.equal(evaluated(), 2);
  world.clock.nowMs -= 5 * 3_600_000;
  for (let i = 0; i < 10; i++) {
    await evaluator.pass();
    world.clock.nowMs += MINUTE_MS;
  }
  t.equal(evaluated(), 2, "no slot twice");
  t.equal(evaluator.metrics().alerts_evaluator, 1, "it still holds the lease");
  world.clock.nowMs = at(2) + LATEST_MS + 400 * 24 * 3_600_000;
  await evaluator.pass();
  t.equal(evaluated(), 62);
  t.same(await world.deliveryLines(), [
    "triggered 12:01 3",
    `resolved ${new Date(world.clock.nowMs - 59 * MINUTE_MS - LATEST_MS).toISOString().slice(11, 16)} 0`,
  ]);
  world.clock.nowMs = at(10);
  await evaluator.pass();
  t.equal(evaluated(), 62);
  await world.log(at(11), 3);
  await world.runUntil(evaluator, at(13));
  t.same(
    (await world.deliveryLines()).slice(2),
    ["triggered 12:12 3", "resolved 12:13 0"],
    "right again, it begins anew",
  );
  t.same(world.failures, []);
});

t.test("two evaluators: one evaluates, the other takes over", async (t) => {
  const world = await openWorld(t);
  await world.add();
  const [first, second] = [world.evaluator(), world.evaluator()];
  for (let minute = 0; minute < 20; minute += 2) await world.log(at(minute), 3);
  await first.pass();
  await second.pass();
  const holders = () => [first.metrics().alerts_evaluator, second.metrics().alerts_evaluator];
  t.same(holders(), [1, 0]);
  await world.runUntil(first, at(3));
  await first.close();
  await world.runUntil(second, at(5));
  t.equal(second.metrics().alerts_evaluator, 1, "at once, as the first one gave it up");
  const third = world.evaluator();
  world.clock.nowMs += 29_000;
  await third.pass();
  t.equal(third.metrics().alerts_evaluator, 0, "the second one has not said that it ends");
  world.clock.nowMs += 2_000;
  await third.pass();
  t.equal(third.metrics().alerts_evaluator, 1);
  await world.runUntil(second, at(8));
  await world.runUntil(third, at(9));
  t.same(
    (await world.deliveryLines()).map((line) => line.split(" ").slice(0, 2).join(" ")),
    Array.from({ length: 9 }, (_, i) => `${i % 2 === 0 ? "triggered" : "resolved"} 12:0${i + 1}`),
  );
});

t.test("a slot is evaluated once, whoever evaluates, even without the lease", async (t) => {
  const world = await openWorld(t);
  for (let i = 0; i < 20; i++) await world.add({ name: `a${i}`, threshold: i % 4 });
  const evaluators = [world.evaluator(), world.evaluator()];
  for (let minute = 0; minute < 12; minute++) {
    await world.log(at(minute), minute % 3 === 0 ? 4 : 0);
    world.clock.nowMs = at(minute + 1) + LATEST_MS;
    // Both take the lease from each other while they evaluate.
    const taken = [takenFrom(world), takenFrom(world)];
    await Promise.all([evaluators[0]!.pass(), ...taken, evaluators[1]!.pass()]);
  }
  world.clock.nowMs += 40_000;
  for (const one of evaluators) await one.pass();
  const byAlert = new Map<string, string[]>();
  for (const { alert_id, kind } of await world.deliveries())
    byAlert.set(alert_id, [...(byAlert.get(alert_id) ?? []), kind]);
  t.equal(byAlert.size, 20);
  for (const kinds of byAlert.values()) {
    t.same(
      kinds,
      Array.from({ length: kinds.length }, (_, i) => (i % 2 === 0 ? "triggered" : "resolved")),
    );
  }
  t.same(world.failures, []);
});

async function takenFrom(world: World): Promise<void> {
  await world.records.db.deleteFrom("instance").where("key", "=", "evaluator_lease").execute();
}

/** A store whose counts of some projects wait until they are let go, with the projects that were reads in their order. */
function held(isHeld: (project: string) => boolean) {
  const reads: string[] = [];
  const waiting: (() => void)[] = [];
  const around = (events: EventsStore): EventsStore =>
    Object.assign(Object.create(events), {
      async count(question: Parameters<EventsStore["count"]>[0]) {
        reads.push(question.project);
        if (isHeld(question.project)) await new Promise<void>((resolve) => waiting.push(resolve));
        return events.count(question);
      },
    });
  return { reads, around, letGo: () => waiting.shift()?.() };
}

t.test("a team with many slow alerts delays another team by one reading", async (t) => {
  const slow = new Set<string>();
  const { reads, around, letGo } = held((project) => slow.has(project));
  const world = await openWorld(t, { around });
  const crowd = await world.team("crowd");
  for (let p = 0; p < 4; p++) {
    const place = await world.project(crowd, `p${p}`);
    slow.add(place.events_key);
    const { project_id, notification_id } = place;
    for (let n = 0; n < 10; n++) await world.add({ project_id, notification_id, query: `m${n}` }, crowd);
  }
  await world.add({ interval: 2 });
  const evaluator = world.evaluator();
  world.clock.nowMs = at(1) + LATEST_MS;
  const first = evaluator.pass();
  await until("both readers", () => reads.length === 2);
  t.equal(evaluator.metrics().alerts_waiting, 40);
  world.clock.nowMs = at(2) + LATEST_MS;
  const second = evaluator.pass();
  await until("the alert of the other team waits, too", () => evaluator.metrics().alerts_waiting === 41);
  letGo();
  await until("the next reading", () => reads.length >= 3);
  t.equal(reads[2], world.events_key, "the next one is of the other team");
  await until("all readings", () => {
    letGo();
    return evaluator.metrics().alerts_waiting === 0;
  });
  await Promise.all([first, second]);
  t.equal(reads.length, 41);
  t.same(world.failures, []);
});

t.test("an evaluation that takes too long is reads half as often each time", async (t) => {
  const rows: [what: string, slow: "count" | "search", alert: Parameters<World["add"]>[0]][] = [
    ["its values", "count", {}],
    ["the events that a message shows", "search", { operator: ">=", threshold: 0, repeat: 1 }],
  ];
  for (const [what, slow, alert] of rows) {
    let isSlow = true;
    const minutes: number[] = [];
    const around = (events: EventsStore): EventsStore =>
      Object.assign(Object.create(events), {
        [slow]: (question: Parameters<EventsStore["search"]>[0]) => {
          minutes.push((question.startMs - BEGIN_MS) / MINUTE_MS + 1);
          if (!isSlow) return events[slow](question);
          // It ends with its time, which is over as soon as it is reads.
          return new Promise((_, reject) =>
            question.signal.addEventListener("abort", () => reject(question.signal.reason)),
          );
        },
      });
    const world = await openWorld(t, { around });
    const clock = clockAt(() => world.clock.nowMs);
    const after: typeof clock.after = (ms, act, options) => {
      if (!isSlow || ms !== 10_000) return clock.after(ms, act, options);
      const timer = setImmediate(() => setImmediate(act));
      return { stop: () => clearImmediate(timer) };
    };
    const evaluator = world.evaluator({ clock: { ...clock, after } });
    const id = await world.add(alert);
    const every: unknown[] = [];
    for (const minute of [1, 3, 7, 15, 31, 47]) {
      await world.runUntil(evaluator, at(minute));
      every.push((await world.alert(id)).evaluated_every);
    }
    t.same(
      [minutes, every],
      [
        [1, 3, 7, 15, 31, 47],
        [2, 4, 8, 16, 16, 16],
      ],
      what,
    );
    const { state, triggered, failure } = await world.alert(id);
    if (slow === "count") t.same([state, failure], ["failing", "the query takes longer than 10 s"]);
    else t.same([state, triggered], ["triggered", true], "it is told without them");
    isSlow = false;
    await world.runUntil(evaluator, at(63));
    t.match(await world.alert(id), { evaluated_every: 1, failure: "" }, `${what}: after a good one`);
    await world.runUntil(evaluator, at(65));
    t.same(minutes.slice(6), [63, 64, 65], what);
    isSlow = true;
    await world.runUntil(evaluator, at(66));
    t.equal((await world.alert(id)).evaluated_every, 2);
    await world.change(id, { name: "renamed" });
    t.equal((await world.alert(id)).evaluated_every, 2, "another name changes nothing");
    await world.change(id, { query: "warn" });
    t.equal((await world.alert(id)).evaluated_every, 1, "another query may be fast");
    t.same(world.failures, []);
  }
});

t.test("alerts that ask the same do not wait for the end of their time one after the other", async (t) => {
  let count = 0;
  const around = (events: EventsStore): EventsStore =>
    Object.assign(Object.create(events), {
      count: ({ signal }: Parameters<EventsStore["count"]>[0]) => {
        count++;
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
  const world = await openWorld(t, { around });
  const clock = clockAt(() => world.clock.nowMs);
  const after: typeof clock.after = (ms, act, options) => clock.after(ms === 10_000 ? 0 : ms, act, options);
  const ids = [await world.add(), await world.add({ threshold: 9 }), await world.add({ name: "third" })];
  await world.runUntil(world.evaluator({ clock: { ...clock, after } }), at(1));
  for (const id of ids) t.equal((await world.alert(id)).evaluated_every, 2);
  t.equal(count, 1);
});

t.test("the lag is the age of the oldest alert that is due, waiting or running", async (t) => {
  const { reads, around, letGo } = held(() => true);
  const world = await openWorld(t, { around });
  for (const name of ["first", "second"]) await world.add({ name, query: name });
  const evaluator = world.evaluator();
  const lag = () => evaluator.metrics().alerts_lag_seconds!;
  t.equal(lag(), 0);
  world.clock.nowMs = at(1) + LATEST_MS;
  const pass = evaluator.pass();
  await until("a reader", () => reads.length === 1);
  const before = lag();
  t.ok(before >= 0 && before <= 30, `due for ${before} s`);
  world.clock.nowMs += 800_000;
  // A difference of fractions of a second is not exact.
  t.equal(Math.round((lag() - before) * 1000), 800_000, "one runs and one waits");
  letGo();
  await until("the second one", () => reads.length === 2);
  t.ok(lag() >= 800, "the second one runs");
  letGo();
  await pass;
  t.equal(lag(), 0);
  world.clock.nowMs += 1_000;
  await world.records.db.schema.alterTable("alerts").renameTo("gone").execute();
  await evaluator.pass();
  world.clock.nowMs += 50_000;
  t.equal(lag(), 851, "it cannot tell what is due since the last time it looked");
  await world.records.db.schema.alterTable("gone").renameTo("alerts").execute();
});

t.test("alerts of the same question share a read", async (t) => {
  let reads = 0;
  const world = await openWorld(t, {
    around: (events) =>
      Object.assign(Object.create(events), {
        count: (...question: Parameters<typeof events.count>) => {
          reads++;
          return events.count(...question);
        },
      }),
  });
  for (let threshold = 0; threshold < 5; threshold++) await world.add({ threshold });
  await world.add({ query: "warn" });
  const evaluator = world.evaluator();
  await world.runUntil(evaluator, at(1));
  t.same([reads, evaluator.metrics().alerts_evaluated_total], [2, 6]);
});

t.test("an alert of before there was an evaluation begins with the next slot", async (t) => {
  const world = await openWorld(t);
  const id = await world.add();
  await world.records.db.updateTable("alerts").set({ next_slot: 0 }).where("id", "=", id).execute();
  world.clock.nowMs = at(100) + LATEST_MS;
  const evaluator = world.evaluator();
  await evaluator.pass();
  t.equal(evaluator.metrics().alerts_evaluated_total, 0);
  await world.runUntil(evaluator, at(103));
  t.equal(evaluator.metrics().alerts_evaluated_total, 2);
});

t.test("the disk: told once when too little is free, and once when it is well again", async (t) => {
  let disk: () => Promise<DiskRoom> = async () => of(40);
  const of = (percent: number) => ({ freeBytes: percent * 1_000, totalBytes: 100_000, isFull: false });
  let searches = 0;
  const world = await openWorld(t, {
    around: (events) => ({
      ...events,
      disk: () => disk(),
      search: (query) => {
        searches++;
        return events.search(query);
      },
    }),
  });
  const id = await world.add({ kind: "disk", query: "", operator: "<", threshold: 0 });
  t.match(await world.alert(id), { kind: "disk", query: "", threshold: 10 }, "a tenth unless told otherwise");
  const strict = await world.add({ kind: "disk", query: "", operator: "<=", threshold: 5, muted: true });
  const evaluator = world.evaluator();
  await world.runUntil(evaluator, at(1));
  t.match(await world.alert(id), { state: "ok", triggered: false });
  for (const [minute, percent] of [10, 9.994, 3, 5, 10].entries()) {
    disk = async () => of(percent);
    await world.runUntil(evaluator, at(minute + 2));
    t.equal((await world.alert(strict)).triggered, percent <= 5, `${percent} %`);
  }
  t.same(await world.deliveryLines(), ["triggered 12:03 9.99", "resolved 12:06 10"]);
  const [triggered] = await world.deliveries();
  t.match(triggered!.message, {
    ...{ what: "free disk", unit: "%", group: [], events: [], hasMoreEvents: false },
    ...{ path: "/t/owner/usage", alert: { query: "", operator: "<", threshold: 10 } },
  });
  t.equal(searches, 0, "there are no events to show");

  // After a downtime only the present is known: one evaluation, of the last minute.
  disk = async () => of(1);
  const before = evaluator.metrics().alerts_evaluated_total!;
  world.clock.nowMs = at(30) + LATEST_MS;
  await evaluator.pass();
  t.equal(evaluator.metrics().alerts_evaluated_total! - before, 2, "one for each alert");
  t.same((await world.deliveryLines()).slice(2), ["triggered 12:30 1"]);

  for (const [minute, broken] of [
    () => Promise.reject(new Error("gone")),
    () => Promise.resolve({ freeBytes: 0, totalBytes: 0, isFull: false }),
    () => Promise.reject(new Error("gone")),
  ].entries()) {
    disk = broken;
    await world.runUntil(evaluator, at(31 + minute));
  }
  t.same((await world.deliveryLines()).slice(3), [
    "failed 12:33 null the file system does not say how much of the disk is free",
  ]);
  t.match(await world.alert(id), { state: "failing", triggered: true });
  t.same(world.failures, []);
});
