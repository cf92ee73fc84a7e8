import { type TurnBounds, Turns, type TurnTaker } from "./turns.ts";
import { type Hold, type Waiter, waitForTurn } from "./wait-for-turn.ts";

/** Makes callers wait until it is their turn. */
export class TurnQueue<Taker extends TurnTaker = TurnTaker> {
  readonly #turns: Turns<Taker & { readonly waiter?: Waiter }>;

  constructor(bounds: TurnBounds<Taker>) {
    this.#turns = new Turns(bounds);
  }

  /** Turns under way. While there are none, nobody waits. */
  get running(): number {
    return this.#turns.running;
  }

  /**
   * Resolves when a turn begins, which ends with `leave`. Rejects with the signal's reason, and with the refusal of `hold` if
   * none is free in time.
   */
  async enter(taker: Taker, signal: AbortSignal, hold?: Hold): Promise<void> {
    signal.throwIfAborted();
    if (this.#turns.begin(taker)) return;
    let one: Taker & { readonly waiter?: Waiter } = taker;
    const add = (waiter: Waiter) => {
      one = { ...taker, waiter };
      this.#turns.add(one);
    };
    await waitForTurn({ add, delete: () => this.#turns.delete(one) }, signal, hold);
  }

  /** Passes the turn on to whoever is next, so that no new one can take it. */
  leave(taker: TurnTaker): void {
    this.#turns.done(taker);
    for (let next = this.#turns.take(); next !== undefined; next = this.#turns.take()) next.waiter!.start();
  }

  /** Refuses all that wait. */
  refuseAll(error: () => Error): void {
    for (const { waiter } of this.#turns.clear()) waiter!.refuse(error());
  }
}
