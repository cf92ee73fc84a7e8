// Six hours of a shop on a day when its payments failed for a while: always the same events, counted back from now.
import type { NewEvent } from "../../../schema/rpc.generated.ts";
import { type Random, randomOf } from "../random.ts";
import type { Window } from "./window.ts";

const HOUR_MS = 3_600_000;
const HOURS = 6;
const EVENTS = 12_000;
/** As many as one call may hold. */
const BATCH = 2_000;
/** The part of the time in which payments fail. */
const BAD = { from: 0.62, to: 0.7 };

/** Makes the project `shop` with its events, as the person of a window who may. */
export async function dayOfShop(window: Window): Promise<void> {
  await window.call("add_project", { project: { id: "shop", name: "Web shop" } });
  await window.call("add_notification", {
    notification: { project_id: "shop", name: "On call", type: "email", email_addresses: ["oncall@example.com"] },
  });
  const nowMs = Date.now();
  const random = randomOf(7);
  for (let first = 0; first < EVENTS; first += BATCH) {
    const events = Array.from({ length: BATCH }, (_, i) => eventAt(first + i, nowMs, random));
    await window.call("add_events", { project_id: "shop", events });
  }
}

/** The first ones are asked for most. */
const PATHS = ["/", "/", "/", "/checkout", "/checkout", "/cart", "/cart", "/orders/4711", "/products/lamp", "/search"];
const PLANS = ["free", "pro", "team"];

function eventAt(i: number, nowMs: number, random: Random): NewEvent {
  const share = i / EVENTS;
  const isBadTime = share > BAD.from && share < BAD.to;
  const path = random.pick(PATHS);
  const isFailed = random.chance(path === "/checkout" ? (isBadTime ? 0.7 : 0.01) : 0.002);
  const status = isFailed ? 502 : random.chance(0.03) ? 404 : 200;
  const level = isFailed ? "error" : status === 404 ? "warning" : random.chance(0.12) ? "debug" : "info";
  return {
    timestamp: new Date(nowMs - HOURS * HOUR_MS * (1 - share)).toISOString(),
    level,
    message: isFailed ? `POST ${path} ${status}: the bank did not answer in 5000 ms` : `GET ${path} ${status}`,
    fields: {
      ...{ id: `req_${random.below(1_000_000_000).toString(36)}`, path, status },
      duration: isFailed ? 5_000 + random.below(40) : 4 + random.below(240),
      stage: random.chance(0.2) ? "staging" : "production",
      user: { id: random.below(5_000), plan: random.pick(PLANS) },
      ...(isFailed && { error: { name: "TimeoutError", message: "the bank did not answer in 5000 ms" } }),
    },
  };
}
