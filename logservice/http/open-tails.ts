import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

/** Counts the open tails of each token and limits them. */
export class OpenTails {
  readonly #limits: Pick<Limits, "tailsPerToken" | "holdMs">;
  readonly #byToken = new Map<string, number>();

  constructor(limits: Pick<Limits, "tailsPerToken" | "holdMs">) {
    this.#limits = limits;
  }

  /** The number of open tails of all tokens. */
  get count(): number {
    return [...this.#byToken.values()].reduce((sum, n) => sum + n, 0);
  }

  /** Counts a tail of a token until the returned function is called. Throws `rate_limited` if too many are open. */
  enter(token: string): () => void {
    const { tailsPerToken, holdMs } = this.#limits;
    const open = this.#byToken.get(token) ?? 0;
    if (open >= tailsPerToken) {
      const message = `${tailsPerToken} tails of this token are open already: close one`;
      throw new RpcError("rate_limited", message, { retryAfterMs: holdMs });
    }
    this.#byToken.set(token, open + 1);
    return () => {
      const left = this.#byToken.get(token)! - 1;
      if (left === 0) this.#byToken.delete(token);
      else this.#byToken.set(token, left);
    };
  }
}
