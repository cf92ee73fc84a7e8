// Random queries with events made to nearly match them, as lines of the journal: the filter against the predicate.
import fc from "fast-check";
import { compilePredicate, printQuery } from "../../../grammar/query/index.ts";
import { encodeBatch, eventAt } from "../../../logservice/events/journal/batch-lines.ts";
import { encodeEvent } from "../../../logservice/events/journal/line.ts";
import { lineFilter } from "../../../logservice/events/line-filter.ts";
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
}

/** So many queries share their events: each is also asked of those that nearly match the others. */
const QUERIES_PER_BATCH = 20;

export function compareFilter(count: number, seed: number): Filtered {
  const random = generator(seed);
  const lost: string[] = [];
  let [pairs, selected, passed, filtered] = [0, 0, 0, 0];
  for (let batch = 0; pairs < count; batch++) {
    const some = fc.sample(queries, { numRuns: QUERIES_PER_BATCH, seed: seed + batch });
    const events = some
      .flatMap((query) => nearLines(query, random))
      .map((line) => encodeEvent(storable(line, batch % 2 === 0)));
    const lines = encodeBatch("app", 1 + batch, events);
    const stored = events.map((_, i) => eventAt(lines, i).event);
    for (const query of some) {
      pairs += stored.length;
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
  return { pairs, selected, passed, filtered, lost };
}
