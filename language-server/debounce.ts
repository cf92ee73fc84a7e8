/** Runs only the last function scheduled under a key, once nothing was scheduled under it for a while. */
export class Debounce {
  readonly #delayMs: number;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  schedule(key: string, run: () => void): void {
    clearTimeout(this.#timers.get(key));
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      run();
    }, this.#delayMs);
    this.#timers.set(key, timer);
  }

  cancel(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }

  cancelAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
