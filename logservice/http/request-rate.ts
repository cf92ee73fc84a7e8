import { setTimeout as sleep } from "node:timers/promises";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

type RateLimits = Pick<Limits, "requestsPerSecond" | "requestBurst" | "holdMs" | "requestsHeld">;

/**
 * How often one token may ask: a bucket that holds a burst and fills at the rate. What finds it empty is held until its
 * turn, and refused where its turn would come later than that.
 */
export class RequestRate {
  readonly #limits: RateLimits;
  /** By token: when its bucket is full again, by the clock that nobody sets. */
  readonly #fullAtMs = new Map<string, number>();
  #held = 0;

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Resolves when the request may go on. Rejects with `rate_limited`, or with the signal's reason. */
  async take(token: string, signal: AbortSignal): Promise<void> {
    const { requestsPerSecond, requestBurst, holdMs, requestsHeld } = this.#limits;
    const stepMs = 1000 / requestsPerSecond;
    const nowMs = performance.now();
    const fullAtMs = Math.max(this.#fullAtMs.get(token) ?? 0, nowMs) + stepMs;
    const waitMs = fullAtMs - nowMs - requestBurst * stepMs;
    const isHeld = waitMs > 0;
    const isTaken = waitMs <= holdMs && (!isHeld || this.#held < requestsHeld);
    if (isTaken) this.#fullAtMs.set(token, fullAtMs);
    this.#forget(nowMs);
    if (!isHeld) return;
    // What is refused at once has taken nothing from those who wait.
    if (this.#held < requestsHeld) {
      this.#held++;
      try {
        await sleep(Math.min(waitMs, holdMs), undefined, { signal });
      } finally {
        this.#held--;
      }
      if (isTaken) return;
    }
    throw new RpcError("rate_limited", "too many requests with this token: send larger batches, or fewer of them", {
      retryAfterMs: Math.max(waitMs - holdMs, stepMs),
    });
  }

  /** Full buckets need no memory. */
  #forget(nowMs: number): void {
    if (this.#fullAtMs.size < 1_000) return;
    for (const [token, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(token);
  }
}
