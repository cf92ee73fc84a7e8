// Completion at every cursor of a query, as it is typed and as a cursor jumps in it, with a log's worth of fields.
import { complete } from "../../../grammar/query/complete.ts";
import { type CompletionSources, QuerySession } from "../../../grammar/query/index.ts";
import { QUERIES } from "./parse.ts";

const ROUNDS = 40;

const SOURCES: CompletionSources = {
  fields: Array.from({ length: 200 }, (_, i) => ({ name: `app.section${i % 20}.field${i}`, type: "string", count: i })),
  values: () => Array.from({ length: 100 }, (_, i) => ({ value: `value${i}` })),
};

export function benchComplete(): void {
  const query = QUERIES.medium;
  const cases: Record<string, () => number[]> = {
    "typed, key by key": () => {
      const session = new QuerySession();
      return offsets(query).map((offset) =>
        time(() => {
          session.update(query.slice(0, offset));
          session.complete(offset, SOURCES);
        }),
      );
    },
    "cursor moving": () => {
      const session = new QuerySession(query);
      return offsets(query).map((offset) => time(() => session.complete(offset, SOURCES)));
    },
    "without a session": () => offsets(query).map((offset) => time(() => complete(query, offset, SOURCES))),
  };
  console.log(`completion in the medium query, 200 fields and 100 values supplied, ${ROUNDS} rounds`);
  console.log(
    `  the first of all: ${time(() => complete(query, query.length, SOURCES)).toFixed(1)} ms, with loading Ohm`,
  );
  for (const [name, run] of Object.entries(cases)) {
    run();
    const ms = Array.from({ length: ROUNDS }, run)
      .flat()
      .sort((a, b) => a - b);
    const at = (share: number) => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))]!.toFixed(2);
    console.log(`  ${name.padEnd(20)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  largest ${at(1)} ms`);
  }
}

const offsets = (text: string) => Array.from({ length: text.length + 1 }, (_, offset) => offset);

function time(run: () => void): number {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}
