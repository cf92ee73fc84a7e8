import type { Clock } from "../../grammar/units/clock.ts";
import type { Notification } from "../../schema/rpc.generated.ts";
import { Buckets, takeAll } from "../account/buckets.ts";
import { RpcError } from "../error.ts";

const MINUTE_MS = 60_000;

/** Text messages of tests at once. */
const MOST_SMS = 10;

/** Bounds the tests of notifications by team, since anybody in it may name any address. */
export class TestLimits {
  readonly #tests: Buckets;
  readonly #sms: Buckets;

  constructor(clock: Clock) {
    this.#tests = new Buckets(30, 2 * MINUTE_MS, clock);
    this.#sms = new Buckets(MOST_SMS, 6 * MINUTE_MS, clock);
  }

  /** Throws `rate_limited`, and `invalid` for a test that would send too many text messages. */
  take(team: string, { type, sms_numbers = [] }: Pick<Notification, "type" | "sms_numbers">): void {
    const count = type === "sms" ? sms_numbers.length : 0;
    if (count > MOST_SMS)
      throw new RpcError(
        "invalid",
        `a test sends at most ${MOST_SMS} text messages: test a notification with fewer numbers`,
      );
    const sms = Array.from({ length: count }, () => [this.#sms, team] as const);
    takeAll([[this.#tests, team], ...sms], "tests of notifications");
  }
}

/** Bounds the text messages about alerts by team: each costs the operator money. */
export class SmsBudget {
  readonly #sms: Buckets;

  constructor(clock: Clock) {
    this.#sms = new Buckets(60, MINUTE_MS, clock);
  }

  /** Takes one text message and returns 0, or how long there is none, in milliseconds. */
  take(team: string): number {
    const waitMs = this.#sms.waitMs(team);
    if (waitMs === 0) this.#sms.take(team);
    return waitMs;
  }
}
