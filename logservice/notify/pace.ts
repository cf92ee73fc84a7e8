/**
 * The way that messages may be sent to a target now: each message by itself, all of them as a digest, or nothing before
 * a time.
 */
export type PaceDecision = { readonly kind: "each" | "digest" } | { readonly kind: "wait"; readonly untilMs: number };

/** Messages that a target gets by themselves within a window. */
const MOST = 10;
const WINDOW_MS = 60_000;

/**
 * Counts what a target was sent within a minute. More than ten messages become a digest; after that, all that follows within
 * the minute waits for its end, so that nobody gets more than eleven messages a minute.
 */
export class MessagePace {
  #startMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  #hasDigest = false;

  /** Decides what to do with a number of messages that wait. */
  step(waiting: number, nowMs: number): PaceDecision {
    if (!this.#isWithin(nowMs) || this.#count + waiting <= MOST) return { kind: waiting > MOST ? "digest" : "each" };
    return this.#hasDigest ? { kind: "wait", untilMs: this.#startMs + WINDOW_MS } : { kind: "digest" };
  }

  /** Notes that messages are sent, several of them as a digest. */
  sent(messages: number, nowMs: number): void {
    if (!this.#isWithin(nowMs)) {
      this.#startMs = nowMs;
      this.#count = 0;
      this.#hasDigest = false;
    }
    this.#count += messages;
    this.#hasDigest ||= messages > 1;
  }

  /** Whether nothing of the last minute is left to count. */
  isOver(nowMs: number): boolean {
    return !this.#isWithin(nowMs);
  }

  /** Whether a minute began that has not ended. A clock that was set back begins another one. */
  #isWithin(nowMs: number): boolean {
    return nowMs >= this.#startMs && nowMs < this.#startMs + WINDOW_MS;
  }
}
