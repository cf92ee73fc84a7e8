// A store of which one thing is damaged: its folders, names and leftovers while nobody uses it, any file while it is open,
// and at random: DAMAGE_ROUNDS times (5), drawn by DAMAGE_SEED, of the faults that DAMAGE_FAULTS picks, DAMAGE_AT_ONCE
// of them in each round (1); `npm run damage:events` has 200 rounds of two. DAMAGE_ONLY picks rows. events-damage-journal.ts and
// events-damage-segments.ts have each kind of file.
import t from "tap";
import type { Case } from "../support/events/damage.ts";
import { deniedRows, runDenied } from "../support/events/damage-denied.ts";
import { damageLoop } from "../support/events/damage-loop.ts";
import { type OpenCase, openRows, runOpen } from "../support/events/damage-open.ts";
import { folderRows, leftoverRows, nameRows, newerRows, olderRows } from "../support/events/damage-rows.ts";
import { richStoreOfTests, testCases, testRows } from "../support/events/damage-tests.ts";

const rounds = Number(process.env.DAMAGE_ROUNDS ?? 5);
const seed = Number(process.env.DAMAGE_SEED ?? 1);
/** DAMAGE_ALL=1: each row at its full length, as `npm run damage:files` has it. */
const areAll = process.env.DAMAGE_ALL === "1";

const rich = await richStoreOfTests();
testCases(rich, [
  ["folders", followed(folderRows)],
  ["names", followed(nameRows)],
  ["earlier files", followed(olderRows)],
  ["leftovers", followed(leftoverRows)],
  ["newer versions", newerRows],
]);
testRows("while the store is open", openRows.filter(isOpenRow), (row) => runOpen(rich, row), 2);
testRows("as a user who may not", deniedRows, (row) => runDenied(rich, row), 3);
testRows("at random", [{ name: `${rounds} rounds of seed ${seed}` }], async () => {
  const { faults, wrong } = await damageLoop(rich, rounds, seed);
  t.comment(JSON.stringify(faults));
  return [...wrong];
});

/** The rows, of which each twelfth in which nothing is lost is followed through flushes, merges and later starts. */
function followed(rows: readonly Case[]): readonly Case[] {
  const isFollowed = ({ lost, extra, putBack, refused }: Case, i: number) =>
    [lost, extra, putBack, refused].some((one) => one !== undefined) || i % 12 === 0;
  return areAll ? rows : rows.map((row, i) => (isFollowed(row, i) ? row : { ...row, isShort: true }));
}

/** Whether a row is run: each third of those in which nothing is lost. */
function isOpenRow({ lost }: OpenCase, i: number): boolean {
  return areAll || lost !== undefined || i % 3 === 0;
}
