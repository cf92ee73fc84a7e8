// Requests over instances that are real processes of the runtime, killed, stopped, continued and throttled, and a real service that
// is killed twice and started again over the same data: entries are counted by their ids, with CloudWatch and without. DELIVERY_REQUESTS
// requests (1,000, and 300 without CloudWatch) over DELIVERY_INSTANCES instances (12, 5), the service away for DELIVERY_AWAY_MS each
// time (4,000), drawn by DELIVERY_SEED; `npm run count:delivery` makes 100,000 over 50, away for 30 s. DELIVERY_CLOUDWATCH=false
// leaves out the count with it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { tool } from "../support/cli.ts";
import { CLOSING, InstanceProcess, makeDeployment } from "../support/delivery/processes.ts";
import { randomOf } from "../support/random.ts";
import { serviceProcess } from "../support/service-process.ts";

const sizeOf = (printsAll: boolean) => ({
  requests: Number(process.env.DELIVERY_REQUESTS ?? (printsAll ? 1_000 : 300)),
  instances: Number(process.env.DELIVERY_INSTANCES ?? (printsAll ? 12 : 5)),
  /** Instances that are ended on the way, in the usual rows. */
  ended: printsAll ? 12 : 5,
});
const AWAY_MS = Number(process.env.DELIVERY_AWAY_MS ?? 4_000);
const SEED = Number(process.env.DELIVERY_SEED ?? 7);
/** Two entries of each such request have it; 1 MB is kept. */
const LONG = `long=${"x".repeat(20_000)}`;
const OVERFLOWING = 60;
const WAYS = (process.env.DELIVERY_CLOUDWATCH ?? "true,false").split(",").map((text) => text === "true");
/** Requests at once. */
const MOST_CLIENTS = 8;
/** Requests of each instance at the end, when the pause after failures is over; they are not counted. */
const MOST_DRAINS = 120;
const DRAIN = "drain";

const skip = process.platform === "linux" ? false : "needs SIGSTOP and /proc";

async function startService(t: Test) {
  const data = mkdtempSync(join(tmpdir(), "tool-delivery-data-"));
  t.teardown(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));
  const made = await tool(["service", "init", "--data", data, "--format", "json"]);
  const { token } = JSON.parse(made.stdout) as { token: string };
  const service = await serviceProcess(t, { data, smtp: "smtp://127.0.0.1:9" });
  await service.start();
  const client = rpcClient({ url: service.url, token });
  await client.call("add_project", { project: { id: "shop", name: "shop" } });
  const app = { description: "shop, production", scopes: ["events:write" as const], project_id: "shop" };
  const { id } = await client.call("add_token", { token: { ...app, stage: "production" } });
  return {
    service,
    place: { url: `${service.url}/ingest/shop`, token: id },
    /** How often each id is stored, the queries of the responses, and the entries that each closing line counts, by its id. */
    async stored() {
      const ids = new Map<string, number>();
      const responses = new Set<string>();
      const closings = new Map<string, number>();
      const range = { start: "2000-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
      let cursor: string | undefined;
      do {
        const page = { limit: 10_000, order: "ascending" as const, ...(cursor && { cursor }) };
        const answer = await client.call("search", { project_id: "shop", ...range, ...page });
        for (const { id, message, fields } of answer.events) {
          ids.set(id, (ids.get(id) ?? 0) + 1);
          if (message === "response") responses.add(String(fields.query));
          if (message === CLOSING) closings.set(id, Number(fields.entries));
        }
        cursor = answer.cursor;
      } while (cursor !== undefined);
      return { ids, responses, closings };
    },
  };
}

for (const printsAll of WAYS) {
  const { requests, instances, ended } = sizeOf(printsAll);
  const clients = Math.min(MOST_CLIENTS, instances - 2);
  const kills = Math.max(0.002, ended / requests);
  t.test(`${requests} requests ${printsAll ? "with" : "without"} CloudWatch, by processes`, { skip }, async (t) => {
    const random = randomOf(SEED);
    const { service, place, stored } = await startService(t);
    const directory = makeDeployment(t, { printsAll });
    const all: InstanceProcess[] = [];
    let request = 0;
    t.teardown(() => {
      // After a failure nobody asks any more: an instance would start anew.
      request = requests;
      for (const one of all) one.end();
    });
    const start = () => {
      const instance = new InstanceProcess(directory, place);
      all.push(instance);
      return instance;
    };
    let living = Array.from({ length: instances }, start);
    // It lives to the end, and is asked in each outage until it has written more than is kept.
    const steady = start();
    let steadyRequests = 0;
    const beganMs = systemClock.monotonicMs();

    let away: Promise<void> | undefined;
    const goAway = async (before: Promise<void> | undefined) => {
      // On a fast machine the second time comes before the first is over.
      await before;
      await service.kill();
      // The outage itself, at least so long: the pauses of real processes go by the machine's clock.
      const lasting = systemClock.sleep(AWAY_MS);
      for (let i = 0; i < OVERFLOWING; i++) await steady.serve(`r=steady${++steadyRequests}&${LONG}`);
      await lasting;
      await service.start();
    };
    const awayAt = new Set([Math.floor(requests / 3), Math.floor((2 * requests) / 3)]);
    const endings: Promise<void>[] = [];
    const client = async () => {
      while (request < requests) {
        const number = ++request;
        if (awayAt.has(number)) {
          const now = goAway(away).finally(() => {
            if (away === now) away = undefined;
          });
          away = now;
        }
        // Two are asked all the time, the others now and then.
        const idle = living.filter((one) => !one.isBusy);
        const instance = (random.chance(0.4) && idle.find((one) => living.indexOf(one) < 2)) || random.pick(idle);
        // Who is asked much while the service is away writes more than is kept.
        const isLong = away !== undefined && living.indexOf(instance) < 2;
        const isThrottled = random.chance(0.03);
        const gapMs = random.below(random.chance(0.02) ? 300 : 10);
        const isEnding = random.chance(kills);
        const isKill = random.chance(0.5);
        const work = instance.serve(`r=${number}${isLong ? `&${LONG}` : ""}`, { isThrottled });
        if (isEnding) {
          living = living.filter((one) => one !== instance);
          living.push(start());
          if (isKill) {
            // While it answers, most times.
            await systemClock.sleep(gapMs);
            instance.kill();
          } else endings.push(work.then(() => instance.shutDown()));
        }
        await work;
        await systemClock.sleep(gapMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await Promise.all([...endings, away]);
    living.push(steady);
    const servedMs = systemClock.monotonicMs() - beganMs;

    const killed = all.filter(({ ending }) => ending === "killed");
    const shutDown = all.filter(({ ending }) => ending === "shut down");
    // All that waits is sent when the pause after the last failure is over.
    let kept = await stored();
    const missingOf = (among: readonly InstanceProcess[]) =>
      among.flatMap(({ printed }) => [...printed].filter((id) => !kept.ids.has(id)));
    // Without CloudWatch a closing line is in the service, on stdout if it could not be delivered at once, or in both.
    const countedOf = (among: readonly InstanceProcess[]) => {
      const closings = new Map(among.flatMap((one) => [...one.closings]));
      if (!printsAll) for (const [id, entries] of kept.closings) closings.set(id, entries);
      return [...closings.values()].reduce((sum, entries) => sum + entries, 0);
    };
    const nowhere = (among: readonly InstanceProcess[]) =>
      among.flatMap((one) =>
        one.answered.filter((query) => query !== DRAIN && !one.responses.has(query) && !kept.responses.has(query)),
      );
    await systemClock.sleep(Math.min(60_000, 2 * AWAY_MS));
    const isSent = () =>
      countedOf(living) > 0 &&
      missingOf(living).length <= countedOf(living) &&
      (printsAll || nowhere(living).length === 0);
    for (let round = 0; round < MOST_DRAINS; round++) {
      for (const instance of living) {
        await instance.serve(DRAIN);
        await instance.idle();
      }
      kept = await stored();
      if (isSent()) break;
      // Entries do not wait for others after a pause, and the service may be slow just now.
      await systemClock.sleep(1_000);
    }

    const lost = missingOf(living);
    const counted = countedOf(living);
    const printed = new Set(all.flatMap((one) => [...one.printed]));
    console.log(
      `measured: ${requests} requests in ${Math.round(servedMs / 1000)} s, ${all.length} instances, ${printed.size} entries on stdout, ` +
        `${kept.ids.size} in the service, ${lost.length} missing of those that lived, ${counted} counted, ` +
        `${missingOf(shutDown).length} of ${shutDown.length} shut down, ${nowhere(shutDown).length} of their answers nowhere, ${missingOf(killed).length} of ${killed.length} killed`,
    );
    t.same(
      [...kept.ids].filter(([, times]) => times > 1),
      [],
      "no id is twice in the service",
    );
    t.ok(counted > 0, "some were dropped");
    t.same(
      [...living, ...shutDown].filter(({ starts }) => starts > 1),
      [],
      "no instance ended by itself",
    );
    t.ok(lost.length <= counted, `${lost.length} entries are missing, ${counted} are counted`);
    if (printsAll) {
      // Whoever is killed as it answers has not written of that answer yet.
      const cutOff = new Set(killed.flatMap(({ answered }) => answered.slice(-1)));
      t.same(
        nowhere(all).filter((query) => !cutOff.has(query)),
        [],
        "each answer is in CloudWatch or in the service",
      );
      t.same(gapsIn(new Set([...printed, ...kept.ids.keys()])), [], "no number of an instance is missing in both");
    } else {
      // Those that are shut down have half a second, which may be none on a busy machine.
      t.same(nowhere(living), [], "each answer is printed or in the service");
    }
    t.notMatch(service.said(), /error:/);
  });
}

/** The ids that are missing among those of the same instance: each numbers its entries from 1 on. */
function gapsIn(ids: ReadonlySet<string>): string[] {
  const most = new Map<string, number>();
  for (const id of ids) {
    const [instance = "", number] = id.split("-");
    most.set(instance, Math.max(most.get(instance) ?? 0, Number(number)));
  }
  return [...most].flatMap(([instance, last]) =>
    Array.from({ length: last }, (_, at) => `${instance}-${at + 1}`).filter((id) => !ids.has(id)),
  );
}
