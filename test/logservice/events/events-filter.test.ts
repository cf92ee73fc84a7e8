// Filters of texts: what they leave out is not there, and what is damaged leaves out nothing.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import t from "tap";
import { type Expr, parseQuery, type Query } from "../../../grammar/query/index.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { writeFilter } from "../../../logservice/events/duckdb/bloom-filter.ts";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { openDuckDb, quoted } from "../../../logservice/events/duckdb/duckdb.ts";
import { demandsOf, Narrowing } from "../../../logservice/events/duckdb/query/narrow.ts";
import { selectionOf } from "../../../logservice/events/duckdb/query/query-context.ts";
import type { Segment } from "../../../logservice/events/duckdb/segment.ts";
import { filterPath, removeSegment } from "../../../logservice/events/duckdb/segment-files.ts";
import { generatedId } from "../../../logservice/events/journal/line.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { emptySummary } from "../../../logservice/events/summary/summary.ts";
import { randomOf } from "../../support/random.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const span = { start: 0, end: 0 };
const field = (...keys: string[]) => ({ path: keys.map((key) => ({ kind: "key", key, span }) as const), span });
const text = (text: string) => ({ kind: "string", chunks: [text], span }) as const;
const equal = (value: string, ...keys: string[]): Expr => ({
  kind: "comparison",
  field: field(...keys),
  op: "=",
  operator: span,
  value: text(value),
  span,
});
const queryOf = (expr: Expr): Query => ({ source: "", expr });

const ROWS = 50_000;

/** A segment of texts of every kind, its rows from the last sequence to the first. */
async function madeSegment(t: Tap.Test) {
  const directory = await mkdtemp(join(tmpdir(), "events-filter-"));
  const engine = await openDuckDb(":memory:", { threads: "2" });
  const readers = await ConnectionPool.open(async () => engine, systemClock);
  t.teardown(async () => {
    await readers.close();
    await rm(directory, { recursive: true });
  });
  const random = randomOf(1);
  const events = Array.from({ length: ROWS }, (_, row) => ({
    row,
    q: 1000 + ROWS - row,
    id: random.chance(0.3) ? `own-${random.below(1e9)}` : undefined,
    email: random.chance(0.9)
      ? random.pick(["", "ü", "日本", "a'b\"c", "x".repeat(300)]) + random.below(1e6)
      : undefined,
    plan: random.pick(["free", "team"]),
  }));
  const lines = events.map(({ q, id, email, plan }) => JSON.stringify({ q, id, email, plan })).join("\n");
  const json = join(directory, "events.json");
  await writeFile(json, lines);
  const path = join(directory, "segment.parquet");
  const connection = await engine.connect();
  await connection.run(
    `copy (select q, q as t, id, email as "string:user.email", plan as "string:user.plan"
      from read_json(${quoted(json)}, columns = {q: 'BIGINT', id: 'VARCHAR', email: 'VARCHAR', plan: 'VARCHAR'}))
      to ${quoted(path)} (format parquet)`,
  );
  await writeFilter(connection, path, { bytes: 0, sum: 1 });
  connection.closeSync();
  const segment: Segment = {
    path,
    events: ROWS,
    bytes: 0,
    footerBytes: 0,
    eventBytes: 0,
    first: 0n,
    last: 1_000_000n,
    sequence: ROWS,
    intervals: undefined,
    integrity: { sum: 1, footerSum: undefined, stamp: undefined, checkedMs: 0 },
    columns: new Map([
      ['["user","email"]', "string"],
      ['["user","plan"]', "string"],
    ]),
    summary: emptySummary(),
    hasTruncated: false,
  };
  const damaged: string[] = [];
  const narrowing = new Narrowing(readers, (path) => damaged.push(path));
  const narrow = async (expr: Expr, by = narrowing, one = segment) => {
    const range = { project: "app", startMs: 0, stopMs: 4e12, query: queryOf(expr) };
    return await by.narrow([one], { ...selectionOf(range, 0), from: 0n, to: 10n ** 18n }, never);
  };
  return { path, segment, events, narrow, damaged, other: () => new Narrowing(readers, (path) => damaged.push(path)) };
}

declare namespace Tap {
  type Test = Pick<typeof t, "teardown">;
}

/** How many rows of the segments are read, and whether `row` is one of them. */
const rowsToRead = (segments: readonly Segment[], row?: number) => ({
  rows: segments.reduce((sum, { rows: [a, b] = WHOLE }) => sum + Math.min(b, ROWS - 1) - a + 1, 0),
  holds: segments.some(({ rows: [a, b] = WHOLE }) => row! >= a && row! <= b),
});

const WHOLE = [0, ROWS - 1] as const;

t.test("no event is lost", slow(), async (t) => {
  const { events, narrow } = await madeSegment(t);
  let [lost, rows, tests] = [0, 0, 0];
  for (const { row, q, id, email, plan } of events) {
    if (row % 53 !== 0) continue;
    const asks: Expr[] = [equal(id ?? generatedId(q), "id")];
    if (email !== undefined) {
      const one = equal(email, "user", "email");
      asks.push(one, { kind: "and", terms: [one, equal(plan, "user", "plan")], operators: [], span });
      const values = [text(email), text("absent")];
      asks.push({ kind: "in", field: field("user", "email"), operator: span, values, span });
    }
    for (const ask of asks) {
      const left = rowsToRead(await narrow(ask), row);
      tests++;
      rows += left.rows;
      if (!left.holds) lost++;
    }
  }
  t.equal(lost, 0, `of ${tests}`);
  // One run of three; else nothing was tested.
  t.ok(rows < tests * ROWS * 0.6, `${Math.round(rows / tests)} rows of ${ROWS} are asked`);
  let total = 0;
  for (let i = 0; i < 300; i++) {
    total += rowsToRead(await narrow(equal(`absent${i}`, "user", "email"))).rows;
    total += rowsToRead(await narrow(equal(`absent${i}`, "id"))).rows;
    total += rowsToRead(await narrow(equal(generatedId(ROWS * 2 + i), "id"))).rows;
  }
  t.ok(total < 900 * ROWS * 0.05, `of what is not there ${total} rows are asked in 900 times`);
  t.equal(rowsToRead(await narrow(equal("absent", "user", "plan"))).rows, ROWS, "few different values have no filter");
});

t.test("what is not as it was written is not used, which is said once", async (t) => {
  const { path, narrow, damaged, other } = await madeSegment(t);
  const absent = equal("absent1", "user", "email");
  t.equal(rowsToRead(await narrow(absent)).rows, 0);
  const whole = await readFile(filterPath(path));
  const head = whole.indexOf("\n");
  const flipped = Buffer.from(whole.map((byte, at) => (at > head ? byte ^ 1 : byte)));
  const cut = whole.subarray(0, -1);
  const headless = Buffer.from(whole.map((byte, at) => (at === 30 ? byte ^ 1 : byte)));
  for (const [name, bytes] of Object.entries({ flipped, cut, headless, empty: Buffer.alloc(0) })) {
    await writeFile(filterPath(path), bytes);
    damaged.length = 0;
    const by = other();
    for (let i = 0; i < 2; i++) t.equal(rowsToRead(await narrow(absent, by)).rows, ROWS, name);
    t.strictSame(damaged, [filterPath(path)], `${name}: said once`);
  }
  damaged.length = 0;
  const json = whole.toString("utf8", 11, head).replace(/"engine":"[^"]*"/, '"engine":"v0.0.1"');
  const otherHead = Buffer.from(`${String(crc32(json)).padStart(10, "0")} ${json}`);
  await writeFile(filterPath(path), Buffer.concat([otherHead, whole.subarray(head)]));
  t.equal(rowsToRead(await narrow(absent, other())).rows, ROWS, "of another version of the engine");
  await rm(filterPath(path));
  t.equal(rowsToRead(await narrow(absent, other())).rows, ROWS, "not there");
  t.strictSame(damaged, []);
  await writeFile(filterPath(path), whole);
  await removeSegment(path);
  t.notOk((await readdir(join(path, ".."))).includes("segment.parquet.filter"), "goes with its segment");
});

t.test("what a query demands", async (t) => {
  for (const [query, ...demands] of [
    ["user.email = x@y", "user.email: x@y"],
    ['id in (a, "b c") and error', "id: a, b c"],
    ["a = x and (b = y and c in (z))", "a: x", "b: y", "c: z"],
    ["a = x or b = y"],
    ["not a = x"],
    ["a != x"],
    ["a not in (x)"],
    ["a = x*"],
    ["a = 5"],
    ["a in (x, 5)"],
    ['a = "\\u0000"'],
    ['a = "\\ud83d"'],
    ["message = x"],
    ["a contains x"],
    [""],
  ] as const) {
    const parsed = parseQuery(query);
    if (!parsed.ok) throw new Error(query);
    const said = demandsOf(parsed.value).map(({ path, texts }) => `${path?.join(".") ?? "id"}: ${texts.join(", ")}`);
    t.strictSame(said, demands, query || "everything");
  }
});

t.test("merged segments have one, and answer as before", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "events-filter-"));
  const store = await openEventsStore({ directory, reserveBytes: 0, nowMs: () => 86_400_000 * 10 });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  for (let part = 0; part < 4; part++) {
    for (let from = part * 25_000; from < (part + 1) * 25_000; from += 5000) {
      const batch = Array.from({ length: 5000 }, (_, i) => ({
        ...(i % 2 === 0 && { id: `own-${from + i}` }),
        timestamp: new Date(86_400_000 + from + i).toISOString(),
        level: "info",
        message: `${from + i}`,
        fields: { user: { email: `user${from + i}@example.com` } },
      }));
      await store.append("app", batch);
    }
    await store.flush();
  }
  await store.compact();
  const names = async () => await readdir(join(directory, "projects"), { recursive: true });
  t.equal((await names()).filter((name) => name.endsWith(".filter")).length, 1);
  const ask = async (query: string) => {
    const parsed = parseQuery(query);
    if (!parsed.ok) throw new Error(query);
    const range = { project: "app", startMs: 0, stopMs: 4e12, query: parsed.value };
    const { events, stats } = await store.search({ ...range, limit: 10, order: "descending", signal: never });
    t.equal((await store.count({ ...range, signal: never })).count, events.length, `${query}, counted`);
    return [events.map(({ message }) => message).join(" "), stats.bytesProcessed > 0];
  };
  t.strictSame(await ask("user.email = user71234@example.com"), ["71234", true]);
  t.strictSame(await ask("user.email in (user3@example.com, user99999@example.com)"), ["99999 3", true]);
  t.strictSame(await ask("id = own-50002"), ["50002", true]);
  t.strictSame(await ask(`id = ${generatedId(50_004)}`), ["50003", true]);
  t.strictSame(await ask("user.email = nobody@example.com"), ["", false], "without a look at an event");
  store.setRetention("app", 1);
  await store.compact();
  // Files go when nobody reads them any more; where one stayed, this would wait for ever.
  await until("the end of the filters", async () => !(await names()).some((name) => name.endsWith(".filter")));
});
