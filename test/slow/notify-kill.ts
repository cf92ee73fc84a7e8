// A process that delivers is killed while it does, again and again: NOTIFY_ROUNDS times (10), drawn by NOTIFY_SEED. Each
// transition is told at least once and in order, also where some attempts fail.
// `npm run crash:alerts` has 200 rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t from "tap";
import { startMailServer } from "../support/notify/mail-server.ts";
import { startReceiver } from "../support/notify/receiver.ts";
import { openWorld } from "../support/notify/world.ts";
import { randomOf } from "../support/random.ts";
import { until } from "../support/until.ts";

const rounds = Number(process.env.NOTIFY_ROUNDS ?? 10);
const ALERTS = 3;

t.test(`killed ${rounds} times: each transition is told, in order`, async (t) => {
  const random = randomOf(Number(process.env.NOTIFY_SEED ?? 1));
  const world = await openWorld(t);
  const receiver = await startReceiver(t);
  const server = await startMailServer(t);
  const people = ["ann@example.com", "bob@example.com"];
  const program = fileURLToPath(new URL("../support/notify/queue-process.js", import.meta.url));
  // A target of its own for each few rounds: more than ten messages within a minute would wait for its end.
  const targets: string[] = [];
  const deliveries: { id: string; target: string; alertId: string; kind: "triggered" | "resolved" }[] = [];
  const start = async () => {
    const child = spawn(process.execPath, [program, world.directory, server.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    return child;
  };
  receiver.behave(() => (random.chance(0.1) ? "close" : { status: 200 }));

  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      targets[0] = await world.notification({ type: "webhook", webhook_url: receiver.url });
      targets[1] = await world.notification({ type: "email", email_addresses: people });
    }
    const child = await start();
    const kind = round % 2 === 0 ? "triggered" : "resolved";
    for (const target of targets) {
      for (let i = 0; i < ALERTS; i++) {
        const alertId = `${target.slice(0, 6)}-${i}`;
        const id = await world.tell(target, kind, { alertId, episodeId: `ep_${round >> 1}_${i}` });
        deliveries.push({ id, target, alertId, kind });
        if (random.chance(0.3)) await sleep(random.below(60));
      }
    }
    await sleep(random.below(600));
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  const waiting = async () => (await world.deliveries()).filter(({ status }) => status === "waiting").length;
  const left = await waiting();
  const last = await start();
  await until("all of it", async () => (await waiting()) === 0, waiting);
  last.kill("SIGKILL");
  await once(last, "exit");

  const expectedOf = (alertId: string) => deliveries.filter((one) => one.alertId === alertId).map(({ id }) => id);
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire.
  const posted: any[] = receiver.bodies().flatMap((body) => body.messages ?? [body]);
  const firsts = (ids: readonly string[]) => [...new Set(ids)];
  let mails = 0;
  for (const alertId of new Set(deliveries.map((one) => one.alertId))) {
    const expected = expectedOf(alertId);
    const ofAlert = posted.filter(({ alert }) => alert.id === alertId).map(({ id }) => id);
    const isWebhook = ofAlert.length > 0;
    if (isWebhook) t.same(firsts(ofAlert), expected, `${alertId}: posted in order`);
    for (const person of isWebhook ? [] : people) {
      const mailed = server.mails
        .filter(({ to, mail }) => to === person && mail.subject!.endsWith(`alert ${alertId}`))
        .map(({ mail }) => mail.messageId!.slice(1).split("@")[0]!);
      mails += mailed.length;
      t.same(firsts(mailed), expected, `${alertId}: ${person} was mailed in order`);
    }
  }
  t.same(new Set((await world.deliveries()).map(({ status }) => status)), new Set(["delivered"]));
  const sent = posted.length + mails;
  const least = (deliveries.length / 2) * (1 + people.length);
  t.ok(sent >= least, `${sent} of at least ${least}`);
  // Else no kill was in time.
  t.ok(left > 0 || sent > least, "something was under way when it was killed");
  t.comment(`${deliveries.length} deliveries, ${sent - least} told twice, ${left} left by the last kill`);
});
