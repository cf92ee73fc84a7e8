import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { type Waiter, waitForTurn } from "../turns/wait-for-turn.ts";

/** Limits the queries of a token that run at once. Others wait for their turn, but not for long. */
export class QuerySlots {
  readonly #limits: Pick<Limits, "queriesPerToken" | "queriesWaitingPerToken" | "holdMs">;
  readonly #clock: Clock;
  readonly #byToken = new Map<string, { running: number; readonly waiting: Set<Waiter> }>();

  constructor(limits: Pick<Limits, "queriesPerToken" | "queriesWaitingPerToken" | "holdMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Rejects with `rate_limited` if no slot becomes free in time, and with the signal's reason. */
  async run<T>(token: string, signal: AbortSignal, query: () => Promise<T>): Promise<T> {
    await this.#enter(token, signal);
    try {
      return await query();
    } finally {
      this.#leave(token);
    }
  }

  async #enter(token: string, signal: AbortSignal): Promise<void> {
    const { queriesPerToken, queriesWaitingPerToken, holdMs } = this.#limits;
    const running = `${queriesPerToken} queries of this token are running already`;
    const slots = this.#byToken.get(token) ?? { running: 0, waiting: new Set() };
    this.#byToken.set(token, slots);
    if (slots.running < queriesPerToken) {
      slots.running++;
      return;
    }
    if (slots.waiting.size >= queriesWaitingPerToken) {
      throw this.#refusal(`${running}, and ${queriesWaitingPerToken} are waiting`);
    }
    await waitForTurn(slots.waiting, signal, { holdMs, clock: this.#clock, refusal: () => this.#refusal(running) });
  }

  /** Passes the slot on to the next query, so that no new one can take it. */
  #leave(token: string): void {
    const slots = this.#byToken.get(token)!;
    const [next] = slots.waiting;
    if (next !== undefined) {
      slots.waiting.delete(next);
      next.start();
      return;
    }
    slots.running--;
    if (slots.running === 0) this.#byToken.delete(token);
  }

  #refusal(reason: string): RpcError {
    const { holdMs } = this.#limits;
    return new RpcError("rate_limited", `${reason}: send them one after the other`, { retryAfterMs: holdMs });
  }
}
