import type { Notification } from "../../schema/rpc.generated.ts";
import { Buckets, takeAll } from "../account/buckets.ts";

const MINUTE_MS = 60_000;

/** Bounds the tests of notifications by team, since anybody in it may name any address. */
export class TestLimits {
  readonly #tests = new Buckets(30, 2 * MINUTE_MS);
  readonly #sms = new Buckets(10, 6 * MINUTE_MS);

  /** Throws `rate_limited`. */
  take(team: string, type: Notification["type"]): void {
    const wanted = [[this.#tests, team] as const, ...(type === "sms" ? [[this.#sms, team] as const] : [])];
    takeAll(wanted, "tests of notifications");
  }
}

/** Bounds the text messages about alerts by team: each costs the operator money. */
export class SmsBudget {
  readonly #sms = new Buckets(60, MINUTE_MS);

  /** Takes one text message and returns 0, or how long there is none, in milliseconds. */
  take(team: string): number {
    const waitMs = this.#sms.waitMs(team);
    if (waitMs === 0) this.#sms.take(team);
    return waitMs;
  }
}
