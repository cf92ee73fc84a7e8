import type { DeliveryHead } from "../records/deliveries.ts";
import { isDue } from "./backoff.ts";

export interface DueDeliveries {
  /** The deliveries that may be sent now, in the order in which they were added. */
  readonly due: readonly DeliveryHead[];
  /**
   * The deliveries that are due but held up by others of the same alert that wait for another attempt. They may go to
   * the recipients that have all of those.
   */
  readonly heldUp: readonly { readonly delivery: DeliveryHead; readonly by: readonly DeliveryHead[] }[];
  /** When the next of the others is due, in milliseconds since 1970; infinity if there are none. */
  readonly nextMs: number;
}

/**
 * Which deliveries to one target may be sent. They go out in order for each alert: a delivery waits until all earlier ones of
 * its alert have been delivered or given up, so that a resolution never overtakes its trigger.
 */
export function dueDeliveries(waiting: readonly DeliveryHead[], nowMs: number): DueDeliveries {
  const due: DeliveryHead[] = [];
  const heldUp: { delivery: DeliveryHead; by: readonly DeliveryHead[] }[] = [];
  const postponed = new Map<string, DeliveryHead[]>();
  let nextMs = Number.POSITIVE_INFINITY;
  for (const delivery of waiting) {
    const before = postponed.get(delivery.alert_id) ?? [];
    const dueMs = Date.parse(delivery.due_at);
    if (!isDue(dueMs, nowMs)) {
      postponed.set(delivery.alert_id, [...before, delivery]);
      nextMs = Math.min(nextMs, dueMs);
    } else if (before.length > 0) {
      heldUp.push({ delivery, by: before });
      postponed.set(delivery.alert_id, [...before, delivery]);
    } else due.push(delivery);
  }
  return { due, heldUp, nextMs };
}
