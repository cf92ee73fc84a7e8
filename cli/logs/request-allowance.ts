import type { Allowance } from "../platform/log.ts";

/** A number of requests that counts how many of them were made. */
export class RequestAllowance implements Allowance {
  readonly #limit: number;
  readonly #onTake: () => void;
  #used = 0;
  #isExceeded = false;

  constructor(limit: number, onTake: () => void) {
    this.#limit = limit;
    this.#onTake = onTake;
  }

  take(): boolean {
    if (this.#used === this.#limit) this.#isExceeded = true;
    else {
      this.#used += 1;
      this.#onTake();
    }
    return !this.#isExceeded;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether more were needed than there are, so that something was not read. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }
}
