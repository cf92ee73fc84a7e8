// The parts of the explorer that need no page: tables of inputs and what comes of them.
import fc from "fast-check";
import t from "tap";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { parsePipeline } from "../../../grammar/query/index.ts";
import { visibleQuery } from "../../../grammar/query/visible.ts";
import { rangeTexts, searchOf, type View, viewOf } from "../../../logservice/address/view.ts";
import { readRange } from "../../../logservice/rpc/read-range.ts";
import { cellText, drawingOf, drawingsOf, groupOfRow, seriesOf } from "../../../logservice/ui/charts/drawing.ts";
import { noteServiceTime, serviceNow } from "../../../logservice/ui/data/clock.ts";
import { Arrivals, MOST_ARRIVED } from "../../../logservice/ui/explorer/arrivals.ts";
import { columnLayout } from "../../../logservice/ui/explorer/column-widths.ts";
import { textOfValue, valueAt } from "../../../logservice/ui/explorer/field-values.ts";
import { foldOf } from "../../../logservice/ui/explorer/fold.ts";
import { type Bar, barsOf, histogramOf, levelHeights } from "../../../logservice/ui/explorer/histogram-data.ts";
import { grown } from "../../../logservice/ui/explorer/live-histogram.ts";
import { openedSearch } from "../../../logservice/ui/explorer/opened-search.ts";
import { requestQuery } from "../../../logservice/ui/explorer/request.ts";
import { commonFields, rowLine, settledFields } from "../../../logservice/ui/explorer/row-line.ts";
import { readTypedRange } from "../../../logservice/ui/explorer/typed-range.ts";
import { withoutArrived } from "../../../logservice/ui/explorer/without-arrived.ts";
import { visibleParts } from "../../../logservice/ui/kit/visible.ts";
import { nearAnswer } from "../../../logservice/ui/language/near-answer.ts";
import { colouredPieces } from "../../../logservice/ui/query-box/coloured.ts";
import { completed } from "../../../logservice/ui/query-box/combobox.ts";
import { sentence } from "../../../logservice/ui/query-box/sentence.ts";
import { type RowRange, type RowReader, Rows } from "../../../logservice/ui/rows/rows.ts";
import { endPosition, movedBy } from "../../../logservice/ui/rows/scroll-place.ts";
import type { AggregateResponse, Event, Level } from "../../../schema/rpc.generated.ts";
import { TestClock } from "../../support/test-clock.ts";
import { recorderOf } from "../../support/vectors.ts";
import summaryRows from "../../vectors/summary.json" with { type: "json" };

const NOW = Date.parse("2026-11-25T12:34:56.789Z");
const FIRST: View = {
  ...{ query: "", range: { lastMs: 3_600_000 }, event: "", columns: [], isLive: false, isOldestFirst: false },
  drawn: undefined,
};
const event = (id: string, timeMs: number, level: Level = "info"): Event => ({
  ...{ id, timestamp: new Date(timeMs).toISOString(), level, message: `message ${id}`, fields: {} },
});

t.test("an address shows a view", async (t) => {
  const rows: readonly (readonly [string, Partial<View>])[] = [
    ["", {}],
    ["?last=15m", { range: { lastMs: 900_000 } }],
    ["?last=90s", { range: { lastMs: 90_000 } }],
    ["?last=0m", {}],
    ["?last=yesterday", {}],
    ["?query=status+%3E%3D+500", { query: "status >= 500" }],
    ["?query=%F0%9F%98%80", { query: "😀" }],
    [
      "?start=2026-11-25T00:00:00Z&stop=2026-11-25T01:00:00Z",
      { range: { startMs: Date.parse("2026-11-25T00:00Z"), stopMs: Date.parse("2026-11-25T01:00Z") } },
    ],
    // The end before the beginning, half a range, times that are none.
    ["?start=2026-11-25T01:00:00Z&stop=2026-11-25T00:00:00Z", {}],
    ["?start=2026-11-25T01:00:00Z", {}],
    ["?start=now&stop=later", {}],
    ["?columns=status%0Auser.plan%0Astatus", { columns: ["status", "user.plan"] }],
    ["?live=1", { isLive: true }],
    ["?live=yes", {}],
    // Only a range that ends now goes on.
    [
      "?live=1&start=2026-11-25T00:00:00Z&stop=2026-11-25T01:00:00Z",
      { range: { startMs: Date.parse("2026-11-25T00:00Z"), stopMs: Date.parse("2026-11-25T01:00Z") } },
    ],
    ["?order=oldest", { isOldestFirst: true }],
    ["?order=newest", {}],
    ["?live=1&order=oldest", { isLive: true }],
    ["?query=a%E2%80%AE+%3D+%22b%E2%80%AE%22", { query: 'a = "b\\u202e"' }],
    ["?as=bars", { drawn: "bars" }],
    ["?as=pie", {}],
    ["?event=2026-11-25T00:00:00Z~abc", { event: "2026-11-25T00:00:00Z~abc" }],
  ];
  for (const [search, view] of rows) t.strictSame(viewOf(search), { ...FIRST, ...view }, search);
});

t.test("every view is shown again by its address", async () => {
  const lastMs = fc.oneof(
    fc.integer({ min: 1, max: 10_000 }).map((minutes) => minutes * 60_000),
    fc.integer({ min: 1, max: 10_000 }).map((seconds) => seconds * 1_000),
  );
  const plain = { noNullPrototype: true };
  const relative = fc.record({ lastMs }, plain);
  const absolute = fc
    .tuple(fc.integer({ min: 0, max: NOW }), fc.integer({ min: 0, max: 1e11 }))
    .map(([startMs, length]) => ({ startMs, stopMs: startMs + length }));
  const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\n"));
  const view = fc.record(
    {
      query: fc.string({ unit: "grapheme" }),
      range: fc.oneof(relative, absolute),
      event: fc.string({ unit: "grapheme" }),
      columns: fc.uniqueArray(name),
      isLive: fc.boolean(),
      isOldestFirst: fc.boolean(),
      drawn: fc.constantFrom(undefined, "table" as const, "bars" as const, "lines" as const),
    },
    plain,
  );
  fc.assert(
    fc.property(view, (one) => {
      const isLive = one.isLive && "lastMs" in one.range;
      // Characters of a query that nobody would see are not kept.
      const expected = {
        ...one,
        query: visibleQuery(one.query),
        isLive,
        isOldestFirst: one.isOldestFirst && !one.isLive,
      };
      t.strictSame(viewOf(searchOf(one)), expected);
    }),
  );
});

t.test("the times of a range as the service takes them", async (t) => {
  const rows: readonly (readonly [string, string, string, string])[] = [
    ["2026-01-31T12:00:00Z", "2026-01-31T13:00:00Z", "2026-01-31T12:00:00.000Z", "2026-01-31T13:00:00.000999999Z"],
    ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00.001Z", "9999-12-31T23:59:59.000999999Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.999Z"],
    ["0000-06-01T00:00:00Z", "0001-01-01T00:00:01Z", "0001-01-01T00:00:00.001Z", "0001-01-01T00:00:01.000999999Z"],
  ];
  for (const [from, to, start, stop] of rows) {
    const texts = rangeTexts({ startMs: Date.parse(from), stopMs: Date.parse(to) });
    t.strictSame(texts, { start, stop }, `${from} ${to}`);
    t.doesNotThrow(() => readRange(texts));
  }
});

t.test("the clock of the service", async (t) => {
  const read = (date: string | null): number => {
    const nowMs = Date.now();
    noteServiceTime(date, nowMs);
    return Math.round((serviceNow() - Date.now()) / 1_000);
  };
  const dateOf = (aheadMs: number) => new Date(Date.now() + aheadMs).toUTCString();
  t.equal(read(dateOf(0)), 0);
  t.equal(read(dateOf(4_000)), 0, "an answer that took a while");
  const hour = read(dateOf(3_600_000));
  t.ok(Math.abs(hour - 3_600) <= 1, `${hour} s: a browser an hour slow`);
  t.equal(read(null), hour, "an answer without a time changes nothing");
  t.equal(read("yesterday"), hour);
  const fast = read(dateOf(-86_400_000));
  t.ok(Math.abs(fast + 86_400) <= 1, `${fast} s: a day fast`);
  t.equal(read(dateOf(0)), 0, "and it is right again");
});

t.test("a typed range", async (t) => {
  const at = { nowMs: NOW, isUtc: true };
  const ms = (text: string) => Date.parse(text);
  const day = (date: string) => ({ startMs: ms(`${date}T00:00Z`), stopMs: ms(`${date}T00:00Z`) + 86_399_999 });
  const rows: readonly (readonly [string, object])[] = [
    ["last 2h", { lastMs: 7_200_000 }],
    ["2h", { lastMs: 7_200_000 }],
    [" Last  15 MIN ", { lastMs: 900_000 }],
    ["past week", { lastMs: 604_800_000 }],
    ["the last 3 days", { lastMs: 259_200_000 }],
    ["today", day("2026-11-25")],
    ["yesterday", day("2026-11-24")],
    ["2026-11-22", day("2026-11-22")],
    ["yesterday 14:00", { startMs: ms("2026-11-24T13:57:30Z"), stopMs: ms("2026-11-24T14:02:30Z") }],
    ["9:05", { startMs: ms("2026-11-25T09:02:30Z"), stopMs: ms("2026-11-25T09:07:30Z") }],
    ["14:00 to 15:30", { startMs: ms("2026-11-25T14:00Z"), stopMs: ms("2026-11-25T15:30Z") }],
    ["yesterday 22:00 to 23:00", { startMs: ms("2026-11-24T22:00Z"), stopMs: ms("2026-11-24T23:00Z") }],
    ["2026-11-22 14:00 - now", { startMs: ms("2026-11-22T14:00Z"), stopMs: NOW }],
    ["2026-11-22 to 2026-11-23", { startMs: ms("2026-11-22T00:00Z"), stopMs: ms("2026-11-23T23:59:59.999Z") }],
    [
      "2026-11-22T14:00:00+01:00 to 2026-11-22T14:00:01.5Z",
      { startMs: ms("2026-11-22T13:00Z"), stopMs: ms("2026-11-22T14:00:01.5Z") },
    ],
    [
      "2026-11-22 14:00:00.250 to 2026-11-22 14:00:01",
      { startMs: ms("2026-11-22T14:00:00.250Z"), stopMs: ms("2026-11-22T14:00:01Z") },
    ],
  ];
  for (const [text, range] of rows) t.strictSame(readTypedRange(text, at), { range }, text);
  const wrong = [
    "",
    "nonsense",
    "25:00",
    "2026-13-01",
    "last",
    "last 0h",
    "last 999999w",
    "1h to 2h to 3h",
    "2026-11-22 14:00 to noon",
  ];
  for (const text of wrong) t.match(readTypedRange(text, at), { problem: /^Write a range such as/ }, text);
  t.match(readTypedRange("15:00 to 14:00", at), { problem: "The end is before the beginning" });
});

/** Reads rows as the service answers: newest first, steps of whole seconds. */
function rowsOver(
  events: readonly Event[],
  range: RowRange,
  {
    seeded = 0,
    stepMs = 60_000,
    arrived,
  }: { readonly seeded?: number; readonly stepMs?: number; readonly arrived?: Arrivals } = {},
) {
  const sorted = (all: readonly Event[]) => [...all].sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp));
  let newest = sorted(events);
  const within = ({ startMs, stopMs }: RowRange) =>
    newest.filter(({ timestamp }) => Date.parse(timestamp) >= startMs && Date.parse(timestamp) <= stopMs);
  const stepsOf = (of: RowRange, ms: number) => {
    const counts = new Map<number, number>();
    for (const { timestamp } of within(of)) {
      const at = Math.floor(Date.parse(timestamp) / ms) * ms;
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return [...counts].map(([startMs, count]) => ({ startMs, count })).sort((a, b) => a.startMs - b.startMs);
  };
  let requestCount = 0;
  const reader: RowReader = {
    async events(of, { limit, cursor }) {
      requestCount++;
      const from = Number(cursor ?? 0);
      const all = within(of);
      return {
        events: all.slice(from, from + limit),
        cursor: from + limit < all.length ? `${from + limit}` : undefined,
      };
    },
    async steps(of, most) {
      requestCount++;
      const ms = Math.max(1_000, Math.ceil((of.stopMs - of.startMs) / most / 1_000) * 1_000);
      return { steps: stepsOf(of, ms), stepMs: ms };
    },
    failed: (error) => t.fail(String(error)),
  };
  const rows = new Rows(
    range,
    stepsOf(range, stepMs),
    stepMs,
    withoutArrived(reader, () => arrived),
  );
  if (seeded > 0) rows.seed(newest.slice(0, seeded), seeded >= newest.length);
  const settled = async (row: number): Promise<Event | undefined> => {
    for (let i = 0; i < 50; i++) {
      const loaded = rows.at(row);
      if (loaded !== undefined) return loaded;
      await new Promise((done) => setImmediate(done));
    }
    return undefined;
  };
  const store = (more: readonly Event[]): void => {
    newest = sorted([...newest, ...more]);
  };
  /** Every row, from the first to the last, once all of them were looked at. */
  const all = async (): Promise<string[]> => {
    for (;;) {
      const before = rows.version.value;
      const ids: string[] = [];
      for (let row = 0; row < rows.total; row++) ids.push((await settled(row))?.id ?? `none in row ${row}`);
      if (rows.version.value === before) return ids;
    }
  };
  return { rows, newest, settled, store, all, requestCount: () => requestCount };
}

t.test("any row of many is found in few requests", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const events = Array.from({ length: 60_000 }, (_, i) => event(`e${i}`, NOW - i * 60));
  const { rows, newest, settled, requestCount } = rowsOver(events, range, { seeded: 200 });
  t.equal(rows.total, 60_000);
  t.equal(rows.at(0)?.id, "e0", "known from the beginning");
  t.equal(requestCount(), 0);
  for (const row of [30_000, 59_999, 12_345]) t.equal((await settled(row))?.id, newest[row]!.id, `row ${row}`);
  t.ok(requestCount() <= 9, `${requestCount()} requests for three rows`);
  const seek = (startMs: number, stopMs: number) => rows.rowIn({ startMs: NOW - startMs, stopMs: NOW - stopMs });
  t.equal(seek(1_860_000, 1_800_000), 30_000, "a range begins with its newest event");
  t.equal(seek(7_200_000, 5_000_000), 59_999, "before all");
  t.equal(seek(-1_000, -2_000), 0, "after all");
  t.equal(await rows.rowOf("e45000", NOW - 45_000 * 60), 45_000);
  t.equal(await rows.rowOf("none", NOW - 45_000 * 60), undefined);
});

t.test("the same rows, the oldest first", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const events = Array.from({ length: 60_000 }, (_, i) => event(`e${i}`, NOW - i * 60));
  const { rows, newest, settled, requestCount } = rowsOver(events, range, { seeded: 200 });
  rows.isOldestFirst = true;
  for (const row of [0, 59_999, 30_000, 12_345])
    t.equal((await settled(row))?.id, newest[59_999 - row]!.id, `row ${row}`);
  t.ok(requestCount() <= 9, `${requestCount()} requests for four rows`);
  t.equal(rows.at(60_000), undefined);
  const seek = (startMs: number, stopMs: number) => rows.rowIn({ startMs: NOW - startMs, stopMs: NOW - stopMs });
  t.equal(seek(1_800_000, 1_740_000), 29_999, "a range begins with its oldest event");
  t.equal(seek(7_200_000, 5_000_000), 0, "before all");
  t.equal(seek(-1_000, -2_000), 59_999, "after all");
  t.equal(await rows.rowOf("e45000", NOW - 45_000 * 60), 14_999);
  rows.isOldestFirst = false;
  t.equal(rows.at(0)?.id, "e0", "and back");
  const few = rowsOver(events.slice(0, 1_700), range, { seeded: 200, stepMs: 60_000 });
  few.rows.isOldestFirst = true;
  t.same(
    await few.all(),
    events
      .slice(0, 1_700)
      .map(({ id }) => id)
      .reverse(),
    "each of them, once",
  );
});

t.test("rows that follow those known at first are read in parts too", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const events = Array.from({ length: 60_000 }, (_, i) => event(`e${i}`, NOW - i * 60));
  // Steps of half an hour: the first part holds far more than is read at once.
  const { rows, newest, settled, requestCount } = rowsOver(events, range, { seeded: 200, stepMs: 1_800_000 });
  for (const row of [199, 200, 201, 20_000]) t.equal((await settled(row))?.id, newest[row]!.id, `row ${row}`);
  t.ok(requestCount() <= 6, `${requestCount()} requests`);
  t.equal(rows.total, 60_000);
});

t.test("rows of one second are read page after page", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const events = Array.from({ length: 1_700 }, (_, i) => event(`e${i}`, NOW - 10_000));
  const { settled, newest } = rowsOver(events, range);
  t.equal((await settled(1_699))?.id, newest[1_699]!.id);
  t.equal((await settled(3))?.id, newest[3]!.id);
});

t.test("rows that came since they were counted move those below", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const events = Array.from({ length: 10 }, (_, i) => event(`e${i}`, NOW - i * 1_000));
  const { rows } = rowsOver(events, range);
  rows.seed([event("new", NOW), ...events], true);
  t.equal(rows.total, 11);
  t.equal(rows.at(10)?.id, "e9");
});

t.test("events that are sent late are in the list once, and none is left out", async (t) => {
  const range = { startMs: NOW - 900_000, stopMs: NOW };
  const at = (id: string, i: number) => event(`${id}${i}`, NOW - i * 5);
  const first = Array.from({ length: 400 }, (_, i) => at("first", i + 400));
  const late = Array.from({ length: 1_500 }, (_, i) => at("late", i));
  for (const stepMs of [1_000, 60_000]) {
    const plain = rowsOver(first, range, { seeded: 200, stepMs });
    plain.store(late);
    const ids = await plain.all();
    t.equal(new Set(ids).size, ids.length, `steps of ${stepMs} ms: once`);
    // The first 200 were known before, and those that are newer are above them.
    for (const { id } of first) if (!ids.includes(id)) t.fail(`${id} is nowhere`);

    const arrived = new Arrivals();
    const live = rowsOver(first, range, { seeded: 200, stepMs, arrived });
    live.store(late);
    for (const one of late) if (!live.rows.has(one)) arrived.push(one);
    const below = await live.all();
    t.same([...below].sort(), first.map(({ id }) => id).sort(), `steps of ${stepMs} ms, while it is live`);
    t.equal(live.rows.total, first.length);
    t.equal(live.rows.has(first[399]!), true, "one on its way is in the list already");
    t.equal(live.rows.has(late[0]!), false);
  }
});

t.test("what has arrived is counted by the steps of a range", async (t) => {
  const arrived = new Arrivals();
  for (const [id, ms] of [
    ["a", 500],
    ["b", 1_500],
    ["c", 1_999],
    ["d", 2_400],
    ["e", 2_600],
  ] as const)
    arrived.push(event(id, ms));
  t.strictSame(
    [...arrived.counts({ startMs: 1_000, stopMs: 2_500 }, 1_000)],
    [
      [1_000, 2],
      [2_000, 1],
    ],
  );
  t.equal(arrived.has(event("a", 500)), true);
  t.equal(arrived.has(event("a", 501)), false, "the same id at another time");
  arrived.rebase(2, ({ id }) => id === "d");
  t.strictSame(
    ["a", "c", "d"].map((id, i) => arrived.has(event(id, [500, 1_999, 2_400][i]!))),
    [false, true, false],
  );
});

t.test("what cannot be read is asked for again after a pause", async (t) => {
  let requestCount = 0;
  let isDown = true;
  const failures: unknown[] = [];
  const events = async () => {
    requestCount++;
    if (isDown) throw new Error("down");
    return { events: [event("e0", NOW)], cursor: undefined };
  };
  const steps = async () => ({ steps: [], stepMs: 1_000 });
  const clock = new TestClock();
  const failed = (error: unknown) => failures.push((error as Error | undefined)?.message);
  const reader: RowReader = { events, steps, failed, clock };
  const range = { startMs: NOW - 60_000, stopMs: NOW };
  const rows = new Rows(range, [{ startMs: NOW - 60_000, count: 1 }], 60_001, reader);
  // As a list that is drawn with each change, and at other times, too.
  rows.version.subscribe(() => void rows.at(0));
  const draw = clock.every(5, () => rows.at(0));
  t.teardown(() => draw.stop());
  await clock.advance(500);
  t.same([requestCount, failures], [1, ["down"]]);
  isDown = false;
  await clock.advance(3_000);
  t.same([requestCount, failures, rows.at(0)?.id], [2, ["down", undefined], "e0"]);
});

t.test("a place in a list", async (t) => {
  const same = { count: 100, heightOf: () => 20 };
  // Each second row is left out, from the first.
  const pairs = { count: 100, heightOf: (row: number) => (row % 2 === 0 ? 0 : 20) };
  const rows: readonly (readonly [string, object, object])[] = [
    ["down within a row", movedBy({ row: 3, offset: 5 }, 10, same), { row: 3, offset: 15 }],
    ["down over rows", movedBy({ row: 3, offset: 5 }, 45, same), { row: 5, offset: 10 }],
    ["up over rows", movedBy({ row: 3, offset: 5 }, -30, same), { row: 1, offset: 15 }],
    ["above the first", movedBy({ row: 1, offset: 0 }, -500, same), { row: 0, offset: 0 }],
    ["below the last", movedBy({ row: 98, offset: 0 }, 5_000, same), { row: 99, offset: 19 }],
    ["down over rows that are left out", movedBy({ row: 1, offset: 5 }, 35, pairs), { row: 5, offset: 0 }],
    ["up over rows that are left out", movedBy({ row: 5, offset: 0 }, -35, pairs), { row: 1, offset: 5 }],
    ["the end of rows of which some are left out", endPosition(30, pairs), { row: 97, offset: 10 }],
    ["the end, the first being left out", endPosition(500, { ...pairs, count: 3 }), { row: 0, offset: 0 }],
    ["the end", endPosition(110, same), { row: 94, offset: 10 }],
    ["the end of few", endPosition(110, { count: 2, heightOf: () => 20 }), { row: 0, offset: 0 }],
  ];
  for (const [name, actual, wanted] of rows) t.strictSame(actual, wanted, name);
});

t.test("as far down as up is the same place", async () => {
  const heights = [20, 37, 200, 20, 21, 90];
  const all = { count: 5_000, heightOf: (row: number) => heights[row % heights.length]! };
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 2_000 }),
      fc.integer({ min: 0, max: 19 }),
      fc.integer({ min: 0, max: 9_000 }),
      (row, offset, pixels) => {
        const moved = movedBy({ row, offset }, pixels, all);
        t.strictSame(movedBy(moved, -pixels, all), { row, offset });
      },
    ),
  );
});

t.test("the bars of a histogram", async (t) => {
  const range = { startMs: NOW - 3_600_000, stopMs: NOW };
  const points = Array.from({ length: 61 }, (_, i) => ({
    timestamp: new Date(Math.floor((NOW - i * 60_000) / 60_000) * 60_000).toISOString(),
    ...{ level: i % 2 === 0 ? ("info" as const) : ("error" as const), count: 10 },
  }));
  const counts = histogramOf(points, range, 61);
  t.equal(counts.steps.length, 61);
  t.equal(counts.stepMs, 60_000);
  t.equal(counts.total, 610);
  const bars = barsOf(counts, range);
  t.equal(bars.length, 61, "the step that is cut off has a bar of its own");
  t.equal(bars[0]!.startMs, range.startMs);
  t.equal(bars[0]!.stopMs, counts.steps[1]!.startMs);
  t.ok(
    bars.slice(1, -1).every(({ startMs, stopMs }) => stopMs - startMs === 60_000),
    "all others are alike",
  );
  t.ok(
    bars.every(({ height }) => height === 1),
    "the same count is the same height",
  );
  t.equal(
    bars.reduce((sum, { total }) => sum + total, 0),
    610,
    "no event is left out",
  );
  t.equal(bars.at(-1)!.stopMs, NOW);
  for (const [i, bar] of bars.slice(1).entries()) t.equal(bar.startMs, bars[i]!.stopMs, "without gaps");
  t.strictSame(
    barsOf(histogramOf([], range, 61), range).map(({ height }) => height),
    new Array(61).fill(0),
    "nothing",
  );
});

t.test("the levels of a bar share its height", async (t) => {
  const rows: readonly (readonly [name: string, counts: readonly (readonly [Level, number])[], pixels: string])[] = [
    [
      "half of few events are errors",
      [
        ["info", 6],
        ["error", 3],
        ["emergency", 3],
      ],
      "info 2, error 1, emergency 1",
    ],
    [
      "all of few events are errors",
      [
        ["error", 6],
        ["critical", 6],
      ],
      "error 2, critical 2",
    ],
    [
      "few events without errors",
      [
        ["debug", 1],
        ["info", 2],
      ],
      "debug 1.33, info 2.67",
    ],
    [
      "each level of few events",
      [
        ["info", 1],
        ["error", 1],
        ["critical", 1],
        ["alert", 1],
        ["emergency", 1],
      ],
      "info 1, error 1, critical 1, alert 1, emergency 1",
    ],
    [
      "an error among many events",
      [
        ["info", 500],
        ["warning", 499],
        ["error", 1],
      ],
      "info 29.03, warning 28.97, error 2",
    ],
    [
      "as many errors",
      [
        ["info", 500],
        ["error", 500],
      ],
      "info 30, error 30",
    ],
  ];
  for (const [name, counts, pixels] of rows) {
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const bar: Bar = { startMs: 0, stopMs: 1, total, byLevel: new Map(counts), height: total / 1_000 };
    const heights = [...levelHeights(bar, 60)].map(([level, height]) => `${level} ${Math.round(height * 100) / 100}`);
    t.equal(heights.join(", "), pixels, name);
  }
});

t.test("a histogram goes on", async (t) => {
  const range = { startMs: NOW - 600_000, stopMs: NOW };
  const before = histogramOf([{ timestamp: "2026-11-25T12:34:50Z", level: "info", count: 3 }], range, 61);
  t.equal(before.stepMs, 10_000 + 5_000 > before.stepMs ? before.stepMs : 0);
  const step = Math.floor(NOW / before.stepMs) * before.stepMs;
  const after = grown(before, [event("a", NOW, "error"), event("b", NOW + 20_000)], NOW + 20_000, 600_000);
  t.equal(after.total, 5);
  t.strictSame(
    [...after.byLevel],
    [
      ["info", 4],
      ["error", 1],
    ],
  );
  t.equal(after.steps.find(({ startMs }) => startMs === step)?.total, 4, "what was there and what came");
  const late = grown(after, [], NOW + 700_000, 600_000);
  t.equal(late.total, 0, "what has left the range is gone");
  t.ok(late.steps.length <= 61);
});

t.test("events that arrive", async (t) => {
  const ids = (all: Arrivals) => all.shownEvents.map(({ id }) => id);
  const all = new Arrivals();
  for (const id of ["a", "b", "c"]) all.push(event(id, NOW));
  t.strictSame(ids(all), [], "what waits is not shown");
  t.equal(all.waiting, 3);
  t.strictSame(
    all.takeNew().map(({ id }) => id),
    ["a", "b", "c"],
  );
  t.strictSame(all.takeNew(), []);
  t.equal(all.show(), true);
  t.strictSame(ids(all), ["c", "b", "a"]);
  all.push(event("d", NOW));
  const mark = all.total;
  all.push(event("e", NOW));
  all.push(event("f", NOW));
  t.equal(all.show(), true);
  // The list was read anew after d had arrived, and e was in it already.
  all.rebase(mark, ({ id }) => id === "e");
  t.strictSame(ids(all), ["f"]);
  all.push(event("g", NOW));
  t.equal(all.waiting, 1);
  all.rebase(0, () => false);
  t.strictSame(ids(all), ["f"], "what waits goes on waiting");
  t.equal(all.waiting, 1);

  const many = new Arrivals();
  for (let i = 0; i < MOST_ARRIVED * 3; i++) many.push(event(`e${i}`, NOW));
  t.equal(many.waiting, MOST_ARRIVED * 3, "all are counted");
  t.equal(many.show(), false, "and the list has to be read anew");
  t.ok(many.shownEvents.length <= MOST_ARRIVED);
  t.equal(many.shownEvents[0]!.id, `e${MOST_ARRIVED * 3 - 1}`);
});

t.test("a query in colours", async (t) => {
  const piece = (text: string, problems: Parameters<typeof colouredPieces>[1] = []) =>
    colouredPieces(text, problems).map(({ text, type, isWrong }) => `${isWrong ? "!" : ""}${type}:${text}`);
  t.strictSame(piece("status >= 500"), ["property:status", ":" + " ", "operator:>=", ": ", "number:500"]);
  t.strictSame(piece("a>5ms"), ["property:a", "operator:>", "number:5", "number:ms"], "a unit is of its number");
  t.strictSame(piece("5 ms").at(-1), "property:ms", "another word is not");
  const parsed = parsePipeline("status >> 500");
  t.equal(parsed.ok, false);
  const problems = parsed.ok ? [] : parsed.problems;
  t.ok(
    piece("status >> 500", problems).some((one) => one.startsWith("!")),
    "what is wrong is marked",
  );
  t.strictSame(piece("", problems), []);
});

t.test("the colours change no text", async () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, (query) => {
      const parsed = parsePipeline(query);
      const pieces = colouredPieces(query, parsed.ok ? [] : parsed.problems);
      t.equal(pieces.map((piece) => piece.text).join(""), query);
    }),
  );
});

t.test("what the language says begins as a sentence, unless it begins with a word of the language", async (t) => {
  const rows = [
    ['there is no stage "foo"', 'There is no stage "foo"'],
    ["write avg(duration).", "Write avg(duration)"],
    ["avg() takes numbers, and message is none", "avg() takes numbers, and message is none"],
    ["top takes one field", "top takes one field"],
    ['by is missing before "path"', 'by is missing before "path"'],
    ["topmost", "Topmost"],
    ['"=>" is not an operator', '"=>" is not an operator'],
    ["", ""],
  ] as const;
  for (const [text, wanted] of rows) t.equal(sentence(text), wanted, text);
});

t.test("completion puts its text in and the cursor after it", async (t) => {
  const item = (insertText: string, start: number, end: number, snippet?: string) => ({
    ...{ label: insertText, kind: "field", insertText, span: { start, end }, sort: "", detail: "" },
    ...(snippet !== undefined && { snippet }),
  });
  const rows: readonly (readonly [string, ReturnType<typeof item>, string])[] = [
    ["sta", item("status", 0, 3), "status|"],
    ["a = 1 and sta", item("status", 10, 13), "a = 1 and status|"],
    ["top", item("top  by ", 0, 3, `top $${"{1:10}"} by $2`), "top | by "],
    ["x", item("a$b", 0, 1, "a\\$b$0"), "a$b|"],
    ["| ti", { ...item("timeseries", 2, 4), kind: "keyword" }, "| timeseries |"],
    ["| ti 5m", { ...item("timeseries", 2, 4), kind: "keyword" }, "| timeseries| 5m"],
    ["a con", { ...item("contains", 2, 5), kind: "operator" }, "a contains |"],
  ];
  for (const [text, one, wanted] of rows) {
    const { text: result, cursor } = completed(text, one as never);
    t.equal(`${result.slice(0, cursor)}|${result.slice(cursor)}`, wanted, text);
  }
});

t.test("the query of the request of an event", async (t) => {
  const rows: readonly (readonly [Event["fields"], string | undefined])[] = [
    [{ id: "req_1" }, 'fields.id = "req_1"'],
    [{ request_id: "r-777" }, 'request_id = "r-777"'],
    [{ request: { id: 7 } }, "request.id = 7"],
    [{ id: "a", request_id: "b" }, 'fields.id = "a"'],
    [{ id: "", trace_id: 't"1' }, 'trace_id = "t\\"1"'],
    [{ user_id: "u" }, undefined],
  ];
  for (const [fields, query] of rows)
    t.equal(requestQuery({ ...event("a", NOW), fields }), query, JSON.stringify(fields));
});

t.test("which saved search is on the screen", async (t) => {
  const searches = [
    { name: "Errors", query: "error" },
    { name: "Errors again", query: " error " },
    { name: "Slow", query: "duration > 1s" },
    { name: "Hidden", query: 'a = "b\u202e"' },
  ];
  const opened = (name: string, isChanged = false) => ({ name, isChanged });
  const rows: readonly (readonly [string, ReturnType<typeof opened> | undefined, unknown])[] = [
    ["", undefined, undefined],
    ["error", undefined, opened("Errors")],
    ["error", opened("Errors again"), opened("Errors again")],
    ["error path = /a", opened("Errors"), opened("Errors", true)],
    ["error path = /a", undefined, undefined],
    ["error", opened("Errors", true), opened("Errors")],
    ["duration > 1s", opened("Errors", true), opened("Slow")],
    [" ", opened("Errors"), undefined],
    [visibleQuery('a = "b\u202e"'), undefined, opened("Hidden")],
  ];
  for (const [query, before, after] of rows) t.strictSame(openedSearch(searches, query, before), after, query);
});

t.test("what may have been meant by a query that finds nothing", async (t) => {
  const fields = ["request_id", "path", "user.email", "status"];
  const rows: readonly (readonly [string, Partial<Record<"words" | "queries" | "texts", readonly string[]>>])[] = [
    ["card", { words: ["card"], queries: ['message contains "card"', "message ~ /card/i"], texts: ["card"] }],
    ["path", { queries: ['message contains "path"', "message ~ /path/i"], texts: ["path"] }],
    ['"r-777"', { queries: ['message contains "r-777"', "message ~ /r-777/i"], texts: ["r-777"] }],
    ["statsu >= 500", { queries: ["status >= 500"] }],
    ["user = 5", {}],
    ["path = /API", { queries: ["path ~ /^\\/API$/i"] }],
    ["not card", { words: ["card"], queries: ['message contains "card"', "message ~ /card/i"] }],
    ["status >=", {}],
    ["status = 50O", { queries: ["status = 500", "status ~ /^50O$/i"] }],
    [
      "status >= 500 adn status < 600",
      { queries: ["status >= 500 and status < 600", 'message contains "adn"', "message ~ /adn/i"], texts: ["adn"] },
    ],
  ];
  for (const [query, { words = [], queries = [], texts = [] }] of rows) {
    const answer = nearAnswer(query, fields);
    t.strictSame(answer.words, words, query);
    t.strictSame(
      answer.queries.map(({ term }) => term),
      queries,
      query,
    );
    t.strictSame(
      answer.texts.map(({ text }) => text),
      texts,
      query,
    );
  }
  t.strictSame(nearAnswer("status >= 500 status < 400", fields).reasons, [
    "no entry satisfies both of status >= 500 and status < 400: write or between them for entries with either of them",
  ]);
  t.strictSame(nearAnswer("error adn path = a", fields).words, [], "the reason says what was meant");
  const types = [{ name: "status", type: "number", count: 812 } as const];
  const mistyped = nearAnswer('status = "404"', fields, types);
  t.strictSame(mistyped.reasons, ['status is a number in all of 812 events; "404" is a text: did you mean 404?']);
  t.equal(mistyped.queries[0]?.source, "status = 404");
  t.strictSame(nearAnswer("statsu >= 500 cart not pth = 1", fields).unknown, ["statsu", "pth"]);
  const [text] = nearAnswer('status = 500 "r-777"', ["request_id", "path"]).texts;
  t.equal(text!.anywhere, 'status = 500 (request_id contains "r-777" or path contains "r-777")');
  t.equal(text!.fields[0]!.is.source, 'status = 500 request_id = "r-777"');
  t.equal(text!.fields[1]!.has.source, 'status = 500 path contains "r-777"');
});

t.test("nothing hides in a text", async (t) => {
  const partsOf = (text: string, keepsLines = false) =>
    visibleParts(text, { keepsLines }).map(({ text, isOdd }) => (isOdd ? `[${text}]` : text));
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["plain", ["plain"]],
    ["a\u202Eb", ["a", "[U+202E]", "b"]],
    ["a\u200bb", ["a", "[U+200B]", "b"]],
    ["\u001b[31mred", ["[␛]", "[31mred"]],
    ["a\nb\r\nc\td", ["a", "[↵]", "b", "[↵]", "c", "[⇥]", "d"]],
    ["\0\u0007", ["[␀]", "[␇]"]],
    ["שלום", ["שלום"]],
    // The joiner of emoji is part of what is seen.
    ["👩‍👧", ["👩‍👧"]],
  ];
  for (const [text, parts] of rows) t.strictSame(partsOf(text), parts, JSON.stringify(text));
  t.strictSame(partsOf("a\nb\tc\u202E", true), ["a\nb\tc", "[U+202E]"], "lines stay lines");
});

t.test("the value of a field by its name", async (t) => {
  const one = {
    ...event("a", NOW),
    fields: { status: 500, user: { email: "a@b" }, "a.b": 1, items: [{ id: 7 }], message: "own", level: null },
  };
  const rows: readonly (readonly [string, unknown])[] = [
    ["status", 500],
    ["user.email", "a@b"],
    ['fields["a.b"]', 1],
    ["items[0].id", 7],
    ["fields.message", "own"],
    ["message", "message a"],
    ["level", "info"],
    ["none", undefined],
    ["constructor", undefined],
    ["user.toString", undefined],
  ];
  for (const [name, value] of rows) t.strictSame(valueAt(one, name), value, name);
  t.strictSame([undefined, null, "", 1, { a: [1] }].map(textOfValue), ["", "null", "", "1", '{"a":[1]}']);
});

t.test("a column is as wide as its values and its name", async (t) => {
  const event = (fields: Event["fields"]): Event => ({
    ...{ id: "1", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "" },
    fields,
  });
  const id = "0f0e8f9c-9f55-4c5c-8d5a-3f5d1c0a7a11";
  const events = [event({ status: 200, id, n: 1 }), event({ status: 503, id, text: "x".repeat(5_000) })];
  const layoutOf = (...names: string[]) => columnLayout(names, events, false);
  const widthOf = (name: string, of = events) =>
    /^102px 66px (.*) minmax\(200px, 1fr\)$/.exec(columnLayout([name], of, false).tracks)?.[1];
  t.equal(widthOf("n"), "minmax(48px, 48px)", "the least");
  t.equal(widthOf("status"), "minmax(63px, 63px)", "the name");
  t.equal(widthOf("id"), "minmax(90px, 263px)", "an id is whole where there is room");
  t.equal(widthOf("text"), "minmax(90px, 270px)", "the most");
  t.equal(widthOf("gone"), "minmax(48px, 48px)");
  t.equal(widthOf("a rather long name of a field that nobody needs", []), "minmax(90px, 270px)");
  t.same(layoutOf("n", "id"), {
    tracks: "102px 66px minmax(48px, 48px) minmax(90px, 263px) minmax(200px, 1fr)",
    least: 14 + 102 + 10 + 66 + 10 + 48 + 10 + 90 + 10 + 200 + 14,
  });
  t.same(layoutOf(), { tracks: "102px 66px minmax(200px, 1fr)", least: 0 }, "what has no columns is never wider");
  t.match(columnLayout([], events, true), { tracks: /^150px / });
});

t.test("a cell without a value is told from a text", async (t) => {
  const rows = [
    [null, "(none)"],
    [undefined, "(none)"],
    ["(none)", '"(none)"'],
    ["none", "none"],
    [["(none)"], '["(none)"]'],
  ] as const;
  for (const [value, text] of rows) t.equal(cellText(value), text);
});

t.test("what a result is drawn as", async (t) => {
  const column = (name: string, type: string) => ({ name, type, unit: "", is_estimate: false });
  const result = (types: readonly string[], rows: unknown[][]) =>
    ({ columns: types.map((type, i) => column(`${type}${i}`, type)), rows }) as unknown as AggregateResponse;
  const groups = result(
    ["value", "number"],
    [
      ["a", 1],
      [null, 2],
    ],
  );
  const times = result(
    ["time", "value", "number"],
    [
      ["2026-11-25T00:01:00Z", "b", 5],
      ["2026-11-25T00:00:00Z", "a", 1],
    ],
  );
  const rows: readonly (readonly [string, AggregateResponse, string, readonly string[]])[] = [
    ["groups", groups, "bars", ["table", "bars"]],
    ["times", times, "lines", ["table", "lines"]],
    ["one number", result(["number"], [[1]]), "table", ["table"]],
    ["nothing", result(["value", "number"], []), "table", ["table"]],
    ["two groups", result(["value", "level", "number"], [["a", "error", 1]]), "table", ["table", "bars"]],
  ];
  for (const [name, of, best, all] of rows) {
    t.equal(drawingOf(of), best, name);
    t.strictSame([...drawingsOf(of)], all, name);
  }
  const { times: at, series, left } = seriesOf(times);
  t.strictSame(at, [Date.parse("2026-11-25T00:00Z"), Date.parse("2026-11-25T00:01Z")]);
  t.strictSame(series, [
    { name: "b", values: [null, 5] },
    { name: "a", values: [1, null] },
  ]);
  t.equal(left, 0);
  const minute = (at: number) => `2026-11-25T00:0${at}:00Z`;
  const steps = result(
    ["time", "number"],
    [0, 1, 2, 3, 4].map((at) => [minute(at), at]),
  );
  const ms = (at: number) => Date.parse(minute(at));
  for (const [startMs, stopMs, from, to, isCut] of [
    [ms(0), ms(5) - 1, 0, 4, false],
    [ms(0), ms(4) + 30_000, 0, 3, true],
    [ms(0) + 1, ms(5), 1, 4, true],
  ] as const) {
    const drawn = seriesOf(steps, { startMs, stopMs });
    t.strictSame([drawn.times.at(0), drawn.times.at(-1), drawn.isCut], [ms(from), ms(to), isCut]);
    t.strictSame([drawn.series[0]!.values.at(0), drawn.series[0]!.values.at(-1)], [from, to]);
  }
  t.strictSame(groupOfRow(groups, ["a", 1]), [["value0", "a"]]);
  t.equal(groupOfRow(result(["number"], [[1]]), [1]), undefined);
});

const NO_COMMON: ReadonlyMap<string, string> = new Map();
const rowText = (event: Event, options: Partial<Parameters<typeof rowLine>[1]> = {}): string => {
  const { parts, fields } = rowLine(event, { common: NO_COMMON, isWrapped: false, ...options });
  return [...parts.map(({ text }) => text), ...fields.map(([name, text]) => `${name}=${text}`)].join(" ");
};

t.test("an event of any sender as a row of the list", (t) => {
  const record = recorderOf("summary.json", summaryRows);
  for (const vector of summaryRows) {
    const { timestamp, message, fields } = readEntryLine(vector.line).entry;
    const row = rowText({ ...event("1", NOW), timestamp, message, fields });
    record(vector, { row });
    t.equal(row, vector.row, vector.name);
  }
  t.end();
});

t.test("a row with room for several lines has the message whole, unless its fields say it", (t) => {
  const rows: readonly (readonly [message: string, fields: Event["fields"], row: string])[] = [
    ["E: x\n    at a.js:1", {}, "E: x\n    at a.js:1"],
    ["GET /a 200 12 - 3.214 ms", {}, "GET /a 200 12 - 3.214 ms"],
    ["request", { method: "GET", path: "/a", status: 200 }, "GET /a 200"],
  ];
  for (const [message, fields, row] of rows) {
    t.equal(rowText({ ...event("1", NOW), message, fields }, { isWrapped: true }), row, message);
  }
  t.end();
});

t.test("fields that a row says already, and those that all rows have", (t) => {
  const rows: readonly (readonly [message: string, fields: Event["fields"], row: string])[] = [
    ["user 7 signed in", { user: 7 }, "user 7 signed in"],
    ["17 users signed in", { user: 7 }, "17 users signed in user=7"],
    ["sent", { host: "a", region: "eu" }, "sent region=eu"],
    ["sent", { host: "b", region: "eu" }, "sent host=b region=eu"],
    ["sent", { region: "eu" }, "sent region=eu"],
  ];
  for (const [message, fields, row] of rows) {
    const common = new Map([["host", "a"]]);
    t.equal(rowText({ ...event("1", NOW), message, fields }, { common }), row, `${message} ${JSON.stringify(fields)}`);
  }
  t.end();
});

t.test("the fields that all events have in common", (t) => {
  const rows: readonly (readonly [name: string, fields: readonly Event["fields"][], common: string])[] = [
    ["the same in all", [{ host: "a", n: 1 }, { host: "a", n: 2 }, { host: "a" }], "host=a"],
    ["two events are too few", [{ host: "a" }, { host: "a" }], ""],
    ["one lacks it", [{ host: "a" }, { host: "a" }, {}], ""],
    ["one has another", [{ host: "a" }, { host: "a" }, { host: "b" }], ""],
    [
      "numbers and booleans",
      [
        { pid: 7, tty: false },
        { pid: 7, tty: false },
        { pid: 7, tty: false },
      ],
      "pid=7 tty=false",
    ],
    ["a text and a number of the same digits are alike", [{ pid: 7 }, { pid: "7" }, { pid: 7 }], "pid=7"],
    ["objects are none", [{ user: { id: 1 } }, { user: { id: 1 } }, { user: { id: 1 } }], ""],
    ["nothing of the prototype", [{ toString: "a" }, {}, {}], ""],
    ["of a summary", [{ method: "GET", path: "/", status: 200, host: "a" }, { host: "a" }, { host: "a" }], "host=a"],
    ["of every summary", [1, 2, 3].map((id) => ({ method: "GET", path: "/", status: 200, id, host: "a" })), "host=a"],
  ];
  for (const [name, fields, common] of rows) {
    const events = fields.map((fields, i) => ({ ...event(String(i), NOW), message: "request", fields }));
    t.equal([...commonFields(events)].map((pair) => pair.join("=")).join(" "), common, name);
  }
  t.end();
});

t.test("the fields that all events of one source have are the last of a row", (t) => {
  const of = (stage: string, version: number, n: number) => ({ stage, version, n });
  const rows: readonly (readonly [name: string, fields: readonly Event["fields"][], row: string])[] = [
    [
      "beside another sender",
      [of("a", 1, 1), of("a", 1, 2), of("a", 1, 3), { host: "x" }],
      "sent n=1 stage=a version=1",
    ],
    [
      "of two stages",
      [of("a", 1, 1), of("b", 2, 1), of("a", 1, 2), of("b", 2, 2), of("a", 1, 3), of("b", 2, 3)],
      "sent n=1 stage=a version=1",
    ],
    ["one has another", [of("a", 1, 1), of("a", 1, 2), of("a", 2, 3)], "sent version=1 n=1 stage=a"],
    ["two events are too few", [of("a", 1, 1), of("a", 1, 2), { host: "x" }], "sent stage=a version=1 n=1"],
    [
      "where there is no room for all",
      [1, 2, 3].map((n) => ({ stage: "a", a: n, b: n, c: n, d: n, e: n, f: n, g: n, h: n })),
      "sent a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1",
    ],
  ];
  for (const [name, fields, row] of rows) {
    const events = fields.map((fields, i) => ({ ...event(String(i), NOW), message: "sent", fields }));
    t.equal(rowText(events[0]!, { settled: settledFields(events)(events[0]!) }), row, name);
  }
  t.end();
});

t.test("a request is folded into the row of its response", (t) => {
  const half = (id: string, message: string, fields: Event["fields"]): Event => ({
    ...event(id, NOW),
    message,
    fields,
  });
  const target = { method: "GET", path: "/a", query: "" };
  const request = half("1", "request", { ...target, id: "a" });
  const response = half("2", "response", { ...target, id: "a", status: 200 });
  const question = half("3", "incoming request", { reqId: "req-1", req: { method: "GET", url: "/b" } });
  const answer = half("4", "request completed", { reqId: "req-1", res: { statusCode: 404 } });
  const rows: readonly (readonly [name: string, events: readonly Event[], shown: readonly string[]])[] = [
    ["both", [response, request], ["GET /a 200"]],
    ["both, the oldest first", [request, response], ["GET /a 200"]],
    ["a request that has no response yet", [request], ["GET /a"]],
    ["a response whose request is further down", [response], ["GET /a 200"]],
    ["another event between them", [response, event("7", NOW), request], ["GET /a 200", "message 7"]],
    ["of Fastify: the request says what the response lacks", [answer, question], ["GET /b 404"]],
    ["of Fastify, apart", [answer], ["request completed 404 reqId=req-1"]],
    [
      "an id that two requests have",
      [answer, { ...question, id: "5" }, question],
      ["request completed 404 reqId=req-1", "GET /b", "GET /b"],
    ],
  ];
  for (const [name, events, shown] of rows) {
    const fold = foldOf(events);
    const seen = events.filter((event) => !fold.isFolded(event));
    t.same(
      seen.map((event) => rowText(event, { request: fold.requestOf(event) })),
      shown,
      name,
    );
    t.equal(fold.count, events.length - seen.length, `${name}: the count`);
  }
  t.end();
});
