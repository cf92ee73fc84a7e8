// A store of which one thing is damaged: each kind of file, each fault, while nobody uses it, while it is open, and at
// random: DAMAGE_ROUNDS times (20), drawn by DAMAGE_SEED, of the faults that DAMAGE_FAULTS picks. DAMAGE_ONLY picks rows.
import t from "tap";
import { type Case, runCase } from "../support/events/damage.ts";
import { deniedRows, runDenied } from "../support/events/damage-denied.ts";
import { damageLoop } from "../support/events/damage-loop.ts";
import { openRows, runOpen } from "../support/events/damage-open.ts";
import { fileRows, folderRows, leftoverRows, nameRows, newerRows, olderRows } from "../support/events/damage-rows.ts";
import { buildRichStore } from "../support/events/rich-store.ts";

const only = new RegExp(process.env.DAMAGE_ONLY ?? "");

const rounds = Number(process.env.DAMAGE_ROUNDS ?? 20);
const seed = Number(process.env.DAMAGE_SEED ?? 1);

const rich = await buildRichStore();
t.teardown(() => rich.remove());

const groups: readonly (readonly [string, readonly Case[]])[] = [
  ...fileRows,
  ["folders", folderRows],
  ["names", nameRows],
  ["earlier files", olderRows],
  ["leftovers", leftoverRows],
  ["newer versions", newerRows],
];

/** A test for the chosen rows of a kind, several at once: most of a row is waiting for disks and processes. */
function test<Row extends { readonly name: string }>(
  kind: string,
  rows: readonly Row[],
  run: (row: Row) => Promise<string[]>,
  atOnce = 1,
) {
  const chosen = rows.filter(({ name }) => only.test(name));
  if (chosen.length === 0) return;
  t.test(kind, async (t) => {
    for (let i = 0; i < chosen.length; i += atOnce) {
      const some = chosen.slice(i, i + atOnce);
      const results = await Promise.all(some.map(run));
      for (const [at, row] of some.entries()) t.strictSame(results[at], [], row.name);
    }
  });
}

for (const [kind, rows] of groups) test(kind, rows, (row) => runCase(rich, row), 3);
test("while the store is open", openRows, (row) => runOpen(rich, row), 2);
test("as a user who may not", deniedRows, (row) => runDenied(rich, row), 3);
test("at random", [{ name: `${rounds} rounds of seed ${seed}` }], async () => {
  const { faults, wrong } = await damageLoop(rich, rounds, seed);
  t.comment(JSON.stringify(faults));
  return [...wrong];
});
