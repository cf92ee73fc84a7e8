import type { Clock } from "../../grammar/units/clock.ts";
import type { Notification } from "../../schema/rpc.generated.ts";
import { Buckets, type BucketTake, takeAll } from "../account/buckets.ts";
import { RpcError } from "../error.ts";
import { dialedNumber } from "./channels/sms.ts";

const MINUTE_MS = 60_000;

/** Text messages of tests at once. */
const MOST_SMS = 10;

/** Codes that a number is sent at once, whoever asks for them, and how often there is another one. */
const MOST_CODES = 4;
const CODE_EACH_MS = 10 * MINUTE_MS;

/** The name of all teams together. */
const INSTANCE = "instance";

/**
 * Bounds the tests of notifications by team, since anybody in it may name any address, by person, since a person may have
 * many teams, and text messages in all.
 */
export class TestLimits {
  readonly #tests: Buckets;
  readonly #sms: Buckets;
  readonly #instanceSms: Buckets;
  readonly #codes: Buckets;

  constructor(clock: Clock) {
    this.#tests = new Buckets(30, 2 * MINUTE_MS, clock);
    this.#sms = new Buckets(MOST_SMS, 6 * MINUTE_MS, clock);
    this.#instanceSms = new Buckets(60, MINUTE_MS, clock);
    this.#codes = new Buckets(MOST_CODES, CODE_EACH_MS, clock);
  }

  /**
   * Throws `rate_limited`, and `invalid` for a test that would send too many text messages. `people` are the ids of those who
   * answer for it.
   */
  take(
    team: string,
    { type, sms_numbers = [] }: Pick<Notification, "type" | "sms_numbers">,
    people: readonly string[] = [],
  ): void {
    const count = type === "sms" ? sms_numbers.length : 0;
    if (count > MOST_SMS)
      throw new RpcError(
        "invalid",
        `a test sends at most ${MOST_SMS} text messages: test a notification with fewer numbers`,
      );
    const payers = payersOf(team, people);
    const tests = payers.map((payer): BucketTake => [this.#tests, payer]);
    takeAll([...tests, ...this.#texts(payers, count)], "tests of notifications");
  }

  /**
   * The same for the codes that confirm numbers, from the budgets of text messages of tests, and by number: it may be that of
   * somebody who did not ask for it.
   */
  takeCodes(team: string, numbers: readonly string[], people: readonly string[]): void {
    if (numbers.length > MOST_SMS)
      throw new RpcError(
        "invalid",
        `each number is sent a code, and at most ${MOST_SMS} can be at once: add the other numbers later`,
      );
    const codes = numbers.map((number): BucketTake => [this.#codes, dialedNumber(number)]);
    takeAll([...codes, ...this.#texts(payersOf(team, people), numbers.length)], "codes for numbers");
  }

  #texts(payers: readonly string[], count: number): BucketTake[] {
    if (count === 0) return [];
    return [...payers.map((payer): BucketTake => [this.#sms, payer, count]), [this.#instanceSms, INSTANCE, count]];
  }
}

const payersOf = (team: string, people: readonly string[]) => [
  `team ${team}`,
  ...new Set(people.map((id) => `person ${id}`)),
];

/** Bounds the text messages about alerts by team, by its owner and in all: each costs the operator money. */
export class SmsBudget {
  readonly #sms: Buckets;
  readonly #instance: Buckets;

  constructor(clock: Clock) {
    this.#sms = new Buckets(60, MINUTE_MS, clock);
    this.#instance = new Buckets(600, MINUTE_MS / 10, clock);
  }

  /**
   * Takes one text message and returns 0, or how long there is none, in milliseconds. `owner` is the id of the person whose
   * team it is; "" if it has none.
   */
  take(team: string, owner: string): number {
    const entries = [
      [this.#sms, `team ${team}`],
      [this.#instance, INSTANCE],
      ...(owner === "" ? [] : [[this.#sms, `person ${owner}`] as const]),
    ] as const;
    const waitMs = Math.max(...entries.map(([buckets, name]) => buckets.waitMs(name)));
    if (waitMs === 0) for (const [buckets, name] of entries) buckets.take(name);
    return waitMs;
  }
}
