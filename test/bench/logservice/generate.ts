// Events of about 400 bytes with 61 field paths, as a web service of some size writes them.
import type { NewEvent } from "../../../logservice/events/store.ts";
import { randomOf } from "../../support/random.ts";

export const BEGIN_MS = Date.parse("2024-05-01T00:00:00Z");
/** A million events in two days. */
export const SPACING_MS = 172.8;

const WORDS = "checkout cart login session cache worker queue invoice search upload image token webhook retry".split(
  " ",
);
const RARE = Array.from({ length: 45 }, (_, i) => `detail${i}`);

/** Events `from` to below `to`: the same ones for the same numbers. */
export function eventsOf(from: number, to: number): NewEvent[] {
  const random = randomOf(from + 1);
  return Array.from({ length: to - from }, (_, at) => {
    const i = from + at;
    const status = random.pick([200, 200, 200, 200, 200, 200, 201, 204, 301, 302, 304, 400, 401, 404, 404, 429]);
    const isFailed = random.chance(0.02);
    const fields: Record<string, unknown> = {
      stage: "production",
      service: random.pick(["web", "api", "jobs"]),
      host: `host-${random.below(20)}`,
      method: random.pick(["GET", "GET", "GET", "POST", "PUT"]),
      path: `/${random.pick(WORDS)}/${random.below(500)}`,
      status: isFailed ? random.pick([500, 502, 503]) : status,
      duration: random.below(400_000) / 100,
      size: random.below(60_000),
      cached: random.chance(0.4),
      request: {
        id: (random.below(2 ** 31) * 4096 + i).toString(36),
        ip: `10.0.${random.below(256)}.${random.below(256)}`,
      },
      user: {
        id: random.below(500_000),
        email: `user${random.below(500_000)}@example.com`,
        plan: random.pick(["free", "team"]),
      },
    };
    fields[RARE[random.below(RARE.length)]!] = random.below(1000);
    return {
      timestamp: new Date(BEGIN_MS + Math.floor(i * SPACING_MS)).toISOString(),
      level: isFailed ? "error" : random.pick(["info", "info", "info", "debug", "warn"]),
      message: `${random.pick(WORDS)} ${random.pick(WORDS)} ${random.pick(["done", "started", "took long", "refused"])} for ${random.below(1e6)}${random.chance(0.00002) ? " needle" : ""}`,
      fields,
    };
  });
}
