/** Tells when work that is done event by event should yield to the event loop. */
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

/** Too short for other requests to notice. Reading the clock takes 50 ns, parsing an event fifty times that. */
const MAX_WAIT_MS = 8;

/** Lets other work run. Rejects if the signal is aborted. */
export async function yieldToLoop(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
