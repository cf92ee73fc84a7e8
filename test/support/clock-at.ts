import { type Clock, systemClock } from "../../grammar/units/clock.ts";

/** A clock with a time of day that the test sets, and the machine's timers: for what waits for real sockets and processes. */
export const clockAt = (nowMs: () => number): Clock => ({ ...systemClock, nowMs });

/**
 * The machine's clock without its alarms at exactly `heldMs`: for a limit of another process, which is to end by itself
 * before it. A busy machine stops both, and the limit may then be seen first.
 */
export const clockWithout = (heldMs: number): Clock => ({
  ...systemClock,
  after: (ms, act, options) => (ms === heldMs ? { stop() {} } : systemClock.after(ms, act, options)),
});
