// Events on ClickHouse beyond what every store must answer: random queries against the predicate, texts that try to leave
// their quotation marks, and events that ClickHouse itself cannot read.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import t from "tap";
import { compilePredicate, parseQuery, printQuery, type Query } from "../../../grammar/query/index.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { openClickHouseEvents } from "../../../logservice/events/clickhouse/open.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import type { EventsQuery, NewEvent } from "../../../logservice/events/store.ts";
import { clickHouseDatabase, openClickHouse, withoutClickHouse } from "../../support/clickhouse/open.ts";
import { storable } from "../../support/events/storable.ts";
import { queries } from "../../support/query-arbitrary.ts";
import { generator, NOW_MS, nearLines } from "../../support/scan-fuzz.ts";
import { slow } from "../../support/slow.ts";

const COUNT = Number(process.env.FUZZ_COUNT ?? 60);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const nowMs = () => NOW_MS;
const span = { start: 0, end: 0 };
const { signal } = new AbortController();
const options = () => (withoutClickHouse ? { skip: withoutClickHouse } : slow());

const rangeOf = (query: Query | undefined, project = "app"): EventsQuery => ({
  ...{ project, query, signal },
  startMs: Number.NEGATIVE_INFINITY,
  stopMs: Number.POSITIVE_INFINITY,
});
const queryOf = (text: string) => {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problems[0]?.message}`);
  return parsed.value;
};
const event = (id: string, fields: NewEvent["fields"], more: Partial<NewEvent> = {}): NewEvent => ({
  ...{ id, timestamp: "2024-05-01T10:00:00.000Z", level: "info", message: "m", fields },
  ...more,
});

/** The event in the form that every store gives. */
const eventOf = ({ id = "", timestamp, level, message, fields }: NewEvent) => ({
  id,
  timestamp,
  level,
  message,
  fields,
});

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** So many queries share their events: each is also compared of those that nearly match the others. */
const QUERIES_PER_BATCH = 20;

t.test(`ClickHouse: ${COUNT} random queries select what the predicate does`, options(), async (t) => {
  const store = await openClickHouse(t, nowMs);
  const random = generator(SEED);
  let [compared, selected] = [0, 0];
  for (let batch = 0; compared < COUNT; batch++) {
    const project = `p${batch}`;
    const some = fc.sample(queries, { numRuns: QUERIES_PER_BATCH, seed: SEED + batch });
    const events = some
      .flatMap((query) => nearLines(query, random))
      .map((line, i) => eventOf(encodeEvent({ ...storable(line, batch % 2 === 0), id: `e${i}` })));
    await store.append(project, events);
    for (const query of some) {
      const selects = compilePredicate(query, { nowMs: NOW_MS });
      const expected = events.filter((one) => selects(one)).map(({ id }) => id);
      const range = rangeOf(query, project);
      const { events: page } = await store.search({ ...range, limit: 1000, order: "ascending" });
      const { count } = await store.count(range);
      compared++;
      selected += expected.length;
      const [own, right] = [page.map(({ id }) => id).sort(), expected.sort()].map((ids) => ids.join(" "));
      if (own !== right || count !== expected.length) t.fail(`${printQuery(query)}: ${own} (${count}) but ${right}`);
    }
    await store.deleteProject(project);
  }
  t.ok(selected > compared, `${selected} events of ${compared} queries`);
});

t.test("ClickHouse: a text is a value, whatever is in it", options(), async (t) => {
  const texts = [
    "",
    "'",
    "\\",
    "\\'",
    "' or 1 = 1 -- ",
    "\\' or 1 = 1 -- ",
    "'; DROP TABLE events_local; --",
    '/* */ # `"`',
    "{x:String} {{ }} ?",
    "\0",
    "a\0b",
    "\n\r\t\b\f\v",
    "%_\\%\\_",
    "\\0\\n\\x41\\N",
    "\u2028\u2029\ufeff\u{1f600}",
    "é".repeat(32 * 1024),
    "'".repeat(64 * 1024),
    "\\".repeat(64 * 1024 + 1),
  ];
  const store = await openClickHouse(t, nowMs);
  const events = texts.map((text, i) => event(`${i}:${text.slice(0, 20)}`, { text, [text]: i }, { message: text }));
  await store.append("app", events);
  const field = (path: readonly string[]) => ({
    path: path.map((key) => ({ kind: "key" as const, key, span })),
    span,
  });
  const selected = async (expr: Query["expr"]) => {
    const range = rangeOf({ source: "", expr });
    const { events: page } = await store.search({ ...range, limit: 100, order: "ascending" });
    t.equal((await store.count(range)).count, page.length);
    return page.map(({ message }) => texts.indexOf(message)).sort((a, b) => a - b);
  };
  for (const [i, text] of texts.entries()) {
    // The protocol of tests has lines of its own.
    const name = JSON.stringify(text.slice(0, 30)).replace(/[^ -~]/g, "_");
    const value = { kind: "string", chunks: [text], span } as const;
    const equal = { kind: "comparison", op: "=", operator: span, value, span } as const;
    t.same(await selected({ ...equal, field: field(["text"]) }), [i], `${name}: of a field`);
    t.same(await selected({ ...equal, field: field(["message"]) }), [i], `${name}: of the message`);
    t.same(await selected({ ...equal, field: field(["id"]), value: { ...value, chunks: [events[i]!.id!] } }), [i]);
    t.same(
      await selected({ kind: "exists", field: field(["fields", text]), operator: span, span }),
      [i],
      `${name}: key`,
    );
    const holding = texts.flatMap((one, at) => (one.includes(text) ? [at] : []));
    const contains = { kind: "contains", operator: span, text: value, span } as const;
    t.same(await selected({ ...contains, field: field(["text"]) }), holding, `${name}: part of a field`);
    t.same(await selected({ ...contains, field: field(["message"]) }), holding, `${name}: part of the message`);
    const around = { ...value, chunks: ["", text, ""] };
    t.same(await selected({ ...equal, field: field(["text"]), value: around }), holding, `${name}: between wildcards`);
    const [top] = (
      await store.stringFieldStats({ ...rangeOf(undefined), field: { at: "fields", path: ["text"] }, limit: 100 })
    ).values.filter(({ value }) => value === text);
    t.equal(top?.count, 1);
  }
  for (const text of ["\ud800", "a\udfff", "\ude00\ud83d"]) {
    const value = { kind: "string", chunks: [text], span } as const;
    const equal = { kind: "comparison", op: "=", operator: span, value, span } as const;
    t.same(await selected({ ...equal, field: field(["message"]) }), [], `${JSON.stringify(text)}: half a pair`);
    t.same(await selected({ ...equal, field: field(["fields", text]) }), [], `${JSON.stringify(text)}: as a key`);
  }
  await store.deleteProject("'; DROP TABLE events_local; --");
  t.equal((await store.projectStats("app")).eventsTotal, texts.length);
});

t.test("ClickHouse: events of which it cannot read the fields", options(), async (t) => {
  const store = await openClickHouse(t, nowMs);
  const nested = JSON.parse(`${'{"a":'.repeat(1100)}1${"}".repeat(1100)}`);
  await store.append("app", [
    event("1", { big: 1e20, status: 500 }),
    event("2", { big: 2 ** 64, status: 200, tags: ["a"] }),
    event("3", { status: 500 }),
    event("4", { status: 200, deep: nested }),
    event("5", { status: 503, list: [1e20] }),
  ]);
  const idsOf = async (text: string, limit = 10) => {
    const range = rangeOf(queryOf(text));
    const { events, cursor } = await store.search({ ...range, limit, order: "ascending" });
    if (limit === 10) t.equal((await store.count(range)).count, events.length, text);
    t.equal(cursor, undefined);
    return events.map(({ id }) => id).join(" ");
  };
  t.equal(await idsOf("status >= 500"), "1 3 5");
  t.equal(await idsOf("status >= 500", 3), "1 3 5");
  t.equal(await idsOf("not status >= 500"), "2 4");
  t.equal(await idsOf("big > 1e19"), "1 2");
  t.equal(await idsOf("not exists big"), "3 4 5");
  t.equal(await idsOf("exists deep"), "4");
  const field = { at: "fields", path: ["status"] } as const;
  const { min, max, avg } = await store.numericFieldStats({ ...rangeOf(undefined), field });
  t.same({ min, max, avg }, { min: 200, max: 503, avg: (500 + 200 + 500 + 200 + 503) / 5 });
  const tags = await store.stringFieldStats({
    ...rangeOf(undefined),
    field: { at: "fields", path: ["tags"] },
    limit: 5,
  });
  t.same(tags.values, [{ value: "a", count: 1, percent: 1 }]);
});

t.test("ClickHouse: times of all years that can be stored", options(), async (t) => {
  const store = await openClickHouse(t, nowMs);
  const times = [
    "1678-01-01T00:00:00.000Z",
    "1899-12-31T23:59:59.999999999Z",
    "1960-01-02T00:00:00.000Z",
    "1969-12-31T23:59:59.998Z",
    "1970-01-01T00:00:00.000Z",
    "2149-06-07T00:00:00.000Z",
    "2261-12-31T23:59:59.999Z",
  ];
  await store.append(
    "app",
    times.map((timestamp, i) => event(String(i), {}, { timestamp })),
  );
  const all = await store.search({ ...rangeOf(undefined), limit: 100, order: "ascending" });
  t.same(
    all.events.map(({ timestamp }) => timestamp),
    times,
  );
  for (const [i, time] of times.entries()) {
    const ms = Date.parse(time.replace(/\.999999999/, ".999"));
    const { events } = await store.search({ ...rangeOf(undefined), startMs: ms, limit: 100, order: "descending" });
    t.same(
      events.map(({ id }) => id),
      times
        .map((_, at) => String(at))
        .slice(i)
        .reverse(),
      `from ${time}`,
    );
    const { count } = await store.count({ ...rangeOf(undefined), stopMs: ms - 1 });
    t.equal(count, i, `before ${time}`);
  }
  const days = Array.from({ length: 250 }, (_, i) =>
    event(`d${i}`, {}, { timestamp: new Date(Date.UTC(2020, 0, 1 + i)).toISOString() }),
  );
  await store.append("days", days);
  t.equal((await store.projectStats("days")).eventsTotal, 250, "more days than one statement may have");
});

t.test("ClickHouse: retention, and ids that a process before has stored", options(), async (t) => {
  const database = await clickHouseDatabase();
  const open = () => openClickHouseEvents({ ...database, clock: { ...systemClock, nowMs } });
  const store = await open();
  const old = new Date(NOW_MS - 10 * 86_400_000).toISOString();
  const recent = new Date(NOW_MS - 1000).toISOString();
  const both = [event("old", {}, { timestamp: old }), event("new", {}, { timestamp: recent })];
  await store.append("app", both);
  await store.append("other", both);
  store.setRetention("app", 5);
  t.equal((await store.count(rangeOf(undefined))).count, 1, "an event that has expired is in no answer");
  t.equal((await store.projectStats("app")).eventsTotal, 2);
  await store.expire();
  t.equal((await store.projectStats("app")).eventsTotal, 1);
  t.equal((await store.projectStats("other")).eventsTotal, 2, "others keep theirs");
  await store.close();
  const next = await open();
  t.teardown(() => next.close());
  t.same([...next.heldProjects()].sort(), ["app", "other"]);
  await next.append("other", [...both, event("third", {})]);
  t.equal((await next.projectStats("other")).eventsTotal, 3, "a retry counts once after a start, too");
});

t.test(
  "ClickHouse: an insert whose answer is lost is stored once, and one that is never answered is refused",
  options(),
  async (t) => {
    const { url, database } = await clickHouseDatabase();
    let isInsert = (_address: string) => false;
    // Passes requests on, and ends the connection in place of some answers.
    const proxy = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const method = request.method ?? "GET";
      const answer = await fetch(`${url}${request.url}`, {
        method,
        ...(method === "POST" && { body: Buffer.concat(pieces) }),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      if (isInsert(request.url!)) return void response.destroy();
      response.writeHead(answer.status, [...answer.headers].flat());
      response.end(body);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", () => resolve()));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const store = await openClickHouseEvents({ url: address, database, clock: { ...systemClock, nowMs } });
    t.teardown(async () => {
      await store.close();
      proxy.close();
    });
    let lost = 0;
    isInsert = (address) => address.includes("INSERT") && lost++ === 0;
    await store.append("app", [event("a", {}), event("b", {})]);
    t.equal(lost, 2, "two tries");
    t.equal((await store.count(rangeOf(undefined))).count, 2);
    await store.append("app", [event("a", {}), event("b", {}), event("c", {})]);
    t.equal((await store.count(rangeOf(undefined))).count, 3);
    isInsert = () => true;
    const refused = { type: "unavailable", retryAfterMs: 5000 };
    t.match(await failureOf(store.append("app", [event("d", {})])), refused);
    t.match(await failureOf(store.count(rangeOf(undefined))), refused);
    isInsert = () => false;
    t.equal((await store.count(rangeOf(undefined))).count, 4, "it was stored all the same");
  },
);

t.test("ClickHouse: a query ends with its signal, and has a limit of memory", options(), async (t) => {
  const database = await clickHouseDatabase();
  const store = await openClickHouseEvents({ ...database, clock: { ...systemClock, nowMs } });
  t.teardown(() => store.close());
  await store.append("app", [event("a", { n: 1 })]);
  const reason = new Error("enough");
  const controller = new AbortController();
  const running = store.count({ ...rangeOf(queryOf("n = 1")), signal: controller.signal });
  controller.abort(reason);
  await t.rejects(running, reason);
  const narrow = openClickHouseEvents({ ...database, limits: { timeMs: 20_000, memoryBytes: 1 } });
  t.match(await failureOf(narrow), { type: "bad_request", message: /memory/ });
});
