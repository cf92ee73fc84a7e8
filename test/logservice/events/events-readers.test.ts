// What the engine keeps of the files that it has read, and when another one takes over.
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { type DuckDBInstance, openDuckDb, quoted } from "../../../logservice/events/duckdb/duckdb.ts";
import { readSegment, type Segment } from "../../../logservice/events/duckdb/segment.ts";
import { emptySummary, printSummary } from "../../../logservice/events/summary/summary.ts";

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
  const made: DuckDBInstance[] = [];
  const readers = await ConnectionPool.open(async () => {
    made.push(await openDuckDb(":memory:", { threads: "1" }));
    return made.at(-1)!;
  }, mostOf(segments));
  t.teardown(async () => {
    await readers.close();
    await rm(directory, { recursive: true });
  });
  const ask = async (asked: readonly Segment[]) => {
    const reading = readers.begin();
    let sum = 0;
    try {
      await reading.opens(asked);
      const files = asked.map(({ path }) => quoted(path)).join(", ");
      await readers.run(
        `select count(*)::double, sum(file)::double from read_parquet([${files}])`,
        [],
        never,
        (rows) => {
          const [[count], [files]] = rows as [number[], number[]];
          sum = (count ?? 0) === asked.length * EVENTS ? files! / EVENTS : Number.NaN;
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
  return { readers, segments, ask, cached };
}

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

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
  await until(() => readers.counts.engines === 2);
  t.equal(readers.keptBytes, 0);
  t.equal(await ask(segments.slice(0, 2)), 1);
  t.ok((await cached()) > segments[0]!.footerBytes, "others are kept again");
});

t.test("another engine takes over when nobody asks, and never under a question", async (t) => {
  const { readers, segments, ask } = await opened(t, ([first]) => 5 * 2.5 * first!.footerBytes);
  const holding = readers.begin();
  for (const [i, segment] of segments.entries()) t.equal(await ask([segment]), i);
  t.equal(readers.counts.engines, 1, "not while a question is answered");
  holding.end();
  holding.end();
  await until(() => readers.counts.engines === 2);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, (i * 7919) % 400));
      return (await ask([segments[i % FILES]!])) === i % FILES;
    }),
  );
  t.ok(answers.every((isRight) => isRight));
  await ask(segments);
  await readers.close();
  t.pass("closed, whatever was under way");
});
