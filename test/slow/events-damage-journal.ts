// A store of which one file of the journal, or a list of its files or folders, is damaged while nobody uses it.
// DAMAGE_ONLY picks rows.
// A bit is flipped in DAMAGE_FLIPS places of each file (4); `npm run damage:files` flips it in 40.
import { journalRows } from "../support/events/damage-rows.ts";
import { richStoreOfTests, testCases } from "../support/events/damage-tests.ts";

testCases(await richStoreOfTests(), journalRows);
