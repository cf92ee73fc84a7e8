import type { SubscriptionStatus } from "./edition.ts";

/** A subscription as Stripe has it. */
export interface ReadSubscription {
  readonly id: string;
  readonly status: Exclude<SubscriptionStatus, "none">;
  /** ISO 8601: since when its latest invoice waits for a payment; "" unless it is past due. */
  readonly pastDueSince: string;
  /** ISO 8601: when it ends, if it was cancelled; "" otherwise. */
  readonly endsAt: string;
  readonly createdMs: number;
}

export interface Checkout {
  readonly team: string;
  readonly customer: string;
  /** Where the browser goes afterwards. */
  readonly returnUrl: string;
}

/** Why Stripe did not do something, for the operators of the service: the cause of the RpcError. It holds no key. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
}

/**
 * The requests of the service to Stripe. Each rejects with an RpcError `unavailable` if Stripe does not answer or refuses, and
 * with `conflict` if it refuses the card.
 */
export interface Provider {
  /** Makes the customer of a team and returns its id. The same key gives the same customer. */
  addCustomer(team: string, idempotencyKey: string): Promise<string>;
  /** The subscriptions of a customer that have not ended; undefined if the customer was deleted. */
  subscriptionsOf(customer: string): Promise<readonly ReadSubscription[] | undefined>;
  /** The page on which a subscription is paid: the one that is open, or a new one. */
  checkout(checkout: Checkout): Promise<string>;
  /** The page on which the card is changed, or that of the whole account. */
  portal(customer: string, options: { readonly returnUrl: string; readonly isForCard: boolean }): Promise<string>;
  /** Ends a subscription when the time is over that is paid, or at once. */
  end(subscription: string, when: "period end" | "now"): Promise<void>;
}
