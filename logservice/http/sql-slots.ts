import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { TurnQueue } from "../turns/turn-queue.ts";
import type { TurnTaker } from "../turns/turns.ts";

/** Who asks for a statement to be run. */
export interface SqlAsker extends TurnTaker {
  /** Whether the instance has no other team. */
  readonly isOnlyTeam: boolean;
}

/**
 * Limits the SQL statements that run at once on this instance, since each has a process of its own. A team has at most half
 * of the slots, unless it is the only one: a statement may take as long as others wait. Teams take turns, and so do the
 * tokens of a team.
 */
export class SqlSlots {
  readonly #limits: Pick<Limits, "sqlAtOnce" | "holdMs">;
  readonly #clock: Clock;
  readonly #queue: TurnQueue<SqlAsker>;

  constructor(limits: Pick<Limits, "sqlAtOnce" | "holdMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#queue = new TurnQueue({ atOnce: limits.sqlAtOnce, perTeam: (asker) => this.#mostOf(asker) });
  }

  /** Rejects with `rate_limited` if no slot becomes free in time, and with the signal's reason. */
  async run<T>(asker: SqlAsker, signal: AbortSignal, statement: () => Promise<T>): Promise<T> {
    const { holdMs } = this.#limits;
    await this.#queue.enter(asker, signal, { holdMs, clock: this.#clock, refusal: () => this.#refusal(asker) });
    try {
      return await statement();
    } finally {
      this.#queue.leave(asker);
    }
  }

  #refusal(asker: SqlAsker): RpcError {
    const { sqlAtOnce, holdMs } = this.#limits;
    const isFull = this.#queue.running >= sqlAtOnce;
    const running = isFull ? `${sqlAtOnce} SQL statements` : `${this.#mostOf(asker)} SQL statements of this team`;
    const message = `${running} are running already${isFull ? ", for all tokens" : ""}: try again later`;
    return new RpcError("rate_limited", message, { retryAfterMs: holdMs });
  }

  #mostOf({ isOnlyTeam }: SqlAsker): number {
    const { sqlAtOnce } = this.#limits;
    return isOnlyTeam ? sqlAtOnce : Math.max(1, Math.floor(sqlAtOnce / 2));
  }
}
