import { crc32 } from "node:zlib";

/**
 * The last slot of an alert that may be evaluated now. Slot k covers the time from k x interval up to, and without,
 * (k + 1) x interval, counted from 1970 in UTC; the interval is in minutes.
 */
export function lastDueSlot(alert: EvaluatedAlert, nowMs: number): number {
  return slotAt(nowMs - waitMs(alert), alert.interval) - 1;
}

/** The facts that say when the slots of an alert are evaluated. */
export interface EvaluatedAlert {
  readonly id: string;
  readonly interval: number;
  /** The lateness of its project, in seconds. */
  readonly lateness: number;
}

/** The first slot that begins at a time or after it. */
export const firstSlotFrom = (timeMs: number, interval: number) => Math.ceil(timeMs / (interval * MINUTE_MS));

/** When a slot of an alert is evaluated, in milliseconds since 1970. */
export const evaluatedAtMs = (alert: EvaluatedAlert, slot: number) => slotStopMs(slot, alert.interval) + waitMs(alert);

const waitMs = ({ id, lateness }: EvaluatedAlert) => lateness * 1000 + jitterMs(id);

export const slotAt = (timeMs: number, interval: number) => Math.floor(timeMs / (interval * MINUTE_MS));
export const slotStartMs = (slot: number, interval: number) => slot * interval * MINUTE_MS;
/** The end of a slot, which is not part of it. Deliveries name slots by it: it means the same after the interval changes. */
export const slotStopMs = (slot: number, interval: number) => slotStartMs(slot + 1, interval);

/**
 * How long after its end a slot is evaluated, where nothing is known of how the events of its project come: see lateness.ts.
 */
export const LATE_MS = 15_000;
/** The most that an alert waits besides, so that not all alerts are evaluated at the same moment. */
export const JITTER_MS = 30_000;
export const MINUTE_MS = 60_000;

/** The same for an alert at all times: its slots are then evaluated an interval apart. */
export const jitterMs = (alertId: string) => crc32(alertId) % JITTER_MS;
