import type { Clock, Timer } from "../grammar/units/clock.ts";

/** Runs only the last function scheduled under a key, once nothing was scheduled under it for a while. */
export class Debounce {
  readonly #delayMs: number;
  readonly #clock: Clock;
  readonly #timers = new Map<string, Timer>();

  constructor(delayMs: number, clock: Clock) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  schedule(key: string, run: () => void): void {
    this.#timers.get(key)?.stop();
    const timer = this.#clock.after(this.#delayMs, () => {
      this.#timers.delete(key);
      run();
    });
    this.#timers.set(key, timer);
  }

  cancel(key: string): void {
    this.#timers.get(key)?.stop();
    this.#timers.delete(key);
  }

  cancelAll(): void {
    for (const timer of this.#timers.values()) timer.stop();
    this.#timers.clear();
  }
}
