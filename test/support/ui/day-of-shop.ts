// Six hours of a shop on a day when its payments failed for a while: always the same requests, counted back from now, as the
// proxy and the app write them.
import type { NewEvent } from "../../../schema/rpc.generated.ts";
import { type Random, randomOf } from "../random.ts";
import type { Window } from "./window.ts";

const HOUR_MS = 3_600_000;
const HOURS = 6;
const REQUESTS = 6_000;
/** The requests of a call, which may hold three times as many events. */
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
  for (let first = 0; first < REQUESTS; first += BATCH) {
    const events = Array.from({ length: BATCH }, (_, i) => eventsOf(first + i, nowMs, random)).flat();
    await window.call("add_events", { project_id: "shop", events });
  }
}

/** The first ones are asked for most. */
const PATHS = ["/", "/", "/", "/checkout", "/checkout", "/cart", "/cart", "/orders/4711", "/products/lamp", "/search"];
const PLANS = ["free", "pro", "team"];

/** The entries of a request, and of its response; between them that of the app if the payment fails. */
function eventsOf(i: number, nowMs: number, random: Random): readonly NewEvent[] {
  const share = i / REQUESTS;
  const isBadTime = share > BAD.from && share < BAD.to;
  const path = random.pick(PATHS);
  const isFailed = random.chance(path === "/checkout" ? (isBadTime ? 0.7 : 0.01) : 0.002);
  const status = isFailed ? 502 : random.chance(0.03) ? 404 : 200;
  const duration = isFailed ? 5_000 + random.below(40) : 4 + random.below(240);
  const fields = {
    ...{ stage: random.chance(0.2) ? "staging" : "production", version: isBadTime ? "42" : "41" },
    ...{ id: `req_${random.below(1_000_000_000).toString(36)}`, ip: `203.0.113.${random.below(250)}` },
    ...{ method: path === "/checkout" ? "POST" : "GET", path, query: path === "/search" ? "q=lamp" : "" },
  };
  const startMs = nowMs - HOURS * HOUR_MS * (1 - share);
  const at = (afterMs: number) => new Date(startMs + afterMs).toISOString();
  const size = status === 200 ? 800 + random.below(9_000) : 120;
  const level = isFailed ? "error" : status === 404 ? "warning" : "info";
  const failure = {
    ...{ stage: fields.stage, version: fields.version, user: { id: random.below(5_000), plan: random.pick(PLANS) } },
    error: {
      name: "TimeoutError",
      message: "the bank did not answer in 5000 ms",
      stack:
        "TimeoutError: the bank did not answer in 5000 ms\n    at charge (/app/bank.js:41:11)\n    at pay (/app/pay.js:9:3)",
    },
  };
  return [
    { timestamp: at(0), level: "info", message: "request", fields },
    ...(isFailed
      ? [{ timestamp: at(duration - 2), level: "error" as const, message: "payment failed", fields: failure }]
      : []),
    { timestamp: at(duration), level, message: "response", fields: { ...fields, status, duration, size } },
  ];
}
