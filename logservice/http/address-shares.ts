import { networkOf } from "../access/client-address.ts";

/** Counts what is open for each network address, so that one cannot take the places of all others. */
export class AddressShares {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place and returns what gives it back, once; undefined if the address has all of its places. */
  take(address: string): (() => void) | undefined {
    const network = networkOf(address);
    const count = this.#counts.get(network) ?? 0;
    if (count >= this.#most) return undefined;
    this.#counts.set(network, count + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = this.#counts.get(network)! - 1;
      if (left > 0) this.#counts.set(network, left);
      else this.#counts.delete(network);
    };
  }
}
