// The newest events, which are kept as lines: what a filter passes over, ids that are looked for, and what restarts.
import t from "tap";
import { parsePipeline, parseQuery } from "../../../grammar/query/index.ts";
import { parseTimestamp } from "../../../grammar/query/timestamp.ts";
import { pageInMemory } from "../../../logservice/events/duckdb/query/memory-page.ts";
import { MemoryGroups, needsGroupsOnly } from "../../../logservice/events/duckdb/query/pipeline/memory-groups.ts";
import { groupPlan } from "../../../logservice/events/duckdb/query/pipeline/plan.ts";
import { type QueryContext, selectionOf } from "../../../logservice/events/duckdb/query/query-context.ts";
import type { PageBounds } from "../../../logservice/events/duckdb/query/rows.ts";
import { isCanonical, isStorableTimestamp, nanosecondsOf, readInstant } from "../../../logservice/events/instant.ts";
import {
  type BatchLines,
  decodeBatch,
  encodeBatch,
  eventAt,
  lastIndexOf,
} from "../../../logservice/events/journal/batch-lines.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import { lineFilter } from "../../../logservice/events/line-filter.ts";
import { MemtableEvents } from "../../../logservice/events/memtable.ts";
import { ColumnBudget } from "../../../logservice/events/memtable-columns.ts";
import { comparePositions, type EventPosition, type PositionedEvent } from "../../../logservice/events/order.ts";
import { ParsedEvents } from "../../../logservice/events/parsed-events.ts";
import type { NewEvent, TailItem } from "../../../logservice/events/store.ts";
import { MAX_WAITING, openTail, Tails } from "../../../logservice/events/tail.ts";
import { compareFilter } from "../../support/events/filter-fuzz.ts";

const TIME = "2024-05-01T11:00:00.000Z";
const event = (message: string, more: Partial<NewEvent> = {}): NewEvent => ({
  timestamp: TIME,
  level: "info",
  message,
  fields: {},
  ...more,
});
const linesOf = (firstSequence: number, ...events: NewEvent[]): BatchLines =>
  encodeBatch("app", firstSequence, events.map(encodeEvent));

function filterOf(source: string) {
  const parsed = parseQuery(source);
  if (!parsed.ok) throw new Error(`${source}: ${parsed.problems[0]!.message}`);
  return lineFilter(parsed.value, Date.parse(TIME));
}

t.test("what a query passes over", async (t) => {
  const lines = linesOf(
    1,
    event("no error", { fields: { status: 200 } }),
    event("an error", { level: "error", fields: { status: 500, user: { email: "a@b" } } }),
    event('"quoted"', { id: "000000000001", fields: { status: "500", tags: ["errors"] } }),
    event("m\u00e9 \u0000", { timestamp: "2024-05-01T11:00:00Z", fields: { "status=": 500 } }),
    event("level in mixed case", { level: "ErroR", fields: { l: "fatal" } }),
  );
  const rows: [string, number[] | undefined][] = [
    ["level = err", [1, 4]],
    ["level > error", []],
    ["critical", []],
    ["status >= 500", [1]],
    ["status = 200", [0]],
    // Digits may be a text.
    ["status = 500", [1, 2]],
    ["status = 50", []],
    ["status = 5000", []],
    ["status in (200, 500)", [0, 1, 2]],
    ['user.email = "a@b"', [1]],
    ["level = error and message contains an", [1, 4]],
    ['"m\u00e9"', [3]],
    ["absent = 1", []],
    ["level >= info", undefined],
    ["not status = 200", undefined],
    ['id = "000000000001"', undefined],
    ['id = "000000000002" or status = 200', undefined],
    ["timestamp > 1h", undefined],
  ];
  for (const [source, places] of rows) t.same(filterOf(source)?.(lines), places, source);
});

t.test("no event is lost between a filter and its predicate, and columns select the same ones", async (t) => {
  const count = Number(process.env.FILTER_PAIRS ?? 200_000);
  const seed = Number(process.env.FUZZ_SEED ?? 3);
  const { pairs, selected, passed, filtered, lost, byColumns, different } = await compareFilter(count, seed);
  t.same(lost.slice(0, 5), []);
  t.same(different.slice(0, 5), []);
  t.ok(byColumns > pairs / 4, `${byColumns} of ${pairs} pairs were decided by columns`);
  t.ok(selected > pairs / 500, `${selected} of ${pairs} pairs were selected behind a filter`);
  t.ok(passed < filtered / 2, `${passed} of ${filtered} passed a filter`);
});

t.test("lines that are read back are those that were printed", async (t) => {
  const events = [
    event("a"),
    event("\u00e9\n", { id: "x", timestamp: "1969-12-31T23:59:59.5+01:00", level: "fatal", fields: { a: ["\u2028"] } }),
    event("c", { timestamp: "1678-01-01T00:00:00.123Z" }),
    event("d", { timestamp: "2261-12-31T23:59:59.999Z" }),
  ];
  const printed = linesOf(1, ...events);
  const { lines, events: stored } = decodeBatch("app", 1, printed.body);
  t.same(lines, printed);
  for (const [i, { id = `00000000000${1 + i}`, timestamp, level, message, fields }] of events.entries()) {
    t.same(stored[i]!.event, { id, timestamp, level, message, fields });
    t.same(eventAt(printed, i), stored[i]);
    t.equal(stored[i]!.ms, printed.times[i]);
    t.equal(stored[i]!.bytes, Buffer.byteLength(JSON.stringify(stored[i]!.event)));
  }
});

t.test("times are read in a known minute as in any other", async (t) => {
  const seconds = ["00", "07", "59", "60", "61", "6x", "x0"];
  const fractions = [
    "",
    ".0",
    ".5",
    ".069",
    ".999",
    ".1234",
    ".123456",
    ".123456789",
    ".9995",
    ".000000001",
    ".",
    ".x",
  ];
  const minutes = ["2024-05-01T11:00", "1970-01-01T00:00", "1979-12-31T23:59", "1980-01-01T00:00", "2261-12-31T23:59"];
  for (const minute of minutes) {
    const texts = seconds.flatMap((second) =>
      fractions.flatMap((fraction) => ["Z", "z", "+00:00"].map((zone) => `${minute}:${second}${fraction}${zone}`)),
    );
    const read = (text: string) =>
      isStorableTimestamp(text)
        ? { ms: parseTimestamp(text), nanoseconds: nanosecondsOf(text), isCanonical: isCanonical(text) }
        : undefined;
    // The first round makes the minute known.
    const actual = [readInstant(`${minute}:00Z`), ...texts.map(readInstant)].slice(1);
    t.same(actual, texts.map(read), minute);
  }
  const begin = Date.parse(TIME);
  const events = Array.from({ length: 2000 }, (_, i) =>
    event("", { timestamp: new Date(begin + i * 12_345_678_9).toISOString() }),
  );
  const { body } = linesOf(1, ...events);
  const back = decodeBatch("app", 1, body).events.map((stored) => stored.event.timestamp);
  t.same(
    back,
    events.map(({ timestamp }) => timestamp),
  );
});

t.test("halves of surrogate pairs are not written", async (t) => {
  const lines = linesOf(
    1,
    event("a\ud800", { id: "\udc00", fields: { "\ud800": ["\udbff", "\\ud800", "\ud83d\ude00"] } }),
  );
  const { id, message, fields } = eventAt(lines, 0).event;
  t.same(
    { id, message, fields },
    { id: "\ufffd", message: "a\ufffd", fields: { "\ufffd": ["\ufffd", "\\ud800", "\ud83d\ude00"] } },
  );
});

t.test("the last event of an id", async (t) => {
  const lines = linesOf(
    35,
    event("a", { id: "own" }),
    event("b"),
    event("c", { id: 'q"\u00e9' }),
    event("d", { id: "00000000000z" }),
    event("e", { id: "own" }),
    event("f", { id: "x", fields: { i: "own", text: '"i":"own",' } }),
  );
  const rows: [string, number][] = [
    ["own", 4],
    ["000000000010", 1],
    ['q"\u00e9', 2],
    // The id that the first had if it had none of its own.
    ["00000000000z", 3],
    ["000000000011", -1],
    ["000000000014", -1],
    ["00000000000y", -1],
    ["10", -1],
    ["", -1],
  ];
  for (const [id, index] of rows) t.equal(lastIndexOf(lines, id), index, id);
});

t.test("a tail goes on behind an id, as far as it is known", async (t) => {
  const list = new MemtableEvents();
  list.add(linesOf(1, event("a", { id: "1" }), event("b", { id: "2" })));
  list.add(linesOf(3, event("c"), event("d", { id: "4" }), event("e")));
  const messages = async (
    afterId: string,
    lists: readonly MemtableEvents[],
    selects = (_: { message: string }) => true,
  ) => {
    const live = new Tails();
    const tail = openTail(live, { project: "app", selects, memtables: lists, afterId });
    const items: unknown[] = [];
    const last = lists.at(-1)!.batches.at(-1)!;
    for await (const item of tail as AsyncIterable<TailItem>) {
      items.push("event" in item ? item.event.message : item.dropped);
      if (items.at(-1) === last.at(last.length - 1).event.message) break;
    }
    return items;
  };
  t.same(await messages("1", [list]), ["b", "c", "d", "e"]);
  t.same(await messages("000000000003", [list]), ["d", "e"]);
  t.same(await messages("1", [list], ({ message }) => message !== "c"), ["b", "d", "e"]);
  t.same(await messages("none", [list]), [null, "a", "b", "c", "d", "e"]);

  const many = new MemtableEvents();
  many.add(linesOf(6, ...Array.from({ length: MAX_WAITING }, (_, i) => event(String(i)))));
  const behind = await messages("4", [list, many]);
  t.same([behind.length, behind[0], behind[1], behind.at(-1)], [MAX_WAITING + 1, 1, "0", String(MAX_WAITING - 1)]);
  const unknown = await messages("none", [list, many]);
  t.same([unknown[0], unknown[1]], [null, "0"]);
});

t.test("a page of what several senders sent at once reads the batches that can hold it", async (t) => {
  const BATCHES = 60;
  const EVENTS = 100;
  const rows: { name: string; senders: number; isShuffled?: boolean; at?: (batch: number) => number }[] = [
    { name: "one sender", senders: 1 },
    { name: "four senders whose batches interleave", senders: 4 },
    { name: "sixteen senders", senders: 16 },
    { name: "batches that are not in order themselves", senders: 4, isShuffled: true },
    { name: "batches that come the newest first", senders: 1, at: (batch) => BATCHES - batch },
    { name: "one batch of a clock that is a day ahead", senders: 2, at: (batch) => (batch === 3 ? 86_400 : batch) },
  ];
  for (const { name, senders, isShuffled, at } of rows) {
    await t.test(name, async (t) => {
      const events = new MemtableEvents();
      const all: string[] = [];
      for (let batch = 0; batch < BATCHES; batch++) {
        // Each sender's batch covers as many seconds as there are senders, so that all of a round overlap.
        const fromMs = Date.parse(TIME) + 1000 * (at?.(batch) ?? Math.floor(batch / senders) * senders);
        const sent = Array.from({ length: EVENTS }, (_, n) => {
          const place = isShuffled === true ? (n * 37) % EVENTS : n;
          const timestamp = new Date(fromMs + (place * 1000 * senders) / EVENTS).toISOString();
          all.push(timestamp);
          return event(`${batch} ${n}`, { timestamp, level: n % 10 === 0 ? "error" : "info" });
        });
        events.add(linesOf(1 + batch * EVENTS, ...sent));
      }
      for (const sign of [1, -1] as const) {
        const order = sign > 0 ? "the first" : "the last";
        const { page, parsed } = await pageOf(events, { sign, limit: 50, after: undefined });
        const expected = all.toSorted().slice(...(sign > 0 ? [0, 50] : [-50])) as string[];
        t.same(page.map(({ event }) => event.timestamp).toSorted(), expected, order);
        t.ok(parsed <= 50 * senders + senders, `${order}: ${parsed} of ${all.length} events were parsed`);
        const errors = await pageOf(events, { sign, limit: 5, after: undefined }, "level = error");
        t.equal(errors.page.length, 5);
        t.ok(errors.page.every(({ event }) => event.level === "error"));
      }
      for (const sign of [1, -1] as const) {
        const order = sign > 0 ? "the first" : "the last";
        // Pages that follow each other give each event once, in order, and do not read the earlier ones again.
        let after: EventPosition | undefined;
        const seen: PositionedEvent[] = [];
        do {
          const { page } = await pageOf(events, { sign, limit: 700, after });
          seen.push(...page);
          after = page.at(-1);
        } while (after !== undefined);
        t.equal(new Set(seen.map(({ event }) => event.message)).size, all.length, `${order}: all pages`);
        t.ok(
          seen.every((one, n) => n === 0 || sign * comparePositions(seen[n - 1]!, one) < 0),
          `${order}: in order`,
        );
      }
    });
  }
});

t.test("a page of few events is read by columns the second time", async (t) => {
  // None is kept as parsed.
  const budget = new ColumnBudget(undefined, new ParsedEvents(0));
  const events = new MemtableEvents(budget);
  let sent = 0;
  const send = (count: number) => {
    const batch = Array.from({ length: count }, (_, n) => {
      const timestamp = new Date(Date.parse(TIME) + sent + n).toISOString();
      return event(`${sent + n}`, { timestamp, fields: { user: { id: 1000 + sent + n, plan: n % 2 }, id: 9 } });
    });
    events.add(linesOf(1 + sent, ...batch));
    sent += count;
  };
  for (let batch = 0; batch < 10; batch++) send(100);
  const ask = async (query: string) => {
    const before = budget.linesParsed;
    const { page } = await pageOf(events, { sign: -1, limit: 10, after: undefined }, query);
    return { parsed: budget.linesParsed - before, messages: page.map(({ event }) => event.message) };
  };
  // The bytes of each line have what is asked, in another field.
  t.same(await ask("user.id = 9"), { parsed: 1000, messages: [] }, "all are read");
  t.same(await ask("user.id = 9"), { parsed: 1000, messages: [] }, "the column is made");
  t.same(await ask("user.id = 9"), { parsed: 0, messages: [] });
  t.same(await ask("user.id <= 1001"), { parsed: 2, messages: ["1", "0"] }, "another value of the same field");
  send(20);
  t.same(await ask("user.id = 2019"), { parsed: 21, messages: ["1019"] }, "of new events alone");
  for (let time = 0; time < 2; time++) {
    const { messages, parsed } = await ask("user.plan = 1");
    t.same([messages.length, parsed], [10, 10], "what is found soon needs no column");
  }
});

/** A page of events in memory, and how many events were parsed for it for the first time. */
async function pageOf(events: MemtableEvents, bounds: PageBounds, query?: string) {
  const parsed = query === undefined ? undefined : parseQuery(query);
  const nowMs = Date.parse(TIME);
  const range = {
    project: "app",
    startMs: nowMs - 1000,
    stopMs: nowMs + 100_000_000,
    query: parsed?.ok ? parsed.value : undefined,
  };
  const parse = JSON.parse;
  let count = 0;
  JSON.parse = (...args) => {
    count++;
    return parse(...args);
  };
  try {
    const context = {
      selection: selectionOf(range, nowMs),
      memtables: [{ events, length: events.length }],
      signal: new AbortController().signal,
      process: undefined,
      used: { bytes: 0, isScanned: false, files: new Set<string>() },
    };
    return { page: await pageInMemory(context as unknown as QueryContext, bounds), parsed: count };
  } finally {
    JSON.parse = parse;
  }
}

t.test("parsed events keep to their share of memory", (t) => {
  const budget = new ColumnBudget(undefined, new ParsedEvents(200_000));
  const { parsedEvents } = budget;
  const [one, two] = [new MemtableEvents(budget), new MemtableEvents(budget)];
  for (const events of [one, two])
    for (let batch = 0; batch < 10; batch++)
      events.add(linesOf(1 + batch * 20, ...Array.from({ length: 20 }, (_, n) => event("x".repeat(10 * n)))));
  const read = ({ batches }: MemtableEvents, ...some: number[]) => {
    const before = budget.linesParsed;
    for (const batch of some)
      for (let index = 0; index < 20; index++) {
        const { sequence } = batches[batch]!.at(index);
        if (sequence !== 1 + batch * 20 + index) t.fail(`${sequence} at ${batch}, ${index}`);
        if (parsedEvents.bytes > parsedEvents.mostBytes) t.fail(`${parsedEvents.bytes} bytes at ${batch}, ${index}`);
      }
    return budget.linesParsed - before;
  };
  t.equal(read(one, 0, 1, 2), 60);
  t.equal(read(one, 0, 1, 2), 0, "kept");
  const bytes = parsedEvents.bytes / 3;
  t.ok(bytes > 20 * 400, `${bytes} bytes a batch`);
  const most = Math.floor(parsedEvents.mostBytes / bytes);
  t.ok(most > 4 && most < 10, `${most} batches`);
  t.equal(read(one, ...Array(10).keys()), 140, "the others");
  t.equal(read(one, 9, 8), 0, "those that were read last are kept");
  t.equal(read(one, 0), 20, "the first is not");
  t.equal(read(one, 9, 8, 0), 0);
  t.equal(read(two, ...Array(most - 3).keys()), (most - 3) * 20, "of another memtable");
  t.equal(read(one, 0, 8, 9), 0, "the longest unused went");
  two.drop();
  t.equal(Math.round(parsedEvents.bytes / bytes), 3, "nothing is kept of events in segments");
  t.equal(read(two, 0, 0), 40, "nor of those that a question still reads");
  one.drop();
  t.equal(parsedEvents.bytes, 0);
  const small = new MemtableEvents(new ColumnBudget(undefined, new ParsedEvents(100)));
  small.add(linesOf(1, event("larger than the share")));
  t.equal(small.batches[0]!.at(0).event.message, "larger than the share");
  t.end();
});

t.test("SQL gets a row for each group of the newest events, however many values they have", (t) => {
  const rows: { query: string; fields: (n: number) => Record<string, unknown>; groups: number; inputs?: unknown }[] = [
    {
      query: "| stats avg(duration), max(duration), count() by service",
      fields: (n) => ({ service: `s${n % 7}`, duration: n / 3 }),
      groups: 7,
    },
    {
      query: "| stats sum(n)",
      fields: (n) => ({ n: [n, [n, "x"], null] }),
      groups: 1,
      inputs: { count: 2000, sum: 999_000, min: 0, max: 999, leftOut: 1000 },
    },
    { query: "| count by tags", fields: (n) => ({ tags: [n % 3, "all", n % 3] }), groups: 4 },
    {
      query: "| stats count(a) by b, c",
      fields: (n) => ({ a: n, b: n % 2 === 0, c: n % 5 === 0 ? undefined : "1" }),
      groups: 4,
    },
    {
      query: "| stats count() by v",
      fields: (n) => ({ v: [1, "1", true, "true", null, "null", -0, 0][n % 8] }),
      groups: 7,
    },
    {
      query: "| stats count() by o",
      fields: (n) => ({ o: n % 2 === 0 ? { a: 1, b: n % 4 } : { b: 1, a: n % 3 } }),
      groups: 5,
    },
    // Added in any order, the small ones would be lost.
    {
      query: "| stats sum(n)",
      fields: (n) => ({ n: n % 2 === 1 ? 1 : n % 4 === 0 ? 1e16 : -1e16 }),
      groups: 1,
      inputs: { sum: 1, lost: 499 },
    },
    { query: "| stats sum(n)", fields: () => ({ n: 1e308 }), groups: 2, inputs: { sum: Number.MAX_VALUE } },
    { query: "| timeseries 1h count() by service", fields: (n) => ({ service: n % 2 }), groups: 2 },
    { query: "| stats p95(n), distinct(n) by service", fields: (n) => ({ service: n % 2, n }), groups: 2 },
  ];
  for (const { query, fields, groups, inputs } of rows) {
    const parsed = parsePipeline(query);
    if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
    const plan = groupPlan(parsed.value.pipes, { startMs: 0, stopMs: 3_600_000 })!;
    t.ok(needsGroupsOnly(plan), query);
    const sums = new MemoryGroups(plan, plan.stepMs === undefined ? undefined : () => 0);
    for (let n = 0; n < 1000; n++)
      sums.add({ id: `${n}`, timestamp: TIME, level: "info", message: "", fields: fields(n) });
    const summed = sums.rows();
    t.equal(summed.length, groups, `${query}: ${groups} rows`);
    if (inputs !== undefined) t.match(summed[0]!.inputs[0], inputs as object, query);
  }
  for (const query of ["| stats first(a)", "| unique a", "| count by timestamp | sort timestamp"]) {
    const parsed = parsePipeline(query);
    if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
    t.notOk(needsGroupsOnly(groupPlan(parsed.value.pipes, { startMs: 0, stopMs: 1 })!), `${query} needs more`);
  }
  t.end();
});
