import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { turn } from "./turn.ts";

/** Few queries of one token run at once; the next ones wait their turn, and not for long. */
export class QuerySlots {
  readonly #limits: Pick<Limits, "queriesPerToken" | "queriesWaitingPerToken" | "holdMs">;
  readonly #byToken = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(limits: Pick<Limits, "queriesPerToken" | "queriesWaitingPerToken" | "holdMs">) {
    this.#limits = limits;
  }

  /** Rejects with `rate_limited` where no slot gets free while it waits, and with the signal's reason. */
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
    const running = `${queriesPerToken} queries of this token run already`;
    const slots = this.#byToken.get(token) ?? { running: 0, waiting: [] };
    this.#byToken.set(token, slots);
    if (slots.running < queriesPerToken) {
      slots.running++;
      return;
    }
    if (slots.waiting.length >= queriesWaitingPerToken) {
      throw this.#refusal(`${running}, and ${queriesWaitingPerToken} wait`);
    }
    await turn(slots.waiting, { signal, holdMs, refusal: () => this.#refusal(running) });
  }

  /** Hands the slot to the next query, so that no new one gets in between. */
  #leave(token: string): void {
    const slots = this.#byToken.get(token)!;
    const next = slots.waiting.shift();
    if (next !== undefined) {
      next();
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
