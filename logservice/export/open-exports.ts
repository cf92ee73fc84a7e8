import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

/** The exports that are being sent: how many there may be, and what they have sent. */
export class OpenExports {
  readonly #limits: Pick<Limits, "exportsPerToken" | "exportsAtOnce" | "holdMs">;
  readonly #byToken = new Map<string, number>();
  #open = 0;
  #rows = 0;
  #bytes = 0;

  constructor(limits: Pick<Limits, "exportsPerToken" | "exportsAtOnce" | "holdMs">) {
    this.#limits = limits;
  }

  /** Counts an export of a token in. Returns what counts it out. Throws `rate_limited`. */
  enter(token: string): () => void {
    const { exportsPerToken, exportsAtOnce, holdMs } = this.#limits;
    const own = this.#byToken.get(token) ?? 0;
    const refuse = (what: string) =>
      new RpcError("rate_limited", `${what} already: wait until one of them has ended`, { retryAfterMs: holdMs });
    if (own >= exportsPerToken) throw refuse(`${exportsPerToken} exports of this token are being sent`);
    if (this.#open >= exportsAtOnce) throw refuse(`${exportsAtOnce} exports are being sent`);
    this.#byToken.set(token, own + 1);
    this.#open++;
    return () => {
      this.#open--;
      const left = this.#byToken.get(token)! - 1;
      if (left === 0) this.#byToken.delete(token);
      else this.#byToken.set(token, left);
    };
  }

  sent(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  metrics(): Readonly<Record<string, number>> {
    return { exports: this.#open, exported_rows_total: this.#rows, exported_bytes_total: this.#bytes };
  }
}
