import { type Clock, systemClock } from "../../grammar/units/clock.ts";

/**
 * Tells when work that is done event by event should yield to the event loop. The loop is real, so by default its time is,
 * too.
 */
export class Yielder {
  readonly #clock: Clock;
  #beganMs: number;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#beganMs = clock.monotonicMs();
  }

  isDue(): boolean {
    return this.#clock.monotonicMs() - this.#beganMs > MAX_WAIT_MS;
  }

  async rest(signal: AbortSignal): Promise<void> {
    await yieldToLoop(signal);
    this.#beganMs = this.#clock.monotonicMs();
  }
}

/** Too short for other requests to notice. Reading the clock takes 50 ns, parsing an event fifty times that. */
const MAX_WAIT_MS = 8;

/** Lets other work run. Rejects if the signal is aborted. */
export async function yieldToLoop(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
