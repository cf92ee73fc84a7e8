// Requests over 50 instances that are killed, frozen, thawed and throttled, with the log service away twice: entries are counted by
// their ids. 2,000 requests here; `npm run count:delivery` makes 100,000. A model of the service and of time; with the real
// ones it is log-delivery-processes.ts.
import t from "tap";
import { Instance, ServiceModel } from "../support/delivery/platform.ts";
import { randomOf } from "../support/random.ts";
import { TestClock } from "../support/test-clock.ts";

const REQUESTS = Number(process.env.DELIVERY_REQUESTS ?? 2_000);
const SEED = Number(process.env.DELIVERY_SEED ?? 7);
const INSTANCES = 50;
/** Between two requests, at random: a few minutes in all at least, of which the service is away for one. */
const MAX_GAP_MS = Math.max(15, Math.ceil(400_000 / REQUESTS));
const AWAY_MS = 30_000;
/** Requests of each instance at the end, a minute apart: all that waits is sent by the last one. */
const DRAINS = 3;

for (const printsAll of [true, false]) {
  t.test(`${REQUESTS} requests ${printsAll ? "with" : "without"} CloudWatch`, async (t) => {
    const random = randomOf(SEED);
    const clock = new TestClock();
    const service = new ServiceModel(clock, random);
    const printed = new Set<string>();
    let count = 0;
    const start = () => new Instance((++count).toString(16).padStart(16, "0"), { clock, service, printed, printsAll });
    const ended: { readonly instance: Instance; readonly how: "killed" | "shut down" }[] = [];
    let living = Array.from({ length: INSTANCES }, start);
    const serving = new Set<Promise<void>>();
    const track = (work: Promise<void>) => {
      serving.add(work);
      void work.finally(() => serving.delete(work));
    };

    // Away twice, at a third and at two thirds of the requests.
    const awayAt = new Set([Math.floor(REQUESTS / 3), Math.floor((2 * REQUESTS) / 3)]);
    let backAtMs = Number.NEGATIVE_INFINITY;
    for (let request = 0; request < REQUESTS; request++) {
      if (awayAt.has(request)) backAtMs = clock.nowMs() + AWAY_MS;
      service.isAway = clock.nowMs() < backAtMs;
      const idle = living.filter((instance) => !instance.isBusy);
      // A few are asked all the time, the others now and then; all at once wait as on the platform.
      const instance = random.chance(0.5) ? idle[0] : idle.length === 0 ? undefined : random.pick(idle);
      if (instance === undefined) {
        await clock.advance(20);
        request--;
        continue;
      }
      // Without a core for itself, what takes 10 ms takes 100.
      const isThrottled = random.chance(0.05);
      const ms = (5 + random.below(50)) * (isThrottled ? 10 : 1);
      // Now and then an app writes more than is kept.
      const lines = random.chance(0.002) ? 6_000 : random.below(4);
      track(instance.serve(ms, { count: lines, isError: random.chance(0.05) }));
      if (random.chance(0.002)) {
        const other = living.find((one) => one !== instance && (random.chance(0.5) || !one.isBusy));
        if (other !== undefined) {
          living = living.filter((one) => one !== other);
          living.push(start());
          if (other.isBusy || random.chance(0.5)) {
            other.kill();
            ended.push({ instance: other, how: "killed" });
          } else {
            track(other.shutDown());
            ended.push({ instance: other, how: "shut down" });
          }
        }
      }
      await clock.advance(random.chance(0.01) ? 400 : random.below(MAX_GAP_MS));
    }
    service.isAway = false;
    service.isFaulty = false;
    // An instance that is killed never ends what it was doing.
    await clock.advance(120_000);
    for (let round = 0; round < DRAINS; round++) {
      for (const instance of living) track(instance.serve(5, { count: 0, isError: true }));
      await clock.advance(61_000);
    }

    const missingOf = (instances: readonly Instance[]) =>
      instances.flatMap(({ written }) => written.filter((id) => !service.stored.has(id)));
    const countedOf = (instances: readonly Instance[]) => instances.reduce((sum, { counted }) => sum + counted, 0);
    const killed = ended.filter(({ how }) => how === "killed").map(({ instance }) => instance);
    const shutDown = ended.filter(({ how }) => how === "shut down").map(({ instance }) => instance);
    const all = [...living, ...killed, ...shutDown];
    const written = all.flatMap((instance) => instance.written);
    const lost = missingOf(living);
    const counted = countedOf(living);
    console.log(
      `measured: ${written.length} entries of ${count} instances, ${service.stored.size} in the service, ` +
        `${service.repeated} batches came twice, ${lost.length} missing of those that lived, ${counted} counted, ` +
        `${missingOf(shutDown).length} of ${shutDown.length} shut down, ${missingOf(killed).length} of ${killed.length} killed`,
    );
    t.same(
      [...service.stored].filter(([, times]) => times > 1),
      [],
      "no id is twice in the service",
    );
    t.ok(service.repeated > 0, "batches came again, with their keys");
    t.ok(lost.length <= counted, `${lost.length} entries are missing, ${counted} are counted`);
    t.ok(counted > 0, "some were dropped");
    const nowhere = (ids: readonly string[]) => ids.filter((id) => !service.stored.has(id) && !printed.has(id));
    if (printsAll) t.same(nowhere(written), [], "each entry is in CloudWatch or in the service");
    else {
      t.same(nowhere(living.flatMap((one) => one.written)), [], "each entry is printed or in the service");
      t.same(nowhere(shutDown.flatMap((one) => one.written)), [], "also of instances that were shut down");
      // A second in which entries wait for others, and the time for sending them.
      const early = (one: Instance) => nowhere(one.written).filter((id) => !one.writtenInLast(1_250).has(id));
      t.same(killed.flatMap(early), [], "those that were killed lose a second");
    }
  });
}
