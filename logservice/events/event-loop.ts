/** Says when the loop has waited long enough for something that is done event by event. */
export class Yielder {
  #beganMs = performance.now();

  isDue(): boolean {
    return performance.now() - this.#beganMs > MAX_WAIT_MS;
  }

  async rest(signal: AbortSignal): Promise<void> {
    await yieldToLoop(signal);
    this.#beganMs = performance.now();
  }
}

/** Requests that come meanwhile do not notice it; a look at the clock takes 50 ns, parsing an event fifty times that. */
const MAX_WAIT_MS = 8;

/** Lets what waits run; rejects where nobody wants the result any more. */
export async function yieldToLoop(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
