import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

type RateLimits = Pick<Limits, "requestsPerSecond" | "requestBurst" | "holdMs" | "requestsHeld">;

/**
 * Limits the requests of each token by a token bucket, which holds a burst and refills at the rate. A request that finds the
 * bucket empty is held until its turn, and refused if that is more than `holdMs` away.
 */
export class RequestRate {
  readonly #limits: RateLimits;
  readonly #clock: Clock;
  /** For each token, when its bucket will be full again, in the time of a monotonic clock. */
  readonly #fullAtMs = new Map<string, number>();
  #held = 0;

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Resolves when the request may proceed. Rejects with `rate_limited`, or with the signal's reason. */
  async take(token: string, signal: AbortSignal): Promise<void> {
    const { requestsPerSecond, requestBurst, holdMs, requestsHeld } = this.#limits;
    const stepMs = 1000 / requestsPerSecond;
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(this.#fullAtMs.get(token) ?? 0, nowMs) + stepMs;
    const waitMs = fullAtMs - nowMs - requestBurst * stepMs;
    const isHeld = waitMs > 0;
    const isTaken = waitMs <= holdMs && (!isHeld || this.#held < requestsHeld);
    if (isTaken) this.#fullAtMs.set(token, fullAtMs);
    this.#forget(nowMs);
    if (!isHeld) return;
    // A request that is refused at once takes nothing from those that wait.
    if (this.#held < requestsHeld) {
      this.#held++;
      try {
        await this.#clock.sleep(Math.min(waitMs, holdMs), signal);
      } finally {
        this.#held--;
      }
      if (isTaken) return;
    }
    throw new RpcError("rate_limited", "too many requests with this token: send larger batches, or fewer of them", {
      retryAfterMs: Math.max(waitMs - holdMs, stepMs),
    });
  }

  /** Drops the buckets that are full. */
  #forget(nowMs: number): void {
    if (this.#fullAtMs.size < 1_000) return;
    for (const [token, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(token);
  }
}
