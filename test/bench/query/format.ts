// Entries as lines for people, in process: what the formatting alone costs.

import { logText } from "../../../cli/output/log-text.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { entryLines } from "./generate.ts";
import { median, spread } from "./statistics.ts";

const COUNT = 50_000;
const ROUNDS = 9;

export function benchFormat(): void {
  const next = entryLines(3);
  const entries = Array.from({ length: COUNT }, () => JSON.parse(next()) as Entry);
  const cases = {
    "all entries": entries,
    responses: entries.filter(({ message }) => message === "response"),
  };
  console.log(`formatting, ${COUNT} entries, ${ROUNDS} rounds`);
  for (const color of [false, true]) {
    for (const [name, some] of Object.entries(cases)) {
      const speeds = Array.from({ length: ROUNDS }, () => {
        const text = logText({ color, expand: false, nowMs: Date.UTC(2025, 6, 1) });
        let bytes = 0;
        const begin = performance.now();
        for (const entry of some) bytes += Buffer.byteLength(text(entry));
        return bytes / 1000 / (performance.now() - begin);
      });
      const label = `${name}${color ? ", coloured" : ""}`;
      console.log(`  ${label.padEnd(24)} ${median(speeds).toFixed(0)} MB/s of text  ${spread(speeds)}`);
    }
  }
}
