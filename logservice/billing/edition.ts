import type { Subscription } from "../../schema/rpc.generated.ts";
import type { Edition } from "../../schema/statement.ts";

export type SubscriptionStatus = Subscription["status"];

/** A card that is refused is often only expired: whoever pays has this long to change it. */
const PAST_DUE_MS = 7 * 24 * 3_600_000;

/** The edition that a subscription gives at a time. `pastDueSince` is an ISO 8601 time, or "" if no payment is missing. */
export function editionOf(status: SubscriptionStatus, pastDueSince: string, nowMs: number): Edition {
  if (status === "active" || status === "trialing") return "pro";
  return status === "past_due" && nowMs < Date.parse(pastDueSince) + PAST_DUE_MS ? "pro" : "free";
}

/** Whether a subscription goes on, or may go on once it is paid: a team has at most one of these. */
export const isRunning = (status: SubscriptionStatus): boolean => status !== "none" && status !== "canceled";
