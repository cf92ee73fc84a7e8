// A store that is killed under load, again and again: CRASH_ROUNDS times (10), drawn by CRASH_SEED;
// `npm run crash:events` kills it 200 times.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { crashLoop } from "../support/events/crash-loop.ts";

const rounds = Number(process.env.CRASH_ROUNDS ?? 10);
const seed = Number(process.env.CRASH_SEED ?? 1);
const STORE_ROUNDS = 25;

t.test(`killed ${rounds} times: each acknowledged batch is there once and whole`, async (t) => {
  // Everything is read back in each round: of one store for all of them, that would be most of the time.
  for (let done = 0; done < rounds; done += STORE_ROUNDS) {
    const some = Math.min(STORE_ROUNDS, rounds - done);
    const directory = mkdtempSync(join(tmpdir(), "events-kill-"));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const { acknowledged, kept, segments, tornBytes, setAside, wrong } = await crashLoop(directory, some, seed + done);
    t.strictSame(wrong, []);
    t.strictSame(setAside, [], "nothing was taken for damaged");
    // Else nothing was tested.
    t.ok(acknowledged > some * 5 && kept >= acknowledged && segments > 0, `${acknowledged} ${kept} ${segments}`);
    t.comment(`${acknowledged} batches acknowledged, ${kept} kept, ${segments} segments, ${tornBytes} torn bytes cut`);
  }
});
