import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { waitForTurn } from "./turn.ts";

/**
 * Limits the SQL statements that run at once on this instance, since each has a process of its own. Waiting statements are
 * served round robin over tokens, first come, first served within a token.
 */
export class SqlSlots {
  readonly #limits: Pick<Limits, "sqlAtOnce" | "holdMs">;
  readonly #clock: Clock;
  /** Waiting statements by token, in the order in which tokens are served. A token without any has no entry. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(limits: Pick<Limits, "sqlAtOnce" | "holdMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Rejects with `rate_limited` if no slot becomes free in time, and with the signal's reason. */
  async run<T>(token: string, signal: AbortSignal, statement: () => Promise<T>): Promise<T> {
    await this.#enter(token, signal);
    try {
      return await statement();
    } finally {
      this.#leave();
    }
  }

  async #enter(token: string, signal: AbortSignal): Promise<void> {
    const { sqlAtOnce, holdMs } = this.#limits;
    if (this.#running < sqlAtOnce) {
      this.#running++;
      return;
    }
    const queue = this.#waiting.get(token) ?? [];
    this.#waiting.set(token, queue);
    const refusal = () =>
      new RpcError("rate_limited", `${sqlAtOnce} SQL statements are running already, for all tokens: try again later`, {
        retryAfterMs: holdMs,
      });
    try {
      await waitForTurn(queue, { signal, holdMs, clock: this.#clock, refusal });
    } catch (error) {
      if (queue.length === 0) this.#waiting.delete(token);
      throw error;
    }
  }

  /** Passes the slot on to the next statement, so that no new one can take it. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    const [token, queue] = next;
    const start = queue.shift()!;
    this.#waiting.delete(token);
    if (queue.length > 0) this.#waiting.set(token, queue);
    start();
  }
}
