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

  /** How long until there is a token, in milliseconds; 0 if there is one. */
  waitMs(name: string): number {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? 0, nowMs);
    return Math.max(0, fullAtMs + this.#perMs - nowMs - this.#burst * this.#perMs);
  }

  take(name: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#fullAtMs.set(name, Math.max(this.#fullAtMs.get(name) ?? 0, nowMs) + this.#perMs);
    if (this.#fullAtMs.size < MOST) return;
    for (const [one, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(one);
  }
}

/** Buckets that are kept before the full ones are dropped. */
const MOST = 10_000;

/** Takes a token of each bucket, or none of any and throws `rate_limited`: `many` are too many. */
export function takeAll(entries: readonly (readonly [buckets: Buckets, name: string])[], many: string): void {
  const waitMs = Math.max(...entries.map(([buckets, name]) => buckets.waitMs(name)));
  if (waitMs > 0) {
    const message = `too many ${many}: wait a moment, then try again`;
    throw new RpcError("rate_limited", message, { retryAfterMs: waitMs });
  }
  for (const [buckets, name] of entries) buckets.take(name);
}
