import type { Subscription } from "../../schema/rpc.generated.ts";

export type SubscriptionStatus = Subscription["status"];
export type Edition = Subscription["edition"];

/** A card that is refused is often only expired: whoever pays has this long to change it. */
export const PAST_DUE_MS = 7 * 24 * 3_600_000;

/** What decides about the edition. */
export interface Standing {
  readonly status: SubscriptionStatus;
  /** ISO 8601: since when a payment is missing; "" if none is. */
  readonly pastDueSince: string;
}

/** The edition that a subscription gives at a time. */
export function editionOf({ status, pastDueSince }: Standing, nowMs: number): Edition {
  if (status === "active" || status === "trialing") return "pro";
  return status === "past_due" && nowMs < Date.parse(pastDueSince) + PAST_DUE_MS ? "pro" : "free";
}

/** Whether a subscription goes on, or may go on once it is paid: a team has at most one of these. */
export const isRunning = (status: SubscriptionStatus): boolean => status !== "none" && status !== "canceled";
