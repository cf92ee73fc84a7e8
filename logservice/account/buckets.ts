import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";

/** Token buckets by name, which hold `burst` and get another token every `perMs`. */
export class Buckets {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #clock: Clock;
  /** When each will be full again, in the time of a monotonic clock. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(burst: number, perMs: number, clock: Clock) {
    this.#burst = burst;
    this.#perMs = perMs;
    this.#clock = clock;
  }

  /** How long until there are so many tokens, in milliseconds; 0 if there are. */
  waitMs(name: string, count = 1): number {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? 0, nowMs);
    return Math.max(0, fullAtMs + count * this.#perMs - nowMs - this.#burst * this.#perMs);
  }

  take(name: string, count = 1): void {
    const nowMs = this.#clock.monotonicMs();
    this.#fullAtMs.set(name, Math.max(this.#fullAtMs.get(name) ?? 0, nowMs) + count * this.#perMs);
    if (this.#fullAtMs.size < MOST) return;
    for (const [one, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(one);
  }
}

/** Buckets that are kept before the full ones are dropped. */
const MOST = 10_000;

/** A bucket, and how many tokens are taken of it: one unless it says another number. */
export type BucketTake = readonly [buckets: Buckets, name: string, count?: number];

/** Takes tokens of each bucket, or none of any and throws `rate_limited`: `many` are too many. */
export function takeAll(entries: readonly BucketTake[], many: string): void {
  const waitMs = Math.max(...entries.map(([buckets, name, count]) => buckets.waitMs(name, count)));
  if (waitMs > 0) {
    const message = `too many ${many}: wait a moment, then try again`;
    throw new RpcError("rate_limited", message, { retryAfterMs: waitMs });
  }
  for (const [buckets, name, count] of entries) buckets.take(name, count);
}
