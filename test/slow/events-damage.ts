// A store of which one thing is damaged: its folders, names and leftovers while nobody uses it, any file while it is open,
// and at random: DAMAGE_ROUNDS times (10), drawn by DAMAGE_SEED, of the faults that DAMAGE_FAULTS picks, DAMAGE_AT_ONCE
// of them in each round (1). DAMAGE_ONLY picks rows. events-damage-journal.ts and events-damage-segments.ts have each kind of file.
import t from "tap";
import { deniedRows, runDenied } from "../support/events/damage-denied.ts";
import { damageLoop } from "../support/events/damage-loop.ts";
import { openRows, runOpen } from "../support/events/damage-open.ts";
import { folderRows, leftoverRows, nameRows, newerRows, olderRows } from "../support/events/damage-rows.ts";
import { richStoreOfTests, testCases, testRows } from "../support/events/damage-tests.ts";

const rounds = Number(process.env.DAMAGE_ROUNDS ?? 10);
const seed = Number(process.env.DAMAGE_SEED ?? 1);

const rich = await richStoreOfTests();
testCases(rich, [
  ["folders", folderRows],
  ["names", nameRows],
  ["earlier files", olderRows],
  ["leftovers", leftoverRows],
  ["newer versions", newerRows],
]);
testRows("while the store is open", openRows, (row) => runOpen(rich, row), 2);
testRows("as a user who may not", deniedRows, (row) => runDenied(rich, row), 3);
testRows("at random", [{ name: `${rounds} rounds of seed ${seed}` }], async () => {
  const { faults, wrong } = await damageLoop(rich, rounds, seed);
  t.comment(JSON.stringify(faults));
  return [...wrong];
});
