import { type Clock, systemClock } from "../../grammar/units/clock.ts";

/** A clock with a time of day that the test sets, and the machine's timers: for what waits for real sockets and processes. */
export const clockAt = (nowMs: () => number): Clock => ({ ...systemClock, nowMs });

const STEP_MS = 20;

/**
 * The machine's clock, whose alarms count the time in which this process ran: for a limit that a test holds another process
 * to, which ends by itself before it. If a busy machine stops both, the limit would be seen first.
 */
export const runningClock: Clock = {
  ...systemClock,
  after(ms, act, options) {
    let [leftMs, lastMs] = [ms, systemClock.monotonicMs()];
    const steps = systemClock.every(
      Math.min(STEP_MS, ms),
      () => {
        const nowMs = systemClock.monotonicMs();
        leftMs -= Math.min(nowMs - lastMs, 2 * STEP_MS);
        lastMs = nowMs;
        if (leftMs > 0) return;
        steps.stop();
        act();
      },
      options,
    );
    return steps;
  },
};

/**
 * The machine's clock, whose limits come after a minute at the earliest: for what is there sooner, and which a busy machine would
 * see too late. Pauses are as long as they are.
 */
export const patientClock: Clock = {
  ...systemClock,
  after: (ms, act, options) => systemClock.after(Math.max(ms, 60_000), act, options),
};
