// Random queries with events made to nearly match them, as lines of the journal: the filters over bytes and over columns
// against the predicate.
import fc from "fast-check";
import { compilePredicate, printQuery } from "../../../grammar/query/index.ts";
import { columnFilter } from "../../../logservice/events/column-filter.ts";
import { encodeBatch, eventAt } from "../../../logservice/events/journal/batch-lines.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import { lineFilter } from "../../../logservice/events/line-filter.ts";
import { MemtableEvents } from "../../../logservice/events/memtable.ts";
import { queries } from "../query-arbitrary.ts";
import { generator, NOW_MS, nearLines } from "../scan-fuzz.ts";
import { storable } from "./storable.ts";

export interface Filtered {
  readonly pairs: number;
  /** Pairs whose query has a filter: those that the predicate selects, and those that the filter lets pass. */
  readonly selected: number;
  readonly passed: number;
  readonly filtered: number;
  /** Query and event of each pair that the filter lost. */
  readonly lost: readonly string[];
  /** Pairs whose query is one of columns. */
  readonly byColumns: number;
  /** Query and event of each pair that columns and the predicate decide differently. */
  readonly different: readonly string[];
}

/** So many queries share their events: each is also asked of those that nearly match the others. */
const QUERIES_PER_BATCH = 20;

export async function compareFilter(count: number, seed: number): Promise<Filtered> {
  const random = generator(seed);
  const lost: string[] = [];
  const different: string[] = [];
  let [pairs, selected, passed, filtered, byColumns] = [0, 0, 0, 0, 0];
  for (let batch = 0; pairs < count; batch++) {
    const some = fc.sample(queries, { numRuns: QUERIES_PER_BATCH, seed: seed + batch });
    const events = some
      .flatMap((query) => nearLines(query, random))
      .map((line) => encodeEvent(storable(line, batch % 2 === 0)));
    const lines = encodeBatch("app", 1 + batch, events);
    const stored = events.map((_, i) => eventAt(lines, i).event);
    const memtable = new MemtableEvents();
    memtable.add(lines);
    for (const query of some) {
      pairs += stored.length;
      const ofColumns = columnFilter(query, NOW_MS);
      const columns = await (ofColumns && memtable.columns.read(ofColumns.requests, stored.length, signal));
      if (columns !== undefined) {
        const passes = ofColumns!.over(columns);
        const selects = compilePredicate(query, { nowMs: NOW_MS });
        byColumns += stored.length;
        for (const [i, event] of stored.entries())
          if (passes(i) !== selects(event)) different.push(`${printQuery(query)} | ${JSON.stringify(event)}`);
      }
      const filter = lineFilter(query, NOW_MS);
      if (filter === undefined) continue;
      const passing = new Set(filter(lines));
      const selects = compilePredicate(query, { nowMs: NOW_MS });
      filtered += stored.length;
      passed += passing.size;
      for (const [i, event] of stored.entries()) {
        if (!selects(event)) continue;
        selected++;
        if (!passing.has(i)) lost.push(`${printQuery(query)} | ${JSON.stringify(event)}`);
      }
    }
  }
  return { pairs, selected, passed, filtered, lost, byColumns, different };
}

const { signal } = new AbortController();
