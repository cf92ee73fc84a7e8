// The answers of every events store, row for row: the predicate over an array, and DuckDB with its events in memory, in
// segments, and half in each; and ClickHouse, where chdb is installed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parseQuery, type Query, type Target } from "../../../grammar/query/index.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { type EventRange, type EventsStore, type NewEvent, StoreError } from "../../../logservice/events/store.ts";
import { openClickHouse, withoutClickHouse } from "../../support/clickhouse/open.ts";
import { oddEvents } from "../../support/events/generate.ts";
import { openOracle } from "../../support/events/oracle.ts";
import { slow } from "../../support/slow.ts";

const BEGIN_MS = Date.parse("2024-05-01T10:00:00Z");
const NOW_MS = Date.parse("2024-05-01T14:00:00Z");
const nowMs = () => NOW_MS;
const never = new AbortController().signal;

const queryOf = (text: string): Query | undefined => {
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problems[0]?.message}`);
  return text === "" ? undefined : parsed.value;
};
const rangeOf = (query = "", startMs = 0, stopMs = Date.parse("2100-01-01T00:00:00Z")): EventRange => ({
  project: "app",
  startMs,
  stopMs,
  query: queryOf(query),
});

type Opened = Omit<EventsStore, "sql"> & { settle?: (step: number) => Promise<void> };
interface Row {
  readonly name: string;
  readonly open: (t: Tap.Test) => Promise<Opened>;
  readonly isSlow?: true;
  /** The reason why it is skipped. */
  readonly without?: string | false;
}
const stores: readonly Row[] = [
  { name: "the predicate", open: async () => openOracle(nowMs) },
  { name: "DuckDB, newest in memory", open: (t) => openDuck(t, () => false) },
  { name: "DuckDB, all in segments", open: (t) => openDuck(t, () => true), isSlow: true },
  { name: "DuckDB, some of each", open: (t) => openDuck(t, (step) => step % 3 !== 2) },
  { name: "ClickHouse", open: (t) => openClickHouse(t, nowMs), isSlow: true, without: withoutClickHouse },
];

async function openDuck(t: Tap.Test, isFlushed: (step: number) => boolean): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), "events-"));
  const store = await openEventsStore({ directory, nowMs, reserveBytes: 0 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  return Object.assign(store, {
    settle: async (step: number) => {
      if (isFlushed(step)) await store.flush();
    },
  });
}

declare namespace Tap {
  type Test = Pick<typeof t, "teardown">;
}

/** Appends in batches, with a chance to make segments after each. */
async function fill(store: Opened, events: readonly NewEvent[], size: number): Promise<void> {
  for (let at = 0, step = 0; at < events.length; at += size, step++) {
    await store.append("app", events.slice(at, at + size));
    await store.settle?.(step);
  }
}

const event = (at: string, message: string, more: Partial<NewEvent> = {}): NewEvent => ({
  timestamp: `2024-05-01T${at}Z`,
  level: "info",
  message,
  fields: {},
  ...more,
});

// A small history that a person can check.
const history: readonly NewEvent[] = [
  event("10:00:00.000", "a", { id: "1", fields: { status: 200, user: { email: "x@y" }, ok: true } }),
  event("10:00:30.000", "b", { id: "2", level: "error", fields: { status: 500, tags: ["p", "q", "p"], ok: false } }),
  event("10:01:00.000", "c", { id: "4", level: "warning", fields: { status: "500", level: "mine", list: [1, "1"] } }),
  event("10:01:00.000", "d", { id: "3", fields: { status: 404, user: { email: "x@y" }, big: 1e21 } }),
  event("10:00:45.000000001", "late", { id: "5", level: "err", fields: { status: 503.5, ok: true } }),
  event("10:05:00.000", "f", {
    id: "6",
    level: "warn",
    fields: { user: { email: "z@y" }, "odd key": { x: 1 }, n: null },
  }),
];

const searches: readonly (readonly [query: string, ...messages: string[]])[] = [
  ["", "f", "c", "d", "late", "b", "a"],
  ["status >= 500", "late", "b"],
  ["status = 500", "c", "b"],
  ["status != 500", "d", "late", "a"],
  ["not status = 500", "f", "d", "late", "a"],
  ["error", "late", "b"],
  ["level >= warn", "f", "c", "late", "b"],
  ["tags = q", "b"],
  ["tags != q", "b"],
  ['user.email = "x*"', "d", "a"],
  ["exists user and not user.email = z@y", "d", "a"],
  ["ok", "late", "a"],
  ["ok = false", "b"],
  ["list = 1", "c"],
  ["list[1] = 1", "c"],
  ["fields.level = mine", "c"],
  ['fields["odd key"].x = 1', "f"],
  ["exists n", "f"],
  ["n", ...[]],
  ["n = null", "f"],
  ["big > 1e20", "d"],
  ['"l*e"', "late"],
  ["message ~ /^[A-C]$/i", "c", "b", "a"],
  ['timestamp >= "2024-05-01T10:00:45Z"', "f", "c", "d", "late"],
  ['timestamp > "2024-05-01T10:01:00Z"', "f"],
  ["timestamp < 239m", "late", "b", "a"],
  ["id = 3", "d"],
  ["id in (1, 2)", "b", "a"],
  ["message contains at", "late"],
];

for (const { name, open, isSlow, without } of stores) {
  t.test(name, without ? { skip: without } : isSlow ? slow() : {}, async (t) => {
    await t.test("search: newest first, by (timestamp, id)", async (t) => {
      const store = await open(t);
      await fill(store, history, 2);
      for (const [query, ...messages] of searches) {
        const { events } = await store.search({ ...rangeOf(query), limit: 100, order: "descending", signal: never });
        t.strictSame(
          events.map(({ message }) => message),
          messages,
          query || "everything",
        );
        const ascending = await store.search({ ...rangeOf(query), limit: 100, order: "ascending", signal: never });
        t.strictSame(
          ascending.events.map(({ message }) => message),
          [...messages].reverse(),
          `${query}, ascending`,
        );
        t.equal((await store.count({ ...rangeOf(query), signal: never })).count, messages.length, `${query}, counted`);
      }
      const { events } = await store.search({ ...rangeOf("id = 2"), limit: 1, order: "descending", signal: never });
      t.strictSame(events, [history[1]], "an event comes back as it was");
      const own = await store.search({ ...rangeOf("id = 5"), limit: 1, order: "descending", signal: never });
      t.strictSame(own.events, [history[4]], "with its own spelling of the time");
    });

    await t.test("search: the range is closed", async (t) => {
      const store = await open(t);
      await fill(store, history, 2);
      const at = (text: string) => Date.parse(`2024-05-01T${text}Z`);
      const messagesBetween = async (start: string, stop: string) => {
        const range = rangeOf("", at(start), at(stop));
        const { events } = await store.search({ ...range, limit: 100, order: "ascending", signal: never });
        t.equal((await store.count({ ...range, signal: never })).count, events.length, `${start} to ${stop}, counted`);
        return events.map(({ message }) => message).join(" ");
      };
      t.equal(await messagesBetween("10:00:00", "10:01:00"), "a b late d c");
      t.equal(await messagesBetween("10:00:00.001", "10:00:59.999"), "b late");
      t.equal(await messagesBetween("10:01:00", "10:01:00"), "d c");
      t.equal(await messagesBetween("10:00:45.001", "10:00:59"), "");
      t.equal(await messagesBetween("11:00:00", "10:00:00"), "", "and may be empty");
    });

    await t.test("search: pages by cursor", async (t) => {
      const store = await open(t);
      await fill(store, oddEvents(500, 7, BEGIN_MS, 100), 60);
      for (const order of ["descending", "ascending"] as const) {
        for (const query of ["", "status >= 400", "tags = a or mixed = 5"]) {
          const whole = await store.search({ ...rangeOf(query), limit: 1000, order, signal: never });
          t.equal(whole.cursor, undefined, "the last page has no cursor");
          const ids: string[] = [];
          let cursor: string | undefined;
          do {
            const page = await store.search({ ...rangeOf(query), limit: 37, order, cursor, signal: never });
            ids.push(...page.events.map(({ id }) => id));
            cursor = page.cursor;
          } while (cursor !== undefined);
          t.strictSame(
            ids,
            whole.events.map(({ id }) => id),
            `${query || "everything"}, ${order}`,
          );
        }
      }
      for (const cursor of ["", "x", "W10", Buffer.from('["1",2]').toString("base64url")]) {
        const page = store.search({ ...rangeOf(), limit: 1, order: "ascending", cursor, signal: never });
        const error = await page.then(
          () => undefined,
          (error: unknown) => error,
        );
        t.equal(error instanceof StoreError && error.type, "bad_request", `no cursor: ${cursor}`);
      }
    });

    await t.test("search: a page holds at most 16 MiB of events", async (t) => {
      const store = await open(t);
      const mib = 1024 * 1024;
      const sized = (i: number, bytes: number, project: string) => {
        const one = event(`10:00:${10 + i}.000`, "large", {
          id: `${project}${10 + i}`,
          fields: { tags: ["q"], text: "" },
        });
        const text = "é".repeat((bytes - Buffer.byteLength(JSON.stringify(one))) / 2);
        return { ...one, fields: { ...one.fields, text } };
      };
      for (const [project, bytes, query, ...lengths] of [
        ["exact", mib, "", 16, 4],
        ["exact", mib, "tags = q", 16, 4],
        ["exact", mib, "tags != q", 0],
        ["above", mib + 2, "", 15, 5],
        ["above", mib + 2, "tags = q", 15, 5],
      ] as const) {
        const ids = Array.from({ length: 20 }, (_, i) => `${project}${10 + i}`);
        if (query === "") {
          for (const i of ids.keys()) {
            await store.append(project, [sized(i, bytes, project)]);
            if (i % 7 === 0) await store.settle?.(i);
          }
        }
        for (const order of ["descending", "ascending"] as const) {
          const pages: string[][] = [];
          let cursor: string | undefined;
          do {
            const range = { ...rangeOf(query), project };
            const page = await store.search({ ...range, limit: 100, order, cursor, signal: never });
            pages.push(page.events.map(({ id }) => id));
            cursor = page.cursor;
          } while (cursor !== undefined);
          const expected = query === "tags != q" ? [] : order === "ascending" ? ids : [...ids].reverse();
          t.strictSame(
            pages.map(({ length }) => length),
            lengths,
            `${project}, ${query}, ${order}`,
          );
          t.strictSame(pages.flat(), expected, "each event once, in order");
        }
      }
    });

    await t.test("histograms", async (t) => {
      const store = await open(t);
      await fill(store, history, 2);
      const start = Date.parse("2024-05-01T10:00:10Z");
      const stop = Date.parse("2024-05-01T10:05:00Z");
      const { stepMs, points } = await store.timeseries({ ...rangeOf("", start, stop), maxPoints: 6, signal: never });
      t.equal(stepMs, 60_000);
      t.strictSame(
        points.map(({ timestamp, count }) => `${timestamp.slice(11, 19)} ${count}`),
        ["10:00:00 2", "10:01:00 2", "10:02:00 0", "10:03:00 0", "10:04:00 0", "10:05:00 1"],
      );
      const levels = await store.levelTimeseries({
        ...rangeOf("exists status", start, stop),
        maxPoints: 3,
        signal: never,
      });
      t.strictSame(
        levels.points.map(({ timestamp, counts }) => [timestamp.slice(11, 16), counts]),
        [
          ["10:00", { info: 1, warn: 1, error: 2 }],
          ["10:02", { info: 0, warn: 0, error: 0 }],
          ["10:04", { info: 0, warn: 0, error: 0 }],
        ],
      );
      const whole = await store.timeseries({
        ...rangeOf("", Date.parse("2024-05-01T00:00:00Z"), NOW_MS),
        maxPoints: 20,
        signal: never,
      });
      t.equal(whole.stepMs, 3_600_000);
      t.equal(whole.points.length, 15);
      t.equal(whole.points[10]!.count, 6);
      t.equal(
        (await store.timeseries({ ...rangeOf("", start, stop), maxPoints: 1, signal: never })).points.length,
        1,
        "at least one point",
      );
    });

    await t.test("fields and their values", async (t) => {
      const store = await open(t);
      await fill(store, history, 2);
      const { fields } = await store.discoveredFields({ ...rangeOf(), signal: never });
      t.strictSame(
        fields.map(({ name, type, count }) => `${name} ${type} ${count}`),
        [
          "status number 4",
          "ok boolean 3",
          "user.email string 3",
          "big number 1",
          "fields.level string 1",
          'fields["odd key"].x number 1',
          "list number 1",
          "list string 1",
          "status string 1",
          "tags string 1",
        ],
      );
      t.equal(fields[0]!.percent, 4 / 6);
      const emails = await store.stringFieldStats({
        ...rangeOf(),
        field: at("user", "email"),
        limit: 1,
        signal: never,
      });
      t.strictSame(emails.values, [{ value: "x@y", count: 2, percent: 2 / 3 }]);
      const tags = await store.stringFieldStats({ ...rangeOf("error"), field: at("tags"), limit: 10, signal: never });
      t.strictSame(tags.values, [
        { value: "p", count: 1, percent: 1 },
        { value: "q", count: 1, percent: 1 },
      ]);
      const levels = await store.stringFieldStats({
        ...rangeOf(),
        field: { at: "entry", name: "level" },
        limit: 10,
        signal: never,
      });
      t.strictSame(
        levels.values.map(({ value, count }) => `${value} ${count}`),
        ["error 2", "info 2", "warn 2"],
      );
      const messages = await store.stringFieldStats({
        ...rangeOf("warn"),
        field: { at: "entry", name: "message" },
        limit: 10,
        signal: never,
      });
      t.strictSame(
        messages.values.map(({ value }) => value),
        ["c", "f"],
      );
      const ok = await store.booleanFieldStats({ ...rangeOf(), field: at("ok"), signal: never });
      t.strictSame(ok.values, [
        { value: true, count: 2, percent: 2 / 3 },
        { value: false, count: 1, percent: 1 / 3 },
      ]);
      const { stats: _, ...status } = await store.numericFieldStats({
        ...rangeOf(),
        field: at("status"),
        signal: never,
      });
      t.strictSame(status, { min: 200, avg: (200 + 500 + 404 + 503.5) / 4, max: 503.5 });
      const { stats: __, ...none } = await store.numericFieldStats({
        ...rangeOf("error"),
        field: at("user", "email"),
        signal: never,
      });
      t.strictSame(none, { min: null, avg: null, max: null });
    });

    await t.test("a retried batch counts once", async (t) => {
      const store = await open(t);
      await store.append("app", history, { idempotencyKey: "k" });
      await store.settle?.(0);
      await store.append("app", history, { idempotencyKey: "k" });
      await store.append("app", history.slice(2, 4));
      await store.append("app", [event("10:00:00", "new"), event("10:00:00", "new")], { idempotencyKey: "l" });
      await store.append("app", [event("10:00:00", "new"), event("10:00:00", "new")], { idempotencyKey: "l" });
      await Promise.all([1, 2, 3].map(() => store.append("app", [event("10:00:00", "twin", { id: "twin" })])));
      await Promise.all(
        [1, 2, 3].map(() => store.append("app", [event("10:00:00", "at once")], { idempotencyKey: "m" })),
      );
      t.equal((await store.count({ ...rangeOf(), signal: never })).count, history.length + 4);
      await store.append("other", history, { idempotencyKey: "k" });
      t.equal(
        (await store.count({ ...rangeOf(), project: "other", signal: never })).count,
        history.length,
        "a project by itself",
      );
    });

    await t.test("statistics of a project, and its deletion", async (t) => {
      const store = await open(t);
      await fill(store, history, 2);
      await store.append("other", history);
      const bytesTotal = history.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify({ ...one })), 0);
      t.strictSame(await store.projectStats("app"), { bytesTotal, eventsTotal: 6, missingBytes: 0 });
      t.strictSame(await store.projectStats("unknown"), { bytesTotal: 0, eventsTotal: 0, missingBytes: 0 });
      await store.deleteProject("app");
      t.strictSame(await store.projectStats("app"), { bytesTotal: 0, eventsTotal: 0, missingBytes: 0 });
      t.equal((await store.count({ ...rangeOf(), signal: never })).count, 0);
      await store.append("app", history.slice(0, 1));
      await store.settle?.(0);
      t.equal(
        (await store.count({ ...rangeOf(), signal: never })).count,
        1,
        "a project made anew takes the ids of before",
      );
      t.equal((await store.count({ ...rangeOf(), project: "other", signal: never })).count, 6, "others stay");
    });

    await t.test("usage by day and level", async (t) => {
      const DAY = 86_400_000;
      const noonMs = Date.parse("2026-01-30T12:00:00Z");
      const store = await open(t);
      const at = (ms: number, level: string) => ({
        ...{ level, message: "m", fields: {} },
        timestamp: new Date(ms).toISOString(),
      });
      // The ends of a day, another spelling of a level, a day without events between two, and one file for three days.
      await store.append("app", [
        at(noonMs - 2 * DAY, "info"),
        at(noonMs - DAY / 2, "warning"),
        at(noonMs + DAY / 2 - 1, "WARN"),
        at(noonMs + DAY / 2, "error"),
      ]);
      await store.settle?.(0);
      await store.append("app", [at(noonMs, "fatal"), { ...at(0, "info"), timestamp: "2026-01-31T00:30:00+02:00" }]);
      await store.append("other", [at(noonMs, "info")]);
      const usage = async (project: string, startMs: number, stopMs: number) =>
        store.usage({ ...{ project, startMs, stopMs }, signal: never });
      const rows = (await usage("app", noonMs - 2 * DAY, noonMs + DAY)).map(({ day, events, levels }) => [
        day,
        events,
        levels,
      ]);
      t.strictSame(rows, [
        ["2026-01-28", 1, { info: 1 }],
        ["2026-01-30", 4, { info: 1, warn: 2, emergency: 1 }],
        ["2026-01-31", 1, { error: 1 }],
      ]);
      const all = await usage("app", noonMs - 2 * DAY, noonMs + DAY);
      const { bytesTotal } = await store.projectStats("app");
      const bytes = all.reduce((sum, one) => sum + one.bytes, 0);
      t.ok(Math.abs(bytes - bytesTotal) <= all.length, `${bytes} of ${bytesTotal} bytes`);
      t.ok(all.every(({ storedBytes }) => storedBytes > 0));
      t.strictSame(
        (await usage("app", noonMs, noonMs)).map(({ day }) => day),
        ["2026-01-30"],
        "whole days",
      );
      t.strictSame(await usage("unknown", 0, noonMs), []);
      const { freeBytes, totalBytes } = await store.disk();
      t.ok(freeBytes > 0 && freeBytes <= totalBytes, `${freeBytes} of ${totalBytes} bytes`);
    });

    await t.test("the tail gives what is acknowledged, from now on", async (t) => {
      const store = await open(t);
      await store.append("app", history.slice(0, 2));
      const tail = store.tail("app", queryOf("status > 0"));
      await store.append("app", history.slice(2));
      const messages: string[] = [];
      for await (const item of tail) {
        messages.push("event" in item ? item.event.message : `dropped ${item.dropped}`);
        if (messages.length === 2) break;
      }
      t.strictSame(messages, ["d", "late"]);
    });

    await t.test("an aborted call rejects with the reason", async (t) => {
      const store = await open(t);
      const reason = new Error("enough");
      await t.rejects(store.count({ ...rangeOf(), signal: AbortSignal.abort(reason) }), reason);
    });
  });
}

const at = (...path: string[]): Target => ({ at: "fields", path });

t.test("DuckDB and ClickHouse answer what the predicate does, on events of every kind", slow(), async (t) => {
  const events = oddEvents(500, 3, BEGIN_MS, 6000);
  const oracle = openOracle(nowMs);
  await fill(oracle, events, 50);
  const compared = await Promise.all(
    stores
      .slice(1)
      .filter(({ without }) => !without)
      .map(async ({ name, open }) => {
        const store = await open(t);
        await fill(store, events, 125);
        return { name, store };
      }),
  );
  for (const query of queries) {
    for (const [startMs, stopMs] of [
      [0, Date.parse("2100-01-01T00:00:00Z")],
      [BEGIN_MS + 123_456, BEGIN_MS + 2_000_000],
    ] as const) {
      const range = rangeOf(query, startMs, stopMs);
      const narrow = rangeOf(query, Math.max(startMs, BEGIN_MS), Math.min(stopMs, BEGIN_MS + 3_000_000));
      const ask = async (one: Opened) => ({
        count: (await one.count({ ...range, signal: never })).count,
        first: withoutMadeIds(await one.search({ ...range, limit: 50, order: "descending", signal: never })),
        last: withoutMadeIds(await one.search({ ...range, limit: 50, order: "ascending", signal: never })),
        ...(queries.indexOf(query) % 4 !== (startMs === 0 ? 0 : 1) ? {} : await statistics(one, range, narrow)),
      });
      const expected = await ask(oracle);
      for (const { name, store } of compared) {
        t.strictSame(await ask(store), expected, `${name}: ${query || "everything"} from ${startMs}`);
      }
    }
  }
});

/** The statistics of the events of a range, without sums' last digits, which differ by the order of the numbers. */
async function statistics(one: Opened, range: EventRange, narrow: EventRange) {
  return {
    points: (await one.timeseries({ ...narrow, maxPoints: 61, signal: never })).points,
    levels: (await one.levelTimeseries({ ...narrow, maxPoints: 20, signal: never })).points,
    fields: (await one.discoveredFields({ ...range, signal: never })).fields,
    texts: await each(
      ["path", "stage", "tags", "mixed", "user.email"],
      async (field) =>
        (await one.stringFieldStats({ ...range, field: at(...field.split(".")), limit: 20, signal: never })).values,
    ),
    own: await each(
      ["level", "message"] as const,
      async (name) =>
        (await one.stringFieldStats({ ...range, field: { at: "entry", name }, limit: 5, signal: never })).values,
    ),
    truths: await each(
      ["cached", "mixed", "tags"],
      async (field) => (await one.booleanFieldStats({ ...range, field: at(field), signal: never })).values,
    ),
    numbers: await each(["status", "duration", "mixed", "tags", "user.id"], async (field) => {
      const { min, avg, max } = await one.numericFieldStats({
        ...range,
        field: at(...field.split(".")),
        signal: never,
      });
      return { min, avg: avg?.toPrecision(12), max };
    }),
  };
}

const odd = [
  "mixed = 5",
  "mixed != 5",
  "mixed = null",
  "mixed = true",
  "not mixed",
  "mixed",
  "exists mixed.deep",
  "tags contains a or tags > 0",
  "tags[0] = a",
  'fields["odd key"]["a.b"] = 1',
  'fields["odd key"]["star*"] = 1',
  'fields["odd key"][""] = empty',
  'path = "/a_b%*"',
  'path = "*é*"',
  'message = "*\\u0000*"',
  'message contains "日本"',
  "Status = x or Status contains case",
  "rare1 and status < 300",
  "status in (200, 404) and method = GET and duration > 5s",
  "not (error or warn) and user.email ~ /^user1/",
  'timestamp = "*+00:00"',
];

const queries = [...searches.map(([query]) => query), ...odd];

/** Leaves out the ids that a store makes itself, which may be other than in another store. */
function withoutMadeIds({ events }: { readonly events: readonly { readonly id: string }[] }) {
  return events.map(({ id, ...rest }) => ({ ...rest, id: id.startsWith("own-") ? id : undefined }));
}

async function each<Key extends string, Value>(keys: readonly Key[], of: (key: Key) => Promise<Value>) {
  const results: Record<string, Value> = {};
  for (const key of keys) results[key] = await of(key);
  return results;
}
