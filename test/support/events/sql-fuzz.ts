// Random queries with events made to nearly match them, as segments and as SQL over these, against the predicate.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { compilePredicate, printQuery, type Query } from "../../../grammar/query/index.ts";
import { querySql } from "../../../grammar/query/sql/query-sql.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { buildFromJournal } from "../../../logservice/events/duckdb/build.ts";
import { ConnectionPool } from "../../../logservice/events/duckdb/connection-pool.ts";
import { openDuckDb } from "../../../logservice/events/duckdb/duckdb.ts";
import { segmentColumns } from "../../../logservice/events/duckdb/query/query-context.ts";
import { readSegment } from "../../../logservice/events/duckdb/segment.ts";
import { fromFiles } from "../../../logservice/events/duckdb/segment-schema.ts";
import { firstNanosecond } from "../../../logservice/events/instant.ts";
import { encodeBatch, eventAt } from "../../../logservice/events/journal/batch-lines.ts";
import { Journal } from "../../../logservice/events/journal/journal.ts";
import { JournalList } from "../../../logservice/events/journal/journal-list.ts";
import type { StoredEvent } from "../../../logservice/events/journal/line.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import { queries } from "../query-arbitrary.ts";
import { generator, NOW_MS, nearLines } from "../scan-fuzz.ts";
import { storable } from "./storable.ts";

export interface Translated {
  readonly queries: number;
  readonly pairs: number;
  readonly selected: number;
  /** Queries that SQL says exactly. */
  readonly exact: number;
  /** Columns of their own that the segments had. */
  readonly columns: number;
  /** Query, event, and what was said of it. */
  readonly wrong: readonly string[];
}

/** Ten queries share a segment of a hundred events, so that each is also asked of the others' events. */
const QUERIES_PER_SEGMENT = 10;

export async function compareSql(count: number, seed: number): Promise<Translated> {
  const random = generator(seed);
  const directory = await mkdtemp(join(tmpdir(), "sql-fuzz-"));
  const engine = await openDuckDb(":memory:", { threads: "1" });
  const readers = await ConnectionPool.open(async () => engine, systemClock);
  const connection = await engine.connect();
  const list = await JournalList.open(join(directory, "journal.json"));
  const { journal } = await Journal.begin(directory, 1, list, []);
  const wrong: string[] = [];
  let [asked, pairs, selected, exact, columns, sequence] = [0, 0, 0, 0, 0, 1];
  try {
    while (asked < count) {
      const some = fc.sample(queries, { numRuns: QUERIES_PER_SEGMENT, seed: seed + asked });
      // In half of the segments each path has values of one type, and thereby a column.
      const isTidy = random() < 0.5;
      const accepted = some
        .flatMap((query) => nearLines(query, random))
        .map((line) => encodeEvent(storable(line, isTidy)));
      const lines = encodeBatch("app", sequence, accepted);
      const file = journal.current;
      await journal.write(
        {
          sequence,
          project: "app",
          lines: accepted.length,
          atMs: 0,
          key: undefined,
          isDeletion: false,
        },
        lines.body,
        () => {},
      );
      sequence += accepted.length;
      await journal.rotate(
        () => sequence,
        () => {},
      );
      const path = join(directory, `${asked}.parquet`);
      const own = { began: 1, eventBytes: 0 };
      const share = { ...own, project: "app", first: 1, last: sequence, events: accepted.length, path };
      const [facts] = await buildFromJournal(connection, file.path, [share], systemClock);
      const segment = await readSegment(facts!, { eventBytes: 0, sequence: 0, intervals: undefined });
      columns += segment.columns.size;
      const events = accepted.map((_, i) => eventAt(lines, i));
      for (const query of some) {
        const options = { nowMs: NOW_MS, columns: segmentColumns(segment), firstInstant: firstNanosecond };
        const { upper, lower } = querySql(query, options);
        const said = new Map<number, { upper: boolean; lower: boolean }>();
        await readers.run(
          `select q::double, ${upper.text}, ${lower.text} from ${fromFiles([segment])}`,
          [...upper.values, ...lower.values],
          new AbortController().signal,
          ([sequences, uppers, lowers]) =>
            sequences!.forEach((one, i) => {
              said.set(one as number, { upper: uppers![i] as boolean, lower: lowers![i] as boolean });
            }),
        );
        // As a condition of rows, which is what leaves out row groups.
        const found = new Set<number>();
        await readers.run(
          `select q::double from ${fromFiles([segment])} where ${upper.where}`,
          upper.values,
          new AbortController().signal,
          ([sequences]) => {
            for (const one of sequences as number[]) found.add(one);
          },
        );
        const selects = compilePredicate(query, { nowMs: NOW_MS });
        for (const stored of events) {
          const expected = selects(stored.event);
          const one = said.get(stored.sequence);
          pairs++;
          if (expected) selected++;
          const isRight = one !== undefined && (expected ? one.upper === true : one.lower === false);
          const isLost = upper === lower && one?.upper !== expected;
          const isOther = found.has(stored.sequence) !== one?.upper;
          if (!isRight || isLost || isOther)
            wrong.push(shown({ query, stored, expected, said: one, text: upper.text }));
        }
        asked++;
        if (upper === lower) exact++;
      }
      await rm(path);
    }
  } finally {
    await readers.close();
    await journal.close();
    await rm(directory, { recursive: true });
  }
  return { queries: asked, pairs, selected, exact, columns, wrong };
}

interface Mismatch {
  readonly query: Query;
  readonly stored: StoredEvent;
  readonly expected: boolean;
  readonly said: unknown;
  readonly text: string;
}

const shown = ({ query, stored: { event }, expected, said, text }: Mismatch) =>
  `${printQuery(query)} | ${JSON.stringify(event)} | expected ${expected}, ${JSON.stringify(said)} | ${text}`;
