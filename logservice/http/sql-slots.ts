import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";
import { waitForTurn } from "./turn.ts";

/** Who asks for a statement to be run. */
export interface SqlAsker {
  readonly token: string;
  readonly team: string;
  /** Whether the instance has no other team. */
  readonly isOnlyTeam: boolean;
}

interface Queue extends SqlAsker {
  readonly starts: (() => void)[];
}

/**
 * Limits the SQL statements that run at once on this instance, since each has a process of its own. A team has at most half
 * of the slots, unless it is the only one: a statement may take as long as others wait. Waiting statements are served round
 * robin over tokens, first come, first served within a token.
 */
export class SqlSlots {
  readonly #limits: Pick<Limits, "sqlAtOnce" | "holdMs">;
  readonly #clock: Clock;
  /** Waiting statements by token, in the order in which tokens are served. A token without any has no entry. */
  readonly #waiting = new Map<string, Queue>();
  readonly #ofTeam = new Map<string, number>();
  #running = 0;

  constructor(limits: Pick<Limits, "sqlAtOnce" | "holdMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Rejects with `rate_limited` if no slot becomes free in time, and with the signal's reason. */
  async run<T>(asker: SqlAsker, signal: AbortSignal, statement: () => Promise<T>): Promise<T> {
    await this.#enter(asker, signal);
    try {
      return await statement();
    } finally {
      this.#leave(asker.team);
    }
  }

  async #enter(asker: SqlAsker, signal: AbortSignal): Promise<void> {
    const { holdMs } = this.#limits;
    if (this.#mayRun(asker)) {
      this.#begin(asker.team);
      return;
    }
    const { token } = asker;
    const { starts } = this.#waiting.get(token) ?? { starts: [] };
    this.#waiting.set(token, { ...asker, starts });
    try {
      await waitForTurn(starts, { signal, holdMs, clock: this.#clock, refusal: () => this.#refusal(asker) });
    } catch (error) {
      if (starts.length === 0) this.#waiting.delete(token);
      throw error;
    }
  }

  #refusal(asker: SqlAsker): RpcError {
    const { sqlAtOnce, holdMs } = this.#limits;
    const isFull = this.#running >= sqlAtOnce;
    const running = isFull ? `${sqlAtOnce} SQL statements` : `${this.#mostOf(asker)} SQL statements of this team`;
    const message = `${running} are running already${isFull ? ", for all tokens" : ""}: try again later`;
    return new RpcError("rate_limited", message, { retryAfterMs: holdMs });
  }

  #mostOf({ isOnlyTeam }: SqlAsker): number {
    const { sqlAtOnce } = this.#limits;
    return isOnlyTeam ? sqlAtOnce : Math.max(1, Math.floor(sqlAtOnce / 2));
  }

  #mayRun(asker: SqlAsker): boolean {
    return this.#running < this.#limits.sqlAtOnce && (this.#ofTeam.get(asker.team) ?? 0) < this.#mostOf(asker);
  }

  #begin(team: string): void {
    this.#running++;
    this.#ofTeam.set(team, (this.#ofTeam.get(team) ?? 0) + 1);
  }

  /** Passes the slot on to the next statement that may have it, so that no new one can take it. */
  #leave(team: string): void {
    this.#running--;
    const left = this.#ofTeam.get(team)! - 1;
    if (left === 0) this.#ofTeam.delete(team);
    else this.#ofTeam.set(team, left);
    for (const [token, queue] of this.#waiting) {
      if (!this.#mayRun(queue)) continue;
      const start = queue.starts.shift()!;
      this.#waiting.delete(token);
      if (queue.starts.length > 0) this.#waiting.set(token, queue);
      this.#begin(queue.team);
      start();
      return;
    }
  }
}
