import { type Clock, systemClock } from "../../grammar/units/clock.ts";

/** A clock with a time of day that the test sets, and the machine's timers: for what waits for real sockets and processes. */
export const clockAt = (nowMs: () => number): Clock => ({ ...systemClock, nowMs });
