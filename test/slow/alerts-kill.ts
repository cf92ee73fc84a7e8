// Evaluators that are killed at random, ALERT_ROUNDS times (10), drawn by ALERT_SEED: each transition is told exactly once.
// `npm run crash:alerts` has 200 rounds.
import { spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t from "tap";
import { FIRST_SLOT, happened, LEVELS, MINUTES } from "../support/alerts/numbers.ts";
import { openWorld, type World } from "../support/alerts/world.ts";
import { randomOf } from "../support/random.ts";

const rounds = Number(process.env.ALERT_ROUNDS ?? 10);
const seed = Number(process.env.ALERT_SEED ?? 1);
const program = join(
  resolve(dirname(fileURLToPath(import.meta.url)), "../.."),
  "test/support/alerts/evaluator-process.js",
);
/** The minutes that have events are as many as that many rounds get through. */
const WORLD_ROUNDS = 10;

async function worldWithAlerts(world: World): Promise<void> {
  for (const query of LEVELS) {
    for (let threshold = 0; threshold < 4; threshold++) {
      await world.add({
        query,
        threshold,
        operator: threshold % 2 === 0 ? ">" : "<",
        for: 1 + (threshold % 3),
        recover: 1 + (threshold % 2),
      });
    }
  }
}

interface Child {
  readonly ended: Promise<void>;
  /** Resolves after so many passes. */
  passes(count: number): Promise<void>;
  said(): string;
  kill(): Promise<void>;
}

function start(world: World, clock: string): Child {
  const child = spawn(process.execPath, [program, world.directory, world.events_key, clock], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let passes = 0;
  let look = () => {};
  child.stdout.on("data", (lines: Buffer) => {
    passes += lines.length / "pass\n".length;
    look();
  });
  return {
    ...{ ended, said: () => said },
    passes: (count) =>
      new Promise((resolve, reject) => {
        look = () => passes >= count && resolve();
        look();
        child.once("close", () => reject(new Error(`it ended: ${said}`)));
      }),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Returns the faults in what was told and in the episodes; the number of transitions. */
async function check(
  world: World,
  isEachTold: boolean,
): Promise<{ wrong: string[]; transitions: number; slots: number }> {
  const { db } = world.records;
  const wrong: string[] = [];
  let [transitions, slots] = [0, 0];
  const deliveries = await world.deliveries();
  for (const alert of await db.selectFrom("alerts").selectAll().execute()) {
    const expected = happened(alert, FIRST_SLOT);
    transitions += expected.length;
    slots += alert.next_slot - FIRST_SLOT;
    const own = deliveries.filter((row) => row.alert_id === alert.id);
    const lines = own.map(({ message: { kind, window, value } }) => `${kind} ${window.stop} ${value}`);
    const lasting = expected.map(({ kind, stop, value }) => `${kind} ${stop} ${value}`);
    const name = `${alert.query} ${alert.operator} ${alert.threshold}`;
    if (isEachTold && lines.join() !== lasting.join())
      wrong.push(`${name}: told ${lines.join()}, not ${lasting.join()}`);
    const unknown = lines.filter((line, at) => !lasting.includes(line) || lines.indexOf(line) !== at);
    if (unknown.length > 0) wrong.push(`${name}: told ${unknown.join()} twice, or what did not happen`);
    const kinds = own.map(({ kind }) => kind);
    if (kinds.some((kind, at) => kind !== (at % 2 === 0 ? "triggered" : "resolved")))
      wrong.push(`${name}: ${kinds.join()}`);
    if (own.some(({ message }, at) => at % 2 === 1 && message.episodeId !== own[at - 1]!.message.episodeId)) {
      wrong.push(`${name}: an end of another episode`);
    }
    const episodes = await db
      .selectFrom("episodes")
      .select(["triggered_at", "resolved_at"])
      .where("alert_id", "=", alert.id)
      .orderBy("triggered_at")
      .execute();
    const begun = expected.filter(({ kind }) => kind === "triggered").map(({ stop }) => stop);
    const ended = expected.filter(({ kind }) => kind === "resolved").map(({ stop }) => stop);
    const pairs = begun.map((since, at) => `${since} ${ended[at] ?? null}`);
    const actual = episodes.map((one) => `${one.triggered_at} ${one.resolved_at}`);
    if (pairs.join() !== actual.join()) wrong.push(`${name}: episodes ${actual.join()}, not ${pairs.join()}`);
    if ((alert.triggered === 1) !== begun.length > ended.length)
      wrong.push(`${name}: is triggered: ${alert.triggered}`);
  }
  return { wrong, transitions, slots };
}

t.test(`killed ${rounds} times`, async (t) => {
  const random = randomOf(seed);
  for (let done = 0; done < rounds; done += WORLD_ROUNDS) {
    const world = await openWorld(t);
    await worldWithAlerts(world);
    let before = 0;
    for (let round = done; round < Math.min(rounds, done + WORLD_ROUNDS); round++) {
      const child = start(world, "slots");
      await child.passes(1 + random.below(20));
      await sleep(random.below(30));
      await child.kill();
      const { wrong, transitions, slots } = await check(world, true);
      t.same([wrong, child.said()], [[], ""], `round ${round}`);
      t.ok(slots < MINUTES * LEVELS.length * 4, "the minutes have events");
      t.comment(`round ${round}: ${transitions - before} transitions, ${slots} slots`);
      before = transitions;
    }
    t.ok(before > rounds, `${before} transitions: else nothing was tested`);
  }
});

t.test("two processes on the same records, one of them killed now and then", async (t) => {
  const random = randomOf(seed);
  const world = await openWorld(t);
  await worldWithAlerts(world);
  const clock = String(Date.now());
  const children = [start(world, clock), start(world, clock)];
  t.teardown(async () => {
    for (const child of children) await child.kill();
  });
  await Promise.all(children.map((child) => child.passes(1)));
  for (let round = 0; round < Math.min(rounds, 10); round++) {
    await sleep(200 + random.below(1_500));
    const at = random.below(2);
    await children[at]!.kill();
    children[at] = start(world, clock);
    await children[at]!.passes(1);
  }
  await sleep(3_000);
  for (const child of children) await child.kill();
  const { wrong, transitions } = await check(world, false);
  t.same(wrong, []);
  t.ok(transitions > 15, `${transitions} transitions`);
  const deliveryCount = (await world.deliveries()).length;
  t.ok(
    deliveryCount > transitions / 4,
    `${deliveryCount} of ${transitions} told: the others were over when one took over`,
  );
});
