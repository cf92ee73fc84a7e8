// The most valuable rows of test/slow/events-damage.ts: a store of which one thing was damaged while nobody used it.
import t from "tap";
import { runCase } from "./support/events/damage.ts";
import { fileRows, folderRows, nameRows, newerRows, olderRows } from "./support/events/damage-rows.ts";
import { buildRichStore } from "./support/events/rich-store.ts";

const NAMES = [
  "a manifest: gone",
  "a manifest: one from before a merge",
  "a manifest: of a newer version",
  "a merged segment: a bit flipped, place 1 of 20",
  "an ended journal file: gone",
  "the current journal file: a bit flipped, place 11 of 20",
  "a project's folder: gone",
  "a project's folder: doubled as K~N.bak",
];

t.setTimeout(120_000);
const rich = await buildRichStore();
t.teardown(() => rich.remove());

const rows = [...fileRows.flatMap(([, rows]) => rows), ...folderRows, ...nameRows, ...newerRows, ...olderRows];
for (const name of NAMES) {
  t.test(name, { timeout: 120_000 }, async (t) => {
    const row = rows.find((one) => one.name === name);
    t.strictSame(row && (await runCase(rich, row)), []);
  });
}
