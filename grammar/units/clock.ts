/** A timer that was started and may be stopped. Stopping one that has fired, or twice, does nothing. */
export interface Timer {
  stop(): void;
}

export interface TimerOptions {
  /** The process may end although the timer is still to fire. By default it is kept alive, as by setTimeout. */
  readonly isBackground?: boolean;
}

/**
 * Time as an input: what waits or measures is given one, so that a test can turn it by hand (test/support/test-clock.ts).
 * Nothing but `systemClock` reads the machine's clocks or starts timers, which `npm run lint` checks.
 */
export interface Clock {
  /** Milliseconds since 1970, as people and other machines count. May go back or jump. */
  nowMs(): number;
  /** Milliseconds since an unspecified moment, with fractions. Never goes back: durations and deadlines are measured by it. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if it is aborted before. */
  sleep(ms: number, signal?: AbortSignal, options?: TimerOptions): Promise<void>;
  /** Runs `act` once, `ms` milliseconds from now. */
  after(ms: number, act: () => void, options?: TimerOptions): Timer;
  /** Runs `act` each `ms` milliseconds, the first time `ms` milliseconds from now. */
  every(ms: number, act: () => void, options?: TimerOptions): Timer;
}

/** Node's and the browser's timers both take this; setTimeout fires at once if it is given more. */
const MAX_TIMER_MS = 2_147_483_647;

/** The machine's own clock. Entries give it to what they start. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal, options) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = systemClock.after(
        ms,
        () => {
          signal?.removeEventListener("abort", aborted);
          resolve();
        },
        options,
      );
      function aborted() {
        timer.stop();
        reject(signal?.reason);
      }
      signal?.addEventListener("abort", aborted, { once: true });
    }),
  after(ms, act, options) {
    const handle = setTimeout(act, Math.min(ms, MAX_TIMER_MS));
    if (options?.isBackground) letEnd(handle);
    return { stop: () => clearTimeout(handle) };
  },
  every(ms, act, options) {
    const handle = setInterval(act, Math.min(ms, MAX_TIMER_MS));
    if (options?.isBackground) letEnd(handle);
    return { stop: () => clearInterval(handle) };
  },
};

/** Browsers have numbers for timers, and no process to keep alive. */
function letEnd(handle: unknown): void {
  (handle as { unref?(): void }).unref?.();
}
