// The cache that the engine keeps of the files that it has read, and when another engine takes over.
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parsePipeline, parseQuery } from "../../../grammar/query/index.ts";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { openDuckDb, quoted } from "../../../logservice/events/duckdb/duckdb.ts";
import { readSegment, type Segment } from "../../../logservice/events/duckdb/segment.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { emptySummary, printSummary } from "../../../logservice/events/summary/summary.ts";
import { CANNOT_SEE_PROCESSES, engineProcesses } from "../../support/sql/sql-processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const never = new AbortController().signal;
const FILES = 8;
const EVENTS = 40_960;

/** Files of many small row groups, so that their footers are large, and readers that may keep `most` bytes of those. */
async function opened(
  t: { teardown(done: () => Promise<void>): void },
  mostOf: (segments: readonly Segment[]) => number,
) {
  const directory = await mkdtemp(join(tmpdir(), "events-readers-"));
  const builder = await (await openDuckDb(":memory:", { threads: "1" })).connect();
  const segments: Segment[] = [];
  for (let file = 0; file < FILES; file++) {
    const path = join(directory, `${file}.parquet`);
    const columns = Array.from({ length: 40 }, (_, i) => `i % ${i + 2} as c${i}`).join(", ");
    await builder.run(
      `copy (select ${file} as file, ${columns} from range(${EVENTS}) as r(i)) to ${quoted(path)} (format parquet, row_group_size 2048)`,
    );
    await writeFile(`${path}.json`, `[]\n${printSummary(emptySummary())}\n`);
    const bytes = (await stat(path)).size;
    segments.push(
      await readSegment(
        { path, events: EVENTS, bytes, first: "0", last: "0" },
        { eventBytes: bytes, sequence: file, intervals: undefined },
      ),
    );
  }
  const counts = { made: 0, closed: 0 };
  const clock = new TestClock();
  const readers = await ConnectionPool.open(
    async () => {
      const engine = await openDuckDb(":memory:", { threads: "1" });
      counts.made++;
      const close = engine.closeSync.bind(engine);
      engine.closeSync = () => {
        counts.closed++;
        close();
      };
      return engine;
    },
    clock,
    mostOf(segments),
  );
  t.teardown(async () => {
    await readers.close();
    await rm(directory, { recursive: true });
  });
  const ask = async (subset: readonly Segment[]) => {
    const reading = readers.begin();
    let sum = 0;
    try {
      await reading.opens(subset);
      const files = subset.map(({ path }) => quoted(path)).join(", ");
      await readers.run(
        `select count(*)::double, sum(file)::double from read_parquet([${files}])`,
        [],
        never,
        (rows) => {
          const [[count], [files]] = rows as [number[], number[]];
          sum = (count ?? 0) === subset.length * EVENTS ? files! / EVENTS : Number.NaN;
        },
      );
    } finally {
      reading.end();
    }
    return sum;
  };
  const cached = async () => {
    let bytes = 0;
    await readers.run(
      "select sum(memory_usage_bytes)::double from duckdb_memory() where tag = 'OBJECT_CACHE'",
      [],
      never,
      (rows) => {
        bytes = rows[0]![0] as number;
      },
    );
    return bytes;
  };
  return { readers, segments, ask, cached, clock, counts };
}

t.test("footers are read from the files, and kept", async (t) => {
  const { readers, segments, ask, cached } = await opened(t, () => 1e9);
  for (const { footerBytes, bytes } of segments)
    t.ok(footerBytes > 20_000 && footerBytes < bytes, `${footerBytes} bytes`);
  const before = await cached();
  t.equal(await ask(segments.slice(0, 3)), 3);
  const kept = (await cached()) - before;
  const footers = segments.slice(0, 3).reduce((sum, { footerBytes }) => sum + footerBytes, 0);
  t.ok(kept >= footers, `${kept} of ${footers} bytes`);
  t.equal(readers.keptBytes, 5 * footers);
  t.equal(await ask(segments.slice(0, 3)), 3);
  t.equal(readers.keptBytes, 5 * footers, "each once");
  t.equal(readers.counts.engines, 1);
});

t.test("a question of more than may be kept keeps nothing of what is beyond", async (t) => {
  const { readers, segments, ask, cached } = await opened(t, ([first]) => 5 * 2.5 * first!.footerBytes);
  const before = await cached();
  const reading = readers.begin();
  t.equal(await ask(segments), 28);
  t.ok((await cached()) - before < segments[0]!.footerBytes, "nothing was kept");
  reading.end();
  await until("another engine", () => readers.counts.engines === 2);
  t.equal(readers.keptBytes, 0);
  t.equal(await ask(segments.slice(0, 2)), 1);
  t.ok((await cached()) > segments[0]!.footerBytes, "others are kept again");
});

t.test("another engine takes over when nobody asks, and never under a question", async (t) => {
  const { readers, segments, ask, clock } = await opened(t, ([first]) => 5 * 2.5 * first!.footerBytes);
  const holding = readers.begin();
  for (const [i, segment] of segments.entries()) t.equal(await ask([segment]), i);
  t.equal(readers.counts.engines, 1, "not while a question is answered");
  holding.end();
  holding.end();
  await until("another engine", () => readers.counts.engines === 2);
  const queries = Array.from({ length: 200 }, async (_, i) => {
    await clock.sleep((i * 7919) % 400);
    return (await ask([segments[i % FILES]!])) === i % FILES;
  });
  await clock.advance(400);
  const answers = await Promise.all(queries);
  t.ok(answers.every((isRight) => isRight));
  await ask(segments);
  await readers.close();
  t.pass("closed, whatever was under way");
});

t.test("an engine that a question forestalls takes over no sooner than ten seconds later", async (t) => {
  const { readers, segments, ask, clock, counts } = await opened(t, ([first]) => 5 * 2.5 * first!.footerBytes);
  await ask(segments);
  readers.begin().end();
  const holding = readers.begin();
  await until("the end of the engine that is not needed", () => counts.closed === 1);
  t.equal(await ask(segments.slice(0, 2)), 1);
  holding.end();
  await clock.advance(9_999);
  readers.begin().end();
  await clock.advance(0);
  t.strictSame([readers.counts.engines, counts.made], [1, 2], "not before");
  await clock.advance(1);
  readers.begin().end();
  await until("another engine", () => readers.counts.engines === 2);
  t.equal(counts.made, 3);
});

t.test("a question of many statements at once makes Node warn of nothing", async (t) => {
  const { readers } = await opened(t, () => 1e9);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => warnings.push(message);
  process.on("warning", onWarning);
  t.teardown(() => process.off("warning", onWarning));
  const { signal } = new AbortController();
  let sum = 0;
  const statements = Array.from({ length: 40 }, (_, i) =>
    readers.run(`select ${i}::double`, [], signal, ([numbers]) => {
      sum += numbers![0] as number;
    }),
  );
  await Promise.all(statements);
  t.equal(sum, 780);
  // Node warns a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, []);
});

const HOSTILE = "/(a|b)[ab]{18}x0c/";

/** The query and the stages of a text. */
function parts(text: string) {
  const parsed = parsePipeline(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

t.test("what takes long over a single text ends with its signal", { skip: CANNOT_SEE_PROCESSES }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "events-slow-"));
  const nowMs = () => Date.parse("2026-03-01T12:00:00Z");
  const store = await openEventsStore({ directory, nowMs });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  const text = `x0c${"abbabaab".repeat(7_000)}`;
  const batch = Array.from({ length: 50 }, (_, i) => ({
    ...{ timestamp: "2026-03-01T11:00:00Z", level: "info", message: `${text}${i}`, fields: { text, path: "/a" } },
  }));
  const all = { project: "p", startMs: 0, stopMs: nowMs() };
  type Ask = (store: EventsStore, signal: AbortSignal) => Promise<unknown>;
  const aggregate =
    (text: string): Ask =>
    (store, signal) =>
      store.aggregate({ ...all, ...parts(text), limit: 10, signal });
  const rows: [what: string, ask: Ask][] = [
    ["count", (store, signal) => store.count({ ...all, query: parts(`message ~ ${HOSTILE}`).query, signal })],
    [
      "search of a field",
      (store, signal) =>
        store.search({ ...all, query: parts(`text ~ ${HOSTILE}`).query, limit: 10, order: "descending", signal }),
    ],
    ["groups", aggregate(`message ~ ${HOSTILE} | count by path`)],
    ["stages over groups", aggregate(`| count by message | where message ~ ${HOSTILE}`)],
    ["stages over events", aggregate(`| limit 100 | where message ~ ${HOSTILE}`)],
  ];
  await store.append("p", batch);
  for (const where of ["memory", "segments"]) {
    if (where === "segments") await store.flush();
    for (const [what, ask] of rows) {
      const over = new AbortController();
      const answer = ask(store, over.signal);
      const { pid } = await until("a process", () => engineProcesses()[0]);
      over.abort(new Error("enough"));
      await t.rejects(answer, /enough/, `${what} in ${where}`);
      await until("its end", () => engineProcesses().every((one) => one.pid !== pid));
    }
  }
  const { signal } = new AbortController();
  const quick = parseQuery("message ~ /ab+a/ or message ~ /x0c|y0c/");
  if (!quick.ok) throw new Error("not valid");
  t.equal((await store.count({ ...all, query: quick.value, signal })).count, 50, "others are answered as before");
  const [idle] = engineProcesses();
  t.equal((await store.count({ ...all, query: quick.value, signal })).count, 50);
  t.same(
    engineProcesses().map(({ pid }) => pid),
    [idle!.pid],
    "by the same process",
  );
  const plain = parts("message ~ /x0c|y0c/").query;
  process.kill(idle!.pid, "SIGKILL");
  await until("its end", () => engineProcesses().length === 0);
  t.equal((await store.count({ ...all, query: plain, signal })).count, 50);
  t.same(engineProcesses(), [], "a choice of texts needs none");
});

t.test(
  "a tail whose query takes long over a single text holds up nobody, and ends",
  { skip: CANNOT_SEE_PROCESSES },
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "events-slow-tail-"));
    const clock = new TestClock();
    const store = await openEventsStore({ directory, clock });
    t.teardown(async () => {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    });
    const slow = (path: string) => parts(`${path} ~ ${HOSTILE}`).query;
    const message = (text: string, fields = {}) => ({
      timestamp: "2026-01-15T11:00:00Z",
      level: "info",
      message: text,
      fields,
    });
    const long = "abbabaab".repeat(8_000);

    const tails = [store.tail("p", slow("message")), store.tail("p", slow("text"))];
    const other = store.tail("p", parts("level = info").query);
    const outcomes = tails.map((tail) => tail.next().catch((error: unknown) => error));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const batch = Array.from({ length: 30 }, () => message(long, { text: long }));
    const appended = store.append("p", batch);
    setImmediate(count);
    const first = await other.next();
    const before = turns;
    await appended;
    t.equal(first.value?.event?.message, long, "others have the event");
    await until("two processes", () => engineProcesses().length === 2);
    await until("turns of this thread while both are at it", () => turns >= before + 100);
    isOver = true;
    let open = outcomes.length;
    for (const outcome of outcomes) void outcome.then(() => open--);
    await until("the end of both", async () => {
      await clock.advance(5_000);
      return open === 0;
    });
    for (const outcome of await Promise.all(outcomes)) {
      t.match(outcome, { type: "timeout", message: /^the regular expressions of the query take more than 5 s/ });
    }
    t.same(await tails[0]!.next(), { value: undefined, done: true }, "it is over");
    await until("the end of the processes", () => engineProcesses().length === 0);

    const quick = store.tail("p", parts("message ~ /^b+a/").query);
    await store.append("p", [message("abba"), message("bba"), message("b"), message("ba")]);
    const selected = [await quick.next(), await quick.next()].map(
      ({ value }) => (value as { event: { message: string } }).event.message,
    );
    t.same(selected, ["bba", "ba"], "one that is quick goes on, in its order");
    const waiting = quick.next();
    await quick.return?.();
    t.same(await waiting, { value: undefined, done: true });
    const later = store.tail("p", slow("message"));
    const ended = later.next();
    await store.append("p", batch);
    await until("a piece that is tested", () => clock.timers.includes(5_000));
    await later.return?.();
    t.same(await ended, { value: undefined, done: true }, "a tail that is closed meanwhile ends without an error");
  },
);
