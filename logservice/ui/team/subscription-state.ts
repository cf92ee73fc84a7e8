import type { Subscription } from "../../../schema/rpc.generated.ts";

const STATUS: Readonly<Record<Subscription["status"], string>> = {
  none: "There is no subscription.",
  active: "The subscription is active.",
  trialing: "The subscription is on trial.",
  past_due: "A payment failed: change the card.",
  incomplete: "The first payment did not go through: subscribe again.",
  unpaid: "The subscription is not paid: change the card.",
  paused: "The subscription is paused: write to whoever runs this service, who can resume it.",
  canceled: "The subscription has ended.",
};

/** The words of the page about a subscription, and what an owner may do with it. */
export interface SubscriptionState {
  readonly edition: string;
  /** The name of `ends_at`. */
  readonly ends: "Ends" | "Ended";
  readonly text: string;
  /** Whether the team may subscribe, or take up again what it ended. */
  readonly canSubscribe: boolean;
  readonly canChangeCard: boolean;
  readonly canEnd: boolean;
}

export function subscriptionState({ status, edition, ends_at }: Subscription): SubscriptionState {
  const isRunning = status !== "none" && status !== "canceled";
  const isEnding = isRunning && ends_at !== undefined;
  return {
    edition: edition === "pro" ? "Pro" : "Free",
    ends: isRunning ? "Ends" : "Ended",
    text:
      isEnding && edition === "pro"
        ? "The subscription was ended, and runs until the time that is paid is over."
        : status === "past_due" && edition === "pro"
          ? "A payment failed: change the card. The team keeps Pro for 7 days after that."
          : STATUS[status],
    canSubscribe: !isRunning || isEnding || status === "incomplete",
    canChangeCard: isRunning,
    canEnd: isRunning && !isEnding,
  };
}

/** Whether what needs Pro is refused; unknown is not yet refused. */
export const lacksPro = (subscription: Pick<Subscription, "provider" | "edition"> | undefined): boolean =>
  subscription?.provider === "stripe" && subscription.edition === "free";
