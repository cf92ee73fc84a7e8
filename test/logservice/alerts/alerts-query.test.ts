// The queries that an alert may have, the names of its groups, and the results of a replay of it over the past.
import t from "tap";
import { checkAlertQuery, readAlertQuery } from "../../../logservice/alerts/alert-query.ts";
import { listEpisodes } from "../../../logservice/alerts/episodes.ts";
import { evaluateSlot } from "../../../logservice/alerts/evaluate.ts";
import { groupKey, groupValuesOf } from "../../../logservice/alerts/group.ts";
import { previewAlert } from "../../../logservice/alerts/preview.ts";
import { readSlots } from "../../../logservice/alerts/read-slots.ts";
import { slotAt } from "../../../logservice/alerts/slots.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { AlertReplay } from "../../../logservice/preview-entries.ts";
import { alertIn, BEGIN_MS, MINUTE_MS, openWorld } from "../../support/alerts/world.ts";

const at = (minute: number) => BEGIN_MS + minute * MINUTE_MS;

t.test("queries that give one number for each group", (t) => {
  const rows: [query: string, groups: string[], what: string, unit: string, isCount: boolean][] = [
    ["error", [], "events", "", true],
    ["error | where exists path", [], "events", "", true],
    ["| count", [], "events", "", true],
    ["error | count by path, status", ["path", "status"], "events", "", true],
    ["| top 5 path", ["path"], "events", "", true],
    ["| stats p99(duration) by path", ["path"], "p99(duration)", "ms", false],
    ["| stats avg(size) as mean", [], "mean", "bytes", false],
    ["| stats distinct(user.id)", [], "distinct(user.id)", "", true],
    ["| stats rate()", [], "rate()", "per second", true],
    ["| unique user.id | count", [], "events", "", true],
    ["| count by path | sort count desc | limit 3", ["path"], "events", "", true],
  ];
  for (const [query, groups, what, unit, isCount] of rows) {
    const read = readAlertQuery(query);
    if (!read.ok) {
      t.fail(`${query}: ${read.problems}`);
      continue;
    }
    const { columns, ...rest } = read.value;
    t.match(rest, { what, unit, isCount }, query);
    t.same(
      columns.filter(({ isGroup }) => isGroup).map(({ name }) => name),
      groups,
      query,
    );
  }
  t.end();
});

t.test("queries that an alert cannot have", (t) => {
  const rows: [query: string, problem: RegExp][] = [
    ["status >", /./],
    ["@mine", /^must not name the saved query @mine, which only the command knows: write its text$/],
    [
      "| timeseries 5m",
      /^must have no timeseries: each interval is evaluated by itself, so write count or stats instead$/,
    ],
    ["| fields path", /^must have a stage that gives a number, such as \| count by path$/],
    ["| sort timestamp", /^must have a stage that gives a number, such as \| count by path$/],
    ["| count by path | fields count", /^must have no fields after count: the values that it groups by are needed$/],
    [
      "| stats count(), avg(duration)",
      /^must give one number, which is compared with the threshold: it gives count\(\), avg\(duration\)$/,
    ],
    ["| stats last(path)", /^must give a number, which is compared with the threshold: last\(path\) may be anything$/],
  ];
  for (const [query, problem] of rows) t.match(checkAlertQuery(query).join("; "), problem, query);
  t.same(checkAlertQuery("error"), []);
  t.end();
});

t.test("keys of groups", (t) => {
  const columns = [
    { name: "path", type: "value", isGroup: true },
    { name: "code", type: "value", isGroup: true },
    { name: "count", type: "number", isGroup: false },
  ] as const;
  t.equal(groupKey([]), "");
  t.same(groupValuesOf(columns, ""), []);
  for (const values of [
    ["/a", 5],
    [null, "5"],
    [{ b: 1, a: [2] }, true],
  ]) {
    const [path, code] = values;
    t.same(groupValuesOf(columns, groupKey(values)), [
      { name: "path", value: path },
      { name: "code", value: code },
    ]);
  }
  t.equal(groupKey([{ b: 1, a: 2 }]), groupKey([{ a: 2, b: 1 }]));
  t.not(groupKey([5]), groupKey(["5"]));
  t.end();
});

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`${engine}: a preview says what would have been told`, async (t) => {
    const world = await openWorld(t, { engine });
    const counts = [3, 0, 3, 3, 0, 0, 0, 5, 5, 5, 0, 3];
    for (const [minute, count] of counts.entries()) {
      await world.log(at(minute), count, { path: minute < 6 ? "/a" : "/b" });
    }
    const { signal } = new AbortController();
    const preview = async (change: object, from = 0, to = counts.length) => {
      const alert = { ...alertIn(world.project_id, world.notification_id), ...change };
      const range = { startMs: at(from), stopMs: at(to), signal };
      const { episodes, ...rest } = await previewAlert(world.events, world.events_key, alert, range);
      const lines = episodes.map(({ group, value, triggeredAt, resolvedAt }) =>
        [
          ...group.map((one) => String(one.value)),
          value,
          triggeredAt.slice(11, 16),
          resolvedAt?.slice(11, 16) ?? "",
        ].join(" "),
      );
      return [lines, rest.intervals, rest.missingBytes];
    };
    const rows: [change: object, lines: string[], intervals: number][] = [
      [{}, ["3 12:01 12:02", "3 12:03 12:05", "5 12:08 12:11", "3 12:12 "], 12],
      [{ for: 2, recover: 2 }, ["3 12:04 12:06", "5 12:09 "], 12],
      [{ interval: 3, threshold: 5 }, ["6 12:03 12:06", "10 12:09 "], 4],
      [
        { query: "error | count by path" },
        ["/a 3 12:01 12:02", "/a 3 12:03 12:05", "/b 5 12:08 12:11", "/b 3 12:12 "],
        12,
      ],
      [{ query: "warn", operator: "<", threshold: 1 }, ["0 12:01 "], 12],
    ];
    for (const [change, lines, intervals] of rows) {
      t.same(await preview(change), [lines, intervals, 0], JSON.stringify(change));
    }
    t.same(await preview({ interval: 7 }), [["9 12:07 "], 1, 0], "slots begin at multiples of the interval since 1970");
    t.same(await preview({}, 0.5, 2.5), [[], 1, 0], "whole intervals only");
    t.same(await preview({}, 3, 3), [[], 0, 0]);
    await t.rejects(preview({}, 0, 10_081), { type: "invalid", message: /^stop: must be at most 10080 intervals/ });
    await t.rejects(preview({ query: "| timeseries" }), { type: "invalid", message: /^alert\.query: must have no/ });
    t.same((await preview({}, 0, 10_080))[1], 10_080);
  });

  t.test(`${engine}: stages are asked for slots with events only, and give the same`, async (t) => {
    const world = await openWorld(t, { engine });
    for (const minute of [3, 4, 40]) await world.log(at(minute), 2, { path: "/a", size: minute });
    const { signal } = new AbortController();
    const first = slotAt(BEGIN_MS, 1);
    for (const text of [
      "error | count by path",
      "| count",
      "| count | where count > 1",
      "| stats max(size)",
      "| stats rate()",
      "warn | count",
      "| stats p99(size) by path | sort path | limit 1",
    ]) {
      const read = readAlertQuery(text);
      if (!read.ok) throw new Error(read.problems.join());
      const question = { project: world.events_key, query: read.value, interval: 1 };
      let calls = 0;
      const events = Object.create(world.events, {
        aggregate: {
          value: (...args: Parameters<EventsStore["aggregate"]>) => {
            calls++;
            return world.events.aggregate(...args);
          },
        },
      }) as EventsStore;
      const all = await readSlots(events, question, { first, last: first + 59 }, signal);
      t.ok(calls <= 4, `${text}: asked ${calls} times`);
      for (let slot = first; slot < first + 60; slot++) {
        const alone = await evaluateSlot(world.events, question, slot, signal);
        if (JSON.stringify(all[slot - first], mapped) !== JSON.stringify(alone, mapped)) t.fail(`${text} in ${slot}`);
      }
    }
  });
}

const mapped = (_: string, value: unknown) => (value instanceof Map ? [...value] : value);

t.test("a replay over entries finds what one over a store does, in any order of the entries", async (t) => {
  const world = await openWorld(t);
  const entries = [3, 0, 3, 3, 0, 0, 0, 5, 5, 5, 0, 3].flatMap((count, minute) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ timestamp: new Date(at(minute) + i * 1_000).toISOString(), level: "error", message: "m" },
      fields: { path: minute < 6 ? "/a" : "/b", duration: minute * 10 },
    })),
  );
  await world.events.append(
    world.events_key,
    entries.map((entry, i) => ({ ...entry, id: String(i) })),
  );
  const { signal } = new AbortController();
  const range = { startMs: at(0), stopMs: at(12) };
  for (const change of [
    {},
    { for: 2, recover: 2 },
    { interval: 3, threshold: 5 },
    { query: "error | count by path" },
    { query: "| stats max(duration) by path", threshold: 40 },
    { query: "| stats rate()", threshold: 0 },
    { query: "warn", operator: "<" as const, threshold: 1 },
  ]) {
    const alert = { ...alertIn(world.project_id, world.notification_id), ...change };
    const replay = new AlertReplay(alert, world.clock.nowMs);
    for (const entry of [...entries].reverse()) replay.add(entry);
    const stored = await previewAlert(world.events, world.events_key, alert, { ...range, signal });
    t.ok(stored.episodes.length > 0, JSON.stringify(change));
    t.same(await replay.preview(range, signal), stored, JSON.stringify(change));
    const { intervals } = await replay.preview("entries", signal);
    t.equal(intervals, 12 / (alert.interval ?? 5), "from the first entry to the last");
  }
  const wrong = new AlertReplay({ ...alertIn("", ""), query: "| timeseries" }, 0);
  await t.rejects(wrong.preview(range, signal), { type: "invalid", message: /^alert\.query: must have no/ });
});

t.test("episodes are listed in pages", async (t) => {
  const world = await openWorld(t);
  const [loud, muted] = [await world.add(), await world.add({ name: "muted", muted: true })];
  const evaluator = world.evaluator();
  for (let minute = 0; minute < 9; minute += 2) await world.log(at(minute), 3);
  await world.runUntil(evaluator, at(9));
  const project = { team_id: "owner", id: world.project_id };
  const all = await listEpisodes(world.records.db, project, { limit: 100 });
  t.equal(all.length, 10);
  const times = all.map((one) => one.triggered_at);
  t.same(times, [...times].sort().reverse());
  t.match(
    all.find((one) => one.alert_id === loud && one.resolved_at === null),
    {
      ...{ name: "too many errors", severity: "error", kind: "triggered", group: [], value: 3, reason: "" },
      ...{ muted: false, notification_id: world.notification_id, triggered_at: "2026-03-01T12:09:00.000Z" },
    },
  );
  t.ok(all.filter((one) => one.alert_id === muted).every((one) => one.muted));
  const paged = [];
  for (let after = undefined as (typeof all)[number] | undefined; ; after = paged.at(-1)) {
    const page = await listEpisodes(world.records.db, project, { limit: 3, after });
    if (page.length === 0) break;
    paged.push(...page);
  }
  t.same(paged, all);
  const some = await listEpisodes(world.records.db, project, { alertId: muted, limit: 3 });
  t.same([some.length, new Set(some.map((one) => one.alert_id)).size], [3, 1]);
  t.same(await listEpisodes(world.records.db, { ...project, team_id: "other" }, { limit: 3 }), []);
});
