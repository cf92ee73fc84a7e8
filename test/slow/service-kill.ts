// The log service under many clients, killed at random and started again on the same directory: KILL_ROUNDS times (10),
// drawn by KILL_SEED. Nothing that was acknowledged, or shown, is lost, doubled or half there.
// `npm run crash:service` has 200 rounds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { Event } from "../../schema/rpc.generated.ts";
import { type RpcClient, rpcClient } from "../../schema/rpc-client.ts";
import { listening, type Running, spawnTool, tool } from "../support/cli.ts";
import { processesWith } from "../support/processes.ts";
import { type Random, randomOf } from "../support/random.ts";
import { type Batch, rangeOf, settle } from "../support/service-load/batches.ts";
import { Lives } from "../support/service-load/lives.ts";
import { Load, PROJECT, send, sizeOf } from "../support/service-load/load.ts";
import { Records, shelves } from "../support/service-load/records.ts";
import { until } from "../support/until.ts";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 100_000);
const INGEST_CLIENTS = 6;

const skip = process.platform === "linux" ? false : "needs /proc";

t.test(`killed ${ROUNDS} times, KILL_SEED=${SEED}`, { skip }, async (t) => {
  const random = randomOf(SEED);
  const folder = mkdtempSync(join(tmpdir(), "service-kill-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const made = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd: folder });
  const { token } = JSON.parse(made.stdout) as { token: string };

  const start = (): Running => {
    const env = { SERVICE_KILL_MARK: folder };
    const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder, env });
    t.teardown(() => running.kill("SIGKILL"));
    return running;
  };

  let running = start();
  let url = await listening(running);
  let client = rpcClient({ url, token });
  await client.call("add_project", { project: { id: PROJECT, name: PROJECT } });
  const webhook = { project_id: PROJECT, type: "webhook" as const, name: "all", webhook_url: "https://example.com/h" };
  const { id: notification } = await client.call("add_notification", { notification: webhook });
  const records = shelves(() => url, PROJECT, notification).map((shelf) => new Records(shelf, random));
  const lives = new Lives();
  const all = new Map<number, Batch>();
  let [next, visible, retried] = [0, 0, 0];

  for (let round = 1; round <= ROUNDS; round++) {
    const load = new Load(client, random, next);
    const clients = [
      ...Array.from({ length: INGEST_CLIENTS }, () => load.repeat("ingest", () => load.ingest())),
      load.repeat("count", () => load.count()),
      load.repeat("search", () => load.search()),
      load.repeat("tail", () => load.tail()),
      ...[...records, lives].map((one) => load.repeat("a change", () => one.change(client))),
    ];
    const ended = Promise.all(clients);
    await Promise.race([load.acknowledged(random.pick([0, 3, 20, 50, 100])), ended]);
    // Right after an acknowledgement, or at any moment.
    if (random.chance(0.7)) await pause(random.below(50));
    load.expectEnd();
    running.kill("SIGKILL");
    const { stderr } = await running.ended;
    await ended;
    t.same(load.wrong, [], `round ${round}: the answers`);
    t.notMatch(stderr, /damaged|error:/, `round ${round}: what it said`);

    running = start();
    if (random.chance(0.25)) {
      // While it mends what the last one left.
      await pause(random.below(600));
      running.kill("SIGKILL");
      await running.ended;
      running = start();
    }
    url = await listening(running);
    client = rpcClient({ url, token });

    for (const number of load.visibleBatches) load.batches.get(number)!.state = "there";
    const events = await eventsBetween(client, next, load.next);
    t.same(settle(load.batches, events), [], `round ${round}: the events`);
    retried += await retry(client, random, load.batches);
    t.same(
      settle(load.batches, await eventsBetween(client, next, load.next)),
      [],
      `round ${round}: the events, sent again`,
    );
    for (const one of [...records, lives]) t.same(await one.check(client), [], `round ${round}: the records`);

    visible += load.visibleBatches.size;
    next = load.next;
    for (const batch of load.batches.values()) all.set(batch.number, batch);
    const { count } = await client.call("get_count", { project_id: PROJECT, ...rangeOf(0, next) });
    t.equal(count, sizeOf(stored(all)), `round ${round}: all that there is`);
    if (!t.passing()) return;
  }

  t.same(settle(all, await eventsBetween(client, 0, next)), [], "in the end, each event");
  const metrics = await (await client.get("/metrics", {})).text();
  const [, segments] = /^\w*segments (\d+)$/m.exec(metrics) ?? [];
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0);
  await until("the end of what the killed ones began", () => processesWith(`SERVICE_KILL_MARK=${folder}`).length === 0);

  // Else nothing was tested.
  const changes = records.map(({ changes }) => changes);
  const summary = { batches: stored(all).length, shown: visible, retried, changes, lives: lives.count, segments };
  const isAll = [visible, retried, lives.count, Number(segments), ...changes].every((count) => count > 0);
  t.ok(isAll && stored(all).length > ROUNDS * 5, JSON.stringify(summary));
  t.comment(JSON.stringify(summary));
});

const stored = (batches: ReadonlyMap<number, Batch>) => [...batches.values()].filter(({ state }) => state === "there");

async function eventsBetween(client: RpcClient, from: number, to: number): Promise<Event[]> {
  const events: Event[] = [];
  let cursor: string | undefined;
  if (from === to) return events;
  do {
    const page = { limit: 5_000, order: "ascending" as const, ...(cursor !== undefined && { cursor }) };
    const answer = await client.call("search", { project_id: PROJECT, ...rangeOf(from, to), ...page });
    events.push(...answer.events);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return events;
}

/** Sends again what had no answer, and some of what had one, which a client may not have heard. */
async function retry(client: RpcClient, random: Random, batches: ReadonlyMap<number, Batch>): Promise<number> {
  const again = [...batches.values()].filter(
    ({ kind, state }) => kind !== "plain" && (state === "absent" || random.chance(0.2)),
  );
  for (const batch of again) await send(client, batch);
  return again.length;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
